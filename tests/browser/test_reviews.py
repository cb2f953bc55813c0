"""Deciding in a real browser: a promotion is approved and given out, a conflict is settled and warned of no more."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_console import LOOKS, check
from tests.console.conftest import Busy

pytestmark = pytest.mark.browser

QUEUE = "/admin/memories/reviewrequest/?status__exact=pending_review"


def send(page: Page) -> None:
    page.locator("main .asking form button[type=submit]").click()


@pytest.mark.requirement("AI-06", "MG-13")
def test_a_reviewer_approves_a_promotion_and_settles_a_conflict(busy: Busy, visitor) -> None:
    made = busy.propose("berth.first", scope="user", scope_id=None, text="Look at the tide before you land")
    body = {"target": "project", "target_id": "kiosk", "rationale": "useful for all", "expected_version": 1}
    assert busy.bob.post(f"/memories/{made['memory_id']}/promotions", body).status_code == 202
    look = next(iter(LOOKS))
    with visitor(look, **LOOKS[look]) as reviewer:
        reviewer.sign_in(busy, "reviewer")
        page = reviewer.open(QUEUE)
        check(reviewer, "reviews")
        page.keyboard.press("j")
        expect(page.locator("#result_list tbody th a").first).to_be_focused()
        page.get_by_role("link", name="Promotion to a project").click()
        page.locator('.acts a[href$="/review/"]').click()
        send(page)
        expect(page.locator(".said .text").first).to_contain_text("tide")
        page.keyboard.press("a")
        expect(page.locator("input[name=verdict][value=approve]")).to_be_checked()
        for box in page.locator("input[name=checks]").all():
            box.check()
        check(reviewer, "review")
        send(page)
        expect(page.locator(".messagelist")).to_contain_text("Approved")
        asked = {"question": "What about the tide, before you land?", "project": "kiosk"}
        found = busy.alice.post("/memory-query", asked).json()["items"]
        assert [item["fact_key"] for item in found] == ["berth.first"]

        page = reviewer.open("/admin/memories/conflictset/?status__exact=open")
        page.locator("#result_list tbody th a").first.click()
        page.locator('.acts a[href$="/settle/"]').click()
        send(page)
        expect(page.locator(".columns article ins").first).to_be_visible()
        page.locator("input[name=decision]").first.check()
        page.locator("textarea[name=reason]").fill("asked the team")
        page.locator("input[name=confirmation]").fill("kiosk.database")
        check(reviewer, "settle")
        send(page)
        expect(page.locator(".messagelist")).to_contain_text("settled")
        assert busy.bob.get("/memory-conflicts").json()["items"] == []
        assert reviewer.complaints == []
