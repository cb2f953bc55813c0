"""What people do with a dead letter: retry it, or discard it. Both ask for the reason and keep it in the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import TextChoices
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core.ids import public_id
from apps.jobs.dead_letters import MAY_SETTLE, JobChanged, NotDead, discard_job, retry_job
from apps.jobs.models import ProcessingJob
from apps.tenants.console.row_pages import RowPage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpResponse
    from django_stubs_ext import StrOrPromise

    from apps.tenants.access import Access

# What is lost for good when a job of this kind is discarded.
_UNREAD = _("Nothing is read from the event. The event itself stays, and what was remembered of it before.")
LOST: Mapping[str, StrOrPromise] = {
    "extract": _UNREAD,
    "extract_outside": _UNREAD,
    "reextract": _("The event is not read again. What was remembered of it before stays."),
    "rebuild_index": _("The index stays unused. Queries read the newest memories instead, until somebody rebuilds it."),
    "embed": _(
        "What changed in the namespace is not found by meaning until its index is rebuilt. Words, names and keys still find it."
    ),
    "subject_export": _("The export stays unfinished: ask for another one. What was written of it is removed after seven days."),
    "deletion": _("The deletion stays unfinished. Nothing reads what it covers, but copies of it may remain."),
}


class RetryReason(TextChoices):
    """Codes of the audit log."""

    CAUSE_FIXED = "cause_fixed", _("the cause has been put right")
    PASSING_FAULT = "passing_fault", _("it was a passing fault")
    ANOTHER_TRY = "another_try", _("to see whether it fails again")


class DiscardReason(TextChoices):
    """Codes of the audit log."""

    NOT_NEEDED = "not_needed", _("nobody needs it any more")
    DONE_OTHERWISE = "done_otherwise", _("it was done in another way")
    NEVER_WORKS = "never_works", _("it can never succeed")


class RetryForm(forms.Form):
    """``fence`` names the attempt that was looked at, so that nobody settles what has happened since."""

    fence = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.ChoiceField(label=_("Why"), choices=RetryReason)


class DiscardForm(forms.Form):
    fence = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.ChoiceField(label=_("Why"), choices=DiscardReason)
    confirmation = forms.CharField(
        label=_("Type the kind of the job to confirm"),
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"].strip()
        if typed != self.initial["kind"]:
            raise forms.ValidationError(gettext("This is not the kind of the job: %(kind)s.") % {"kind": self.initial["kind"]})
        return typed


class SettlePage(RowPage):
    roles = MAY_SETTLE
    template = "console/dead_letter.html"
    refusals = {
        NotDead: _("It is no dead letter any more: somebody has settled it, or it has been done."),
        JobChanged: _("It has been tried again since you looked, and failed again."),
    }

    def offered(self, access: Access, row: ProcessingJob) -> bool:
        return self.open_to(access) and row.state == ProcessingJob.State.DEAD

    def initial(self, row: ProcessingJob) -> dict[str, Any]:
        return {"fence": row.fence, "kind": row.kind}

    @property
    def lost(self) -> StrOrPromise:
        return LOST.get(self.row.kind, _("What this job was for does not happen."))


class RetryPage(SettlePage):
    key = "retry"
    title = _("Retry the job")
    about = _("It is queued with all of its attempts, and a worker takes it up within seconds.")
    form = RetryForm
    submit = _("Retry")

    def act(self, access: Access, row: ProcessingJob, said: dict[str, Any]) -> HttpResponse:
        retry_job(access, public_id("job", row.pk), reason_code=said["reason"], fence=said["fence"])
        return self.done(gettext("The job is queued again."))


class DiscardPage(SettlePage):
    key = "discard"
    title = _("Discard the job")
    about = _("It is never tried again. The row stays, and the reason stands in the audit log.")
    form = DiscardForm
    submit = _("Discard")
    dangerous = True

    def act(self, access: Access, row: ProcessingJob, said: dict[str, Any]) -> HttpResponse:
        discard_job(access, public_id("job", row.pk), reason_code=said["reason"], fence=said["fence"])
        return self.done(gettext("The job is discarded."))
