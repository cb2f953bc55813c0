"""The transaction in which a verb does all of its work."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection, transaction

from apps.core import clock
from apps.core.errors import RevisionUnavailable
from apps.core.isolation import tenant_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from apps.tenants.access import Access


WAIT_MS, MOST_WAIT_MS = 250, 2000  # a read waits so long for a revision unless it says otherwise, and no longer than that


class TenantTransaction:
    """What a verb needs from its transaction: the next revision, and work for after the commit."""

    def __init__(self, tenant_id: UUID) -> None:
        self.tenant_id = tenant_id
        self._revision: int | None = None

    def next_revision(self) -> int:
        """Step the tenant's revision, once per transaction, and return it.

        The tenant row is the last lock a verb takes: everything it read and locked comes before, and it is held until commit so
        that revisions become visible in their order.
        """
        if self._revision is None:
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE tenants_tenant SET revision = revision + 1 WHERE id = %s RETURNING revision", [self.tenant_id]
                )
                self._revision = int(cursor.fetchone()[0])
        return self._revision

    @property
    def revision(self) -> int | None:
        """The revision this transaction has taken, or None while it has changed nothing."""
        return self._revision

    def on_commit(self, action: Callable[[], object]) -> None:
        transaction.on_commit(action, robust=True)


@contextmanager
def tenant_transaction(access: Access) -> Iterator[TenantTransaction]:
    """Open the verb's transaction as the application role, bound to the tenant of the access."""
    with tenant_context(access.tenant_id):
        yield TenantTransaction(access.tenant_id)


def current_revision(tenant_id: UUID) -> int:
    """The revision of the snapshot that the open tenant context reads."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT revision FROM tenants_tenant WHERE id = %s", [tenant_id])
        return int(cursor.fetchone()[0])


def revision_token(revision: int) -> str:
    """``rev_<n>``: what callers pass back as ``min_revision``."""
    return f"rev_{revision}"


def revision_number(token: str | None) -> int | None:
    """The number of a revision token that was checked for its form; None for none."""
    return None if token is None else int(token.removeprefix("rev_"))


def wait_for_revision(access: Access, wanted: int | None, *, wait_ms: int) -> None:
    """Return once this database has reached a revision; at once where none is wanted.

    A writer may have taken the number and not have committed yet, so there is a bounded wait, in transactions of their own: each
    look has to see what was committed since. Raises RevisionUnavailable when the time is over.
    """
    if wanted is None:
        return
    deadline = clock.monotonic() + wait_ms / 1000
    pause = _FIRST_PAUSE
    while True:
        with tenant_transaction(access):
            if current_revision(access.tenant_id) >= wanted:
                return
        left = deadline - clock.monotonic()
        if left <= 0:
            raise RevisionUnavailable
        clock.pause(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)


_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.1  # seconds between two looks
