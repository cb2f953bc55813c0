#!/usr/bin/env python
"""Runs the project's commands; see ``manage.py help``."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_platform.settings")
    try:
        from memory_platform.commands import run  # noqa: PLC0415 - the message below needs the import inside
    except ImportError as missing:
        message = f"{missing}. Run `make` first, or use the interpreter in .venv/bin."
        raise SystemExit(message) from missing
    run(sys.argv)


if __name__ == "__main__":
    main()
