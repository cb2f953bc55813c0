"""DATABASE_URL: the database of somebody else, in place of the embedded one.

Read by settings before Django is there. Nothing here repeats the URL or a part of it before it is known which part is which: it
holds a password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import environ
import psycopg

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCHEMES = ("postgres://", "postgresql://")
_FORM = "postgres://USER:PASSWORD@HOST:PORT/NAME"


class DatabaseUrlError(Exception):
    """DATABASE_URL cannot be used; the message says why and what to do, and never holds its password."""


class SchemaError(Exception):
    """The database's schema is older than the code; the message says what to do."""


def database_of(url: str) -> dict[str, Any]:
    """The entry of DATABASES for a DATABASE_URL. Raises DatabaseUrlError for one that names no PostgreSQL database."""
    if not url.startswith(_SCHEMES):
        raise DatabaseUrlError(_wrong("must begin with postgres:// or postgresql://"))
    try:
        found: dict[str, Any] = environ.Env.db_url_config(url)
    except ValueError:
        raise DatabaseUrlError(_wrong("cannot be read")) from None
    name = str(found.get("NAME", ""))
    if not name:
        raise DatabaseUrlError(_wrong("names no database"))
    if "@" in name or "#" in url:
        raise DatabaseUrlError(_wrong("has a / or # where none may be"))
    return found


def knock(parameters: Mapping[str, Any], seconds: int) -> None:
    """Connect once, outside the pool, which would wait much longer for a server that is away. Raises psycopg.OperationalError."""
    psycopg.connect(**{**parameters, "connect_timeout": seconds}).close()


def require_reachable(parameters: Mapping[str, Any], seconds: int = 10) -> None:
    """Raise DatabaseUrlError, with the server's or the network's word for it, when the database cannot be reached now."""
    try:
        knock(parameters, seconds)
    except psycopg.OperationalError as trouble:
        msg = f"the database of DATABASE_URL cannot be reached: {one_line(trouble)}"
        raise DatabaseUrlError(msg) from None


def one_line(trouble: Exception) -> str:
    """What the client library says about a connection: host, port, user and reason, over several lines; never a password."""
    first = str(trouble).strip().split("\nMultiple connection attempts failed")[0]
    return " ".join(first.split())


def _wrong(why: str) -> str:
    return f"DATABASE_URL {why}. Its form is {_FORM}; write / # @ : ? in a password as %2F %23 %40 %3A %3F."
