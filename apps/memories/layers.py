"""Deletion layers owned by memories: candidates, versions, relations (design/05)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.db import connection
from django.db.models import Q

from apps.core.ids import public_id
from apps.memories import handing_out
from apps.memories.forgetting import dropped_candidates, erase_candidates, erase_versions, lost_events
from apps.memories.models import Candidate, ConflictSet, EvidenceLink, Memory, MemoryVersion, Relation, ReviewRequest
from apps.memories.outside import was_sent
from apps.memories.reasons import Reason
from apps.memories.reviews import erasing
from apps.retention.layers import CHUNK, Cleared, Exported, Layer, RemainingCopy, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

_FORGOTTEN_KEY = ""  # what stands in the place of a fact key
# What a candidate holds until it is emptied (erase_candidates).
_SAYS_SOMETHING = (
    ~Q(content=None)
    | ~Q(rationale=None)
    | ~Q(aliases=None)
    | ~Q(fact_key="")
    | ~Q(fingerprint="")
    | ~Q(conditions={})
    | ~Q(topics=[])
)


class Candidates(Layer):
    """Candidates from the target lose their text and everything that says what they were about; their ids stay taken."""

    key: ClassVar[str] = "candidates"

    def discover(self, target: Target) -> int:
        """Those that still say something; the rows that earlier deletions emptied are not found again."""
        return self._rows(target).filter(_SAYS_SOMETHING).count()

    def export(self, target: Target, cursor: str | None) -> Exported:
        """Without those that another deletion has dropped and not yet emptied."""
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        found = self._rows(target).filter(_SAYS_SOMETHING, after).exclude(reasons__contains=[Reason.REVOKED.value])
        rows = list(found.select_related("namespace").order_by("id")[:CHUNK])
        return _chunk(handing_out.candidates(target.tenant_id, rows), rows)

    def clear(self, target: Target, cursor: str | None) -> Cleared:
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        rows = list(self._rows(target).filter(after).order_by("id").select_for_update(of=("self",), no_key=True)[:CHUNK])
        if not rows:
            return Cleared(0, None)
        erase_candidates(target.tenant_id, rows)
        return Cleared(len(rows), str(rows[-1].id))

    def verify(self, target: Target) -> int:
        """Counted from the rows that the acceptance marked, by what they still hold."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM memories_candidate c WHERE c.tenant_id = %s AND c.id = ANY(%s) AND ("
                "c.fact_key <> '' OR c.fingerprint <> '' OR c.conditions <> '{}'::jsonb OR cardinality(c.topics) > 0 "
                "OR c.content_id IS NOT NULL OR c.rationale_id IS NOT NULL OR c.aliases_id IS NOT NULL)",
                [target.tenant_id, list(self._rows(target).values_list("id", flat=True))],
            )
            return int(cursor.fetchone()[0])

    def remaining_copies(self, target: Target) -> list[RemainingCopy]:
        """What an extractor outside was sent is out of reach; how long its operator keeps it, nobody here knows."""
        return [RemainingCopy("model_server", "sent_for_extraction")] if was_sent(target) else []

    def _rows(self, target: Target) -> QuerySet[Candidate]:
        return dropped_candidates(target, lost_events(target), _revoked(target))


class Versions(Layer):
    """All versions of revoked memories lose their texts, and the memory the key it stood under."""

    key: ClassVar[str] = "versions"

    def discover(self, target: Target) -> int:
        return self._rows(target).exclude(content=None).count()

    def taken_at_once(self, target: Target, revision: int | None) -> list[UUID]:
        """Versions of memories that stay: they rest on the target alone, and the acceptance itself empties them."""
        if revision is None:  # it changed no memory
            return []
        staying = Memory.objects.filter(tenant_id=target.tenant_id, updated_revision=revision).exclude(state=Memory.State.REVOKED)
        emptied = MemoryVersion.objects.filter(tenant_id=target.tenant_id, memory__in=staying, content=None)
        return list(emptied.order_by("id").values_list("id", flat=True))

    def export(self, target: Target, cursor: str | None) -> Exported:
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        named = Q(memory_id__in=_revoked(target)) | Q(id__in=target.shares)
        found = MemoryVersion.objects.filter(named, after, tenant_id=target.tenant_id).exclude(content=None)
        rows = list(found.select_related("memory__namespace").order_by("id")[:CHUNK])
        return _chunk(handing_out.versions(target.tenant_id, rows), rows)

    def clear(self, target: Target, cursor: str | None) -> Cleared:
        after = Q(id__gt=UUID(cursor)) if cursor else Q()
        found = self._rows(target).filter(after).order_by("id").select_for_update(of=("self",), no_key=True)
        rows = list(found[:CHUNK])
        if rows:
            held = sum(row.content_id is not None for row in rows)
            erase_versions(target.tenant_id, rows)
            return Cleared(held, str(rows[-1].id))
        Memory.objects.filter(tenant_id=target.tenant_id, id__in=_revoked(target)).update(
            head=None, fact_key=_FORGOTTEN_KEY, conditions_hash=""
        )
        return Cleared(0, None)

    def verify(self, target: Target) -> int:
        """Counted from the memories' side, by what their rows and versions still say."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT (SELECT count(*) FROM memories_memory m WHERE m.tenant_id = %s AND m.id = ANY(%s) "
                "AND (m.fact_key <> '' OR m.conditions_hash <> '' OR m.head_id IS NOT NULL)) + "
                "(SELECT count(*) FROM memories_memory m JOIN memories_memoryversion v ON v.memory_id = m.id "
                "WHERE m.tenant_id = %s AND m.id = ANY(%s) AND (num_nonnulls(v.content_id, v.rationale_id, v.aliases_id, "
                "v.reason_id) > 0 OR v.content_hash <> '' OR v.conditions <> '{}'::jsonb OR cardinality(v.topics) > 0))",
                [target.tenant_id, _revoked(target), target.tenant_id, _revoked(target)],
            )
            return int(cursor.fetchone()[0])

    def _rows(self, target: Target) -> QuerySet[MemoryVersion]:
        return MemoryVersion.objects.filter(tenant_id=target.tenant_id, memory_id__in=_revoked(target))


class Relations(Layer):
    """Evidence links and relations of revoked memories, the keys of conflicts they were in, and the words of their reviews.

    Those conflicts were settled when the deletion was accepted, or before.
    """

    key: ClassVar[str] = "relations"

    def discover(self, target: Target) -> int:
        found = (self._links(target), self._relations(target), self._conflicts(target), self._reviews(target))
        return sum(rows.count() for rows in found)

    def export(self, target: Target, cursor: str | None) -> Exported:
        """The links first, then the relations, then the words of reviews; the cursor says where in which."""
        kind, _, last = (cursor or "links:").partition(":")
        after = Q(id__gt=UUID(last)) if last else Q()
        if kind == "links":
            links = list(self._links(target).filter(after).select_related("version").order_by("id")[:CHUNK])
            return Exported(handing_out.links(links), f"links:{links[-1].id}" if len(links) == CHUNK else "relations:")
        if kind == "relations":
            rows = list(self._relations(target).filter(after).order_by("id")[:CHUNK])
            return Exported(handing_out.relations(rows), f"relations:{rows[-1].id}" if len(rows) == CHUNK else "reviews:")
        reviews = list(self._reviews(target).filter(after).order_by("id")[:CHUNK])
        records = erasing.handed_out(target.tenant_id, reviews)
        return Exported(records, f"reviews:{reviews[-1].id}" if len(reviews) == CHUNK else None)

    def clear(self, target: Target, cursor: str | None) -> Cleared:  # noqa: ARG002 - what is cleared is gone, nothing to skip
        for rows in (self._links(target), self._relations(target)):
            keys = list(rows.order_by("id").values_list("id", flat=True)[:CHUNK])
            if keys:
                rows.model.objects.filter(tenant_id=target.tenant_id, id__in=keys).delete()
                return Cleared(len(keys), str(keys[-1]))
        settled = list(self._conflicts(target).order_by("id").values_list("id", flat=True)[:CHUNK])
        if settled:
            ConflictSet.objects.filter(tenant_id=target.tenant_id, id__in=settled).update(
                fact_key=_FORGOTTEN_KEY, conditions_hash=""
            )
            return Cleared(len(settled), str(settled[-1]))
        words = erasing.erase_words(target, self._reviews(target))
        return Cleared(words, "reviews" if words else None)

    def verify(self, target: Target) -> int:
        """Counted from the memories' side."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT (SELECT count(*) FROM memories_memory m JOIN memories_evidencelink l ON l.memory_id = m.id "
                "WHERE m.tenant_id = %s AND m.id = ANY(%s)) + (SELECT count(*) FROM memories_memory m JOIN memories_relation r "
                "ON m.id IN (r.source_id, r.target_id) WHERE m.tenant_id = %s AND m.id = ANY(%s)) + "
                "(SELECT count(*) FROM memories_memory m WHERE m.tenant_id = %s AND m.id = ANY(%s) "
                "AND m.conflict_set_id IS NOT NULL) + (SELECT count(DISTINCT s.id) FROM memories_memory m "
                "JOIN memories_conflictset s ON s.tenant_id = m.tenant_id AND m.id = ANY(s.last_members) "
                "WHERE m.tenant_id = %s AND m.id = ANY(%s) AND s.fact_key <> '') + (SELECT count(*) FROM memories_memory m "
                "JOIN memories_reviewrequest r ON r.memory_id = m.id LEFT JOIN memories_reviewvote v ON v.request_id = r.id "
                "WHERE m.tenant_id = %s AND m.id = ANY(%s) AND num_nonnulls(r.rationale_id, v.comment_id) > 0)",
                [target.tenant_id, _revoked(target)] * 5,
            )
            return int(cursor.fetchone()[0])

    def _links(self, target: Target) -> QuerySet[EvidenceLink]:
        return EvidenceLink.objects.filter(tenant_id=target.tenant_id, memory_id__in=_revoked(target))

    def _reviews(self, target: Target) -> QuerySet[ReviewRequest]:
        dropped = dropped_candidates(target, lost_events(target), _revoked(target))
        return erasing.worded(target, _revoked(target), dropped)

    def _conflicts(self, target: Target) -> QuerySet[ConflictSet]:
        settled = ConflictSet.objects.filter(tenant_id=target.tenant_id, last_members__overlap=_revoked(target))
        return settled.exclude(fact_key=_FORGOTTEN_KEY)

    def _relations(self, target: Target) -> QuerySet[Relation]:
        ends = _revoked(target)
        return Relation.objects.filter(Q(source_id__in=ends) | Q(target_id__in=ends), tenant_id=target.tenant_id)


def revoked_names(target: Target) -> list[str]:
    """The public ids of the memories that a deletion revoked, for those who have to be told."""
    return [public_id("mem", key) for key in _revoked(target)]


def _revoked(target: Target) -> list[UUID]:
    """The memories that this deletion revoked, as the acceptance wrote them down; of a foreseen one, those still open to it."""
    rows = Memory.objects.filter(tenant_id=target.tenant_id, id__in=target.keys)
    revoked = Q(state=Memory.State.REVOKED)
    return list(rows.filter(~revoked if target.foreseen else revoked).values_list("id", flat=True))


def _chunk(told: list[dict[str, Any]], rows: Sequence[Candidate | MemoryVersion]) -> Exported:
    return Exported(told, str(rows[-1].id) if len(rows) == CHUNK else None)
