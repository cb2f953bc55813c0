"""Deciding in the console: conflicts side by side, the review queue, and what a page says when something changed meanwhile."""

from __future__ import annotations

import html
import re

import pytest

from apps.audits.models import AuditEntry
from apps.core.ids import parse_public_id, public_id
from apps.core.isolation import system_context
from apps.memories.models import ConflictSet, Memory, ReviewRequest
from apps.tenants.models import User
from apps.tenants.people import add_staff
from tests.console.conftest import CANARY, signed_in, visit
from tests.console.reading import words

QUEUE = "/admin/memories/reviewrequest/"


def field(answer, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="{name}"', answer.content.decode())
    assert found is not None, name
    return html.unescape(found[1] or found[2])


def text(answer) -> str:
    return words(answer.content.decode())


# -- conflicts


@pytest.fixture
def settle(quiet) -> str:
    quiet.dispute("kiosk.database")
    with quiet.inside():
        return f"/admin/memories/conflictset/{ConflictSet.objects.get().pk}/settle/"


def decision(page, decision: str, **more: str) -> dict[str, str]:
    given = {"reason": "asked the team", "confirmation": "kiosk.database", **more}
    return {"step": "settle", "expected": field(page, "expected"), "decision": decision, **given}


@pytest.mark.requirement("LN-23", "ID-35")
def test_a_reviewer_settles_a_conflict(quiet, settle):
    client = visit(quiet, "reviewer")
    first = client.get(settle)
    assert "PostgreSQL" not in text(first) and "Direct dialogue or a primary source" in text(first)
    page = client.post(settle, {"step": "look"})
    assert "PostgreSQL" in text(page) and "SQLite" in text(page) and "<ins>" in page.content.decode()
    assert "Superseded if one value holds: 1. Withdrawn if none holds: 2." in text(page)
    with quiet.inside():
        assert AuditEntry.objects.filter(verb="content.revealed", object_type="conflict").count() == 1
        winner, loser = Memory.objects.filter(fact_key="kiosk.database").order_by("id")
    wrong = client.post(settle, decision(page, public_id("mem", winner.pk), confirmation="kiosk"))
    assert wrong.status_code == 200 and "This is not the fact key" in text(wrong)
    done = client.post(settle, decision(page, public_id("mem", winner.pk)))
    assert done.status_code == 302 and "settle/" not in client.get(done["Location"]).content.decode()
    with quiet.inside():
        states = dict(Memory.objects.filter(fact_key="kiosk.database").values_list("pk", "state"))
        assert states == {winner.pk: "active", loser.pk: "superseded"}


def test_a_value_that_changed_meanwhile_is_not_decided_about(quiet, settle):
    client = visit(quiet, "owner")
    page = client.post(settle, {"step": "look"})
    with quiet.inside():
        first = Memory.objects.filter(fact_key="kiosk.database").order_by("id").first()
    changed = quiet.bob.patch(
        f"/memories/{public_id('mem', first.pk)}", {"content": "MySQL", "reason": "x", "expected_version": 1}
    )
    assert changed.status_code == 200
    answer = client.post(settle, decision(page, "withdraw_all"))
    assert answer.status_code == 409 and "A value was changed" in text(answer)
    page = client.post(settle, {"step": "look"})
    names = [public_id("mem", key) for key in (first.pk, *_others(quiet, first))]
    conditions = {f"conditions_{name}": f"stage = {stage}" for name, stage in zip(names, ("test", "live"), strict=True)}
    assert client.post(settle, decision(page, "keep_both_conditional", **conditions)).status_code == 302
    with quiet.inside():
        held = Memory.objects.filter(fact_key="kiosk.database", state="active", conflict_set=None)
        assert sorted(one.head.conditions["stage"] for one in held.select_related("head")) == ["live", "test"]


def _others(quiet, first):
    with quiet.inside():
        return list(Memory.objects.filter(fact_key="kiosk.database").exclude(pk=first.pk).values_list("pk", flat=True))


# -- reviews


@pytest.fixture
def review(quiet) -> str:
    """A promotion that waits for two approvals."""
    made = quiet.propose("pump.first", text="Check the pressure first")
    body = {"target": "organization", "rationale": "useful for all", "expected_version": made["version"]}
    asked = quiet.bob.post(f"/memories/{made['memory_id']}/promotions", body)
    quiet.promoted = made["memory_id"]
    return f"{QUEUE}{parse_public_id('rvw', asked.json()['promotion_id'])}/review/"


def second_owner(quiet):
    with system_context():
        add_staff_owner = User.objects.filter(username="owner2_orchard").first()
    if add_staff_owner is None:
        add_staff(quiet.command(), username="owner2_orchard", roles=["owner"])
    return signed_in(User.objects.get(username="owner2_orchard"))


def ballot(page, verdict: str = "approve", **more: object) -> dict[str, object]:
    return {"step": "vote", "seen": field(page, "seen"), "verdict": verdict, "checks": ["true", "scope", "fit"], **more}


@pytest.mark.requirement("ID-17")
def test_two_owners_approve_a_promotion(quiet, review):
    first, second = visit(quiet, "owner"), second_owner(quiet)
    assert visit(quiet, "reviewer").get(review).status_code == 403
    page = first.get(review)
    assert "pressure" not in text(page) and "0 / 2" in text(page)
    page = first.post(review, {"step": "look"})
    assert "Check the pressure first" in text(page) and "useful for all" in text(page)
    refused = second.post(review, {"step": "look"})
    assert refused.status_code == 409 and "Somebody else has claimed this review" in text(refused)
    unlooked = first.post(review, ballot(page, checks=["true"]))
    assert "An approval says that all of these were looked at" in text(unlooked)
    assert "Say why it is not approved" in text(first.post(review, ballot(page, "reject")))
    assert first.post(review, ballot(page)).status_code == 302
    assert second.post(review, ballot(second.post(review, {"step": "look"}))).status_code == 302
    found = quiet.alice.post("/memory-query", {"question": "what to check first, the pressure?"}).json()["items"]
    assert [item["content"] for item in found] == ["Check the pressure first"]
    late = second.post(review, {"step": "look"})
    assert late.status_code == 409 and "This has been decided" in text(late)


@pytest.mark.requirement("GI-03")
def test_changes_are_asked_for_and_an_edit_voids_the_vote(quiet, review):
    client = visit(quiet, "owner")
    page = client.post(review, {"step": "look"})
    assert (
        client.post(review, ballot(page, "request_changes", reason_code="too_broad", comment="of which pump?")).status_code == 302
    )
    change = {"content": "Check the pressure of pump 2", "reason": "x", "expected_version": 1}
    assert quiet.bob.patch(f"/memories/{quiet.promoted}", change).status_code == 200
    stale = client.post(review, ballot(page))
    assert stale.status_code == 409 and "It has been edited since you looked at it" in text(stale)
    page = client.post(review, {"step": "look"})
    assert "Check the pressure of pump 2" in text(page)
    assert client.post(review, {"step": "release"}).status_code == 302
    with quiet.inside():
        assert ReviewRequest.objects.get(kind="promotion_organization").claimed_by is None


def test_the_queue_begins_with_the_most_dangerous_and_its_card_counts_it(quiet, review):
    quiet.propose("orchard.coffee", "organization", None)
    quiet.propose("kiosk.gate", text="the gate\u200b is shut")
    client = visit(quiet, "owner")
    shown = client.get(f"{QUEUE}?status__exact=pending_review").content.decode()
    kinds = re.findall(r"pump\.first|orchard\.coffee|kiosk\.gate", shown[shown.index("result_list") :])
    assert list(dict.fromkeys(kinds)) == ["pump.first", "orchard.coffee", "kiosk.gate"]
    home = client.get("/admin/").content.decode()
    card = home[home.index('data-card="reviews"') :]
    assert "status__exact=pending_review" in card[:400] and ">3<" in re.sub(r"\s", "", card[:600])
    assert CANARY not in shown
