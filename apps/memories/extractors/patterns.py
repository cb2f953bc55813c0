"""How the rules write their patterns."""

from __future__ import annotations

import re


def verbose(pattern: str) -> re.Pattern[str]:
    """A pattern that ignores case and its own white space; a space in the text is written as an escaped space."""
    return re.compile(rf"(?ix){pattern}")
