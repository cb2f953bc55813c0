"""Background work of this app: an index that cannot be used is written anew without anybody asking for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from apps.jobs.queue import Work, enqueue
from apps.jobs.registry import GiveUp, JobRun, job_handler
from apps.retrieval.analysis import ANALYSIS_VERSION
from apps.retrieval.models import IndexState
from apps.retrieval.rebuild import LabelsInvalidError, rebuild_namespace

if TYPE_CHECKING:
    from collections.abc import Collection

    from apps.tenants.access import Access
    from apps.tenants.transactions import TenantTransaction

REBUILD = "rebuild_index"
_LEASE = timedelta(hours=1)  # a namespace is rebuilt in one transaction


def ask_for_rebuild(tx: TenantTransaction, access: Access, namespaces: Collection[UUID]) -> None:
    """Queue a rebuild of each of these namespaces whose index is missing or was made by another analysis; once per generation."""
    states = {
        state.namespace_id: state for state in IndexState.objects.filter(tenant_id=access.tenant_id, namespace_id__in=namespaces)
    }
    wanted = [
        (namespace_id, states[namespace_id].generation if namespace_id in states else 0)
        for namespace_id in sorted(namespaces)
        if namespace_id not in states or states[namespace_id].analysis_version != str(ANALYSIS_VERSION)
    ]
    enqueue(
        tx,
        access,
        [
            Work(
                kind=REBUILD,
                key=f"{namespace_id}:{generation}:{ANALYSIS_VERSION}",
                payload={"namespace": str(namespace_id)},
                namespaces=(namespace_id,),
            )
            for namespace_id, generation in wanted
        ],
    )


@job_handler(REBUILD, lease=_LEASE, max_attempts=3)
def rebuild(run: JobRun) -> None:
    """Rebuild one namespace; labels that are none keep the old generation until people have put them right (LB-04, LB-06)."""
    try:
        rebuild_namespace(run.access, UUID(str(run.payload["namespace"])))
    except LabelsInvalidError:
        raise GiveUp(code="labels_invalid") from None
