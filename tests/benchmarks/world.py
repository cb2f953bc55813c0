"""The data of the benchmarks: memories by the hundred thousand, written with COPY exactly as the verbs would have left them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.core.canonical import json_hash, proposition, sha256_hex
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.evidence.models import Content
from apps.memories.models import Memory, MemoryVersion
from apps.memories.projections import IndexedText
from apps.retention.models import RetentionClass
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.models import IndexState, Posting
from apps.retrieval.postings import tenant_key, text_terms
from apps.tenants.models import Namespace, Subject, Tenant
from tests.benchmarks.words import Speaker

CHUNK = 20_000
_NO_CONDITIONS = json_hash({})


@dataclass(frozen=True, slots=True)
class Place:
    """Where memories are put: a namespace and what its rows need."""

    tenant_id: UUID
    namespace_id: UUID
    subject_id: UUID | None
    retention_class_id: UUID


def place_of(tenant: str, scope: str, scope_id: str) -> Place:
    """The namespace by its names. Raises DoesNotExist."""
    with system_context():
        owner = Tenant.objects.get(key=tenant)
        namespace = Namespace.objects.get(tenant=owner, scope=scope, scope_id=scope_id)
        retention = RetentionClass.objects.filter(tenant=owner).order_by("key").first()
        assert retention is not None
        return Place(owner.id, namespace.id, namespace.subject_id, retention.id)


def subjects_of(tenant: str) -> list[str]:
    """Keys of the tenant's subjects."""
    with system_context():
        return list(Subject.objects.filter(tenant__key=tenant).order_by("key").values_list("key", flat=True))


def fill(place: Place, count: int, *, seed: int) -> list[str]:
    """Bring a namespace up to ``count`` memories; returns a sample of 500 of the texts that are there.

    Does nothing but sample when they are there already: the data is made once.
    """
    with system_context():
        there = Memory.objects.filter(tenant_id=place.tenant_id, namespace_id=place.namespace_id).count()
    speaker = Speaker(seed)
    texts = [speaker.text() for _ in range(count)]
    for start in range(there, count, CHUNK):
        _write(place, texts[start : min(start + CHUNK, count)], start)
    return texts[:: max(1, count // 500)][:500]


def _write(place: Place, texts: list[str], start: int) -> None:
    began = datetime(2024, 1, 1, tzinfo=UTC)
    key = _key(place.tenant_id)
    contents, memories, versions, postings = [], [], [], []
    for number, text in enumerate(texts, start=start):
        content_id, memory_id, version_id = new_id(), new_id(), new_id()
        said = began + timedelta(seconds=number)
        contents.append(
            {
                "id": content_id,
                "namespace_id": place.namespace_id,
                "text": text,
                "sha256": sha256_hex(text),
                "size": len(text.encode()),
            }
        )
        memories.append(
            {
                "id": memory_id,
                "namespace_id": place.namespace_id,
                "memory_type": "fact",
                "fact_key": f"bench.{number}",
                "conditions_hash": _NO_CONDITIONS,
                "head_id": version_id,
                "retention_class_id": place.retention_class_id,
                "review_after": said + timedelta(days=365),
                "created_by": place.namespace_id,
                "created_for_id": place.subject_id,
                "updated_revision": 1,
            }
        )
        versions.append(
            {
                "id": version_id,
                "memory_id": memory_id,
                "version": 1,
                "content_id": content_id,
                "content_hash": json_hash([proposition(text), None]),
                "epistemic_status": "explicit",
                "retrieval_policy": "relevant",
                "valid_from": said,
                "revision": 1,
                "decision": "ADD",
                "author_id": place.namespace_id,
                "author_subject_id": place.subject_id,
                "origin": "bench",
            }
        )
        postings += [
            {
                "generation": 1,
                "namespace_id": place.namespace_id,
                "layer": 0,
                "term": term,
                "memory_id": memory_id,
                "version": 1,
            }
            for term in text_terms(key, IndexedText(text, None, ()))
        ]
    with system_context():
        for model, rows in ((Content, contents), (Memory, memories), (MemoryVersion, versions), (Posting, postings)):
            _copy(model, place.tenant_id, rows)
        _count(place)


def _copy(model: Any, tenant_id: UUID, rows: list[dict[str, Any]]) -> None:
    """COPY rows; columns that a row does not name get the model's default."""
    fields = [field for field in model._meta.concrete_fields if field.column and not getattr(field, "generated", False)]
    names = [field.column for field in fields]
    defaults = {field.column: field for field in fields}
    table, columns = model._meta.db_table, ", ".join(names)
    with connection.cursor() as cursor:
        # COPY does not go into a table with row security; it goes beside it, and from there in one statement.
        cursor.execute(f"CREATE TEMP TABLE staged ON COMMIT DROP AS SELECT {columns} FROM {table} WITH NO DATA")
        with cursor.copy(f"COPY staged ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row([tenant_id if name == "tenant_id" else _value(row, defaults[name]) for name in names])
        cursor.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM staged")
        cursor.execute("DROP TABLE staged")


def _value(row: dict[str, Any], field: Any) -> Any:
    if field.column in row:
        return row[field.column]
    value = field.get_default()
    return field.get_db_prep_save(value, connection) if value is not None else None


def _count(place: Place) -> None:
    """Statistics as the projection would have kept them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM retrieval_termstat WHERE tenant_id = %s AND namespace_id = %s", [place.tenant_id, place.namespace_id]
        )
        cursor.execute(
            "INSERT INTO retrieval_termstat (tenant_id, generation, namespace_id, layer, term, documents) "
            "SELECT tenant_id, generation, namespace_id, layer, term, count(*) FROM retrieval_posting "
            "WHERE tenant_id = %s AND generation = 1 AND namespace_id = %s GROUP BY 1, 2, 3, 4, 5",
            [place.tenant_id, place.namespace_id],
        )
    documents = Memory.objects.filter(tenant_id=place.tenant_id, namespace_id=place.namespace_id).count()
    state, _ = IndexState.objects.get_or_create(
        tenant_id=place.tenant_id, namespace_id=place.namespace_id, defaults={"analysis_version": str(ANALYSIS_VERSION)}
    )
    IndexState.objects.filter(pk=state.pk).update(documents=documents)


def _key(tenant_id: UUID) -> bytes:
    with system_context():
        return tenant_key(tenant_id)


def analyse() -> None:
    """Fresh planner statistics, as autovacuum would have made them by the time anybody asks."""
    with transaction.atomic(), connection.cursor() as cursor:
        for model in (Content, Memory, MemoryVersion, Posting, IndexState):
            cursor.execute(f"ANALYZE {model._meta.db_table}")
        cursor.execute("ANALYZE retrieval_termstat")
