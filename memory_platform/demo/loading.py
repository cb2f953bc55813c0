"""Making the demo tenant and bringing its conversation in; doing it again changes nothing."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path

from apps.evidence.drafts import Draft
from apps.evidence.ingestion import accept_events
from apps.memories.candidates import propose
from apps.memories.models import MemoryType
from apps.memories.proposals import Proposal
from apps.tenants.access import Access
from apps.tenants.authentication import authenticate
from apps.tenants.provisioning import provision
from memory_platform.home import private_folder

TENANT = "tenant_demo"
PROJECT = "project_demo"
AGENT = "assistant/lin"
STAFF = "demo"
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class DemoAccess:
    """How to get into the demo tenant: the agent's token and a console login."""

    token: str
    username: str
    password: str

    def instructions(self, url: str) -> str:
        """What to do next, as text to paste: the console and a question that has an answer."""
        body = '{"question": "What did we choose for the field log, and why?"}'
        return (
            f"console  {url}/admin/   login {self.username}   password {self.password}\n"
            f"agent    {self.token}\n"
            f"query    curl -s {url}/api/v1/memory-query -H 'Authorization: Bearer {self.token}' "
            f"-H 'Content-Type: application/json' -d '{body}'"
        )


def ensure_demo() -> DemoAccess | None:
    """Make the demo tenant and load its conversation; returns how to get in, None if somebody removed the note of it.

    The platform keeps no secret it hands out. Those of the demo tenant are noted in the home folder (mode 0600), so that they can
    be shown at every start.
    """
    made = provision((HERE / "tenant.yaml").read_text(encoding="utf-8"))[TENANT]
    note = private_folder("secrets") / "demo.json"
    if made.credentials:
        _note(note, DemoAccess(made.credentials[AGENT], STAFF, made.staff.get(STAFF, "")))
    if not note.exists():
        return None
    entry = json.loads(note.read_text(encoding="utf-8"))
    account = DemoAccess(**{one.name: str(entry[one.name]) for one in fields(DemoAccess)})
    load_conversation(authenticate(account.token))
    return account


def load_conversation(access: Access) -> None:
    """Send the conversation and the one thing the team wrote down itself; what is there already is recognised."""
    lines = (HERE / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    accept_events(access, [_draft(json.loads(line)) for line in lines])
    propose(
        access,
        Proposal(
            candidate_id="demo-field-log",
            scope="project",
            scope_id=PROJECT,
            memory_type=MemoryType.DECISION,
            fact_key="decision.field-log",
            content="Use offline tablets for the field log.",
            rationale="Entries must be searchable.",
            topics=("field_test",),
            source_event_ids=("demo-14",),
            valid_from=datetime.fromisoformat("2026-05-10T09:00:00+00:00"),
        ),
    )


def _draft(entry: dict[str, object]) -> Draft:
    return Draft(
        event_id=str(entry["event_id"]),
        scope=str(entry["scope"]),
        scope_id=PROJECT if entry["scope"] == "project" else None,
        session_id="demo",
        source_type=str(entry["source_type"]),
        occurred_at=datetime.fromisoformat(str(entry["occurred_at"])),
        content=str(entry["content"]),
        derived_from=tuple(str(one) for one in entry.get("derived_from", ())),  # type: ignore[attr-defined]
    )


def _note(file: Path, account: DemoAccess) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        json.dump(asdict(account), out)
