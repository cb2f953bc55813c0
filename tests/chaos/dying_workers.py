"""Workers that kill themselves with SIGKILL at one named point of a deletion, each forked from this process.

One JSON object a line on standard input: ``database``, ``ledger`` (its folder), ``layer`` (or null for the steps of the job itself), ``function``, ``when``
and ``number``: the number-th call of that function for that layer, before or after it. ``clear`` and ``verify`` are the layer's own,
so that "after" lies inside the transaction, when the rows are gone but nothing is committed; the others are the transactions of
apps/retention/erasure.py. One line of answer: what `os.waitstatus_to_exitcode` says.

This process never opens a connection to the database, so nothing is shared across the fork.
"""

# ruff: noqa: E402 - Django is set up before its models are imported

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
sys.path.insert(0, str(Path.cwd()))

import django

django.setup()

from django.conf import settings
from django.db import connections

from apps.jobs.runner import drain
from apps.retention import erasure
from apps.retention.layers import layer_named, registered_layers

CHUNK = 2
NAMES_OF_CHUNKS = ("CHUNK", "MEMORIES_AT_ONCE")
OF_THE_LAYER = ("clear", "verify")


def armed(function: Callable[..., Any], when: str, number: int, layer: str | None) -> Callable[..., Any]:
    calls = 0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        mine = layer is None or any(getattr(one, "key", None) == layer for one in args)
        calls += mine
        if mine and calls == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if mine and calls == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


def small_chunks() -> None:
    """Two rows a chunk, wherever a layer got the number from."""
    for layer in registered_layers():
        module = sys.modules[type(layer).__module__]
        for name in NAMES_OF_CHUNKS:
            if hasattr(module, name):
                setattr(module, name, CHUNK)


def work(point: dict[str, Any]) -> None:
    settings.DATABASES["default"]["NAME"] = connections["default"].settings_dict["NAME"] = point["database"]
    settings.LEDGER_FOLDER = Path(point["ledger"])
    small_chunks()
    name, when, number, layer = point["function"], point["when"], point["number"], point["layer"]
    if name in OF_THE_LAYER:
        owner = layer_named(layer)
        setattr(owner, name, armed(getattr(owner, name), when, number, None))
    else:
        setattr(erasure, name, armed(getattr(erasure, name), when, number, layer))
    drain(kinds=["deletion"])


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(json.loads(line))
                code = 0
            except BaseException:  # noqa: BLE001 - there is nobody else to tell
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
