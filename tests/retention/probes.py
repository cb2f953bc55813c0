"""How the endpoints of deletions are called (tests/matrix.py)."""

from __future__ import annotations

from uuid import uuid4

from apps.core import clock
from apps.core.ids import parse_public_id
from apps.jobs.runner import drain
from apps.retention.certificates import ensure_certificate
from apps.retention.models import DeletionJob
from tests.matrix import Probe, probe
from tests.memories.probes import make_memory


def new_deletion(kind="session", target="s-1"):
    return {"deletion_request_id": f"del-{uuid4().hex}", "target": {"kind": kind, "id": target}, "reason": "gone"}


def make_deletion(world, subject, project):
    body = new_deletion("memory", make_memory(world, subject, project))
    answer = world.caller(subject).post("/memory-deletions", body)
    assert answer.status_code == 202, answer.content
    return answer.json()["job_id"]


probe("POST", "memory-deletions", Probe(body=lambda: new_deletion("subject", "alice"), success=202, statements=28))
probe("GET", "memory-deletions/<str:job_id>", Probe(make=make_deletion, statements=17))


def make_certified_deletion(world, subject, project):
    job_id = make_deletion(world, subject, project)
    with world.inside():
        found = DeletionJob.objects.filter(pk=parse_public_id("del", job_id))
        found.update(state=DeletionJob.State.COMPLETED, completed_at=clock.now())
        ensure_certificate(found.select_related("revocation", "namespace").get())
    return job_id


probe("GET", "memory-deletions/<str:job_id>/certificate", Probe(make=make_certified_deletion, statements=7))
probe(
    "POST",
    "memory-deletions/<str:job_id>/resume",
    Probe(make=make_deletion, body=dict, success=202, statements=7),
)
probe(
    "POST",
    "memory-cancellations",
    Probe(body={"session_id": "s-1"}, success=202, statements=9),
)


def new_export(subject="alice"):
    return {"export_request_id": f"exp-{uuid4().hex}", "subject": subject}


def make_export(world, subject, _project):
    answer = world.caller(subject).post("/subject-exports", new_export(subject))
    assert answer.status_code == 202, answer.content
    return answer.json()["export_id"]


def make_archive(world, subject, project):
    export_id = make_export(world, subject, project)
    drain(kinds=["subject_export"])
    return export_id


OWNERS = ("subject", "tenant")  # an export is of one person
probe("POST", "subject-exports", Probe(body=new_export, success=202, statements=14))
probe("GET", "subject-exports/<str:export_id>", Probe(make=make_export, kinds=OWNERS, statements=7))
probe("GET", "subject-exports/<str:export_id>/archive", Probe(make=make_archive, kinds=OWNERS, statements=10))
