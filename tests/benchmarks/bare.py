"""The honest other side of each ratio: the same statements without the product around them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection

from apps.core.isolation import system_context, tenant_context
from tests.benchmarks.client import Spread, spread

LANES = ("retrieval_posting", "retrieval_termstat", "retrieval_indexstate")

Statement = tuple[str, Any]


@contextmanager
def recorded() -> Iterator[list[Statement]]:
    """Every statement that is executed inside the block, with its parameters."""
    found: list[Statement] = []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001 - signature of Django
        found.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        yield found


def lanes_of(statements: list[Statement]) -> list[Statement]:
    """The recall lanes among the statements: what finds memories, nothing that reads or writes around it."""
    return [
        one for one in statements if one[0].lstrip().startswith(("SELECT", "WITH")) and any(table in one[0] for table in LANES)
    ]


def reads_of(statements: list[Statement]) -> list[Statement]:
    """Every read among the statements."""
    return [
        one
        for one in statements
        if one[0].lstrip().startswith(("SELECT", "WITH")) and "set_config('role'" not in one[0] and "INSERT" not in one[0]
    ]


def replayed(tenant_id: UUID, groups: list[list[Statement]]) -> Spread:
    """Run each group of statements as one unit in one open transaction, fetching all rows."""
    times = []
    with tenant_context(tenant_id), connection.cursor() as cursor:
        raw = cursor.cursor
        begun = time.perf_counter()
        for group in groups:
            start = time.perf_counter()
            for sql, params in group:
                raw.execute(sql, params)
                raw.fetchall()
            times.append(time.perf_counter() - start)
        seconds = time.perf_counter() - begun
    return spread(times, seconds)


def copied_events(batches: list[list[dict[str, Any]]]) -> Spread:
    """COPY the text and envelope of each batch into two tables shaped and indexed like the real ones, one commit per batch."""
    times = []
    with system_context(), connection.cursor() as cursor:
        for table in ("evidence_content", "evidence_sourceevent"):
            cursor.execute(f"DROP TABLE IF EXISTS bench_{table}")
            cursor.execute(f"CREATE TABLE bench_{table} (LIKE {table} INCLUDING DEFAULTS INCLUDING INDEXES)")
            cursor.execute(f"SELECT column_name FROM information_schema.columns WHERE table_name = 'bench_{table}'")
            for (name,) in cursor.fetchall():
                if name != "id":
                    cursor.execute(f'ALTER TABLE bench_{table} ALTER COLUMN "{name}" DROP NOT NULL')
    begun = time.perf_counter()
    for rows in batches:
        start = time.perf_counter()
        with system_context(), connection.cursor() as cursor:
            with cursor.copy("COPY bench_evidence_content (id, tenant_id, namespace_id, text, sha256, size) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row([row["id"], row["tenant"], row["namespace"], row["text"], row["sha256"], len(row["text"])])
            with cursor.copy(
                "COPY bench_evidence_sourceevent (id, tenant_id, event_id, namespace_id, source_type, occurred_at, content_id) FROM STDIN"
            ) as copy:
                for row in rows:
                    copy.write_row(
                        [row["id"], row["tenant"], row["event_id"], row["namespace"], "user_message", row["at"], row["id"]]
                    )
        times.append(time.perf_counter() - start)
    found = spread(times, time.perf_counter() - begun)
    with system_context(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE bench_evidence_content, bench_evidence_sourceevent")
    return found
