"""What the current version of a memory rests on, as far as the person may see it: evidence, what that was made from, origins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.admin.utils import quote
from django.db import connection
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from apps.core.ids import public_id
from apps.evidence.models import Evidence, SourceEvent
from apps.memories.admin.lineage_drawing import Drawing, Edge, Node, draw
from apps.memories.models import EvidenceLink, Memory, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.http import HttpRequest

    from apps.tenants.console.site import GovernanceAdminSite

MOST_EVIDENCE = 24
_MOST_EDGES = 120
_FURTHEST = 24  # generations

# All ancestors in one statement; a pair may be found at several distances, so the distance is dropped at the end.
_ANCESTRY = """
    WITH RECURSIVE above (child_id, parent_id, distance) AS (
        SELECT child_id, parent_id, 1 FROM evidence_derivation WHERE tenant_id = %(tenant)s AND child_id = ANY(%(events)s)
        UNION
        SELECT d.child_id, d.parent_id, above.distance + 1 FROM evidence_derivation d JOIN above ON d.child_id = above.parent_id
        WHERE d.tenant_id = %(tenant)s AND above.distance < %(furthest)s
    )
    SELECT DISTINCT child_id, parent_id FROM above ORDER BY child_id, parent_id LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Lineage:
    """The drawing, and whether it is all there is. ``recorded``: the count of origins that the version keeps, for retrieval."""

    drawing: Drawing
    whole: bool
    recorded: int

    @property
    def counted(self) -> int:
        return len(self.drawing.origins)


def lineage_of(site: GovernanceAdminSite, request: HttpRequest, memory: Memory) -> Lineage | None:
    """None when there is nothing to draw: no current version, or one without any ground."""
    version = memory.head
    if version is None:
        return None
    links = _links(version.pk)
    sources = _derived_from(site, request, memory)
    if not links and not sources:
        return None
    more, links = len(links) > MOST_EVIDENCE, links[:MOST_EVIDENCE]
    direct = [link.evidence.event_id for link in links if link.evidence.event_id is not None]
    ancestry = _ancestry(memory.tenant_id, direct)
    events = {key for pair in ancestry for key in pair} | set(direct)
    nodes = [
        Node(memory.pk, "memory", memory.fact_key, str(_("version %(number)s") % {"number": version.version})),
        *_event_nodes(site, request, links, events),
        *(_evidence_node(link.evidence) for link in links if link.evidence.event_id is None),
        *sources,
    ]
    edges = [
        *(Edge(child, parent) for child, parent in ancestry),
        *(Edge(memory.pk, link.evidence.event_id or link.evidence.pk, link.stance) for link in links),
        *(Edge(memory.pk, node.key) for node in sources),
    ]
    supporting = [link for link in links if link.stance == EvidenceLink.Stance.SUPPORTS]
    counted = [link.evidence.event_id or link.evidence.pk for link in supporting]
    drawing = draw(nodes, edges, memory.pk, counted=counted)
    return Lineage(drawing, not more and len(ancestry) < _MOST_EDGES, version.independent_evidence_count)


def _links(version: UUID) -> list[EvidenceLink]:
    """One more than is drawn. Who sees the memory sees on how much it rests; what each thing is, is narrowed again."""
    rows = EvidenceLink.objects.filter(version_id=version).select_related("evidence")
    return list(rows.order_by("held_at", "id")[: MOST_EVIDENCE + 1])


def _ancestry(tenant_id: UUID, events: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
    """Pairs of what was made and what it was made from, for these events and everything above them."""
    if not events:
        return []
    bounds: dict[str, Any] = {"tenant": tenant_id, "events": list(events), "furthest": _FURTHEST, "most": _MOST_EDGES}
    with connection.cursor() as cursor:
        cursor.execute(_ANCESTRY, bounds)
        return [(child, parent) for child, parent in cursor.fetchall()]


def _event_nodes(
    site: GovernanceAdminSite, request: HttpRequest, links: Iterable[EvidenceLink], wanted: Iterable[UUID]
) -> list[Node]:
    page = site.open_page(request, "evidence.SourceEvent")
    rows: dict[UUID, SourceEvent] = {}
    if page is not None:
        rows = {row.pk: row for row in page.get_queryset(request).filter(pk__in=list(wanted))}
    evidence = {link.evidence.event_id: link.evidence for link in links}
    return [_event_node(key, rows.get(key), evidence.get(key)) for key in sorted(wanted)]


def _event_node(key: UUID, row: SourceEvent | None, evidence: Evidence | None) -> Node:
    if row is None:
        return Node(key, "event", _("not within reach"), state="unseen")
    gone = row.erased_at is not None or (evidence is not None and evidence.availability != Evidence.Availability.AVAILABLE)
    note = f"{capfirst(row.get_source_type_display())} · {row.occurred_at:%Y-%m-%d}"
    return Node(key, "event", row.event_id, note, "gone" if gone else "", _url("evidence_sourceevent", key))


def _evidence_node(row: Evidence) -> Node:
    gone = row.availability != Evidence.Availability.AVAILABLE
    title = public_id("evd", row.pk)
    return Node(
        row.pk, "event", title, capfirst(row.get_kind_display()), "gone" if gone else "", _url("evidence_evidence", row.pk)
    )


def _derived_from(site: GovernanceAdminSite, request: HttpRequest, memory: Memory) -> list[Node]:
    """Other memories that this one was made from."""
    page = site.open_page(request, "memories.Relation")
    if page is None:
        return []
    rows = page.get_queryset(request).filter(source=memory, type=Relation.Type.DERIVED_FROM).select_related("target")
    return [_memory_node(row.target) for row in rows.order_by("id")[:MOST_EVIDENCE]]


def _memory_node(row: Any) -> Node:  # noqa: ANN401 - a Memory, as Django's stubs do not know through select_related
    return Node(row.pk, "memory", row.fact_key, capfirst(row.get_memory_type_display()), url=_url("memories_memory", row.pk))


def _url(name: str, key: UUID) -> str:
    return reverse(f"admin:{name}_change", args=[quote(key)])
