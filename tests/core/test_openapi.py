from __future__ import annotations

import dataclasses
import json

import pytest
from drf_spectacular.validation import validate_schema

from apps.core.api.docs import schema_document
from apps.core.api.openapi import listing
from tests.core.api_views import Made


@pytest.fixture
def document(small_api):
    schema_document.cache_clear()
    yield json.loads(schema_document())
    schema_document.cache_clear()


def operation(document, method, path):
    return document["paths"][f"/api/v1{path}"][method]


def test_the_document_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1")
    validate_schema(document)


def test_bodies_are_described_by_their_checks(document):
    note = document["components"]["schemas"]["Note"]
    assert note["additionalProperties"] is False
    assert note["required"] == ["note_id", "kind"]
    fields = note["properties"]
    assert fields["kind"] == {"type": "string", "enum": ["a", "b"]}
    assert fields["rank"] == {"type": ["integer", "null"], "minimum": 0, "maximum": 10, "default": 5}
    assert fields["topics"]["maxItems"] == 3
    assert fields["topics"]["default"] == []
    assert fields["references"]["items"] == {"$ref": "#/components/schemas/Reference"}
    assert {"type": "null"} in fields["reference"]["anyOf"]
    assert document["components"]["schemas"]["Reference"]["required"] == ["uri", "byte_size"]
    assert "scope" not in fields


def test_results_are_described_by_their_types(document):
    made = document["components"]["schemas"]["Made"]
    assert made["required"] == ["note_id", "at", "version"]
    assert made["properties"]["at"] == {"type": ["string", "null"], "format": "date-time"}
    page = document["components"]["schemas"]["MadePage"]
    assert page["properties"]["items"] == {"type": "array", "items": {"$ref": "#/components/schemas/Made"}}
    assert listing(Made) is listing(Made)
    assert dataclasses.is_dataclass(listing(Made))


def test_every_operation_names_its_refusals(document):
    responses = operation(document, "post", "/notes")["responses"]
    assert set(responses) == {"201", "400", "401", "403", "404", "409", "413", "415", "422", "429", "503"}
    assert responses["404"]["content"] == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    assert operation(document, "delete", "/notes/{note_id}")["responses"]["204"] == {"description": "No content."}


def test_query_parameters_and_headers_are_described(document):
    parameters = {one["name"]: one for one in operation(document, "get", "/notes")["parameters"]}
    assert parameters["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert set(parameters) == {"cursor", "limit", "kind", "rank", "loud", "since"}
    assert [one["name"] for one in operation(document, "post", "/notes")["parameters"]] == ["If-Match"]


def test_security_and_operations_are_named(document):
    assert operation(document, "post", "/notes")["security"] == [{"bearer": []}]
    assert operation(document, "post", "/notes")["x-operation"] == "notes:write"
    assert "security" not in operation(document, "get", "/open")
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_ids_of_operations_are_unique_and_descriptions_are_our_own(document):
    every = [one for methods in document["paths"].values() for one in methods.values()]
    ids = [one["operationId"] for one in every]
    assert len(ids) == len(set(ids))
    assert "post_notes" in ids
    assert not any("Who asks is decided first" in one.get("description", "") for one in every)


def test_the_document_and_the_page_are_open_and_load_nothing_from_elsewhere(document, stranger):
    answer = stranger.get("/schema")
    assert answer.status_code == 200
    assert json.loads(answer.content) == document
    page = stranger.get("/docs")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")
    text = page.content.decode()
    assert "http" not in text.replace("http-equiv", "")
    assert "<style" not in text
    assert "<script>" not in text
    assert "style=" not in text
    assert stranger.send("POST", "/docs").status_code == 405
