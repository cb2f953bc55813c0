"""The door: which memories an access may read. Every list, detail, conflict member, query, export and page starts here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import CharField, Exists, OuterRef, Q
from django.db.models.functions import Cast

from apps.core.errors import NotFound
from apps.core.ids import parse_public_id
from apps.memories.models import Memory
from apps.retention import barrier
from apps.retention.models import Revocation, TargetKind

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from apps.tenants.access import Access


def within_reach(access: Access) -> QuerySet[Memory]:
    """Memories in readable namespaces under readable policies, those that were revoked included."""
    return Memory.objects.filter(tenant_id=access.tenant_id, namespace_id__in=access.readable).filter(
        Q(access_policy=None) | Q(access_policy_id__in=access.policies)
    )


def readable_memories(access: Access) -> QuerySet[Memory]:
    """Memories this access may read. The only door: list, get, conflict members, queries, export and console start here."""
    named = Revocation.objects.filter(
        tenant_id=OuterRef("tenant_id"), target_kind=TargetKind.MEMORY, target_id=Cast(OuterRef("pk"), CharField())
    )
    # The barrier is asked as well as the row: one that came back by hand, out of an old backup, says that it is active.
    return within_reach(access).exclude(state=Memory.State.REVOKED).filter(~Exists(named))


def require_readable(access: Access, memory_id: str) -> Memory:
    """The memory of a public id.

    Raises NotFound (absent, foreign and unreadable alike) and, only for who could read it before its deletion, Revoked.
    """
    key = parse_public_id("mem", memory_id)
    found = (
        None
        if key is None
        else within_reach(access).filter(pk=key).select_related("namespace", "retention_class", "access_policy").first()
    )
    if found is None:
        raise NotFound
    if found.state == Memory.State.REVOKED or barrier.revoked_memories(access.tenant_id, [found.id]):
        barrier.raise_revoked(access.tenant_id, found.id)
        raise NotFound
    return found
