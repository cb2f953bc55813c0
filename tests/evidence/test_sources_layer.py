"""The sources of a deleted memory: restricted, or erased with it (DJ-06, DJ-07; design/05 layer `sources`)."""

from __future__ import annotations

import pytest

from apps.core.ids import new_id
from apps.evidence.coverage import covered_events, open_events, restricted_events
from apps.evidence.ingestion import accept_event
from apps.evidence.layers import Sources
from apps.evidence.lineage import rebuild_refused
from apps.evidence.models import Content, SourceEvent
from apps.evidence.reads import material, readable_events
from apps.retention import layers, targets
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.layers import CHUNK
from apps.retention.models import DeletionJob
from apps.retention.targets import Resolved, target_of
from tests.evidence.drafts import draft

DIGEST = -77


@pytest.fixture(autouse=True)
def _a_memory(monkeypatch):
    """A memory as apps.memories would resolve it: its target is ``namespace/event ids`` of what it rests on."""

    def resolve(access, target):
        scope, *names = target.split("/")
        rows = {row.event_id: row.id for row in SourceEvent.objects.filter(tenant_id=access.tenant_id)}
        grant = access.namespace_for("user", None) if scope == "user" else access.namespace_for("project", scope)
        memory = new_id()
        return Resolved(str(memory), f"mem_{target}"[:128], (grant.id,), (memory, *(rows[name] for name in names)), DIGEST)

    monkeypatch.setattr(targets, "_resolvers", targets._resolvers | {"memory": resolve})
    monkeypatch.setattr(targets, "_hooks", [hook for hook in targets._hooks if hook.__module__ == "apps.evidence.targets"])
    monkeypatch.setattr(layers, "_layers", {"sources": Sources()})


def erase(access, target, **options):
    request_deletion(access, DeletionRequest(deletion_request_id=str(new_id()), kind="memory", target=target, **options))


def the_target():
    return target_of(DeletionJob.objects.select_related("revocation", "namespace").get())


def work_off(target):
    layer, cursor, cleared = Sources(), None, 0
    found = layer.discover(target)
    while True:
        done = layer.clear(target, cursor)
        cleared, cursor = cleared + done.count, done.cursor
        assert done.count <= CHUNK
        if cursor is None:
            return found, cleared, layer.verify(target)


@pytest.mark.requirement("DJ-06")
def test_a_source_that_stays_is_restricted_at_once_and_its_text_is_kept(world):
    alice = world.access("alice")
    for name in ("e-1", "e-2", "other"):
        accept_event(alice, draft(event_id=name))
    erase(alice, "user/e-1/e-2")
    with world.inside():
        assert set(readable_events(alice).values_list("event_id", flat=True)) == {"e-1", "e-2", "other"}
        assert {row.event_id: row.no_rebuild for row in SourceEvent.objects.all()} == {
            "e-1": [DIGEST],
            "e-2": [DIGEST],
            "other": [],
        }
        ids = dict(SourceEvent.objects.values_list("event_id", "id"))
        assert rebuild_refused(world.tenant_id, [ids["e-1"]], DIGEST) and not rebuild_refused(
            world.tenant_id, [ids["other"]], DIGEST
        )
        target = the_target()
        assert restricted_events(target).count() == 2 and not covered_events(target).exists()
        assert work_off(target) == (2, 2, 0)
        assert Content.objects.count() == 3


@pytest.mark.requirement("DJ-07")
def test_covered_sources_are_shut_at_once_and_lose_their_text(world):
    alice = world.access("alice")
    accept_event(alice, draft("the valve", event_id="e-1"))
    accept_event(alice, draft("a summary of it", event_id="made", derived_from=("e-1",)))
    accept_event(alice, draft("the pump", event_id="other"))
    erase(alice, "user/e-1", cover_sources=True)
    with world.inside():
        rows = {row.event_id: row for row in SourceEvent.objects.all()}
        assert set(readable_events(alice).values_list("event_id", flat=True)) == {"other"}
        assert material(alice, rows["e-1"].id) is None and material(alice, rows["other"].id).text == "the pump"
        assert set(open_events(world.tenant_id, [row.id for row in rows.values()], lock=True)) == {rows["other"].id}
        assert work_off(the_target()) == (2, 2, 0)
        assert list(Content.objects.values_list("text", flat=True)) == ["the pump"]
        assert work_off(the_target()) == (0, 0, 0)


def test_another_subjects_event_is_restricted_instead_of_erased(world):
    bob, alice = world.access("bob"), world.access("alice")
    accept_event(bob, draft("said by bob", event_id="b-1", scope="project", scope_id="kiosk"))
    accept_event(alice, draft("said by alice", event_id="a-1", scope="project", scope_id="kiosk"))
    erase(alice, "kiosk/b-1/a-1", cover_sources=True)
    with world.inside():
        assert set(readable_events(bob).values_list("event_id", flat=True)) == {"b-1"}
        assert SourceEvent.objects.get(event_id="b-1").no_rebuild == [DIGEST]
        assert work_off(the_target()) == (2, 2, 0)
        assert list(Content.objects.values_list("text", flat=True)) == ["said by bob"]


def test_the_proof_takes_another_road_than_the_clearing(world):
    alice = world.access("alice")
    accept_event(alice, draft("the valve", event_id="e-1"))
    erase(alice, "user/e-1", cover_sources=True)
    with world.inside():
        target = the_target()
        assert Sources().verify(target) == 1
        SourceEvent.objects.update(erased_at="2024-01-01T00:00Z", content_sha256="", fingerprint="")
        assert Sources().verify(target) == 1  # the row says erased, but its text is still there
        SourceEvent.objects.update(content=None)
        assert Sources().verify(target) == 0
