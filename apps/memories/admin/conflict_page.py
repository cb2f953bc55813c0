"""Settling a conflict: its values side by side, what speaks for which, and what a person decides about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.canonical import canonical_json
from apps.core.differences import Piece, compare
from apps.core.errors import ConflictChanged, ConflictSettled, ValidationFailed
from apps.core.ids import public_id
from apps.core.text import escape_hidden
from apps.evidence.models import Evidence
from apps.memories.conflicts import ground_of
from apps.memories.door import readable_memories
from apps.memories.lines import load
from apps.memories.models import Authority, ConflictSet, EpistemicStatus, Memory
from apps.memories.precedence import Rule, weigh
from apps.memories.resolution import ExpectedMember, Settlement, may_settle, resolve_conflict
from apps.memories.revealing import Purpose, reveal_conflict
from apps.memories.sources import FIDELITY_ORDER
from apps.tenants.console import values
from apps.tenants.console.row_pages import RowPage
from apps.tenants.models import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse
    from django_stubs_ext import StrOrPromise

    from apps.tenants.access import Access

REVIEWERS = frozenset({Role.OWNER, Role.REVIEWER})
RULES: Mapping[str, StrOrPromise] = {
    Rule.PRIMARY_SOURCE: _("Direct dialogue or a primary source goes before what was retold."),
    Rule.NEWER_CORRECTION: _("Among explicit statements that say since when they hold, the newest goes first."),
    Rule.DATED_EVENT: _("A value with a date goes before one without."),
    Rule.HIGHER_FIDELITY: _("A record of higher fidelity goes before a weaker one."),
}


class LookForm(forms.Form):
    """Before the words are shown."""

    step = forms.CharField(widget=forms.HiddenInput, initial="look")


class SettleForm(forms.Form):
    """``expected`` names the values and versions that were looked at."""

    step = forms.CharField(widget=forms.HiddenInput, initial="settle")
    expected = forms.CharField(widget=forms.HiddenInput)
    decision = forms.ChoiceField(label=_("What holds"), widget=forms.RadioSelect)
    reason = forms.CharField(label=_("Why"), max_length=2000, widget=forms.Textarea(attrs={"rows": 3}))
    confirmation = forms.CharField(
        label=_("Type the fact key to confirm"),
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, members: list[str], fact_key: str, **given: Any) -> None:  # noqa: ANN401
        super().__init__(data, **given)
        self.members, self.fact_key = members, fact_key
        winners = [(name, _("Value %(number)s holds") % {"number": number}) for number, name in enumerate(members, start=1)]
        every = [
            (ConflictSet.Outcome.KEEP_BOTH.value, _("Each holds under the conditions below")),
            (ConflictSet.Outcome.WITHDRAW_ALL.value, _("None of them holds")),
        ]
        self.fields["decision"].choices = [*winners, *every]  # type: ignore[attr-defined]  # of a choice field
        for number, name in enumerate(members, start=1):
            self.fields[f"conditions_{name}"] = forms.CharField(
                label=_("Conditions of value %(number)s") % {"number": number},
                required=False,
                max_length=2000,
                help_text=_("Only for the last but one choice: one name=value on each line."),
                widget=forms.Textarea(attrs={"rows": 2}),
            )
        self.order_fields(["step", "expected", "decision", *(f"conditions_{name}" for name in members), "reason", "confirmation"])

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"].strip()
        if typed != self.fact_key:
            raise forms.ValidationError(gettext("This is not the fact key: %(key)s.") % {"key": self.fact_key})
        return typed

    def settlement(self) -> Settlement:
        """What the verb takes."""
        said = self.cleaned_data
        chosen = said["decision"]
        expected = tuple(ExpectedMember(name, number) for name, number in json.loads(said["expected"]).items())
        if chosen in self.members:
            return Settlement(outcome=ConflictSet.Outcome.WINNER, winner=chosen, expected=expected, reason=said["reason"])
        conditions: dict[str, Mapping[str, object]] = {}
        if chosen == ConflictSet.Outcome.KEEP_BOTH:
            conditions = {name: _conditions(said[f"conditions_{name}"]) for name in self.members}
        return Settlement(outcome=chosen, expected=expected, reason=said["reason"], conditions=conditions)


def _conditions(text: str) -> dict[str, object]:
    pairs = (line.partition("=") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _equals, value in pairs}


@dataclass(frozen=True, slots=True)
class ShownValue:
    """One value as a column of the page; ``pieces`` only when the words are shown: how it differs from the first one."""

    number: int
    name: str
    address: str
    version: int
    facts: list[tuple[StrOrPromise, Any]]
    pieces: tuple[Piece, ...] = ()


class SettlePage(RowPage):
    key = "settle"
    title = _("Settle the conflict")
    about = _(
        "A winner supersedes the others; what began before it stays history. Values that each hold under conditions become facts "
        "of their own. Values that are withdrawn stay readable by id. From then on packets warn of no conflict here."
    )
    roles = REVIEWERS
    form = LookForm
    template = "console/settle.html"
    submit = _("Show the words")
    dangerous = True
    refusals = {
        ConflictChanged: _(
            "A value was changed, or came or went, since you looked at them. Your decision was about something else."
        ),
        ConflictSettled: _("Somebody has settled this conflict before you."),
        ValidationFailed: _("The conditions do not tell the values apart, belong to another record, or a text holds a secret."),
    }

    def allowed(self, access: Access, row: ConflictSet) -> bool:
        return may_settle(access, access.by_id.get(row.namespace_id))

    def offered(self, access: Access, row: ConflictSet) -> bool:
        return super().offered(access, row) and row.status == ConflictSet.Status.OPEN

    def form_for(self, row: ConflictSet, data: Mapping[str, Any] | None = None) -> forms.Form:
        if data is not None and data.get("step") == "settle":
            return SettleForm(data, members=self._names(), fact_key=row.fact_key)
        return LookForm(data)

    def act(self, access: Access, row: ConflictSet, said: dict[str, Any]) -> HttpResponse:  # noqa: ARG002 - the form makes it
        conflict_id = public_id("cfl", row.pk)
        form = self.form_for(row, self.request.POST)
        if isinstance(form, SettleForm) and form.is_valid():
            done = resolve_conflict(access, conflict_id, form.settlement())
            return self.done(
                gettext("The conflict is settled; %(count)s values were decided about.") % {"count": len(done.members)}
            )
        view = reveal_conflict(access, conflict_id, purpose=Purpose.REVIEW)
        texts = {one.memory_id: one.content for one in view.members}
        expected = json.dumps({one.memory_id: one.version for one in view.members})
        asked = SettleForm(
            members=self._names(),
            fact_key=row.fact_key,
            initial={"step": "settle", "expected": expected, "decision": view.favoured},
        )
        return self.shown(self.request, asked, texts=texts)

    def shown(self, request: HttpRequest, form: forms.Form, **more: Any) -> HttpResponse:  # noqa: ANN401
        texts = more.pop("texts", {})
        rivals = self._rivals()
        findings, favoured = weigh([ground_of(rival) for rival in rivals])
        numbers = {rival.memory.id: number for number, rival in enumerate(rivals, start=1)}
        shown = [self._value(number, rival, texts, rivals) for number, rival in enumerate(rivals, start=1)]
        rules = [(RULES[one.rule], [numbers[key] for key in one.favoured]) for one in findings]
        self.button = self.title if isinstance(form, SettleForm) else self.submit
        return super().shown(
            request,
            form,
            settling=isinstance(form, SettleForm),
            shown_values=shown,
            rules=rules,
            favoured=numbers.get(favoured) if favoured else None,
            others=len(rivals) - 1,
            words_shown=bool(texts),
            **more,
        )

    def _rivals(self) -> list[Any]:
        if not hasattr(self, "_loaded"):
            access = self.page.access(self.request)
            assert access is not None  # noqa: S101 - dispatch has refused nobody's request
            rows = readable_memories(access).filter(conflict_set=self.row).order_by("id")
            self._loaded = load(self.row.tenant_id, list(rows))
        return self._loaded

    def _names(self) -> list[str]:
        return [public_id("mem", rival.memory.id) for rival in self._rivals()]

    def _value(self, number: int, rival: Any, texts: Mapping[str, str], rivals: list[Any]) -> ShownValue:  # noqa: ANN401
        head, links = rival.head, rival.links[rival.memory.version]
        name = public_id("mem", rival.memory.id)
        best = min((link.fidelity for link in links), key=FIDELITY_ORDER.index, default=None)
        facts: list[tuple[StrOrPromise, Any]] = [
            (_("holds since"), values.instant(head.valid_from) if head.effective else _("nobody said since when")),
            (_("happened"), values.instant(head.occurred_at) if head.occurred_at else _("unknown")),
            (_("nature"), EpistemicStatus(head.epistemic_status).label),
            (_("independent evidence"), head.independent_evidence_count),
            (_("fidelity"), Evidence.Fidelity(best).label if best else _("no record: somebody's own word")),
            (_("authority"), Authority(rival.memory.authority).label),
            (_("recorded"), values.instant(head.ingested_at)),
        ]
        page = self.page.admin_site.page_of(Memory)
        address = "" if page is None else reverse(page.address("change"), args=[rival.memory.id])
        text = texts.get(name)
        pieces: list[Piece] = []
        if text is not None:
            first = texts.get(public_id("mem", rivals[0].memory.id), text)
            pieces = compare(escape_hidden(first), escape_hidden(text))
            if head.conditions:
                facts.append((_("conditions"), canonical_json(head.conditions)))
        return ShownValue(number, name, address, head.version, facts, tuple(pieces))
