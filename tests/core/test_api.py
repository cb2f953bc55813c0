from __future__ import annotations

import io
import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

import pytest
from django.db import InternalError
from django.test import RequestFactory
from psycopg.errors import InFailedSqlTransaction, ReadOnlySqlTransaction

from apps.core.api.problems import as_domain_error
from apps.core.api.responses import dumps, instant_text, respond
from apps.core.api.wsgi import Handler
from apps.core.errors import AuthorityUnavailable
from apps.core.limits import LIMITS
from tests.core.conftest import Api, codes_at

NOTE = {"note_id": "n-1", "kind": "a", "content": "hello"}


def is_problem(response, status, code):
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    body = response.json()
    assert list(body)[:6] == ["type", "title", "status", "detail", "code", "request_id"]
    assert (body["status"], body["code"]) == (status, code)
    assert body["request_id"] == response.headers["X-Request-Id"]
    assert response.headers["Cache-Control"] == "no-store"
    return body


# -- who asks comes first


@pytest.mark.parametrize("path", ["/notes", "/notes/n", "/no-such-thing", "/faults/fault", "/notes/%00", "/"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "OPTIONS", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_nobody_learns_anything_without_a_credential(stranger, method, path):
    answer = stranger.send(method, path, b"{")
    is_problem(answer, 401, "not_authenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "Allow" not in answer.headers


def test_an_expired_credential_says_so(small_api):
    is_problem(Api("expired").get("/notes"), 401, "credential_expired")


def test_an_open_path_asks_nobody(stranger):
    answer = stranger.get("/open")
    assert answer.status_code == 200
    assert answer.content == b'{"status":"live"}'
    assert Api("expired").get("/open").status_code == 200


def test_refusals_of_absent_things_are_alike(small_api):
    answers = [
        small_api.get(path) for path in ("/notes/n", "/nowhere", "/notes/" + "x" * 3000, "/notes/%00", "/notes/a%0ab", "/a/b/c")
    ]
    faces = set()
    for answer in answers:
        request_id = is_problem(answer, 404, "not_found")["request_id"]
        headers = {name: text for name, text in answer.headers.items() if name != "X-Request-Id"}
        faces.add((answer.content.replace(request_id.encode(), b"-"), tuple(sorted(headers.items()))))
    assert len(faces) == 1
    assert len({answer.json()["request_id"] for answer in answers}) == len(answers)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PROPFIND"])
def test_a_method_that_a_path_does_not_have(small_api, method):
    answer = small_api.send(method, "/notes")
    is_problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD, POST"


def test_head_is_get_without_a_body(small_api):
    assert small_api.send("HEAD", "/notes/here").status_code == 200


@pytest.mark.parametrize("client_says", ["req_mine", "x" * 500])
def test_the_request_id_is_ours(small_api, client_says):
    answer = small_api.get("/nowhere", HTTP_X_REQUEST_ID=client_says)
    assert client_says not in answer.content.decode() + answer.headers["X-Request-Id"]


# -- bodies


def test_a_good_body_comes_through(small_api):
    answer = small_api.post("/notes", {**NOTE, "at": "2024-01-01T10:00:00.5+02:00"})
    assert answer.status_code == 201
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["ETag"] == '"v1"'
    assert answer.content == b'{"note_id":"n-1","at":"2024-01-01T08:00:00.500000Z","version":1}'


@pytest.mark.parametrize("body", ["{", "nonsense", "[1, 2", "\ufeff{", '{"a": NaN}', '{"a": 1, "a": 1}', "[" * 100_000, ""])
def test_malformed_json(small_api, body):
    is_problem(small_api.post("/notes", body), 400, "malformed_json")


def test_a_body_that_is_no_object(small_api):
    assert codes_at(small_api.post("/notes", "[]")) == {"": "invalid_type"}


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/json; charset=utf-16",
        "application/jsonx",
        "",
    ],
)
def test_other_media_types(small_api, content_type):
    is_problem(small_api.post("/notes", NOTE, content_type=content_type), 415, "unsupported_media_type")


def test_a_media_type_that_django_cannot_read_is_one_that_is_not_supported(small_api):
    sent = io.BytesIO(b"{}")
    environ = RequestFactory().post("/api/v1/notes", HTTP_AUTHORIZATION="Bearer good").environ
    environ |= {"CONTENT_TYPE": "application/json; charset*=nonsense''x", "CONTENT_LENGTH": "2", "wsgi.input": sent}
    answered = []
    answer = Handler()(environ, lambda status, _headers: answered.append(status))
    assert answered == ["415 Unsupported Media Type"], b"".join(answer)


@pytest.mark.parametrize(
    "content_type", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
)
def test_json_by_any_spelling(small_api, content_type):
    assert small_api.post("/notes", NOTE, content_type=content_type).status_code == 201


def test_an_empty_body_is_an_empty_object_only_where_it_is_allowed(small_api):
    assert small_api.post("/empty").json() == {"reason": None}
    assert small_api.post("/empty", content_type="").json() == {"reason": None}
    assert small_api.post("/empty", {"reason": "x"}).json() == {"reason": "x"}
    is_problem(small_api.post("/notes"), 400, "malformed_json")


def test_a_body_over_the_limit_is_refused_unread(small_api):
    is_problem(small_api.post("/notes", b'"' + b"x" * LIMITS.body_bytes + b'"'), 413, "content_too_large")


def test_a_body_of_unknown_length_is_refused(small_api):
    is_problem(small_api.post("/notes", b"", HTTP_TRANSFER_ENCODING="chunked"), 411, "length_required")


def test_a_body_that_lies_about_its_length_is_malformed(small_api):
    answer = small_api.post("/notes", json.dumps(NOTE), CONTENT_LENGTH="12")
    is_problem(answer, 400, "malformed_json")


# -- query parameters


def test_query_parameters_are_typed(small_api):
    found = small_api.get("/notes?kind=b&rank=7&loud=true&since=2024-01-01&limit=200").json()
    assert found == {"limit": 200, "kind": "b", "rank": 7, "loud": True, "since": "2024-01-01T00:00:00Z"}
    assert small_api.get("/notes").json()["limit"] == 50


@pytest.mark.parametrize("limit", ["0", "-1", "201", "ten", "1.5", "10; drop table", "", "١", "9" * 40, "5 ", "+5"])
def test_a_page_has_1_to_200_rows(small_api, limit):
    assert list(codes_at(small_api.send("GET", "/notes?" + "limit=" + limit.replace(" ", "%20")))) == ["/limit"]


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        ("kind=c", "/kind", "invalid_choice"),
        ("kind=", "/kind", "invalid_choice"),
        ("loud=1", "/loud", "invalid_type"),
        ("since=yesterday", "/since", "invalid_time"),
        ("since=2024-01-01T10:00:00", "/since", "timezone_required"),
        ("kindd=a", "/kindd", "unknown_field"),
        ("kind=a&kind=b", "/kind", "duplicate_parameter"),
        ("kind=%ff", "", "invalid_text"),
        ("&".join(f"a{n}=1" for n in range(60)), "", "invalid_text"),
        ("cursor=a%00b", "/cursor", "invalid_text"),
    ],
)
def test_wrong_query_parameters(small_api, query, pointer, code):
    assert codes_at(small_api.get(f"/notes?{query}")) == {pointer: code}


def test_a_view_without_parameters_refuses_all(small_api):
    assert codes_at(small_api.get("/notes/here?version=1")) == {"/version": "unknown_field"}


# -- preconditions


@pytest.mark.parametrize(
    ("in_body", "header", "status", "found"),
    [
        (3, None, 200, 3),
        (None, '"v3"', 200, 3),
        (3, '"v3"', 200, 3),
        (None, None, 428, "precondition_required"),
        (3, '"v2"', 422, "precondition_mismatch"),
        (None, "v3", 422, "invalid_precondition"),
        (None, 'W/"v3"', 422, "invalid_precondition"),
        (None, "*", 422, "invalid_precondition"),
        (None, '"v3", "v4"', 422, "invalid_precondition"),
        (None, '"v0"', 422, "invalid_precondition"),
        (None, '"v' + "9" * 40 + '"', 422, "invalid_precondition"),
    ],
)
def test_preconditions(small_api, in_body, header, status, found):
    headers = {} if header is None else {"HTTP_IF_MATCH": header}
    answer = small_api.send("PATCH", "/notes/n", {**NOTE, "expected_version": in_body}, **headers)
    assert answer.status_code == status
    body = answer.json()
    assert found in (body.get("version"), body.get("code"), *(e["code"] for e in body.get("errors", [])))


# -- faults


@pytest.mark.parametrize(("path", "status"), [("/faults/fault", 500), ("/plain/fault", 500), ("/faults/odd", 400)])
def test_a_fault_says_nothing_and_is_logged_without_its_text(small_api, caplog, path, status):
    with caplog.at_level(logging.DEBUG):
        answer = small_api.get(path)
    is_problem(answer, status, "internal_error" if status == 500 else "bad_request")
    assert b"secret" not in answer.content
    assert not any(
        "secret" in record.getMessage() or record.exc_info for record in caplog.records if record.name != "django.security"
    )
    if status == 500:
        assert any("RuntimeError" in record.getMessage() and "api_views.py" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("path", ["/faults/away", "/faults/closed"])
def test_a_database_that_is_away_is_503(small_api, path):
    answer = small_api.get(path)
    is_problem(answer, 503, "authority_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    assert b"server" not in answer.content
    is_problem(Api("away").get("/notes"), 503, "authority_unavailable")


def test_a_server_that_has_become_a_standby_is_503():
    read_only, other = InternalError(), InternalError()
    read_only.__cause__, other.__cause__ = ReadOnlySqlTransaction(), InFailedSqlTransaction()
    assert isinstance(as_domain_error(read_only), AuthorityUnavailable)
    assert as_domain_error(other).status == 500


def test_errors_carry_their_extras_and_headers(small_api):
    assert is_problem(small_api.get("/faults/conflict"), 409, "version_conflict")["current_version"] == 4
    assert is_problem(small_api.get("/faults/revoked"), 410, "revoked")["deletion_job_id"] == "del_1"
    answer = small_api.get("/faults/busy")
    is_problem(answer, 409, "idempotency_in_progress")
    assert answer.headers["Retry-After"] == "3"


def test_a_page_of_somebody_else_under_the_api_becomes_a_problem(small_api):
    is_problem(small_api.get("/plain/page"), 413, "content_too_large")


@pytest.mark.parametrize("path", ["/api/v2/x", "/api/", "/api/v1"])
def test_unknown_paths_beside_the_version_are_problems_too(small_api, path):
    is_problem(small_api.client.get(path), 404, "not_found")


def test_a_bad_host_is_a_problem(small_api):
    is_problem(small_api.get("/open", HTTP_HOST="evil.example"), 400, "bad_request")


def test_outside_the_api_a_page_stays_a_page(small_api):
    answer = small_api.client.get("/elsewhere")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")


# -- answers


@dataclass(frozen=True)
class Shown:
    id: UUID
    at: datetime
    kind: StrEnum
    words: tuple[str, ...]
    marks: frozenset[str]
    inner: Shown | None = None


class Kind(StrEnum):
    FACT = "fact"


def test_answers_are_compact_utf_8():
    shown = Shown(UUID(int=1), datetime(2024, 1, 1, tzinfo=UTC), Kind.FACT, ("发布", "naïve"), frozenset({"b", "a"}))
    assert dumps(shown).decode() == (
        '{"id":"00000000-0000-0000-0000-000000000001","at":"2024-01-01T00:00:00Z","kind":"fact",'
        '"words":["发布","naïve"],"marks":["a","b"],"inner":null}'
    )


def test_nothing_is_an_empty_204():
    answer = respond(None)
    assert answer.status_code == 204
    assert answer.content == b""
    assert "Content-Type" not in answer.headers


@pytest.mark.parametrize(("micro", "text"), [(0, "2024-02-29T23:59:59Z"), (999999, "2024-02-29T23:59:59.999999Z")])
def test_instants_are_printed_in_utc(micro, text):
    assert instant_text(datetime(2024, 2, 29, 23, 59, 59, micro, tzinfo=UTC)) == text
    assert dumps(datetime(2024, 2, 29, 23, 59, 59, micro, tzinfo=UTC)).decode() == f'"{text}"'


# -- headers


def test_every_answer_has_the_headers_that_keep_a_browser_in_check(small_api):
    for answer in (small_api.get("/notes"), small_api.get("/nowhere"), small_api.client.get("/elsewhere")):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "Permissions-Policy" in answer.headers
        assert "Referrer-Policy" in answer.headers


def test_every_answer_of_the_api_names_the_rate_policy(small_api, stranger):
    for answer in (small_api.get("/notes"), small_api.get("/nowhere"), stranger.get("/notes"), stranger.get("/open")):
        assert answer.headers["RateLimit-Policy"] == '"credential";q=6000;w=60'
