"""Logs: one JSON object a line, with ids, codes and numbers, and never with text of anybody (design/01 Data rules).

Our own loggers are trusted to say only that. Of everybody else's lines only the template is kept, because the values filled in
may be a row, a field or an address; and of every exception only the class and the places, because its message may quote what it
failed on.
"""

from __future__ import annotations

import logging
import logging.config
import threading
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson
import structlog

from apps.core.api import request_ids

_OURS: Final = ("apps", "memory_platform", "__main__")
_TEXTS_OF_OTHERS: Final = ("django.security", "django-q", "gunicorn.access")  # they fill in the values themselves
_FRAMES: Final = 12
_INNERMOST: Final = 3
_CAUSES: Final = 5
_LONGEST: Final = 500
_PLAIN: Final = (str, int, float, bool, type(None))
_ROOT: Final = Path(__file__).resolve().parents[2]


def logging_config(level: str) -> dict[str, Any]:
    """The LOGGING setting: everything to standard error, in lines of JSON, from ``level`` up."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "memory_platform.operations.logs.JsonLines"}},
        "filters": {"raised": {"()": "memory_platform.operations.logs.Raised"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Replaces Django's own handlers, which print to a console and send mail with the request in it.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Each request has a line of its own with its status; only what a page raised is told here.
            "django.request": {"level": "ERROR", "filters": ["raised"]},
            "django.server": {"handlers": [], "level": "ERROR", "propagate": True},
            # Statements hold values, at whatever level the rest may be.
            "django.db.backends": {"level": "WARNING"},
            "django-q": {"level": "WARNING"},
        },
    }


def configure(config: dict[str, Any]) -> None:
    """The LOGGING_CONFIG setting: the standard library, structlog, and what ends a thread."""
    logging.config.dictConfig(config)
    logging.raiseExceptions = False  # a record that cannot be written would be printed with its values
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, structlog.contextvars.merge_contextvars, _to_record],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    threading.excepthook = _uncaught_in_thread


class JsonLines(logging.Formatter):
    """One line for one record."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _event(record),
        }
        if request_id := request_ids.current():
            line["request_id"] = request_id
        line |= getattr(record, "fields", {})
        if numbers := _numbers(record):
            line["values"] = numbers
        if record.exc_info and record.exc_info[1] is not None:
            line |= describe(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


class Raised(logging.Filter):
    """Lets through what tells of an exception."""

    def filter(self, record: logging.LogRecord) -> bool:
        return bool(record.exc_info and record.exc_info[1] is not None)


def describe(failure: BaseException) -> dict[str, list[str]]:
    """An exception without its words: the classes of it and its causes, and where it came from, the innermost place first.

    Of the places in libraries only the innermost few are told.
    """
    kinds: list[str] = []
    cause: BaseException | None = failure
    while cause is not None and len(kinds) < _CAUSES:
        state = getattr(cause, "sqlstate", None)
        kinds.append(f"{type(cause).__module__}.{type(cause).__qualname__}" + (f"[{state}]" if isinstance(state, str) else ""))
        cause = cause.__cause__ or cause.__context__
    frames = list(reversed(traceback.extract_tb(failure.__traceback__)))
    told = [frame for place, frame in enumerate(frames) if place < _INNERMOST or _is_ours(frame.filename)][:_FRAMES]
    return {"error": kinds, "frames": [f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in told]}


def _event(record: logging.LogRecord) -> str:
    if isinstance(record.msg, BaseException):
        return type(record.msg).__qualname__
    if not isinstance(record.msg, str):
        return type(record.msg).__qualname__  # a lazy translation or an object; what it would say is not known
    if record.name.split(".", 1)[0] in _OURS:
        return record.getMessage()[:_LONGEST]
    if record.name == "django-q" and record.levelno >= logging.CRITICAL:
        return record.msg[:_LONGEST]  # which of its processes died and was replaced; it says nothing else so loudly
    if record.name.startswith(_TEXTS_OF_OTHERS):
        return f"a line of {record.name}"
    return record.msg[:_LONGEST]


def _numbers(record: logging.LogRecord) -> list[int | float]:
    """The numbers among the values of somebody else's line."""
    if record.name.split(".", 1)[0] in _OURS or not isinstance(record.args, tuple):
        return []
    return [value for value in record.args if isinstance(value, (int, float))]


def _to_record(_logger: object, _method: str, event: MutableMapping[str, Any]) -> tuple[tuple[str], dict[str, Any]]:
    """Hand an event of structlog to the standard library: its name is the message, its other members are fields."""
    name = str(event.pop("event", ""))
    failure = event.pop("exc_info", None)
    fields = {str(key): value if isinstance(value, _PLAIN) else str(value) for key, value in event.items()}
    return (name,), {"extra": {"fields": fields}, "exc_info": failure}


def _is_ours(filename: str) -> bool:
    path = Path(filename)
    return path.is_relative_to(_ROOT) and ".venv" not in path.parts


def _short(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(_ROOT)) if _is_ours(filename) else "/".join(path.parts[-3:])


def _uncaught_in_thread(caught: threading.ExceptHookArgs) -> None:
    if caught.exc_value is not None and not isinstance(caught.exc_value, SystemExit):
        logging.getLogger("memory_platform").critical("uncaught in a thread", exc_info=caught.exc_value)
