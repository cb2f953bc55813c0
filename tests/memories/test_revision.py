"""Revise, confirm, withdraw: a new version each time, never a lost one."""

from __future__ import annotations

import pytest

from apps.core.errors import Conflict, NotFound, NotPermitted, Revoked, ValidationFailed, VersionConflict
from apps.evidence.models import Content
from apps.memories.models import ConflictSet
from apps.memories.reads import list_versions, read_memory
from apps.memories.revision import Change, confirm_memory, revise_memory, withdraw_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from tests.memories.sayings import at


def revise(world, made, version=1, *, who="alice", reason="correction", **change):
    return revise_memory(world.access(who), made.memory_id, expected_version=version, change=Change(**change), reason=reason)


@pytest.mark.requirement("VH-16", "VH-17")
def test_a_revision_appends_a_version_and_keeps_the_old_one(memories, world):
    made = memories.say("The lamp is warm", topics=("field_test",), rationale="felt")
    done = revise(world, made, content="The lamp is cold", topics=("deploys",))
    assert (done.status, done.version) == ("committed", 2)
    old, new = memories.versions(made)
    assert (old.valid_from, old.valid_to) == (at("2024-01-01"), at("2024-01-01"))
    assert (new.valid_from, new.valid_to, new.decision) == (at("2024-01-01"), None, "REVISE")
    shown = read_memory(world.access(), made.memory_id)
    assert (shown.content, shown.rationale, shown.topics, shown.version) == ("The lamp is cold", "felt", ["deploys"], 2)
    assert read_memory(world.access(), made.memory_id, version=1).content == "The lamp is warm"


def test_a_reason_is_private_text(memories, world):
    made = memories.say()
    revise(world, made, content="The lamp is cold", reason="Aunt Ottilie said so")
    with world.inside():
        assert Content.objects.filter(text="Aunt Ottilie said so").count() == 1
    assert memories.versions(made)[1].reason_id is not None


@pytest.mark.requirement("MG-03")
@pytest.mark.parametrize(
    "change", [{"content": "The lamp is warm"}, {"topics": ()}, {"valid_from": at("2024-01-01")}, {}], ids=str
)
def test_nothing_changed_is_no_op(memories, world, change):
    made = memories.say("The lamp is warm")
    done = revise(world, made, **change)
    assert (done.status, done.version) == ("no_op", 1)
    assert len(memories.versions(made)) == 1


def test_a_new_value_from_a_later_time_ends_the_old_one(memories, world):
    made = memories.say("Main language: Java")
    revise(world, made, content="Main language: Kotlin", valid_from=at("2024-05-01"))
    assert read_memory(world.access(), made.memory_id, as_of=at("2024-03-01")).content == "Main language: Java"
    assert read_memory(world.access(), made.memory_id, as_of=at("2024-06-01")).content == "Main language: Kotlin"


def test_a_corrected_start_moves_the_end_of_the_version_before(memories, world):
    made = memories.say("Desk 1", fact_key="desk")
    memories.say("Desk 2", fact_key="desk", valid_from=at("2024-03-01"))
    revise(world, made, 2, valid_from=at("2024-04-01"))
    assert read_memory(world.access(), made.memory_id, as_of=at("2024-03-15")).content == "Desk 1"
    with pytest.raises(ValidationFailed):
        revise(world, made, 3, valid_from=at("2023-12-01"))


@pytest.mark.requirement("CA-22", "CA-06", "LB-03", "TM-13", "TM-14", "ID-31")
@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"content": "The lamp password is hunter-Zq7uR4Lmw9"}, "/content", "forbidden_material"),
        ({"rationale": "the password is hunter-Zq7uR4Lmw9"}, "/rationale", "forbidden_material"),
        ({"reason": "the password is hunter-Zq7uR4Lmw9"}, "/reason", "forbidden_material"),
        ({"content": "Access \u202edenied"}, "/content", "hidden_characters"),
        ({"topics": ("feild_test",)}, "/topics/0", "unknown_label"),
        ({"valid_to": at("2001-01-01")}, "/valid_to", "out_of_order"),
        ({"last_confirmed_at": at("2001-01-01")}, "/last_confirmed_at", "before_observation"),
        ({"source_event_ids": ("evt-never",)}, "/source_event_ids", "no_source"),
    ],
)
def test_a_revision_is_checked_like_a_new_record(memories, world, change, pointer, code):
    made = memories.say(observed_at=at("2024-01-01"))
    with pytest.raises(ValidationFailed) as refused:
        revise(world, made, **change)
    assert [(one.pointer, one.code) for one in refused.value.errors] == [(pointer, code)]
    assert len(memories.versions(made)) == 1


@pytest.mark.requirement("VH-10", "VH-11")
def test_a_revision_of_a_past_version_is_a_conflict(memories, world):
    made = memories.say()
    revise(world, made, content="The lamp is cold")
    with pytest.raises(VersionConflict) as refused:
        revise(world, made, content="The lamp is gone")
    assert refused.value.current_version == 2


@pytest.mark.requirement("ID-09")
def test_who_cannot_see_it_is_told_nothing(memories, world):
    made = memories.say()
    for act in (
        lambda: revise(world, made, 99, who="bob", content="x"),
        lambda: confirm_memory(world.access("bob"), made.memory_id, observed_at=at("2024-02-01"), expected_version=99),
        lambda: withdraw_memory(world.access("bob"), made.memory_id, expected_version=99, reason="x"),
    ):
        with pytest.raises(NotFound):
            act()


@pytest.mark.requirement("LN-02", "LN-04")
def test_new_text_does_not_keep_the_evidence_of_the_old(memories, world):
    source, better = memories.event(), memories.event()
    made = memories.say(source_event_ids=(source,))
    revise(world, made, topics=("field_test",))
    assert memories.memory(made).head.independent_evidence_count == 1
    revise(world, made, 2, content="The lamp is cold")
    assert memories.memory(made).head.independent_evidence_count == 0
    revise(world, made, 3, source_event_ids=(better,))
    assert memories.memory(made).head.independent_evidence_count == 1


def test_a_corrected_statement_does_not_come_back_from_its_source(memories, world):
    source = memories.event()
    made = memories.say("The lamp is warm", fact_key="lamp", source_event_ids=(source,))
    revise(world, made, content="The lamp is cold")
    again = memories.say("The lamp is warm", fact_key="lamp", source_event_ids=(source,))
    assert again.decision == "NO_OP"
    assert read_memory(world.access(), made.memory_id).content == "The lamp is cold"


def test_other_conditions_must_be_free(memories, world):
    cuda = memories.say("fp16", fact_key="dtype", conditions={"backend": "cuda"})
    cpu = memories.say("fp32", fact_key="dtype", conditions={"backend": "cpu"})
    with pytest.raises(ValidationFailed):
        revise(world, cuda, conditions={"backend": "cpu"})
    revise(world, cuda, conditions={"backend": "rocm"})
    assert memories.say("fp64", fact_key="dtype", conditions={"backend": "cuda"}).decision == "ADD"
    assert memories.memory(cpu).version == 1


# -- confirming


@pytest.mark.requirement("TM-03")
def test_a_confirmation_keeps_text_validity_and_evidence(memories, world):
    made = memories.say(source_event_ids=(memories.event(),))
    done = confirm_memory(world.access(), made.memory_id, observed_at=at("2024-05-05"))
    assert (done.status, done.version) == ("committed", 2)
    shown = read_memory(world.access(), made.memory_id)
    assert (shown.content, shown.valid_from, shown.valid_to) == ("The lamp is warm", at("2024-01-01"), None)
    assert (shown.last_confirmed_at, shown.independent_evidence_count) == (at("2024-05-05"), 1)
    assert confirm_memory(world.access(), made.memory_id, observed_at=at("2024-04-01")).status == "no_op"


@pytest.mark.requirement("TM-13")
def test_a_confirmation_cannot_come_before_the_observation(memories, world):
    made = memories.say(observed_at=at("2024-02-01"))
    with pytest.raises(ValidationFailed):
        confirm_memory(world.access(), made.memory_id, observed_at=at("2024-01-15"))


def test_a_confirmed_value_outlives_a_late_older_one(memories, world):
    """Blue since January, confirmed in June; that it was red in March arrives afterwards: blue is still the value of today."""
    made = memories.say("It is blue", fact_key="colour")
    confirm_memory(world.access(), made.memory_id, observed_at=at("2024-06-01"))
    late = memories.say("It is red", fact_key="colour", valid_from=at("2024-03-01"))
    assert late.decision == "INSERT_HISTORY"
    for day, colour in (("2024-02-01", "blue"), ("2024-04-01", "red"), ("2024-07-01", "blue")):
        assert read_memory(world.access(), made.memory_id, as_of=at(day)).content == f"It is {colour}"
    assert read_memory(world.access(), made.memory_id).content == "It is blue"


# -- withdrawing


def test_a_withdrawn_memory_stays_readable_and_cannot_be_changed(memories, world):
    made = memories.say()
    done = withdraw_memory(world.access(), made.memory_id, expected_version=1, reason="it was wrong")
    assert read_memory(world.access(), made.memory_id).state == "withdrawn"
    assert withdraw_memory(world.access(), made.memory_id, expected_version=done.version, reason="x").status == "no_op"
    with pytest.raises(Conflict):
        revise(world, made, done.version, content="The lamp is cold")
    with pytest.raises(Conflict):
        confirm_memory(world.access(), made.memory_id, observed_at=at("2024-05-05"))


@pytest.mark.requirement("VH-08")
def test_a_conflict_ends_when_one_value_is_left(memories, world):
    first = memories.say("Opens at eight", fact_key="gate")
    second = memories.say("Opens at nine", fact_key="gate")
    withdraw_memory(world.access(), second.memory_id, expected_version=1, reason="misheard")
    assert memories.memory(first).conflict_set_id is None
    with world.inside():
        assert ConflictSet.objects.get().status == ConflictSet.Status.RESOLVED
    assert memories.say("Opens at ten", fact_key="gate", valid_from=at("2024-06-01")).decision == "SUPERSEDE"


# -- the barrier


@pytest.mark.requirement("VH-13", "DJ-03")
def test_nothing_is_written_to_a_deleted_memory(memories, world):
    made = memories.say()
    request_deletion(world.access(), DeletionRequest("del-1", "memory", made.memory_id))
    for act in (
        lambda: revise(world, made, content="It lives"),
        lambda: confirm_memory(world.access(), made.memory_id, observed_at=at("2024-02-01")),
        lambda: withdraw_memory(world.access(), made.memory_id, expected_version=1, reason="x"),
        lambda: read_memory(world.access(), made.memory_id),
        lambda: read_memory(world.access(), made.memory_id, version=1),
    ):
        with pytest.raises(Revoked) as refused:
            act()
        assert refused.value.deletion_job_id is not None
    with pytest.raises(NotFound):
        read_memory(world.access("bob"), made.memory_id)


def test_a_member_may_revise_a_project_record(memories, world):
    made = memories.say("Holds 4 degrees", project="kiosk")
    assert revise(world, made, who="bob", content="Holds 9 degrees").version == 2
    narrow = world.access("bob")
    assert narrow.by_id[memories.memory(made).namespace_id].write


def test_who_may_only_read_is_not_permitted(memories, world):
    from dataclasses import replace

    made = memories.say("Holds 4 degrees", project="kiosk")
    access = world.access("bob")
    reader = replace(access, namespaces=tuple(replace(grant, write=False) for grant in access.namespaces))
    with pytest.raises(NotPermitted):
        revise_memory(reader, made.memory_id, expected_version=1, change=Change(content="x"), reason="x")


def test_versions_are_listed_newest_first(memories, world):
    from apps.core.api.schema import ListQuery

    made = memories.say()
    revise(world, made, content="The lamp is cold")
    found = list_versions(world.access(), made.memory_id, ListQuery.of({}))
    assert [(row.version, row.content) for row in found.items] == [(2, "The lamp is cold"), (1, "The lamp is warm")]
