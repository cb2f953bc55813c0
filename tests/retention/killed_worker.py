"""A worker that kills itself with SIGKILL at one named point of a deletion: ``killed_worker.py DATABASE POINT``.

A point is ``function:when:number``: the number-th call of a function of apps/retention/erasure.py, before or after its commit, or with
``clear:inside:number`` inside the transaction of a chunk, when its rows are deleted but not committed.
"""

# ruff: noqa: E402 - Django is set up before its models are imported

import os
import signal
import sys
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
sys.path.insert(0, str(Path.cwd()))

import django

django.setup()

from django.conf import settings
from django.db import connections

from apps.evidence import layers as evidence_layers
from apps.jobs.runner import drain
from apps.retention import erasure, layers


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def armed(function, when, number):
    calls = [0]

    def call(*args, **kwargs):
        calls[0] += 1
        if calls[0] == number and when == "before":
            die()
        result = function(*args, **kwargs)
        if calls[0] == number and when in ("after", "inside"):
            die()
        return result

    return call


def main(database, point):
    settings.DATABASES["default"]["NAME"] = connections["default"].settings_dict["NAME"] = database
    name, when, number = point.split(":")
    evidence_layers.CHUNK = 2
    layer = evidence_layers.Sources()
    layers._layers = {"sources": layer}
    if when == "inside":
        setattr(type(layer), name, armed(getattr(type(layer), name), when, int(number)))
    else:
        setattr(erasure, name, armed(getattr(erasure, name), when, int(number)))
    drain(kinds=["deletion"])


main(*sys.argv[1:])
