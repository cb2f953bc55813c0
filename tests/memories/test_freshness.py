"""Reads take the revision that a writer was told, and are at least as new (RY-02, RY-04)."""

from __future__ import annotations

import pytest

from tests.memories.sayings import Memories

pytestmark = [pytest.mark.django_db, pytest.mark.requirement("RY-02", "RY-04")]


@pytest.mark.parametrize("path", ["/memories/{id}", "/memories/{id}/versions", "/memories"])
def test_a_read_is_as_new_as_the_revision_it_names(world, path):
    made = Memories(world).say("The lamp is warm")
    caller = world.caller("alice")
    where = path.format(id=made.memory_id)
    assert caller.get(f"{where}?min_revision={made.revision}").status_code == 200
    number = int(made.revision.removeprefix("rev_"))
    late = caller.get(f"{where}?min_revision=rev_{number + 1}&wait_ms=0")
    assert (late.status_code, late.json()["code"]) == (409, "revision_unavailable")
    for wrong in ("min_revision=7", "min_revision=rev_", "wait_ms=2001", "wait_ms=-1"):
        assert caller.get(f"{where}?{wrong}").status_code == 422


def test_a_cursor_does_not_depend_on_the_revision_that_was_waited_for(world):
    memories = Memories(world)
    for number in range(3):
        made = memories.say(f"Lamp {number}")
    caller = world.caller("alice")
    first = caller.get(f"/memories?limit=2&min_revision={made.revision}").json()
    rest = caller.get(f"/memories?limit=2&cursor={first['next_cursor']}").json()
    assert len(first["items"]) == 2 and len(rest["items"]) == 1
