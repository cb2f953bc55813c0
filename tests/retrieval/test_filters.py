from __future__ import annotations

import pytest

from apps.retrieval.context import Recall
from apps.retrieval.filters import (
    checkpoint_passed,
    evidence_labels,
    hard_filter,
    historical_note,
    interval_hint,
    item_hints,
    section_of,
    unfit,
)
from apps.retrieval.vocabulary import Applicability, EvidenceLabel, Lane, Mode, Reason, Section, WarningCode
from tests.retrieval.rows import ELSEWHERE, asked, day, row

APPLICABLE = Applicability.APPLICABLE


@pytest.mark.requirement("RP-09", "RP-10", "RP-11", "RP-25", "TM-16")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, None),
        ({"namespace_id": ELSEWHERE}, Reason.OUT_OF_SCOPE_PROJECT),
        ({"state": "revoked"}, Reason.REVOKED),
        ({"permitted": False}, Reason.POLICY_RESTRICTED),
        ({"control_plane": True}, Reason.CONTROL_PLANE),
        ({"retrieval_policy": "never"}, Reason.POLICY_NEVER),
        ({"state": "pending_review"}, Reason.PENDING_REVIEW),
        ({"state": "withdrawn"}, Reason.WITHDRAWN),
        ({"state": "archived"}, Reason.ARCHIVED),
        ({"state": "superseded"}, Reason.SUPERSEDED),
        ({"state": "needs_review"}, None),
        ({"valid_to": day("2025-01-01")}, Reason.EXPIRED),
        ({"valid_from": day("2027-01-01")}, Reason.NOT_YET_VALID),
        ({"valid_to": day("2025-01-01"), "superseded_by": "mem_x"}, Reason.SUPERSEDED),
        ({"superseded_at": day("2025-01-01"), "superseded_by": "mem_x"}, Reason.SUPERSEDED),
        ({"superseded_at": day("2027-01-01"), "superseded_by": "mem_x"}, None),
        ({"valid_from": None}, None),
    ],
    ids=str,
)
def test_hard_filters(fields, reason):
    assert hard_filter(asked(), row(**fields)) == reason


@pytest.mark.requirement("RP-13", "RP-16")
@pytest.mark.parametrize("verdict", ["supported", "provisional", "contested", "refuted", "not_applicable", None])
def test_no_verdict_is_filtered_out(verdict):
    assert hard_filter(asked(), row(memory_type="finding", verdict=verdict)) is None


def test_types_narrow():
    assert hard_filter(asked(types=frozenset({"goal"})), row()) == Reason.TYPE_NOT_REQUESTED
    assert hard_filter(asked(types=frozenset({"fact"})), row()) is None


@pytest.mark.parametrize("state", ["revoked", "pending_review"])
def test_rights_are_told_before_anything_else(state):
    foreign = row(namespace_id=ELSEWHERE, state=state, retrieval_policy="never", valid_to=day("2025-01-01"))
    assert hard_filter(asked(), foreign) == Reason.OUT_OF_SCOPE_PROJECT


@pytest.mark.requirement("TM-02", "TM-14")
@pytest.mark.parametrize(
    ("as_of", "reason"),
    [
        ("2023-12-31T23:59:59.999999", Reason.NOT_YET_VALID),
        ("2024-01-01", None),
        ("2024-06-30T23:59:59.999999", None),
        ("2024-07-01", Reason.EXPIRED),
    ],
)
def test_validity_is_half_open(as_of, reason):
    assert hard_filter(asked(as_of=day(as_of)), row(valid_to=day("2024-07-01"))) == reason


@pytest.mark.requirement("TM-14")
@pytest.mark.parametrize("as_of", ["2023-12-31", "2024-01-01", "2024-01-02"])
def test_an_empty_interval_is_never_current_and_is_said(as_of):
    empty = row(valid_to=day("2024-01-01"))
    assert hard_filter(asked(as_of=day(as_of)), empty) in {Reason.EXPIRED, Reason.NOT_YET_VALID}
    hint = interval_hint(empty)
    assert hint is not None and hint.code == WarningCode.EMPTY_VALIDITY_INTERVAL
    assert interval_hint(row()) is None


@pytest.mark.requirement("RP-17", "RP-27")
def test_history_shows_what_held_and_says_what_became_of_it():
    java = row(valid_to=day("2024-05-01"), superseded_by="mem_kotlin", superseded_at=day("2024-05-01"), state="superseded")
    then = asked(mode=Mode.HISTORY, as_of=day("2024-03-15"))
    assert hard_filter(then, java) is None
    assert section_of(then, java, APPLICABLE) == Section.HISTORY
    assert historical_note(then, java) == "Held at 2024-03-15T00:00:00Z; replaced by mem_kotlin from 2024-05-01T00:00:00Z."
    assert EvidenceLabel.CONFLICTING_OR_SUPERSEDED in evidence_labels(then, java)
    assert [hint.code for hint in item_hints(then, java, APPLICABLE)] == [WarningCode.HISTORICAL_RESULT]
    assert hard_filter(asked(mode=Mode.HISTORY, as_of=day("2024-06-01")), java) == Reason.SUPERSEDED
    assert hard_filter(asked(mode=Mode.CURRENT, as_of=day("2024-06-01")), java) == Reason.SUPERSEDED


def test_history_says_that_a_record_still_holds_or_ended():
    then = asked(mode=Mode.HISTORY, as_of=day("2024-03-15"))
    assert historical_note(then, row()) == "Held at 2024-03-15T00:00:00Z; still current."
    assert section_of(then, row(), APPLICABLE) == Section.SUPPORTED
    assert (
        historical_note(then, row(valid_to=day("2024-07-01"))) == "Held at 2024-03-15T00:00:00Z; ended at 2024-07-01T00:00:00Z."
    )
    assert historical_note(then, row(state="archived")) == "Held at 2024-03-15T00:00:00Z; archived since."


@pytest.mark.requirement("TM-11")
def test_in_current_mode_what_comes_after_as_of_is_not_known():
    then = asked(as_of=day("2024-03-15"))
    ended = row(valid_to=day("2024-07-01"))
    assert hard_filter(then, ended) is None and historical_note(then, ended) is None
    assert section_of(then, ended, APPLICABLE) == Section.SUPPORTED and list(item_hints(then, ended, APPLICABLE)) == []


@pytest.mark.requirement("RP-16", "RP-21", "RP-22")
@pytest.mark.parametrize(
    ("fields", "applicability", "section"),
    [
        ({}, "applicable", "supported"),
        ({"verdict": "supported"}, "conditional", "supported"),
        ({"verdict": "provisional"}, "applicable", "contested"),
        ({"verdict": "contested"}, "applicable", "contested"),
        ({"verdict": "refuted"}, "applicable", "excluded_path"),
        ({"memory_type": "constraint", "verdict": "not_applicable"}, "applicable", "constraint"),
        ({"conflict_id": "cfl_1"}, "applicable", "conflict"),
        ({}, "unknown", "contested"),
        ({"state": "needs_review"}, "needs_revalidation", "contested"),
        ({"successor": ("mem_x", 2)}, "applicable", "history"),
    ],
    ids=str,
)
def test_sections(fields, applicability, section):
    assert section_of(asked(), row(**fields), Applicability(applicability)) == section


@pytest.mark.requirement("AP-04", "AP-07", "LN-12")
@pytest.mark.parametrize(
    ("applicability", "current", "other"),
    [
        ("applicable", None, None),
        ("conditional", None, None),
        ("unknown", "applicability_unknown", None),
        ("needs_revalidation", "needs_revalidation", None),
        ("incompatible", "environment_incompatible", "environment_incompatible"),
    ],
)
def test_what_each_mode_may_give_out(applicability, current, other):
    assert unfit(asked(), Applicability(applicability)) == current
    for mode in (Mode.HISTORY, Mode.REVALIDATION):
        assert unfit(asked(mode=mode), Applicability(applicability)) == other


@pytest.mark.requirement("TM-03", "TM-04", "TM-08", "TM-09", "TM-10", "RK-43")
@pytest.mark.parametrize(
    ("as_of", "confirmed", "passed"),
    [
        ("2024-02-29", None, False),
        ("2024-03-01", None, False),
        ("2024-04-01", None, True),
        ("2024-04-01", "2024-02-15", True),
        ("2024-04-01", "2024-03-20", False),
        ("2024-04-01", "2024-05-20", True),
    ],
)
def test_a_checkpoint_is_a_date_to_look_again(as_of, confirmed, passed):
    waiting = row(expected_resolution_at=day("2024-03-01"), last_confirmed_at=day(confirmed) if confirmed else None)
    assert checkpoint_passed(waiting, day(as_of)) is passed
    assert hard_filter(asked(as_of=day(as_of)), waiting) is None
    hints = [hint.code for hint in item_hints(asked(as_of=day(as_of)), waiting, APPLICABLE)]
    assert hints == ([WarningCode.CHECKPOINT_PASSED] if passed else [])
    assert (EvidenceLabel.CHECKPOINT_PASSED in evidence_labels(asked(as_of=day(as_of)), waiting)) is passed


@pytest.mark.requirement("RK-40", "RK-41", "RK-42", "RK-44")
@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({}, ["provenance_supported"]),
        ({"source_refs": ()}, ["lexical_only"]),
        ({"source_refs": (), "authority": "git"}, ["provenance_supported"]),
        ({"source_refs": (), "topics": frozenset({"field_test"})}, ["structured_context"]),
        ({"source_refs": (), "recall": Recall(lanes={Lane.EXACT: 1})}, ["structured_context"]),
        ({"conflict_id": "cfl_1"}, ["conflicting_or_superseded", "provenance_supported"]),
    ],
    ids=str,
)
def test_evidence_labels(fields, labels):
    assert sorted(evidence_labels(asked(topics=("field_test",)), row(**fields))) == labels


@pytest.mark.requirement("RK-33", "PK-11")
def test_a_phrase_changes_no_label():
    plain = row(fidelity="summary", recall=Recall(lanes={Lane.LEXICAL: 3}))
    phrase = row(fidelity="summary", recall=Recall(lanes={Lane.LEXICAL: 3, Lane.PHRASE: 1}, spans=("glacier custard",)))
    assert evidence_labels(asked(), plain) == evidence_labels(asked(), phrase)


def test_unavailable_evidence_is_not_a_wrong_proposition():
    gone = row(evidence_available=False)
    codes = [hint.code for hint in item_hints(asked(mode=Mode.REVALIDATION), gone, Applicability.NEEDS_REVALIDATION)]
    assert codes == [WarningCode.EVIDENCE_UNAVAILABLE, WarningCode.NEEDS_REVALIDATION]


def test_a_naive_time_is_no_context():
    with pytest.raises(ValueError, match="as_of"):
        asked(as_of=day("2024-01-01").replace(tzinfo=None))
