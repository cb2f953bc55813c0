"""Rebuilding the index of a namespace as a new generation, while the old one answers.

The flip is one row: recall reads the generation from the namespace's state. Nothing is lost if a rebuild dies half-way; the next
one starts over and removes what was left.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection
from django.db.models import F, Q

from apps.audits import log as audit
from apps.core import clock
from apps.core.isolation import tenant_context
from apps.memories.label_check import LabelFinding, check_versions
from apps.memories.models import Memory, MemoryVersion
from apps.memories.texts import texts_of
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.models import IndexState
from apps.retrieval.models.index import Layer
from apps.retrieval.postings import current_versions, index_state, tenant_key, text_terms, version_names
from apps.tenants.models import Namespace

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.tenants.access import Access

_CHUNK = 500  # memories read at a time
_LAST_GENERATION = 32_000  # of a small integer; counting starts over


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What one namespace's new generation holds."""

    namespace_id: UUID
    generation: int
    memories: int
    postings: int


class LabelsInvalidError(RuntimeError):
    """Versions of the namespace carry labels that are none: they have to be put right first, the old generation stays."""

    def __init__(self, findings: list[LabelFinding]) -> None:
        super().__init__(f"{len(findings)} labels are not in the vocabulary")
        self.findings = findings


def rebuild_namespace(access: Access, namespace_id: UUID, *, progress: Callable[[int], None] = lambda _: None) -> Rebuilt:
    """Write a new generation for one namespace and flip to it.

    Writers of the namespace wait while it runs (its row is locked), readers do not. ``progress`` is told the number of memories
    done so far. Raises Namespace.DoesNotExist for a namespace of another tenant, and LabelsInvalidError (LB-04..06).
    """
    if findings := check_versions(access.tenant_id, namespace_id):
        raise LabelsInvalidError(findings)
    with tenant_context(access.tenant_id):
        Namespace.objects.select_for_update().get(tenant_id=access.tenant_id, pk=namespace_id)
        state = index_state(access.tenant_id, namespace_id)
        generation = state.generation % _LAST_GENERATION + 1
        _drop(access.tenant_id, namespace_id, keep=state.generation)
        key = tenant_key(access.tenant_id)
        done = postings = documents = history = lengths = 0
        after: UUID | None = None
        while True:
            memories = Memory.objects.filter(tenant_id=access.tenant_id, namespace_id=namespace_id).exclude(
                state=Memory.State.REVOKED
            )
            batch = list((memories.filter(id__gt=after) if after else memories).order_by("id")[:_CHUNK])
            if not batch:
                break
            rows: list[tuple[int, int, UUID, int]] = []
            by_memory: dict[UUID, list[MemoryVersion]] = defaultdict(list)
            held = Q(valid_to=None) | Q(valid_to__gt=F("valid_from")) | Q(version=F("memory__version"))
            for version in MemoryVersion.objects.filter(held, tenant_id=access.tenant_id, memory__in=[m.id for m in batch]):
                by_memory[version.memory_id].append(version)
            texts = texts_of(access.tenant_id, [version for versions in by_memory.values() for version in versions])
            for memory in batch:
                current = current_versions(memory, by_memory[memory.id])
                for version in by_memory[memory.id]:
                    text = texts.get(version.id)
                    if text is None:
                        continue
                    layer = Layer.CURRENT if version.version in current else Layer.HISTORY
                    documents += layer == Layer.CURRENT
                    history += layer == Layer.HISTORY
                    names, bits = version_names(key, memory.fact_key, text, version)
                    lengths |= bits
                    rows += [(int(layer), term, memory.id, version.version) for term in text_terms(key, text)]
                    rows += [(int(Layer.NAMES | layer), term, memory.id, version.version) for term in names]
            _insert(access.tenant_id, namespace_id, generation, rows)
            postings += len(rows)
            done += len(batch)
            after = batch[-1].id
            progress(done)
        _count(access.tenant_id, namespace_id, generation)
        IndexState.objects.filter(pk=state.pk).update(
            generation=generation,
            analysis_version=str(ANALYSIS_VERSION),
            documents=documents,
            history_documents=history,
            name_lengths=lengths,
            rebuilt_at=clock.now(),
        )
        _drop(access.tenant_id, namespace_id, keep=generation)
        audit.record(
            access,
            "index.rebuilt",
            "namespace",
            str(namespace_id),
            namespace_id=namespace_id,
            counts={"memories": done, "postings": postings, "generation": generation},
        )
    return Rebuilt(namespace_id, generation, done, postings)


def _insert(tenant_id: UUID, namespace_id: UUID, generation: int, rows: list[tuple[int, int, UUID, int]]) -> None:
    if not rows:
        return
    layers, terms, memories, versions = (list(column) for column in zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_posting (tenant_id, generation, namespace_id, layer, term, memory_id, version) "
            "SELECT %s, %s, %s, r.layer, r.term, r.memory_id, r.version "
            "FROM unnest(%s::smallint[], %s::bigint[], %s::uuid[], %s::int[]) AS r(layer, term, memory_id, version)",
            [tenant_id, generation, namespace_id, layers, terms, memories, versions],
        )


def _count(tenant_id: UUID, namespace_id: UUID, generation: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO retrieval_termstat (tenant_id, generation, namespace_id, layer, term, documents) "
            "SELECT tenant_id, generation, namespace_id, layer, term, count(*) FROM retrieval_posting "
            "WHERE tenant_id = %s AND generation = %s AND namespace_id = %s AND layer < %s GROUP BY 1, 2, 3, 4, 5",
            [tenant_id, generation, namespace_id, int(Layer.NAMES)],
        )


def _drop(tenant_id: UUID, namespace_id: UUID, *, keep: int) -> None:
    with connection.cursor() as cursor:
        for table in ("retrieval_posting", "retrieval_termstat"):
            cursor.execute(
                f"DELETE FROM {table} WHERE tenant_id = %s AND namespace_id = %s AND generation <> %s",  # noqa: S608 - two fixed names
                [tenant_id, namespace_id, keep],
            )
