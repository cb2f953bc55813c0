"""The second wall: which tenant the database connection speaks for.

Row-level security shows a row only when its tenant equals the setting ``memory_platform.tenant``. The setting lives as long as
the transaction that made it, so a connection that goes back to the pool carries nothing along. Outside both contexts below no
tenant row is visible at all, not even to the owner of the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from apps.core.prepared import fetch_prepared

APP_ROLE = "memory_platform_app"
SETTING = "memory_platform.tenant"
EVERY_TENANT = "*"

_BIND = "SELECT set_config('role', %s, true), set_config(%s, %s, true)"

_current: ContextVar[str | None] = ContextVar("memory_platform_tenant", default=None)


class IsolationError(RuntimeError):
    """A context was opened inside the context of another tenant; a programming error, never an answer to a caller."""


def current_tenant_id() -> UUID | None:
    """The tenant of the open context, or None outside one and in the system context."""
    value = _current.get()
    return UUID(value) if value and value != EVERY_TENANT else None


@contextmanager
def tenant_context(tenant_id: UUID, *, using: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """One transaction as the application role, bound to one tenant.

    Opened inside itself (same tenant) it is a savepoint; inside the context of another tenant it raises IsolationError.
    """
    wanted = str(tenant_id)
    if _current.get() == wanted:
        with transaction.atomic(using=using):
            yield
        return
    with _bound(wanted, APP_ROLE, using):
        yield


@contextmanager
def system_context(*, using: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """One transaction as the owner that sees every tenant: for provisioning, claiming jobs, sweeping and migrations only."""
    if _current.get() == EVERY_TENANT:
        with transaction.atomic(using=using):
            yield
        return
    with _bound(EVERY_TENANT, None, using):
        yield


@contextmanager
def _bound(value: str, role: str | None, using: str) -> Iterator[None]:
    if _current.get() is not None:
        msg = "a tenant context is already open on this connection"
        raise IsolationError(msg)
    connection = connections[using]
    if connection.in_atomic_block and role is not None and _inside_foreign_transaction(connection):
        msg = "a tenant context must open its own transaction"
        raise IsolationError(msg)
    with transaction.atomic(using=using):
        # Set inside the transaction and taken back before it commits: what runs after the commit is outside of the context.
        token = _current.set(value)
        try:
            outer = len(connection.savepoint_ids) > 0
            fetch_prepared(_BIND, [role or "none", SETTING, value], using=using)
            yield
            if outer:
                # Only under a surrounding transaction (tests): SET LOCAL outlives a savepoint, so it is taken back by hand.
                with connection.cursor() as cursor:
                    cursor.execute("SELECT set_config('role', 'none', true), set_config(%s, '', true)", [SETTING])
        finally:
            _current.reset(token)


def _inside_foreign_transaction(connection: object) -> bool:
    """A surrounding transaction is a mistake, except the one in which a test case wraps itself."""
    blocks = getattr(connection, "atomic_blocks", [])
    return any(not getattr(block, "_from_testcase", False) for block in blocks)
