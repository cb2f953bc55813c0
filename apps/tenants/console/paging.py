"""Counts of lists that may be millions long: nothing here ever counts all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.db.models import QuerySet

MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Tally:
    """A count that stops at MOST_COUNTED, and the oldest or latest instant among the rows, whichever was asked for."""

    count: int
    more: bool = False
    at: datetime | None = None

    def __str__(self) -> str:
        """``10 000+`` where counting stopped; a narrow space groups the digits in every language."""
        return f"{self.count:,}".replace(",", "\u202f") + ("+" if self.more else "")


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows to count; ``instant`` names the column whose first value is wanted (its last one with a leading minus)."""

    rows: QuerySet[Any]
    instant: str | None = None


def tally(rows: QuerySet[Any]) -> Tally:
    """Count rows up to MOST_COUNTED."""
    return tallies([Counted(rows)])[0]


def tallies(wanted: Sequence[Counted]) -> list[Tally]:
    """The counts of several sets of rows, each up to MOST_COUNTED, in one statement."""
    columns: list[str] = []
    values: list[Any] = []
    for one in wanted:
        bounded = one.rows.order_by().annotate(one_row=Value(1)).values("one_row")[: MOST_COUNTED + 1]
        first = one.rows.order_by(one.instant).values(one.instant.removeprefix("-"))[:1] if one.instant else None
        for rows, shape in ((bounded, "(SELECT count(*) FROM ({}) AS counted)"), (first, "({})")):
            statement, parameters = _compiled(rows)
            columns.append(shape.format(statement) if statement else "NULL")
            values += parameters
    if not columns:
        return []
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)}", values)
        found = cursor.fetchone()
    return [
        Tally(min(number or 0, MOST_COUNTED), (number or 0) > MOST_COUNTED, at)
        for number, at in zip(found[::2], found[1::2], strict=True)
    ]


def words_in(wanted: Sequence[QuerySet[Any]], column: str) -> list[Counter[str]]:
    """How often each word of a column occurs in several sets of rows, each counted up to MOST_COUNTED + 1, in one statement."""
    parts: list[str] = []
    values: list[Any] = []
    for number, rows in enumerate(wanted):
        statement, parameters = _compiled(rows.order_by().values(column)[: MOST_COUNTED + 1])
        if statement:
            parts.append(f"SELECT {number}, word, count(*) FROM ({statement}) AS counted (word) GROUP BY word")  # noqa: S608
            values += parameters
    found: list[Counter[str]] = [Counter() for _ in wanted]
    if parts:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), values)
            for number, word, count in cursor.fetchall():
                found[number][word] = count
    return found


def _compiled(rows: QuerySet[Any] | None) -> tuple[str, Sequence[Any]]:
    if rows is None:
        return "", ()
    try:
        statement, parameters = rows.query.sql_with_params()
    except EmptyResultSet:
        return "", ()
    return str(statement), parameters
