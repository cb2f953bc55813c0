"""What a deletion means for memories: at its acceptance, and after the layers (design/05; DJ-*, VH-13, XP-02)."""

from __future__ import annotations

import pytest

from apps.core.api.schema import ListQuery
from apps.core.errors import NotFound, NotPermitted, Revoked
from apps.evidence.models import Content
from apps.jobs.runner import drain
from apps.memories import layers
from apps.memories.api.bodies import MemoryFilters
from apps.memories.candidate_reads import read_candidate
from apps.memories.models import Authority, Candidate, ConflictSet, EvidenceLink, Memory, MemoryVersion, Relation
from apps.memories.proposals import ProposedRelation
from apps.memories.reads import list_memories, list_versions, read_memory
from apps.memories.revision import Change, confirm_memory, revise_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.reads import read_deletion
from tests.memories.sayings import LABELS, Memories, at
from tests.tenants.world import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db) -> World:
    return World("orchard", labels=LABELS)


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


def erase(world, kind, target, *, who="alice", name="del-1", work=True, **options):
    done = request_deletion(world.access(who), DeletionRequest(name, kind, target, **options))
    if work:
        drain()
        shown = read_deletion(world.access(who), done.job_id)
        assert shown.status == "completed", shown
        return shown
    return done


def texts(world) -> str:
    with world.inside():
        return "\n".join(Content.objects.values_list("text", flat=True))


def listed(world, who="alice"):
    filters = MemoryFilters.of({})
    return [row.memory_id for row in list_memories(world.access(who), filters.wanted(), filters).items]


# -- one memory


@pytest.mark.requirement("DJ-02", "RY-05")
def test_from_the_acceptance_on_no_door_shows_it(memories, world):
    made = memories.say("The lamp is warm")
    waiting = memories.say("The lamp is for all", project="kiosk", authority=Authority.GIT)
    erase(world, "memory", made.memory_id, work=False)
    assert listed(world) == []
    for read in (
        lambda: read_memory(world.access(), made.memory_id),
        lambda: list_versions(world.access(), made.memory_id, ListQuery.of({})),
    ):
        with pytest.raises(Revoked):
            read()
    assert read_candidate(world.access(), made.candidate_id).content is None
    assert read_candidate(world.access(), waiting.candidate_id).content == "The lamp is for all"


@pytest.mark.requirement("DJ-05", "DJ-22")
def test_the_layers_leave_an_empty_row_and_no_text(memories, world):
    other = memories.say("The stove is cold")
    made = memories.say(
        "The lamp is warm",
        rationale="Ottilie felt it",
        aliases=("old lamp",),
        conditions={"room": "hall"},
        topics=("field_test",),
        source_event_ids=(memories.event(),),
        relations=(ProposedRelation("derived_from", other.memory_id),),
    )
    revise_memory(world.access(), made.memory_id, expected_version=1, change=Change(content="The lamp is hot"), reason="burnt")
    shown = erase(world, "memory", made.memory_id, cover_sources=True)
    found = {layer.layer: layer for layer in shown.layers}
    assert (found["versions"].found, found["versions"].remaining) == (2, 0)
    assert found["relations"].found >= 2
    assert found["candidates"].found == 1
    for word in ("lamp", "Ottilie", "burnt"):
        assert word not in texts(world)
    with world.inside():
        memory = Memory.objects.get(state=Memory.State.REVOKED)
        assert (memory.fact_key, memory.conditions_hash, memory.head) == ("", "", None)
        for version in MemoryVersion.objects.filter(memory=memory):
            assert (version.content, version.rationale, version.aliases, version.reason) == (None, None, None, None)
            assert (version.conditions, version.topics, version.content_hash) == ({}, [], "")
        assert not EvidenceLink.objects.filter(memory=memory).exists()
        assert not Relation.objects.exists()
        candidate = Candidate.objects.get(candidate_id=made.candidate_id)
        assert (candidate.fact_key, candidate.fingerprint, candidate.topics, candidate.reasons) == ("", "", [], ["revoked"])
    assert memories.memory(other).state == "active"


def test_a_layer_run_twice_finds_nothing(memories, world):
    made = memories.say("The lamp is warm")
    shown = erase(world, "memory", made.memory_id)
    from apps.core.ids import parse_public_id
    from apps.retention.models import DeletionJob
    from apps.retention.targets import target_of

    with world.inside():
        job = DeletionJob.objects.select_related("revocation", "namespace").get(pk=parse_public_id("del", shown.job_id))
        target = target_of(job)
        for layer in (layers.Versions(), layers.Relations()):
            assert (layer.discover(target), layer.clear(target, None).count, layer.verify(target)) == (0, 0, 0)
        assert layers.Candidates().verify(target) == 0


@pytest.mark.requirement("DJ-06", "OJ-02", "MG-07")
def test_a_kept_source_does_not_bring_it_back(memories, world):
    source = memories.event("call me Tovi")
    made = memories.say("Nickname is Tovi", fact_key="name.nick", source_event_ids=(source,))
    erase(world, "memory", made.memory_id)
    again = memories.say("Nickname is Tovi", fact_key="name.nick", source_event_ids=(source,))
    assert (again.status, again.reasons) == ("rejected", ["revoked"])
    with world.inside():
        assert Candidate.objects.get(candidate_id=again.candidate_id).content is None
    other = memories.say("Calls himself Tovi", fact_key="name.other", source_event_ids=(source,))
    assert other.status == "committed"
    anew = memories.say("Nickname is Tovi", fact_key="name.nick", source_event_ids=(source, memories.event()))
    assert (anew.status, anew.memory_id != made.memory_id) == ("committed", True)


@pytest.mark.requirement("DJ-06")
def test_suppress_future_keeps_a_fact_out(memories, world):
    made = memories.say("Nickname is Tovi", fact_key="name.nick")
    erase(world, "memory", made.memory_id, suppress_future=True)
    assert memories.say("Nickname is Tovi", fact_key="name.nick").reasons == ["revoked"]
    assert memories.say("Nickname is Tovi", fact_key="name.nick", who="bob").status == "committed"


def test_the_same_candidate_sent_again_after_its_deletion_does_not_bring_it_back(memories, world):
    from apps.memories.candidates import propose
    from tests.memories.sayings import proposal

    said = proposal("The lamp is warm")
    made = propose(world.access(), said).outcome
    erase(world, "memory", made.memory_id)
    again = propose(world.access(), said)
    assert (again.replayed, again.outcome.status, again.outcome.reasons) == (True, "rejected", ["revoked"])


@pytest.mark.requirement("DJ-01")
def test_who_may_erase_what(memories, world):
    hers = memories.say("Holds 4 degrees", project="kiosk")
    with pytest.raises(NotPermitted):
        erase(world, "memory", hers.memory_id, who="bob")
    private = memories.say("Mine alone")
    for target in (private.memory_id, "mem_never", "nonsense"):
        with pytest.raises(NotFound):
            erase(world, "memory", target, who="bob")
    erase(world, "memory", hers.memory_id, work=False)
    with pytest.raises(Revoked):
        erase(world, "memory", hers.memory_id, name="del-2", work=False)


def test_a_conflict_ends_with_the_deletion_of_a_value(memories, world):
    first = memories.say("Opens at eight", fact_key="gate")
    second = memories.say("Opens at nine", fact_key="gate")
    erase(world, "memory", second.memory_id)
    assert memories.memory(first).conflict_set_id is None
    with world.inside():
        assert ConflictSet.objects.get().status == ConflictSet.Status.RESOLVED


# -- an event


@pytest.mark.requirement("DJ-07", "DJ-09", "DJ-22", "LN-01")
def test_an_event_takes_what_rests_on_it_alone(memories, world):
    e1, e2 = memories.event(), memories.event()
    own = memories.say("The cat is called Quillon", source_event_ids=(e1,))
    other = memories.say("The dog eats barley", source_event_ids=(e2,))
    both = memories.say("They sleep in shed four", source_event_ids=(e1, e2))
    erase(world, "event", e1, cover_sources=True, work=False)
    assert set(listed(world)) == {other.memory_id, both.memory_id}
    shown = read_memory(world.access(), both.memory_id)
    assert (shown.independent_evidence_count, shown.source_refs, shown.state) == (1, [e2], "active")
    drain()
    assert "Quillon" not in texts(world)
    with pytest.raises(Revoked):
        read_memory(world.access(), own.memory_id)


@pytest.mark.requirement("DJ-09", "DJ-22")
def test_only_the_version_that_rested_on_it_is_lost(memories, world):
    e1, e2 = memories.event(on="2024-01-01"), memories.event(on="2024-02-01")
    made = memories.say("Works at Nordlys", fact_key="job", valid_from=None, source_event_ids=(e1,))
    memories.say("Works at Havblik", fact_key="job", valid_from=None, source_event_ids=(e2,))
    erase(world, "event", e1, cover_sources=True)
    assert "Nordlys" not in texts(world)
    shown = read_memory(world.access(), made.memory_id)
    assert (shown.content, shown.state) == ("Works at Havblik", "active")
    with pytest.raises(NotFound):
        read_memory(world.access(), made.memory_id, version=1)


def test_a_lost_head_gives_way_to_the_version_before_and_is_looked_at(memories, world):
    e1, e2 = memories.event(on="2024-01-01"), memories.event(on="2024-02-01")
    made = memories.say("Works at Nordlys", fact_key="job", valid_from=None, source_event_ids=(e1,))
    memories.say("Works at Havblik", fact_key="job", valid_from=None, source_event_ids=(e2,))
    erase(world, "event", e2, cover_sources=True)
    shown = read_memory(world.access(), made.memory_id)
    assert (shown.content, shown.version, shown.state) == ("Works at Nordlys", 1, "needs_review")
    assert "Havblik" not in texts(world)


@pytest.mark.parametrize("again", ["revised", "confirmed"])
def test_what_was_only_said_again_goes_with_its_source(memories, world, again):
    source = memories.event()
    made = memories.say("The cat is called Quillon", source_event_ids=(source,))
    if again == "revised":
        change = Change(content="The cat is called Quillon the second")
        revise_memory(world.access(), made.memory_id, expected_version=1, change=change, reason="x")
    else:
        confirm_memory(world.access(), made.memory_id, observed_at=at("2024-05-01"))
    erase(world, "event", source, cover_sources=True)
    assert "Quillon" not in texts(world)


@pytest.mark.requirement("LN-12", "LN-14")
def test_summaries_go_along_or_are_looked_at(memories, world):
    source = memories.event()
    made = memories.say("The valve sticks", source_event_ids=(source,))
    relation = (ProposedRelation("derived_from", made.memory_id),)
    alone = memories.say("Mechanics are a worry: the valve", relations=relation)
    grounded = memories.say("Winter is hard", relations=relation, source_event_ids=(memories.event(),))
    erase(world, "memory", made.memory_id)
    with pytest.raises(Revoked):
        read_memory(world.access(), alone.memory_id)
    assert read_memory(world.access(), grounded.memory_id).state == "needs_review"
    assert "valve" not in texts(world)


@pytest.mark.requirement("DJ-04")
def test_a_waiting_candidate_goes_with_its_event(memories, world):
    source = memories.event(project="kiosk")
    waiting = memories.say("All tests passed", project="kiosk", authority=Authority.GIT, source_event_ids=(source,))
    erase(world, "event", source, cover_sources=True, work=False)
    shown = read_candidate(world.access(), waiting.candidate_id)
    assert (shown.status, shown.reasons, shown.content) == ("rejected", ["revoked"], None)
    drain()
    assert "All tests passed" not in texts(world)


# -- a session, a subject, a namespace


@pytest.mark.requirement("DJ-01")
def test_a_session_takes_what_was_said_in_it(memories, world):
    evening = Memories(world)
    evening.world = _Session(world, "s-evening")
    kept = memories.say("The boat is blue", source_event_ids=(memories.event(),))
    gone = evening.say("The boat is leaking", source_event_ids=(evening.event(),))
    spoken = evening.say("The boat is for sale")
    erase(world, "session", "s-evening", cover_sources=True)
    assert listed(world) == [kept.memory_id]
    for made in (gone, spoken):
        with pytest.raises(Revoked):
            read_memory(world.access(), made.memory_id)


class _Session:
    """The same world, in another session."""

    def __init__(self, world, session):
        self._world, self._session = world, session

    def access(self, who="alice"):
        return self._world.access(who, session=self._session)

    def __getattr__(self, name):
        return getattr(self._world, name)


@pytest.mark.requirement("DJ-01", "ID-15")
def test_a_subject_takes_everything_of_theirs_and_nothing_of_others(memories, world):
    hers = memories.say("Alice keeps a boat")
    shared = memories.say("Alice says the pier has lamps", project="kiosk")
    his = memories.say("Bob keeps a boat", who="bob")
    his_shared = memories.say("The pier has three lamps", who="bob", project="kiosk")
    revise_memory(
        world.access(), his_shared.memory_id, expected_version=1, change=Change(content="The pier has four lamps"), reason="x"
    )
    erase(world, "subject", "alice", cover_sources=True)
    assert set(listed(world, "bob")) == {his.memory_id, his_shared.memory_id}
    assert "Alice" not in texts(world)
    for made in (hers, shared):
        with pytest.raises(Revoked):
            read_memory(world.access(), made.memory_id)
    back = read_memory(world.access("bob"), his_shared.memory_id)
    assert (back.content, back.state) == ("The pier has three lamps", "needs_review")
    assert "four lamps" not in texts(world)


def test_what_is_said_after_a_subjects_deletion_is_new_life(memories, world):
    memories.say("Drinks coffee", fact_key="drink")
    erase(world, "subject", "alice", cover_sources=True)
    assert memories.say("Drinks tea", fact_key="drink").status == "committed"
    assert len(listed(world)) == 1


@pytest.mark.requirement("DJ-06", "LN-04")
@pytest.mark.parametrize("again", ["retelling", "origin", "another retelling"])
def test_a_memory_that_rested_on_a_retelling_is_rebuilt_by_none_of_its_origin(memories, world, again):
    origin = memories.event()
    retelling = memories.event(source_type="assistant_message", derived_from=(origin,))
    another = memories.event(source_type="assistant_message", derived_from=(origin,))
    made = memories.say("The lamp is warm", fact_key="lamp", source_event_ids=(retelling,))
    erase(world, "memory", made.memory_id, work=False)
    source = {"retelling": retelling, "origin": origin, "another retelling": another}[again]
    said = memories.say("The lamp is warm", fact_key="lamp", source_event_ids=(source,))
    assert (said.status, said.reasons) == ("rejected", ["revoked"])
    assert memories.say("The lamp is warm", fact_key="lamp", source_event_ids=(source, memories.event())).status == "committed"
