"""Where the verbs of this floor write down what they did.

The audit log lives one floor higher, so it hands its writer down when the apps start. Without one every verb here fails: nothing
is done that nobody would know of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from apps.tenants.access import Access


class Recorder(Protocol):
    """What apps.audits.log.record looks like from here."""

    def __call__(
        self,
        access: Access,
        verb: str,
        object_type: str,
        object_id: str,
        *,
        namespace_id: UUID | None = None,
        codes: Iterable[str] = (),
        counts: Mapping[str, int] | None = None,
    ) -> object: ...


_recorders: list[Recorder] = []


def register_recorder(recorder: Recorder) -> None:
    """Called once, by the audit log; raises ValueError for a second one."""
    if _recorders and _recorders[0] is not recorder:
        msg = "an audit recorder is registered already"
        raise ValueError(msg)
    _recorders[:] = [recorder]


def record(
    access: Access,
    verb: str,
    object_type: str,
    object_id: str,
    *,
    namespace_id: UUID | None = None,
    codes: Iterable[str] = (),
    counts: Mapping[str, int] | None = None,
) -> None:
    """Append an audit entry in the transaction of the effect: ids, codes and counts only (AU-02)."""
    if not _recorders:
        msg = "no audit recorder is registered"
        raise RuntimeError(msg)
    _recorders[0](access, verb, object_type, object_id, namespace_id=namespace_id, codes=codes, counts=counts)
