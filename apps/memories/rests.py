"""Leaving a server alone that cannot be asked: the jobs of its extractor wait, and those of everybody else do not wait for it.

Known to this process alone, and forgotten with it: at worst another process asks once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from apps.core import clock

_FIRST, _LONGEST = 5.0, 60.0  # seconds; more only if the server itself asks for it


@dataclass(slots=True)
class Rests:
    """By extractor: until when it is left alone, and how often in a row it could not be asked."""

    _until: dict[str, float] = field(default_factory=dict)
    _failures: dict[str, int] = field(default_factory=dict)

    def left(self, name: str) -> float:
        """Seconds for which the extractor is still left alone."""
        return max(0.0, self._until.get(name, 0.0) - clock.monotonic())

    def begin(self, name: str, seconds: float = 0.0) -> float:
        """It could not be asked: twice as long as the last time, and not less than was asked for. Returns the seconds."""
        failures = self._failures.get(name, 0)
        rest = max(min(_FIRST * (1 << failures), _LONGEST), seconds)
        self._failures[name] = min(failures + 1, 16)
        self._until[name] = clock.monotonic() + rest
        return rest

    def end(self, name: str) -> None:
        """It answered."""
        self._failures.pop(name, None)
        self._until.pop(name, None)


RESTS = Rests()
