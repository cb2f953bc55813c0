"""The extractor that asks a language model behind any chat-completions server (design/03 step 2).

Off unless the operator names it, and then for tenants that allow it. It can only propose, and is trusted no further than a
stranger: what it proposes are sentences of the text, kinds and keys of closed lists, and a standing no better than its source's.
"""

from __future__ import annotations

from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import orjson

from apps.core import clock
from apps.memories.extractors.base import Declined, Outage
from apps.memories.extractors.openai_compatible import transport
from apps.memories.extractors.openai_compatible.answer import proposals_of
from apps.memories.extractors.openai_compatible.prompt import request_of, version_of
from apps.memories.extractors.openai_compatible.vocabulary import VOICES
from apps.memories.extractors.sentences import divide

if TYPE_CHECKING:
    from apps.memories.extractors.base import Extraction, SourceText
    from apps.memories.extractors.openai_compatible.server import Server

_LONGEST_REST = 600.0  # seconds; a server that asks for more is asked again sooner
_CONFIGURATION = {401: "server_denies_key", 403: "server_denies_key", 404: "server_has_no_such_model"}
_SUCCESS, _TOO_MANY, _REDIRECTS, _FAILURES = 200, 429, range(300, 400), range(500, 600)
_SLOW = frozenset({408, 425})


class OpenAICompatible:
    """One configured server and model."""

    name = "openai_compatible"
    outside = True
    sources = frozenset(VOICES)

    def __init__(self, server: Server) -> None:
        self.server = server
        self.version = version_of(server)

    def extract(self, source: SourceText) -> Extraction:
        """Ask the server once. What is not sent, because the text is too long, counts as missed.

        Raises Outage, Unusable and Declined.
        """
        text = _cut(source.text, self.server.input_bytes)
        headers = {"Content-Type": "application/json"}
        if self.server.key:
            headers["Authorization"] = f"Bearer {self.server.key}"
        answer = transport.post(
            self.server.endpoint,
            orjson.dumps(request_of(source, text, self.server)),
            headers,
            seconds=self.server.seconds,
            most_bytes=self.server.answer_bytes,
        )
        if answer.status != _SUCCESS:
            raise _refusal(answer.status, _seconds(answer.retry_after))
        found = proposals_of(answer.body, source, text)
        return replace(found, sentences=found.sentences + len(divide(source.text[len(text) :]).sentences))


def _refusal(status: int, seconds: float) -> Exception:
    if status == _TOO_MANY:
        return Outage("server_busy", seconds)
    if status in _FAILURES or status in _SLOW:
        return Outage("server_failed", seconds)
    if status in _REDIRECTS:
        return Outage("server_redirects")  # never followed: text and key would go where nobody said
    return Outage(_CONFIGURATION[status]) if status in _CONFIGURATION else Declined("server_declined")


def _seconds(retry_after: str | None) -> float:
    """What Retry-After asks for, in seconds or as a date; 0 if it says nothing that can be read."""
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdecimal():
        return min(float(retry_after.strip()[:9]), _LONGEST_REST)
    try:
        wanted = parsedate_to_datetime(retry_after)
        return min(max((wanted - clock.now()).total_seconds(), 0.0), _LONGEST_REST)
    except (TypeError, ValueError):  # no date, or one without a zone
        return 0.0


def _cut(text: str, most_bytes: int) -> str:
    """As much of the text as may go out, up to the end of a line or sentence if one is near."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most_bytes:
        return text
    kept = data[:most_bytes].decode("utf-8", "ignore")
    end = max(kept.rfind(sign) for sign in ("\n", ". ", "。", "! ", "? ", "！", "？"))
    return kept[: end + 1] if end > len(kept) // 2 else kept
