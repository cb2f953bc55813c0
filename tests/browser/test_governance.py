"""What people do in the console, in a real browser: the queue, what changed, where it comes from, and a dead letter."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from apps.jobs.models import ProcessingJob
from tests.browser.test_console import LOOKS, check
from tests.console.conftest import Busy

pytestmark = pytest.mark.browser


def story(busy: Busy) -> dict[str, str]:
    """A memory in two versions (English and Chinese), and one that rests on a talk, on what was made of it, and on an e-mail."""
    busy.tell("talk-2026-01-05", occurred_at="2026-01-05T09:00:00Z")
    busy.tell("summary-of-talk", source_type="assistant_message", derived_from=["talk-2026-01-05"])
    busy.tell("retelling", source_type="assistant_message", derived_from=["summary-of-talk"])
    busy.tell("email-2026-02-11", occurred_at="2026-02-11T09:00:00Z")
    busy.tell("planning-2026-03", occurred_at="2026-03-02T09:00:00Z")
    first, later = {"source_event_ids": ["talk-2026-01-05"]}, {"source_event_ids": ["planning-2026-03"]}
    busy.propose("kiosk.storage", text="Orders are kept in a SQLite file on the till, saved every Monday.", **first)
    english = busy.propose("kiosk.storage", text="Orders are kept in PostgreSQL in the office, saved every Tuesday.", **later)
    busy.propose("kiosk.locale", text="演示站的默认语言是简体中文，每周二备份。", **first)
    chinese = busy.propose("kiosk.locale", text="演示站的默认语言是英文，每周三备份。", **later)
    busy.propose("kiosk.refunds", text="Two people approve refunds.", **first)
    said = ["retelling", "email-2026-02-11", "planning-2026-03"]
    refunds = busy.propose("kiosk.refunds", text="Two people approve refunds.", source_event_ids=said)
    busy.propose("kiosk.password", text="password: hunter2-Zx81pq!")
    assert english["decision"] == chinese["decision"] == "SUPERSEDE" and refunds["decision"] == "ATTACH_EVIDENCE"
    return {"english": english["memory_id"], "chinese": chinese["memory_id"], "refunds": refunds["memory_id"]}


@pytest.mark.requirement("OJ-08", "LN-04")
@pytest.mark.parametrize("look", LOOKS)
def test_the_work_of_a_day(busy, visitor, look):
    made = story(busy)
    with visitor(look, **LOOKS[look]) as owner:
        owner.sign_in(busy, "owner")
        page = owner.open("/admin/memories/candidate/")
        check(owner, "queue")
        page.locator("#result_list tbody th a").first.click()
        expect(page.locator(".chain tr.refused")).to_have_count(1)
        expect(page.locator(".chain tr.not_reached")).to_have_count(2)
        check(owner, "candidate")
        owner.open(f"/admin/memories/memory/{made['refunds']}/change/")
        assert page.locator("svg.lineage .origin").count() == 3 and page.locator("svg.timeline .current").count() >= 1
        page.locator("details.as-table summary").click()
        check(owner, "lineage")
        for name, removed, added in (("english", "Monday", "Tuesday"), ("chinese", "简体中文", "英文")):
            owner.open(f"/admin/memories/memory/{made[name]}/words/")
            page.locator("main form button[type=submit]").click()
            page.locator(".said").wait_for()
            assert any(removed in text for text in page.locator(".said .text del").all_text_contents())
            assert any(added in text for text in page.locator(".said .text ins").all_text_contents())
            check(owner, f"words-{name}")
        settle(owner)
        assert owner.complaints == []
    with busy.inside():
        assert ProcessingJob.objects.filter(state="dead").count() == 0


def settle(owner):
    """From the card on the home page to the dead letter, and back with what was done."""
    owner.open("/admin/")
    page = owner.page
    page.locator('[data-card="dead_letters"] a').click()
    page.locator("#result_list tbody th a").first.click()
    page.locator(".notice.wrong").wait_for()
    check(owner, "dead-letter")
    page.locator('.acts a[href$="/discard/"]').click()
    page.locator("#id_confirmation").fill("something else")
    page.locator("main button[type=submit]").click()
    expect(page.locator("ul.errorlist")).to_have_count(1)
    check(owner, "discard")
    page.locator("main .choices a").click()
    page.locator('.acts a[href$="/retry/"]').click()
    page.locator("#id_reason").wait_for()
    check(owner, "retry")
    page.locator("main button[type=submit]").click()
    expect(page.locator("ul.messagelist li")).to_have_count(1)
    assert page.locator(".acts").count() == 0
    check(owner, "retried")


def test_the_queue_is_walked_without_a_script(busy, visitor):
    story(busy)
    with visitor("queue-plain", java_script_enabled=False) as reviewer:
        reviewer.sign_in(busy, "reviewer")
        page = reviewer.open("/admin/memories/candidate/")
        page.locator("details.filter summary", has_text="Stopped by").click()
        page.locator("details.filter[open] a", has_text="Forbidden information").click()
        expect(page.locator("#result_list tbody tr")).to_have_count(1)
        page.locator("#result_list tbody th a").first.click()
        assert "Holds what may not be stored" in page.locator(".chain tr.refused").inner_text()
        page.locator(".crumbs a", has_text="Candidates").click()
        page.wait_for_url("**/candidate/?check=storable")
