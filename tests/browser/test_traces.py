"""Why did the agent see this, and not that: a trace in a real browser, from the list to the answer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_console import LOOKS, check
from tests.console.conftest import Busy

pytestmark = pytest.mark.browser


def story(busy: Busy) -> dict[str, str]:
    """One query that finds several things, gives some, and one memory that nothing leads to; then the world moves."""
    made = {}
    for name, text in {
        "one": "Berth one is free for the ferry from Monday to Friday.",
        "two": "Berth two is kept free for the ferry and for the pilot boat.",
        "three": "一号泊位留给渡轮和引航船。The ferry berth is swept on Sundays.",
        "four": "The ferry pays for its berth once a year.",
    }.items():
        made[name] = busy.propose(f"kiosk.berth_{name}", text=text)["memory_id"]
    past = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2021-02-01T00:00:00Z"}
    made["past"] = busy.propose("kiosk.berth_closed", text="The ferry berth was closed for a storm", **past)["memory_id"]
    busy.propose("kiosk.knock", text="Knock before you enter the berth", memory_type="constraint", retrieval_policy="always")
    made["lamp"] = busy.propose("kiosk.lamp", text="The lamp is warm")["memory_id"]
    window = [{"role": "user", "content": "I want to land tomorrow."}, {"role": "assistant", "content": "With which boat?"}]
    asked = {"question": "Which berth is free for the ferry?", "project": "kiosk", "max_items": 4, "window": window}
    packet = busy.bob.post("/memory-query", asked).json()
    made["trace"] = packet["trace_id"]
    used = [{"memory_id": packet["items"][1]["memory_id"], "version": 1, "used": True}]
    assert busy.bob.post(f"/memory-traces/{made['trace']}/adoptions", {"adopted": used}).status_code == 200
    busy.propose("kiosk.berth_five", text="Berth five: free for the ferry", valid_from="2025-01-01T00:00:00Z")
    assert busy.bob.delete(f"/memories/{made['four']}?deletion_request_id=del-9").status_code == 202
    return made


@pytest.mark.requirement("TC-07", "TC-12")
def test_from_the_list_to_the_answer(busy, visitor):
    made = story(busy)
    for look, settings in LOOKS.items():  # one world for all of them: it takes longer to make than to look at
        with visitor(look, **settings) as auditor:
            auditor.sign_in(busy, "auditor")
            if look in {"light", "phone"}:
                walk(auditor, made)
            else:  # colours and words of the page that has the most of both
                auditor.open(f"/admin/retrieval/retrievaltrace/{made['trace']}/change/")
                check(auditor, "trace")
            assert auditor.complaints == []


def walk(auditor, made):
    page = auditor.open("/admin/retrieval/retrievaltrace/")
    check(auditor, "traces")
    page.locator("#result_list tbody th a").first.click()
    expect(page.locator("svg.funnel .left").first).to_be_visible()
    expect(page.locator(".given tbody tr")).to_have_count(4)
    page.locator("details.as-table summary").click()
    check(auditor, "trace")
    page.locator('.acts a[href$="/replay/"]').click()
    page.locator("main form button[type=submit]").click()
    expect(page.locator("tr.differs").first).to_be_visible()
    check(auditor, "replay")
    auditor.open(f"/admin/retrieval/retrievaltrace/{made['trace']}/why/")
    for name in ("lamp", "past"):
        page.locator("#id_memory").fill(made[name])
        page.locator("main form button[type=submit]").click()
        expect(page.locator(".steps li")).to_have_count(8)
        check(auditor, f"why-{name}")
