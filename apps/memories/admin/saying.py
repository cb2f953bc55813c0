"""The words of a memory or a candidate, shown to those who may read them, for a purpose, with an entry in the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from apps.core.canonical import canonical_json
from apps.core.differences import Change, Piece, compare
from apps.core.ids import public_id
from apps.core.text import escape_hidden
from apps.memories.candidate_reads import readable_candidates
from apps.memories.door import readable_memories
from apps.memories.models import MemoryVersion
from apps.memories.revealing import MAY_REVEAL, Purpose, SaidVersion, may_reveal, reveal_candidate, reveal_versions
from apps.tenants.console import columns
from apps.tenants.console.links import Links
from apps.tenants.console.row_pages import RowPage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import HttpResponse
    from django.utils.safestring import SafeString
    from django_stubs_ext import StrOrPromise

    from apps.memories.candidate_reads import CandidateDetail
    from apps.memories.models import Candidate, Memory
    from apps.tenants.access import Access

_MOST_CHOICES = 200
_NONE = 0

PURPOSES: list[tuple[str, StrOrPromise]] = [
    (Purpose.REVIEW.value, _("to review it")),
    (Purpose.CORRECTION.value, _("to put it right")),
    (Purpose.SUBJECT_REQUEST.value, _("the person it is about has asked")),
    (Purpose.INCIDENT.value, _("to look into an incident")),
]
_TEXTS: tuple[tuple[str, StrOrPromise], ...] = (
    ("content", _("What it says")),
    ("rationale", _("Rationale")),
    ("aliases", _("Other names")),
    ("conditions", _("Conditions")),
    ("reason", _("Why it was changed")),
)
# Columns that may differ between two versions besides their words.
_COMPARED = (
    *("decision", "epistemic_status", "verdict", "valid_from", "valid_to", "observed_at", "last_confirmed_at"),
    *(
        "expected_resolution_at",
        "retrieval_policy",
        "topics",
        "entities",
        "origin",
        "author_subject",
        "independent_evidence_count",
    ),
)


@dataclass(frozen=True, slots=True)
class Said:
    """One text as pieces: of one version, or of two with what changed between them."""

    title: StrOrPromise
    pieces: tuple[Piece, ...]

    @property
    def changed(self) -> bool:
        return any(piece.change is not Change.SAME for piece in self.pieces)


class PurposeForm(forms.Form):
    purpose = forms.ChoiceField(label=_("Why you look"), choices=PURPOSES)


class VersionsForm(PurposeForm):
    """Which version, and which one to compare it with."""

    version = forms.TypedChoiceField(label=_("Version"), coerce=int)
    against = forms.TypedChoiceField(label=_("Compared with"), coerce=int)
    field_order = ("version", "against", "purpose")

    def __init__(self, data: Mapping[str, Any] | None = None, *, numbers: Sequence[int], **given: Any) -> None:  # noqa: ANN401
        super().__init__(data, **given)
        choices = [(number, _("version %(number)s") % {"number": number}) for number in numbers]
        self.fields["version"].choices = choices  # type: ignore[attr-defined]  # of a choice field
        self.fields["against"].choices = [(_NONE, _("nothing")), *choices]  # type: ignore[attr-defined]


class WordsPage(RowPage):
    """What versions of a memory say, and what changed between two of them."""

    key = "words"
    title = _("Show the words")
    about = _("The words are private. That you have seen them, which versions, and why, is written in the audit log.")
    roles = MAY_REVEAL
    form = VersionsForm
    template = "console/words.html"
    submit = _("Show the words")

    def allowed(self, access: Access, row: Memory) -> bool:
        return may_reveal(access) and readable_memories(access).filter(pk=row.pk).exists()

    def initial(self, row: Memory) -> dict[str, Any]:
        numbers = self._numbers(row)
        before = next((number for number in numbers if number < row.version), _NONE)
        return {"version": row.version, "against": before, "purpose": Purpose.REVIEW.value}

    def form_for(self, row: Memory, data: Mapping[str, Any] | None = None) -> forms.Form:
        return VersionsForm(data, numbers=self._numbers(row), initial=self.initial(row))

    def act(self, access: Access, row: Memory, said: dict[str, Any]) -> HttpResponse:
        numbers = [said["version"], *([said["against"]] if said["against"] not in (_NONE, said["version"]) else [])]
        shown = reveal_versions(access, public_id("mem", row.pk), numbers, purpose=Purpose(said["purpose"]))
        after, before = shown[0], shown[1] if len(shown) > 1 else None
        form = self.form_for(row, self.request.POST)
        return self.shown(
            self.request,
            form,
            after=after,
            before=before,
            said=compared(before, after),
            columns=[] if before is None else self._columns(row, before.number, after.number),
        )

    def _numbers(self, row: Memory) -> list[int]:
        if not hasattr(self, "_known"):
            rows = MemoryVersion.objects.filter(memory=row).order_by("-version")
            self._known = list(rows.values_list("version", flat=True)[:_MOST_CHOICES])
        return self._known

    def _columns(self, row: Memory, before: int, after: int) -> list[tuple[StrOrPromise, SafeString, SafeString]]:
        """The other columns in which two versions differ, as the page of versions shows them."""
        page = self.page.admin_site.page_of(MemoryVersion)
        if page is None:
            return []
        found = {one.version: one for one in page.get_queryset(self.request).filter(memory=row, version__in=(before, after))}
        if len(found) != 2:  # noqa: PLR2004 - both of them
            return []
        old, new = found[before], found[after]
        links = Links(page.admin_site, self.request)
        differing = [name for name in _COMPARED if getattr(old, name) != getattr(new, name)]
        columns.wanted(page, [old, new], differing, links)
        return [
            (capfirst(columns.heading(page, name)), columns.value(page, old, name, links), columns.value(page, new, name, links))
            for name in differing
        ]


class CandidateWordsPage(RowPage):
    """What a candidate says."""

    key = "words"
    title = _("Show the words")
    about = _("The words are private. That you have seen them, and why, is written in the audit log.")
    roles = MAY_REVEAL
    form = PurposeForm
    template = "console/words.html"
    submit = _("Show the words")

    def allowed(self, access: Access, row: Candidate) -> bool:
        return may_reveal(access) and readable_candidates(access).filter(pk=row.pk).exists()

    def offered(self, access: Access, row: Candidate) -> bool:
        """What was refused for what it held has no words to show."""
        kept = Q(content__isnull=False) | Q(memory__isnull=False)
        return self.open_to(access) and readable_candidates(access).filter(kept, pk=row.pk).exists()

    def act(self, access: Access, row: Candidate, said: dict[str, Any]) -> HttpResponse:
        found = reveal_candidate(access, row.candidate_id, purpose=Purpose(said["purpose"]))
        after = _of_candidate(found)
        return self.shown(
            self.request, self.form_for(row, self.request.POST), after=after, before=None, said=compared(None, after)
        )


def _of_candidate(found: CandidateDetail) -> SaidVersion:
    if found.content is None:
        return SaidVersion(0, erased=True)
    return SaidVersion(0, found.content, found.rationale or "", tuple(found.aliases), "", found.conditions)


def compared(before: SaidVersion | None, after: SaidVersion) -> list[Said]:
    """Every text that one of the versions has, as pieces."""
    found = []
    for name, title in _TEXTS:
        new = _spelled(after, name)
        if before is None or before.erased or after.erased or name == "reason":  # each change has its own reason
            pieces = [Piece(Change.SAME, new)] if new else []
        else:
            pieces = compare(_spelled(before, name), new)
        if pieces:
            found.append(Said(title, tuple(pieces)))
    return found


def _spelled(said: SaidVersion, name: str) -> str:
    """A text as it is shown: hidden characters spelled out, lists and conditions one to a line."""
    held = getattr(said, name)
    if name == "conditions":
        lines = [f"{key}: {value if isinstance(value, str) else canonical_json(value)}" for key, value in (held or {}).items()]
        held = "\n".join(lines)
    elif name == "aliases":
        held = "\n".join(held)
    return escape_hidden(held)
