"""Writing the audit log: one entry per effect, in the transaction of the effect."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from apps.audits.models import AuditEntry
from apps.audits.verbs import VERBS
from apps.core.prepared import prepared_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from apps.tenants.access import Access

# Codes are words of ours or ids: no space, so no sentence.
_CODE = re.compile(r"[\w.:/-]{1,64}")
_LONGEST_ID = 128

_COLUMNS = (
    *("id", "tenant_id", "at", "actor_kind", "actor_id", "actor", "credential_id", "verb", "object_type", "object_id"),
    *("namespace_id", "result", "codes", "request_id", "revision"),
)
# An entry belongs to every effect, so this is one of the statements that are prepared.
_APPEND = f"""
    INSERT INTO audits_auditentry ({", ".join(_COLUMNS)}, counts)
    VALUES ({", ".join("%s::text[]" if name == "codes" else "%s" for name in _COLUMNS)}, %s::jsonb)
"""  # noqa: S608 - names of columns above, values are bound


def record(
    access: Access,
    verb: str,
    object_type: str,
    object_id: str,
    *,
    namespace_id: UUID | None = None,
    result: str = AuditEntry.Result.OK,
    codes: Iterable[str] = (),
    counts: Mapping[str, int] | None = None,
    revision: int | None = None,
) -> AuditEntry:
    """Append an entry: who (``access``) did what (``verb``, registered in apps/audits/verbs.py) to which object (AU-02).

    Call inside the tenant context of the effect. Raises KeyError for an unknown verb, and ValueError for anything that could be
    text: codes are single words of up to 64 characters, counts are whole numbers.
    """
    VERBS[verb]
    words = [str(code) for code in codes]
    numbers = dict(counts or {})
    if len(object_id) > _LONGEST_ID or not all(map(_CODE.fullmatch, [*words, *numbers])):
        msg = f"an entry of {verb} may only hold ids, codes and counts"
        raise ValueError(msg)
    if not all(type(number) is int for number in numbers.values()):
        msg = f"the counts of {verb} are whole numbers"
        raise ValueError(msg)
    entry = AuditEntry(
        tenant_id=access.tenant_id,
        actor_kind=access.actor_kind,
        actor_id=access.actor_id,
        actor=access.actor,
        credential_id=access.credential_id,
        verb=verb,
        object_type=object_type,
        object_id=object_id,
        namespace_id=namespace_id,
        result=result,
        codes=words,
        counts=numbers,
        request_id=access.request_id,
        revision=revision,
    )
    with prepared_cursor() as cursor:
        cursor.execute(_APPEND, [*(getattr(entry, name) for name in _COLUMNS), json.dumps(numbers)])
    return entry
