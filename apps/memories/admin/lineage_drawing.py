"""A drawing of what a memory rests on: origins on the left, what was made from them in the middle, the memory on the right.

Pure: nodes and edges in, positions and the set of independent origins out. Everything stands left of all that was made from it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

NODE_WIDTH, NODE_HEIGHT = 232, 44
_COLUMN, _LINE, _MARGIN = NODE_WIDTH + 56, NODE_HEIGHT + 16, 8
_READABLE = 5 * _COLUMN


@dataclass(frozen=True, slots=True)
class Node:
    """Something in the lineage. ``kind`` and ``state`` are words for its look; ``title`` and ``note`` its two lines."""

    key: UUID
    kind: str
    title: str
    note: str = ""
    state: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """``child`` was made from ``parent``, or rests on it; ``kind`` says how it looks."""

    child: UUID
    parent: UUID
    kind: str = "derived"


@dataclass(frozen=True, slots=True)
class PlacedNode:
    node: Node
    x: int
    y: int
    origin: bool
    parents: tuple[str, ...] = ()  # titles, for the table

    @property
    def text_x(self) -> int:
        return self.x + 10

    @property
    def title_y(self) -> int:
        return self.y + 18

    @property
    def note_y(self) -> int:
        return self.y + 35


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Drawing:
    nodes: tuple[PlacedNode, ...]
    edges: tuple[PlacedEdge, ...]
    width: int
    height: int
    origins: frozenset[UUID] = field(default_factory=frozenset)
    wide: bool = False  # too wide to be made to fit a screen and still be read
    node_width: int = NODE_WIDTH
    node_height: int = NODE_HEIGHT


def draw(nodes: Sequence[Node], edges: Iterable[Edge], sink: UUID, *, counted: Iterable[UUID]) -> Drawing:
    """Place the nodes. ``sink`` stands on the right; the furthest ancestors of ``counted`` are the independent origins."""
    known = {node.key: node for node in nodes}
    kept = [edge for edge in edges if edge.child in known and edge.parent in known]
    parents: dict[UUID, list[UUID]] = defaultdict(list)
    for edge in kept:
        parents[edge.child].append(edge.parent)
    depths = _depths(known, kept, sink)
    deepest = max(depths.values())
    columns: dict[int, list[UUID]] = defaultdict(list)
    for node in nodes:
        columns[depths[node.key]].append(node.key)
    tallest = max(map(len, columns.values()))
    height = 2 * _MARGIN + tallest * _LINE - (_LINE - NODE_HEIGHT)
    spots = _spots(columns, kept, deepest, height)
    origins = frozenset(root for key in counted if key in known for root in _roots(key, parents))
    placed = tuple(
        PlacedNode(node, *spots[node.key], node.key in origins, tuple(known[key].title for key in parents[node.key]))
        for node in nodes
    )
    width = 2 * _MARGIN + deepest * _COLUMN + NODE_WIDTH
    return Drawing(placed, tuple(_edge(spots, edge) for edge in kept), width, height, origins, width > _READABLE)


def _depths(known: Mapping[UUID, Node], edges: Sequence[Edge], sink: UUID) -> dict[UUID, int]:
    """How many steps each node stands left of the sink: one more than all that was made from it."""
    depths = {key: 0 if key == sink else 1 for key in known}
    for _round in known:  # a line of n nodes settles in n rounds; lineage has no cycles, and this would end in one too
        settled = True
        for edge in edges:
            if depths[edge.parent] < depths[edge.child] + 1 <= len(known):
                depths[edge.parent], settled = depths[edge.child] + 1, False
        if settled:
            break
    return depths


def _spots(columns: Mapping[int, list[UUID]], edges: Sequence[Edge], deepest: int, height: int) -> dict[UUID, tuple[int, int]]:
    """Each column in the middle, and in the order of what its nodes lead to, so that few lines cross."""
    children: dict[UUID, list[UUID]] = defaultdict(list)
    for edge in edges:
        children[edge.parent].append(edge.child)
    spots: dict[UUID, tuple[int, int]] = {}

    def wanted(key: UUID) -> float:
        heights = [spots[child][1] for child in children[key] if child in spots]
        return sum(heights) / len(heights) if heights else 0.0

    for depth in range(deepest + 1):
        keys = sorted(columns[depth], key=wanted)
        top = (height - (len(keys) * _LINE - (_LINE - NODE_HEIGHT))) // 2
        for line, key in enumerate(keys):
            spots[key] = (_MARGIN + (deepest - depth) * _COLUMN, top + line * _LINE)
    return spots


def _edge(spots: Mapping[UUID, tuple[int, int]], edge: Edge) -> PlacedEdge:
    (x1, y1), (x2, y2) = spots[edge.parent], spots[edge.child]
    x1, y1, y2 = x1 + NODE_WIDTH, y1 + NODE_HEIGHT // 2, y2 + NODE_HEIGHT // 2
    bend = (x2 - x1) // 2
    return PlacedEdge(f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}", edge.kind)


def _roots(key: UUID, parents: Mapping[UUID, Sequence[UUID]]) -> set[UUID]:
    """The furthest ancestors of a node, itself if it was made from nothing."""
    found: set[UUID] = set()
    seen: set[UUID] = set()
    open_ones = [key]
    while open_ones:
        current = open_ones.pop()
        if current in seen:
            continue
        seen.add(current)
        above = parents.get(current) or ()
        if above:
            open_ones += above
        else:
            found.add(current)
    return found
