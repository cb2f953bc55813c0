"""What the search box of a list understands: a whole public id, a whole key, and the whole values of the columns named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Field, Q, UUIDField

from apps.core.ids import PREFIXES, parse_public_id

if TYPE_CHECKING:
    from apps.tenants.console.base import GovernedAdmin


def by_id_or_column(page: GovernedAdmin, term: str) -> Q:
    """Rows whose id is the term, or one of whose ``search_fields`` is; a column may name a lookup, as in ``key__startswith``."""
    found = Q(pk__in=[])
    key = page.key_of(term)
    if key is not None:
        found |= Q(pk=key)
    for name in page.search_fields:
        column = page.opts.get_field(name.partition("__")[0])
        if isinstance(column, Field):
            found |= _in_column(column, name, term)
    return found


def _in_column(column: Field[Any, Any], name: str, term: str) -> Q:
    if isinstance(column, UUIDField):
        keys = [key for key in (parse_public_id(prefix, term) for prefix in PREFIXES) if key is not None]
        return Q(**{f"{name}__in": keys or _uuids(term)})
    return Q(**{name: term})


def _uuids(term: str) -> list[UUID]:
    try:
        return [UUID(term)]
    except ValueError:
        return []
