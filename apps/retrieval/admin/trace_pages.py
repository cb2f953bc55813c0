"""What can be done with a trace: ask its question again, ask why a memory was not given, and see the words of the question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from apps.core.canonical import canonical_json
from apps.core.ids import parse_public_id, public_id
from apps.core.text import escape_hidden
from apps.memories.models import Memory
from apps.memories.revealing import MAY_REVEAL, Purpose
from apps.retrieval.admin import candidate_rows, words
from apps.retrieval.comparing import Change, Place, Verdict
from apps.retrieval.explaining import Basis, Explanation, Finding, Step, explain
from apps.retrieval.replay import MAY_REPLAY, replay_trace
from apps.retrieval.words_asked import may_read_question, reveal_question
from apps.tenants.console import values
from apps.tenants.console.links import Links
from apps.tenants.console.row_pages import RowPage

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django_stubs_ext import StrOrPromise

    from apps.retrieval.models import RetrievalTrace
    from apps.retrieval.replay import Circumstance, Replay
    from apps.retrieval.words_asked import WordsAsked
    from apps.tenants.access import Access

PURPOSES: list[tuple[str, StrOrPromise]] = [
    (Purpose.INCIDENT.value, _("to look into an incident")),
    (Purpose.SUBJECT_REQUEST.value, _("the person it is about has asked")),
    (Purpose.REVIEW.value, _("to review it")),
]
_LONGEST_ID = 64
_STEP_TONES = {Step.PASSED: "yes", Step.LOST: "failed", Step.NOT_REACHED: "over", Step.UNKNOWN: "pending_review"}
_VERDICT_TONES = {Verdict.SAME: "ok", Verdict.SAME_PACKET: "ok", Verdict.CHANGED: "open"}
_GIVEN_TONES = {Finding.GIVEN: "ok", Finding.CANNOT_TELL: "over", Finding.NOTHING: "over"}


class ReplayForm(forms.Form):
    """Nothing to fill in."""


class ReplayPage(RowPage):
    """Asks the recorded question again, at its own time, and compares."""

    key = "replay"
    title = _("Ask again and compare")
    about = _(
        "The question is asked again at the time for which it was asked, with what its agent may read today. Nothing is given to "
        "the agent, and no words are shown. That you asked, and what came of it, is written in the audit log."
    )
    roles = MAY_REPLAY
    form = ReplayForm
    template = "console/replay.html"
    submit = _("Ask again")

    def act(self, access: Access, row: RetrievalTrace, said: dict[str, Any]) -> HttpResponse:  # noqa: ARG002 - of the base
        found = replay_trace(access, public_id("trc", row.pk))
        return self.shown(
            self.request,
            ReplayForm(),
            replay=found,
            verdict=values.state(_VERDICT_TONES.get(found.verdict, "over"), words.VERDICTS[found.verdict]),
            lines=self._lines(found),
            circumstances=[_circumstance(one) for one in found.circumstances],
        )

    def _lines(self, found: Replay) -> list[dict[str, Any]]:
        links = Links(self.page.admin_site, self.request)
        links.want(Memory, [row.memory for row in found.memories])
        return [
            {
                "memory": links.show(Memory, row.memory),
                "changed": bool(row.changes),
                "changes": [(one, capfirst(words.said(words.CHANGES, one))) for one in row.changes],
                "then": _place(row.then),
                "now": _place(row.now, gone=row.changes[:1] == (Change.DELETED,)),
            }
            for row in found.memories
        ]


def _place(place: Place | None, *, gone: bool = False) -> dict[str, Any] | None:
    if place is None or gone:
        return None
    return {
        "rank": place.rank,
        "version": place.version,
        "stage": words.said(words.STAGES, place.stage) if place.stage else "",
        "reason": capfirst(words.said(words.REASONS, place.reason)) if place.reason else "",
        "code": place.reason,
    }


_CODES = {"decision": words.DECISIONS, "outcome": words.OUTCOMES, "profile": words.PROFILES, "index": words.INDEX}


def _circumstance(one: Circumstance) -> dict[str, Any]:
    vocabulary = _CODES.get(one.name, {"None": _("Not set")})
    return {
        "name": words.CIRCUMSTANCES[one.name],
        "then": capfirst(vocabulary[one.then]) if one.then in vocabulary else one.then,
        "now": capfirst(vocabulary[one.now]) if one.now in vocabulary else one.now,
        "changed": one.changed,
    }


class WhyNotForm(forms.Form):
    memory = forms.CharField(
        label=_("Id of the memory"),
        max_length=_LONGEST_ID,
        help_text=_("A whole id (mem_…)."),
        widget=forms.TextInput(attrs={"size": "34"}),
    )
    purpose = forms.ChoiceField(label=_("Why you look"), choices=PURPOSES)

    def clean_memory(self) -> str:
        return str(self.cleaned_data["memory"]).strip()


class WhyNotPage(RowPage):
    """Where a memory fell out on its way into the packet."""

    key = "why"
    title = _("Why not this memory?")
    about = _(
        "Where a memory fell out on its way into the packet. What the trace holds is told as recorded; anything else is worked "
        "out now, for the time of the query. That you asked is written in the audit log."
    )
    roles = MAY_REPLAY
    form = WhyNotForm
    template = "console/why_not.html"
    submit = _("Explain")

    def initial(self, row: RetrievalTrace) -> dict[str, Any]:  # noqa: ARG002 - of the base
        return {"memory": self.request.GET.get("memory", "")[:_LONGEST_ID], "purpose": Purpose.INCIDENT.value}

    def act(self, access: Access, row: RetrievalTrace, said: dict[str, Any]) -> HttpResponse:
        found = explain(access, public_id("trc", row.pk), said["memory"], purpose=Purpose(said["purpose"]))
        links = Links(self.page.admin_site, self.request)
        key = parse_public_id("mem", found.memory_id) if found.memory_id else None
        links.want(Memory, [key])
        return self.shown(
            self.request,
            self.form_for(row, self.request.POST),
            found=found,
            memory=links.show(Memory, key) if key is not None else None,
            finding=values.state(_GIVEN_TONES.get(found.finding, "open"), _finding(found)),
            basis=words.BASES[found.basis],
            reason=capfirst(words.said(words.REASONS, found.reason)) if found.reason else "",
            besides=capfirst(words.said(words.REASONS, found.besides)) if found.besides else "",
            fate=capfirst(words.said(words.FATES, found.fate)) if found.fate else "",
            lanes=candidate_rows.lanes(found.lanes),
            steps=[(words.STAGES[stage], step, values.state(_STEP_TONES[step], words.STEPS[step])) for stage, step in found.steps]
            if found.finding not in {Finding.NOTHING, Finding.WRITTEN_LATER}
            else [],
        )


def _finding(found: Explanation) -> StrOrPromise:
    if found.basis is Basis.NOW and found.finding in words.FINDINGS_NOW:
        return words.FINDINGS_NOW[found.finding]
    return words.FINDINGS[found.finding]


class QuestionPage(RowPage):
    """What was asked, in words."""

    key = "question"
    title = _("Show the question")
    about = _("The words are private. That you have seen them, and why, is written in the audit log.")
    roles = MAY_REVEAL & MAY_REPLAY
    template = "console/question.html"
    submit = _("Show the words")

    class form(forms.Form):  # noqa: N801 - the base calls it so
        purpose = forms.ChoiceField(label=_("Why you look"), choices=PURPOSES)

    def allowed(self, access: Access, row: RetrievalTrace) -> bool:
        return may_read_question(access, row)

    def act(self, access: Access, row: RetrievalTrace, said: dict[str, Any]) -> HttpResponse:
        found = reveal_question(access, public_id("trc", row.pk), purpose=Purpose(said["purpose"]))
        return self.shown(self.request, self.form_for(row, self.request.POST), asked=found, said=_spelled(found))


def _spelled(asked: WordsAsked) -> list[tuple[StrOrPromise, str]]:
    """Every text of the question, hidden characters spelled out."""
    environment = "\n".join(
        f"{name}: {value if isinstance(value, str) else canonical_json(value)}" for name, value in asked.environment.items()
    )
    texts: tuple[tuple[StrOrPromise, str], ...] = (
        (_("Question"), asked.question),
        (_("Task"), asked.task),
        (_("Conversation before it"), "\n".join(f"{role}: {text}" for role, text in asked.window)),
        (_("Handed over with it"), "\n".join(f"[{kind}]\n{text}" for kind, text in asked.attachments)),
        (_("Surroundings"), environment),
        (_("Labels"), "\n".join((*asked.topics, *asked.entities))),
        (_("Fact keys"), "\n".join(asked.fact_keys)),
    )
    return [(title, escape_hidden(text)) for title, text in texts if text]
