"""The deterministic parser: task type, time view and target of a request, or `fallback` (EL-06).

It says what it can tell from the words alone. A bare list of unknown words stays a fallback: guessing would only make the
published rate look better (EL-08).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.retrieval.triage import chinese, english
from apps.retrieval.triage.asked import without_asked
from apps.retrieval.triage.vocabulary import AnchorKind, Ground, ParseStatus, TaskType, TimeView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.retrieval.triage.anchors import Anchor
    from apps.retrieval.triage.reading import Reading
    from apps.retrieval.triage.window import Bound

_BY_GROUND: Final = {
    Ground.SMALL_TALK: TaskType.SMALL_TALK,
    Ground.COMPUTATION: TaskType.COMPUTATION,
    Ground.GIVEN_TEXT: TaskType.TRANSFORMATION,
    Ground.NO_TEXT: TaskType.TRANSFORMATION,
    Ground.COMPOSITION: TaskType.COMPOSITION,
}
# Requests whose target is in themselves.
_OWN_TARGET: Final = frozenset(
    {
        Ground.SMALL_TALK,
        Ground.COMPUTATION,
        Ground.GIVEN_TEXT,
        Ground.COMPOSITION,
        Ground.GENERAL_KNOWLEDGE,
        Ground.PRESENT_MOMENT,
        Ground.HOT_CONTEXT,
    }
)
_PREFERRED: Final = (
    AnchorKind.LABEL,
    AnchorKind.QUOTE,
    AnchorKind.NAME,
    AnchorKind.ARTEFACT,
    AnchorKind.EVENT,
    AnchorKind.PROJECT,
    AnchorKind.DECISION,
    AnchorKind.THING,
    AnchorKind.PERSON,
    AnchorKind.OWN,
    AnchorKind.DATE,
)
REQUEST: Final = "request"


@dataclass(frozen=True, slots=True)
class Target:
    """What the request is about. `kind` is an AnchorKind, or `request` for what carries its target with it."""

    kind: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Parse:
    """What the parser could tell; each part is None where it could not."""

    task_type: TaskType | None
    time_view: TimeView | None
    target: Target | None

    @property
    def unresolved(self) -> tuple[str, ...]:
        parts = (("task_type", self.task_type), ("time_view", self.time_view), ("target", self.target))
        return tuple(name for name, value in parts if value is None)

    @property
    def status(self) -> ParseStatus:
        return ParseStatus.FALLBACK if self.unresolved else ParseStatus.PARSED


def parse(reading: Reading, anchors: Sequence[Anchor], ground: Ground, bound: Sequence[Bound]) -> Parse:
    """Task type, time view and target of a request that was read and decided on.

    ``anchors`` are those of the request and of what came with it.
    """
    about = [one for one in without_asked(anchors, reading.text) if one.kind is not AnchorKind.DATE] or anchors
    return Parse(_task(reading, anchors, ground), _time(reading, anchors, bound), _target(about, ground, bound))


def _task(reading: Reading, anchors: Sequence[Anchor], ground: Ground) -> TaskType | None:
    if ground in _BY_GROUND:
        return _BY_GROUND[ground]
    languages = ((reading.han, chinese.TASKS), (reading.latin, english.TASKS))
    for present, tasks in languages if reading.chinese else languages[::-1]:
        for name, pattern in tasks if present else ():
            if pattern.search(reading.text):
                return TaskType(name)
    # "release notes", "editor.theme": a thing of a known kind is looked up
    return TaskType.LOOKUP if any(one.kind not in {AnchorKind.THING, AnchorKind.DATE} for one in anchors) else None


def _time(reading: Reading, anchors: Sequence[Anchor], bound: Sequence[Bound]) -> TimeView | None:
    if not anchors and not bound and reading.says(english.UNPLACED, chinese.UNPLACED):
        return None
    if reading.says(english.PAST, chinese.PAST) or reading.says(english.LONG_AGO, chinese.LONG_AGO):
        return TimeView.PAST
    return TimeView.FUTURE if reading.says(english.FUTURE, chinese.FUTURE) else TimeView.CURRENT


def _target(anchors: Sequence[Anchor], ground: Ground, bound: Sequence[Bound]) -> Target | None:
    if ground in _OWN_TARGET:
        return Target(REQUEST, None)
    every = [*anchors, *(one.anchor for one in bound)]
    if not every:  # keys and labels beside the words say what it is about
        return Target(AnchorKind.LABEL.value, None) if ground is Ground.EXPLICIT else None
    best = min(every, key=lambda one: (_PREFERRED.index(one.kind), one.start))
    return Target(best.kind.value, best.text)
