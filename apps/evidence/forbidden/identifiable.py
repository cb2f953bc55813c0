"""Keys that their issuer made to be recognised: a fixed signature at a fixed place (the Azure services, NuGet, Databricks).

The forms come from a library that their issuer generates from its own list and keeps up to date; only its rules of high
confidence are used, because the others take every long run of letters for a key. docs/concepts/redaction.md says which libraries
were measured. The library may hash what it finds; it is never asked to.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from apps.evidence.forbidden.kinds import Kind, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from microsoft_security_utilities_secret_masker import RegexPattern

_PACKAGE = "microsoft_security_utilities_secret_masker"
_RULES = "GeneratedRegexPatterns/HighConfidenceSecurityModels.json"

# No form is shorter, and none goes beyond such a run: a rule sees nothing else of the text, and only if its signature is there.
_RUN = re.compile(r"[A-Za-z0-9+/_~.=\-]{36,}")
_TOKENS = ("Pat", "Token", "AuthorKey")  # how the names of rules for tokens end


def identifiable_keys(text: str) -> Iterator[Span]:
    """Keys with a signature of their issuer. Every rule looks a bounded way ahead, so the time is linear in the text."""
    for run in _RUN.finditer(text):
        folded = run[0].lower()
        for kind, signatures, rule in _rules():
            if any(signature in folded for signature in signatures):
                for found in rule.get_detections(run[0]):
                    yield Span(kind, run.start() + found.start, run.start() + found.end)


@cache
def _rules() -> tuple[tuple[Kind, tuple[str, ...], RegexPattern], ...]:
    """Kind, signatures in small letters, and rule of each form; read when the first long run of letters comes by."""
    from microsoft_security_utilities_secret_masker import load_regex_pattern_from_json  # noqa: PLC0415 - see above

    listed = json.loads(files(_PACKAGE).joinpath(_RULES).read_text(encoding="utf-8"))
    forms = {one["Pattern"]: one for one in listed}  # several services share one form
    return tuple(
        (
            Kind.ACCESS_TOKEN if one["Name"].endswith(_TOKENS) else Kind.API_KEY,
            tuple({signature.lower() for signature in one["Signatures"]}),
            load_regex_pattern_from_json(one),
        )
        for one in forms.values()
    )
