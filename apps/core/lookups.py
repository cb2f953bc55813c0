"""``id__in`` with many ids as one parameter.

Django writes an IN with one parameter per id; at ten thousand of them, making and reading the statement takes a second, finding
the rows a few milliseconds. For PostgreSQL ``= ANY(array)`` is the same condition with the same plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import ForeignKey, OneToOneField, UUIDField
from django.db.models.fields.related_lookups import RelatedIn
from django.db.models.lookups import In

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

FEW = 20  # up to here the statement stays as everybody knows it
_ARRAY = "%s::uuid[]"


class _AsArray:
    """Before a lookup ``in``: ids and nothing but ids become one array."""

    def process_rhs(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        if self.rhs_is_direct_value():  # type: ignore[attr-defined]
            wanted = dict.fromkeys(self.rhs)  # type: ignore[attr-defined]
            wanted.pop(None, None)
            if len(wanted) > FEW and all(isinstance(one, UUID) for one in wanted):
                return _ARRAY, [list(wanted)]
        return super().process_rhs(compiler, connection)  # type: ignore[misc,no-any-return]  # of the lookup behind

    def get_rhs_op(self, connection: BaseDatabaseWrapper, rhs: str) -> str:
        return f"= ANY({rhs})" if rhs == _ARRAY else super().get_rhs_op(connection, rhs)  # type: ignore[misc]


class UuidIn(_AsArray, In):
    """``in`` of a UUID column."""


class RelatedUuidIn(_AsArray, RelatedIn):
    """``in`` of a foreign key; keys that are no UUIDs stay as they were."""


def register() -> None:
    """Put these in the place of Django's own."""
    UUIDField.register_lookup(UuidIn)
    for field in (ForeignKey, OneToOneField):
        field.register_lookup(RelatedUuidIn)
