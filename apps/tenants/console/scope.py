"""Which rows of the open tenant a person sees: those of the namespaces, and under the policies, within reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from apps.tenants.models import Role

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

    from apps.tenants.access import Access

EVERY_ROLE = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER, Role.AUDITOR, Role.OPERATOR})
# These see the rows (never the texts) of every namespace; a reviewer sees those of the namespaces in reach.
WHOLE_TENANT = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR, Role.OPERATOR})


def narrow(
    rows: QuerySet[Any],
    access: Access,
    roles: frozenset[str],
    *,
    tenant: str | None,
    namespaces: Iterable[str] = (),
    policies: Iterable[str] = (),
) -> QuerySet[Any]:
    """Bound rows to the tenant and, for those who do not see all of it, to their namespaces and access policies.

    ``roles`` are those that open the page: a reviewer who is an operator as well does not see more memories for it. ``tenant``,
    ``namespaces`` and ``policies`` are the columns (or paths) that hold them. Every path named has to be in reach: a row that
    joins two namespaces is shown to somebody who sees both.
    """
    if not roles & access.roles:
        return rows.none()
    if tenant is not None:
        rows = rows.filter(**{tenant: access.tenant_id})
    if roles & access.roles & WHOLE_TENANT:
        return rows
    reach = seen_namespaces(access)
    for path in namespaces:
        rows = rows.filter(**{f"{path}__in": reach})
    for path in policies:
        rows = rows.filter(Q(**{path: None}) | Q(**{f"{path}__in": access.policies}))
    return rows


def seen_namespaces(access: Access) -> tuple[UUID, ...]:
    """Namespaces that this person reads or reviews."""
    return tuple(grant.id for grant in access.namespaces if grant.read or grant.review)
