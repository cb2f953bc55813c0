"""A small API to try the kit on: a token decides who asks, nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from django.urls import path, re_path

from apps.core import errors
from apps.core.api.docs import SchemaView, docs_page
from apps.core.api.etags import expected_version
from apps.core.api.fields import boolean, choice, identifier, instant, integer, items, json_object, key, nested, raw, text
from apps.core.api.openapi import IF_MATCH, contract, listing
from apps.core.api.responses import respond
from apps.core.api.schema import Body, ListQuery, Query
from apps.core.api.views import ApiView, UnknownPath
from apps.core.errors import FieldError

CREDENTIAL = UUID(int=7)
FAULTS = {
    "fault": RuntimeError("the secret of a caller"),
    "away": OperationalError("server closed the connection"),
    "closed": InterfaceError("connection already closed"),
    "odd": SuspiciousOperation("the secret of a caller"),
    "conflict": errors.VersionConflict(4),
    "revoked": errors.Revoked("del_1"),
    "busy": errors.IdempotencyInProgress(3),
}


@dataclass(frozen=True)
class Caller:
    credential_id: UUID | None


class Token:
    """A stand-in for the class of the floor above."""

    def authenticate(self, request):
        match request.META.get("HTTP_AUTHORIZATION"):
            case None:
                return None
            case "Bearer good":
                return None, Caller(None)
            case "Bearer counted":
                return None, Caller(CREDENTIAL)
            case "Bearer expired":
                raise errors.CredentialExpired
            case "Bearer away":
                raise FAULTS["away"]
            case _:
                raise errors.NotAuthenticated

    def authenticate_header(self, _request):
        return "Bearer"


class Reference(Body):
    uri: str = text(max_chars=20)
    size: int = integer(minimum=0, name="byte_size")


class Note(Body):
    immutable: ClassVar = ("scope",)

    note_id: str = identifier()
    kind: str = choice("a", "b")
    at: datetime | None = instant(ahead=timedelta(minutes=5), default=None)
    until: datetime | None = instant(end_of_day=True, default=None)
    content: str | None = text(max_bytes=40, default=None)
    reference: Reference | None = nested(Reference, default=None)
    topics: tuple[str, ...] = items(key(), max_items=3, default=())
    references: tuple[Reference, ...] = items(nested(Reference), max_items=3, default=())
    metadata: dict[str, object] = json_object(max_bytes=60, max_keys=3, default_factory=dict)
    loud: bool = boolean(default=False)
    rank: int = integer(minimum=0, maximum=10, default=5)
    expected_version: int | None = integer(minimum=1, default=None)

    def cross_check(self):
        if self.content is None and self.reference is None:
            yield FieldError("/content", "required", "Give content or reference.")


class Empty(Body):
    empty_body: ClassVar = True

    reason: str | None = text(default=None)


class Batch(Body):
    notes: tuple[object, ...] = items(raw(Note), max_items=3)


class Filters(ListQuery):
    kind: str | None = choice("a", "b", default=None)
    rank: int | None = integer(minimum=0, maximum=10, default=None)
    loud: bool | None = boolean(default=None)
    since: datetime | None = instant(default=None)


@dataclass(frozen=True)
class Made:
    note_id: str
    at: datetime | None
    version: int = 1


class Base(ApiView):
    authentication_classes = (Token,)


class Notes(Base):
    operation: ClassVar = {"POST": "notes:write", "GET": "notes:read"}

    @contract(request=Note, answers={201: Made}, problems=(409,), headers=(IF_MATCH,))
    def post(self, request):
        body = Note.parse(request)
        return respond(Made(body.note_id, body.at), status=201, etag=1)

    @contract(query=Filters, answers={200: listing(Made)})
    def get(self, request):
        filters = Filters.parse(request)
        return respond({"limit": filters.limit, **filters.filters()})


class OneNote(Base):
    @contract(request=Note, answers={200: Made}, problems=(409, 428))
    def patch(self, request, note_id):
        body = Note.parse(request)
        return respond({"note_id": note_id, "version": expected_version(request, body.expected_version)})

    @contract(answers={200: Made}, query=Query)
    def get(self, request, note_id):
        Query.parse(request)
        if note_id == "here":
            return respond(Made(note_id, None))
        raise errors.NotFound

    @contract(answers={204: None})
    def delete(self, _request, note_id):
        return respond(None)


class EmptyBody(Base):
    @contract(request=Empty, answers={200: dict})
    def post(self, request):
        return respond({"reason": Empty.parse(request).reason})


class Faults(Base):
    def get(self, _request, kind):
        raise FAULTS[kind]


class Open(ApiView):
    anonymous = True

    def get(self, _request):
        return respond({"status": "live"})


class Unknown(UnknownPath):
    authentication_classes = (Token,)


def plain_fault(_request):
    raise FAULTS["fault"]


def plain_page(_request):
    return HttpResponse("<p>refused</p>", status=413)


urlpatterns = [
    path("api/v1/notes", Notes.as_view()),
    path("api/v1/notes/<str:note_id>", OneNote.as_view()),
    path("api/v1/empty", EmptyBody.as_view()),
    path("api/v1/faults/<str:kind>", Faults.as_view()),
    path("api/v1/open", Open.as_view()),
    path("api/v1/plain/fault", plain_fault),
    path("api/v1/plain/page", plain_page),
    path("api/v1/schema", SchemaView.as_view()),
    path("api/v1/docs", docs_page),
    re_path(r"^api/v1/.*", Unknown.as_view()),
]
handler400 = "apps.core.api.problems.handler400"
handler403 = "apps.core.api.problems.handler403"
handler404 = "apps.core.api.problems.handler404"
handler500 = "apps.core.api.problems.handler500"
