"""Timeline and lineage: what is drawn where, and that the words beside a drawing say the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import uuid4

import pytest

from apps.memories.admin import lineage_drawing, version_timeline
from apps.memories.admin.lineage_drawing import Edge, Node
from apps.memories.admin.version_timeline import Standing
from apps.memories.models import Memory, MemoryVersion
from tests.console.conftest import visit
from tests.console.reading import read, words

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return NOW + timedelta(days=number)


def version(number: int, start: int, end: int | None = None, *, recorded: int = 0) -> MemoryVersion:
    return MemoryVersion(
        version=number,
        valid_from=day(start),
        valid_to=None if end is None else day(end),
        ingested_at=day(recorded),
        revision=number,
    )


def drawn(head: int, *versions: MemoryVersion) -> version_timeline.Timeline:
    found = version_timeline.draw(Memory(version=head), versions, NOW)
    assert found is not None
    return found


# -- the timeline


def test_each_version_is_a_bar_for_its_time_and_a_dot_for_its_recording():
    timeline = drawn(2, version(1, -100, -20, recorded=-90), version(2, -20, recorded=-10))
    newest, oldest = timeline.bars
    assert (newest.number, newest.standing, newest.open) == (2, Standing.CURRENT, True)
    assert (oldest.number, oldest.standing, oldest.open) == (1, Standing.PAST, False)
    assert oldest.x + oldest.width == newest.x and newest.y < oldest.y
    assert oldest.x < oldest.recorded < newest.x < newest.recorded < timeline.now


def test_what_is_planned_and_what_was_corrected_do_not_look_like_what_holds():
    timeline = drawn(3, version(1, -30, -30), version(2, -30, 10), version(3, 10))
    assert [bar.standing for bar in timeline.bars] == [Standing.PLANNED, Standing.CURRENT, Standing.CORRECTED]
    assert timeline.bars[0].x > timeline.now and timeline.bars[2].width == 0


@pytest.mark.parametrize(("end", "label"), [(0, "05-31"), (-300, "2025-"), (-5_000, "20")])
def test_the_axis_is_written_as_finely_as_it_needs(end, label):
    timeline = drawn(1, version(1, end, recorded=end))
    assert len(timeline.ticks) == 4 and any(tick.label.startswith(label) for tick in timeline.ticks)
    assert [tick.x for tick in timeline.ticks] == sorted({tick.x for tick in timeline.ticks})


def test_everything_stays_on_the_canvas_and_only_the_newest_are_drawn():
    timeline = drawn(40, *(version(number, number - 60, number - 59, recorded=number) for number in range(1, 41)))
    assert len(timeline.bars) == version_timeline.MOST_DRAWN and timeline.more and timeline.bars[0].number == 40
    for bar in timeline.bars:
        assert 0 <= bar.x <= bar.x + bar.width <= timeline.width and 0 <= bar.recorded <= timeline.width
        assert bar.y + 14 <= timeline.height
    assert version_timeline.draw(Memory(version=1), [], NOW) is None


# -- the lineage


def graph(*pairs: tuple[str, str], counted: str) -> tuple[lineage_drawing.Drawing, dict[str, lineage_drawing.PlacedNode]]:
    """Edges from what was made to what it was made from; "m" is the memory."""
    names = dict.fromkeys(name for pair in pairs for name in pair)
    keys = {name: uuid4() for name in names}
    nodes = [Node(keys[name], "memory" if name == "m" else "event", name) for name in names]
    edges = [Edge(keys[child], keys[parent]) for child, parent in pairs]
    drawing = lineage_drawing.draw(nodes, edges, keys["m"], counted=[keys[name] for name in counted.split()])
    return drawing, {placed.node.title: placed for placed in drawing.nodes}


@pytest.mark.requirement("LN-04")
def test_what_was_made_from_one_origin_counts_once():
    drawing, placed = graph(
        ("m", "summary"),
        ("m", "retelling"),
        ("m", "email"),
        ("retelling", "summary"),
        ("summary", "talk"),
        counted="summary retelling email",
    )
    assert {name for name, one in placed.items() if one.origin} == {"talk", "email"}
    assert len(drawing.origins) == 2
    assert placed["retelling"].parents == ("summary",) and placed["talk"].parents == ()


def test_everything_stands_left_of_what_was_made_from_it():
    drawing, placed = graph(("m", "b"), ("m", "a"), ("b", "a"), ("a", "z"), counted="a b")
    assert placed["z"].x < placed["a"].x < placed["b"].x < placed["m"].x
    spots = [(one.x, one.y) for one in drawing.nodes]
    assert len(set(spots)) == len(spots)
    for x, y in spots:
        assert 0 <= x <= drawing.width - drawing.node_width and 0 <= y <= drawing.height - drawing.node_height


def test_many_nodes_do_not_overlap_and_a_long_line_is_called_wide():
    drawing, placed = graph(*((("m", f"e{number}")) for number in range(24)), counted=" ".join(f"e{n}" for n in range(24)))
    heights = sorted(one.y for name, one in placed.items() if name != "m")
    assert min(b - a for a, b in pairwise(heights)) >= drawing.node_height
    line = [("m", "n0"), *((f"n{number}", f"n{number + 1}") for number in range(9))]
    assert graph(*line, counted="n0")[0].wide and not drawing.wide


def test_a_cycle_that_cannot_be_is_drawn_in_the_end():
    drawing, _placed = graph(("m", "a"), ("a", "b"), ("b", "a"), counted="a")
    assert len(drawing.nodes) == 3


# -- on the page


@pytest.fixture
def derived(quiet):
    """A memory said in a talk, in a summary of it, and in an e-mail."""
    quiet.tell("talk")
    quiet.tell("summary", source_type="assistant_message", derived_from=["talk"])
    quiet.tell("email")
    quiet.memory_id = quiet.propose("kiosk.refunds", source_event_ids=["talk"])["memory_id"]
    assert quiet.propose("kiosk.refunds", source_event_ids=["summary", "email"])["decision"] == "ATTACH_EVIDENCE"
    return quiet


@pytest.mark.requirement("LN-04")
def test_the_page_counts_independent_origins_and_draws_the_way_to_them(derived):
    with derived.inside():
        memory = Memory.objects.select_related("head").get(fact_key="kiosk.refunds")
    assert memory.head.independent_evidence_count == 2
    text = visit(derived, "auditor").get(f"/admin/memories/memory/{derived.memory_id}/change/").content.decode()
    assert "2 independent origins support the current version." in words(text)
    svg = text.partition('<svg class="lineage')[2].partition("</svg>")[0]
    assert svg.count('class="node event  origin"') == 2 and svg.count('class="edge supports"') == 3
    assert svg.count('class="edge derived"') == 1 and 'role="img"' in svg and "aria-label=" in svg
    table = words(text.partition('class="as-table"')[2].partition("</details>")[0])
    for line in ("talk User message · 2026-01-02 yes —", "summary Assistant message · 2026-01-02 — talk", "email User message"):
        assert line in table
    assert read(text).refused == []


def test_the_timeline_has_a_bar_for_each_version_and_the_table_their_times(derived):
    first = derived.propose("kiosk.colour")
    body = {"content": "green", "reason": "painted"}
    headers = {"If-Match": f'"v{first["version"]}"'}
    answer = derived.bob.patch(f"/memories/{first['memory_id']}", body, **headers)
    assert answer.status_code == 200, answer.content
    text = visit(derived, "auditor").get(f"/admin/memories/memory/{first['memory_id']}/change/").content.decode()
    svg = text.partition('<svg class="timeline')[2].partition("</svg>")[0]
    assert ">v1<" in svg and ">v2<" in svg and svg.count('class="recorded"') == 2
    assert svg.count('class="corrected"') == 1 and svg.count('class="current open"') == 1
    assert "Revised" in words(text)


def test_the_drawing_says_no_more_than_the_person_may_know(derived):
    """The memory is the project's; one of its sources belongs to a single person, whom a reviewer does not see."""
    derived.tell("diary", "dear diary", scope="user")
    derived.propose("kiosk.refunds", source_event_ids=["diary"])
    path = f"/admin/memories/memory/{derived.memory_id}/change/"
    owner, reviewer = (visit(derived, role).get(path).content.decode() for role in ("owner", "reviewer"))
    assert "diary" in owner and "not within reach" not in owner
    assert "diary" not in reviewer and "not within reach" in reviewer
    assert "3 independent origins" in words(reviewer)
