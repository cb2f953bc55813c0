"""Conditions against environment (design/06 Conditions and environment; AP-01..07, RP-04, RP-12).

Three-valued: a check holds, fails, or cannot be told. What cannot be told is never a match, also not under a negation. Values
compare by JSON type; a number is never compared with a string that looks like one, nor a flag with a number.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from enum import Enum
from typing import TYPE_CHECKING

from apps.retrieval.vocabulary import Applicability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from apps.retrieval.context import JsonValue

UNKNOWN = "unknown"
PROJECT = "project"
_SPANS_SEVERAL = 2


class Check(Enum):
    """Outcome of one comparison."""

    HOLDS = "holds"
    FAILS = "fails"
    PARTLY = "partly"
    UNTOLD = "untold"


def classify(
    conditions: Mapping[str, JsonValue], environment: Mapping[str, JsonValue], *, project: str | None, revalidate: bool = False
) -> Applicability:
    """Class of a memory with these conditions in this environment.

    `project` is the request's project and answers a condition of that name. `revalidate`: its sources are gone or it waits for
    review, so that it cannot be called applicable now (AP-03, C13). An environment value that is a list of two or more says that
    the task spans all of them: a condition that holds for some is `conditional` and must be written out (AP-02).
    """
    checks = {check(wanted, project if name == PROJECT else environment.get(name)) for name, wanted in conditions.items()}
    if Check.FAILS in checks:
        return Applicability.INCOMPATIBLE
    if revalidate:
        return Applicability.NEEDS_REVALIDATION
    if Check.UNTOLD in checks:
        return Applicability.UNKNOWN
    return Applicability.CONDITIONAL if Check.PARTLY in checks else Applicability.APPLICABLE


def check(wanted: JsonValue, actual: JsonValue) -> Check:
    """One condition against one environment value; a missing value is None."""
    if isinstance(actual, list):
        return _over_span([check(wanted, value) for value in actual if not isinstance(value, list)])
    if actual is None or isinstance(actual, dict) or (isinstance(actual, str) and actual.strip().casefold() == UNKNOWN):
        return Check.UNTOLD
    if isinstance(wanted, list):
        return _any(_equal(value, actual) for value in wanted)
    if isinstance(wanted, dict):
        return _all(_apply(name, operand, actual) for name, operand in wanted.items()) if wanted else Check.UNTOLD
    return _equal(wanted, actual)


def describe(conditions: Mapping[str, JsonValue]) -> str:
    """The conditions as one line a reader and a model understand; empty for none. Values are written as JSON would."""
    return "; ".join(f"{name} {_spelled(wanted)}" for name, wanted in sorted(conditions.items()))


def _over_span(checks: list[Check]) -> Check:
    if len(checks) < _SPANS_SEVERAL or Check.UNTOLD in checks:
        return Check.UNTOLD
    if Check.HOLDS not in checks:
        return Check.FAILS
    return Check.PARTLY if Check.FAILS in checks else Check.HOLDS


def _any(checks: Iterable[Check]) -> Check:
    seen = set(checks)
    if Check.HOLDS in seen:
        return Check.HOLDS
    return Check.UNTOLD if Check.UNTOLD in seen else Check.FAILS


def _all(checks: Iterable[Check]) -> Check:
    seen = set(checks)
    if Check.FAILS in seen:
        return Check.FAILS
    return Check.UNTOLD if Check.UNTOLD in seen else Check.HOLDS


def _not(outcome: Check) -> Check:
    return {Check.HOLDS: Check.FAILS, Check.FAILS: Check.HOLDS}.get(outcome, Check.UNTOLD)


def _equal(wanted: JsonValue, actual: JsonValue) -> Check:
    if isinstance(wanted, bool) or isinstance(actual, bool):
        comparable = isinstance(wanted, bool) and isinstance(actual, bool)
    elif isinstance(wanted, int | float):
        comparable = isinstance(actual, int | float)
    else:
        comparable = isinstance(wanted, str) and isinstance(actual, str)
    if not comparable:
        return Check.UNTOLD
    return _told(wanted == actual)


def _apply(operator: str, operand: JsonValue, actual: JsonValue) -> Check:
    if operator in _ORDERINGS:
        order = _compare(actual, operand)
        return Check.UNTOLD if order is None else _told(_ORDERINGS[operator](order))
    if operator == "prefix" and isinstance(operand, str) and operand and isinstance(actual, str):
        return _told(actual.startswith(operand))
    if operator == "in" and isinstance(operand, list):
        return _any(_equal(value, actual) for value in operand)
    if operator == "not" and not isinstance(operand, dict):
        return _not(_any(_equal(value, actual) for value in (operand if isinstance(operand, list) else [operand])))
    return Check.UNTOLD


def _told(holds: bool) -> Check:  # noqa: FBT001 - the outcome itself
    return Check.HOLDS if holds else Check.FAILS


_ORDERINGS: dict[str, Callable[[int], bool]] = {
    "gte": lambda order: order >= 0,
    "gt": lambda order: order > 0,
    "lte": lambda order: order <= 0,
    "lt": lambda order: order < 0,
}


def _compare(left: JsonValue, right: JsonValue) -> int | None:
    """-1, 0 or 1; None when the two have no common order. Numbers, dates and versions only: words have no order here."""
    if isinstance(left, bool) or isinstance(right, bool):
        return None
    if isinstance(left, int | float) and isinstance(right, int | float):
        return (left > right) - (left < right)
    if isinstance(left, str) and isinstance(right, str):
        if _DATE.match(left) or _DATE.match(right):
            return _compare_instants(_instant(left), _instant(right))
        first, second = _version(left), _version(right)
        if first is not None and second is not None:
            return _compare_versions(first, second)
    return None


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RELEASE = r"[vV]?([0-9]{1,18}(?:\.[0-9]{1,18}){0,15})"
_VERSION = re.compile(rf"{_RELEASE}(?:-([0-9A-Za-z.-]{{1,128}}))?(?:\+[0-9A-Za-z.-]{{1,128}})?")


def _compare_instants(left: datetime | None, right: datetime | None) -> int | None:
    return None if left is None or right is None else (left > right) - (left < right)


def _instant(text: str) -> datetime | None:
    """A bare date is its first instant in UTC; a date-time without an offset names no instant."""
    try:
        if len(text) == len("2024-01-31"):
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _version(text: str) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
    """Release numbers and pre-release parts of a semantic version, with any number of release numbers; None for other text."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    release = tuple(int(number) for number in found.group(1).split("."))
    before = found.group(2)
    return release, tuple(before.split(".")) if before else ()


def _compare_versions(left: tuple[tuple[int, ...], tuple[str, ...]], right: tuple[tuple[int, ...], tuple[str, ...]]) -> int:
    width = max(len(left[0]), len(right[0]))
    first, second = (numbers + (0,) * (width - len(numbers)) for numbers in (left[0], right[0]))
    if first != second:
        return 1 if first > second else -1
    if bool(left[1]) != bool(right[1]):
        return -1 if left[1] else 1  # a pre-release comes before its release
    one, other = ([_by_precedence(part) for part in parts] for parts in (left[1], right[1]))
    return (one > other) - (one < other)


def _by_precedence(part: str) -> tuple[int, int, str]:
    """Numbers before words, numbers by value, words by their characters (semver 2.0.0, 11)."""
    digits = part.lstrip("0")
    return (0, len(digits), digits) if part.isdigit() else (1, 0, part)


def _spelled(wanted: JsonValue) -> str:
    if isinstance(wanted, list):
        return f"in {_literal(wanted)}"
    if isinstance(wanted, dict):
        return " and ".join(f"{_WORDS.get(name, name)} {_literal(operand)}" for name, operand in wanted.items())
    return f"= {_literal(wanted)}"


_WORDS = {"not": "≠", "in": "in", "gte": "≥", "gt": ">", "lte": "≤", "lt": "<", "prefix": "starts with"}


def _literal(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(_literal(entry) for entry in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
