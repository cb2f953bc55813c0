from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from apps.core import clock
from apps.core.errors import ValidationFailed
from tests.core.api_views import Batch, Filters, Note

GOOD = {"note_id": "n-1", "kind": "a", "content": "hello"}


def faults(value, body=Note) -> dict[str, str]:
    """Pointer → code of everything wrong with a value."""
    with pytest.raises(ValidationFailed) as caught:
        body.of(value)
    return {error.pointer: error.code for error in caught.value.errors}


def wrong(**fields) -> dict[str, str]:
    return faults({**GOOD, **fields})


def right(**fields) -> Note:
    return Note.of({**GOOD, **fields})


def test_a_good_body_is_a_frozen_object():
    note = Note.of(GOOD)
    assert (note.note_id, note.kind, note.topics, note.metadata, note.rank) == ("n-1", "a", (), {}, 5)
    assert note.given == {"note_id", "kind", "content"}
    with pytest.raises(AttributeError):
        note.kind = "b"


def test_null_means_the_default_and_defaults_are_not_shared():
    one, other = right(metadata=None, topics=None, rank=None, loud=None), right()
    assert one == other
    assert "rank" not in one.given
    assert one.metadata is not other.metadata


@pytest.mark.parametrize("value", [[], None, "text", 5, True, [{}]])
def test_a_body_that_is_no_object(value):
    assert faults(value) == {"": "invalid_type"}


def test_every_wrong_field_is_named_at_once():
    assert faults({"kind": "x", "rank": "5", "reference": {"uri": 1, "extra": 1}, "topics": ["ok", 5], "nonsense": 1}) == {
        "/note_id": "required",
        "/kind": "invalid_choice",
        "/rank": "invalid_type",
        "/reference/uri": "invalid_type",
        "/reference/byte_size": "required",
        "/reference/extra": "unknown_field",
        "/topics/1": "invalid_type",
        "/nonsense": "unknown_field",
    }


def test_unknown_fields_are_pointed_at_with_escapes():
    assert wrong(**{"a/b~c": 1}) == {"/a~1b~0c": "unknown_field"}
    assert wrong(Content="x") == {"/Content": "unknown_field"}
    assert wrong(references=[{"uri": "x", "byte_size": 1, "why": 1}]) == {"/references/0/why": "unknown_field"}


def test_a_very_long_unknown_name_is_not_repeated():
    assert wrong(**{"x" * 5000: 1}) == {"": "unknown_field"}


def test_an_answer_names_at_most_a_hundred_errors():
    with pytest.raises(ValidationFailed) as caught:
        Note.of({f"f{n}": 1 for n in range(5000)})
    assert len(caught.value.errors) == 100


def test_immutable_fields_have_a_code_of_their_own():
    assert wrong(scope="user") == {"/scope": "immutable_field"}


def test_rules_between_fields_are_asked_last():
    assert faults({"note_id": "n", "kind": "a"}) == {"/content": "required"}
    assert faults({"note_id": "n", "kind": "c"}) == {"/kind": "invalid_choice"}


@pytest.mark.parametrize("value", ["x", "", None, 3, ["a"], {"a": 1}, True])
def test_a_choice_is_one_of_its_words(value):
    code = "required" if value is None else "invalid_choice" if isinstance(value, str) else "invalid_type"
    assert wrong(kind=value) == {"/kind": code}


@pytest.mark.parametrize("value", ["5", 5.5, 5.0, True, [5], {"a": 5}, ""])
def test_an_integer_is_a_json_integer(value):
    assert wrong(rank=value) == {"/rank": "invalid_type"}


@pytest.mark.parametrize("value", [-1, 11, 10**30, -(2**70)])
def test_an_integer_out_of_its_bounds(value):
    assert wrong(rank=value) == {"/rank": "out_of_range"}


@pytest.mark.parametrize("value", [2**63, 0, -1])
def test_a_version_is_positive_and_fits_the_database(value):
    assert wrong(expected_version=value) == {"/expected_version": "out_of_range"}


@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_a_boolean_is_true_or_false(value):
    assert wrong(loud=value) == {"/loud": "invalid_type"}


@pytest.mark.parametrize(
    ("value", "code"),
    [(5, "invalid_type"), ("a\0b", "invalid_text"), ("x" * 41, "max_length"), ("记" * 14, "max_length"), (["x"], "invalid_type")],
)
def test_text_is_limited_in_bytes_and_holds_no_nul(value, code):
    assert wrong(content=value) == {"/content": code}


@pytest.mark.parametrize("value", ["x" * 40, "记" * 13, "  outer spaces  ", "", "\u202e", "a\tb\r\n"])
def test_text_is_kept_as_it_was_sent(value):
    assert right(content=value).content == value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("e" * 129, "max_length"),
        ("", "blank"),
        ("  ", "blank"),
        ("a\nb", "invalid_text"),
        ("a\0", "invalid_text"),
        (5, "invalid_type"),
    ],
)
def test_identifiers(value, code):
    assert wrong(note_id=value) == {"/note_id": code}
    assert right(note_id="Evt-1 é").note_id == "Evt-1 é"
    assert right(note_id="e" * 128).note_id == "e" * 128


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("lamp\u200b", "invalid_key"),
        ("a\0b", "invalid_key"),
        (" ", "blank"),
        ("x" * 201, "max_length"),
        ("\ufdfa" * 20, "max_length"),
    ],
)
def test_keys(value, code):
    assert wrong(topics=[value]) == {"/topics/0": code}
    assert right(topics=[" Field_TEST "]).topics == ("field_test",)


def test_lists_are_limited_and_null_is_no_item():
    assert wrong(topics=["a", "b", "c", "d"]) == {"/topics": "max_length"}
    assert wrong(topics="abc") == {"/topics": "invalid_type"}
    assert wrong(topics=["a", None]) == {"/topics/1": "invalid_type"}
    assert wrong(references=[None]) == {"/references/0": "invalid_type"}


@pytest.mark.parametrize(
    ("value", "pointer", "code"),
    [
        ([], "/metadata", "invalid_type"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "/metadata", "max_length"),
        ({"note": "x" * 60}, "/metadata", "max_length"),
        ({"a": {"b": ["ok", "x\0"]}}, "/metadata/a/b/1", "invalid_text"),
        ({"a": {"b\0": 1}}, "/metadata/a", "invalid_text"),
        ({"a": [2**63]}, "/metadata/a/0", "out_of_range"),
        ({"a": 1e20}, "/metadata/a", "out_of_range"),
        ({"a": [-1e308]}, "/metadata/a/0", "out_of_range"),
    ],
)
def test_free_objects(value, pointer, code):
    assert wrong(metadata=value) == {pointer: code}


def test_free_objects_are_kept():
    value = {"a": [1, 2.5, None, True, "NaN"], "b": {"c": {}}}
    assert right(metadata=value).metadata == value


# -- times


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("2019-03-31T02:30:00+01:00", "2019-03-31T01:30:00+00:00"),
        ("2018-12-31T23:30:00-08:00", "2019-01-01T07:30:00+00:00"),
        ("2024-02-29T23:59:59.999999Z", "2024-02-29T23:59:59.999999+00:00"),
        ("2024-02-29T23:59:59.999999999Z", "2024-02-29T23:59:59.999999+00:00"),
        ("2024-02-29t23:59:59.5z", "2024-02-29T23:59:59.500000+00:00"),
        ("2024-02-29 10:00:00-00:00", "2024-02-29T10:00:00+00:00"),
        ("2024-02-29", "2024-02-29T00:00:00+00:00"),
        ("0001-01-01", "0001-01-01T00:00:00+00:00"),
    ],
)
@pytest.mark.requirement("TM-12")
def test_times_become_instants_in_utc(sent, kept):
    found = right(at=sent).at
    assert found == datetime.fromisoformat(kept)
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    "sent",
    [
        "2019-02-30T00:00:00Z",
        "2019-13-01",
        "now",
        "",
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+12:00",
        "0000-01-01",
        "31.03.2019",
        "2016-12-31T23:59:60Z",
        "2024-01-01T24:00:00Z",
        "20240101T000000Z",
        "2024-W01-1",
        "2024-01-01T10:00Z",
        "2024-01-01T10:00:00+25:00",
        "2024-01-01T10:00:00+0100",
        "2024-01-01T10:00:00,5Z",
        "2024-01-01T10:00:00Z\n",
        " 2024-01-01",
        "２０２４-01-01",
        "2024-01-01T10:00:00.Z",
        "2024-01-01T",
    ],
)
@pytest.mark.requirement("TM-12")
def test_times_that_are_none(sent):
    assert wrong(at=sent) == {"/at": "invalid_time"}


@pytest.mark.parametrize("sent", [1567225600, True, {"date": 1}, ["2024-01-01"]])
def test_times_are_strings(sent):
    assert wrong(at=sent) == {"/at": "invalid_type"}


@pytest.mark.parametrize("sent", ["2019-03-31T02:30:00", "2024-01-01 10:00:00.5"])
def test_times_need_an_offset(sent):
    assert wrong(at=sent) == {"/at": "timezone_required"}


def test_a_bare_day_can_stand_for_its_end():
    assert right(until="2024-02-29").until == datetime(2024, 3, 1, tzinfo=UTC)
    assert right(until="2024-02-29T12:00:00Z").until == datetime(2024, 2, 29, 12, tzinfo=UTC)
    assert wrong(until="9999-12-31") == {"/until": "invalid_time"}


def test_what_has_not_happened_yet_is_refused():
    stopped = datetime(2026, 1, 1, tzinfo=UTC)
    with clock.set_clock(lambda: stopped):
        assert right(at="2026-01-01T00:05:00Z").at == stopped + timedelta(minutes=5)
        assert wrong(at="2026-01-01T00:05:01Z") == {"/at": "occurred_in_future"}


# -- batches and answers


def test_items_of_a_batch_are_checked_one_by_one():
    batch = Batch.of({"notes": [GOOD, 5, {**GOOD, "kind": "x"}]})
    assert Note.of(batch.notes[0]).note_id == "n-1"
    assert faults(batch.notes[1]) == {"": "invalid_type"}
    assert faults(batch.notes[2]) == {"/kind": "invalid_choice"}
    assert faults({"notes": [1, 2, 3, 4]}, Batch) == {"/notes": "max_length"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"at": "2019-03-31T02:30:00"}, "timezone_required"),
        ({"nonsense": 1}, "unknown_field"),
        ({"kind": "x"}, "validation_failed"),
        ({"nonsense": 1, "rank": "5"}, "validation_failed"),
    ],
)
def test_an_answer_has_the_code_that_the_contract_names(fields, code):
    with pytest.raises(ValidationFailed) as caught:
        Note.of({**GOOD, **fields})
    assert caught.value.code == code


def test_details_never_repeat_what_was_sent():
    with pytest.raises(ValidationFailed) as caught:
        Note.of({"note_id": "e" * 129, "kind": "hunter", "content": "hunter" * 20, "at": "hunter", "topics": ["hunter\u200b"]})
    assert not any("hunter" in error.detail + error.pointer for error in caught.value.errors)
    assert "hunter" not in str(caught.value) + repr(caught.value)


def test_filters_of_a_list_are_everything_but_the_place_in_it():
    assert Filters.of({"kind": "a", "limit": 5}).filters() == {"kind": "a", "rank": None, "loud": None, "since": None}
