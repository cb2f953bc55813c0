"""Whose texts may leave the installation, to an extractor that asks a server outside (off unless a tenant says so)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from apps.audits import log
from apps.audits.models import AuditEntry
from apps.evidence.coverage import covered_events
from apps.evidence.registries import Extraction
from apps.memories import extractors
from apps.memories.candidates import POLICY_VERSION
from apps.tenants.models import Scope, Tenant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from apps.memories.extractors.base import Extractor
    from apps.retention.layers import Target
    from apps.tenants.access import Access
    from apps.tenants.provisioning_file import Place

# Setting of a tenant: the scopes whose events may be sent. Without "user" nothing that is private to a person is.
SETTING: Final = "external_extraction"
SENT: Final = "event.sent_outside"

WITHHELD: Final = "withheld"  # in the checkpoint of a finished job: it was not allowed to read

EXTRACT, EXTRACT_OUTSIDE, REEXTRACT = "extract", "extract_outside", "reextract"


class _HasSettings(Protocol):
    @property
    def settings(self) -> Mapping[str, object]: ...


def allows(tenant: _HasSettings, scope: str) -> bool:
    """Whether the tenant lets events of this scope be sent outside."""
    scopes = tenant.settings.get(SETTING)
    return isinstance(scopes, list) and scope in scopes


def may_read(reader: Extractor, tenant: _HasSettings, scope: str, source_type: str) -> bool:
    """Whether an extractor reads events of this scope and source at all."""
    return source_type in reader.sources and (not reader.outside or allows(tenant, scope))


def recipe(reader: Extractor, *, again: bool = False) -> Extraction:
    """What the jobs of an extractor are keyed with. Each kind has its turn: old events and slow servers hold no new ones."""
    kind = REEXTRACT if again else EXTRACT_OUTSIDE if reader.outside else EXTRACT
    return Extraction(reader.name, reader.version, POLICY_VERSION, kind)


def further_readers(access: Access, scope: str, source_type: str) -> tuple[Extraction, ...]:
    """The extractors after the first that read a new event."""
    return tuple(recipe(reader) for reader in extractors.chosen()[1:] if may_read(reader, access, scope, source_type))


# -- deletions


def was_sent(target: Target) -> bool:
    """Whether one of the events that a deletion erases was sent outside before: a copy that nobody here can clear."""
    tenant = Tenant.objects.filter(id=target.tenant_id).first()
    if tenant is None or SETTING not in tenant.settings:
        return False  # never allowed, so there is nothing to look for
    names = covered_events(target).values("event_id")
    sent = AuditEntry.objects.filter(tenant_id=target.tenant_id, object_type="event", object_id__in=names, verb=SENT)
    return sent.exists()


# -- provisioning


def parse_scopes(value: object, at: Place) -> list[str] | None:
    """Section ``external_extraction``: a list of scopes. Absent, it stays as it is; an empty one takes the permission away."""
    if value is None:
        return None
    scopes = [place.text(item, max_chars=16) for place, item in at.entries(value)]
    unknown = [scope for scope in scopes if scope not in Scope.values]
    if unknown:
        raise at.wrong(f"there are the scopes {', '.join(Scope.values)}")  # noqa: EM102, TRY003 - a message for people
    return sorted(set(scopes))


def apply_scopes(access: Access, parsed: list[str] | None) -> int:
    """Write the permission down; returns 1 if it changed."""
    tenant = Tenant.objects.select_for_update(no_key=True).get(id=access.tenant_id)
    if parsed is None or tenant.settings.get(SETTING, []) == parsed:
        return 0
    tenant.settings = {**tenant.settings, SETTING: parsed}
    tenant.save(update_fields=["settings"])
    log.record(access, "extraction.permitted", "tenant", access.tenant_key, codes=parsed)
    return 1
