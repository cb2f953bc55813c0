"""The job of an export: layer by layer, in chunks, from wherever it stopped.

Each chunk is read, written to disk, counted and checkpointed under one lock of its row. A deletion that is accepted takes
the same lock to end the export (``endings``): so a chunk is either whole before it, or not begun.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from apps.core import clock
from apps.core.errors import DeletionInProgress, NotFound
from apps.jobs.registry import GiveUp
from apps.retention.exports import archive, spool
from apps.retention.exports.endings import end
from apps.retention.exports.reach import exporting_layers, foresee, target_of_export
from apps.retention.exports.requests import record, require_undeleted
from apps.retention.models import SubjectExport
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from apps.jobs.runs import JobRun
    from apps.retention.layers import Layer
    from apps.tenants.access import Access

PATIENCE: Final = timedelta(seconds=20)  # of one turn; then others get theirs
State = SubjectExport.State


class _Ended(Exception):
    """A deletion, or its time, has ended the export meanwhile."""


def work_off(access: Access, export_id: UUID, run: JobRun) -> bool:
    """Go on with an export; False when there is more to do later, True when it is ready or has ended.

    Raises GiveUp for an export that does not exist, and LeaseLost when another worker has taken over.
    """
    until = clock.monotonic() + PATIENCE.total_seconds()
    try:
        if not run.checkpoint:
            _begin(access, export_id, run)
        layers = exporting_layers()
        names = [layer.key for layer in layers]
        for layer in layers[names.index(str(run.checkpoint["layer"])) :]:
            while run.checkpoint["layer"] == layer.key and not run.checkpoint["whole"]:
                _chunk(access, export_id, run, layer)
                if run.stopping or clock.monotonic() > until:
                    return False
            _next_layer(access, run, names, layer.key)
        _finish(access, export_id, run)
    except _Ended:
        spool.remove(export_id)
        with tenant_transaction(access):
            run.require_lease()
            run.complete()
    return True


def _begin(access: Access, export_id: UUID, run: JobRun) -> None:
    """Find out what belongs into it, and make its folder."""
    with tenant_transaction(access) as tx:
        run.require_lease()
        row = _open_row(access, export_id)
        try:
            require_undeleted(access.tenant_id, row.subject_id, row.namespaces[0])
            found = foresee(tx, access, row)
        except (DeletionInProgress, NotFound):
            end(access, row, State.REVOKED)
        else:
            row.namespaces, row.epochs, row.as_of = list(found.namespaces), found.epochs, found.as_of
            row.keys, row.shares, row.state, row.counts = list(found.keys), list(found.shares), State.RUNNING, {}
            row.save(update_fields=["namespaces", "epochs", "as_of", "keys", "shares", "state", "counts"])
            spool.begin(export_id)
            run.save_checkpoint(_at_start_of(exporting_layers()[0].key))
            return
    raise _Ended


def _chunk(access: Access, export_id: UUID, run: JobRun, layer: Layer) -> None:
    """One chunk of one layer: rows, file, count and checkpoint belong together."""
    with tenant_transaction(access):
        run.require_lease()
        row = _open_row(access, export_id)
        cursor = run.checkpoint["cursor"]
        found = layer.export(target_of_export(row), None if cursor is None else str(cursor))
        written = spool.append(export_id, layer.key, int(str(run.checkpoint["bytes"])), found.rows)
        row.counts[layer.key] = row.counts.get(layer.key, 0) + len(found.rows)
        row.save(update_fields=["counts"])
        run.save_checkpoint(
            {"layer": layer.key, "cursor": found.cursor, "bytes": written, "whole": found.cursor is None},
        )


def _next_layer(access: Access, run: JobRun, names: list[str], done: str) -> None:
    after = names.index(done) + 1
    if after < len(names):
        with tenant_transaction(access):
            run.save_checkpoint(_at_start_of(names[after]))


def _at_start_of(layer: str) -> dict[str, object]:
    return {"layer": layer, "cursor": None, "bytes": 0, "whole": False}


def _finish(access: Access, export_id: UUID, run: JobRun) -> None:
    """Pack and sign what was written; then, under the lock, let it be fetched."""
    with tenant_transaction(access):
        row = _open_row(access, export_id)
        described = archive.described(row)
    try:
        packed = archive.pack(export_id, described, beat=run.heartbeat)
    except FileNotFoundError:  # an ending took the folder away under our hands; if nothing has ended, something is wrong
        with tenant_transaction(access):
            _open_row(access, export_id)
        raise
    with tenant_transaction(access):
        run.require_lease()
        row = _open_row(access, export_id)
        archive.publish(export_id)
        row.state, row.completed_at, row.size, row.sha256 = State.READY, clock.now(), packed.size, packed.sha256
        row.save(update_fields=["state", "completed_at", "size", "sha256"])
        record(access, "export.completed", row, counts={**row.counts, "bytes": packed.size})
        run.complete()


def _open_row(access: Access, export_id: UUID) -> SubjectExport:
    """The export, locked. Raises _Ended when it has ended, GiveUp when there is none."""
    held = SubjectExport.objects.select_for_update(of=("self",)).select_related("subject")
    row = held.filter(tenant_id=access.tenant_id, pk=export_id).first()
    if row is None:
        code = "export_missing"
        raise GiveUp(code)
    if row.state not in {State.ACCEPTED, State.RUNNING}:
        raise _Ended
    return row
