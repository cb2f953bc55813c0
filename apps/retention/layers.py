"""The deletion layers: each says what it owns, clears it in chunks, and proves it is gone by another route.

The app that owns the data registers its layers in AppConfig.ready(); the order of :data:`ORDER` is the order of work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

CHUNK = 500  # rows cleared in one transaction at most

# design/05: the closed list, in working order.
ORDER = (
    "pending_work",
    "candidates",
    "versions",
    "relations",
    "lexical_index",
    "semantic_index",
    "traces",
    "caches",
    "sources",
    "raw_archive",
    "dependants",
    "git",
    "storage",
    "backups",
    "downstream",
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a deletion is about. ``target_id`` is the primary key (memory, event, subject, namespace) or the session's own id.

    ``keys`` are the primary keys known when it was accepted: the named memory with its source events, or the event, and whatever
    the hooks of that moment found to go with it. ``subject_id`` is whose data it is (session, subject and user namespace).

    A ``foreseen`` target is a deletion that was tried and undone, to learn what it takes (apps/retention/exports): its rows are
    named by ``keys``, but do not stand as revoked. ``shares`` are versions that it would take of memories that stay.
    """

    tenant_id: UUID
    job_id: UUID
    kind: str
    target_id: str
    namespace_id: UUID
    epoch: int
    accepted_at: datetime
    cover_sources: bool
    reason_content_id: UUID | None
    suppress_future: bool = False
    keys: tuple[UUID, ...] = ()
    fact_digest: int | None = None
    subject_id: UUID | None = None
    foreseen: bool = False
    shares: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Cleared:
    """One chunk's result: rows cleared, and the cursor to go on from (None: nothing is left to clear)."""

    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Exported:
    """One chunk of what a layer holds, as JSON objects, and the cursor to go on from (None: that was all)."""

    rows: list[dict[str, Any]]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class RemainingCopy:
    """A copy that this layer cannot clear: where it is, why it is still there, and until when (None: not known)."""

    location: str
    reason: str
    until: datetime | None = None


class Layer(ABC):
    """One layer. All methods run inside the tenant context of the target; clear() is idempotent.

    The clear() of a layer with ``in_transaction = False`` runs outside of any transaction, as the owner of the tables. Its count
    is saved afterwards, and the cursor of its last chunk stays, for verify() to read.
    """

    key: ClassVar[str]
    in_transaction: ClassVar[bool] = True

    @abstractmethod
    def discover(self, target: Target) -> int:
        """How many rows name the target."""

    @abstractmethod
    def clear(self, target: Target, cursor: str | None) -> Cleared:
        """Clear at most CHUNK rows after the cursor."""

    @abstractmethod
    def verify(self, target: Target) -> int:
        """Count what is left, by another query than clear() used; must be 0."""

    def export(self, target: Target, cursor: str | None) -> Exported:
        """At most CHUNK of the rows that discover() counts for a foreseen target, with their words; nothing behind a barrier.

        Every layer either has one or says in apps/retention/exports/reach.py why there is nothing to hand out; a test holds that.
        """
        raise NotImplementedError(self.key)

    def taken_at_once(self, target: Target, revision: int | None) -> list[UUID]:  # noqa: ARG002 - most layers wait for their turn
        """Rows whose words the acceptance itself has taken; asked inside its transaction, whose revision is given."""
        return []

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:  # noqa: ARG002 - most layers have none
        """Copies that stay although the layer is cleared; listed in the result (DJ-11)."""
        return []


_layers: dict[str, Layer] = {}


def register_layer(layer: Layer) -> None:
    """Raises KeyError for a layer outside the closed list and ValueError for a second one of the same name."""
    if layer.key not in ORDER:
        raise KeyError(layer.key)
    if layer.key in _layers:
        msg = f"layer {layer.key} is registered twice"
        raise ValueError(msg)
    _layers[layer.key] = layer


def layer_named(key: str) -> Layer | None:
    """The layer, or None while no app owns one of that name."""
    return _layers.get(key)


def registered_layers() -> list[Layer]:
    """The layers that exist, in working order."""
    return [_layers[key] for key in ORDER if key in _layers]
