"""Writing the audit log: one entry per effect, in the transaction of the effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.audits.models import AuditEntry
from apps.audits.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from apps.tenants.access import Access


def record(  # noqa: PLR0913 - an entry has that many parts
    access: Access,
    verb: str,
    object_type: str,
    object_id: str,
    *,
    namespace_id: UUID | None = None,
    result: str = AuditEntry.Result.OK,
    codes: Iterable[str] = (),
    counts: Mapping[str, int] | None = None,
    revision: int | None = None,
) -> AuditEntry:
    """Append an entry. ``verb`` must be registered in apps/audits/verbs.py; ids, codes and counts only, never text (AU-02).

    Must be called inside the tenant context of the effect; raises KeyError for an unknown verb.
    """
    VERBS[verb]
    return AuditEntry.objects.create(
        tenant_id=access.tenant_id,
        actor_kind=access.actor_kind,
        actor_id=access.actor_id,
        actor=access.actor,
        credential_id=access.credential_id,
        verb=verb,
        object_type=object_type,
        object_id=object_id,
        namespace_id=namespace_id,
        result=result,
        codes=list(codes),
        counts=dict(counts or {}),
        request_id=access.request_id,
        revision=revision,
    )
