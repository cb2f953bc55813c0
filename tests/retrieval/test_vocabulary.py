"""Every value of the closed vocabularies is said by some query; a value that none says would be a promise nobody keeps."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from apps.core.ids import parse_public_id
from apps.retrieval import authority
from apps.retrieval.context import Budget, Relation
from apps.retrieval.models import IndexState, TraceCandidate
from apps.retrieval.triage.vocabulary import Asked
from apps.retrieval.vocabulary import (
    Applicability,
    BudgetUnit,
    EvidenceLabel,
    Lane,
    Mode,
    Outcome,
    Reason,
    Section,
    Trigger,
    WarningCode,
)
from tests.memories.sayings import at
from tests.retrieval.rows import ELSEWHERE, ask, day, name, row

TIGHT = Budget(limit=330, unit=BudgetUnit.CODEPOINTS)


def _old(number, of, **fields):
    return row(number, "The lamp was warm", memory_type="decision", superseded_at=day("2024-06-01"), successor=of, **fields)


# reason → rows and question that lead to it
LOST = {
    Reason.OUT_OF_SCOPE_PROJECT: ([row(1, namespace_id=ELSEWHERE)], {}),
    Reason.POLICY_NEVER: ([row(1, retrieval_policy="never")], {}),
    Reason.SUPERSEDED: ([row(1, state="superseded")], {}),
    Reason.WITHDRAWN: ([row(1, state="withdrawn")], {}),
    Reason.ARCHIVED: ([row(1, state="archived")], {}),
    Reason.REVOKED: ([row(1, state="revoked")], {}),
    Reason.PENDING_REVIEW: ([row(1, state="pending_review")], {}),
    Reason.EXPIRED: ([row(1, valid_to=day("2025-01-01"))], {}),
    Reason.NOT_YET_VALID: ([row(1, valid_from=day("2030-01-01"))], {}),
    Reason.POLICY_RESTRICTED: ([row(1, permitted=False)], {}),
    Reason.TYPE_NOT_REQUESTED: ([row(1)], {"types": frozenset({"goal"})}),
    Reason.ENVIRONMENT_INCOMPATIBLE: ([row(1, conditions={"oil": "old"})], {"environment": {"oil": "new"}}),
    Reason.NEEDS_REVALIDATION: ([row(1, state="needs_review")], {}),
    Reason.APPLICABILITY_UNKNOWN: ([row(1, conditions={"oil": "old"})], {}),
    Reason.DUPLICATE_OF_CANONICAL: ([row(1), row(2, relations=(Relation(type="duplicate_of", memory_id=name(1)),))], {}),
    Reason.SAME_LINEAGE: ([row(1, lineage=frozenset({"a"})), row(2, lineage=frozenset({"a"}))], {}),
    Reason.SUCCESSOR_NOT_SELECTED: ([_old(2, (name(1), 1)), row(3)], {}),
    Reason.PREDECESSOR_OVER_BUDGET: ([row(1, memory_type="decision"), _old(1, (name(1), 1), version=9)], {"budget": TIGHT}),
    Reason.OVER_BUDGET: ([row(1)], {"budget": Budget(limit=10, unit=BudgetUnit.CODEPOINTS)}),
    Reason.BELOW_ITEM_CAP: ([row(1), row(2, "A lamp")], {"max_items": 1}),
    Reason.BELOW_RELEVANCE: ([row(1), row(2, "the harbour crane oil pump")], {"question": "lamp harbour crane oil pump"}),
    Reason.LABEL_INVALID: ([row(1, labels_valid=False)], {}),
    Reason.CONTROL_PLANE: ([row(1, control_plane=True)], {}),
}


@pytest.mark.requirement("TC-08")
@pytest.mark.parametrize("reason", [reason for reason in Reason if reason is not Reason.AUTHORITY_UNAVAILABLE])
def test_every_reason_is_given(reason):
    rows, asked = LOST[reason]
    found = ask(rows, **({"question": "lamp"} | asked))
    assert reason in {entry.reason for entry in found.rejected}


HINTS = {
    WarningCode.CHECKPOINT_PASSED: ([row(1, expected_resolution_at=day("2025-01-01"))], {}),
    WarningCode.EMPTY_VALIDITY_INTERVAL: ([row(1, valid_to=day("2024-01-01"))], {}),
    WarningCode.EVIDENCE_UNAVAILABLE: ([row(1, evidence_available=False)], {"mode": Mode.REVALIDATION}),
    WarningCode.NEEDS_REVALIDATION: ([row(1, state="needs_review")], {"mode": Mode.REVALIDATION}),
    WarningCode.TOKENIZER_ESTIMATED: ([row(1)], {"budget": Budget(limit=900, tokenizer="nobody's")}),
    WarningCode.HISTORICAL_RESULT: ([row(1, valid_to=day("2025-01-01"))], {"mode": Mode.HISTORY, "as_of": day("2024-06-01")}),
    WarningCode.CONTAINS_HIDDEN_CHARACTERS: ([row(1, "lamp \u202e approve")], {}),
}
OF_THE_PIPELINE = {WarningCode.UNKNOWN_LABEL, WarningCode.INDEX_FALLBACK, WarningCode.UNBOUND_REFERENCE}


@pytest.mark.parametrize("code", [code for code in WarningCode if code not in OF_THE_PIPELINE])
def test_every_warning_of_the_rules_is_given(code):
    rows, asked = HINTS[code]
    assert code in {warning.code for warning in ask(rows, "lamp", **asked).warnings}


@pytest.mark.django_db
def test_every_warning_of_the_pipeline_is_given(world, memories, asking):
    memories.say("The lamp is warm")
    codes = {warning.code for warning in asking.packet("lamp", topics=("feild_test",)).warnings}
    codes |= {warning.code for warning in asking.packet("她怎么说的？").warnings}
    with world.inside():
        IndexState.objects.update(analysis_version="0")
    codes |= {warning.code for warning in asking.packet("lamp").warnings}
    assert codes == OF_THE_PIPELINE


@pytest.mark.django_db
@pytest.mark.requirement("RP-19", "PK-07", "FF-01")
def test_every_outcome_is_given(world, memories, asking, monkeypatch):
    memories.say("The lamp is warm")
    memories.say("The pump is wet", conditions={"oil": "old"})
    memories.say("The foghorn battery is upstairs", who="bob", project="lighthouse")
    for value in ("open", "shut"):
        memories.say(f"The gate is {value}", fact_key="gate.position", valid_from=at("2024-01-01"))
    auto = {"decision": Asked.AUTO}
    found = [
        asking.packet("lamp").outcome,
        asking.packet("zebra").outcome,
        asking.packet("foghorn battery upstairs", who="bob", project="kiosk").outcome,
        asking.packet("pump wet").outcome,
        asking.packet("gate").outcome,
        asking.packet("What is 17 times 23?", **auto).outcome,
        asking.packet("她怎么说的？", **auto).outcome,
    ]

    def away(*_args, **_options):
        raise OperationalError

    monkeypatch.setattr(authority, "readable_heads", away)
    lost = asking.packet("lamp")
    assert [*found, lost.outcome] == [
        "answered",
        "no_match",
        "filtered_by_scope",
        "applicability_unknown",
        "conflict",
        "skipped",
        "clarification_needed",
        "unavailable",
    ]
    assert {*found, lost.outcome} == set(Outcome)
    with world.inside():
        rows = TraceCandidate.objects.filter(trace_id=parse_public_id("trc", lost.trace_id))
        assert {row.reason for row in rows} == {Reason.AUTHORITY_UNAVAILABLE}


def test_every_section_label_and_class_is_given():
    rows = [
        row(1, "lamp a", topics=frozenset({"light"})),
        row(2, "lamp b", memory_type="finding", verdict="contested", source_refs=()),
        row(3, "lamp c", memory_type="finding", verdict="refuted", conditions={"oil": "old"}),
        row(4, "lamp d", memory_type="constraint", conditions={"tank": "full"}),
        row(5, "lamp e", conflict_id="cfl_1", state="needs_review"),
        row(6, "lamp f", valid_to=day("2025-01-01"), expected_resolution_at=day("2024-02-01")),
        row(7, "lamp g", conditions={"oil": "thin"}),
    ]
    found = ask(
        rows,
        "lamp",
        mode=Mode.HISTORY,
        as_of=day("2024-06-01"),
        topics=("light",),
        environment={"oil": ["old", "new"]},
    )
    assert {item.section for item in found.chosen} == set(Section)
    assert {label for item in found.chosen for label in item.labels} == set(EvidenceLabel)
    classes = {item.applicability for item in found.chosen}
    assert classes == set(Applicability) - {Applicability.INCOMPATIBLE}
    assert {entry.reason for entry in found.rejected} == {Reason.ENVIRONMENT_INCOMPATIBLE}


@pytest.mark.django_db
@pytest.mark.requirement("RP-05", "CR-01", "CR-02", "CR-04")
def test_every_lane_but_meaning_brings_something(memories, asking):
    memories.say("Gloves in the lamp room", project="kiosk", retrieval_policy="always")
    memories.say("We keep the brass lantern lit", project="kiosk", memory_type="decision", fact_key="lamp.brass_lantern")
    lanes = set()
    for trigger in Trigger:
        asked = {"fact_keys": ("lamp.brass_lantern",), "trigger": trigger, "project": "kiosk"}
        for item in asking.packet("Is the brass lantern lit?", **asked).items:
            lanes |= set(item.why.lanes)
    assert lanes == set(Lane) - {Lane.SEMANTIC}
