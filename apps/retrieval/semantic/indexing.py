"""Keeping vectors equal to what memory says: after the commit, by a job for each namespace (OJ-06, OJ-11).

A message of the outbox says that memories of a namespace have changed; the job looks at what they say now, so one that comes
late or twice finds nothing to do. How far a namespace has come stands in its index state: by which embedder, up to which
revision. Another embedder begins anew, and what the former one made goes with its first batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from apps.audits import log as audit
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.isolation import tenant_context
from apps.jobs.queue import Work, enqueue
from apps.jobs.registry import JobRun, Later, Message, TryAgain, job_handler, on_topic
from apps.memories.models import Memory, MemoryVersion
from apps.memories.rests import RESTS
from apps.memories.texts import texts_of
from apps.retrieval.models import IndexState
from apps.retrieval.postings import current_versions, index_state
from apps.retrieval.semantic import vectors
from apps.retrieval.semantic.embedders import Embedder, EmbedderError, chosen
from apps.retrieval.semantic.permission import PERMISSION, scopes
from apps.tenants.console_access import service_access
from apps.tenants.models import Namespace
from apps.tenants.transactions import TenantTransaction, tenant_transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from apps.memories.projections import Said
    from apps.tenants.access import Access

EMBED: Final = "embed"
SENT: Final = "embedding.sent_outside"
_LEASE = timedelta(seconds=180)  # longer than an embedder may take for one batch
_AT_ONCE = 32  # texts
_MEMORIES = 256
_SECONDS = 10.0  # then other work has its turn


def _unheard(_done: int) -> None:
    """Nobody wants to know how far it has come."""


@dataclass(frozen=True, slots=True)
class _Passage:
    memory_id: UUID
    version: int
    content_id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class _Batch:
    """``upto``: the revision a namespace has come to once this is stored; None when more of it is left for another batch."""

    passages: list[_Passage]
    epoch: int
    upto: int | None
    anew: bool  # another embedder was here before


class VectorProjection:
    """Takes vectors away in the very commit that takes a version's words; making them has time (apps.memories.projections)."""

    def replace(self, tenant_id: UUID, changed: Sequence[Said], *, revision: int) -> None:  # noqa: ARG002 - of the protocol
        """See apps.memories.projections.Projection.replace. A memory that has said no more than it says now loses nothing."""
        less = {memory.id: {one.version for one, _ in said} for memory, said in changed if len(said) < memory.last_version}
        vectors.keep_only(tenant_id, less)


# -- asking for work


@on_topic("memory.changed")
def memory_changed(message: Message) -> None:
    """Ask for the namespace to be embedded up to this revision, where its tenant wants that."""
    embedder = chosen()
    if embedder is None:
        return
    row = Memory.objects.filter(tenant_id=message.tenant_id, pk=message.object_id).values_list("namespace_id").first()
    if row is not None:
        ask(message.tenant_id, row[0], embedder, revision=message.version)


@on_topic(PERMISSION)
def permission_changed(message: Message) -> None:
    """Embed the namespaces that may be now, and drop what was made of those that may not be any more."""
    embedder = chosen()
    for namespace in Namespace.objects.filter(tenant_id=message.tenant_id).order_by("id"):
        if embedder is None or not ask(message.tenant_id, namespace.id, embedder, revision=0, again=f":{message.id}"):
            drop_namespace(message.tenant_id, namespace.id)


def drop_namespace(tenant_id: UUID, namespace_id: UUID) -> int:
    """Remove every vector of a namespace; returns their number. A job that is about to write waits, and then looks again."""
    Namespace.objects.select_for_update().get(tenant_id=tenant_id, pk=namespace_id)
    states = IndexState.objects.filter(tenant_id=tenant_id, namespace_id=namespace_id).exclude(embedder="")
    states.update(embedder="", embedded_revision=0)
    return vectors.drop_others(tenant_id, namespace_id, "")


def ask(tenant_id: UUID, namespace_id: UUID, embedder: Embedder, *, revision: int, again: str = "") -> bool:
    """Queue the job of one namespace, once for a revision; False where its tenant does not want it. In the tenant's context.

    ``again`` makes it another job than one that was there before.
    """
    try:
        access = service_access(tenant_id, [namespace_id])
    except NotFound:
        return False
    if not _wanted(access, embedder):
        return False
    work = Work(
        kind=EMBED,
        key=f"{namespace_id}:{embedder.name}:{revision}{again}",
        payload={"namespace": str(namespace_id), "embedder": embedder.name, "revision": revision},
        namespaces=(namespace_id,),
    )
    enqueue(TenantTransaction(tenant_id), access, [work])
    return True


def is_wanted(tenant_id: UUID, namespace_id: UUID, embedder: Embedder) -> bool:
    """Whether the tenant, as its row stands now, lets this embedder read the namespace."""
    namespace = Namespace.objects.select_related("tenant").get(tenant_id=tenant_id, pk=namespace_id)
    return namespace.scope in scopes(namespace.tenant, embedder)


def _wanted(access: Access, embedder: Embedder) -> bool:
    return any(grant.scope in scopes(access, embedder) for grant in access.namespaces)


# -- doing it


@job_handler(EMBED, lease=_LEASE)
def embed(run: JobRun) -> Later | None:
    """Embed what a namespace says, batch by batch: texts are read, embedded, and stored, with nothing locked in between."""
    embedder, namespace_id = chosen(), UUID(str(run.payload["namespace"]))
    if embedder is None or embedder.name != run.payload["embedder"] or not _wanted(run.access, embedder):
        return None  # what was asked for then is not wanted any more
    with tenant_context(run.tenant_id):
        state = index_state(run.tenant_id, namespace_id)
        state.refresh_from_db(fields=["embedder", "embedded_revision"])
    if state.embedder == embedder.name and state.embedded_revision >= int(run.payload["revision"]) > 0:
        return None
    rest = RESTS.left(embedder.name)
    if rest or run.stopping:
        return Later(rest, not_begun=True)
    until = clock.monotonic() + _SECONDS
    while not _step(run, embedder, namespace_id):
        if run.stopping or clock.monotonic() > until:
            return Later()
    return None


def embed_namespace(access: Access, namespace_id: UUID, embedder: Embedder, *, progress: Callable[[int], None] = _unheard) -> int:
    """The same for whoever waits for it, from the beginning; returns the number of texts embedded. Raises EmbedderError."""
    with tenant_transaction(access):
        index_state(access.tenant_id, namespace_id)
        here = IndexState.objects.filter(tenant_id=access.tenant_id, namespace_id=namespace_id)
        here.filter(embedder=embedder.name).update(embedded_revision=0)
    done = 0
    while True:
        with tenant_transaction(access):
            batch = (
                _read(access.tenant_id, namespace_id, embedder) if is_wanted(access.tenant_id, namespace_id, embedder) else None
            )
        if batch is None:
            return done
        made = _made(access, namespace_id, embedder, batch)
        with tenant_transaction(access):
            stored = _store(access.tenant_id, namespace_id, embedder, batch, made)
        done += len(batch.passages) if stored else 0
        progress(done)


def _step(run: JobRun, embedder: Embedder, namespace_id: UUID) -> bool:
    """One batch; True when there was none."""
    with tenant_context(run.tenant_id):
        run.require_lease()
        batch = _read(run.tenant_id, namespace_id, embedder)
        if not is_wanted(run.tenant_id, namespace_id, embedder):
            return True
    if batch is None:
        return True
    run.heartbeat()
    try:
        made = _made(run.access, namespace_id, embedder, batch)
    except EmbedderError as trouble:
        raise TryAgain(trouble.code, seconds=RESTS.begin(embedder.name, trouble.seconds)) from None
    RESTS.end(embedder.name)
    with tenant_context(run.tenant_id):
        run.require_lease()
        _store(run.tenant_id, namespace_id, embedder, batch, made)
    return False


def _read(tenant_id: UUID, namespace_id: UUID, embedder: Embedder) -> _Batch | None:
    """What is to be embedded next; None when the namespace says nothing that was not looked at."""
    state = IndexState.objects.get(tenant_id=tenant_id, namespace_id=namespace_id)
    since = state.embedded_revision if state.embedder == embedder.name else 0
    epoch = vectors.epoch_of(tenant_id, namespace_id)
    memories = vectors.changed_since(tenant_id, namespace_id, since, at_once=_MEMORIES)
    if not memories:
        return None
    # What is revoked belongs to its deletion, which counts what it clears.
    living = [memory for memory in memories if memory.state != Memory.State.REVOKED]
    said = _said(tenant_id, living)
    current = {memory.id: current_versions(memory, [one for one, _ in said.get(memory.id, ())]) for memory in living}
    held = {(memory_id, one.version) for memory_id, versions in said.items() for one, _ in versions}
    vectors.settle(tenant_id, current, held)
    have = vectors.embedded(tenant_id, embedder.name, list(current))
    missing = [
        _Passage(memory_id, one.version, one.content_id, text)
        for memory_id, versions in said.items()
        for one, text in versions
        if one.content_id is not None and one.version in current[memory_id] and (memory_id, one.version) not in have
    ]
    whole = len(missing) <= _AT_ONCE
    upto = memories[-1].updated_revision if whole else None
    return _Batch(missing[:_AT_ONCE], epoch, upto, anew=state.embedder not in {"", embedder.name})


def _said(tenant_id: UUID, memories: Sequence[Memory]) -> Mapping[UUID, list[tuple[MemoryVersion, str]]]:
    versions = list(MemoryVersion.objects.filter(tenant_id=tenant_id, memory__in=[memory.id for memory in memories]))
    texts = texts_of(tenant_id, versions)
    said: dict[UUID, list[tuple[MemoryVersion, str]]] = {}
    for one in versions:
        if one.id in texts:
            text = texts[one.id]
            said.setdefault(one.memory_id, []).append((one, f"{text.content}\n{text.rationale or ''}".strip()))
    return said


def _made(access: Access, namespace_id: UUID, embedder: Embedder, batch: _Batch) -> list[vectors.Made]:
    if not batch.passages:
        return []
    if embedder.outside:  # written down before they go
        with tenant_transaction(access):
            counts = {"texts": len(batch.passages)}
            audit.record(access, SENT, "namespace", str(namespace_id), namespace_id=namespace_id, counts=counts)
    found = embedder.passages([one.text for one in batch.passages])
    return [
        vectors.Made(one.memory_id, one.version, one.content_id, embedding)
        for one, embedding in zip(batch.passages, found, strict=True)
    ]


def _store(tenant_id: UUID, namespace_id: UUID, embedder: Embedder, batch: _Batch, made: list[vectors.Made]) -> bool:
    if not vectors.still(tenant_id, namespace_id, epoch=batch.epoch):
        return False  # a deletion came between: the batch is read anew
    if not is_wanted(tenant_id, namespace_id, embedder):
        return False  # and so did its tenant: nothing more of it is embedded
    vectors.write(tenant_id, namespace_id, embedder, made)
    if batch.upto is not None:
        _come_to(tenant_id, namespace_id, embedder, batch.upto)
        if batch.anew:
            vectors.drop_others(tenant_id, namespace_id, embedder.name)
    return True


def _come_to(tenant_id: UUID, namespace_id: UUID, embedder: Embedder, revision: int) -> None:
    IndexState.objects.filter(tenant_id=tenant_id, namespace_id=namespace_id).update(
        embedder=embedder.name, embedded_revision=revision
    )
