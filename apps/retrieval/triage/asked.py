"""The noun behind "which" and "how many": the kind of the answer, not what the question is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.triage.anchors import Anchor

_ASKED_NOUN = re.compile(
    r"\b(?:which|what|whose|how many|how much)\s+(?:kind of\s+|sort of\s+)?((?:[a-z-]+\s+){0,2}?[a-z-]+)(?=\s+(?:did|does|"
    r"do|is|are|was|were|has|have|had|will|would|can|could|should|shall|may)\b)|"
    r"(?:哪一?[种个些款家位条本次天]?|什么样?的?|多少|几个?)([\u4e00-\u9fff]{1,4}?)(?=$|[?？，,。\s]|为什么|来着|吗|呢)",
    re.IGNORECASE,
)


def without_asked(anchors: Sequence[Anchor], text: str) -> list[Anchor]:
    """The anchors but for those that only say what kind of answer is wanted."""
    asked = [match.span(number) for match in _ASKED_NOUN.finditer(text) for number in (1, 2) if match.group(number)]
    return [one for one in anchors if not any(start <= one.start and one.end <= end for start, end in asked)]
