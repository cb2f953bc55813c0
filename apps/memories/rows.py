"""Writing rows with statements that are planned once per connection.

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


def update_rows(rows: Sequence[Model], columns: tuple[str, ...]) -> None:
    """Write these attributes of instances of one model, all of them stored and locked, in the open transaction."""
    if not rows:
        return
    statement, names = _update(type(rows[0]), columns)
    data = [{column: getattr(row, attribute) for column, attribute in names} for row in rows]
    with prepared_cursor() as cursor:
        cursor.execute(statement, [orjson.dumps(data).decode()])


@cache
def _update(model: type[Model], columns: tuple[str, ...]) -> tuple[str, tuple[tuple[str, str], ...]]:
    fields = [field for field in model._meta.concrete_fields if field.attname in columns]  # noqa: SLF001
    table = model._meta.db_table  # noqa: SLF001
    changes = ", ".join(f'"{field.column}" = r."{field.column}"' for field in fields)
    given = f'json_populate_recordset(NULL::"{table}", %s::json) AS r'
    statement = f'UPDATE "{table}" AS t SET {changes} FROM {given} WHERE t.id = r.id AND t.tenant_id = r.tenant_id'  # noqa: S608 - names of our models
    return statement, (("id", "id"), ("tenant_id", "tenant_id"), *((str(field.column), field.attname) for field in fields))


@cache
def _insert(model: type[Model]) -> tuple[str, tuple[tuple[str, str], ...]]:
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django's public name
    table = model._meta.db_table  # noqa: SLF001
    columns = ", ".join(f'"{field.column}"' for field in fields)
    statement = f'INSERT INTO "{table}" ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::"{table}", %s::json)'  # noqa: S608 - names of our models
    return statement, tuple((str(field.column), field.attname) for field in fields)
