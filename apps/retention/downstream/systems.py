"""Registering the systems that are told of deletions."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import IntegrityError, transaction

from apps.audits import log
from apps.core import clock
from apps.core.errors import Conflict, FieldError, NotFound, NotPermitted, ValidationFailed
from apps.retention.downstream.delivery import SECRET_PREFIX, DeliveryError, fault_of
from apps.retention.models import DownstreamSystem
from apps.tenants.models import Role
from apps.tenants.transactions import tenant_transaction

if TYPE_CHECKING:
    from uuid import UUID

    from apps.tenants.access import Access

KEEPERS: Final = frozenset({Role.OWNER, Role.COMPLIANCE})
_SECRET_BYTES: Final = 32
_LONGEST_NAME: Final = 64
_WRONG: Final = {
    "address_malformed": "An https address without user, password and fragment.",
    "address_not_https": "https, unless the operator has listed the host in DOWNSTREAM_INTERNAL_HOSTS.",
}


class NameTaken(Conflict):
    code = "downstream_name_taken"
    title = "Name taken"
    detail = "A downstream system of this name is registered already."


@dataclass(frozen=True, slots=True)
class RegisteredSystem:
    """``secret`` is shown here and never again."""

    system_id: UUID
    name: str
    secret: str


def register_system(access: Access, *, name: str, url: str) -> RegisteredSystem:
    """Tell a system of every deletion from now on. For owners and compliance staff.

    Raises NotPermitted, ValidationFailed for a name or an address that cannot be, and NameTaken.
    """
    require_keeper(access)
    faults = []
    if not (name.isidentifier() or name.replace("-", "_").isidentifier()) or not name.isascii() or len(name) > _LONGEST_NAME:
        faults.append(FieldError("/name", "invalid_format", "Letters, digits, - and _; up to 64."))
    fault = fault_of(url)
    if fault is not None:
        faults.append(FieldError("/url", fault, _WRONG[fault]))
    if faults:
        raise ValidationFailed(faults)
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode("ascii")
    with tenant_transaction(access):
        try:
            with transaction.atomic():
                row = DownstreamSystem.objects.create(
                    tenant_id=access.tenant_id, name=name, url=url, sealed_secret=seal(secret), registered_by=access.actor_id
                )
        except IntegrityError:
            raise NameTaken from None
        log.record(access, "downstream.registered", "downstream_system", str(row.id))
    return RegisteredSystem(row.id, name, secret)


def end_system(access: Access, system_id: UUID) -> None:
    """Tell it of no deletion that begins from now on; what it has not acknowledged stays open. Raises NotPermitted, NotFound."""
    require_keeper(access)
    with tenant_transaction(access):
        rows = DownstreamSystem.objects.filter(tenant_id=access.tenant_id, pk=system_id, ended_at=None)
        if not rows.update(ended_at=clock.now()):
            raise NotFound
        log.record(access, "downstream.ended", "downstream_system", str(system_id))


def require_keeper(access: Access) -> None:
    if not access.roles & KEEPERS:
        raise NotPermitted


def seal(secret: str) -> str:
    """The secret as it is stored: who has the database alone cannot sign."""
    return _box().encrypt(secret.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Raises DeliveryError when it was sealed under another SECRET_KEY; registering the system again is the remedy."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        code = "secret_unreadable"
        raise DeliveryError(code) from None


def _box() -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"memory-platform/downstream").derive(
        settings.SECRET_KEY.encode()
    )
    return Fernet(base64.urlsafe_b64encode(derived))
