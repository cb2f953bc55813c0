"""Dates as people write them, as instants: a bare date is a UTC calendar day (requirements C2, TM-12)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))

# One pattern for use inside others; `read` takes the text it matched.
DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}\s?年\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?(?:{_MONTH})\.?,?\s\d{{4}}|(?:{_MONTH})\.?\s\d{{1,2}}(?:st|nd|rd"
    rf"|th)?,?\s\d{{4}}|(?:{_MONTH})\.?\s\d{{4}})"
)
_LAST_YEAR = 9999
_NUMERIC = re.compile(r"(\d{4})\D{1,3}(\d{1,2})(?:\D{1,3}(\d{1,2}))?\D{0,2}$")
_DAY_FIRST = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?({_MONTH})\.?,?\s(\d{{4}})$", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"({_MONTH})\.?(?:\s(\d{{1,2}})(?:st|nd|rd|th)?,?)?\s(\d{{4}})$", re.IGNORECASE)


def read(text: str) -> datetime | None:
    """The first instant of the day (or month) that a text names, or None if there is no such day."""
    numeric = _NUMERIC.match(text)
    if numeric is not None:
        return _instant(int(numeric[1]), int(numeric[2]), int(numeric[3] or 1))
    day_first = _DAY_FIRST.match(text)
    if day_first is not None:
        return _instant(int(day_first[3]), _MONTHS[day_first[2].lower()], int(day_first[1]))
    month_first = _MONTH_FIRST.match(text)
    if month_first is not None:
        return _instant(int(month_first[3]), _MONTHS[month_first[1].lower()], int(month_first[2] or 1))
    return None


def day_after(text: str) -> datetime | None:
    """The instant at which a day named as an end is over (half-open intervals, C2)."""
    day = read(text)
    return day + timedelta(days=1) if day is not None and day.year < _LAST_YEAR else None


def _instant(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:  # 30 February
        return None


_END_OF_YEAR = re.compile(
    r"(?i)(?:by|before) (?:the )?(?:end of (?:the|this) year|year[ -]?end)|(?:今年)?年底|今年(?:之?内|以内)|this year"
)
_BY_DATE = re.compile(rf"(?i)(?:by|before|until)\s({DATE})|({DATE})\s?(?:之?前|以前)")


def deadline(text: str, spoken_at: datetime | None) -> datetime | None:
    """When what is aimed at should be there: "by 2025-03-01", "年底前". Relative words need the time of speaking."""
    by_date = _BY_DATE.search(text)
    if by_date is not None:
        return read(by_date[1] or by_date[2])
    if spoken_at is not None and _END_OF_YEAR.search(text):
        return _instant(spoken_at.astimezone(UTC).year + 1, 1, 1)
    return None
