"""A small HTTP client for measuring: one kept-open connection per caller, nothing between the clock and the socket."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spread:
    """Milliseconds of many calls."""

    calls: int
    p50: float
    p95: float
    p99: float
    per_second: float


class Caller:
    """One caller with one connection. Raises AssertionError for an answer that is not a success."""

    def __init__(self, address: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, path: str, body: Any) -> dict[str, Any]:
        self._connection.request("POST", f"/api/v1{path}", json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        data = answer.read()
        assert answer.status < 300, (answer.status, data[:300])
        found: dict[str, Any] = json.loads(data)
        return found


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of the sorted values lies."""
    return values[min(len(values) - 1, int(share * len(values)))]


def spread(times: Iterable[float], seconds: float) -> Spread:
    values = sorted(1000 * one for one in times)
    return Spread(len(values), percentile(values, 0.5), percentile(values, 0.95), percentile(values, 0.99), len(values) / seconds)


def timed(calls: Iterable[Callable[[], object]]) -> Spread:
    """Make the calls one after the other."""
    times = []
    begun = time.perf_counter()
    for call in calls:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return spread(times, time.perf_counter() - begun)


def together(callers: list[Caller], path: str, bodies: list[Any]) -> Spread:
    """Share the bodies among the callers, all of them at once; every answer must be a success."""
    times: list[float] = []
    failures: list[BaseException] = []
    lock = threading.Lock()
    queue = iter(bodies)

    def work(caller: Caller) -> None:
        while True:
            with lock:
                body = next(queue, None)
            if body is None:
                return
            start = time.perf_counter()
            try:
                caller.post(path, body)
            except (AssertionError, OSError) as trouble:
                failures.append(trouble)
                return
            with lock:
                times.append(time.perf_counter() - start)

    threads = [threading.Thread(target=work, args=(caller,)) for caller in callers]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return spread(times, time.perf_counter() - begun)
