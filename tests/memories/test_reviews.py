"""Reviews: who may decide, what votes amount to, and what a quorum brings about (design/02 ReviewPolicy, Promotion, ReviewVote)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from apps.audits.models import AuditEntry
from apps.core import clock
from apps.core.errors import (
    NotFound,
    NotPermitted,
    ReviewClaimed,
    ReviewClosed,
    ReviewerBarred,
    ReviewNotPossible,
    StaleReview,
    ValidationFailed,
)
from apps.core.ids import parse_public_id, public_id
from apps.core.isolation import system_context
from apps.evidence.models import Content
from apps.memories.candidate_reads import read_candidate
from apps.memories.candidates import withdraw_candidate
from apps.memories.layers import Relations
from apps.memories.models import Authority, Candidate, Memory, Relation, ReviewPolicy, ReviewRequest, ReviewVote
from apps.memories.reviews import requests
from apps.memories.reviews.voting import Vote, cast_vote, claim_review, release_review
from apps.retention.models import DeletionJob
from apps.retention.targets import target_of
from apps.tenants import grants
from apps.tenants.console_access import person_access
from apps.tenants.models import Namespace, User
from tests.memories.sayings import LABELS, Memories
from tests.tenants.world import World, document, problem

STAFF = [{"username": f"{role}{number}_orchard", "roles": [role]} for role in ("reviewer", "owner") for number in (1, 2)]


@pytest.fixture
def world(db) -> World:
    return World("orchard", labels=LABELS, staff=[*document("orchard")["staff"], *STAFF])


@pytest.fixture
def memories(world) -> Memories:
    return Memories(world)


def person(world, name):
    return person_access(User.objects.get(username=f"{name}_orchard"), world.tenant_id)


def the_review(world, **narrowed):
    with world.inside():
        return public_id("rvw", ReviewRequest.objects.filter(**narrowed).latest("id").pk)


def row(world, review):
    with world.inside():
        return ReviewRequest.objects.get(pk=parse_public_id("rvw", review))


def approve(world, who, review, **more):
    access = person(world, who)
    seen = more.pop("seen", None) or claim_review(access, review).subject_hash
    return cast_vote(access, review, Vote(verdict=more.pop("verdict", "approve"), seen_hash=seen, **more))


def promote(caller, memory_id, version=1, **body):
    wanted = {"target": "project", "target_id": "kiosk", "rationale": "useful for all of us", "expected_version": version}
    return caller.post(f"/memories/{memory_id}/promotions", {**wanted, **body})


def asked(caller, question, project=None):
    return caller.post("/memory-query", {"question": question, **({"project": project} if project else {})}).json()["items"]


# -- proposals


@pytest.mark.requirement("ID-17", "CA-10")
def test_a_proposal_for_the_organization_is_taken_up_by_who_may_promote(world, memories):
    source = memories.event(project="kiosk")
    made = memories.say("Trains are preferred", scope="organization", fact_key="travel.means", source_event_ids=(source,))
    assert made.status == "pending_review"
    review = the_review(world, kind="candidate")
    with pytest.raises(NotPermitted):  # reviews there, but may not promote
        claim_review(person(world, "reviewer1"), review)
    done = approve(world, "owner1", review)
    assert (done.status, done.memory_id is not None) == ("approved", True)
    candidate = read_candidate(world.access(), made.candidate_id)
    assert (candidate.status, candidate.memory_id, candidate.content) == ("committed", done.memory_id, "Trains are preferred")
    assert [item["content"] for item in asked(world.alice, "Which means of travel, trains?")] == ["Trains are preferred"]
    with world.inside():
        verbs = AuditEntry.objects.filter(object_type="review").order_by("id").values_list("verb", flat=True)
        assert list(verbs) == ["review.claimed", "review.voted", "review.approved"]


def test_a_rejected_proposal_says_so_and_one_that_was_withdrawn_waits_for_nobody(world, memories):
    first, second = (memories.say(f"The gate\u200b number {n}", project="kiosk", fact_key=f"gate.n{n}") for n in range(2))
    assert first.reasons == ["hidden_characters"]
    review = the_review(world, candidate__candidate_id=first.candidate_id)
    with pytest.raises(ValidationFailed):
        approve(world, "reviewer1", review, verdict="reject")
    done = approve(world, "reviewer1", review, verdict="reject", reason_code="unclear", comment="what is in it?")
    candidate = read_candidate(world.access(), first.candidate_id)
    assert (done.status, candidate.status, candidate.reasons[-1]) == ("rejected", "rejected", "rejected_by_review")
    other = the_review(world, candidate__candidate_id=second.candidate_id)
    withdraw_candidate(world.access(), second.candidate_id)
    assert row(world, other).status == "ended"
    with pytest.raises(ReviewClosed):
        claim_review(person(world, "reviewer1"), other)


def test_what_waits_for_results_or_for_git_cannot_be_waved_through(world, memories):
    memories.say("Drain the pump first", project="kiosk", authority=Authority.GIT)
    review = the_review(world)
    with pytest.raises(ReviewNotPossible):
        approve(world, "reviewer1", review)
    assert row(world, review).status == "pending_review" and not row(world, review).decided_at
    with world.inside():
        assert not ReviewVote.objects.exists()


# -- claims


def test_a_claim_lasts_half_an_hour_and_keeps_others_from_voting(world, memories, monkeypatch):
    memories.say("The gate\u200b is shut", project="kiosk", fact_key="gate.state")
    review = the_review(world)
    first, second = person(world, "reviewer1"), person(world, "reviewer2")
    seen = claim_review(first, review)
    with pytest.raises(ReviewClaimed) as refused:
        claim_review(second, review)
    assert refused.value.until == seen.until
    vote = Vote(verdict="request_changes", seen_hash=seen.subject_hash, reason_code="unclear")
    with pytest.raises(ReviewClaimed):
        cast_vote(second, review, vote)
    release_review(second, review)  # is not theirs
    assert row(world, review).claimed_by == first.actor_id
    with world.inside():  # half an hour later
        ReviewRequest.objects.update(claimed_until=F("claimed_until") - timedelta(minutes=31))
    assert claim_review(second, review).until > clock.now()
    release_review(second, review)
    assert cast_vote(first, review, vote).status == "changes_requested"


# -- promotions


@pytest.mark.requirement("AI-06", "ID-16")
def test_a_promotion_to_a_project_becomes_a_record_of_its_own(world, memories):
    made = memories.say("Check the deployed version before assigning a cause", memory_type="procedural", fact_key="debug.first")
    answer = promote(world.alice, made.memory_id)
    body = answer.json()
    assert (answer.status_code, body["status"]) == (202, "pending_review")
    problem(promote(world.alice, made.memory_id), 409, "review_pending")
    shown = world.alice.get(f"/memory-promotions/{body['promotion_id']}").json()
    assert (shown["status"], shown["reviews"], shown["base_commit"], shown["merge_commit"]) == ("pending_review", [], None, None)
    problem(world.bob.get(f"/memory-promotions/{body['promotion_id']}"), 404, "not_found")
    assert asked(world.bob, "deployed version cause", "kiosk") == []
    done = approve(world, "reviewer1", body["promotion_id"])
    assert [item["memory_id"] for item in asked(world.bob, "deployed version cause", "kiosk")] == [done.memory_id]
    shown = world.alice.get(f"/memory-promotions/{body['promotion_id']}").json()
    assert (shown["status"], shown["result_memory_id"], shown["approvals"]) == ("approved", done.memory_id, 1)
    assert [(one["verdict"], one["counts"]) for one in shown["reviews"]] == [("approve", True)]
    with world.inside():
        relation = Relation.objects.get(type="derived_from")
        assert public_id("mem", relation.source_id) == done.memory_id
        assert public_id("mem", relation.target_id) == made.memory_id
    assert memories.memory(made).state == Memory.State.ACTIVE  # the original still holds where it did


@pytest.mark.requirement("ID-17")
def test_the_organization_needs_two_who_may_promote_there(world, memories):
    made = memories.say("Check the pressure first", project="kiosk", fact_key="pump.first")
    review = promote(world.alice, made.memory_id, target="organization", target_id=None).json()["promotion_id"]
    first = approve(world, "owner1", review)
    assert (first.status, first.approvals, first.needed) == ("pending_review", 1, 2)
    assert approve(world, "owner1", review).approvals == 1  # one vote of each
    assert approve(world, "owner2", review).status == "approved"


@pytest.mark.requirement("GI-03")
def test_an_edit_voids_votes_and_puts_it_before_the_reviewers_again(world, memories):
    made = memories.say("Check the pressure first", project="kiosk", fact_key="pump.first")
    review = promote(world.alice, made.memory_id, target="organization", target_id=None).json()["promotion_id"]
    approve(world, "owner1", review)
    seen = row(world, review).subject_hash
    assert approve(world, "owner2", review, verdict="request_changes", reason_code="too_broad").status == "changes_requested"
    world.alice.patch(
        f"/memories/{made.memory_id}", {"content": "Check the pressure of pump 2", "reason": "x", "expected_version": 1}
    )
    shown = world.alice.get(f"/memory-promotions/{review}").json()
    assert (shown["status"], shown["approvals"]) == ("pending_review", 0)
    assert [one["counts"] for one in shown["reviews"]] == [False, False]
    with pytest.raises(StaleReview):
        approve(world, "owner1", review, seen=seen)
    assert approve(world, "owner1", review).approvals == 1
    done = approve(world, "owner2", review)
    with world.inside():
        memory = Memory.objects.select_related("head__content").get(pk=parse_public_id("mem", done.memory_id))
        assert memory.head.content.text == "Check the pressure of pump 2"
        assert ReviewVote.objects.count() == 4  # nothing that was said is lost


def test_a_promotion_is_checked(world, memories):
    made = memories.say("Check the pressure first", project="kiosk", fact_key="pump.first")
    for body, code in (
        ({"target": "git"}, "validation_failed"),
        ({"target": "project"}, "validation_failed"),  # it holds there already
        ({"target": "organization", "target_id": None, "rationale": " "}, "validation_failed"),
        ({"target": "organization", "reproduction": "1. look"}, "validation_failed"),
        ({"expected_version": "1"}, "invalid_type"),
    ):
        problem(promote(world.alice, made.memory_id, **body), 422, code)
    assert (
        problem(promote(world.alice, made.memory_id, 7, target="organization"), 409, "version_conflict")["current_version"] == 1
    )
    mine = memories.say("My own way").memory_id
    problem(promote(world.alice, mine, target_id="lighthouse"), 404, "not_found")  # no project of hers
    problem(promote(world.bob, mine), 404, "not_found")
    assert (
        problem(promote(world.alice, mine, target="git"), 422, "validation_failed")["errors"][0]["code"] == "target_unavailable"
    )
    answers = [world.alice.post(f"/memories/{mine}/promotions", {"target": "project", "target_id": "kiosk", "rationale": "x",
               "expected_version": 1}, **{"Idempotency-Key": "k-1"}) for _ in range(2)]  # fmt: skip
    assert [one.status_code for one in answers] == [202, 202] and answers[0].json() == answers[1].json()


@pytest.mark.requirement("LN-14", "DJ-04")
def test_a_deletion_ends_a_promotion_and_takes_its_words(world, memories):
    made = memories.say("Check the pressure first", project="kiosk", fact_key="pump.first")
    review = promote(world.alice, made.memory_id, target="organization", target_id=None).json()["promotion_id"]
    approve(world, "owner1", review, comment="fine with me")
    assert world.alice.delete(f"/memories/{made.memory_id}?deletion_request_id=d1").status_code == 202
    assert row(world, review).status == "ended"
    with pytest.raises(ReviewClosed):
        approve(world, "owner2", review, seen="x")
    problem(world.alice.get(f"/memory-promotions/{review}"), 410, "revoked")
    layer = Relations()
    with world.inside():
        assert Content.objects.filter(text__in=("useful for all of us", "fine with me")).count() == 2
        target = target_of(DeletionJob.objects.select_related("revocation", "namespace").get())
        while layer.clear(target, None).count:
            pass
        assert (layer.discover(target), layer.verify(target)) == (0, 0)
        assert not Content.objects.filter(text__in=("useful for all of us", "fine with me")).exists()
        assert ReviewVote.objects.count() == 1


# -- another look


def needs_review(world, memory_id):
    with world.inside():
        Memory.objects.filter(pk=parse_public_id("mem", memory_id)).update(state=Memory.State.NEEDS_REVIEW)
        assert requests.open_revalidations(world.tenant_id) == 1
        assert requests.open_revalidations(world.tenant_id) == 0
    return the_review(world, kind="revalidation")


@pytest.mark.requirement("LN-12", "LN-03")
def test_a_second_look_confirms_or_withdraws(world, memories):
    kept = memories.say("The gate opens at nine", project="kiosk", fact_key="gate.opens")
    gone = memories.say("The gate is green", project="kiosk", fact_key="gate.colour")
    done = approve(world, "reviewer1", needs_review(world, kept.memory_id), comment="asked the warden")
    assert (done.status, done.version) == ("approved", 2)
    memory = memories.memory(kept)
    version = memories.versions(kept)[-1]
    assert (memory.state, version.decision, version.last_confirmed_at is not None) == ("active", "VALIDATE", True)
    assert version.author_id == person(world, "reviewer1").actor_id
    approve(world, "reviewer1", needs_review(world, gone.memory_id), verdict="reject", reason_code="outdated")
    assert memories.memory(gone).state == Memory.State.WITHDRAWN
    # A revision by whoever may write is an answer as well.
    again = memories.say("The gate squeaks", project="kiosk", fact_key="gate.sound")
    review = needs_review(world, again.memory_id)
    assert world.alice.patch(f"/memories/{again.memory_id}", {"content": "It squeaks", "reason": "x", "expected_version": 1})
    assert row(world, review).status == "ended"


# -- who decides


def test_authors_and_those_out_of_reach_decide_nothing(world, memories):
    made = memories.say("Check the pressure first", project="kiosk", fact_key="pump.first")
    review = promote(world.alice, made.memory_id, target="organization", target_id=None).json()["promotion_id"]
    owner = person(world, "owner1")
    with world.inside():
        ReviewRequest.objects.update(requested_by=owner.actor_id)
    with pytest.raises(ReviewerBarred):
        claim_review(owner, review)
    for who in ("compliance", "auditor", "operator"):
        with pytest.raises(NotFound):
            claim_review(world.person_access(who), review)
    with pytest.raises(NotFound):
        claim_review(world.access("alice"), review)
    with pytest.raises(NotPermitted):
        claim_review(person(world, "reviewer1"), review)
    with world.inside():
        place = Namespace.objects.get(scope="organization")
    with system_context():
        grants.grant_on_namespaces(User.objects.get(username="reviewer1_orchard"), [place.pk], grants.PROMOTE)
    assert approve(world, "reviewer1", review).approvals == 1


def test_a_tenant_says_how_many_and_of_how_many_roles(world, memories):
    wanted = {"promotion_project": {"approvals": 2, "distinct_groups": 2, "due_days": 3}}
    World("orchard", labels=LABELS, staff=world.document["staff"], review_policies=wanted)
    World("orchard", labels=LABELS, staff=world.document["staff"], review_policies=wanted)
    with world.inside():
        assert ReviewPolicy.objects.get().version == 1
    review = promote(world.alice, memories.say("My own way").memory_id).json()["promotion_id"]
    assert row(world, review).due_at - row(world, review).created_at == timedelta(days=3)
    assert approve(world, "reviewer1", review).status == "pending_review"
    assert approve(world, "reviewer2", review).status == "pending_review"  # two of one role
    assert approve(world, "owner1", review).status == "approved"


def test_candidates_of_a_promotion_hold_no_text_of_their_own(world, memories):
    review = promote(world.alice, memories.say("My own way").memory_id).json()["promotion_id"]
    approve(world, "reviewer1", review)
    with world.inside():
        made = Candidate.objects.get(origin="promotion")
        assert (made.status, made.content_id, made.subject_id) == ("committed", None, world.access().subject_id)
