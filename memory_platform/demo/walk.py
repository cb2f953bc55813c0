"""The main job, step by step, on the demo tenant: what was said becomes memory, is asked for, corrected and erased."""

from __future__ import annotations

import json
from collections.abc import Callable

from apps.core.api.responses import dumps
from apps.core.ids import new_id
from apps.evidence.reads import read_event
from apps.jobs.runner import drain
from apps.memories.candidate_reads import read_candidate
from apps.memories.candidates import propose
from apps.memories.models import MemoryType
from apps.memories.proposals import Proposal
from apps.memories.revision import Change, revise_memory
from apps.retention.deletion import DeletionRequest, request_deletion
from apps.retention.reads import read_deletion
from apps.retrieval.api.bodies import QueryIn
from apps.retrieval.pipeline import answer_query
from apps.tenants.access import Access
from memory_platform.demo.loading import PROJECT

Tell = Callable[[str, object], None]

CONVERSATION = tuple(f"demo-{number:02d}" for number in range(1, 15))


def walk(access: Access, tell: Tell) -> None:
    """Walk the job; ``tell`` gets a heading and an answer for each step. Everything goes through the verbs the API calls."""
    drain(kinds=["extract"])
    _what_became_of_the_conversation(access, tell)
    _ask(access, tell, "Which language do I mainly write?", "现在我主要用什么语言写代码？")
    _ask(
        access, tell, "What did we choose for the field log, and why?", "现场测试 field log 用什么工具，为什么？", project=PROJECT
    )
    _ask(access, tell, "Which GPU may we use in this round?", "GPU", project=PROJECT)
    _ask(access, tell, "Something nobody ever said", "zeppelin upholstery")
    key = f"demo.lamp.{new_id().hex[-8:]}"
    made = propose(
        access,
        Proposal(
            candidate_id=f"demo-{key}",
            scope="user",
            memory_type=MemoryType.FACT,
            fact_key=key,
            content="The workshop lamp is warm white.",
        ),
    ).outcome
    tell("Propose a memory", made)
    if made.memory_id is None:
        return  # somebody changed the demo tenant by hand; the answer above says how
    revised = revise_memory(
        access,
        made.memory_id,
        expected_version=made.version or 1,
        change=Change(content="The workshop lamp is daylight white."),
        reason="seen today",
    )
    tell("Correct it", revised)
    _ask(access, tell, "Ask for it", "workshop lamp", fact_keys=[key])
    accepted = request_deletion(
        access, DeletionRequest(deletion_request_id=f"demo-{key}", kind="memory", target=made.memory_id, reason="demo")
    )
    tell("Ask for its deletion: accepted, not yet erased", accepted)
    _ask(access, tell, "Ask again before any worker has run: the barrier stands", "workshop lamp", fact_keys=[key])
    drain(kinds=["deletion"])
    done = read_deletion(access, accepted.job_id)
    tell("After the worker", {"status": done.status, "layers": {one.layer: one.status for one in done.layers}})


def _what_became_of_the_conversation(access: Access, tell: Tell) -> None:
    rows: list[dict[str, object]] = []
    for name in CONVERSATION:
        event = read_event(access, name)
        for candidate_id in event.processing.candidates:
            found = read_candidate(access, candidate_id)
            rows.append(
                {
                    "event": name,
                    "type": found.memory_type,
                    "key": found.fact_key,
                    "status": found.status,
                    "reasons": found.reasons,
                }
            )
        if not event.processing.candidates:
            rows.append({"event": name, "status": event.processing.state, "candidates": 0})
    tell("What became of the conversation", rows)


def _ask(access: Access, tell: Tell, heading: str, question: str, **fields: object) -> None:
    packet = answer_query(access, QueryIn.of({"question": question, **fields}).question_asked())
    tell(
        heading,
        {
            "question": question,
            "outcome": packet.outcome,
            "items": [
                {
                    "content": item.content,
                    "rationale": item.rationale,
                    "section": item.section,
                    "valid_from": item.valid_from,
                    "sources": item.source_refs,
                    "why": item.why,
                }
                for item in packet.items
            ],
            "trace_id": packet.trace_id,
        },
    )


def pretty(answer: object) -> str:
    """An answer as indented JSON."""
    return json.dumps(json.loads(dumps(answer)), ensure_ascii=False, indent=2)
