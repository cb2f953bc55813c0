"""The page of a trace: the way of a query in words and as a drawing, asking again, asking why not, and the words of the question."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from apps.memories.models import Memory
from apps.retrieval.admin import funnel
from apps.retrieval.admin.words import CIRCUMSTANCES, FINDINGS_NOW, INDEX, VOCABULARIES
from apps.retrieval.models import RetrievalTrace
from apps.retrieval.vocabulary import Reason, Stage
from apps.tenants import grants
from apps.tenants.models import User
from tests.console.conftest import CANARY, Quiet, visit
from tests.console.reading import read, words
from tests.translations import LOCALE, entries

LIST = "/admin/retrieval/retrievaltrace/"


def page(trace: str, of: str = "change") -> str:
    return f"{LIST}{trace}/{of}/"


def rows(text: str, title: str) -> list[str]:
    """The lines of the table of this name, in plain words."""
    _, _, table = text.partition(f'aria-label="{title}"><table>')
    return [words(line) for line in re.findall(r"(?s)<tr[^>]*>(.*?)</tr>", table.partition("</table>")[0])[1:]]


class Ferries(Quiet):
    """Two memories that are given, one that was over, one about something else; and the query."""

    def __init__(self) -> None:
        super().__init__("orchard")
        self.one = self.propose("kiosk.berth_one", text="Berth one is free for the ferry")["memory_id"]
        self.two = self.propose("kiosk.berth_two", text="Berth two is kept free for the ferry and the pilot")["memory_id"]
        past = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2021-02-01T00:00:00Z"}
        self.past = self.propose("kiosk.berth_three", text="Berth three was free for the ferry", **past)["memory_id"]
        self.lamp = self.propose("kiosk.lamp", text="The lamp is warm")["memory_id"]
        self.trace = self.ask("Which berth is free for the ferry?")

    def ask(self, question: str, **fields: Any) -> str:
        answer = self.bob.post("/memory-query", {"question": question, "project": "kiosk", **fields})
        assert answer.status_code == 200, answer.content
        return str(answer.json()["trace_id"])


@pytest.fixture
def ferries(db: None) -> Ferries:
    return Ferries()


@pytest.mark.requirement("TC-07", "TC-08", "TC-09", "AU-04")
def test_the_page_tells_the_whole_way_of_a_query_without_a_word_of_it(ferries):
    used = {"adopted": [{"memory_id": ferries.one, "version": 1, "used": True}]}
    assert ferries.bob.post(f"/memory-traces/{ferries.trace}/adoptions", used).status_code == 200
    client = visit(ferries, "auditor")
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(page(ferries.trace))
    text = answer.content.decode()
    assert answer.status_code == 200 and read(text).refused == []
    assert [query for query in asked if '"evidence_content"."text"' in query["sql"]] == []
    given, out = rows(text, "What was given"), rows(text, "What was left out, and why")
    assert len(given) == 2 and "kiosk.berth_one" in given[0] and "Given and used" in given[0]
    assert "kiosk.berth_two" in given[1] and "Given, use not reported" in given[1] and "words" in given[1]
    (past,) = out
    assert "kiosk.berth_three" in past and "Rights, state and time" in past and "Did not hold any more expired" in past
    assert "kiosk.lamp" not in text  # it was not found
    steps = dict(re.findall(r'<th scope="row">([^<]+)</th><td class="number">(\d+)</td>', text))
    assert steps["Reached by a lane"] == steps["Read from the authority"] == "3"
    assert steps["Rights, state and time"] == steps["Room in the packet"] == "2"
    assert text.count('class="lost"') - 1 == 1 and "Room taken" in text and "o200k_base" in text and ">triage " in text
    assert "lighthouse keeper" not in text and "free for" not in text


def test_lists_are_narrowed_by_who_asked_what_came_of_it_and_since_when(ferries):
    skipped = ferries.ask("Hello!", decision="auto")
    client = visit(ferries, "compliance")
    agent = User.objects.get(username="orchard/assistant").pk
    for query, there in {
        f"actor_id={agent}": {ferries.trace, skipped},
        "actor_id=nonsense": set(),
        "decision=SKIP": {skipped},
        "outcome=answered": {ferries.trace},
        "trigger=compaction": set(),
        "at__gte=2020-01-01T00:00:00Z": {ferries.trace, skipped},
        "at__lt=2020-01-01T00:00:00Z": set(),
        f"q={skipped}": {skipped},
    }.items():
        with CaptureQueriesContext(connection) as asked:
            answer = client.get(f"{LIST}?{query}")
        text = answer.content.decode().partition('<table id="result_list">')[2]
        assert {name for name in (ferries.trace, skipped) if name in text} == there, query
        assert [one["sql"] for one in asked if re.search(r"SELECT COUNT\(\*\)[^(]*retrievaltrace", one["sql"])] == [], query
    text = client.get(page(skipped)).content.decode()
    assert (
        "No memory was looked at." in text
        and "No memory needed" in text
        and "Small talk" in text
        and '<svg class="funnel"' not in text
    )


# -- again


def test_asking_again_says_the_same_or_names_what_moved(ferries):
    client, path = visit(ferries, "auditor"), page(ferries.trace, "replay")
    assert "Then and now" not in client.get(path).content.decode()
    same = client.post(path).content.decode()
    assert "The same packet, for the same reasons." in same and read(same).refused == []
    assert len(rows(same, "Memories")) == 3 and "differs" not in words(same)
    new = ferries.propose("kiosk.berth_four", text="Berth four: ferry", valid_from="2025-01-01T00:00:00Z")["memory_id"]
    assert ferries.bob.delete(f"/memories/{ferries.two}?deletion_request_id=del-1").status_code == 202
    moved = client.post(path).content.decode()
    told = rows(moved, "Memories")
    assert "The packet would be another one now." in moved
    assert any("kiosk.berth_four" in line and "Was not found then" in line for line in told)
    assert any(ferries.two in line and "given at 2, version 1 — Was deleted" in line for line in told)
    assert "free for" not in moved and new


def test_a_question_whose_words_are_gone_says_so(ferries):
    with ferries.inside():
        RetrievalTrace.objects.update(request=None)
    text = visit(ferries, "owner").post(page(ferries.trace, "replay")).content.decode()
    assert "The words of the question are gone" in text and rows(text, "Memories") == []


# -- why not


def test_why_a_memory_was_not_given(ferries):
    client, path = visit(ferries, "auditor"), page(ferries.trace, "why")

    def said(memory: str) -> str:
        answer = client.post(path, {"memory": memory, "purpose": "incident"})
        assert answer.status_code == 200 and read(answer.content.decode()).refused == []
        return words(answer.content.decode().partition('id="explained-title"')[2])

    assert "It was given." in said(ferries.one) and "as the trace holds it" in said(ferries.one)
    assert "Did not hold any more expired" in said(ferries.past)
    lamp = said(ferries.lamp)
    assert "Nothing in the question leads to it. worked out just now" in lamp
    assert "0 of 3 that anything within reach has; the question has 3" in lamp and "Words it lacks" not in lamp
    later = ferries.propose("kiosk.late", text="The ferry berth is new")["memory_id"]
    assert "It was written after the query." in said(later)
    assert ferries.bob.delete(f"/memories/{ferries.two}?deletion_request_id=del-1").status_code == 202
    nothing = said("mem_00000000000000000000000000")
    assert "There is nothing to say about that." in nothing
    assert said(ferries.two) == nothing == said("berth")  # the form above repeats what was sent; the answer does not
    assert f'value="{ferries.lamp}"' in client.get(f"{path}?memory={ferries.lamp}").content.decode()


@pytest.mark.requirement("ID-35", "TC-11")
def test_the_words_of_a_question_are_for_who_may_read_the_persons_namespace(ferries):
    path, client = page(ferries.trace, "question"), visit(ferries, "owner")
    assert client.get(path).status_code == client.post(path, {"purpose": "incident"}).status_code == 403
    assert "/question/" not in client.get(page(ferries.trace)).content.decode()
    with ferries.inside():
        grants.grant_on_namespaces(ferries.person("owner"), [ferries.namespace("user", "bob").id], "read")
    assert "/question/" in client.get(page(ferries.trace)).content.decode()
    assert "berth" not in client.get(path).content.decode()
    assert "Which berth is free for the ferry?" in client.post(path, {"purpose": "incident"}).content.decode()
    why = client.post(page(ferries.trace, "why"), {"memory": ferries.lamp, "purpose": "incident"}).content.decode()
    assert "Words it lacks" in why and '<span class="word">ferry</span>' in why


def test_a_memory_page_leads_to_the_queries_that_looked_at_it(ferries):
    text = visit(ferries, "owner").get(f"/admin/memories/memory/{ferries.one}/change/").content.decode()
    assert ferries.trace in text
    with ferries.inside():
        assert Memory.objects.filter(fact_key="kiosk.berth_one").exists()


# -- words and drawing


def test_every_word_of_retrieval_is_said_in_both_languages():
    known = {one.source for one in entries((LOCALE / "zh_Hans/LC_MESSAGES/django.po").read_text(encoding="utf-8"))}
    with translation.override("en"):  # a test before may have spoken another language
        for kind, told in VOCABULARIES:
            assert {str(word) for word in told} == {word.value for word in kind}, kind
            assert len(set(map(str, told.values()))) == len(told), kind  # no two codes in the same words
        for told in (*(one for _kind, one in VOCABULARIES), CIRCUMSTANCES, FINDINGS_NOW, INDEX):
            for code, text in told.items():
                assert str(text) in known, code


def test_the_funnel_counts_down_in_the_order_of_the_rules():
    drawn = funnel.draw({"recall": 9, "authority": 10}, [Stage.AUTHORITY, Stage.AUTHORITY, Stage.RECALL, Stage.PACKING])
    assert drawn is not None
    assert [(bar.key, bar.left, bar.lost) for bar in drawn.bars] == [
        ("found", 9, 0),
        ("read", 10, 0),
        ("authority", 8, 2),
        ("recall", 7, 1),
        ("applicability", 7, 0),
        ("relations", 7, 0),
        ("ranking", 7, 0),
        ("packing", 6, 1),
    ]
    widest = max(bar.width + bar.lost_width for bar in drawn.bars)
    assert widest == drawn.bars[1].width == funnel.WIDTH - funnel.LEFT - funnel.RIGHT
    assert all(first.y < second.y for first, second in zip(drawn.bars, drawn.bars[1:], strict=False))
    assert funnel.draw({}, []) is None and funnel.draw({"recall": 0, "authority": 0}, []) is None


def test_a_single_one_among_thousands_is_still_seen():
    drawn = funnel.draw({"recall": 4000, "authority": 4000}, [Stage.AUTHORITY] * 3999)
    assert drawn is not None and drawn.bars[-1].left == 1 and drawn.bars[-1].width >= 2


def test_every_reason_belongs_to_the_page_of_candidates_too(ferries):
    text = visit(ferries, "owner").get("/admin/retrieval/tracecandidate/?reason=expired").content.decode()
    assert "Did not hold any more" in text and CANARY not in text and len(Reason) == 24
