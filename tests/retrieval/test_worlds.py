"""Random worlds and random questions against a brute-force reading of what the caller may be given (RP-09, RP-25, ID-24)."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from apps.core import clock
from apps.core.ids import parse_public_id
from apps.memories.models import Memory, MemoryType, MemoryVersion, RetrievalPolicy, Verdict
from apps.memories.revision import Change, revise_memory, withdraw_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retrieval.context import Budget
from apps.retrieval.models import TraceCandidate
from apps.retrieval.vocabulary import BudgetUnit, Mode, PacketFormat, Style, Trigger
from tests.memories.sayings import Memories
from tests.retrieval.packets import read_back

pytestmark = pytest.mark.django_db

WORDS = ["lamp", "ferry", "crane", "oil", "harbour", "battery", "部署窗口", "周四晚上", "glacier custard", "grey goose"]
START = datetime(2024, 1, 1, tzinfo=UTC)
REACH = {"alice": [None, "kiosk"], "bob": [None, "kiosk", "lighthouse"]}


def _day(chance: random.Random) -> datetime:
    return START + timedelta(days=chance.randrange(0, 1000))


def _populate(chance: random.Random, world, memories: Memories) -> None:
    for number in range(40):
        who = chance.choice(sorted(REACH))
        project = chance.choice(REACH[who])
        begin = _day(chance)
        fields = {
            "memory_type": chance.choice([MemoryType.FACT, MemoryType.DECISION, MemoryType.FINDING, MemoryType.CONSTRAINT]),
            "valid_from": begin,
            "valid_to": begin + timedelta(days=chance.randrange(400)) if chance.random() < 0.3 else None,
            "retrieval_policy": chance.choice([RetrievalPolicy.RELEVANT] * 6 + [RetrievalPolicy.ALWAYS, RetrievalPolicy.NEVER]),
            "conditions": {"oil": chance.choice(["old", "new"])} if chance.random() < 0.2 else {},
            "aliases": (chance.choice(WORDS),) if chance.random() < 0.3 else (),
            "topics": ("deploys",) if chance.random() < 0.2 else (),
        }
        if fields["memory_type"] is MemoryType.FINDING:
            fields["verdict"] = chance.choice([Verdict.SUPPORTED, Verdict.REFUTED, Verdict.CONTESTED])
        if project:
            fields["project"] = project
        made = memories.say(f"{' '.join(chance.sample(WORDS, 3))} {number}", who=who, **fields)
        if made.memory_id is None or made.status != "committed":
            continue
        access = world.access(who)
        fate = chance.random()
        if fate < 0.12:
            change = Change(content=f"{' '.join(chance.sample(WORDS, 2))} again")
            revise_memory(access, made.memory_id, expected_version=1, change=change, reason="x")
        elif fate < 0.2:
            withdraw_memory(access, made.memory_id, expected_version=1, reason="x")
        elif fate < 0.28 and project is None:
            request_deletion(access, DeletionRequest(deletion_request_id=f"d{number}", kind="memory", target=made.memory_id))


def _allowed(world, access, project, mode, as_of) -> set[tuple[str, int]]:
    """Every version that a packet may hold, read memory by memory."""
    grants = {grant.id: grant for grant in access.namespaces if grant.read}
    within = {key for key, grant in grants.items() if grant.scope != "project" or grant.scope_id == project}
    with world.inside():
        memories = list(Memory.objects.all())
        versions = list(MemoryVersion.objects.all())
    states = (
        {"active", "needs_review"}
        if mode is not Mode.HISTORY
        else {"active", "needs_review", "withdrawn", "superseded", "archived"}
    )
    found = set()
    for memory in memories:
        if memory.namespace_id not in within or memory.state not in states or memory.retrieval_policy == "never":
            continue
        for version in versions:
            held = version.valid_from <= as_of and (version.valid_to is None or as_of < version.valid_to)
            past = memory.memory_type == "decision" and version.version != memory.version  # a direct predecessor may follow
            if version.memory_id == memory.id and (held or past):
                found.add((memory.id, version.version))
    return found


@pytest.mark.requirement("RP-09", "RP-25", "RP-26", "ID-24", "BU-15", "RK-17", "TC-08")
@pytest.mark.parametrize("seed", range(3))
def test_a_packet_holds_nothing_that_a_careful_reader_would_not_hand_over(world, memories, asking, seed):
    chance = random.Random(seed)
    _populate(chance, world, memories)
    given = 0
    for _ in range(25):
        who = chance.choice(sorted(REACH))
        project = chance.choice(REACH[who])
        projects = tuple(one for one in REACH[who] if one)
        mode = chance.choice(list(Mode))
        as_of = _day(chance) if chance.random() < 0.5 else clock.now()
        unit, limit = chance.choice(list(BudgetUnit)), chance.choice([0, 200, 900, 20_000, 20_000])
        asked = {
            "question": " ".join(chance.sample(WORDS, chance.randrange(0, 4))),
            "project": project,
            "mode": mode,
            "as_of": as_of,
            "trigger": chance.choice(list(Trigger)),
            "topics": ("deploys",) if chance.random() < 0.2 else (),
            "environment": {"oil": "old"} if chance.random() < 0.5 else {},
            "budget": Budget(limit=limit, unit=unit),
            "format": PacketFormat.TEXT,
            "style": chance.choice(list(Style)),
            "max_items": chance.choice([0, 3, 20, 20]),
        }
        packet = asking.packet(who=who, **asked)
        again = asking.packet(who=who, **asked)
        access = world.access(who)
        implied = project or (projects[0] if len(projects) == 1 else None)
        allowed = _allowed(world, access, implied, mode, as_of)
        items = [(parse_public_id("mem", item.memory_id), item.version) for item in packet.items]
        assert set(items) <= allowed, asked
        assert packet.budget.used <= limit and len(items) <= asked["max_items"]
        assert sorted(name for name, _ in read_back(packet.text)) == sorted(item.memory_id for item in packet.items)
        assert [(item.memory_id, item.version) for item in again.items] == [(i.memory_id, i.version) for i in packet.items]
        assert again.text == packet.text
        with world.inside():
            rows = TraceCandidate.objects.filter(trace_id=parse_public_id("trc", packet.trace_id))
            looked_at = {row.memory_id for row in rows}
            readable = {grant.id for grant in access.namespaces if grant.read}
            assert not Memory.objects.filter(id__in=looked_at).exclude(namespace_id__in=readable).exists()
            assert all(row.chosen or row.reason for row in rows)
        given += len(items)
    assert given > 25, "the worlds must not be so poor that nothing is tested"


@pytest.mark.requirement("TM-15", "RP-35")
@pytest.mark.parametrize("seed", range(2))
def test_the_base_rank_of_a_candidate_does_not_move_with_the_date(world, memories, asking, seed):
    chance = random.Random(seed)
    for number in range(25):
        begin = START + timedelta(days=chance.randrange(300))
        ends = begin + timedelta(days=chance.randrange(1, 400)) if chance.random() < 0.4 else None
        memories.say(
            f"{' '.join(chance.sample(WORDS, 3))} {number}",
            valid_from=begin,
            valid_to=ends,
            expected_resolution_at=begin + timedelta(days=200),
        )
    for question in ("ferry crane", "lamp oil harbour", "部署窗口", "glacier custard"):
        ranks: dict[str, set[tuple[tuple[str, int], ...]]] = {}
        for days in range(0, 900, 75):
            packet = asking.packet(question, as_of=START + timedelta(days=days), max_items=40, max_candidates=40)
            for item in packet.items:
                ranks.setdefault(item.memory_id, set()).add(tuple(sorted(item.why.lanes.items())))
        assert ranks and all(len(found) == 1 for found in ranks.values())
