"""Which tables can hold words of callers, found from the models: a new table is among them the moment it exists.

PostgreSQL keeps samples of values of every column that it analyses, in a catalogue that no deletion reaches. For columns of words
it is told not to (``SET STATISTICS 0``), after every migration.
"""

from __future__ import annotations

from typing import Final

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connections, models

from apps.core.governance import Governance, Keeps

_HOLDS: Final = frozenset({Keeps.CONTENT, Keeps.CANDIDATES})
_CAN_FORGET: Final = 180000  # older servers keep what they sampled before
_SAMPLED: Final = """
    SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s) AND a.attnum > 0 AND coalesce(a.attstattarget, -1) <> 0
"""


def private_tables() -> list[str]:
    """Tables of a deletion layer with at least one column of free text, by name."""
    return sorted(private_columns())


def private_columns() -> dict[str, frozenset[str]]:
    """Those tables and their columns of free text: text, JSON and lists of words; not choices, ids and numbers."""
    found = {}
    for model in apps.get_models():
        declared = getattr(model, "governance", None)
        if isinstance(declared, Governance) and declared.layer is not None and declared.keeps in _HOLDS:
            columns = frozenset(str(field.column) for field in model._meta.concrete_fields if _is_free(field))  # noqa: SLF001 - documented by Django
            if columns:
                found[model._meta.db_table] = columns  # noqa: SLF001 - documented by Django
    return found


def keep_no_samples(using: str = "default", **_signal: object) -> int:
    """Stop the sampling of columns of words; returns how many columns that were. Idempotent."""
    wanted = private_columns()
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLED, [list(wanted)])
        sampled = [(table, column) for table, column in cursor.fetchall() if column in wanted[table]]
        for table, column in sampled:
            name, part = connection.ops.quote_name(table), connection.ops.quote_name(column)
            cursor.execute(f"ALTER TABLE {name} ALTER COLUMN {part} SET STATISTICS 0")
            if connection.connection.info.server_version >= _CAN_FORGET:
                cursor.execute("SELECT pg_clear_attribute_stats('public', %s, %s, false)", [table, column])
    return len(sampled)


def _is_free(field: models.Field[object, object]) -> bool:
    if isinstance(field, ArrayField):
        return _is_free(field.base_field)
    if isinstance(field, (models.TextField, models.JSONField)):
        return True
    if getattr(field, "tells_of_words", False):  # numbers that a text was made into
        return True
    return isinstance(field, models.CharField) and not field.choices
