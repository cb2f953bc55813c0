"""Private text in the console: for whom, for a purpose, audited, and what changed between two versions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from apps.audits.models import AuditEntry
from apps.core.api.security_headers import CSP, PAGE, policy
from apps.core.errors import NotFound, NotPermitted
from apps.memories.models import Candidate, Memory
from apps.memories.revealing import Purpose, reveal_candidate, reveal_versions
from apps.tenants import grants
from apps.tenants.models import AccessPolicy
from tests.console.conftest import CANARY, visit
from tests.console.reading import read
from tests.tenants.world import ROLES

MEMORY = "/admin/memories/memory/{}/words/"
CANDIDATE = "/admin/memories/candidate/{}/words/"


def revise(world: Any, made: Any, content: str) -> Any:
    body = {"content": content, "reason": "it was wrong"}
    answer = world.bob.patch(f"/memories/{made['memory_id']}", body, **{"If-Match": f'"v{made["version"]}"'})
    assert answer.status_code == 200, answer.content
    return answer.json()


def reveals(world: Any) -> list[tuple[str, str, list[str]]]:
    with world.inside():
        rows = AuditEntry.objects.filter(verb="content.revealed").order_by("id")
        return [(row.actor, row.object_id, row.codes) for row in rows]


def sent(version: int, against: int = 0, purpose: str = "review") -> dict[str, str]:
    return {"version": str(version), "against": str(against), "purpose": purpose}


@pytest.fixture
def made(quiet):
    return quiet.propose("kiosk.printer", text="The office uses the blue printer on Mondays.")


def said(text: str) -> str:
    """The words with their marks, as somebody hears them who does not see colours."""
    return re.sub(r"<[^>]*>", "", text.partition('<p class="text">')[2].partition("</p>")[0])


@pytest.mark.requirement("ID-35")
def test_the_words_are_shown_for_a_purpose_and_the_audit_log_says_so(quiet, made):
    client = visit(quiet, "reviewer")
    path = MEMORY.format(made["memory_id"])
    form = client.get(path)
    assert form.status_code == 200 and "printer on" not in form.content.decode() and reveals(quiet) == []
    answer = client.post(path, sent(1, purpose="subject_request"))
    text = answer.content.decode()
    assert answer.status_code == 200 and said(text) == "The office uses the blue printer on Mondays."
    assert "no-store" in answer["Cache-Control"] and answer[CSP] == policy(PAGE) and read(text).refused == []
    assert reveals(quiet) == [("reviewer_orchard", made["memory_id"], ["subject_request", "version:1"])]


def test_what_changed_is_marked_word_by_word(quiet, made):
    revise(quiet, made, "The office uses a red printer on Tuesdays and Fridays.")
    answer = visit(quiet, "owner").post(MEMORY.format(made["memory_id"]), sent(2, 1))
    text = answer.content.decode()
    assert said(text) == (
        "The office uses [removed: the blue][added: a red] printer on [removed: Mondays][added: Tuesdays and Fridays]."
    )
    assert text.count("<del>") - 1 == text.count("<ins>") - 1 == 2  # the legend has one of each
    assert "From version 1 to version 2" in text and "What else changed" in text
    assert reveals(quiet)[-1][2] == ["review", "version:2", "version:1"]


def test_what_changed_in_chinese_is_marked_by_whole_words(quiet):
    made = quiet.propose("kiosk.locale", text="演示站的默认语言是简体中文，日期格式为年月日。")
    revise(quiet, made, "演示站的默认语言是英文，日期格式为日月年。")
    client = visit(quiet, "owner")
    client.post("/admin/language/", {"language": "zh-hans", "next": "/admin/"})
    text = client.post(MEMORY.format(made["memory_id"]), sent(2, 1)).content.decode()
    assert said(text) == "演示站的默认语言是[删除: 简体中文][新增: 英文]，日期格式为[删除: 年月日][新增: 日月年]。"


def test_a_text_cannot_do_anything_on_the_page(quiet):
    quiet.propose("kiosk.note", text="<script>alert(1)</script> \u202egnihton")  # waits, because of what cannot be seen in it
    with quiet.inside():
        row = Candidate.objects.get(fact_key="kiosk.note")
    text = visit(quiet, "owner").post(CANDIDATE.format(row.pk), {"purpose": "review"}).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \\u202egnihton" in text
    assert "\u202e" not in text and read(text).refused == []


def test_a_version_whose_text_was_erased_says_so(quiet, made):
    revise(quiet, made, "red")
    with quiet.inside():
        Memory.objects.get(fact_key="kiosk.printer").versions.filter(version=1).update(content=None)
    text = visit(quiet, "owner").post(MEMORY.format(made["memory_id"]), sent(2, 1)).content.decode()
    assert "The text of a version was erased" in text and said(text) == "red"


def test_a_form_that_means_nothing_shows_nothing(quiet, made):
    client = visit(quiet, "owner")
    for body in ({}, sent(9), sent(1, 7), sent(1, purpose="curiosity"), {"version": "x", "purpose": "review"}):
        answer = client.post(MEMORY.format(made["memory_id"]), body)
        assert answer.status_code == 200 and 'class="errorlist"' in answer.content.decode(), body
        assert "printer on" not in answer.content.decode() and reveals(quiet) == [], body


# -- for whom


@pytest.mark.requirement("ID-35")
def test_who_sees_the_words_of_a_project(quiet, made):
    """Compliance staff may erase without reading: no namespace lets them read unless somebody gave them one."""
    path = MEMORY.format(made["memory_id"])
    for role in ROLES:
        client, before = visit(quiet, role), len(reveals(quiet))
        answers = [client.get(path), client.post(path, sent(1))]
        sees = role in {"owner", "reviewer"}
        assert [answer.status_code for answer in answers] == ([200, 200] if sees else [403, 403]), role
        assert ("printer on" in answers[1].content.decode()) is sees, role
        assert len(reveals(quiet)) - before == sees, role
        assert (b"/words/" in client.get(path.replace("/words/", "/change/")).content) is sees, role


@pytest.mark.requirement("ID-35")
def test_auditors_and_operators_never_see_text_whatever_was_granted(quiet, made):
    for role in ("auditor", "operator"):
        with quiet.inside():
            grants.grant_on_namespaces(quiet.person(role), [quiet.namespace("project", "kiosk").id], "read", "review")
        assert visit(quiet, role).post(MEMORY.format(made["memory_id"]), sent(1)).status_code == 403
        with pytest.raises(NotPermitted):
            reveal_versions(quiet.person_access(role), made["memory_id"], [1], purpose=Purpose.REVIEW)
    assert reveals(quiet) == []


def test_a_compliance_officer_who_was_given_a_namespace_reads_there(quiet, made):
    with quiet.inside():
        grants.grant_on_namespaces(quiet.person("compliance"), [quiet.namespace("project", "kiosk").id], "read")
    answer = visit(quiet, "compliance").post(MEMORY.format(made["memory_id"]), sent(1, purpose="incident"))
    assert said(answer.content.decode()) == "The office uses the blue printer on Mondays."


def test_what_belongs_to_one_person_is_read_by_no_member_of_staff(quiet):
    private = quiet.propose("editor.theme", "user", None)
    assert visit(quiet, "owner").post(MEMORY.format(private["memory_id"]), sent(1)).status_code == 403
    assert visit(quiet, "reviewer").post(MEMORY.format(private["memory_id"]), sent(1)).status_code == 404


def test_a_policy_keeps_the_words_from_those_outside_of_it(quiet, made):
    with quiet.inside():
        board = AccessPolicy.objects.create(tenant_id=quiet.tenant_id, key="board")
        Memory.objects.filter(fact_key="kiosk.printer").update(access_policy=board)
    assert visit(quiet, "owner").post(MEMORY.format(made["memory_id"]), sent(1)).status_code == 403
    with quiet.inside():
        grants.grant_policy(quiet.person("owner"), board.id)
    assert visit(quiet, "owner").post(MEMORY.format(made["memory_id"]), sent(1)).status_code == 200


def test_what_was_deleted_shows_no_words_from_its_acceptance_on(quiet, made):
    path = MEMORY.format(made["memory_id"])
    assert quiet.bob.delete(f"/memories/{made['memory_id']}?deletion_request_id=del-77").status_code == 202
    assert visit(quiet, "owner").post(path, sent(1)).status_code == 404
    assert reveals(quiet) == []


def test_the_form_needs_its_token(quiet, made):
    client = Client(enforce_csrf_checks=True)
    client.force_login(quiet.person("owner"))
    assert client.post(MEMORY.format(made["memory_id"]), sent(1)).status_code == 403
    assert reveals(quiet) == []


# -- candidates


@pytest.mark.requirement("ID-35", "CA-25")
def test_a_candidate_that_waits_shows_its_words_to_reviewers(quiet):
    quiet.propose("orchard.travel", "organization", None)
    with quiet.inside():
        row = Candidate.objects.filter(status="pending_review").first()
    path = CANDIDATE.format(row.pk)
    answer = visit(quiet, "reviewer").post(path, {"purpose": "review"})
    assert said(answer.content.decode()) == CANARY
    assert reveals(quiet) == [("reviewer_orchard", row.candidate_id, ["review"])]
    assert visit(quiet, "auditor").post(path, {"purpose": "review"}).status_code == 403
    assert visit(quiet, "compliance").post(path, {"purpose": "review"}).status_code == 403


def test_a_candidate_of_somebody_alone_is_not_shown(quiet):
    quiet.propose("editor.theme", "user", None)
    with quiet.inside():
        row = Candidate.objects.get(fact_key="editor.theme")
    assert visit(quiet, "owner").post(CANDIDATE.format(row.pk), {"purpose": "review"}).status_code == 403
    with pytest.raises(NotFound):
        reveal_candidate(quiet.person_access("owner"), row.candidate_id, purpose=Purpose.REVIEW)


# -- the verb


def test_the_verb_shows_at_most_two_versions_and_only_those_that_are_there(quiet, made):
    access = quiet.person_access("owner")
    with pytest.raises(ValueError, match="at most 2"):
        reveal_versions(access, made["memory_id"], [1, 2, 3], purpose=Purpose.REVIEW)
    with pytest.raises(NotFound):
        reveal_versions(access, made["memory_id"], [2], purpose=Purpose.REVIEW)
    with pytest.raises(NotPermitted):  # an agent reads through the API, which has rules of its own
        reveal_versions(quiet.access("bob"), made["memory_id"], [1], purpose=Purpose.REVIEW)
    assert reveals(quiet) == []
    (found,) = reveal_versions(access, made["memory_id"], [1, 1], purpose=Purpose.CORRECTION)
    assert found.content == "The office uses the blue printer on Mondays." and not found.erased
