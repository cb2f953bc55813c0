"""Reasons not to answer at all for a while; filled by higher floors in AppConfig.ready()."""

from __future__ import annotations

from collections.abc import Callable

from apps.core.errors import AuthorityUnavailable

_gates: list[Callable[[], bool]] = []


def register_gate(is_open: Callable[[], bool]) -> None:
    """Ask ``is_open`` before every request that reads or writes what people said."""
    if is_open not in _gates:
        _gates.append(is_open)


def require_open() -> None:
    """Raises AuthorityUnavailable (503) while a gate is shut."""
    if not all(is_open() for is_open in _gates):
        raise AuthorityUnavailable
