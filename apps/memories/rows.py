"""Inserting rows with a statement that is planned once per connection.

Django compiles and the server plans every INSERT anew; for rows of forty columns that costs more than storing them. One
parameter, a JSON list, carries any number of rows; the table's own row type says how each value is read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import orjson

from apps.core.prepared import prepared_cursor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert instances of one model, all of them new, in the open transaction; constraints speak as always."""
    if not rows:
        return
    statement, names = _insert(type(rows[0]))
    data = [{column: getattr(row, attribute) for column, attribute in names} for row in rows]
    with prepared_cursor() as cursor:
        cursor.execute(statement, [orjson.dumps(data).decode()])
    for row in rows:
        row._state.adding = False  # noqa: SLF001 - what save() would have said


@cache
def _insert(model: type[Model]) -> tuple[str, tuple[tuple[str, str], ...]]:
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django's public name
    table = model._meta.db_table  # noqa: SLF001
    columns = ", ".join(f'"{field.column}"' for field in fields)
    statement = f'INSERT INTO "{table}" ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::"{table}", %s::json)'  # noqa: S608 - names of our models
    return statement, tuple((str(field.column), field.attname) for field in fields)
