"""Who may open which page: every registered page, for everybody there is."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.test import Client

from apps.tenants.console.base import GovernedAdmin
from apps.tenants.console.navigation import Area
from apps.tenants.models import Role, Subject, User
from tests.console.conftest import EVERYTHING, detail_url, list_url, pages, row_page_url, row_pages, shown_keys, signed_in, visit
from tests.tenants.world import ROLES

# Written out, so that opening a page to somebody is a change that is seen.
EVERYBODY = "memories.Label retention.RetentionClass tenants.Namespace tenants.Project tenants.Tenant"
REVIEWED = (
    "memories.Memory memories.MemoryVersion memories.Candidate memories.ConflictSet memories.EvidenceLink memories.Relation memories.ReviewRequest memories.ReviewVote memories.ReviewPolicy "
    "evidence.SourceEvent evidence.Evidence evidence.Derivation"
)
GOVERNED = (
    "audits.AuditEntry evidence.Content retention.DeletionJob retention.DeletionStep retention.DeletionCertificate "
    "retention.Cancellation retention.Exposure retention.LegalHold retention.DownstreamSystem retention.DownstreamNotice retention.Revocation retention.SubjectExport retrieval.RetrievalTrace retrieval.TraceCandidate retrieval.TraceAdoption "
    "tenants.User tenants.Subject tenants.ProjectMember tenants.Membership tenants.AccessPolicy tenants.Credential tenants.Delegation "
    "tenants.TenantUserPermission tenants.TenantGroupPermission tenants.NamespaceUserPermission tenants.NamespaceGroupPermission "
    "tenants.AccessPolicyUserPermission tenants.AccessPolicyGroupPermission"
)
WORK = "jobs.ProcessingJob jobs.Outbox jobs.WorkerHeartbeat"
MATRIX = {
    "owner": f"{EVERYBODY} {REVIEWED} {GOVERNED} {WORK} retrieval.IndexState tenants.IdempotencyKey",
    "compliance": f"{EVERYBODY} {REVIEWED} {GOVERNED} {WORK}",
    "reviewer": f"{EVERYBODY} {REVIEWED}",
    "auditor": f"{EVERYBODY} {REVIEWED} {GOVERNED} {WORK} retrieval.IndexState tenants.IdempotencyKey",
    "operator": f"{EVERYBODY} {WORK} retrieval.IndexState tenants.IdempotencyKey",
}
NEEDS_A_GRANT = {"words", "question", "settle", "review"}  # on the namespace of the row, besides the role
# What can be done with a row, and who may.
ROW_PAGES = {
    "memories.ConflictSet settle": "owner reviewer",
    "memories.ReviewRequest review": "owner reviewer",
    "memories.Memory words": "owner compliance reviewer",
    "memories.Candidate words": "owner compliance reviewer",
    "retrieval.RetrievalTrace replay": "owner compliance auditor",
    "retrieval.RetrievalTrace why": "owner compliance auditor",
    "retrieval.RetrievalTrace question": "owner compliance",
    "tenants.Subject export": "owner compliance",
    "retention.SubjectExport archive": "owner compliance",
    "tenants.Tenant downstream": "owner compliance",
    "retention.DownstreamSystem end": "owner compliance",
    "retention.DownstreamNotice retry": "owner compliance",
    "retention.DownstreamNotice give_up": "owner compliance",
    "jobs.ProcessingJob retry": "owner compliance operator",
    "jobs.ProcessingJob discard": "owner compliance operator",
}
# The ledger and the backups are of the whole installation: its commands, health and metrics show them.
OF_THE_INSTALLATION = {"retention.LedgerRecord", "retention.LedgerState", "retention.Backup"}
# Rows of which a page shows nothing to anybody: keyed hashes, vectors, and counters that end with their minute.
WITHOUT_PAGE = {"retrieval.Posting", "retrieval.TermStat", "retrieval.Vector", "core.RateWindow", *OF_THE_INSTALLATION}


def opened(client: Client) -> set[str]:
    return {page.opts.label for page in pages() if client.get(list_url(page.model)).status_code == 200}


def test_every_model_has_a_page_or_a_reason():
    assert {model._meta.label for model in EVERYTHING} - {page.opts.label for page in pages()} == WITHOUT_PAGE


def test_every_page_is_a_governed_one_and_says_what_it_is():
    for page in pages():
        assert isinstance(page, GovernedAdmin), page
        assert page.about, page.opts.label
        assert page.area in Area
        assert page.roles <= set(Role.values) - {Role.AGENT}


@pytest.mark.requirement("ID-28")
@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_its_pages_and_no_other(world, role):
    client = visit(world, role)
    assert opened(client) == set(MATRIX[role].split())
    keys = shown_keys(world)
    for page in pages():
        expected = 200 if page.opts.label in MATRIX[role].split() else 403
        answer = client.get(detail_url(page.model, keys[page.model]))
        allowed = {expected, 404} if expected == 200 and role == "reviewer" else {expected}  # not of a namespace in reach
        assert answer.status_code in allowed, page.opts.label


def test_every_row_page_is_in_the_matrix_and_says_what_it_does():
    assert {f"{page.opts.label} {one.key}" for page, one in row_pages()} == set(ROW_PAGES)
    for _page, one in row_pages():
        assert one.title and one.about and one.submit


@pytest.mark.requirement("ID-28")
@pytest.mark.parametrize("role", ROLES)
def test_a_role_does_what_it_may_and_nothing_else(world, role):
    """Whoever may not is refused before anything is read; whoever may gets the form, or hears that this row is not theirs."""
    client, keys = visit(world, role), shown_keys(world)
    for page, one in row_pages():
        path, may = row_page_url(page.model, keys[page.model], one), role in ROW_PAGES[f"{page.opts.label} {one.key}"].split()
        for method in ("get", "post"):
            status = getattr(client, method)(path).status_code
            assert (status == 403) is not may or (may and one.key in NEEDS_A_GRANT), (path, method, status)
            assert status in ({200, 403, 404} if may else {403}), (path, method, status)
        for method in ("put", "patch", "delete"):
            assert getattr(client, method)(path).status_code in {403, 404, 405}, (path, method)


def test_the_registry_of_pages_is_sound():
    """Django's own checks, which a process that answers no requests never runs on pages."""
    assert [error for page in pages() for error in page.check()] == []


def test_a_process_that_answers_no_requests_carries_no_pages():
    program = "import sys, django; django.setup(); print([name for name in sys.modules if name.endswith('.admin')])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "apps." not in told.stdout


def test_nothing_can_be_sent_to_a_page(world):
    client = visit(world, "owner")
    for model, key in list(shown_keys(world).items())[::8]:
        for method in ("post", "put", "patch", "delete"):
            assert getattr(client, method)(list_url(model)).status_code == 405
            assert getattr(client, method)(detail_url(model, key)).status_code == 405


def test_a_superuser_without_a_role_sees_the_installation_only(world, root):
    client = signed_in(root)
    assert opened(client) == {"tenants.Tenant", "tenants.User"}
    keys = shown_keys(world)
    for page in pages():
        expected = 200 if page.opts.label in {"tenants.Tenant", "tenants.User"} else 403
        assert client.get(detail_url(page.model, keys[page.model])).status_code == expected, page.opts.label


def test_a_superuser_with_a_role_sees_what_the_role_sees(world):
    person = world.person("operator")
    User.objects.filter(pk=person.pk).update(is_superuser=True)
    assert opened(visit(world, "operator")) == set(MATRIX["operator"].split())


@pytest.mark.parametrize("who", ["anonymous", "agent", "inactive", "nobody"])
def test_nobody_else_comes_in(world, nobody, who):
    client, keys = Client(), shown_keys(world)
    if who == "agent":
        client.force_login(User.objects.get(username="orchard/assistant"))
    elif who == "inactive":
        person = world.person("owner")
        client.force_login(person)
        User.objects.filter(pk=person.pk).update(is_active=False)
    elif who == "nobody":
        client.force_login(nobody)
    paths = ["/admin/", "/admin/password_change/", "/admin/nothing/"]
    for page in pages():
        paths += [list_url(page.model), detail_url(page.model, keys[page.model])]
    paths += [row_page_url(page.model, keys[page.model], one) for page, one in row_pages()]
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 302 and answer["Location"].startswith("/admin/login/?next="), path


def test_a_credential_is_no_way_in(world):
    client = Client(headers={"Authorization": f"Bearer {world.token('alice')}"})
    assert client.get("/admin/").status_code == 302


def test_the_address_without_its_slash_leads_to_the_console():
    answer = Client().get("/admin")
    assert (answer.status_code, answer["Location"]) == (301, "/admin/")


def test_the_doors_of_djangos_admin_that_nobody_uses_are_not_there(world):
    client = visit(world, "owner")
    key = shown_keys(world)[Subject]
    subject = "/admin/tenants/subject/"
    for path in (
        "/admin/tenants/",
        "/admin/jsi18n/",
        "/admin/autocomplete/?app_label=tenants&model_name=credential&field_name=user",
        f"/admin/r/1/{key}/",
        f"{subject}add/",
        f"{subject}{key}/",
        f"{subject}{key}/delete/",
        f"{subject}{key}/history/",
        f"{subject}{key}/password/",
    ):
        assert client.get(path).status_code == 404, path


def test_the_navigation_names_what_opens_and_nothing_else(world):
    for role in ROLES:
        text = visit(world, role).get("/admin/").content.decode()
        named = {page.opts.label for page in pages() if f'href="{list_url(page.model)}"' in text}
        assert named == set(MATRIX[role].split())
