"""The one question that ASK puts: short, in the language of the request, naming what is missing (TR-06).

Words of the request come back only where they are words of these closed lists, so nobody's text is repeated.
"""

from __future__ import annotations

from typing import Final

from apps.retrieval.triage.vocabulary import Ground, ReferenceKind

_ENGLISH: Final = {
    ReferenceKind.PERSON: "Who do you mean?",
    ReferenceKind.THING: "Which project, event or thing do you mean?",
    ReferenceKind.PLACE: "Which place do you mean?",
    ReferenceKind.TIME: "Roughly when was that, or on what occasion?",
    ReferenceKind.TEXT: "Which text do you mean?",
    ReferenceKind.ELLIPSIS: "What is this about: which person, project or event?",
}
_CHINESE: Final = {
    ReferenceKind.PERSON: "你指的是谁？",
    ReferenceKind.THING: "你指的是哪个项目、哪件事或哪样东西？",
    ReferenceKind.PLACE: "你指的是哪个地方？",
    ReferenceKind.TIME: "你指的是哪一次，大概在什么时候？",
    ReferenceKind.TEXT: "你指的是哪段文字？",
    ReferenceKind.ELLIPSIS: "你指的是哪个人、哪个项目或哪件事？",
}
_OF_KIND: Final = ("Which {noun} do you mean?", "你指的是哪个{noun}？")
_VAGUE: Final = frozenset(
    {"thing", "one", "part", "bit", "matter", "东西", "玩意", "玩意儿", "事", "事儿", "事情", "人", "家伙", "guy"}
)


def clarification(ground: Ground, kind: ReferenceKind, noun: str, *, in_chinese: bool) -> str:
    """The question for what is missing; ``noun`` is the kind of thing that the request names, if it names one."""
    if ground is Ground.NO_TEXT:
        kind = ReferenceKind.TEXT
    if kind is ReferenceKind.NAMED_KIND:
        if noun and noun.lower() not in _VAGUE:
            return _OF_KIND[in_chinese].format(noun=noun.lower() if noun.isascii() else noun)
        kind = ReferenceKind.PERSON if noun.lower() in {"人", "家伙", "guy"} else ReferenceKind.THING
    return (_CHINESE if in_chinese else _ENGLISH)[kind]
