"""Asking for everything that is held about a subject, and fetching it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.http import FileResponse, HttpResponse

from apps.core.api.fields import choice, identifier
from apps.core.api.openapi import contract
from apps.core.api.responses import respond
from apps.core.api.schema import Body, Query
from apps.retention.exports.requests import AcceptedExport, Archive, ExportView, open_archive, read_export, request_export
from apps.retention.models import SubjectExport
from apps.tenants.api.views import AgentRequest, GovernedView

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

_ZIP: Final = "application/zip"
_BYTES: Final[dict[str, Any]] = {"type": "string", "format": "binary"}


class SubjectExportIn(Body):
    """POST /subject-exports."""

    export_request_id: str = identifier(help="The caller's own id; the same one again is the same export.")
    subject: str = identifier(help="Key of the subject; for an agent the one it speaks for.")
    reason: SubjectExport.Reason = choice(
        SubjectExport.Reason, default=SubjectExport.Reason.SUBJECT_REQUEST, help="Why; a code, kept in the audit log."
    )


class SubjectExports(GovernedView):
    operation = {"POST": "subjects:export"}

    @contract(
        request=SubjectExportIn,
        answers={202: AcceptedExport, 200: AcceptedExport},
        problems=(409,),
        summary="Ask for everything that is held about a subject",
    )
    def post(self, request: AgentRequest) -> HttpResponse:
        body = SubjectExportIn.parse(request)
        done = request_export(
            request.access, export_request_id=body.export_request_id, subject=body.subject, reason_code=body.reason.value
        )
        return respond(done, status=200 if done.replayed else 202)


class SubjectExportDetail(GovernedView):
    operation = {"GET": "subjects:export"}

    @contract(answers={200: ExportView}, summary="How far an export is, layer by layer")
    def get(self, request: AgentRequest, export_id: str) -> HttpResponse:
        Query.parse(request)
        return respond(read_export(request.access, export_id))


class SubjectExportArchive(GovernedView):
    operation = {"GET": "subjects:export"}

    @contract(answers={(200, _ZIP): _BYTES}, summary="The signed archive of an export that is ready")
    def get(self, request: AgentRequest, export_id: str) -> HttpResponseBase:
        """A zip that "manage.py verify_export" checks. Each time it is fetched is an audit entry."""
        Query.parse(request)
        return archive_answer(open_archive(request.access, export_id))


def archive_answer(found: Archive) -> FileResponse:
    """The archive as a download that nothing on the way keeps."""
    answer = FileResponse(found.file, as_attachment=True, filename=found.name, content_type=_ZIP)
    answer.headers["Cache-Control"] = "no-store"
    return answer
