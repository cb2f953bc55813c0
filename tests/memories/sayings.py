"""Short ways to say something in a test and to look at what became of it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from apps.core.ids import parse_public_id
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_event
from apps.memories.candidates import CandidateOutcome, propose
from apps.memories.models import EpistemicStatus, Memory, MemoryType, MemoryVersion, Verdict
from apps.memories.proposals import Proposal

LABELS = {
    "topics": {"field_test": {"aliases": ["field test", "现场测试"]}, "deploys": {}},
    "entities": {"observatory_captain": {"aliases": ["天文台队长"]}},
}

_numbers = itertools.count(1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def proposal(content: str = "The lamp is warm", **fields: Any) -> Proposal:
    number = next(_numbers)
    said = {
        "candidate_id": f"cand-{number}",
        "scope": "user",
        "memory_type": MemoryType.FACT,
        "fact_key": f"key.{number}",
        "epistemic_status": EpistemicStatus.EXPLICIT,
        "valid_from": at("2024-01-01"),
        **fields,
    }
    if "project" in said:
        said |= {"scope": "project", "scope_id": said.pop("project")}
    if said["memory_type"] is MemoryType.FINDING:
        said.setdefault("verdict", Verdict.SUPPORTED)
    return replace(Proposal(candidate_id="", scope="", memory_type=said["memory_type"], fact_key="", content=content), **said)


class Memories:
    """What the people of a world say, through the verbs."""

    def __init__(self, world: Any) -> None:
        self.world = world

    def event(self, text: str | None = None, *, who: str = "alice", on: str = "2024-01-01", **fields: Any) -> str:
        name = fields.pop("event_id", f"evt-{next(_numbers)}")
        project = fields.pop("project", None)
        scope = {"scope": "project", "scope_id": project} if project else {"scope": "user"}
        draft = Draft(
            event_id=name,
            source_type=fields.pop("source_type", "user_message"),
            occurred_at=at(on),
            content=text or f"note {name}",
            **scope,
            **fields,
        )
        accept_event(self.world.access(who), draft)
        return name

    def say(self, content: str = "The lamp is warm", *, who: str = "alice", **fields: Any) -> CandidateOutcome:
        """Propose and return the outcome; a project record gets a source of its own unless one is named."""
        if "project" in fields and "source_event_ids" not in fields:
            fields["source_event_ids"] = (self.event(who=who, project=fields["project"]),)
        return propose(self.world.access(who), proposal(content, **fields)).outcome

    def memory(self, outcome: CandidateOutcome | str) -> Memory:
        name = outcome if isinstance(outcome, str) else outcome.memory_id
        with self.world.inside():
            return Memory.objects.select_related("head").get(pk=parse_public_id("mem", name))

    def versions(self, outcome: CandidateOutcome | str) -> list[MemoryVersion]:
        memory = self.memory(outcome)
        with self.world.inside():
            return list(MemoryVersion.objects.filter(memory=memory).order_by("version"))

    def count(self) -> int:
        with self.world.inside():
            return Memory.objects.count()
