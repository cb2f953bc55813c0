"""What a log line may hold."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import psycopg
import pytest
import structlog
from django.db import IntegrityError, transaction

from apps.jobs.models import WorkerHeartbeat
from apps.memories.models import Candidate
from memory_platform.operations.logs import JsonLines, describe

CANARY = "the strongbox is behind the mirror"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    yield out
    root.removeHandler(handler)


def parsed(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def provoke() -> None:
    WorkerHeartbeat.objects.create(name=CANARY)
    WorkerHeartbeat.objects.create(name=CANARY)


@pytest.mark.django_db
@pytest.mark.canary
@pytest.mark.requirement("AU-02")
@pytest.mark.parametrize("name", ["django.request", "apps.memories.jobs", "gunicorn.error", "django-q", "somebody"])
def test_a_database_error_is_told_without_its_row(lines: io.StringIO, name: str) -> None:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        provoke()
    assert CANARY in str(caught.value), "the database does quote the row"
    logging.getLogger(name).error("Internal Server Error: %s", "/a/path", exc_info=caught.value)
    assert CANARY not in lines.getvalue()
    (line,) = parsed(lines)
    assert line["error"] == ["django.db.utils.IntegrityError", "psycopg.errors.UniqueViolation[23505]"]
    assert any("test_logs.py" in frame and "provoke" in frame for frame in line["frames"])


def test_structlog_says_its_fields(lines: io.StringIO) -> None:
    structlog.get_logger("apps.trial").warning("job_failed", kind="extract", attempt=2, error="ValueError", odd={"a": 1})
    (line,) = parsed(lines)
    assert (line["event"], line["kind"], line["attempt"], line["error"], line["odd"]) == (
        "job_failed",
        "extract",
        2,
        "ValueError",
        "{'a': 1}",
    )
    assert line["level"] == "warning" and str(line["at"]).endswith("Z")


def test_structlog_exceptions_have_no_message(lines: io.StringIO) -> None:
    log = structlog.get_logger("apps.trial")
    try:
        int(CANARY)
    except ValueError:
        log.exception("trial_failed")
    (line,) = parsed(lines)
    assert CANARY not in lines.getvalue() and line["error"] == ["builtins.ValueError"] and line["event"] == "trial_failed"


@pytest.mark.canary
def test_of_others_only_the_template_and_the_numbers_are_kept(lines: io.StringIO) -> None:
    logging.getLogger("somebody.else").error("cannot write %s to %s in %d s", CANARY, CANARY, 3)
    logging.getLogger("django.security.DisallowedHost").error(f"Invalid HTTP_HOST header: {CANARY}")  # noqa: G004
    logging.getLogger("psycopg.pool").warning("error connecting in %r: %s", "pool-1", psycopg.OperationalError(CANARY))
    logging.getLogger("django-q").error(psycopg.OperationalError(CANARY))
    logging.getLogger("django-q").error(f"Failed task - {CANARY}")  # noqa: G004
    assert CANARY not in lines.getvalue()
    assert [line["event"] for line in parsed(lines)] == [
        "cannot write %s to %s in %d s",
        "a line of django.security.DisallowedHost",
        "error connecting in %r: %s",
        "OperationalError",
        "a line of django-q",
    ]
    assert parsed(lines)[0]["values"] == [3]


def test_our_own_lines_are_written_out(lines: io.StringIO) -> None:
    logging.getLogger("memory_platform.supervision").warning("%s ended with exit code %d", "the worker", 1)
    assert parsed(lines)[0]["event"] == "the worker ended with exit code 1"


def test_causes_are_named_and_never_quoted() -> None:
    def fail() -> None:
        try:
            int(CANARY)
        except ValueError as inner:
            raise RuntimeError(CANARY) from inner

    with pytest.raises(RuntimeError) as caught:
        fail()
    told = describe(caught.value)
    assert told["error"] == ["builtins.RuntimeError", "builtins.ValueError"] and CANARY not in str(told)


def test_statements_are_never_logged() -> None:
    assert logging.getLogger("django.db.backends").getEffectiveLevel() >= logging.WARNING


def test_names_of_fields_may_be_members_of_a_vocabulary(lines: io.StringIO) -> None:
    structlog.get_logger("apps.trial").info("event_read", **{Candidate.Status.COMMITTED: 2})
    (line,) = parsed(lines)
    assert line["committed"] == 2


def test_a_record_that_cannot_be_written_is_not_printed_with_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    handler = logging.StreamHandler()
    handler.handleError(logging.makeLogRecord({"msg": "row %s", "args": (CANARY,)}))
    assert CANARY not in capsys.readouterr().err


@pytest.mark.canary
def test_gunicorn_speaks_the_same_way(capfd: pytest.CaptureFixture[str]) -> None:
    from gunicorn.config import Config

    from memory_platform.operations.gunicorn_log import JsonLogger

    config = Config()
    config.set("errorlog", "-")
    logger = JsonLogger(config)
    try:
        int(CANARY)
    except ValueError:
        logger.exception("Error handling request %s", f"/api/v1/memories?question={CANARY}")
    for handler in list(logger.error_log.handlers):
        logger.error_log.removeHandler(handler)
    line = json.loads(capfd.readouterr().err.splitlines()[-1])
    assert CANARY not in str(line) and line["event"] == "Error handling request %s" and line["error"] == ["builtins.ValueError"]
