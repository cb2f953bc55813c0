"""Starting the product as people do, and asking the operating system what its processes weigh."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Served:
    """A running copy: where it listens, its process, and how long it took to be ready."""

    address: str
    pid: int
    seconds: float


@contextmanager
def served(home: Path, *options: str) -> Iterator[Served]:
    """``manage.py serve`` on a free port until the block ends. Raises RuntimeError if it does not become ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    log = home / "serve.log"
    # The rate limit is for callers, not for a load generator.
    environment = {**os.environ, "MEMORY_PLATFORM_HOME": str(home), "MEMORY_PLATFORM_REQUESTS_PER_MINUTE": "0"}
    environment.pop("DATABASE_URL", None)
    begun = time.perf_counter()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--bind", address, *options],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        while not re.search(rb"^ready http", log.read_bytes(), re.MULTILINE):
            if process.poll() is not None or time.perf_counter() - begun > START_SECONDS:
                message = log.read_text("utf-8", "replace")[-2000:]
                raise RuntimeError(message)
            time.sleep(0.02)
        yield Served(address, process.pid, time.perf_counter() - begun)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def children(pid: int) -> list[int]:
    """Every process below this one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        for child in parents.get(waiting.pop(), []):
            found.append(child)
            waiting.append(child)
    return found


def memory_of(pid: int, word: str) -> float:
    """MiB (proportional set size) of the processes below ``pid`` whose command line holds the word, with their own children."""
    heads = [child for child in children(pid) if word in _command(child)]
    return sum(_pss(one) for one in {process for head in heads for process in (head, *children(head))}) / 1024


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def _pss(pid: int) -> int:
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found.group(1)) if found else 0
