"""The console in a real browser: light, dark, Chinese and on a phone; with the keyboard; without JavaScript."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "chinese": {"color_scheme": "light", "locale": "zh-CN"},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
SERIOUS = {"serious", "critical"}


def accessible(page) -> list[str]:
    """What axe calls serious or critical about the page."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found if one["impact"] in SERIOUS]


@pytest.mark.parametrize("look", LOOKS)
def test_the_pages_of_a_morning(busy, visitor, look):
    with visitor(look, **LOOKS[look]) as owner:
        owner.open("/admin/")
        check(owner, "login")
        owner.sign_in(busy, "owner")
        check(owner, "home")
        owner.page.locator('[data-card="conflicts"] a').click()
        owner.page.locator("#result_list tbody th a").first.click()
        assert owner.page.locator("h1").inner_text() == "kiosk.database"
        check(owner, "conflict")
        owner.open("/admin/memories/memory/")
        check(owner, "list")
        owner.page.locator("#result_list tbody th a").first.click()
        check(owner, "memory")
        assert re.fullmatch(r"mem_[0-9a-z]{26}", owner.page.locator(".ids code").first.inner_text())
        owner.open("/admin/nothing/")
        check(owner, "refused")
        assert owner.complaints == []


def check(owner, name: str) -> None:
    """Nobody is kept out, nothing hangs over the edge. (Words and widths change nothing of what axe looks at; colours do.)"""
    owner.picture(name)
    if owner.name in {"light", "dark"}:
        assert accessible(owner.page) == [], name
    wide, seen = owner.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= seen, f"{name} is {wide} wide on a screen of {seen}"


def test_the_theme_is_chosen_and_stays(busy, visitor):
    with visitor("theme", color_scheme="light") as owner:
        owner.sign_in(busy, "owner")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = owner.page.evaluate(ground)
        owner.page.locator(".theme-toggle").click()
        dark = owner.page.evaluate(ground)
        assert dark != light
        owner.open("/admin/memories/memory/")
        assert owner.page.evaluate(ground) == dark
        owner.page.locator(".theme-toggle").click()
        assert owner.page.evaluate(ground) == light
        assert owner.complaints == []


def test_the_keyboard_alone_is_enough(busy, visitor):
    with visitor("keyboard") as owner:
        owner.sign_in(busy, "owner")
        page = owner.open("/admin/memories/memory/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "searchbar"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.locator("details.filter[open]").count() == 1
        page.keyboard.press("Escape")
        assert page.locator("details.filter[open]").count() == 0
        assert owner.complaints == []


def test_everything_works_without_a_script(busy, visitor):
    with visitor("plain", java_script_enabled=False, viewport={"width": 390, "height": 844}) as owner:
        owner.sign_in(busy, "owner")
        owner.page.get_by_role("link", name="Menu").click()
        owner.page.get_by_role("link", name="Memories", exact=True).click()
        owner.page.locator("details.filter summary", has_text="State").click()
        owner.page.locator("details.filter[open] a", has_text="Needs review").click()
        assert "1 row" in owner.page.locator(".paginator").inner_text()
        owner.page.get_by_role("link", name="Menu").click()
        owner.page.get_by_role("button", name="简体中文").click()
        assert owner.page.locator("h1").inner_text() == "记忆"
        assert "state__exact=needs_review" in owner.page.url
        owner.page.get_by_role("link", name="菜单").click()
        owner.page.get_by_role("button", name="退出登录").click()
        assert owner.page.locator("h1").inner_text() == "您已退出登录"
