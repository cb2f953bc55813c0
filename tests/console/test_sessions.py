"""Coming in, choosing tenant and language, and going out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from apps.core.isolation import system_context
from apps.tenants.models import Membership, User
from apps.tenants.people import add_staff
from tests.console.conftest import signed_in, suspend, visit
from tests.console.reading import words
from tests.tenants.world import World

LOGIN = "/admin/login/"


@pytest.fixture
def small(db) -> World:
    return World("orchard")


def sign_in(world: World, role: str = "owner", *, password: str | None = None, **sent: str) -> tuple[Client, Any]:
    client = Client()
    username = f"{role}_{world.key}"
    answer = client.post(LOGIN, {"username": username, "password": password or world.passwords[username], **sent})
    return client, answer


def tenant_shown(client: Client) -> str:
    found = re.search(r"Today in (\w+)", words(client.get("/admin/").content.decode()))
    assert found is not None
    return found.group(1)


# -- login


def test_the_one_time_password_opens_the_page_that_was_asked_for(small):
    client = Client()
    asked = client.get("/admin/memories/memory/?state__exact=active")
    shown = client.get(asked["Location"])
    following = re.search(r'name="next" value="([^"]+)"', shown.content.decode().partition('id="login-form"')[2])
    assert following is not None
    _client, answer = sign_in(small, next=following.group(1))
    assert answer.status_code == 302 and answer["Location"] == "/admin/memories/memory/?state__exact=active"


@pytest.mark.parametrize(
    "elsewhere", ["https://example.org/", "//example.org/admin/", "javascript:alert(1)", "http:///example.org"]
)
def test_a_login_never_leads_elsewhere(small, elsewhere):
    _client, answer = sign_in(small, next=elsewhere)
    assert answer.status_code == 302 and answer["Location"].startswith("/admin/")


@pytest.mark.parametrize("who", ["wrong password", "inactive", "agent"])
def test_who_may_not_come_in_gets_one_answer(small, who):
    if who == "inactive":
        User.objects.filter(username="owner_orchard").update(is_active=False)
    if who == "agent":
        agent = User.objects.get(username="orchard/assistant")
        agent.set_password("a password that nobody should have given it")
        agent.save()
        client = Client()
        answer = client.post(LOGIN, {"username": agent.username, "password": "a password that nobody should have given it"})
    else:
        client, answer = sign_in(small, password="wrong" if who == "wrong password" else None)
    assert answer.status_code == 200 and "sessionid" not in answer.cookies
    assert "Please enter a correct username and password" in words(answer.content.decode())
    assert client.get("/admin/").status_code == 302


def test_a_form_without_its_token_is_refused_in_the_look_of_the_console(small):
    answer = Client(enforce_csrf_checks=True).post(LOGIN, {"username": "owner_orchard", "password": "x"})
    assert answer.status_code == 403 and "console.css" in answer.content.decode()


def test_cookies_are_for_this_site_and_no_script(small):
    _client, answer = sign_in(small)
    for name in ("sessionid", "csrftoken"):
        cookie = answer.cookies[name]
        assert cookie["httponly"] and cookie["samesite"] == "Lax" and not cookie["secure"], name
    assert int(answer.cookies["sessionid"]["max-age"]) == 8 * 60 * 60


def test_logging_out_ends_the_session(small):
    client = visit(small, "owner")
    assert client.get("/admin/logout/").status_code == 405  # a link must not log anybody out
    assert client.post("/admin/logout/").status_code == 200
    assert client.get("/admin/").status_code == 302 and not Session.objects.exists()


def test_a_new_password_ends_all_other_sessions(small):
    here, there = sign_in(small)[0], sign_in(small)[0]
    new = "seven herring barrels"
    old = small.passwords["owner_orchard"]
    answer = here.post("/admin/password_change/", {"old_password": old, "new_password1": new, "new_password2": new})
    assert answer["Location"] == "/admin/password_change/done/"
    assert here.get("/admin/").status_code == 200 and there.get("/admin/").status_code == 302


@pytest.mark.parametrize("weak", ["short", "password1234", "owner_orchard"])
def test_a_weak_password_is_refused(small, weak):
    client, _ = sign_in(small)
    sent = {"old_password": small.passwords["owner_orchard"], "new_password1": weak, "new_password2": weak}
    answer = client.post("/admin/password_change/", sent)
    assert answer.status_code == 200 and "errorlist" in answer.content.decode()


# -- without a role


def test_somebody_without_a_role_is_told_what_is_missing(small, nobody):
    answer = signed_in(nobody).get("/admin/", follow=True)
    assert answer.status_code == 403 and answer.redirect_chain
    assert "You have no role in any tenant" in words(answer.content.decode())


@pytest.mark.requirement("ID-27")
def test_a_role_that_is_taken_away_ends_at_once(small):
    client = visit(small, "reviewer")
    assert client.get("/admin/").status_code == 200
    with system_context():
        Membership.objects.filter(user=small.person("reviewer")).delete()
    assert client.get("/admin/", follow=True).status_code == 403


def test_a_suspended_tenant_opens_for_nobody(small):
    client = visit(small, "owner")
    suspend(small.tenant_id)
    assert client.get("/admin/", follow=True).status_code == 403


# -- the tenant


@pytest.fixture
def two(small) -> tuple[World, World]:
    """The owner of one tenant is an auditor in another one."""
    other = World("basin")
    add_staff(other.command(), username="owner_orchard", roles=["auditor"])
    return small, other


def test_somebody_with_roles_in_two_tenants_changes_between_them(two):
    orchard, basin = two
    client = visit(orchard, "owner")
    assert tenant_shown(client) == "basin"  # the first by its key
    answer = client.post("/admin/tenant/", {"tenant": str(orchard.tenant_id)})
    assert answer.status_code == 302 and answer["Location"] == "/admin/"
    assert tenant_shown(client) == "orchard"
    client.post("/admin/tenant/", {"tenant": str(basin.tenant_id)})
    assert tenant_shown(client) == "basin"


@pytest.mark.parametrize("chosen", ["", "installation", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_a_tenant_without_a_role_there_cannot_be_chosen(two, chosen):
    client = visit(two[0], "owner")
    client.post("/admin/tenant/", {"tenant": str(two[0].tenant_id)})
    client.post("/admin/tenant/", {"tenant": chosen})
    assert tenant_shown(client) == "orchard"


def test_the_choice_needs_the_forms_token(two):
    client = Client(enforce_csrf_checks=True)
    client.force_login(two[0].person("owner"))
    assert client.post("/admin/tenant/", {"tenant": str(two[0].tenant_id)}).status_code == 403
    assert client.post("/admin/", {"tenant": str(two[0].tenant_id)}).status_code in {403, 405}
    assert tenant_shown(client) == "basin"


def test_a_choice_that_ends_falls_back_to_what_is_left(two):
    orchard, _basin = two
    client = visit(orchard, "owner")
    client.post("/admin/tenant/", {"tenant": str(orchard.tenant_id)})
    suspend(orchard.tenant_id)
    assert tenant_shown(client) == "basin"


def test_a_superuser_with_a_role_may_look_at_the_installation_instead(small):
    person = small.person("operator")
    User.objects.filter(pk=person.pk).update(is_superuser=True)
    client = visit(small, "operator")
    assert client.get("/admin/jobs/processingjob/").status_code == 200
    client.post("/admin/tenant/", {"tenant": "installation"})
    assert client.get("/admin/jobs/processingjob/").status_code == 403
    assert "orchard" in client.get("/admin/tenants/tenant/").content.decode()


# -- the language


def test_the_language_is_a_choice_that_stays(small):
    client = visit(small, "owner")
    answer = client.post("/admin/language/", {"language": "zh-hans", "next": "/admin/memories/memory/"})
    assert answer.status_code == 302 and answer["Location"] == "/admin/memories/memory/"
    cookie = answer.cookies["django_language"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert '<html lang="zh-hans">' in client.get("/admin/").content.decode()
    client.post("/admin/language/", {"language": "en", "next": "/admin/"})
    assert '<html lang="en">' in client.get("/admin/").content.decode()


def test_the_browsers_language_is_the_first_guess(small):
    assert '<html lang="zh-hans">' in Client(headers={"Accept-Language": "zh-CN,zh;q=0.9"}).get(LOGIN).content.decode()
    assert '<html lang="en">' in Client(headers={"Accept-Language": "de"}).get(LOGIN).content.decode()


def test_a_language_never_leads_elsewhere(small):
    answer = Client().post("/admin/language/", {"language": "en", "next": "https://example.org/"})
    assert answer["Location"].startswith("/")
