"""Hidden reasoning of models: tags in text and the reasoning parts of known session formats (EV-09, design/03)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.evidence.forbidden.kinds import Kind, Span, words

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = (
    r"(?:antml:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratch_?pad|inner_monologue|internal_(?:monologue|thoughts?)"
    r"|chain_of_thought|cot|hidden_reasoning|ant_?thinking|seed:think)"
)
_TAG = re.compile(rf"(?i)(?:<|&lt;)(?P<close>/?)(?P<name>{_NAMES})(?:\s[^<>\n]{{0,120}})?/?(?:>|&gt;)")
_BRACKET_TAG = re.compile(r"(?P<close1>\[/THINK\])|\[THINK\]|(?P<close2>◁/think▷)|◁think▷")
_SPOKEN_OF = re.compile(r"[`\"'”’」]? ?(?:(?:open|clos)ing )?(?:tags?|elements?|markers?|标签|标记|標籤)\b")
_CHANNEL = re.compile(r"<\|channel\|>\s?(?:analysis|commentary)\b[^<]{0,80}<\|message\|>")
_CHANNEL_END = ("<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>")

_TAG_HINTS = ("think", "thought", "reason", "reflection", "scratch", "monologue", "cot>", "chain_of_thought", "encrypted_content")
_JSON_HINTS = ('"thinking', '"reasoning', '"redacted_thinking', '"encrypted_content', '"thought', '"chain_of_thought')


def hidden_reasoning(text: str, folded: str) -> Iterator[Span]:
    """Everything between reasoning tags, to the end of the text if one is left open, and reasoning values in JSON."""
    if any(hint in folded for hint in _TAG_HINTS):
        if "<" in text or "&lt;" in folded:
            yield from _between_tags(text)
        if "[THINK]" in text or "[/THINK]" in text or "think▷" in text:
            yield from _between_bracket_tags(text)
        if any(hint in folded for hint in _JSON_HINTS):
            yield from _in_session_json(text)
    if "<|channel|>" in text:
        yield from _in_channels(text)


def _between_tags(text: str) -> Iterator[Span]:
    name, start, depth, done = "", -1, 0, 0
    for tag in _TAG.finditer(text):
        this = tag["name"].lower()
        if start < 0:
            if _only_named(text, tag):
                continue
            if tag["close"]:
                # Chat templates may swallow the opening tag: a closing one alone on its line ends a block that began at
                # the top. Inside a sentence it is only talked about.
                if _stands_alone(text, tag):
                    yield Span(Kind.HIDDEN_REASONING, done, tag.end())
                    done = tag.end()
                continue
            if tag[0].endswith(("/>", "/&gt;")):
                continue
            name, start, depth = this, tag.start(), 1
        elif this == name:
            depth += -1 if tag["close"] else 1
            if depth == 0:
                yield Span(Kind.HIDDEN_REASONING, start, tag.end())
                start, done = -1, tag.end()
    if start >= 0:
        yield Span(Kind.HIDDEN_REASONING, start, len(text))


def _between_bracket_tags(text: str) -> Iterator[Span]:
    start = -1
    for tag in _BRACKET_TAG.finditer(text):
        closes = tag["close1"] or tag["close2"]
        if start < 0 and not closes and not _only_named(text, tag):
            start = tag.start()
        elif start >= 0 and closes:
            yield Span(Kind.HIDDEN_REASONING, start, tag.end())
            start = -1
    if start >= 0:
        yield Span(Kind.HIDDEN_REASONING, start, len(text))


def _in_channels(text: str) -> Iterator[Span]:
    done = 0
    for opening in _CHANNEL.finditer(text):
        if opening.start() < done:
            continue
        # The next control token of any kind ends the message.
        at = text.find("<|", opening.end())
        while at >= 0 and not text.startswith(_CHANNEL_END, at):
            at = text.find("<|", at + 2)
        done = at if at >= 0 else len(text)
        yield Span(Kind.HIDDEN_REASONING, opening.start(), done)


def _only_named(text: str, tag: re.Match[str]) -> bool:
    """A tag in quotation marks or inline code is a word about tags."""
    before, after = text[max(tag.start() - 1, 0) : tag.start()], text[tag.end() : tag.end() + 1]
    quoted = before != "" and before in "`\"'“‘「" and after != "" and after in "`\"'”’」"
    return quoted or _SPOKEN_OF.match(text, tag.end()) is not None


def _stands_alone(text: str, tag: re.Match[str]) -> bool:
    return tag.end() == len(text) or text[tag.end()] in "\r\n" or (tag.start() > 0 and text[tag.start() - 1] == "\n")


# -- session formats

# A string ends at its line end at the latest: a stray quotation mark in prose must not turn everything after it inside out.
_STRING = r'"(?:[^"\\\n]|\\[^\n])*+"?'
_JSON_TOKEN = re.compile(rf"(?P<string>{_STRING})(?P<key>\s*+:(?P<true>\s*+true\b)?)?|[{{}}]")
_REASONING_TYPES = words(
    "thinking redacted_thinking reasoning reasoning_text thinking_delta reasoning-delta reasoning_delta signature_delta "
    "thought agent_reasoning agent_reasoning_raw_content"
)
_REASONING_KEYS = words(
    "thinking reasoning_content reasoning_text encrypted_content redacted_thinking thoughtSignature thought_signature "
    "thought chain_of_thought reasoning_details"
)
# An object of one of the types above holds its text under these.
_TEXT_KEYS = words("text thinking reasoning data content signature summary delta encrypted_content")


class _Object:
    """What is known of a JSON object while its strings go by."""

    __slots__ = ("inherits", "key", "reasons", "values")

    def __init__(self, *, inherits: bool = False) -> None:
        self.key = ""
        self.reasons = False
        self.inherits = inherits
        self.values: list[tuple[int, int]] = []

    def release(self) -> list[tuple[int, int]]:
        """The values that are reasoning, each given out once."""
        if not (self.reasons or self.inherits):
            return []
        values, self.values = self.values, []
        return values

    def hand_up(self, parent: _Object) -> None:
        """A summary part may come before its parent says that it is reasoning. The shorter list is added to the longer
        one, or deep nesting would cost quadratic time.
        """
        if len(self.values) > len(parent.values):
            self.values, parent.values = parent.values, self.values
        parent.values += self.values


def _in_session_json(text: str) -> Iterator[Span]:
    """Reasoning values of Anthropic, OpenAI, DeepSeek, Gemini and AI-SDK session lines. One pass, no JSON parser: the text
    may be cut off, hold several lines, or begin inside an object.
    """
    chat = '"role"' in text or '"choices"' in text or '"type"' in text
    stack = [_Object()]
    for token in _JSON_TOKEN.finditer(text):
        here = stack[-1]
        if token[0] == "{":
            stack.append(_Object(inherits=here.reasons or here.inherits))
        elif token[0] == "}":
            yield from (Span(Kind.HIDDEN_REASONING, *span) for span in here.release())
            if len(stack) > 1:
                stack.pop().hand_up(stack[-1])
        elif token["key"]:
            here.key = token["string"].strip('"')
            here.reasons |= here.key == "thought" and token["true"] is not None
        else:
            yield from _string_value(here, token, chat=chat)
    for left_open in stack:
        yield from (Span(Kind.HIDDEN_REASONING, *span) for span in left_open.release())


def _string_value(here: _Object, token: re.Match[str], *, chat: bool) -> Iterator[Span]:
    start, end = token.span("string")
    end -= token["string"].endswith('"') and end - start > 1
    start += 1
    if here.key == "type":
        here.reasons |= token["string"].strip('"') in _REASONING_TYPES
    elif end == start:
        return
    elif here.key in _REASONING_KEYS or (here.key == "reasoning" and chat):
        yield Span(Kind.HIDDEN_REASONING, start, end)
    elif here.key in _TEXT_KEYS:
        here.values.append((start, end))
