"""Tenants with something on every page, and people who look at them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.test import Client, RequestFactory

from apps.core import clock
from apps.core.ids import new_id
from apps.core.isolation import system_context
from apps.jobs.models import ProcessingJob, WorkerHeartbeat
from apps.memories.models import Memory
from apps.retention.models import DeletionJob, DownstreamNotice, DownstreamSystem, SubjectExport
from apps.tenants.console.site import console
from apps.tenants.models import Tenant, User
from memory_platform import urls  # noqa: F401 - loads the pages, as in a process that answers requests
from tests.isolation.rows import one_row_each
from tests.tenants.world import World

EVERYTHING = [model for model in apps.get_models() if model.__module__.startswith("apps.")]
CANARY = "the lighthouse keeper paints herring barrels"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def visit(world: World, role: str) -> Client:
    return signed_in(world.person(role))


def list_url(model: Any) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def detail_url(model: Any, key: Any) -> str:
    return f"{list_url(model)}{key}/change/"


def row_page_url(model: Any, key: Any, row_page: Any) -> str:
    return f"{list_url(model)}{key}/{row_page.key}/"


def pages() -> list[Any]:
    return console.pages()


def row_pages() -> list[tuple[Any, Any]]:
    """Every page that does something with a row, with the page of the row."""
    return [(page, one) for page in pages() for one in page.row_pages]


def shown_keys(world: World) -> dict[Any, Any]:
    """For every page the key of a row that the owner of the tenant sees there."""
    request = RequestFactory().get("/admin/")
    request.access = world.person_access("owner")
    with world.inside():
        newest = {page.model: page.get_queryset(request).order_by("-pk").first() for page in pages()}
    return {model: row.pk for model, row in newest.items() if row is not None}


def filled(key: str) -> World:
    """A tenant with at least one row in every table."""
    world = World(key)
    with world.inside():
        one_row_each(world, [model for model in EVERYTHING if model.governance.tenant is not None])
    WorkerHeartbeat.objects.get_or_create(name="harbour:17", defaults={"seen_at": clock.now()})
    return world


@pytest.fixture
def world(db: None) -> World:
    return filled("orchard")


@pytest.fixture
def elsewhere(db: None, world: World) -> World:
    return filled("basin")


@pytest.fixture
def root(db: None) -> User:
    """Runs the installation and has no role in any tenant."""
    return User.objects.create(username="root", kind=User.Kind.PERSON, is_superuser=True, is_staff=True)


@pytest.fixture
def nobody(db: None) -> User:
    """Has an account and nothing else."""
    return User.objects.create(username="nobody", kind=User.Kind.PERSON, is_staff=True)


class Quiet(World):
    """A tenant in which nothing has been said but one event, and ways to say more."""

    def __init__(self, key: str = "orchard") -> None:
        super().__init__(key)
        self.numbered = 0
        self.send_events(1)

    def next_number(self) -> int:
        self.numbered += 1
        return self.numbered

    def send_events(self, count: int) -> None:
        for _ in range(count):
            self.tell(f"evt-{self.next_number()}", f"{CANARY}, number {self.numbered}")

    def tell(self, event_id: str, content: str = CANARY, **changed: Any) -> None:
        body = {
            "event_id": event_id,
            "scope": "project",
            "scope_id": "kiosk",
            "session_id": "s-1",
            "source_type": "user_message",
            "occurred_at": "2026-01-02T03:04:05Z",
            "content": content,
            **changed,
        }
        if body["scope"] == "user":
            del body["scope_id"]
        answer = self.bob.post("/memory-events", body)
        assert answer.status_code == 202, answer.content

    def propose(
        self,
        fact_key: str,
        scope: str = "project",
        scope_id: str | None = "kiosk",
        *,
        by: str = "bob",
        text: str = CANARY,
        **more: Any,
    ) -> Any:
        body = {
            "candidate_id": f"cand-{self.next_number()}",
            "scope": scope,
            "memory_type": "fact",
            "fact_key": fact_key,
            "content": text,
            "epistemic_status": "explicit",
            "source_event_ids": ["evt-1"],
            **({"scope_id": scope_id} if scope_id else {}),
            **more,
        }
        answer = getattr(self, by).post("/memory-candidates", body)
        assert answer.status_code == 201, answer.content
        return answer.json()

    def remember(self, count: int) -> list[Any]:
        return [self.propose(f"kiosk.setting_{self.next_number()}") for _ in range(count)]

    def dispute(self, fact_key: str) -> None:
        self.propose(fact_key, text="PostgreSQL")
        assert self.propose(fact_key, by="alice", text="SQLite")["status"] == "conflict"


class Busy(Quiet):
    """A tenant in the middle of its work: events, memories, a conflict, proposals that wait, deletions and jobs of several states."""

    def __init__(self, key: str = "orchard") -> None:
        super().__init__(key)
        self.send_events(2)
        self.remember(4)
        self.dispute("kiosk.database")
        for name in ("travel", "coffee"):
            self.propose(f"orchard.{name}", "organization", None)
        doomed = self.remember(1)[0]["memory_id"]
        assert self.bob.delete(f"/memories/{doomed}?deletion_request_id=del-1").status_code == 202
        assert self.bob.post("/memory-query", {"question": "which database?", "project": "kiosk"}).status_code == 200
        self.change_states()

    def change_states(self) -> None:
        """What takes weeks in life: a memory due for review, a dead letter, a deletion that is stuck."""
        with self.inside():
            first = Memory.objects.filter(state=Memory.State.ACTIVE, conflict_set=None).order_by("id").first()
            assert first is not None
            Memory.objects.filter(pk=first.pk).update(state=Memory.State.NEEDS_REVIEW)
            day = timedelta(days=1)
            ProcessingJob.objects.bulk_create(
                ProcessingJob(
                    tenant_id=self.tenant_id, kind="extract", key=str(new_id()), state=state, created_at=clock.now() - 3 * day
                )
                for state in (ProcessingJob.State.DEAD, ProcessingJob.State.RUNNING, ProcessingJob.State.RETRY_WAIT)
            )
            DeletionJob.objects.update(state=DeletionJob.State.FAILED_REQUIRES_ACTION)
            one_row_each(self, [DownstreamSystem, DownstreamNotice, SubjectExport])
        WorkerHeartbeat.objects.create(name=f"harbour:{self.next_number()}", seen_at=clock.now())


@pytest.fixture
def quiet(db: None) -> Quiet:
    return Quiet()


@pytest.fixture
def busy(db: None) -> Busy:
    return Busy()


def suspend(tenant_id: UUID) -> None:
    with system_context():
        Tenant.objects.filter(id=tenant_id).update(status=Tenant.Status.SUSPENDED)
