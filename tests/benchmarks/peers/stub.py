"""What every store of the comparison shares: a deterministic embedder without a model, and the measuring of one adapter.

Plain Python without any library, because each peer runs in a virtual environment of its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

DIMENSIONS = 384
MARKS = 8  # of the dimensions are set by one word
WARM = 20
TOP = 10


@lru_cache(maxsize=50_000)
def _marks(word: str) -> tuple[tuple[int, float], ...]:
    digest = hashlib.sha256(word.encode()).digest()
    return tuple(
        (int.from_bytes(digest[3 * n : 3 * n + 2], "big") % DIMENSIONS, 1.0 if digest[3 * n + 2] & 1 else -1.0)
        for n in range(MARKS)
    )


def embed(text: str) -> list[float]:
    """A unit vector: the sum of what each word sets. Texts that share words are near each other, and nothing else is known."""
    vector = [0.0] * DIMENSIONS
    for word in text.lower().split():
        for place, sign in _marks(word):
            vector[place] += sign
    size = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / size for value in vector]


def measured(texts: Sequence[str], asked: Sequence[Sequence[Any]], search: Callable[[str], Sequence[str]]) -> dict[str, float]:
    """Milliseconds of each search after a few to warm up, and how often the text that a question was made of is in the answer."""
    times: list[float] = []
    found = 0
    for number, (question, place) in enumerate(asked):
        begun = time.perf_counter()
        answer = search(question)
        spent = 1000 * (time.perf_counter() - begun)
        if number >= WARM:
            times.append(spent)
            found += texts[place] in answer
    times.sort()
    return {
        "p50": times[len(times) // 2],
        "p95": times[min(len(times) - 1, int(0.95 * len(times)))],
        "found": found / len(times),
    }


def run(version: str, fill: Callable[[Sequence[str]], object], search: Callable[[str], Sequence[str]]) -> None:
    """The body of an adapter: read the data named last, fill, ask, and print one line of JSON."""
    data = _data()
    begun = time.perf_counter()
    fill(data["texts"])
    filled = time.perf_counter() - begun
    _say({"how": "in process", "version": version, "filled": filled, **measured(data["texts"], data["asked"], search)})


def again(version: str, search: Callable[[str], Sequence[str]]) -> None:
    """The same questions over HTTP, on what is filled."""
    data = _data()
    _say({"how": "over HTTP", "version": version, "filled": 0.0, **measured(data["texts"], data["asked"], search)})


def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(sys.argv[-1]).read_text(encoding="utf-8"))
    return found


def _say(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
