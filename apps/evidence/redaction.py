"""What may not be stored is found and replaced before anything is written (EV-09, EV-11, CA-06; design/03).

Keys, tokens, private keys, passwords and hidden reasoning are no memory material. `find_forbidden` says where they
are, `redact` puts a marker in their place. The marker names the kind and nothing else: no piece of the value, no length,
no hash. Every detector runs in time linear in the text, because the text comes from anybody.

A library finds the keys that their issuer made to be recognised; own patterns find the rest: sentences, Chinese, reasoning
tags and the tokens of many providers. docs/concepts/redaction.md has the figures of the libraries that were looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.evidence.forbidden.identifiable import identifiable_keys
from apps.evidence.forbidden.kinds import Kind, Span, narrowed
from apps.evidence.forbidden.passwords import spoken_secrets
from apps.evidence.forbidden.reasoning import hidden_reasoning
from apps.evidence.forbidden.tokens import issued_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Finding", "Kind", "Redacted", "find_forbidden", "marker", "redact"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of forbidden material; `start` and `length` count code points of the text as it was sent."""

    kind: Kind
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that may be stored, and what was taken out of the original."""

    text: str
    findings: tuple[Finding, ...]


def find_forbidden(text: str) -> tuple[Finding, ...]:
    """Forbidden material in a text, sorted by place, never overlapping. Never raises, whatever the text (EV-09)."""
    plain = narrowed(text)
    folded = plain.lower()
    spans = [
        *hidden_reasoning(plain, folded),
        *issued_secrets(plain, folded),
        *identifiable_keys(plain),
        *spoken_secrets(plain, folded),
    ]
    return tuple(_merged(spans)) if spans else ()


def redact(text: str) -> Redacted:
    """The text with a marker in place of each finding; the same text if there is none (EV-11)."""
    findings = find_forbidden(text)
    if not findings:
        return Redacted(text, ())
    parts: list[str] = []
    done = 0
    for finding in findings:
        parts += (text[done : finding.start], marker(finding.kind))
        done = finding.end
    parts.append(text[done:])
    return Redacted("".join(parts), findings)


def marker(kind: Kind) -> str:
    """What stands in the stored text where something was taken out."""
    return f"[redacted:{kind.value}]"


def _merged(spans: Iterable[Span]) -> Iterable[Finding]:
    """Overlapping spans become one, named after its longest part."""
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    current = ordered[0]
    longest = current
    for span in ordered[1:]:
        if span.start >= current.end:
            yield Finding(longest.kind, current.start, current.end - current.start)
            current = longest = span
            continue
        if span.end - span.start > longest.end - longest.start:
            longest = span
        current = Span(current.kind, current.start, max(current.end, span.end))
    yield Finding(longest.kind, current.start, current.end - current.start)
