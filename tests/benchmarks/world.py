"""The data of the benchmarks: memories by the hundred thousand, written with COPY exactly as the verbs would have left them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from apps.core.canonical import json_hash, proposition, sha256_hex
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.evidence.models import Content
from apps.memories.models import Memory, MemoryVersion
from apps.memories.projections import IndexedText
from apps.retention.models import RetentionClass
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.models import IndexState, Posting, TermStat
from apps.retrieval.models.index import Layer
from apps.retrieval.names import lengths_of, names_of
from apps.retrieval.postings import name_terms, tenant_key, text_terms
from apps.retrieval.rebuild import rebuild_namespace
from apps.tenants.console_access import command_access
from apps.tenants.models import Namespace, Subject, Tenant
from tests.benchmarks.words import Speaker

CHUNK = 10_000
SPOKEN = 50_000  # texts that are really made up; more memories are copies of them
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


def renew(tenant: str) -> int:
    """Rebuild what an older text analysis has indexed: data is made once and outlives it. Returns the number of namespaces."""
    with system_context():
        stale = list(
            IndexState.objects.filter(tenant__key=tenant)
            .exclude(analysis_version=str(ANALYSIS_VERSION))
            .values_list("tenant_id", "namespace_id")
        )
    for tenant_id, namespace_id in stale:
        rebuild_namespace(command_access(tenant_id), namespace_id)
    return len(stale)


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
    spoken = min(count, SPOKEN)
    texts = [speaker.text() for _ in range(spoken)]
    for start in range(there, spoken, CHUNK):
        _write(place, texts[start : min(start + CHUNK, spoken)], start)
    _multiply(place, count)
    return texts[:: max(1, spoken // 500)][:500]


def _multiply(place: Place, count: int) -> None:
    """Bring the namespace from what is written up to ``count`` by copying whole memories inside the database, under new ids."""
    with system_context():
        there = Memory.objects.filter(tenant_id=place.tenant_id, namespace_id=place.namespace_id).count()
    copy = 0
    while there < count:
        copy += 1
        with system_context(), connection.cursor() as cursor:
            cursor.execute(
                "CREATE TEMP TABLE twin ON COMMIT DROP AS SELECT m.id AS memory, v.id AS version, v.content_id AS content, "
                "uuidv7() AS new_memory, uuidv7() AS new_version, uuidv7() AS new_content "
                "FROM memories_memory m JOIN memories_memoryversion v ON v.id = m.head_id "
                "WHERE m.tenant_id = %s AND m.namespace_id = %s AND m.fact_key !~ 'twin' ORDER BY m.id LIMIT %s",
                [place.tenant_id, place.namespace_id, count - there],
            )
            for table, key, changes in (
                ("evidence_content", "content", {"id": "t.new_content"}),
                (
                    "memories_memory",
                    "memory",
                    {"id": "t.new_memory", "head_id": "t.new_version", "fact_key": f"s.fact_key || '.twin{there}'"},
                ),
                (
                    "memories_memoryversion",
                    "version",
                    {"id": "t.new_version", "memory_id": "t.new_memory", "content_id": "t.new_content"},
                ),
            ):
                cursor.execute(_twin_of(cursor, table, f"s.id = t.{key}", changes))
            cursor.execute(_twin_of(cursor, "retrieval_posting", "s.memory_id = t.memory", {"memory_id": "t.new_memory"}))
            cursor.execute("SELECT count(*) FROM twin")
            there += int(cursor.fetchone()[0])
            cursor.execute("DROP TABLE twin")
    if copy:
        with system_context():
            _count(place)


def _twin_of(cursor: Any, table: str, join: str, changes: dict[str, str]) -> str:
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s ORDER BY ordinal_position",
        [table],
    )
    columns = [name for (name,) in cursor.fetchall()]
    values = ", ".join(changes.get(name, f's."{name}"') for name in columns)
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} s JOIN twin t ON {join}"


def _write(place: Place, texts: list[str], start: int) -> None:
    began = datetime(2024, 1, 1, tzinfo=UTC)
    key = _key(place.tenant_id)
    generation = _state(place).generation
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
        words = [(Layer.CURRENT, term) for term in text_terms(key, IndexedText(text, None, ()))]
        names = [(Layer.NAMES, term) for term in name_terms(key, names_of(f"bench.{number}", ()), (), ())]
        postings += [
            {
                "generation": generation,
                "namespace_id": place.namespace_id,
                "layer": int(layer),
                "term": term,
                "memory_id": memory_id,
                "version": 1,
            }
            for layer, term in (*words, *names)
        ]
    with system_context():
        for model, rows in ((Content, contents), (Memory, memories), (MemoryVersion, versions), (Posting, postings)):
            copy_rows(model, place.tenant_id, rows)
        _count(place)


def copy_rows(model: Any, tenant_id: UUID, rows: list[dict[str, Any]]) -> None:
    """COPY rows; columns that a row does not name get the model's default."""
    fields = [field for field in model._meta.concrete_fields if field.column and not getattr(field, "generated", False)]
    names = [field.column for field in fields]
    defaults = {field.column: _default(field) for field in fields} | {"tenant_id": tenant_id}
    table, columns = model._meta.db_table, ", ".join(names)
    with connection.cursor() as cursor:
        # COPY does not go into a table with row security; it goes beside it, and from there in one statement.
        cursor.execute(f"CREATE TEMP TABLE staged ON COMMIT DROP AS SELECT {columns} FROM {table} WITH NO DATA")
        with cursor.copy(f"COPY staged ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row.get(name, defaults[name]) for name in names])
        cursor.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM staged")
        cursor.execute("DROP TABLE staged")


def _default(field: Any) -> Any:
    """What Django would store where nothing is given; one moment serves for all rows of a chunk."""
    if field.column == "id":
        return None
    value = field.get_default()
    return field.get_db_prep_save(value, connection) if value is not None else None


def _count(place: Place) -> None:
    """Statistics as the projection would have kept them."""
    state = _state(place)
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM retrieval_termstat WHERE tenant_id = %s AND namespace_id = %s", [place.tenant_id, place.namespace_id]
        )
        cursor.execute(
            "INSERT INTO retrieval_termstat (tenant_id, generation, namespace_id, layer, term, documents) "
            "SELECT tenant_id, generation, namespace_id, layer, term, count(*) FROM retrieval_posting "
            "WHERE tenant_id = %s AND generation = %s AND namespace_id = %s AND layer < %s GROUP BY 1, 2, 3, 4, 5",
            [place.tenant_id, state.generation, place.namespace_id, int(Layer.NAMES)],
        )
    documents = Memory.objects.filter(tenant_id=place.tenant_id, namespace_id=place.namespace_id).count()
    lengths = lengths_of(names_of("bench.1000", ()), labelled=False)
    IndexState.objects.filter(pk=state.pk).update(
        documents=documents, name_lengths=lengths, analysis_version=str(ANALYSIS_VERSION)
    )


def _state(place: Place) -> IndexState:
    with system_context():
        state, _ = IndexState.objects.get_or_create(
            tenant_id=place.tenant_id, namespace_id=place.namespace_id, defaults={"analysis_version": str(ANALYSIS_VERSION)}
        )
    return state


def _key(tenant_id: UUID) -> bytes:
    with system_context():
        return tenant_key(tenant_id)


def analyse() -> None:
    """Clean pages and fresh planner statistics, as autovacuum would have made them by the time anybody asks."""
    with connection.cursor() as cursor:
        for model in (Content, Memory, MemoryVersion, Posting, TermStat, IndexState):
            cursor.execute(f"VACUUM (ANALYZE) {model._meta.db_table}")
