"""How the endpoints of this floor are called (tests/matrix.py)."""

from __future__ import annotations

from datetime import timedelta

from apps.tenants.authentication import authenticate
from apps.tenants.delegations import create_delegation
from tests.matrix import Probe, probe

DELEGATION = {"subject": "alice", "projects": ["kiosk"], "operations": ["memory:read"], "session_id": "s-1", "ttl_seconds": 60}


def make_delegation(world, subject, project):
    host = world.tokens["assistant/host"]
    return create_delegation(
        authenticate(host),
        host_token=host,
        subject=subject,
        projects=[project] if project else [],
        operations=["memory:read"],
        session_id="s-1",
        lifetime=timedelta(seconds=60),
    ).delegation_id


def host(world):
    return world.host


probe("GET", "whoami", Probe(statements=4))
probe("POST", "delegations", Probe(body=DELEGATION, success=201, caller=host, statements=8))
probe(
    "DELETE",
    "delegations/<str:delegation_id>",
    Probe(make=make_delegation, success=204, caller=host, kinds=("tenant",), statements=7),
)
