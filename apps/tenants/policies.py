"""Access policies: narrower reader lists for single memories. A memory under one needs the namespace and the policy (ID-18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from apps.core.errors import FieldError, NotFound, ValidationFailed
from apps.core.text import has_control
from apps.tenants import grants
from apps.tenants.authority import require_administrator
from apps.tenants.models import AccessPolicy, Membership, User
from apps.tenants.recording import record
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from apps.tenants.access import Access

_KEY_CHARS = 128


@dataclass(frozen=True, slots=True)
class PolicyMade:
    key: str
    policy_id: UUID


def create_policy(access: Access, *, key: str, description: str = "") -> PolicyMade:
    """Add a policy that nobody may read under yet. Raises NotPermitted, ValidationFailed."""
    require_administrator(access)
    if not key.strip() or len(key) > _KEY_CHARS or has_control(key):
        raise ValidationFailed([FieldError("/key", "invalid_key", "This cannot be a key.")])
    with tenant_transaction(access):
        if AccessPolicy.objects.filter(tenant_id=access.tenant_id, key=key).exists():
            raise ValidationFailed([FieldError("/key", "duplicate", "There is a policy with this key.")])
        made = AccessPolicy.objects.create(tenant_id=access.tenant_id, key=key, description=description)
        record(access, "policy.created", "access_policy", key)
        return PolicyMade(made.key, made.id)


def add_reader(access: Access, *, policy: str, user_id: UUID) -> None:
    """Let an agent or a person of this tenant read under a policy. Raises NotPermitted (also for inactive ones), NotFound."""
    require_administrator(access)
    with tenant_transaction(access):
        if grants.grant_policy(_member(access, user_id), _policy(access, policy).id):
            record(access, "policy.reader_added", "access_policy", policy, codes=[str(user_id)])


def remove_reader(access: Access, *, policy: str, user_id: UUID) -> None:
    """Take that away again, from the next request on. Raises NotPermitted, NotFound when they could not read under it."""
    require_administrator(access)
    with tenant_transaction(access):
        if not grants.withdraw_policy(_member(access, user_id), _policy(access, policy).id):
            raise NotFound
        record(access, "policy.reader_removed", "access_policy", policy, codes=[str(user_id)])


def _policy(access: Access, key: str) -> AccessPolicy:
    found = AccessPolicy.objects.filter(tenant_id=access.tenant_id, key=key).first()
    if found is None:
        raise NotFound
    return found


def _member(access: Access, user_id: UUID) -> User:
    """Somebody with a role in the tenant: nobody else's account can be named here."""
    found = Membership.objects.filter(tenant_id=access.tenant_id, user_id=user_id).select_related("user").first()
    if found is None:
        raise NotFound
    return found.user
