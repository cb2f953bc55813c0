"""Votes against a small model: whatever people do in whatever order, a review stands as the model says; and two at one moment."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from apps.core.errors import DomainError, ReviewClaimed, ReviewClosed, StaleReview
from apps.memories.models import Memory
from apps.memories.reviews.deciding import APPROVE, REJECT, REQUEST_CHANGES, distinct_groups
from apps.memories.reviews.promotions import read_promotion, request_promotion
from apps.memories.reviews.voting import Vote, cast_vote, claim_review, release_review
from apps.memories.revision import Change, revise_memory
from apps.tenants.access import Access
from apps.tenants.console_access import person_access
from apps.tenants.models import User
from tests.memories.sayings import LABELS, Memories
from tests.memories.test_concurrency import together
from tests.tenants.world import World, document

PEOPLE = ("reviewer1", "reviewer2", "owner1")
POLICY = {"promotion_project": {"approvals": 2, "distinct_groups": 2}}


def reviewed_world() -> World:
    staff = [{"username": f"{name}_orchard", "roles": [name.rstrip("12")]} for name in PEOPLE]
    return World("orchard", labels=LABELS, staff=[*document("orchard")["staff"], *staff], review_policies=POLICY)


def accesses(world: World) -> dict[str, Access]:
    return {name: person_access(User.objects.get(username=f"{name}_orchard"), world.tenant_id) for name in PEOPLE}


def promotion(world: World) -> tuple[str, str]:
    made = Memories(world).say("My own way to tie a bowline")
    asked = request_promotion(
        world.access(), made.memory_id, target="project", target_id="kiosk", rationale="x", expected_version=1
    )
    return made.memory_id, asked.promotion_id


class Reviewing(RuleBasedStateMachine):
    """The model: a version, who said what about it, who holds the claim, and whether it is over."""

    world: World
    people: dict[str, Access]

    def __init__(self) -> None:
        super().__init__()
        self.memory_id, self.review = promotion(self.world)
        self.version, self.votes, self.void = 1, {}, 0
        self.claimed: str | None = None
        self.over: str | None = None
        self.seen: dict[str, tuple[str, int]] = {}

    @rule(who=st.sampled_from(PEOPLE))
    def claim(self, who: str) -> None:
        done = self._try(lambda: claim_review(self.people[who], self.review))
        if self.over:
            assert isinstance(done, ReviewClosed)
        elif self.claimed not in (None, who):
            assert isinstance(done, ReviewClaimed)
        else:
            self.claimed, self.seen[who] = who, (done.subject_hash, self.version)

    @rule(who=st.sampled_from(PEOPLE))
    def release(self, who: str) -> None:
        self._try(lambda: release_review(self.people[who], self.review))
        self.claimed = None if self.claimed == who else self.claimed

    @precondition(lambda self: self.seen)
    @rule(who=st.sampled_from(PEOPLE), verdict=st.sampled_from((APPROVE, APPROVE, APPROVE, REQUEST_CHANGES, REJECT)))
    def vote(self, who: str, verdict: str) -> None:
        if who not in self.seen:
            return
        hash_, version = self.seen[who]
        given = Vote(verdict=verdict, seen_hash=hash_, reason_code="" if verdict == APPROVE else "unclear")
        done = self._try(lambda: cast_vote(self.people[who], self.review, given))
        if self.over:
            assert isinstance(done, ReviewClosed)
        elif self.claimed not in (None, who):
            assert isinstance(done, ReviewClaimed)
        elif version != self.version:
            assert isinstance(done, StaleReview)
        else:
            self.votes[who], self.claimed = verdict, None
            self.over = {"approved": "approved", "rejected": "rejected"}.get(self._status())

    @precondition(lambda self: not self.over)
    @rule()
    def edit(self) -> None:
        change = Change(content=f"My own way, told for the {self.version + 1}th time")
        revise_memory(self.world.access(), self.memory_id, expected_version=self.version, change=change, reason="x")
        self.version += 1
        self.void += len(self.votes)
        self.votes = {}

    @invariant()
    def stands_as_the_model_says(self) -> None:
        shown = read_promotion(self.world.access(), self.review)
        assert shown.status == (self.over or self._status())
        assert shown.approvals == list(self.votes.values()).count(APPROVE)
        assert [one.counts for one in shown.reviews].count(False) == self.void
        assert (shown.result_memory_id is not None) is (self.over == "approved")

    def _status(self) -> str:
        said = set(self.votes.values())
        if REJECT in said:
            return "rejected"
        if REQUEST_CHANGES in said:
            return "changes_requested"
        roles = {who.rstrip("12") for who, verdict in self.votes.items() if verdict == APPROVE}
        return "approved" if len(roles) == 2 else "pending_review"

    @staticmethod
    def _try(action: Any) -> Any:
        try:
            return action()
        except DomainError as refused:
            return refused


@pytest.mark.requirement("GI-03")
def test_a_review_stands_as_a_small_model_says(db):
    world = reviewed_world()
    machine = type("Machine", (Reviewing,), {"world": world, "people": accesses(world)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck), database=None
        ),
    )


@pytest.mark.parametrize(
    ("held", "groups"),
    [
        ([], 0),
        (["r", "r"], 1),
        (["r", "o"], 2),
        (["ro"], 1),  # two roles, one person
        (["ro", "r"], 2),
        (["ro", "ro", "ro"], 2),
    ],
)
def test_a_person_stands_for_one_role(held, groups):
    assert distinct_groups([frozenset(one) for one in held]) == groups


@pytest.mark.django_db(transaction=True)
def test_of_two_who_complete_it_at_once_one_does_and_the_other_hears_why(transactional_db):
    world = reviewed_world()
    people = accesses(world)
    _memory, review = promotion(world)
    seen = claim_review(people["owner1"], review).subject_hash
    cast_vote(people["owner1"], review, Vote(verdict=APPROVE, seen_hash=seen))
    done = together(
        [
            lambda name=name: cast_vote(people[name], review, Vote(verdict=APPROVE, seen_hash=seen))
            for name in ("reviewer1", "reviewer2")
        ]
    )
    approved = [one for one in done if not isinstance(one, DomainError)]
    assert [one.status for one in approved] == ["approved"]
    assert [type(one) for one in done if isinstance(one, DomainError)] == [ReviewClosed]
    with world.inside():
        assert Memory.objects.filter(namespace__scope="project").count() == 1
