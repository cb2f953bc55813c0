"""How a column's value looks on a page: instants with their zone, states as icon and word, ids to copy, the rest plainly."""

# ruff: noqa: ANN401 - a value is whatever its column holds

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from apps.core import clock
from apps.tenants.console.states import tone_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_LIST = 50
_LONGEST_PART = 6  # of a list inside a value
NOTHING = mark_safe('<span class="nothing">—</span>')


def shown(value: Any) -> SafeString:
    """A value without further meaning."""
    if value is None or value in ("", [], {}):
        return NOTHING
    for kind, show in _BY_KIND:
        if isinstance(value, kind):
            return show(value)
    return format_html("{}", value)


def truth(value: bool) -> SafeString:  # noqa: FBT001 - it is the value
    return state("yes" if value else "no", _("yes") if value else _("no"))


def number(value: int) -> SafeString:
    return format_html('<span class="number">{}</span>', str(value))


def instant(at: datetime, *, seconds: bool = False) -> SafeString:
    """``2026-03-01 09:30 UTC``: the same in every language, sorts as it reads, never without its zone."""
    utc = at.astimezone(UTC)
    text = utc.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
    return format_html('<time datetime="{}" title="{}">{} <abbr>UTC</abbr></time>', utc.isoformat(), utc.isoformat(), text)


def age(at: datetime) -> SafeString:
    """How long ago, in the largest unit that says something; the instant itself on hover."""
    utc = at.astimezone(UTC)
    spoken = timesince(at, clock.now(), depth=1)
    return format_html('<time datetime="{}" title="{}">{}</time>', utc.isoformat(), utc.strftime("%Y-%m-%d %H:%M UTC"), spoken)


def state(key: str, label: Any) -> SafeString:
    """A state is an icon and a word; colour only repeats what they say."""
    tone = tone_of(key)
    return format_html(
        '<span class="state {}"><svg class="icon" aria-hidden="true"><use href="#state-{}"></use></svg>{}</span>',
        tone,
        tone,
        capfirst(label),
    )


def code(text: Any) -> SafeString:
    """An id, selected whole by one click and copied by the button that the script adds."""
    return format_html('<code class="id">{}</code>', text)


def words(values: list[Any] | tuple[Any, ...]) -> SafeString:
    shown_ones = format_html_join(" ", '<span class="word">{}</span>', ((_plain(one),) for one in values[:_LONGEST_LIST]))
    more = len(values) - _LONGEST_LIST
    return format_html("{} {}", shown_ones, _("and %(number)s more") % {"number": more}) if more > 0 else shown_ones


def pairs(values: Mapping[str, Any]) -> SafeString:
    inside = format_html_join("", "<dt>{}</dt><dd>{}</dd>", ((key, _plain(value)) for key, value in values.items()))
    return format_html('<dl class="pairs">{}</dl>', inside)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        more = len(value) - _LONGEST_PART
        text = ", ".join(_json(one) for one in value[:_LONGEST_PART])
        return f"{text} {_('and %(number)s more') % {'number': more}}" if more > 0 else text
    return _json(value)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# In this order: a bool is an int as well.
_BY_KIND: tuple[tuple[type[Any] | tuple[type[Any], ...], Callable[[Any], SafeString]], ...] = (
    (bool, truth),
    (datetime, instant),
    (UUID, code),
    (dict, pairs),
    ((list, tuple), words),
    (int, number),
)
