"""Dead letters in the console: retried or discarded for a reason, by those who may, as they were looked at."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from apps.audits.models import AuditEntry
from apps.core.ids import public_id
from apps.jobs.admin.dead_letters import LOST
from apps.jobs.models import ProcessingJob
from apps.jobs.registry import handlers
from tests.console.conftest import visit
from tests.console.reading import words
from tests.tenants.world import ROLES

MAY = {"owner", "compliance", "operator"}


@pytest.fixture
def dead(quiet):
    with quiet.inside():
        return ProcessingJob.objects.create(
            tenant_id=quiet.tenant_id,
            kind="extract",
            key="sky",
            state="dead",
            attempts=8,
            fence=8,
            last_error="ServerUnavailable",
        )


def url(job, page="change"):
    return f"/admin/jobs/processingjob/{job.pk}/{page}/"


def state(world, job):
    with world.inside():
        return ProcessingJob.objects.get(pk=job.pk).state


def entries(world):
    with world.inside():
        return list(
            AuditEntry.objects.filter(object_type="job").order_by("id").values_list("verb", "actor", "object_id", "codes")
        )


def filled(client, path):
    """The form as a browser would send it back, with the first reason."""
    text = client.get(path).content.decode()
    return {
        "fence": re.search(r'name="fence" value="(\d+)"', text)[1],
        "reason": re.findall(r'<option value="(\w+)"', text.partition('name="reason"')[2])[0],
    }


@pytest.mark.requirement("OJ-08")
def test_an_operator_retries_a_dead_letter(quiet, dead):
    client = visit(quiet, "operator")
    detail = client.get(url(dead)).content.decode()
    assert "This job has given up after 8 attempts" in words(detail) and "ServerUnavailable" in detail
    assert url(dead, "retry") in detail and url(dead, "discard") in detail
    answer = client.post(url(dead, "retry"), filled(client, url(dead, "retry")), follow=True)
    assert answer.redirect_chain == [(url(dead), 302)]
    text = answer.content.decode()
    assert "The job is queued again." in words(text) and url(dead, "retry") not in text
    assert state(quiet, dead) == "queued"
    assert entries(quiet) == [("job.retried", "operator_orchard", public_id("job", dead.pk), ["extract", "cause_fixed"])]


@pytest.mark.requirement("OJ-08")
def test_discarding_says_what_is_lost_and_is_confirmed_by_typing(quiet, dead):
    client = visit(quiet, "compliance")
    path = url(dead, "discard")
    assert "Nothing is read from the event." in words(client.get(path).content.decode())
    form = filled(client, path)
    for typed in ({}, {"confirmation": "yes"}, {"confirmation": "Extract"}):
        answer = client.post(path, {**form, **typed})
        assert answer.status_code == 200 and 'class="errorlist"' in answer.content.decode()
    assert state(quiet, dead) == "dead"
    answer = client.post(path, {**form, "confirmation": " extract "}, follow=True)
    assert "The job is discarded." in words(answer.content.decode()) and state(quiet, dead) == "discarded"
    assert entries(quiet) == [("job.discarded", "compliance_orchard", public_id("job", dead.pk), ["extract", "not_needed"])]


def test_every_kind_of_job_says_what_is_lost_with_it():
    assert set(LOST) == set(handlers())


def test_who_may_settle_a_dead_letter(quiet, dead):
    for role in ROLES:
        with quiet.inside():
            ProcessingJob.objects.filter(pk=dead.pk).update(state="dead")
        client = visit(quiet, role)
        assert client.get(url(dead, "retry")).status_code == (200 if role in MAY else 403), role
        answer = client.post(url(dead, "retry"), {"fence": "8", "reason": "cause_fixed"})
        assert answer.status_code == (302 if role in MAY else 403), role
        assert state(quiet, dead) == ("queued" if role in MAY else "dead"), role


def test_an_auditor_looks_without_being_offered_anything(quiet, dead):
    detail = visit(quiet, "auditor").get(url(dead)).content.decode()
    assert "given up" in detail and "/retry/" not in detail and "/discard/" not in detail


def test_two_people_race_and_the_second_hears_why(quiet, dead):
    first, second = visit(quiet, "operator"), visit(quiet, "owner")
    form = filled(second, url(dead, "discard")) | {"confirmation": "extract"}
    first.post(url(dead, "retry"), filled(first, url(dead, "retry")))
    answer = second.post(url(dead, "discard"), form)
    assert answer.status_code == 409
    assert "It is no dead letter any more" in words(answer.content.decode()) and url(dead) in answer.content.decode()
    assert state(quiet, dead) == "queued" and len(entries(quiet)) == 1


def test_one_that_failed_anew_is_not_the_one_that_was_looked_at(quiet, dead):
    client = visit(quiet, "operator")
    form = filled(client, url(dead, "discard")) | {"confirmation": "extract"}
    with quiet.inside():
        ProcessingJob.objects.filter(pk=dead.pk).update(fence=16)
    answer = client.post(url(dead, "discard"), form)
    assert answer.status_code == 409 and "It has been tried again since you looked" in words(answer.content.decode())
    assert state(quiet, dead) == "dead" and entries(quiet) == []


def test_a_form_without_a_reason_or_its_attempt_changes_nothing(quiet, dead):
    client = visit(quiet, "operator")
    for change in ({"reason": "because"}, {"reason": ""}, {"fence": ""}, {"fence": "x"}):
        answer = client.post(url(dead, "retry"), filled(client, url(dead, "retry")) | change)
        assert answer.status_code == 200 and state(quiet, dead) == "dead" and entries(quiet) == [], change


def test_the_form_needs_its_token(quiet, dead):
    client = Client(enforce_csrf_checks=True)
    client.force_login(quiet.person("operator"))
    assert client.post(url(dead, "retry"), {"fence": "8", "reason": "cause_fixed"}).status_code == 403
    assert state(quiet, dead) == "dead"
