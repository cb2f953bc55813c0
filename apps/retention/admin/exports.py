"""Subject access in the console: asking for an export on the page of a subject, following it, and fetching the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.core import clock
from apps.core.errors import DeletionInProgress, ExportRequestConflict
from apps.core.ids import new_id, parse_public_id, public_id
from apps.retention.api.exports import archive_answer
from apps.retention.exports.requests import EXPORTERS, open_archive, request_export
from apps.retention.models import SubjectExport
from apps.tenants.admin.people import SubjectAdmin
from apps.tenants.console.base import Area, GovernedAdmin
from apps.tenants.console.details import Related, Section
from apps.tenants.console.row_pages import RowPage
from apps.tenants.console.site import console
from apps.tenants.models import Role

if TYPE_CHECKING:
    from django.http import HttpResponse

    from apps.tenants.access import Access
    from apps.tenants.models import Subject


class RequestForm(forms.Form):
    """``export_request_id`` is made with the form, so that sending it twice is one export."""

    export_request_id = forms.CharField(max_length=128, widget=forms.HiddenInput)
    reason = forms.ChoiceField(label=_("Why"), choices=SubjectExport.Reason)


class RequestPage(RowPage):
    key = "export"
    title = _("Export what is held")
    about = _(
        "A worker collects everything that a deletion of this person would clear, layer by layer, into a signed archive. "
        "It can be fetched for seven days. The request and each download stand in the audit log."
    )
    roles = EXPORTERS
    form = RequestForm
    submit = _("Start the export")
    refusals = {
        DeletionInProgress: _("A deletion of this person is under way: nothing half is handed out."),
        ExportRequestConflict: _("This form was sent before, with another reason."),
    }

    def initial(self, row: Subject) -> dict[str, Any]:  # noqa: ARG002 - signature of the pages
        return {"export_request_id": f"console-{new_id()}"}

    def act(self, access: Access, row: Subject, said: dict[str, Any]) -> HttpResponse:
        done = request_export(access, export_request_id=said["export_request_id"], subject=row.key, reason_code=said["reason"])
        messages.success(self.request, gettext("The export has been asked for."))
        key = parse_public_id("exp", done.export_id)
        return HttpResponseRedirect(reverse("admin:retention_subjectexport_change", args=[key]))


class NothingForm(forms.Form):
    """There is nothing to fill in."""


class DownloadPage(RowPage):
    key = "archive"
    title = _("Download the archive")
    about = _("It holds private text in the clear. That you fetch it is written to the audit log, and listed in later deletions.")
    roles = EXPORTERS
    form = NothingForm
    submit = _("Download")

    def offered(self, access: Access, row: SubjectExport) -> bool:
        return self.open_to(access) and row.state == SubjectExport.State.READY and row.expires_at > clock.now()

    def act(self, access: Access, row: SubjectExport, said: dict[str, Any]) -> HttpResponse:  # noqa: ARG002
        return archive_answer(open_archive(access, public_id("exp", row.pk)))  # type: ignore[return-value]  # a streaming one


SubjectAdmin.row_pages = (*SubjectAdmin.row_pages, RequestPage)


@admin.register(SubjectExport, site=console)
class SubjectExportAdmin(GovernedAdmin):
    roles = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})
    area = Area.FORGETTING
    about = _("Archives of everything that is held about a person, made on request and removed after seven days.")
    when_empty = _("Ask for one on the page of a subject, or through the API.")
    id_prefix = "exp"
    hidden_fields = ("keys", "shares", "epochs")
    references = {"requested_by": "tenants.User", "job_id": "jobs.ProcessingJob", "namespaces": "tenants.Namespace"}
    list_display = ("export_request_id", "state", "subject", "reason_code", "requested_at", "completed_at", "expires_at")
    list_filter = ("state", "requested_at")
    linked_by = {"subject": _("subject")}
    search_fields = ("export_request_id",)
    search_help_text = _("A whole id (exp_…) or request.")
    ordering = ("-requested_at", "-id")
    row_pages = (DownloadPage,)
    sections = (
        Section(_("What was asked for"), ("export_request_id", "subject", "reason_code", "requested_by", "requested_at")),
        Section(_("How it stands"), ("state", "as_of", "completed_at", "job_id", "counts")),
        Section(_("The archive"), ("size", "sha256", "expires_at", "removed_at", "downloads", "downloaded_at")),
    )
    related = (
        Related(
            _("What was done with it"),
            "audits.AuditEntry",
            lambda row: {"object_type": "subject_export", "object_id": public_id("exp", row.pk)},
            ("at", "verb", "actor", "result", "codes"),
        ),
    )
