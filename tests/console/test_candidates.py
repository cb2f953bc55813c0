"""The queue of candidates: what decided about each, and the whole way from its source to what it became."""

from __future__ import annotations

import re

import pytest

from apps.memories.admin.admission_trail import Outcome, deciding, trail
from apps.memories.admin.words import CHECKS, REASONS
from apps.memories.models import Candidate, Decision
from apps.memories.reasons import Reason
from tests.console.conftest import CANARY, visit
from tests.console.reading import words
from tests.console.test_keyset import listed

QUEUE = "/admin/memories/candidate/"
Status = Candidate.Status


def outcomes(status: str, decision: str | None, *reasons: str) -> str:
    """The seven outcomes as one letter each: passed, refused, waits, decided, not reached."""
    letters = {Outcome.NOT_REACHED: "-"}
    return "".join(letters.get(step.outcome, step.outcome.value[0]) for step in trail(status, decision, reasons))


def test_every_reason_has_words_and_every_check_its_codes():
    assert set(REASONS) == set(Reason)
    assert [check.key for check in CHECKS] == [
        *("future_value", "source", "fact_or_inference", "scope", "storable", "barrier", "equivalent"),
    ]
    codes = [code for check in CHECKS for code in check.codes]
    assert len(codes) == len(set(codes)) and set(codes) <= set(Reason)


@pytest.mark.requirement("CA-01")
@pytest.mark.parametrize(
    ("status", "decision", "reasons", "expected"),
    [
        (Status.COMMITTED, Decision.ADD, (), "ppppppd"),
        (Status.COMMITTED, Decision.ADD, (Reason.INFERENCE_NOT_SUPPORTED,), "ppppppd"),
        (Status.NO_OP, Decision.NO_OP, (Reason.SAME_SOURCE,), "ppppppd"),
        (Status.CONFLICT, Decision.CONFLICT, (Reason.EQUAL_TIME,), "ppppppd"),
        (Status.REJECTED, Decision.REJECT, (Reason.TASK_SCOPED,), "r------"),
        (Status.REJECTED, Decision.REJECT, (Reason.NO_SOURCE,), "pr-----"),
        (Status.REJECTED, Decision.REJECT, (Reason.UNTRUSTED_INSTRUCTION, Reason.FORBIDDEN_MATERIAL), "pr--r--"),
        (Status.REJECTED, Decision.REJECT, (Reason.FORBIDDEN_MATERIAL,), "ppppr--"),
        (Status.REJECTED, Decision.REJECT, (Reason.REVOKED,), "pppppr-"),
        (Status.PENDING_REVIEW, None, (Reason.NEEDS_EVIDENCE,), "ppwppp-"),
        (Status.PENDING_REVIEW, None, (Reason.NOT_AUTHORISED, Reason.ORGANIZATION_SCOPE, Reason.HIDDEN_CHARACTERS), "pppwwp-"),
        (Status.WITHDRAWN, None, (Reason.GIT_AUTHORITY,), "pppwpp-"),
        (Status.RECEIVED, None, (), "-------"),
    ],
)
def test_the_trail_says_what_every_check_found(status, decision, reasons, expected):
    assert outcomes(status, decision, *reasons) == expected


def test_what_decided_is_the_first_refusal_or_all_that_waits_or_the_comparison():
    def found(*told: str) -> list[str]:
        return [step.check.key for step in deciding(trail(told[0], told[1] or None, told[2:]))]

    assert found(Status.REJECTED, Decision.REJECT, Reason.UNTRUSTED_INSTRUCTION, Reason.FORBIDDEN_MATERIAL) == ["source"]
    assert found(Status.PENDING_REVIEW, "", Reason.NEEDS_EVIDENCE, Reason.ORGANIZATION_SCOPE) == ["fact_or_inference", "scope"]
    assert found(Status.COMMITTED, Decision.SUPERSEDE) == ["equivalent"]
    assert found(Status.RECEIVED, "") == []


def test_a_remark_stands_at_its_check_and_a_merge_reason_at_the_comparison():
    steps = trail(Status.CONFLICT, Decision.CONFLICT, [Reason.INFERENCE_NOT_SUPPORTED, Reason.EQUAL_TIME])
    assert [(step.check.key, step.reasons) for step in steps if step.reasons] == [
        ("fact_or_inference", (Reason.INFERENCE_NOT_SUPPORTED,)),
        ("equivalent", (Reason.EQUAL_TIME,)),
    ]


# -- the pages


@pytest.fixture
def queue(quiet):
    """Something that waits, something taken up, something refused, and something that was known already."""
    for name in ("travel", "coffee"):
        assert quiet.propose(f"orchard.{name}", "organization", None)["status"] == "pending_review"
    assert quiet.propose("kiosk.password", text="password: hunter2-Zx81pq!")["status"] == "rejected"
    assert quiet.propose("kiosk.opening")["status"] == "committed"
    assert quiet.propose("kiosk.opening")["status"] == "no_op"
    return quiet


def rows(client, query=""):
    """Candidate id → the words of its row."""
    text = client.get(f"{QUEUE}{query}").content.decode()
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    return {words(line).split()[0]: words(line) for line in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)}


def test_the_list_says_what_decided_why_and_since_when(queue):
    shown = rows(visit(queue, "reviewer"))
    refused = next(line for line in shown.values() if "Rejected" in line and "5 ·" in line)
    assert "5 · Forbidden information" in refused and "Holds what may not be stored" in refused and "minutes" in refused
    waiting = next(line for line in shown.values() if "Pending review" in line)
    assert "4 · Authorised scope" in waiting and "Would hold for everybody" in waiting
    known = next(line for line in shown.values() if "The same source has said it before" in line)
    assert known.count("Nothing new") == 2


def test_the_queue_is_narrowed_by_reason_and_by_check(queue, monkeypatch):
    client = visit(queue, "owner")
    for most in (2_000, 0):  # named one by one, or asked of every row
        monkeypatch.setattr("apps.memories.admin.candidates._MOST_NAMED", most)
        assert len(rows(client, "?reason=forbidden_material")) == 1
        assert len(rows(client, "?check=storable")) == 1
        assert len(rows(client, "?check=scope")) == 2
        assert len(rows(client, "?check=scope&status__exact=rejected")) == 0
        assert len(rows(client, "?reason=same_source")) == 1
        assert len(rows(client, "?reason=no_source")) == 0
    assert listed(client, f"{QUEUE}?check=nonsense")[0] == []


def test_a_reason_shows_nobody_more_than_they_see(queue):
    queue.propose("editor.theme", "user", None, text="token: ghp_0123456789abcdefghijklmnopqrstuvwxyzAB")
    owner, reviewer = (len(rows(visit(queue, role), "?check=storable")) for role in ("owner", "reviewer"))
    assert (owner, reviewer) == (2, 1)


def detail(client, world, **wanted):
    with world.inside():
        row = Candidate.objects.get(**wanted)
    answer = client.get(f"{QUEUE}{row.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_way_of_what_was_taken_up_leads_to_the_version(queue):
    with queue.inside():
        row = Candidate.objects.get(fact_key="kiosk.opening", status=Status.COMMITTED)
    text = detail(visit(queue, "owner"), queue, pk=row.pk)
    chain = words(text.partition('class="panel chain"')[2].partition("</section>")[0])
    parts = [
        "Source",
        "evt-1",
        "User message",
        "1 · Future value",
        "7 · Equivalent content",
        "Decision",
        "Added",
        "Result",
        "version 1",
    ]
    assert [chain.index(part) for part in parts] == sorted(chain.index(part) for part in parts)
    assert chain.count("Passed") == 6 and "Compared" in chain and "Not reached" not in chain
    assert f"/admin/memories/memory/{row.memory_id}/change/" in text
    assert CANARY not in text


def test_the_way_of_what_was_refused_ends_at_the_check(queue):
    text = detail(visit(queue, "auditor"), queue, reasons=["forbidden_material"])
    chain = words(text.partition('class="panel chain"')[2].partition("</section>")[0])
    assert chain.count("Passed") == 4 and chain.count("Refused") == 1 and chain.count("Not reached") == 2
    assert "forbidden_material" in chain and "hunter2" not in text
    assert "Show the words" not in text


def test_a_source_out_of_reach_is_named_by_its_key_alone(queue):
    """The candidate is for the project; what it was read from belongs to one person."""
    queue.tell("evt-private", scope="user")
    queue.propose("kiosk.hours", source_event_ids=["evt-private"])
    with queue.inside():
        named = Candidate.objects.get(fact_key="kiosk.hours").candidate_id
    assert "evt-private" in detail(visit(queue, "owner"), queue, candidate_id=named)
    seen = detail(visit(queue, "reviewer"), queue, candidate_id=named)
    assert "evt-private" not in seen and "User message" not in seen
