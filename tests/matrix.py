"""The permission matrix: what every endpoint refuses, and what a good call costs.

Endpoints are found by walking the URL configuration, so a new one is under test the moment it exists. Who is let in at all
follows from what the view declares. What happens with objects of other people must be told: each room has a
``tests/<room>/probes.py`` that says how to make an object of its kind, and what a good request looks like::

    probe("GET", "memories/<str:memory_id>", Probe(make=make_memory, statements=9))
    probe("POST", "memory-events", Probe(body=new_event, scoped=True, success=202, statements=14))

A governed endpoint without a probe fails the matrix.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from apps.tenants.api.views import GovernedView
from tests.tenants.world import Caller, World

API = "api/v1/"
EVERYBODY = ("subject", "project", "tenant")


@dataclass(frozen=True)
class Endpoint:
    """One method of one path; ``route`` is what stands in urls.py, below /api/v1/."""

    method: str
    route: str
    view: type[GovernedView]

    @property
    def needed(self) -> tuple[str, ...]:
        """The operations of which one is enough; empty: any valid token."""
        declared = self.view.operation[self.method]
        if declared is None:
            return ()
        return (declared,) if isinstance(declared, str) else declared

    @property
    def has_object(self) -> bool:
        return "<" in self.route

    def path(self, object_id: str = "unknown-1") -> str:
        """The path with every placeholder filled."""
        parts = [object_id if part.startswith("<") else part for part in self.route.split("/")]
        return "/" + "/".join(parts)

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


@dataclass(frozen=True)
class Probe:
    """How to call an endpoint well, and how to make what it is about.

    ``make(world, subject, project)`` makes an object of that subject (in the project, or in the user's own scope when it is
    None) and returns the id that stands in the path. ``kinds``: which other owners there can be. ``body``: JSON, or a function
    that makes a fresh one. ``scoped``: the body takes ``scope`` and ``scope_id``. ``query``: parameters of the address, or a
    function that makes fresh ones. ``statements``: SQL statements of a good call, all included; the matrix fails when there are
    more (a new cost) or far fewer (lower it here).
    """

    statements: int
    make: Callable[[World, str, str | None], str] | None = None
    body: Any = None
    success: int = 200
    scoped: bool = False
    query: str | Callable[[], str] = ""
    kinds: tuple[str, ...] = EVERYBODY
    caller: Callable[[World], Caller] = lambda world: world.alice

    def send(self, caller: Caller, endpoint: Endpoint, object_id: str = "unknown-1", **changes: Any) -> Any:
        body = self.body() if callable(self.body) else self.body
        if changes:
            body = {**body, **changes}
        query = self.query() if callable(self.query) else self.query
        return caller.send(endpoint.method, endpoint.path(object_id) + query, body)


_probes: dict[tuple[str, str], Probe] = {}


def probe(method: str, route: str, one: Probe) -> None:
    """Register the probe of an endpoint; to be called when a room's probes.py is imported."""
    _probes[method, route] = one


def probe_of(endpoint: Endpoint) -> Probe | None:
    _load()
    return _probes.get((endpoint.method, endpoint.route))


def unused_probes() -> set[tuple[str, str]]:
    """Probes of endpoints that do not exist."""
    _load()
    return set(_probes) - {(one.method, one.route) for one in endpoints()}


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Every governed endpoint of the API, by path."""
    found = [Endpoint(method, route, view) for route, view in _views(get_resolver(), "") for method in view.operation]
    return tuple(sorted(found, key=str))


def ungoverned() -> set[str]:
    """Paths of the API whose view is not a GovernedView; each must be a decision."""
    return {route for route, pattern in _patterns(get_resolver(), "") if _view_of(pattern) is None}


def _views(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, type[GovernedView]]]:
    for route, pattern in _patterns(resolver, prefix):
        view = _view_of(pattern)
        if view is not None:
            yield route, view


def _patterns(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _patterns(pattern, route)
        elif route.startswith(API):
            yield route.removeprefix(API), pattern


def _view_of(pattern: URLPattern) -> type[GovernedView] | None:
    view = getattr(pattern.callback, "view_class", None) or getattr(pattern.callback, "cls", None)
    return view if isinstance(view, type) and issubclass(view, GovernedView) else None


@cache
def _load() -> None:
    for file in sorted(Path(__file__).parent.glob("*/probes.py")):
        importlib.import_module(f"tests.{file.parent.name}.probes")
