"""The server that is asked, as the operator of the installation describes it in the environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

LONGEST_WAIT = 90  # seconds; the lease of a job is longer
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OURS = frozenset({"model", "messages", "response_format", "stream", "n", "tools"})  # what a request is made of


@dataclass(frozen=True, slots=True)
class Server:
    """Where to ask, for which model, with which key, and how much may go out and come back."""

    url: str
    model: str
    key: str = field(default="", repr=False)  # never shown: not in a log, an error or a debugger's list
    seconds: int = 30
    input_tokens: int = 8000
    output_tokens: int = 2000
    answer_bytes: int = 256 * 1024
    options: Mapping[str, Any] = field(default_factory=dict)
    allow_http: bool = False

    @property
    def endpoint(self) -> str:
        return self.url.rstrip("/") + "/chat/completions"

    @property
    def input_bytes(self) -> int:
        """The cap in bytes: no tokenizer in use makes more than one token of two bytes of prose, in any script."""
        return 2 * self.input_tokens

    def faults(self) -> Iterator[str]:
        """What is wrong with it, for the operator."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            yield "OPENAI_COMPATIBLE_URL must be an http(s) address, such as https://models.example.org/v1."
        elif parts.username or parts.password or parts.query or parts.fragment:
            yield "OPENAI_COMPATIBLE_URL must hold no user, password, query or fragment."
        elif parts.scheme == "http" and parts.hostname not in _LOOPBACK and not self.allow_http:
            yield (
                "OPENAI_COMPATIBLE_URL would send private text and the key in clear: use https, or say "
                "OPENAI_COMPATIBLE_ALLOW_HTTP=true for a network that is yours."
            )
        if not self.model:
            yield "OPENAI_COMPATIBLE_MODEL must name a model."
        if any(not 32 < ord(character) < 127 for character in self.key):  # noqa: PLR2004 - visible ASCII
            yield "OPENAI_COMPATIBLE_KEY must be visible ASCII without spaces."
        if not 1 <= self.seconds <= LONGEST_WAIT:
            yield f"OPENAI_COMPATIBLE_SECONDS must lie between 1 and {LONGEST_WAIT}."
        if min(self.input_tokens, self.output_tokens, self.answer_bytes) < 1:
            yield "OPENAI_COMPATIBLE_INPUT_TOKENS, _OUTPUT_TOKENS and _ANSWER_BYTES must be above 0."
        if _OURS & self.options.keys():
            yield f"OPENAI_COMPATIBLE_OPTIONS must not set {', '.join(sorted(_OURS & self.options.keys()))}."
