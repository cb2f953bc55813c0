"""Recorded conversations come in whole, once, and say what was wrong with a file."""

from __future__ import annotations

import json

import pytest

from apps.evidence.models import SourceEvent
from apps.memories.importing.turns import LayoutError, read_turns
from apps.memories.importing.verb import import_turns
from apps.memories.models import Memory
from apps.tenants.console_access import command_access

LINES = [
    {"conversation": "c1", "turn": "1", "speaker": "Ana", "at": "2024-05-01T10:00:00Z", "text": "The heron nests by the weir."},
    {"conversation": "c1", "turn": "2", "speaker": "Bo", "at": "2024-05-01", "text": "鹭鸟在堰边筑巢。"},
    {
        "conversation": "c1",
        "turn": "3",
        "speaker": "Ana",
        "at": "2024-05-02T10:00:00+02:00",
        "text": "my password is hunter-9012-zz",
    },
]
LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "The heron is back.", "blip_caption": "a grey bird"}],
        },
        "qa": [{"question": "What came back?", "category": 1, "evidence": ["D1:1"]}],
    }
]


@pytest.fixture
def turns(tmp_path):
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in LINES), encoding="utf-8")
    return read_turns(file)


@pytest.mark.django_db
def test_an_import_that_is_repeated_finds_everything_there(world, turns):
    access = command_access(world.tenant_id)
    first = import_turns(access, turns, project="kiosk")
    assert (first.turns, first.events, first.episodes, first.refused) == (3, 3, 2, 1)
    again = import_turns(access, turns, project="kiosk")
    assert (again.events, again.episodes) == (0, 0)
    with world.inside():
        assert SourceEvent.objects.count() == 3
        assert Memory.objects.count() == 2


@pytest.mark.django_db
def test_an_import_that_was_cut_off_goes_on_where_it_was(world, turns):
    access = command_access(world.tenant_id)
    import_turns(access, turns[:1], project="kiosk")
    rest = import_turns(access, turns, project="kiosk")
    assert (rest.events, rest.episodes, rest.present) == (2, 1, 1)


def test_the_locomo_layout_is_read_with_its_times_and_captions(tmp_path):
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(LOCOMO), encoding="utf-8")
    (turn,) = read_turns(file)
    assert (turn.conversation, turn.turn, turn.text) == ("conv-1", "D1:1", "Ana: The heron is back. [a grey bird]")
    assert turn.said_at.isoformat() == "2023-05-08T13:56:00+00:00"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{}", "line 1"),
        ('{"conversation": "c"', "line 1"),
        (json.dumps({**LINES[0], "at": "2024-05-01T10:00:00"}), "offset"),
        (json.dumps({**LINES[0], "at": "soon"}), "RFC 3339"),
        ("[1, 2]", "LoCoMo"),
        ("", "no turn"),
    ],
)
def test_a_file_that_is_not_understood_names_the_place_and_no_text(tmp_path, text, place):
    file = tmp_path / "x"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LayoutError, match=place) as refused:
        read_turns(file)
    assert "heron" not in str(refused.value)
