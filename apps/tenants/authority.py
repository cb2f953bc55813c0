"""Who may administer a tenant: its owner, and the operator of the installation through a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.errors import NotPermitted
from apps.tenants.access import ActorKind
from apps.tenants.models import Role

if TYPE_CHECKING:
    from apps.tenants.access import Access


def require_administrator(access: Access) -> None:
    """Raise NotPermitted unless the access is an owner's or a command's; no agent administers anything."""
    if access.actor_kind == ActorKind.AGENT or Role.OWNER not in access.roles:
        raise NotPermitted
