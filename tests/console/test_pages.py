"""Every page, walked: what it may load and run, that it shows no private text, and nothing of another tenant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.core.api.security_headers import CSP, PAGE, policy
from apps.evidence.models import Content
from apps.memories.models import Memory
from apps.tenants.console.site import console
from apps.tenants.models import AccessPolicy, Namespace, Scope, User
from apps.tenants.people import add_staff
from tests.console.conftest import (
    CANARY,
    EVERYTHING,
    detail_url,
    list_url,
    pages,
    row_page_url,
    row_pages,
    shown_keys,
    signed_in,
    visit,
)
from tests.console.reading import read

OWN = Path(finders.find("console/console.css")).parent  # type: ignore[arg-type]
MOST_BYTES = 60 * 1024


def crawl(client: Client, world: Any) -> Iterator[tuple[str, Any]]:
    """Home, every list, a detail of every kind that this person may see, and the form of whatever is done there."""
    paths = ["/admin/", *(list_url(page.model) for page in pages())]
    keys = shown_keys(world)
    paths += [detail_url(model, key) for model, key in keys.items()]
    paths += [row_page_url(page.model, keys[page.model], one) for page, one in row_pages()]
    for path in paths:
        yield path, client.get(path)


def assert_strict(path: str, answer: Any) -> None:
    assert answer[CSP] == policy(PAGE), path
    assert read(answer.content.decode()).refused == [], path


@pytest.mark.requirement("ID-35")
def test_every_page_obeys_the_policy_and_never_loads_a_private_text(busy):
    client = visit(busy, "owner")
    with CaptureQueriesContext(connection) as asked:
        answers = dict(crawl(client, busy))
    assets = set()
    for path, answer in answers.items():
        # The words of a question are kept with the person who asked: nobody else's page opens.
        assert answer.status_code == (403 if path.endswith("/question/") else 200), path
        assert_strict(path, answer)
        text = answer.content.decode()
        assert CANARY not in text, path
        assets |= set(read(text).assets)
    assert [query["sql"] for query in asked if '"evidence_content"."text"' in query["sql"]] == []
    for asset in assets:
        found = client.get(asset)
        assert found.status_code == 200 and found[CSP], asset


def test_pages_of_people_who_get_no_further_obey_the_policy_too(world, nobody, root, settings):
    inside, outside = visit(world, "operator"), Client()
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    expected = {
        "login": (outside.get("/admin/login/"), 200),
        "wrong password": (outside.post("/admin/login/", {"username": "owner_orchard", "password": "wrong"}), 200),
        "no role": (signed_in(nobody).get("/admin/login/"), 403),
        "installation": (signed_in(root).get("/admin/"), 200),
        "not allowed": (inside.get("/admin/memories/memory/"), 403),
        "nothing there": (inside.get("/admin/nothing/"), 404),
        "nothing anywhere": (outside.get("/nothing"), 404),
        "unreadable filter": (inside.get("/admin/jobs/processingjob/?e=1"), 400),
        "forbidden filter": (inside.get("/admin/jobs/processingjob/?payload__contains=x"), 400),
        "no token": (Client(enforce_csrf_checks=True).post("/admin/login/", {}), 403),
        "password": (inside.get("/admin/password_change/"), 200),
        "password refused": (inside.post("/admin/password_change/", {}), 200),
        "documentation": (outside.get("/api/v1/docs"), 200),
        "logged out": (inside.post("/admin/logout/"), 200),
    }
    for name, (answer, status) in expected.items():
        assert answer.status_code == status, name
        if name == "documentation":
            assert read(answer.content.decode()).refused == [], name
        else:
            assert_strict(name, answer)


def test_our_own_assets_are_small_and_load_nothing_from_elsewhere():
    files = [file for file in OWN.rglob("*") if file.suffix in {".css", ".js"}]
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "//" not in text.replace("// ", "") and "@import" not in text and "url(" not in text, file


# -- another tenant


def telling(row: Any) -> set[str]:
    """Everything by which a page could name this row."""
    found = {str(row.pk)}
    page = console.page_of(type(row))
    if page is not None and page.id_prefix:
        found.add(page.spelled(row.pk))
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(field, (models.CharField, models.TextField)) and len(value or "") > 11 and not field.choices:
            found.add(value)
    return {text for text in found if len(text) > 11}


@pytest.mark.requirement("ID-28", "AU-01")
def test_staff_of_one_tenant_never_see_a_row_of_another(world, elsewhere):
    with elsewhere.inside():
        theirs = {model: list(model.objects.all()) for model in EVERYTHING if model.governance.tenant is not None}
    with world.inside():
        ours = {text for model in theirs for row in model.objects.all() for text in telling(row)}
    foreign = {text for rows in theirs.values() for row in rows for text in telling(row)} - ours
    foreign |= {user.username for user in User.objects.filter(username__contains="basin")}
    client = visit(world, "owner")
    for path, answer in crawl(client, world):
        text = answer.content.decode()
        assert [name for name in foreign if name in text] == [], path
    for page in pages():
        for row in theirs.get(page.model, [])[:1]:
            for path in (detail_url(page.model, row.pk), *(row_page_url(page.model, row.pk, one) for one in page.row_pages)):
                assert client.get(path).status_code == 404, path
            if page.search_fields:
                assert str(row.pk) not in results(client.get(list_url(page.model), {"q": str(row.pk)})), page.opts.label


def results(answer: Any) -> str:
    """The rows of a list, without the search box that repeats the question."""
    _head, _, rest = answer.content.decode().partition('<table id="result_list">')
    return rest


def test_people_of_another_tenant_are_not_there_though_their_table_is_shared(world, elsewhere):
    client = visit(world, "owner")
    stranger = elsewhere.person("owner")
    assert client.get(detail_url(User, stranger.pk)).status_code == 404
    assert "basin" not in client.get(list_url(User)).content.decode()


# -- namespaces and policies


def test_a_reviewer_sees_the_namespaces_in_reach_only(busy):
    reviewer, owner = visit(busy, "reviewer"), visit(busy, "owner")
    private = busy.propose("editor.theme", "user", None)["memory_id"]
    assert owner.get(f"/admin/memories/memory/{private}/change/").status_code == 200
    assert reviewer.get(f"/admin/memories/memory/{private}/change/").status_code == 404
    assert "editor.theme" in owner.get("/admin/memories/memory/").content.decode()
    for path in ("/admin/memories/memory/", "/admin/memories/candidate/", "/admin/memories/memory/?q=editor.theme"):
        assert "editor.theme" not in results(reviewer.get(path)), path
    shown = reviewer.get("/admin/tenants/namespace/").content.decode()
    with busy.inside():
        assert {row.scope for row in Namespace.objects.all() if str(row.pk) in shown} == {Scope.PROJECT, Scope.ORGANIZATION}


def test_somebody_with_a_second_role_does_not_see_more_of_a_page_than_its_own_roles_show(busy):
    """An operator sees jobs of the whole tenant; that must not widen what the same person sees as a reviewer."""
    private = busy.propose("editor.theme", "user", None)["memory_id"]
    add_staff(busy.command(), username=busy.person("reviewer").username, roles=["operator"])
    client = visit(busy, "reviewer")
    assert client.get("/admin/jobs/processingjob/").status_code == 200
    assert client.get(f"/admin/memories/memory/{private}/change/").status_code == 404


def test_a_reviewer_does_not_see_what_is_under_a_policy_of_others(busy):
    with busy.inside():
        policy_row = AccessPolicy.objects.create(tenant_id=busy.tenant_id, key="board")
        memory = Memory.objects.filter(fact_key="kiosk.database").order_by("id").first()
        Memory.objects.filter(pk=memory.pk).update(access_policy=policy_row)
    reviewer, owner = visit(busy, "reviewer"), visit(busy, "owner")
    assert owner.get(detail_url(Memory, memory.pk)).status_code == 200
    assert reviewer.get(detail_url(Memory, memory.pk)).status_code == 404
    assert "kiosk.database" in owner.get("/admin/memories/conflictset/").content.decode()
    assert "kiosk.database" not in reviewer.get("/admin/memories/conflictset/").content.decode()


@pytest.mark.requirement("DJ-02")
def test_a_deleted_memory_is_gone_from_every_page_with_the_acceptance(busy):
    made = busy.propose("kiosk.secret_corner")
    client = visit(busy, "owner")
    path = f"/admin/memories/memory/{made['memory_id']}/change/"
    assert client.get(path).status_code == 200
    assert busy.bob.delete(f"/memories/{made['memory_id']}?deletion_request_id=del-9").status_code == 202
    assert client.get(path).status_code == 404
    for name in ("memory", "memoryversion", "evidencelink", "relation"):
        assert "kiosk.secret_corner" not in client.get(f"/admin/memories/{name}/").content.decode(), name


# -- questions that a list does not answer


def test_no_column_can_be_asked_but_those_the_page_names(busy):
    client = visit(busy, "auditor")
    for page in pages():
        for field in page.opts.concrete_fields:
            for lookup in ("startswith", "contains", "regex", "gt"):
                assert not page.lookup_allowed(f"{field.name}__{lookup}", "x", None) or field.name == "source_events", field
        for hidden in page.hidden_fields:
            assert not page.lookup_allowed(hidden, "x", None), hidden
            assert not page.lookup_allowed(f"{hidden}__isnull", "x", None), hidden
    for path in (
        "/admin/evidence/content/?text__startswith=the",
        "/admin/evidence/content/?text=x",
        "/admin/tenants/user/?password__startswith=a",
        "/admin/tenants/credential/?token_sha256__gte=0",
        "/admin/memories/candidate/?content__text__contains=x",
        "/admin/memories/memory/?head__content__text__contains=x",
        "/admin/memories/memory/?namespace__tenant__key=basin",
    ):
        assert client.get(path).status_code == 400, path


def test_a_key_that_few_have_or_nearly_everybody_is_found_alike(quiet, monkeypatch):
    client = visit(quiet, "reviewer")
    quiet.propose("kiosk.colour")
    quiet.propose("kiosk.colour", "user", None)
    for most in (2_000, 0):
        monkeypatch.setattr("apps.memories.admin.memories._MOST_NAMED", most)
        found = results(client.get("/admin/memories/memory/", {"q": "Kiosk.Colour"}))
        assert found.count("kiosk.colour") == 1, most  # the person's own is not the reviewer's
        assert results(client.get("/admin/memories/memory/", {"q": "kiosk.shape"})) == "", most


def test_a_search_finds_whole_ids_and_keys_and_nothing_inside_a_text(busy):
    client = visit(busy, "owner")
    with busy.inside():
        content = Content.objects.filter(text__contains=CANARY).first()
    memory = busy.propose("kiosk.colour")["memory_id"]
    for term in (memory, "kiosk.colour", " Kiosk.Colour "):
        assert "kiosk.colour" in results(client.get("/admin/memories/memory/", {"q": term})), term
    for term in ("kiosk.col", "herring", CANARY, "%", "cand-1' OR 1=1", "mem_", "\u0000"):
        assert results(client.get("/admin/memories/memory/", {"q": term})) == "", term
    assert content is not None
    assert str(content.pk) in results(client.get("/admin/evidence/content/", {"q": str(content.pk)}))
    assert results(client.get("/admin/evidence/content/", {"q": "herring"})) == ""


ODD_QUERIES = (
    "p=after.",
    "p=after.W10",  # an empty list
    "p=before.WyJ4Il0",  # a text that is no key
    "p=after.WyJcdWQ4MDAiXQ",  # half a character
    "p=after.W1tdXQ",
    "p=last",
    "reason=nonsense",
    "reason=%00",
    "check=nonsense",
    "namespace__scope=nonsense",
    "namespace=nonsense",
    "state__exact=nonsense",
    "p=0",
    "p=99999999999999999999",
    "o=99",
    "o=x.-y",
    "namespace=%00",
    "q=%00",
    "source_events__contains=%7Bx",
    "decided_at__gte=yesterday",
    "_to_field=tenant",
    "_popup=1",
    "all=",
    "_facets=True",
)
ODD_KEYS = ("nonsense", "mem_0", "%00", "00000000-0000-0000-0000-000000000000", "../x", "_3A", "1" * 300)


def test_odd_addresses_never_break_a_page(busy):
    client = visit(busy, "owner")
    for query in ODD_QUERIES:
        for name in ("memory", "candidate"):
            answer = client.get(f"/admin/memories/{name}/?{query}", follow=True)
            assert answer.status_code in {200, 400}, (name, query)
    for key in ODD_KEYS:
        for name in ("memories/memory", "jobs/workerheartbeat", "tenants/namespaceuserpermission"):
            assert client.get(f"/admin/{name}/{key}/change/").status_code == 404, (name, key)
