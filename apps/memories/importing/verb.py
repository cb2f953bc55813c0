"""Importing turns: every turn becomes a source event and, as what was said at that moment, an episode that rests on it.

Ids are made from the conversation and turn, so a second run finds what the first one stored: an import that was stopped goes
on where it was, and nothing comes in twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.core.canonical import sha256_hex
from apps.core.isolation import tenant_context
from apps.core.limits import LIMITS
from apps.core.text import fold_key
from apps.evidence.drafts import Draft
from apps.evidence.ingestion import Accepted, accept_events
from apps.evidence.models import SourceType
from apps.memories.candidates import propose
from apps.memories.models import Candidate, EpistemicStatus, MemoryType
from apps.memories.proposals import Proposal
from apps.tenants.models import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from apps.memories.importing.turns import RecordedTurn
    from apps.tenants.access import Access

CHUNK = 200
_ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Imported:
    """What one run did: turns seen, events and episodes stored by it, and those that were there before or were refused."""

    turns: int = 0
    events: int = 0
    episodes: int = 0
    present: int = 0
    refused: int = 0


def import_turns(
    access: Access,
    turns: Sequence[RecordedTurn],
    *,
    project: str,
    progress: Callable[[Imported], None] = lambda _: None,
) -> Imported:
    """Store turns in a project's namespace, chunk by chunk; each chunk is committed before the next begins.

    ``project`` is the folded key of a project the access may write. ``progress`` is told the sums after each chunk. Raises
    NotFound for a project out of reach. A turn with forbidden material keeps its redacted event and gets no episode.
    """
    done = Imported()
    for start in range(0, len(turns), CHUNK):
        chunk = turns[start : start + CHUNK]
        results = accept_events(access, [_event(turn, project) for turn in chunk])
        stored = sum(1 for result in results if isinstance(result, Accepted) and not result.replayed)
        refused = sum(1 for result in results if not isinstance(result, Accepted))
        there = _episodes_there(access, [episode_id(turn) for turn in chunk])
        made = declined = 0
        for turn, result in zip(chunk, results, strict=True):
            if not isinstance(result, Accepted) or episode_id(turn) in there:
                continue
            outcome = propose(access, _episode(turn, project)).outcome
            made += outcome.status == Candidate.Status.COMMITTED
            declined += outcome.status == Candidate.Status.REJECTED
        done = replace(
            done,
            turns=done.turns + len(chunk),
            events=done.events + stored,
            episodes=done.episodes + made,
            present=done.present + len(there),
            refused=done.refused + refused + declined,
        )
        progress(done)
    return done


def event_id(turn: RecordedTurn) -> str:
    """The id of a turn's event: readable where it fits, a digest where it does not."""
    name = f"import:{turn.conversation}:{turn.turn}"
    return name if len(name) <= LIMITS.id_chars and name.isprintable() else f"import:{sha256_hex(name)[:_ID_DIGITS]}"


def episode_id(turn: RecordedTurn) -> str:
    """The candidate id of a turn's episode."""
    return f"episode:{sha256_hex(event_id(turn))[:_ID_DIGITS]}"


def turn_key(conversation: str, turn: str) -> str:
    """The fact key of a turn's episode: one turn, one record."""
    name = fold_key(f"turn.{conversation}.{turn}")
    return name if len(name) <= LIMITS.key_chars else f"turn.{sha256_hex(name)[:_ID_DIGITS]}"


def _event(turn: RecordedTurn, project: str) -> Draft:
    return Draft(
        event_id=event_id(turn),
        scope=Scope.PROJECT,
        scope_id=project,
        source_type=SourceType.IMPORT,
        occurred_at=turn.said_at,
        content=turn.text,
    )


def _episode(turn: RecordedTurn, project: str) -> Proposal:
    return Proposal(
        candidate_id=episode_id(turn),
        scope=Scope.PROJECT,
        scope_id=project,
        memory_type=MemoryType.EPISODIC,
        fact_key=turn_key(turn.conversation, turn.turn),
        content=turn.text,
        epistemic_status=EpistemicStatus.OBSERVED,
        source_event_ids=(event_id(turn),),
        valid_from=turn.said_at,
        observed_at=turn.said_at,
        origin="import",
    )


def _episodes_there(access: Access, ids: list[str]) -> set[str]:
    with tenant_context(access.tenant_id):
        return set(
            Candidate.objects.filter(tenant_id=access.tenant_id, candidate_id__in=ids).values_list("candidate_id", flat=True)
        )
