"""Things that have several names in both languages and one key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.memories.extractors.base import EVENT
from apps.memories.extractors.keys import fact_key
from apps.memories.extractors.patterns import verbose

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a rule understood in one sentence. `said` is the stretch of the sentence that states it; None is all of it."""

    memory_type: str
    key: str
    said: tuple[int, int] | None = None
    rationale: str | None = None
    epistemic_status: str = "explicit"
    verdict: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expected_resolution_at: datetime | None = None
    belongs_to: str = EVENT
    marks: frozenset[str] = frozenset()


def _table(rows: str) -> dict[str, str]:
    """Every name → the first of its row. Rows are separated by line breaks, names by "|"."""
    table: dict[str, str] = {}
    for row in rows.strip().splitlines():
        names = [name.strip() for name in row.split("|")]
        table.update(dict.fromkeys(names, names[0]))
    return table


def _any_of(table: dict[str, str]) -> str:
    """An alternation for use inside a pattern, longest name first."""
    return "|".join(re.escape(name) for name in sorted(table, key=len, reverse=True))


LANGUAGES = _table(
    """
    english | 英文 | 英语 | 英語
    chinese | 中文 | 汉语 | 漢語 | 普通话 | 国语 | mandarin | simplified chinese | 简体中文
    traditional chinese | 繁体中文 | 繁體中文
    cantonese | 粤语 | 广东话
    german | 德文 | 德语
    french | 法文 | 法语
    spanish | 西班牙文 | 西班牙语 | 西语
    italian | 意大利语 | 意大利文
    portuguese | 葡萄牙语 | 葡语
    russian | 俄文 | 俄语
    japanese | 日文 | 日语
    korean | 韩文 | 韩语
    dutch | 荷兰语
    polish | 波兰语
    czech | 捷克语
    turkish | 土耳其语
    arabic | 阿拉伯语
    hindi | 印地语
    vietnamese | 越南语
    thai | 泰语
    swedish | 瑞典语
    norwegian | 挪威语
    danish | 丹麦语
    finnish | 芬兰语
    greek | 希腊语
    hebrew | 希伯来语
    ukrainian | 乌克兰语
    """
)
PROGRAMMING = _table(
    """
    python | python 3
    java
    kotlin
    javascript | js
    typescript | ts
    go | golang
    rust
    c++ | cpp
    c#
    c
    f#
    ruby
    php
    swift
    scala
    haskell
    elixir
    erlang
    clojure
    julia
    perl
    lua
    dart
    ocaml
    zig
    sql
    bash
    matlab
    fortran
    cobol
    objective-c
    groovy
    lisp
    prolog
    """
)
EDITORS = _table(
    """
    vim
    neovim | nvim
    emacs
    vs code | vscode | visual studio code
    helix
    sublime text | sublime
    intellij | intellij idea | idea
    pycharm
    webstorm
    zed
    xcode
    nano
    cursor
    """
)
SYSTEMS = _table(
    """
    windows
    macos | mac
    linux
    ubuntu
    debian
    fedora
    arch linux | arch
    android
    ios
    """
)
LANGUAGE = _any_of(LANGUAGES)
PROGRAM = rf"(?:{_any_of(PROGRAMMING)})(?![\w+#])"
_THING = re.compile(rf"(?i)(?:{_any_of({**LANGUAGES, **PROGRAMMING, **EDITORS, **SYSTEMS})})(?![a-z0-9_+#])")

REPLY_LANGUAGE = "assistant.reply_language"
BACKGROUND_LANGUAGE = "background.language"


def kind_of(thing: str) -> tuple[str, str] | None:
    """Memory type and fact key for which two things are alternatives: "not Java any more, Kotlin now"."""
    name = thing.strip(" .!").lower()
    if name in PROGRAMMING:
        return "fact", BACKGROUND_LANGUAGE
    if name in LANGUAGES:
        return "preference", REPLY_LANGUAGE
    if name in EDITORS:
        return "fact", "background.editor"
    if name in SYSTEMS:
        return "fact", "background.system"
    return None


def replaced(old: str, new: str) -> tuple[str, str] | None:
    """Type and key of a correction from one thing to another of the same kind."""
    kind = kind_of(old)
    return kind if kind is not None and kind == kind_of(new) and old.strip(" .!").lower() != new.strip(" .!").lower() else None


def things_in(text: str) -> list[str]:
    """Known things a text names, in order."""
    return [match[0].lower() for match in _THING.finditer(text) if match.start() == 0 or not _continues(text, match.start())]


def _continues(text: str, at: int) -> bool:
    return text[at].isascii() and text[at - 1].isascii() and (text[at - 1].isalnum() or text[at - 1] in "_.")


# -- how the assistant should answer

_STYLES = (
    ("assistant.reply_language", rf"\b(?:in|to|into)\s(?:{LANGUAGE})\b|(?:用|以|说|讲|成|为|使用)\s?(?:{LANGUAGE})|语言"),
    ("assistant.emoji", r"\bemojis?\b|emoticon|表情|颜文字"),
    (
        "assistant.reply_length",
        r"""\b(?:short|brief|concise|terse|succinct|long|verbose|detailed|in[-\ ]depth|thorough|to\ the\ point|under\ \d+\ words
            |summar(?:y|ies)\ first)\b|简短|简洁|精简|简明|详细|啰嗦|太长|长话短说|字以内""",
    ),
    (
        "assistant.reply_format",
        r"""\b(?:bullet|bulleted|bullets|tables?|markdown|plain\ text|latex|headings?|numbered\ lists?|code\ blocks?|prose)\b
            |列表|表格|要点|纯文本|分点|段落|代码块""",
    ),
    (
        "assistant.reply_tone",
        r"\b(?:formal|informal|casual|polite|friendly|tone|flatter\w*|apologi[sz]\w*)\b|语气|正式|口语|客气|礼貌|道歉",
    ),
    ("preference.units", r"\b(?:metric|imperial|celsius|fahrenheit)\b|公制|英制|摄氏|华氏"),
    ("preference.spelling", r"\b(?:british|american)\s(?:english\s)?spelling\b"),
    ("preference.time_format", r"\b(?:24|12)[-\ ]?hour\b|24\s?小时制|12\s?小时制"),
    ("preference.date_format", r"\b(?:iso|date\ format)\b.*\bdates?\b|\bdates?\ (?:in|as)\b|日期格式"),
)
_STYLE_PATTERNS = tuple((key, verbose(pattern)) for key, pattern in _STYLES)
# "Short", "formal" and "in English" may be said of anything; only of an answer do they say how to answer.
_ONLY_OF_ANSWERS = frozenset((REPLY_LANGUAGE, "assistant.reply_length", "assistant.reply_tone"))
_ANSWER = re.compile(
    r"(?i)\b(?:answers?|repl(?:y|ies)|respon(?:d|ses?)|explanations?|explain|messages?|summar(?:y|ies|i[sz]e)|speak"
    r"|talk|write|be|keep|output|format|use|"
    r"include|add|stick)\b|回答|回复|答复|解释|说明|总结|输出|说话|交流|沟通|用|写|保持|尽量"
)
_THEME = re.compile(r"(?i)^(?:the )?(?:dark|light)\s?(?:mode|theme)s?\b|^(?:深色|浅色|暗色|亮色|黑暗|明亮)(?:模式|主题)")


def reply_style(text: str) -> str | None:
    """The key of the way of answering that a text asks for, or None if it asks for none that has a name."""
    of_answers = _ANSWER.search(text) is not None
    return next(
        (key for key, pattern in _STYLE_PATTERNS if (of_answers or key not in _ONLY_OF_ANSWERS) and pattern.search(text)), None
    )


def preference_key(liked: str, *, chooses: bool = False) -> str:
    """The key of a liking: what is liked or disliked, or the choice it is an answer to. Alternatives are sorted, so that tea over
    coffee and coffee over tea are two values of one question. Only with "prefer" does "to" stand between alternatives.
    """
    if _THEME.match(liked):
        return "preference.theme"
    style = next((key for key, pattern in _STYLE_PATTERNS if pattern.search(liked) and _OF_ANSWERS.search(liked)), None)
    if style is not None:
        return style
    sides = (_OVER_TO if chooses else _OVER).split(liked, maxsplit=1)
    if len(sides) == 2 and all(side.strip() for side in sides):  # noqa: PLR2004 - two sides of a choice
        return fact_key("preference", " or ".join(sorted(side.strip().lower() for side in sides)))
    return fact_key("preference", liked)


_OF_ANSWERS = re.compile(r"(?i)\b(?:answers?|repl(?:y|ies)|responses?|explanations?)\b|回答|回复|答复|解释|emoji|表情")
_OVER = re.compile(r"(?i)\s(?:over|rather than|instead of|more than|better than)\s|，?(?:而不是|胜过|多于)")
_OVER_TO = re.compile(rf"{_OVER.pattern}|\sto\s(?!\w+\s)")


# -- units of learning and work, numbered: chapter 3 and chapter 4 are two values of one progress

_UNITS = _table(
    """
    chapter | 章
    section | 节
    lesson | 课 | 讲 | lecture
    unit | 单元
    part | 部分
    module | 模块
    volume | 卷 | 册 | book
    week | 周
    day | 天
    stage | 阶段 | phase | 期
    step | 步
    episode | 集 | 回
    level | 级 | 关
    exercise | 题 | 练习
    page | 页
    milestone | 里程碑
    sprint | 迭代
    round | 轮
    """
)
NUMBER = (
    r"(?:\d{1,4}|[一二三四五六七八九十百零两]{1,5}|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|[ivxlIVX]{1,5}\b)"
)
_EN_UNIT = "|".join(name for name in sorted(_UNITS, key=len, reverse=True) if name.isascii())
_ZH_UNIT = "|".join(name for name in sorted(_UNITS, key=len, reverse=True) if not name.isascii())
EN_STEP = re.compile(
    rf"(?i)\b(?:the )?(?P<unit>{_EN_UNIT})s?\s(?:no\.?\s|#)?{NUMBER}(?:\s?(?:-|–|to|and|through)\s?{NUMBER})?(?:\s(?:of|in"
    rf"|from)\s(?P<whole>.+))?"
)
EN_ORDINAL = re.compile(
    rf"(?i)\b(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|final|next|\d+(?:st|nd"
    rf"|rd|th))\s(?:{NUMBER}\s)?(?P<unit>{_EN_UNIT})s?"
    r"(?:\s(?:of|in|from)\s(?P<whole>.+))?"
)
ZH_STEP = re.compile(rf"(?:《?(?P<whole>[^第》，,]{{1,30}}?)》?的?)?第?\s?{NUMBER}\s?(?:个\s?)?(?P<unit>{_ZH_UNIT})")


def progress_key(thing: str) -> str:
    """`progress.chapter` for "chapter 3" and 第三章, `progress.rust-book` for "chapter 3 of the Rust book", else the thing."""
    step = EN_STEP.search(thing) or EN_ORDINAL.search(thing) or ZH_STEP.search(thing)
    if step is None:
        return fact_key("progress", thing)
    whole = (step["whole"] or "").strip(" 的前后第这那头")
    return fact_key("progress", whole) if whole else f"progress.{_UNITS[step['unit'].lower()]}"


_VERSION = re.compile(r"(?i)\bversion\b|\bv?\d+\.\d+|版本|\d\s?版")


def state_key(subject: str, verb: str, rest: str) -> str:
    """What is in a state comes last, the relation before it; version is a relation of its own in both languages."""
    relation = "version" if _VERSION.search(f"{verb} {rest}") else ""
    return fact_key("state.version" if relation else "state", subject)
