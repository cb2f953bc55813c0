"""The home page: every number is that of the list behind it, and costs no more as the tenant grows."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.core import clock
from apps.jobs.heartbeats import ALIVE
from apps.jobs.models import WorkerHeartbeat
from apps.memories.models import Candidate, Decision, Memory
from apps.tenants.console import paging
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.cards import registered_cards
from tests.console.conftest import visit
from tests.console.reading import words
from tests.tenants.world import ROLES, World

# A number and the address behind it, wherever it stands on the page.
_CARD = re.compile(r'data-card="(\w+)".*?<a href="([^"]+)".*?class="figure">([^<]+)<', re.DOTALL)
_CELL = re.compile(r'<td(?: class="number")?><a href="(/admin/[^"]+)">([\d\u202f+]+)</a></td>')


def numbers(text: str) -> dict[str, tuple[str, str]]:
    """Name or address → (address, number)."""
    cards = {key: (unescape(url), count) for key, url, count in _CARD.findall(text)}
    return cards | {url: (unescape(url), count) for url, count in _CELL.findall(text)}


def listed(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, url
    found = re.search(r'<span class="count">([\d\u202f+]+) rows?</span>', answer.content.decode())
    return found.group(1) if found else "0"


def statements(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(path).status_code == 200
    return len(asked)


def card(client: Client, key: str) -> str:
    return numbers(client.get("/admin/").content.decode())[key][1]


def test_every_number_is_that_of_the_list_it_leads_to(busy):
    client = visit(busy, "owner")
    found = numbers(client.get("/admin/").content.decode())
    assert {one.key for one in registered_cards()} <= set(found)
    for name, (url, count) in found.items():
        assert listed(client, url) == count, name
    assert {key: found[key][1] for key in ("conflicts", "candidates", "needs_review", "dead_letters", "jobs_running")} == {
        "conflicts": "1",
        "candidates": "2",
        "needs_review": "1",
        "dead_letters": "1",
        "jobs_running": "1",
    }
    assert found["deletions_stuck"][1] == "1"


def test_a_reviewers_numbers_are_those_of_the_namespaces_in_reach(busy):
    busy.propose("editor.theme", "user", None)
    owner, reviewer = (numbers(visit(busy, role).get("/admin/").content.decode()) for role in ("owner", "reviewer"))
    active = "/admin/memories/memory/?state__exact=active"
    assert int(owner[active][1]) == int(reviewer[active][1]) + 1
    client = visit(busy, "reviewer")
    for name, (url, count) in list(reviewer.items())[::3]:
        assert listed(client, url) == count, name


def test_a_role_sees_the_cards_of_the_pages_it_opens(busy):
    for role in ROLES:
        client = visit(busy, role)
        shown = numbers(client.get("/admin/").content.decode())
        for one in registered_cards():
            opens = client.get(f"/admin/{one.model.lower().replace('.', '/')}/").status_code == 200
            assert (one.key in shown) == opens, (role, one.key)


def test_an_age_is_that_of_the_oldest_and_a_queue_asks_for_somebody(busy):
    text = visit(busy, "owner").get("/admin/").content.decode()
    assert 'class="card attention" data-card="dead_letters"' in text
    assert 'class="card attention" data-card="conflicts"' in text
    assert 'class="card none" data-card="deletions_blocked"' in text
    assert "oldest: 3 days" in words(text)
    assert "6 things ask for somebody." in words(text)


def test_a_silent_worker_asks_for_somebody(busy):
    client = visit(busy, "operator")
    assert 'class="card" data-card="workers"' in client.get("/admin/").content.decode()
    WorkerHeartbeat.objects.update(seen_at=clock.now() - ALIVE - timedelta(seconds=1))
    assert 'class="card attention" data-card="workers"' in client.get("/admin/").content.decode()
    WorkerHeartbeat.objects.all().delete()
    assert 'class="card attention" data-card="workers"' in client.get("/admin/").content.decode()


def test_an_empty_tenant_is_told_that_nothing_waits(db):
    world = World("orchard")
    WorkerHeartbeat.objects.create(name="harbour:1", seen_at=clock.now())
    text = words(visit(world, "owner").get("/admin/").content.decode())
    assert "Nothing waits for you." in text
    assert "Nothing was decided in the last 14 days." in text


def test_decisions_stand_on_the_day_they_were_made(busy):
    client = visit(busy, "owner")
    with busy.inside():
        assert Candidate.objects.filter(decision=Decision.CONFLICT).update(decided_at=clock.now() - timedelta(days=3)) == 1
        assert Candidate.objects.filter(decision=Decision.ADD).count() >= 5
    url = next(url for url in numbers(client.get("/admin/").content.decode()) if "decision__exact=CONFLICT" in url)
    day = (clock.now() - timedelta(days=3)).date().isoformat()
    assert f"decided_at__gte={day}" in url
    assert listed(client, unescape(url)) == "1"


def test_counting_stops_and_says_so(busy, monkeypatch):
    client = visit(busy, "owner")
    with busy.inside():
        actives = Memory.objects.filter(state=Memory.State.ACTIVE).count()
    monkeypatch.setattr(paging, "MOST_COUNTED", actives - 1)
    monkeypatch.setattr("apps.tenants.console.charts.MOST_COUNTED", actives - 1)
    monkeypatch.setattr(GovernedAdmin, "list_per_page", 2)
    active = "/admin/memories/memory/?state__exact=active"
    assert numbers(client.get("/admin/").content.decode())[active][1] == f"{actives - 1}+"
    answer = client.get(active).content.decode()
    assert f"{actives - 1}+ rows" in answer and "Counting stops here" in answer


def test_a_thousand_is_grouped_and_a_bound_is_marked():
    assert str(paging.Tally(10_000, more=True)) == "10\u202f000+"
    assert str(paging.Tally(999)) == "999"


# -- what it costs


def growing(busy: Any) -> None:
    busy.send_events(4)
    busy.remember(4)
    busy.dispute(f"kiosk.region_{busy.next_number()}")
    busy.propose(f"orchard.lunch_{busy.next_number()}", "organization", None)


def test_pages_cost_the_same_number_of_statements_however_much_there_is(busy, monkeypatch):
    monkeypatch.setattr(GovernedAdmin, "list_per_page", 1)  # what is shown whole need not be counted: one statement less
    monkeypatch.setattr("apps.tenants.console.details._SHOWN", 1)
    growing(busy)
    client = visit(busy, "owner")
    made = busy.remember(1)[0]["memory_id"]
    paths = [
        "/admin/",
        "/admin/memories/memory/",
        "/admin/memories/memoryversion/",
        "/admin/memories/candidate/",
        "/admin/memories/conflictset/",
        "/admin/memories/evidencelink/",
        "/admin/evidence/sourceevent/",
        "/admin/evidence/evidence/",
        "/admin/audits/auditentry/",
        "/admin/jobs/processingjob/",
        "/admin/tenants/namespace/",
        "/admin/tenants/namespacegrouppermission/",
        f"/admin/tenants/namespace/{busy.namespace('project', 'kiosk').pk}/change/",
        f"/admin/memories/memory/{made}/change/",
    ]
    before = {path: statements(client, path) for path in paths}
    growing(busy)
    after = {path: statements(client, path) for path in paths}
    assert after == before
    # Of these, 18 open the session, the tenant and the access; savepoints are counted because the test is one transaction.
    assert max(before[path] for path in paths[:12]) <= 30
    assert max(before.values()) <= 45
