"""Reading the audit log. The only door: list, detail, export and console start here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.audits.models import AuditEntry
from apps.core.errors import NotFound
from apps.tenants.access import ActorKind
from apps.tenants.models import Role

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

_READERS = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR})

# The order of every list: ids are made in the order of time and are unique, so a page ends in one place.
NEWEST_FIRST = ("-at", "-id")


def readable_entries(access: Access) -> QuerySet[AuditEntry]:
    """The entries this access may read: the tenant's, for its owner, compliance staff and auditors; none for anybody else."""
    entries = AuditEntry.objects.filter(tenant_id=access.tenant_id)
    if access.actor_kind == ActorKind.AGENT or not access.roles & _READERS:
        return entries.none()
    return entries


def list_entries(
    access: Access, *, verb: str | None = None, object_type: str | None = None, object_id: str | None = None
) -> QuerySet[AuditEntry]:
    """The readable entries, newest first, narrowed to a verb or to an object; hand it to ``apps.core.cursors.page``."""
    wanted = {"verb": verb, "object_type": object_type, "object_id": object_id}
    return (
        readable_entries(access)
        .filter(**{name: value for name, value in wanted.items() if value is not None})
        .order_by(*NEWEST_FIRST)
    )


def get_entry(access: Access, entry_id: UUID) -> AuditEntry:
    """One readable entry. Raises NotFound (absent, foreign and unreadable alike)."""
    entry = readable_entries(access).filter(pk=entry_id).first()
    if entry is None:
        raise NotFound
    return entry
