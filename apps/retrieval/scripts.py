"""Writing systems, as far as cutting text into words needs them (design/04 lexical, C26).

Three kinds of text: what is written with spaces or signs between words (Latin and digits here, every other spaced script
in one group), what is written without (Han, kana, Thai and its neighbours), and Hangul, whose words carry endings. The last two
are matched by adjacent pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

# Ranges inside a character class. Latin without its signs × and ÷; the text is already lower-case and compatibility-folded.
LATIN = "a-z0-9\u00df-\u00f6\u00f8-\u024f\u0250-\u02af\u1e00-\u1eff"
HAN = "\u3005-\u3007\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
KANA = "\u3041-\u3096\u309d-\u309f\u3105-\u312f\u31a0-\u31bf" + KATAKANA
UNSPACED = "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u109f\u1780-\u17d3\u1950-\u19df\u1a20-\u1aad"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7ff"
PAIRED = HAN + KANA + UNSPACED

# Format characters: never part of a word. A zero-width space is a place where a line may break, so it separates.
IGNORED = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+")
ZERO_WIDTH_SPACE = "\u200b"

# The wide signs of every Chinese sentence. Folding them first spares the text most of its normalisation.
_WIDE_SIGNS = tuple(zip("，：；！？（）", ",:;!?()", strict=True))
_ACCENTED_LATIN = re.compile("[\u00c0-\u024f\u1e00-\u1eff]|[a-zA-Z][\u0300-\u036f]")
_ACCENT_ON_LATIN = re.compile("([a-z])[\u0300-\u036f]+")
Form = Literal["NFC", "NFD", "NFKC"]

_PIECE = 512
_LOOK_AHEAD = 32


def _mark_ranges() -> str:
    r"""Combining marks of the spaced scripts, as ranges: Python's \\w leaves them out, which would cut Hindi words apart."""
    blocks = ((0x0300, 0x2000), (0xA640, 0xAC00), (0xFB1E, 0xFB1F), (0x10A00, 0x12000), (0x16AF0, 0x17000), (0x1E000, 0x1E950))
    ranges: list[str] = []
    for first, end in blocks:
        start: int | None = None
        for code in range(first, end + 1):
            is_mark = code < end and unicodedata.category(chr(code)) in ("Mn", "Mc")
            if is_mark and start is None:
                start = code
            elif not is_mark and start is not None:
                ranges.append(f"{chr(start)}-{chr(code - 1)}")
                start = None
    return "".join(ranges)


MARKS = _mark_ranges()


def fold(text: str) -> str:
    """The text as it is compared: NFKC, case-folded, Latin accents and format characters dropped. For matching only.

    Linear in the text. Normalisation sorts runs of combining marks and is quadratic in the length of a run, so text goes
    through it in bounded pieces; a piece ends before a character that starts a new one, which leaves ordinary text unchanged.
    """
    if text.isascii():
        return text.lower()
    if IGNORED.search(text):
        text = IGNORED.sub(lambda found: " " if ZERO_WIDTH_SPACE in found.group() else "", text)
    for wide, narrow in _WIDE_SIGNS:
        text = text.replace(wide, narrow)
    folded = _normalised(_normalised(text, "NFKC").casefold(), "NFKC")
    if _ACCENTED_LATIN.search(folded):
        folded = _normalised(_ACCENT_ON_LATIN.sub(r"\1", _normalised(folded, "NFD")), "NFC")
    return folded


def _normalised(text: str, form: Form) -> str:
    if len(text) <= _PIECE:
        return unicodedata.normalize(form, text)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        last = min(end + _LOOK_AHEAD, len(text))
        while end < last and not _starts_afresh(text[end]):
            end += 1
        pieces.append(unicodedata.normalize(form, text[start:end]))
        start = end
    return "".join(pieces)


def _starts_afresh(character: str) -> bool:
    return unicodedata.combining(character) == 0 and not "\u1160" <= character <= "\u11ff" and character not in "\uff9e\uff9f"
