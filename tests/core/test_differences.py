"""What changed between two texts: words where they are written apart, whole words where they are not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.differences import Change, compare, words


def shown(before: str, after: str) -> str:
    marks = {Change.SAME: "{}", Change.REMOVED: "[-{}-]", Change.ADDED: "[+{}+]"}
    return "".join(marks[piece.change].format(piece.text) for piece in compare(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("The till is open.", "The till is open.", "The till is open."),
        (
            "The office uses the blue printer on Mondays.",
            "The office uses a red printer on Tuesdays and Fridays.",
            "The office uses [-the blue-][+a red+] printer on [-Mondays-][+Tuesdays and Fridays+].",
        ),
        ("Port 5432", "Port 5433", "Port [-5432-][+5433+]"),
        ("x", "", "[-x-]"),
        ("", "x", "[+x+]"),
    ],
)
def test_words_that_are_written_apart_are_compared_whole(before, after, expected):
    assert shown(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("默认语言是简体中文，格式不变。", "默认语言是英文，格式不变。", "默认语言是[-简体中文-][+英文+]，格式不变。"),
        ("日期格式为年月日。", "日期格式为日月年。", "日期格式为[-年月日-][+日月年+]。"),
        ("每周二下午三点开会", "每周三下午三点开会", "每周[-二-][+三+]下午三点开会"),
        ("部署使用 PostgreSQL 数据库", "部署采用 SQLite 数据库", "部署[-使用-][+采用+] [-PostgreSQL-][+SQLite+] 数据库"),
        ("我不再用 Java 了，改用 Kotlin。", "我改用 Kotlin。", "我[-不再用 Java 了，-]改用 Kotlin。"),
        ("我们喝红茶。", "我们喝绿茶。", "我们喝[-红茶-][+绿茶+]。"),
        ("いつもコーヒーを飲む", "いつも紅茶を飲む", "いつも[-コーヒー-][+紅茶+]を飲む"),
        ("สวัสดีครับ", "สวัสดีค่ะ", "สวัสดี[-ครับ-][+ค่ะ+]"),
    ],
)
def test_a_change_in_an_unspaced_script_leaves_no_rest_of_a_word(before, after, expected):
    assert shown(before, after) == expected


@given(st.text(alphabet="ab 茶红绿月，。\n", max_size=40), st.text(alphabet="ab 茶红绿月，。\n", max_size=40))
def test_the_pieces_are_both_texts(before, after):
    pieces = compare(before, after)
    assert "".join(piece.text for piece in pieces if piece.change is not Change.ADDED) == before
    assert "".join(piece.text for piece in pieces if piece.change is not Change.REMOVED) == after
    assert all(piece.text for piece in pieces)
    if before == after:
        assert {piece.change for piece in pieces} <= {Change.SAME}


def test_marks_and_joiners_stay_with_their_character():
    assert words("ครับ né") == ["ค", "รั", "บ", " ", "né"]
    assert words("e\u0301a") == ["e\u0301a"]
    assert words("हिन्दी में") == ["हिन्दी", " ", "में"]
    assert words("می\u200cخواهم") == ["می\u200cخواهم"]


@pytest.mark.parametrize("unit", ["的一", "a b ", "a. b. "])
def test_long_and_hostile_texts_are_compared_in_bounded_time(unit):
    before, after = "x" + unit * 16_000, unit * 15_999 + "y"
    begun = time.monotonic()
    pieces = compare(before, after)
    assert time.monotonic() - begun < 5
    assert "".join(piece.text for piece in pieces if piece.change is not Change.ADDED) == before
