"""Long lists in pages by key: every row once, in both directions, whatever comes and goes meanwhile."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.memories.models import Candidate, Memory
from apps.tenants.console import keyset
from apps.tenants.console.base import GovernedAdmin
from apps.tenants.models import Membership
from tests.console.conftest import Busy, list_url, pages, visit

MEMORIES = "/admin/memories/memory/"
_ROW = re.compile(r'<th class="field-[\w]+"><a href="([^"?]+)')


def listed(client: Client, path: str) -> tuple[list[str], dict[str, str]]:
    """The rows of a page, and the addresses of the pages beside it by the words of their links."""
    answer = client.get(path)
    assert answer.status_code == 200, path
    text = answer.content.decode()
    _head, _, foot = text.partition('class="paginator"')
    links = {words.strip(" ←→"): unescape(url) for url, words in re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', foot)}
    return _ROW.findall(text), {words: path.partition("?")[0] + url for words, url in links.items()}


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(GovernedAdmin, "list_per_page", 3)


def walked(client: Client, path: str, way: str) -> list[list[str]]:
    seen = []
    while path:
        rows, beside = listed(client, path)
        seen.append(rows)
        path = beside.get(way, "")
    return seen


@pytest.mark.usefixtures("small_pages")
def test_every_row_is_on_one_page_forwards_and_backwards(busy):
    client = visit(busy, "owner")
    busy.remember(4)
    for path in (
        MEMORIES,
        "/admin/audits/auditentry/",
        "/admin/tenants/membership/",
        "/admin/jobs/processingjob/?state__in=dead,running",
    ):
        forwards = walked(client, path, "Next page")
        flat = [row for page in forwards for row in page]
        assert len(flat) == len(set(flat)) > 0
        assert all(len(page) == 3 for page in forwards[:-1])
        last = path + ("&" if "?" in path else "?") + "p=last"
        backwards = walked(client, last, "Page before")
        assert [row for page in reversed(backwards) for row in page] == flat, path


@pytest.mark.usefixtures("small_pages")
def test_a_page_goes_on_behind_its_last_row_whatever_came_meanwhile(busy):
    client = visit(busy, "owner")
    first, beside = listed(client, MEMORIES)
    busy.remember(5)
    second, back = listed(client, beside["Next page"])
    assert second and not set(first) & set(second)
    again, _beside = listed(client, back["Page before"])
    assert again == first
    assert listed(client, back["First page"])[0] != first


@pytest.mark.usefixtures("small_pages")
def test_a_place_keeps_the_filters_and_goes_with_them(busy):
    client = visit(busy, "owner")
    _rows, beside = listed(client, f"{MEMORIES}?state__exact=active")
    assert "state__exact=active" in beside["Next page"] and "state__exact=active" in beside["Last page"]
    text = client.get(beside["Next page"]).content.decode()
    filters = text.partition('class="filters"')[2].partition("</div>")[0]
    assert "state__exact" in filters and "p=" not in filters.replace("type__exact", "")


@pytest.mark.usefixtures("small_pages")
def test_rows_that_are_gone_leave_a_page_that_says_so(busy):
    client = visit(busy, "owner")
    _rows, beside = listed(client, "/admin/memories/candidate/?status__exact=committed")
    with busy.inside():
        oldest = Candidate.objects.filter(status="committed").order_by("id").values_list("id", flat=True)[:99]
        Candidate.objects.filter(id__in=list(oldest)[:-3]).update(status="withdrawn")
    assert "The rows that stood here are gone" in client.get(beside["Next page"]).content.decode()


def test_every_list_can_be_paged_by_key():
    for page in pages():
        for order in (page.ordering, *((name, "pk") for name in page.sortable)):
            assert keyset.columns_of(page.model, order), page.opts.label


def test_a_column_that_may_be_empty_is_no_place_to_begin():
    with pytest.raises(TypeError, match="may be empty"):
        keyset.columns_of(Candidate, ["-decided_at"])
    with pytest.raises(TypeError, match="no column"):
        keyset.columns_of(Candidate, ["nonsense"])


PLACES = (
    "2",
    "after",
    "after.",
    "sideways.W10",
    "before.W10",
    "after.bnVsbA",
    "after." + "A" * 2000,
    "after.W251bGxd",
    "after.W1tdXQ",
)


def test_what_names_no_place_is_refused(quiet):
    client = visit(quiet, "owner")
    for place in PLACES:
        assert client.get(MEMORIES, {"p": place}, follow=True).status_code == 400, place


def test_no_statement_counts_or_skips_rows(busy, monkeypatch):
    """A bound on every count and no OFFSET anywhere: what a page costs does not depend on where it stands."""
    monkeypatch.setattr(GovernedAdmin, "list_per_page", 2)
    client = visit(busy, "owner")
    _rows, beside = listed(client, MEMORIES)
    for path in (MEMORIES, beside["Next page"], beside["Last page"]):
        with CaptureQueriesContext(connection) as asked:
            client.get(path)
        lists = [query["sql"] for query in asked if '"memories_memory"' in query["sql"]]
        assert lists and all("LIMIT" in sql for sql in lists), path
        assert not any("OFFSET" in sql for sql in lists), path


def test_equal_values_are_told_apart_by_the_key(busy, monkeypatch):
    monkeypatch.setattr(GovernedAdmin, "list_per_page", 2)
    with busy.inside():
        Membership.objects.update(created_at=Membership.objects.order_by("id").values("created_at")[:1])
        wanted = Membership.objects.count()
    client = visit(busy, "owner")
    flat = [row for page in walked(client, list_url(Membership), "Next page") for row in page]
    assert len(set(flat)) == len(flat) == wanted


def test_a_scope_with_few_namespaces_or_many_finds_the_same(busy: Busy, monkeypatch: Any):
    client = visit(busy, "owner")
    few = listed(client, f"{MEMORIES}?namespace__scope=project")[0]
    monkeypatch.setattr("apps.tenants.console.filters._MOST_NAMED", 0)
    assert listed(client, f"{MEMORIES}?namespace__scope=project")[0] == few != []
    with busy.inside():
        assert len(few) == Memory.objects.filter(namespace__scope="project").exclude(state=Memory.State.REVOKED).count()


def test_the_way_back_leads_to_the_place_one_came_from(busy, monkeypatch):
    monkeypatch.setattr(GovernedAdmin, "list_per_page", 2)
    client = visit(busy, "owner")
    _rows, beside = listed(client, f"{MEMORIES}?state__exact=active")
    text = client.get(beside["Next page"]).content.decode()
    opened = re.search(r'<th class="field-fact_key"><a href="([^"]+)"', text)
    crumbs = client.get(unescape(opened[1])).content.decode().partition('class="crumbs"')[2]
    assert unescape(re.search(r'<a href="(/admin/memories/memory/\?[^"]+)"', crumbs)[1]) == beside["Next page"]
