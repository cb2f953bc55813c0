"""Independent origins, evidence and restrictions (LN-01..05, LN-19, DJ-06)."""

from __future__ import annotations

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.evidence.ingestion import accept_event, accept_events
from apps.evidence.lineage import descendants, ensure_evidence, rebuild_refused, roots
from apps.evidence.models import Evidence, SourceEvent
from apps.evidence.targets import restrict
from tests.evidence.drafts import draft


def keys(world):
    with world.inside():
        return dict(SourceEvent.objects.values_list("event_id", "id"))


def names(world, found):
    back = {key: name for name, key in keys(world).items()}
    return {back[key] for key in found}


def send(world, graph):
    results = accept_events(
        world.access("alice"), [draft(event_id=name, derived_from=origins) for name, origins in graph.items()]
    )
    assert all(one.sequence for one in results)


@pytest.mark.requirement("LN-04", "LN-17")
def test_summary_retelling_and_answer_of_one_source_share_their_root(world):
    send(
        world,
        {
            "e": (),
            "summary": ("e",),
            "retold": ("summary",),
            "answer": ("summary", "e"),
            "other": (),
            "mixed": ("retold", "other"),
        },
    )
    with world.inside():
        found = roots(world.tenant_id, keys(world).values())
    by_name = {name: names(world, found[key]) for name, key in keys(world).items()}
    assert by_name == {
        "e": {"e"}, "summary": {"e"}, "retold": {"e"}, "answer": {"e"}, "other": {"other"}, "mixed": {"e", "other"},
    }  # fmt: skip
    with world.inside():
        assert names(world, descendants(world.tenant_id, [keys(world)["e"]])) == {"summary", "retold", "answer", "mixed"}


def test_a_long_chain_is_walked_without_recursion(world):
    send(world, {f"n{n}": (f"n{n - 1}",) if n else () for n in range(400)})
    with world.inside():
        found = roots(world.tenant_id, [keys(world)["n399"]])
    assert names(world, found[keys(world)["n399"]]) == {"n0"}


@given(
    graph=st.lists(st.integers(0, 6), max_size=12).flatmap(
        lambda seed: st.tuples(*[st.sets(st.integers(0, n - 1), max_size=2) if n else st.just(set()) for n in range(len(seed))])
    )
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.requirement("LN-04", "LN-05")
def test_roots_are_the_furthest_ancestors(world, graph):
    world.access("alice")  # lends the token outside of what is rolled back
    with world.inside():
        clean = transaction.savepoint()
        if graph:
            send(world, {f"g{n}": tuple(f"g{origin}" for origin in sorted(origins)) for n, origins in enumerate(graph)})
        expected = {}
        for n, origins in enumerate(graph):
            expected[f"g{n}"] = set().union(*(expected[f"g{origin}"] for origin in origins)) if origins else {f"g{n}"}
        found = roots(world.tenant_id, keys(world).values())
        assert {name: names(world, found[key]) for name, key in keys(world).items()} == expected
        transaction.savepoint_rollback(clean)


@pytest.mark.requirement("LN-01", "LN-08", "LN-19")
@pytest.mark.parametrize(
    ("source_type", "derived", "fidelity"),
    [
        ("user_message", False, "visible_transcript"),
        ("assistant_message", False, "visible_transcript"),
        ("assistant_message", True, "summary"),
        ("import", False, "transcript_snapshot"),
        ("document", False, "transcript_snapshot"),
        ("tool_result", False, "hybrid"),
        ("user_message", True, "summary"),
    ],
)
def test_fidelity_comes_from_the_source_and_never_from_its_words(world, source_type, derived, fidelity):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="origin"))
    accept_event(
        alice, draft("visible transcript", event_id="e", source_type=source_type, derived_from=("origin",) if derived else ())
    )
    with world.inside():
        event = SourceEvent.objects.get(event_id="e")
        first = ensure_evidence(alice, [event, event])[event.id]
        again = ensure_evidence(alice, [event])[event.id]
        assert first.id == again.id and first.fidelity == fidelity and Evidence.objects.count() == 1


@pytest.mark.requirement("DJ-06")
def test_a_restricted_origin_may_not_bring_a_fact_back_but_a_new_one_may(world):
    send(world, {"old": (), "summary": ("old",), "new": (), "both": ("old", "new")})
    with world.inside():
        found = keys(world)
        assert restrict(SourceEvent.objects.filter(event_id="old"), 77) == 1
        assert restrict(SourceEvent.objects.filter(event_id="old"), 77) == 0

        def refused(*events, digest=77):
            return rebuild_refused(world.tenant_id, [found[name] for name in events], digest)

        assert refused("old") and refused("summary") and refused("old", "summary")
        assert not refused("new") and not refused("both") and not refused("old", "new") and not refused("old", digest=78)
        assert not rebuild_refused(world.tenant_id, [], 77)
