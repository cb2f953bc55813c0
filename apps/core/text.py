"""Rules for text that names things, and for characters that cannot be seen (design/06 Limits).

Keys (fact keys, labels, project keys) are compared in a folded form and must not hold anything a reader cannot see. Content is
never changed: what is hidden in it is found, counted and, where it is shown, escaped.
"""

from __future__ import annotations

import re
import unicodedata

# General category Cf, Unicode 16. A test compares this with the tables of the running Python.
_FORMAT_RANGES = (
    (0x00AD, 0x00AD),
    (0x0600, 0x0605),
    (0x061C, 0x061C),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
)

# Characters outside Cc and Cf that show nothing either: fillers, joiners, variation selectors, ignorables, line separators.
_UNSEEN_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2028, 0x2029),
    (0x2065, 0x2065),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)

# Extended_Pictographic: what may stand on both sides of a zero-width joiner in an emoji sequence.
_PICTOGRAPH_RANGES = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x2199),
    (0x21A9, 0x21AA),
    (0x231A, 0x231B),
    (0x2328, 0x2328),
    (0x2388, 0x2388),
    (0x23CF, 0x23CF),
    (0x23E9, 0x23F3),
    (0x23F8, 0x23FA),
    (0x24C2, 0x24C2),
    (0x25AA, 0x25AB),
    (0x25B6, 0x25B6),
    (0x25C0, 0x25C0),
    (0x25FB, 0x25FE),
    (0x2600, 0x2605),
    (0x2607, 0x2612),
    (0x2614, 0x2685),
    (0x2690, 0x2705),
    (0x2708, 0x2712),
    (0x2714, 0x2714),
    (0x2716, 0x2716),
    (0x271D, 0x271D),
    (0x2721, 0x2721),
    (0x2728, 0x2728),
    (0x2733, 0x2734),
    (0x2744, 0x2744),
    (0x2747, 0x2747),
    (0x274C, 0x274C),
    (0x274E, 0x274E),
    (0x2753, 0x2755),
    (0x2757, 0x2757),
    (0x2763, 0x2767),
    (0x2795, 0x2797),
    (0x27A1, 0x27A1),
    (0x27B0, 0x27B0),
    (0x27BF, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1F000, 0x1F0FF),
    (0x1F10D, 0x1F10F),
    (0x1F12F, 0x1F12F),
    (0x1F16C, 0x1F171),
    (0x1F17E, 0x1F17F),
    (0x1F18E, 0x1F18E),
    (0x1F191, 0x1F19A),
    (0x1F1AD, 0x1F1E5),
    (0x1F201, 0x1F20F),
    (0x1F21A, 0x1F21A),
    (0x1F22F, 0x1F22F),
    (0x1F232, 0x1F23A),
    (0x1F23C, 0x1F23F),
    (0x1F249, 0x1F3FA),
    (0x1F400, 0x1F53D),
    (0x1F546, 0x1F64F),
    (0x1F680, 0x1F6FF),
    (0x1F774, 0x1F77F),
    (0x1F7D5, 0x1F7FF),
    (0x1F80C, 0x1F80F),
    (0x1F848, 0x1F84F),
    (0x1F85A, 0x1F85F),
    (0x1F888, 0x1F88F),
    (0x1F8AE, 0x1F8FF),
    (0x1F90C, 0x1F93A),
    (0x1F93C, 0x1F945),
    (0x1F947, 0x1FAFF),
    (0x1FC00, 0x1FFFD),
)


def _characters(ranges: tuple[tuple[int, int], ...]) -> str:
    """The inside of a character class."""
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


_CONTROLS = r"\x00-\x1f\x7f-\x9f"
_CONTROLS_IN_TEXT = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # all but TAB, LF and CR
_CONTROL = re.compile(f"[{_CONTROLS}]")
_NOT_IN_KEYS = re.compile(f"[{_CONTROLS}{_characters(_FORMAT_RANGES + _UNSEEN_RANGES)}]")
_HIDDEN = re.compile(f"[{_CONTROLS_IN_TEXT}{_characters(_FORMAT_RANGES)}]")

_ZERO_WIDTH_JOINER = "\u200d"
_ZERO_WIDTH_NON_JOINER = "\u200c"
_PICTOGRAPH = re.compile(f"[{_characters(_PICTOGRAPH_RANGES)}]")
_PICTOGRAPH_BEFORE = re.compile(f"[{_characters(_PICTOGRAPH_RANGES)}][\ufe0f\U0001f3fb-\U0001f3ff]?\\Z")

_FOLDINGS = 4  # folding settles after two rounds for every character of Unicode; the bound only keeps the loop honest
_BASIC_PLANE = 0xFFFF


def fold_key(text: str) -> str:
    """The identity of a key: NFKC, case-folded, trimmed; folding a folded key changes nothing."""
    if text.isascii():
        return text.lower().strip()
    for _ in range(_FOLDINGS):
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()
        if folded == text:
            break
        text = folded
    return text


def key_fault(text: str) -> str | None:
    """Why a text cannot be a key: ``blank``, ``invalid_key`` (control, invisible or direction-changing characters), or None."""
    if _NOT_IN_KEYS.search(text):
        return "invalid_key"
    return None if fold_key(text) else "blank"


def has_control(text: str) -> bool:
    """Does the text hold a control character (Cc), line breaks included?"""
    return _CONTROL.search(text) is not None


def hidden_characters(text: str) -> list[tuple[int, int]]:
    """Hidden or direction-changing characters of a content as (offset, code point), in code points from the start.

    These are Cf and Cc except TAB, LF and CR, except U+200D inside an emoji sequence and except U+200C between letters.
    """
    return [(found.start(), ord(found[0])) for found in _HIDDEN.finditer(text) if not _has_a_use(text, found.start())]


def escape_hidden(text: str) -> str:
    r"""The text with every hidden character spelled out (``\u202e``), so that a reader sees it and it does nothing."""
    return _HIDDEN.sub(lambda found: found[0] if _has_a_use(text, found.start()) else _spelled(ord(found[0])), text)


def _spelled(codepoint: int) -> str:
    return f"\\u{codepoint:04x}" if codepoint <= _BASIC_PLANE else f"\\U{codepoint:08x}"


def _has_a_use(text: str, at: int) -> bool:
    """Is the joiner at this place one that the script or the emoji needs?"""
    character = text[at]
    if character == _ZERO_WIDTH_JOINER:
        return bool(_PICTOGRAPH_BEFORE.search(text[max(0, at - 2) : at]) and _PICTOGRAPH.match(text, at + 1))
    if character == _ZERO_WIDTH_NON_JOINER:
        before = at - 1
        while before >= 0 and unicodedata.category(text[before]).startswith("M"):
            before -= 1  # a vowel sign or virama belongs to the letter in front of it
        return before >= 0 and text[before].isalpha() and text[at + 1 : at + 2].isalpha()
    return False
