"""Deciding about one review: the proposal beside the record that stands there, what it rests on, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import TextChoices
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.errors import ReviewClaimed, ReviewClosed, ReviewerBarred, ReviewNotPossible, StaleReview
from apps.core.ids import public_id
from apps.core.text import escape_hidden
from apps.memories.admin.admission_trail import trail
from apps.memories.admin.conflict_page import REVIEWERS, LookForm
from apps.memories.admin.saying import compared
from apps.memories.admin.words import reason_words
from apps.memories.models import OPEN, Candidate, EvidenceLink, Memory, ReviewKind, ReviewRequest, ReviewVote
from apps.memories.reviews.reading import reveal_review, standing_beside
from apps.memories.reviews.requests import PREFIX, hash_of, may_review
from apps.memories.reviews.voting import Vote, cast_vote, claim_review, release_review, standing_of
from apps.tenants.console import values
from apps.tenants.console.row_pages import RowPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse
    from django_stubs_ext import StrOrPromise

    from apps.tenants.access import Access


class Check(TextChoices):
    """What a reviewer looks at before an approval."""

    TRUE = "true", _("The evidence shows what it says.")
    SCOPE = "scope", _("It may be read by everybody in the namespace it is for.")
    FIT = "fit", _("It fits what stands there, or rightly takes its place.")


class VoteForm(forms.Form):
    """``seen`` is the state that was looked at."""

    step = forms.CharField(widget=forms.HiddenInput, initial="vote")
    seen = forms.CharField(widget=forms.HiddenInput)
    verdict = forms.ChoiceField(label=_("Verdict"), choices=ReviewVote.Verdict, widget=forms.RadioSelect)
    checks = forms.MultipleChoiceField(
        label=_("Looked at, for an approval"), choices=Check, widget=forms.CheckboxSelectMultiple, required=False
    )
    reason_code = forms.ChoiceField(
        label=_("Reason, unless you approve"), choices=[("", "—"), *ReviewVote.Reason.choices], required=False
    )
    comment = forms.CharField(label=_("In your words"), required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 3}))

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        if said.get("verdict") == ReviewVote.Verdict.APPROVE:
            if set(said.get("checks") or ()) != set(Check.values):
                self.add_error("checks", gettext("An approval says that all of these were looked at."))
        elif said.get("verdict") and not said.get("reason_code"):
            self.add_error("reason_code", gettext("Say why it is not approved."))
        return said


class ReviewPage(RowPage):
    key = "review"
    title = _("Decide")
    about = _(
        "You claim it for half an hour, so that two people do not decide at once. The words are private: that you have seen them "
        "is written in the audit log. Your vote is about what you see; if it is edited before others vote, it counts no more."
    )
    roles = REVIEWERS
    form = LookForm
    template = "console/review.html"
    submit = _("Claim it and show the words")
    refusals = {
        ReviewClaimed: _("Somebody else has claimed this review. The claim ends by itself after half an hour."),
        ReviewClosed: _("This has been decided, or what it was about has ended."),
        StaleReview: _("It has been edited since you looked at it, so your vote would have been about something else."),
        ReviewNotPossible: _(
            "It cannot be taken up as it stands: it waits for results or for Git, was deleted, or names something that is gone."
        ),
        ReviewerBarred: _("Nobody decides about what they wrote, asked for or supplied the evidence of."),
    }

    def allowed(self, access: Access, row: ReviewRequest) -> bool:
        return may_review(access, access.by_id.get(row.namespace_id))

    def offered(self, access: Access, row: ReviewRequest) -> bool:
        return super().offered(access, row) and row.status in OPEN

    def form_for(self, row: ReviewRequest, data: Mapping[str, Any] | None = None) -> forms.Form:  # noqa: ARG002
        return VoteForm(data) if data is not None and data.get("step") == "vote" else LookForm(data)

    def act(self, access: Access, row: ReviewRequest, said: dict[str, Any]) -> HttpResponse:
        name = public_id(PREFIX, row.pk)
        if said["step"] == "release":
            release_review(access, name)
            return self.done(gettext("You have given the review back."))
        if said["step"] == "vote":
            vote = Vote(verdict=said["verdict"], seen_hash=said["seen"], reason_code=said["reason_code"], comment=said["comment"])
            done = cast_vote(access, name, vote)
            return self.done(_TOLD[done.status] % {"approvals": done.approvals, "needed": done.needed})
        claimed = claim_review(access, name)
        found = reveal_review(access, name)
        form = VoteForm(initial={"step": "vote", "seen": claimed.subject_hash})
        return self.shown(
            self.request,
            form,
            said=compared(found.current, found.proposed),
            against=found.current is not None,
            rationale=escape_hidden(found.rationale),
            until=values.instant(claimed.until),
        )

    def shown(self, request: HttpRequest, form: forms.Form, **more: Any) -> HttpResponse:  # noqa: ANN401
        row: ReviewRequest = self.row
        voting = isinstance(form, VoteForm)
        self.button = _("Cast the vote") if voting else self.submit
        stands = standing_of(row, hash_of(row))
        return super().shown(
            request,
            form,
            voting=voting,
            facts=[*self._facts(row), (_("approvals"), f"{stands.approvals} / {stands.needed}")],
            steps=[] if row.candidate is None else _steps(row.candidate),
            consequence=_CONSEQUENCES[ReviewKind(row.kind)],
            **more,
        )

    def _facts(self, row: ReviewRequest) -> list[tuple[StrOrPromise, Any]]:
        subject = row.candidate or row.memory
        head = None if row.memory is None else row.memory.head
        beside = standing_beside(row)
        facts: list[tuple[StrOrPromise, Any]] = [
            (_("kind"), row.get_kind_display()),
            (_("fact key"), "" if subject is None else values.code(subject.fact_key)),
            (_("namespace"), f"{row.namespace.get_scope_display()} {row.namespace.scope_id}"),
            (_("due"), values.instant(row.due_at)),
        ]
        if head is not None:
            evidence = EvidenceLink.objects.filter(tenant_id=row.tenant_id, version=head).count()
            facts += [(_("evidence"), evidence), (_("independent evidence"), head.independent_evidence_count)]
        elif row.candidate is not None:
            facts.append((_("source events"), len(row.candidate.source_events) + len(row.candidate.evidence)))
        if beside is None:
            facts.append((_("stands there now"), _("nothing")))
        else:
            page = self.page.admin_site.page_of(Memory)
            address = "" if page is None else reverse(page.address("change"), args=[beside.memory_id])
            facts.append((_("stands there now"), format_html('<a href="{}">{}</a>', address, public_id("mem", beside.memory_id))))
        return facts


def _steps(candidate: Candidate) -> list[dict[str, Any]]:
    return [
        {
            "title": step.check.title,
            "outcome": step.outcome.value,
            "reasons": [capfirst(str(reason_words(code))) for code in step.reasons],
        }
        for step in trail(candidate.status, candidate.decision, candidate.reasons)
    ]


_CONSEQUENCES: Mapping[str, StrOrPromise] = {
    ReviewKind.CANDIDATE: _("With enough approvals it is compared with what stands there and taken up. A rejection ends it."),
    ReviewKind.REVALIDATION: _("With enough approvals it holds again, and is looked at again later. A rejection withdraws it."),
    ReviewKind.PROMOTION_PROJECT: _("With enough approvals every member of the project can be given it. The original stays."),
    ReviewKind.PROMOTION_ORGANIZATION: _("With enough approvals everybody in the tenant can be given it. The original stays."),
}
_TOLD: Mapping[str, StrOrPromise] = {
    ReviewRequest.Status.PENDING_REVIEW: _("Your vote is cast: %(approvals)s of %(needed)s approvals."),
    ReviewRequest.Status.CHANGES_REQUESTED: _("You asked for changes; an edit puts it before the reviewers again."),
    ReviewRequest.Status.APPROVED: _("Approved with %(approvals)s of %(needed)s approvals, and taken up."),
    ReviewRequest.Status.REJECTED: _("Rejected."),
}
