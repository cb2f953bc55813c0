"""Statements that run on every request, prepared once per connection.

Django sends each statement as text with its values inside, so the server plans it anew every time. For the few statements on
the way of every request that costs more than running them. These go through a cursor of the driver that binds values on the
server; Django's wrapper stays around it, so that they are counted and shown like all others.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from psycopg._queries import PostgresQuery
    from psycopg.abc import Params, Query

_AT_ONCE = 0  # prepared on first use; Django's own cursors bind values themselves and are never prepared


class _PreparingCursor(psycopg.Cursor[tuple[Any, ...]]):
    def _convert_query(self, query: Query, params: Params | None = None) -> PostgresQuery:
        """The driver forgets the text of a prepared statement; Django's log of statements wants it."""
        self._query = super()._convert_query(query, params)
        return self._query


@contextmanager
def prepared_cursor(*, using: str = DEFAULT_DB_ALIAS) -> Iterator[Any]:
    """A cursor whose statements are planned once per connection; for constant texts with values as parameters only."""
    connection = connections[using]
    connection.ensure_connection()
    raw = connection.connection
    if raw.prepare_threshold is None:
        raw.prepare_threshold = _AT_ONCE
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    with wrap(_PreparingCursor(raw)) as cursor:  # type: ignore[arg-type]  # any cursor of the driver will do
        yield cursor


def fetch_prepared(
    statement: str, values: Sequence[Any] | Mapping[str, Any], *, using: str = DEFAULT_DB_ALIAS
) -> list[tuple[Any, ...]]:
    """All rows of a prepared statement."""
    with prepared_cursor(using=using) as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
