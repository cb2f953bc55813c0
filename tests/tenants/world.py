"""A small world for tests: one or two provisioned tenants with people, projects, agents and staff, and callers that speak for them.

``World("orchard")`` provisions through the product's own code; everything else here is a short way to say who is asking.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.test import Client

from apps.core.isolation import system_context, tenant_context
from apps.tenants.authentication import authenticate
from apps.tenants.console_access import command_access, person_access
from apps.tenants.delegations import create_delegation, token_of
from apps.tenants.models import Namespace, Operation, Tenant, User
from apps.tenants.provisioning import provision

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.tenants.access import Access

API = "/api/v1"
OPERATIONS = tuple(str(name) for name in Operation.values if name != Operation.DELEGATE)
ROLES = ("owner", "compliance", "reviewer", "auditor", "operator")


def document(key: str) -> dict[str, Any]:
    """alice is a member of kiosk, bob of kiosk and lighthouse; one member of staff for each role."""
    return {
        "key": key,
        "projects": [{"key": "kiosk", "name": "Kiosk"}, {"key": "lighthouse", "name": "Lighthouse"}],
        "subjects": [{"key": "alice", "projects": ["kiosk"]}, {"key": "bob", "projects": ["kiosk", "lighthouse"]}],
        "agents": [
            {
                "key": "assistant",
                "credentials": [{"name": "host", "operations": ["delegate", *OPERATIONS], "projects": ["kiosk", "lighthouse"]}],
            },
            {
                "key": "alice_agent",
                "credentials": [{"name": "alice", "subject": "alice", "projects": ["kiosk"], "operations": list(OPERATIONS)}],
            },
        ],
        "staff": [{"username": f"{role}_{key}", "roles": [role]} for role in ROLES],
    }


class World:
    """One tenant. ``tokens``: "assistant/host" and "alice_agent/alice" → secret; ``passwords``: username → one-time password."""

    def __init__(self, key: str = "orchard", **changes: Any) -> None:
        self.key = key
        self.document = document(key) | changes
        done = provision(json.dumps({"tenants": [self.document]}))[key]
        self.tokens = done.credentials
        self.passwords = done.staff
        with system_context():
            self.tenant_id: UUID = Tenant.objects.get(key=key).id
        self._lent: dict[Any, str] = {}

    # -- tokens and accesses

    def delegate(
        self,
        subject: str = "alice",
        *,
        projects: Iterable[str] = ("kiosk",),
        operations: Iterable[str] = OPERATIONS,
        session: str = "s-1",
        seconds: int = 3600,
    ) -> str:
        """A fresh delegation token of the host."""
        host = self.tokens["assistant/host"]
        access = authenticate(host)
        made = create_delegation(
            access,
            host_token=host,
            subject=subject,
            projects=tuple(projects),
            operations=tuple(operations),
            session_id=session,
            lifetime=timedelta(seconds=seconds),
        )
        return token_of(access, made.delegation_id, host)

    def token(self, subject: str = "alice", **narrowed: Any) -> str:
        """The token of a subject, lent once for each way of narrowing it."""
        named = repr((subject, sorted(narrowed.items())))
        if named not in self._lent:
            projects = {"alice": ("kiosk",), "bob": ("kiosk", "lighthouse")}.get(subject, ())
            self._lent[named] = self.delegate(subject, **{"projects": projects, **narrowed})
        return self._lent[named]

    def access(self, subject: str = "alice", **narrowed: Any) -> Access:
        return authenticate(self.token(subject, **narrowed))

    def command(self) -> Access:
        """The operator of the installation."""
        return command_access(self.tenant_id)

    def person(self, role: str) -> User:
        return User.objects.get(username=f"{role}_{self.key}")

    def person_access(self, role: str) -> Access:
        return person_access(self.person(role), self.tenant_id)

    def namespace(self, scope: str, scope_id: str | None = None) -> Namespace:
        with self.inside():
            return Namespace.objects.get(tenant_id=self.tenant_id, scope=scope, scope_id=scope_id or self.key)

    def inside(self) -> Any:
        """The tenant's context, to look at rows."""
        return tenant_context(self.tenant_id)

    # -- callers

    @property
    def host(self) -> Caller:
        return Caller(self.tokens["assistant/host"])

    def caller(self, subject: str = "alice", **narrowed: Any) -> Caller:
        return Caller(self.token(subject, **narrowed))

    alice = property(lambda self: self.caller("alice"))
    bob = property(lambda self: self.caller("bob"))


class Caller:
    """Somebody with a token (or nobody): sends requests below /api/v1 to the views, without a server."""

    def __init__(self, token: str | None = None, **headers: str) -> None:
        self.token = token
        self.headers = headers
        self.client = Client(raise_request_exception=True)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = {**self.headers, **headers}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return self.client.generic(method, f"{API}{path}", headers=sent, **content)

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Any:
        return self.send("POST", path, body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        return self.send("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.send("DELETE", path, **headers)


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The answer is a problem document with this status and code, or field errors of this code."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    found = response.json()
    assert code in {found["code"], *(error["code"] for error in found.get("errors", ()))}, found
    return found


def face(response: Any) -> tuple[Any, ...]:
    """What a stranger sees of a refusal: status, body and headers without the request id and the counters."""
    own = response.json()["request_id"]
    kept = {name.lower(): text for name, text in response.headers.items() if "ratelimit" not in name.lower() and text != own}
    return response.status_code, response.content.decode().replace(own, "REQUEST"), tuple(sorted(kept.items()))
