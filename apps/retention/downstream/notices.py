"""The layer ``downstream``: a deletion is completed when every registered system has acknowledged it, or a person gave it up.

A system that does not answer is asked again, later each time, for as long as the deletion has attempts. Then the deletion needs
action, and the system is named among the remaining copies: it is never completed over it in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

import orjson
from django.db import connection

from apps.audits import log
from apps.core import clock
from apps.core.errors import NotFound
from apps.core.ids import public_id
from apps.core.isolation import tenant_context
from apps.jobs.backoff import delay
from apps.jobs.registry import TryAgain
from apps.retention.downstream.delivery import DeliveryError, deliver
from apps.retention.downstream.systems import require_keeper, unseal
from apps.retention.layers import Cleared, Layer, RemainingCopy, Target
from apps.retention.models import DeletionJob, DownstreamNotice, DownstreamSystem
from apps.retention.resumption import requeue
from apps.retention.targets import target_of
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from apps.tenants.access import Access

MOST_IDS: Final = 10_000  # of a kind in one message; a message with more says so and names the target alone for the rest
EVENT_TYPE: Final = "memory.deleted"
State = DownstreamNotice.State

Finder = Callable[[Target], list[str]]
_finders: dict[str, Finder] = {}


def tell_ids(kind: str, finder: Finder) -> None:
    """``finder(target)``: the public ids of one kind that the deletion takes; filled by the floors that own them."""
    _finders[kind] = finder


class Downstream(Layer):
    """Sends outside of any transaction, one message at a time."""

    key: ClassVar[str] = "downstream"
    in_transaction: ClassVar[bool] = False

    def discover(self, target: Target) -> int:
        """Whoever is registered when the layer begins is told."""
        systems = DownstreamSystem.objects.filter(tenant_id=target.tenant_id, ended_at=None)
        DownstreamNotice.objects.bulk_create(
            [
                DownstreamNotice(tenant_id=target.tenant_id, job_id=target.job_id, system_id=key)
                for key in systems.order_by("registered_at", "id").values_list("id", flat=True)
            ],
            ignore_conflicts=True,
        )
        return DownstreamNotice.objects.filter(tenant_id=target.tenant_id, job_id=target.job_id).count()

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - what is due says where to go on
        """Send one message that is due. Raises TryAgain while there are some that are not."""
        with tenant_context(target.tenant_id):
            waiting = DownstreamNotice.objects.filter(tenant_id=target.tenant_id, job_id=target.job_id, state=State.WAITING)
            notice = waiting.select_related("system").order_by("next_try_at", "id").first()
            if notice is None:
                return Cleared(0, None)
            now = clock.now()
            if notice.next_try_at > now:
                code = "downstream_unreached"
                raise TryAgain(code, seconds=(notice.next_try_at - now).total_seconds())
            body = _body(target)
        return Cleared(int(_send(notice, body)), "sent")

    def verify(self, target: Target) -> int:
        """Asked from the systems' side, by when each was settled."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM retention_downstreamsystem s JOIN retention_downstreamnotice n ON n.system_id = s.id "
                "WHERE s.tenant_id = %s AND n.job_id = %s AND n.settled_at IS NULL",
                [target.tenant_id, target.job_id],
            )
            return int(cursor.fetchone()[0])

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:
        """Systems that have not acknowledged, given up or not."""
        left = DownstreamNotice.objects.filter(tenant_id=target.tenant_id, job_id=target.job_id).exclude(state=State.ACKNOWLEDGED)
        return [
            RemainingCopy(f"downstream/{name}", "given_up" if state == State.GIVEN_UP else "not_acknowledged")
            for name, state in left.order_by("id").values_list("system__name", "state")
        ]


def try_again(access: Access, notice_id: UUID) -> None:
    """Let a message be sent at once, and the deletion go on if it stands still. For owners and compliance staff.

    Raises NotPermitted, and NotFound for one that is settled.
    """
    require_keeper(access)
    with tenant_transaction(access) as tx:
        notice = _waiting(access, notice_id)
        DownstreamNotice.objects.filter(pk=notice.pk).update(next_try_at=clock.now())
        requeue(tx, access, _locked_job(access, notice.job_id))


def give_up(access: Access, notice_id: UUID, *, reason_code: str) -> None:
    """Wait for a system no longer. The deletion can be completed then, and names the system as a copy that remains.

    For owners and compliance staff. Raises NotPermitted, and NotFound for a message that is settled.
    """
    require_keeper(access)
    with tenant_transaction(access) as tx:
        notice = _waiting(access, notice_id)
        DownstreamNotice.objects.filter(pk=notice.pk).update(state=State.GIVEN_UP, settled_at=clock.now())
        job = _locked_job(access, notice.job_id)
        log.record(
            access,
            "downstream.given_up",
            "deletion",
            public_id("del", job.id),
            namespace_id=job.namespace_id,
            codes=[reason_code],
        )
        requeue(tx, access, job)


def _body(target: Target) -> bytes:
    """Ids and kinds, no text: what was deleted, not what it said."""
    job = DeletionJob.objects.select_related("revocation", "namespace").get(tenant_id=target.tenant_id, pk=target.job_id)
    ids: dict[str, Any] = {kind: sorted(finder(target_of(job))) for kind, finder in sorted(_finders.items())}
    data = {
        "deletion_id": public_id("del", job.id),
        "deletion_request_id": job.deletion_request_id,
        "target": {"kind": job.target_kind, "id": job.target_public_id},
        "deletion_epoch": job.epoch,
        "accepted_at": job.accepted_at,
        **{kind: found[:MOST_IDS] for kind, found in ids.items()},
        "shortened": any(len(found) > MOST_IDS for found in ids.values()),
    }
    return orjson.dumps({"type": EVENT_TYPE, "timestamp": job.accepted_at, "data": data}, option=orjson.OPT_UTC_Z)


def _send(notice: DownstreamNotice, body: bytes) -> bool:
    """Send, and note what came of it; True when it is acknowledged."""
    at = clock.now()
    try:
        answer = deliver(notice.system.url, unseal(notice.system.sealed_secret), f"msg_{notice.id.hex}", body, at=at)
        changed: dict[str, object] = {"state": State.ACKNOWLEDGED, "settled_at": clock.now()}
    except DeliveryError as failed:
        answer, changed = failed.code, {"next_try_at": clock.now() + delay(notice.attempts + 1)}
    with tenant_context(notice.tenant_id):
        rows = DownstreamNotice.objects.filter(tenant_id=notice.tenant_id, pk=notice.pk, state=State.WAITING)
        rows.update(attempts=notice.attempts + 1, last_tried_at=at, last_answer=answer, **changed)
        DownstreamSystem.objects.filter(tenant_id=notice.tenant_id, pk=notice.system_id).update(
            last_tried_at=at, last_answer=answer
        )
    return "state" in changed


def _waiting(access: Access, notice_id: UUID) -> DownstreamNotice:
    rows = DownstreamNotice.objects.filter(tenant_id=access.tenant_id, pk=notice_id, state=State.WAITING)
    found = rows.select_for_update(of=("self",)).first()
    if found is None:
        raise NotFound
    return found


def _locked_job(access: Access, job_id: UUID) -> DeletionJob:
    return DeletionJob.objects.filter(tenant_id=access.tenant_id).select_for_update(of=("self",)).get(pk=job_id)
