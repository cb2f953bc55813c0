"""Months of the calendar: a period of months ends on the same day of its last month, or on that month's last day."""

from __future__ import annotations

import calendar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_MONTHS = 12


def add_months(at: datetime, months: int) -> datetime:
    """29 February and 12 months are 28 February; 31 January and one month the last day of February."""
    total = at.month - 1 + months
    year, month = at.year + total // _MONTHS, total % _MONTHS + 1
    return at.replace(year=year, month=month, day=min(at.day, calendar.monthrange(year, month)[1]))
