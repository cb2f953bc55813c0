from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.text import escape_hidden, fold_key, has_control, hidden_characters, key_fault

EVERY = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]


def test_folding_settles_for_every_character():
    unsettled = [c for c in EVERY if fold_key(fold_key(c)) != fold_key(c)]
    assert unsettled == []


@given(st.text(max_size=30))
def test_folding_a_folded_key_changes_nothing(text):
    assert fold_key(fold_key(text)) == fold_key(text)


@pytest.mark.parametrize(
    ("spelled", "same"),
    [
        ("LAMP.Light", "lamp.light"),
        (" lamp\u00a0", "lamp"),
        ("ﬁeld", "field"),
        ("STRASSE", "straße"),
        ("Ａ１", "a1"),
        ("é", "e\u0301"),
    ],
)
def test_spellings_of_one_key(spelled, same):
    assert fold_key(spelled) == fold_key(same)


@pytest.mark.parametrize("different", ["lamp_light", "lamp light", "lámp.light", "lamp.lights"])
def test_other_keys_stay_other_keys(different):
    assert fold_key(different) != fold_key("lamp.light")


@pytest.mark.parametrize(
    "key",
    [
        "lamp\u200blight",
        "lamp\u202elight",
        "lamp\u0007light",
        "lamp\u2066x",
        "lamp\u00adlight",
        "\ufefflamp",
        "lamp\U000e0041",
        "a\u0000b",
        "a\tb",
        "a\nb",
        "a\u0085b",
        "a\u2028b",
        "a\u3164b",
        "a\u115fb",
        "❤\ufe0f",
        "a\u200db",
        "a\u034fb",
    ],
)
def test_what_cannot_be_seen_is_in_no_key(key):
    assert key_fault(key) == "invalid_key"


def test_no_key_holds_any_control_or_format_character():
    assert [c for c in EVERY if unicodedata.category(c) in ("Cc", "Cf") and key_fault(f"a{c}b") != "invalid_key"] == []


@pytest.mark.parametrize("key", ["", " ", "\u3000"])
def test_a_blank_key_is_none(key):
    assert key_fault(key) == "blank"


@pytest.mark.parametrize("key", ["editor.theme", "现场测试", "الاجتماع", "天文台队长", "naïve key", "a/b", "🚀"])
def test_ordinary_keys_are_fine(key):
    assert key_fault(key) is None


def test_the_table_of_hidden_characters_is_that_of_unicode():
    """Cf and Cc except TAB, LF and CR; the joiners have no neighbours here that would excuse them."""
    wanted = {c for c in EVERY if unicodedata.category(c) in ("Cc", "Cf")} - set("\t\n\r")
    found = {c for c in EVERY if hidden_characters(f"1{c}1")}
    assert found >= wanted
    assert not {c for c in found - wanted if unicodedata.category(c) != "Cn"}  # of a later Unicode than this Python's at most


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Access granted \u202edenied م", [(15, 0x202E)]),
        ("approve\U000e0041\U000e0042 all", [(7, 0xE0041), (8, 0xE0042)]),
        ("pay\u2066load", [(3, 0x2066)]),
        ("zero\u200bwidth", [(4, 0x200B)]),
        ("bell\u0007", [(4, 7)]),
        ("x\u200dy", [(1, 0x200D)]),
        ("🚀\u200d", [(1, 0x200D)]),
        ("\u200d🚀", [(0, 0x200D)]),
        ("1\u200c2", [(1, 0x200C)]),
        ("\u200c", [(0, 0x200C)]),
    ],
)
def test_hidden_characters_are_found_where_they_are(text, hidden):
    assert hidden_characters(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "الاجتماع يوم الأحد",
        "הפגישה ביום ראשון",
        "日曜日に会議",
        "회의는 일요일",
        "🚀 launch 🇩🇪",
        "👩‍🚀 launch",
        "👨‍👩‍👧‍👦",
        "👩🏽‍🚀",
        "🏳️‍🌈",
        "❤️‍🔥",
        "می‌خواهم",
        "क्‌ष",
        "行一\r\n行二\t末",
        "cafe\u0301 und café",
        "العربية\u00a0نص",
    ],
)
def test_ordinary_text_hides_nothing_and_is_shown_unchanged(text):
    assert hidden_characters(text) == []
    assert escape_hidden(text) == text


def test_escaped_text_shows_what_was_hidden():
    assert escape_hidden("a\u202eb\U000e0041c 👩‍🚀") == "a\\u202eb\\U000e0041c 👩‍🚀"


@given(st.text())
def test_escaped_text_hides_nothing(text):
    assert hidden_characters(escape_hidden(text)) == []


def test_controls():
    assert has_control("a\nb")
    assert has_control("\x7f")
    assert has_control("\x00")
    assert not has_control("a b\u200b")
