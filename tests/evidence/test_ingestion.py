"""Receiving events: redaction, idempotency, batches, labels, origins (design/03 step 1)."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest

from apps.audits.models import AuditEntry
from apps.core.errors import EventIdConflict, NotFound, NotPermitted, Revoked, ValidationFailed
from apps.evidence.content import read_text
from apps.evidence.ingestion import Accepted, accept_event, accept_events
from apps.evidence.models import Content, Derivation, SourceEvent, Trust
from apps.evidence.reads import read_event
from apps.jobs.models import Outbox, ProcessingJob
from tests.evidence.drafts import LONG_AGO, draft

TOKEN = "ghp_" + "Zk3rQ8vNw1" * 3 + "Ab12Cd"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def stored(world, event_id):
    with world.inside():
        return SourceEvent.objects.select_related("namespace", "subject", "retention_class").get(event_id=event_id)


@pytest.mark.requirement("EV-01", "EV-02", "EV-03", "EV-04", "EV-06", "EV-07", "EV-13", "EV-14", "EV-15")
def test_an_event_its_text_its_job_and_its_message_are_one_commit(world):
    alice = world.access("alice")
    done = accept_event(alice, draft("以后默认用中文回答", event_id="e-1", metadata={"n": 1}))
    row = stored(world, "e-1")
    assert done.status == "accepted_for_processing" and not done.replayed and done.redactions == []
    assert done.content_sha256 == sha256("以后默认用中文回答") == row.content_sha256
    assert (row.namespace.scope_id, row.subject.key, row.session_id) == ("alice", "alice", "s-1")
    assert (row.trust, row.retention_class.key, row.sequence) == (Trust.SUBJECT, "conversation", done.sequence)
    with world.inside():
        assert read_text(world.tenant_id, row.content_id) == "以后默认用中文回答"
        assert read_text(world.tenant_id, row.metadata_id) == '{"n":1}'
        job = ProcessingJob.objects.get(kind="extract")
        assert job.id == row.job_id and job.key == f"{row.id}:rules@1:p1:0" and job.payload == {"event": str(row.id), "epoch": 0}
        assert job.namespaces == [row.namespace_id]
        assert list(Outbox.objects.filter(topic="event.accepted").values_list("object_id", "version")) == [(row.id, row.sequence)]
        entry = AuditEntry.objects.get(verb="event.accepted")
        assert entry.object_id == "e-1" and entry.namespace_id == row.namespace_id


@pytest.mark.requirement("EV-12")
def test_the_same_again_is_a_replay_and_writes_nothing(world):
    alice = world.access("alice")
    sent = draft(event_id="e-1", topics=("field_test",), metadata={"b": 1, "a": 2.0})
    first = accept_event(alice, sent)
    again = accept_event(alice, draft(event_id="e-1", topics=("field_test",), metadata={"a": 2, "b": 1}))
    assert again.replayed and (again.sequence, again.job_id, again.ingested_at) == (
        first.sequence,
        first.job_id,
        first.ingested_at,
    )
    with world.inside():
        assert (SourceEvent.objects.count(), Content.objects.count(), ProcessingJob.objects.count(), Outbox.objects.count()) == (
            1,
            2,
            1,
            1,
        )


@pytest.mark.requirement("EV-12")
@pytest.mark.parametrize(
    "other",
    [
        {"content": "the lamp is cold"},
        {"occurred_at": LONG_AGO + timedelta(seconds=1)},
        {"source_type": "tool_result"},
        {"metadata": {"x": 1}},
        {"scope": "project", "scope_id": "kiosk"},
        {"session_id": "s-1"},
    ],
    ids=str,
)
def test_the_same_id_with_anything_else_is_a_conflict(world, other):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    with pytest.raises(EventIdConflict):
        accept_event(alice, draft(event_id="e-1", **other))
    assert stored(world, "e-1").content_sha256 == sha256("the lamp is warm")


def test_an_id_taken_out_of_sight_is_a_conflict_like_any_other(world):
    accept_event(world.access("bob"), draft(event_id="e-1"))
    with pytest.raises(EventIdConflict):
        accept_event(world.access("alice"), draft(event_id="e-1"))


def test_two_tenants_have_their_own_ids(world, elsewhere):
    accept_event(world.access("alice"), draft("here", event_id="e-1"))
    accept_event(elsewhere.access("alice"), draft("there", event_id="e-1"))
    assert stored(world, "e-1").content_sha256 == sha256("here")
    assert stored(elsewhere, "e-1").content_sha256 == sha256("there")


@pytest.mark.requirement("ID-02", "ID-14")
@pytest.mark.parametrize(
    ("scope", "scope_id"),
    [("user", "bob"), ("user", "nobody"), ("project", "lighthouse"), ("project", None), ("organization", "basin")],
)
def test_a_scope_out_of_reach_is_not_found(world, elsewhere, scope, scope_id):
    with pytest.raises(NotFound):
        accept_event(world.access("alice"), draft(scope=scope, scope_id=scope_id))


def test_a_scope_that_may_only_be_read_is_not_permitted(world):
    with pytest.raises(NotPermitted):
        accept_event(world.access("alice"), draft(scope="organization"))


def test_another_session_than_the_delegated_one_is_not_found(world):
    with pytest.raises(NotFound):
        accept_event(world.access("alice"), draft(session_id="s-of-somebody"))


def test_a_project_key_is_folded(world):
    accept_event(world.access("alice"), draft(scope="project", scope_id=" KIOSK ", event_id="e-1"))
    assert stored(world, "e-1").namespace.scope_id == "kiosk"


@pytest.mark.requirement("EV-09", "EV-11", "CA-06")
def test_forbidden_material_is_gone_before_anything_is_stored_or_hashed(world):
    text = f"use the token {TOKEN} for the build"
    reference = {"uri": f"https://x.test/?access_token={TOKEN}"}
    done = accept_event(
        world.access("alice"),
        draft(text, event_id="e-1", metadata={"note": f"token {TOKEN}", "deep": [{"password": "hunter-9012-zz"}]}),
    )
    kinds = [(one["kind"], one.get("field")) for one in done.redactions]
    assert kinds[0][1] is None and [field for _, field in kinds[1:]] == ["metadata", "metadata"]
    found = done.redactions[0]
    assert text[found["start"] : found["start"] + found["length"]].strip() in (TOKEN, f"token {TOKEN}")
    with world.inside():
        texts = " ".join(Content.objects.values_list("text", flat=True))
    assert TOKEN not in texts and "hunter" not in texts
    assert done.content_sha256 != sha256(text)
    assert reference


@pytest.mark.requirement("EV-05")
def test_content_may_live_elsewhere(world):
    from apps.evidence.drafts import ContentReference

    reference = ContentReference("s3://archive/talk-17.jsonl", sha256("talk"), "application/jsonl", 4)
    done = accept_event(world.access("alice"), draft(None, event_id="e-1", content_ref=reference))
    assert done.content_sha256 == sha256("talk")
    shown = read_event(world.access("alice"), "e-1", include_content=True)
    assert shown.content is None and shown.content_ref.uri == "s3://archive/talk-17.jsonl"


def test_hidden_characters_are_stored_as_sent(world):
    text = "Access \u202edenied\u200b  "
    accept_event(world.access("alice"), draft(text, event_id="e-1"))
    assert read_event(world.access("alice"), "e-1", include_content=True).content == text


# -- labels, classes, origins


@pytest.mark.requirement("LB-04", "LB-05")
def test_an_unknown_label_names_its_place(world):
    with pytest.raises(ValidationFailed) as failed:
        accept_event(world.access("alice"), draft(topics=("field_test", "feild_test"), entities=("field_test",)))
    assert [(one.pointer, one.code) for one in failed.value.errors] == [("/topics/1", "unknown_label")]
    assert "feild_test" in failed.value.errors[0].detail


def test_labels_are_kept_canonical(world):
    accept_event(
        world.access("alice"), draft(event_id="e-1", topics=("field_test", "field_test"), entities=("observatory_captain",))
    )
    row = stored(world, "e-1")
    assert (row.topics, row.entities) == (["field_test"], ["observatory_captain"])


@pytest.mark.requirement("EV-07", "RT-05")
def test_a_retention_class_must_exist(world):
    accept_event(world.access("alice"), draft(event_id="e-1", retention_class="engineering_knowledge"))
    assert stored(world, "e-1").retention_class.key == "engineering_knowledge"
    with pytest.raises(ValidationFailed) as failed:
        accept_event(world.access("alice"), draft(retention_class="for_ever"))
    assert failed.value.errors[0].pointer == "/retention_class"


@pytest.mark.requirement("LN-05")
def test_origins_must_be_readable_and_never_oneself(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    accept_event(world.access("bob"), draft(event_id="b-1"))
    accept_event(alice, draft("a summary", event_id="e-2", derived_from=("e-1", "e-1")))
    with world.inside():
        assert Derivation.objects.count() == 1
    for origin in ("b-1", "never"):
        with pytest.raises(NotFound):
            accept_event(alice, draft(derived_from=("e-1", origin)))
    with pytest.raises(ValidationFailed):
        accept_event(alice, draft(event_id="e-3", derived_from=("e-1", "e-3")))


# -- batches


@pytest.mark.requirement("EV-12")
def test_one_bad_draft_never_fails_the_others(world):
    alice = world.access("alice")
    accept_event(alice, draft("oak", event_id="known"))
    results = accept_events(
        alice,
        [
            draft(event_id="a"),
            draft("steel", event_id="known"),
            draft("oak", event_id="known"),
            draft(event_id="b", scope="project", scope_id="lighthouse"),
            draft(event_id="c", topics=("nope",)),
            draft("a summary", event_id="d", derived_from=("a", "known")),
            draft(event_id="e", derived_from=("c",)),
            draft(event_id="a"),
            draft("other", event_id="a"),
            draft(event_id="f", retention_class="nope"),
        ],
    )
    kinds = [one if isinstance(one, Accepted) else type(one) for one in results]
    assert [kind if isinstance(kind, type) else ("replay" if kind.replayed else "new") for kind in kinds] == [
        "new", EventIdConflict, "replay", NotFound, ValidationFailed, "new", NotFound, "replay", EventIdConflict, ValidationFailed,
    ]  # fmt: skip
    assert results[7].sequence == results[0].sequence
    with world.inside():
        assert set(SourceEvent.objects.values_list("event_id", flat=True)) == {"known", "a", "d"}
        assert Derivation.objects.count() == 2
        entry = AuditEntry.objects.get(verb="events.accepted")
        assert (entry.counts["accepted"], entry.counts["replayed"], entry.counts["refused"]) == (2, 2, 6)


def test_a_batch_of_replays_writes_nothing(world):
    alice = world.access("alice")
    sent = [draft(f"n {n}") for n in range(5)]
    accept_events(alice, sent)
    assert all(one.replayed for one in accept_events(alice, sent))
    with world.inside():
        assert AuditEntry.objects.filter(verb="events.accepted").count() == 1 and Content.objects.count() == 5


@pytest.mark.requirement("EV-08")
def test_sequence_follows_arrival_and_not_the_order_of_ids(world):
    results = accept_events(world.access("alice"), [draft(event_id=name) for name in ("z", "m", "a")])
    assert [one.sequence for one in results] == sorted(one.sequence for one in results)


def test_the_cost_of_a_batch_does_not_grow_with_its_size(world, django_assert_num_queries):
    alice = world.access("alice")
    with django_assert_num_queries(12):
        accept_events(alice, [draft(event_id=f"one-{n}") for n in range(2)])
    with django_assert_num_queries(12):
        accept_events(alice, [draft(event_id=f"many-{n}") for n in range(200)])


def test_an_erased_id_is_gone_for_those_who_could_read_it(world):
    alice = world.access("alice")
    accept_event(alice, draft(event_id="e-1"))
    with world.inside():
        SourceEvent.objects.update(erased_at=LONG_AGO, covered=True, fingerprint="", content=None)
    with pytest.raises(Revoked):
        accept_event(alice, draft(event_id="e-1"))
    with pytest.raises(EventIdConflict):
        accept_event(world.access("bob"), draft(event_id="e-1"))
