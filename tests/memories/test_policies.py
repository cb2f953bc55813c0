"""Records under an access policy: whoever may not read under it learns neither that they are there nor how often they changed."""

from __future__ import annotations

import pytest

from apps.core.errors import VersionConflict
from apps.core.ids import public_id
from apps.memories.candidates import propose
from apps.memories.heads import readable_heads
from apps.memories.models import Memory
from apps.memories.reads import readable_memories
from apps.tenants import policies
from apps.tenants.authentication import authenticate
from apps.tenants.models import User
from tests.memories.sayings import at, proposal
from tests.tenants.world import Caller, face, problem

pytestmark = pytest.mark.django_db

KEY = {"project": "kiosk", "fact_key": "safe.place"}


@pytest.fixture
def reader(world):
    """Alice's own agent may read under the policy; the assistant, whom alice and bob use as well, may not."""
    policies.create_policy(world.command(), key="board", description="What only the board reads.")
    agent = User.objects.get(username__contains="alice_agent")
    policies.add_reader(world.command(), policy="board", user_id=agent.id)
    return authenticate(world.tokens["alice_agent/alice"])


@pytest.fixture
def kept(world, memories, reader):
    """Two versions of a record that only the board reads."""
    for text, since in (("The safe stands in the cellar", "2024-01-01"), ("The safe stands in the attic", "2024-02-01")):
        source = (memories.event(project="kiosk"),)
        said = proposal(text, access_policy_id="board", valid_from=at(since), source_event_ids=source, **KEY)
        made = propose(reader, said).outcome
    assert (made.status, made.version) == ("committed", 2)
    return made


@pytest.mark.requirement("ID-18", "ID-24")
def test_the_statement_of_queries_is_the_door_of_every_read_under_policies_too(world, memories, reader, kept):
    open_one = memories.say("The key hangs by the door", project="kiosk")
    with world.inside():
        every = list(Memory.objects.values_list("id", flat=True))
        seen = {}
        for name, access in (("board", reader), ("assistant", world.access("alice")), ("bob", world.access("bob"))):
            by_statement = {public_id("mem", row.id) for row in readable_heads(access, every, access.readable)}
            assert by_statement == {public_id("mem", key) for key in readable_memories(access).values_list("id", flat=True)}
            seen[name] = by_statement
    assert seen == {
        "board": {kept.memory_id, open_one.memory_id},
        "assistant": {open_one.memory_id},
        "bob": {open_one.memory_id},
    }


@pytest.mark.requirement("ID-09", "VH-10")
@pytest.mark.parametrize("expected", [None, 1, 2, 7])
def test_a_proposal_for_a_key_under_a_policy_is_not_told_its_version(world, memories, kept, expected):
    done = memories.say("The safe stands in the hall", who="bob", valid_from=at("2024-03-01"), expected_version=expected, **KEY)
    assert (done.status, done.reasons, done.memory_id, done.version) == ("pending_review", ["not_authorised"], None, None)
    assert memories.memory(kept).version == 2


@pytest.mark.requirement("VH-10")
def test_who_may_read_it_is_told(memories, reader, kept):
    source = (memories.event(project="kiosk"),)
    with pytest.raises(VersionConflict) as refused:
        propose(reader, proposal("In the hall", access_policy_id="board", expected_version=1, source_event_ids=source, **KEY))
    assert refused.value.current_version == 2


@pytest.mark.requirement("ID-09", "VH-10", "AP-01")
@pytest.mark.parametrize("expected", [1, 2, 7])
def test_every_change_of_it_looks_like_one_of_nothing(world, kept, expected):
    unknown = public_id("mem", world.tenant_id)
    change = {"content": "In the hall", "reason": "moved", "expected_version": expected}
    for path, body in (
        ("", change),
        ("/confirm", {"observed_at": "2024-03-01T00:00:00Z", "expected_version": expected}),
        ("/withdraw", {"expected_version": expected, "reason": "wrong"}),
    ):
        method = "POST" if path else "PATCH"
        answers = [world.alice.send(method, f"/memories/{name}{path}", body) for name in (kept.memory_id, unknown)]
        problem(answers[0], 404, "not_found")
        assert face(answers[0]) == face(answers[1])


@pytest.mark.requirement("VH-10", "ID-18")
def test_who_may_read_it_may_change_it(world, kept):
    caller = Caller(world.tokens["alice_agent/alice"])
    body = {"content": "In the hall", "reason": "moved", "expected_version": 1}
    assert problem(caller.patch(f"/memories/{kept.memory_id}", body), 409, "version_conflict")["current_version"] == 2
    assert caller.patch(f"/memories/{kept.memory_id}", body | {"expected_version": 2}).status_code == 200
