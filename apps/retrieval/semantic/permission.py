"""Which texts may be embedded: what a tenant says of each scope (C16, EL-16). Without a word from it, none.

Two lists. ``semantic_recall`` names the scopes whose memories have vectors. ``external_embedding`` names the scopes whose words
may go to an embedder outside; a question asked for a subject is words of scope ``user``. The one does not allow the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from apps.audits import log
from apps.jobs.queue import publish
from apps.tenants.models import Scope, Tenant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from apps.retrieval.semantic.embedders import Embedder
    from apps.tenants.access import Access
    from apps.tenants.provisioning_file import Place

RECALL: Final = "semantic_recall"
OUTSIDE: Final = "external_embedding"
PERMISSION: Final = "embedding.permission"  # topic of the outbox


class _HasSettings(Protocol):
    @property
    def settings(self) -> Mapping[str, object]: ...


def scopes(tenant: _HasSettings, embedder: Embedder) -> frozenset[str]:
    """The scopes whose memories this embedder may read."""
    wanted = _listed(tenant.settings.get(RECALL))
    return wanted & _listed(tenant.settings.get(OUTSIDE)) if embedder.outside else wanted


def may_ask(tenant: _HasSettings, embedder: Embedder, *, for_subject: bool) -> bool:
    """Whether the words of a question may be given to this embedder."""
    if not embedder.outside:
        return True
    allowed = _listed(tenant.settings.get(OUTSIDE))
    return Scope.USER in allowed if for_subject else bool(allowed)


def _listed(value: object) -> frozenset[str]:
    return frozenset(str(scope) for scope in value) if isinstance(value, list) else frozenset()


# -- provisioning


def parse_scopes(value: object, at: Place) -> list[str] | None:
    """A list of scopes. Absent, it stays as it is; an empty one takes the permission away."""
    if value is None:
        return None
    named = [place.text(item, max_chars=16) for place, item in at.entries(value)]
    if any(scope not in Scope.values for scope in named):
        raise at.wrong(f"there are the scopes {', '.join(Scope.values)}")  # noqa: EM102, TRY003 - a message for people
    return sorted(set(named))


def apply_recall(access: Access, parsed: list[str] | None) -> int:
    """Write down which scopes have the lane; returns 1 if that changed."""
    return _apply(RECALL, "semantic_recall.permitted", access, parsed)


def apply_outside(access: Access, parsed: list[str] | None) -> int:
    """Write down which scopes' words may go to an embedder outside; returns 1 if that changed."""
    return _apply(OUTSIDE, "embedding.permitted", access, parsed)


def _apply(setting: str, verb: str, access: Access, parsed: list[str] | None) -> int:
    tenant = Tenant.objects.select_for_update(no_key=True).get(id=access.tenant_id)
    if parsed is None or _listed(tenant.settings.get(setting)) == frozenset(parsed):
        return 0
    tenant.settings = {**tenant.settings, setting: parsed}
    tenant.save(update_fields=["settings"])
    log.record(access, verb, "tenant", access.tenant_key, codes=parsed)
    publish(access, PERMISSION, [(access.tenant_id, len(parsed))])  # what has to be made or removed is seen to afterwards
    return 1
