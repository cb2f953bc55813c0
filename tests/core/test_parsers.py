from __future__ import annotations

import io
import json

import pytest

from apps.core.api.parsers import StrictJsonParser, parse_json
from apps.core.errors import ContentTooLarge, MalformedJson
from apps.core.limits import LIMITS


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"content": }',
        b"{'content': 'x'}",
        b'{"content": "x",}',
        b"[1, 2",
        b"{} {}",
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b'{"a": "\xff"}',
        b'{"a": "\xed\xa0\xbd"}',  # a surrogate as if it were UTF-8
        b'{"a": "line\nbreak"}',
        b'{"a": NaN}',
        b"[Infinity]",
        b"-Infinity",
        b"1e400",
        b'{"a": [-1e400]}',
        b"1" * 5000,
        b'{"a": 1, "a": 1}',
        b'{"a": 1, "\\u0061": 1}',
        b'[{"d": {"e": [{"f": 1, "f": 1}]}}]',
        rb'"\ud83d alone"',
        rb'"\ude00\ud83d swapped"',
        rb'{"\ud83d": 1}',
        b"01",
        b"+1",
        b".5",
    ],
)
def test_what_is_no_strict_json_is_refused(body):
    with pytest.raises(MalformedJson):
        parse_json(body)


@pytest.mark.parametrize(
    "value",
    [{}, [], None, "text", 5, True, 1e300, -0.5, {"a": [{"b": "x\u0000y"}]}, {"": ""}, "NaN", "🚀 naïve 发布", "\\ud83d"],
)
def test_every_other_json_is_read_as_it_is(value):
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False, indent=2).encode()) == value


def test_a_pair_of_surrogates_is_one_character():
    assert parse_json(rb'"\ud83d\ude80 \\ud83d"') == "🚀 \\ud83d"


def nested(depth: int, opening: str, closing: str) -> bytes:
    return (opening * depth + ("1" if opening != "[" else "") + closing * depth).encode()


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_thirty_two_levels_are_the_end(opening, closing):
    levels = opening.count("[") + opening.count("{")
    parse_json(nested(32 // levels, opening, closing))
    for depth in (32 // levels + 1, 500, 20_000):
        with pytest.raises(MalformedJson):
            parse_json(nested(depth, opening, closing))


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000])
def test_bottomless_nesting_is_refused(body):
    with pytest.raises(MalformedJson):
        parse_json(body)


def test_brackets_in_text_are_no_levels():
    assert parse_json(json.dumps({"a": "[" * 1000}).encode()) == {"a": "[" * 1000}


def test_many_shallow_containers_are_fine():
    assert len(parse_json(b"[" + b"[]," * 5000 + b"{}]")) == 5001


def test_a_stream_longer_than_the_limit_is_not_read_to_its_end():
    stream = io.BytesIO(b'"' + b"x" * (3 * LIMITS.body_bytes) + b'"')
    with pytest.raises(ContentTooLarge):
        StrictJsonParser().parse(stream)
    assert stream.tell() <= LIMITS.body_bytes + 1
