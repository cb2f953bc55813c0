"""Query times beside other memory stores, on one machine, one PostgreSQL, the same rows and questions, and no model anywhere.

Peers are never a dependency of this project. Whoever wants the comparison installs each into an environment of its own:

    python -m venv /tmp/memnos    && /tmp/memnos/bin/pip install memnos==0.1.45
    python -m venv /tmp/langgraph && /tmp/langgraph/bin/pip install langgraph-checkpoint-postgres==3.2.0 'psycopg[binary]'
    python -m venv /tmp/mem0      && /tmp/mem0/bin/pip install mem0ai==2.2.1 'psycopg[binary,pool]'
    python -m tests.benchmarks.peers --memnos /tmp/memnos/bin/python --langgraph … --mem0 …

A peer that is not named is left out, one that fails is reported with its last words.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.peers.stub import WARM
from tests.benchmarks.words import Speaker

HERE = Path(__file__).resolve().parent
HOME = HERE.parent.parent.parent / "var" / "bench-peers"
SEED = 5
PEERS = ("memnos", "langgraph", "mem0")
HEAD = ("store", "version", "rows", "how", "p50 ms", "p95 ms", "source among ten", "filled in s", "load")


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.peers", description=__doc__.partition("\n")[0])
    for peer in PEERS:
        parser.add_argument(f"--{peer}", type=Path, metavar="PYTHON", help=f"the python of an environment that has {peer}")
    parser.add_argument("--rows", type=int, nargs="+", default=[3_000, 50_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--patience", type=int, default=1_800, help="seconds that a peer may take for one size")
    options = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    os.environ["MEMORY_PLATFORM_HOME"] = str(HOME)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memory_platform.settings"
    from memory_platform.commands import database_running

    with database_running():
        import django

        django.setup()
        from memory_platform.schema import ensure_schema

        ensure_schema()
        _line(HEAD)
        _line(["---"] * len(HEAD))
        for rows in options.rows:
            _size(options, rows)


def _size(options: argparse.Namespace, rows: int) -> None:
    from tests.benchmarks.peers import ours

    data = _data(rows, options.questions + WARM)
    sys.stderr.write(f"{rows:,} rows, load of the machine {os.getloadavg()[0]:.1f}\n")
    token, seconds = ours.filled(f"peers-{rows}-{int(time.time())}", rows, SEED)
    _report("this project", "in process", rows, {"version": "", "filled": seconds, **ours.in_process(token, data)})
    try:
        served = ours.over_http(HOME, token, data)
    except RuntimeError as trouble:  # a machine so busy that the server does not come up is no reason to lose the rest
        _report("this project", "over HTTP", rows, {"trouble": str(trouble).splitlines()[-1][:160]})
    else:
        _report("this project", "over HTTP", rows, {"version": "", "filled": 0.0, **served})
    kept = HOME / "data.json"
    kept.write_text(json.dumps(data), encoding="utf-8")
    for peer in PEERS:
        python = getattr(options, peer)
        if python is not None:
            for found in _asked(peer, python, kept, options.patience):
                _report(peer, found.get("how", ""), rows, found)


def _data(rows: int, questions: int) -> dict[str, Any]:
    """Texts, and questions of four words of one of them among others, each with the place of that one."""
    speaker, chooser = Speaker(SEED), random.Random(SEED)
    texts = [speaker.text() for _ in range(rows)]
    places = [chooser.randrange(rows) for _ in range(questions)]
    return {"texts": texts, "asked": [(speaker.question(texts[place]), place) for place in places]}


def _asked(peer: str, python: Path, data: Path, patience: int) -> list[dict[str, Any]]:
    """Run an adapter on a fresh database. A failure is a result too."""
    dsn = _fresh_database(f"peer_{peer}")
    command = [str(python), str(HERE / f"with_{peer}.py"), dsn, str(data)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "MEMORY_PLATFORM_"))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience, env=environment, cwd=HOME, check=False)
    except subprocess.TimeoutExpired:
        return [{"trouble": f"took more than {patience} s"}]
    found: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"how"')]
    if done.returncode != 0:
        found.append({"trouble": (done.stderr.strip().splitlines() or ["no answer"])[-1][:160]})
    return found


def _fresh_database(name: str) -> str:
    """A new, empty database with pgvector in the embedded server, and how to reach it."""
    from memory_platform.embedded.places import PORT, SUPERUSER, Places
    from memory_platform.embedded.server import superuser_connection

    places = Places.of(HOME)
    with superuser_connection(places) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
    with superuser_connection(places, name) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return f"postgresql://{SUPERUSER}@/{name}?host={places.socket_folder}&port={PORT}"


def _report(store: str, how: str, rows: int, found: dict[str, Any]) -> None:
    load = f"{os.getloadavg()[0]:.0f}"
    if "trouble" in found:
        _line([store, "", f"{rows:,}", how, found["trouble"], "", "", "", load])
        return
    figures = [
        f"{found['p50']:.1f}",
        f"{found['p95']:.1f}",
        f"{found['found']:.2f}",
        f"{found['filled']:.0f}" if found["filled"] else "",
        load,
    ]
    _line([store, found["version"], f"{rows:,}", how, *figures])


def _line(cells: Any) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
