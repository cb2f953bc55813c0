"""Writing the audit log: one entry per effect, in the transaction of the effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from apps.audits.models import AuditEntry
from apps.audits.verbs import VERBS
from apps.core import clock
from apps.core.ids import new_id
from apps.core.prepared import prepared_cursor

if TYPE_CHECKING:
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

_COPIED = ", ".join((*_COLUMNS, "counts"))
_APPEND_ALL = f"""
    INSERT INTO audits_auditentry ({_COPIED})
    SELECT {_COPIED} FROM json_populate_recordset(NULL::audits_auditentry, %s::json)
"""  # noqa: S608 - names of columns above, the values are one parameter


@dataclass(frozen=True, slots=True)
class Entry:
    """One effect among several of a transaction; see :func:`record` for what its fields may hold."""

    verb: str
    object_type: str
    object_id: str
    codes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def record_all(
    access: Access, entries: Iterable[Entry], *, namespace_id: UUID | None = None, revision: int | None = None
) -> None:
    """Append the entries of several effects in one statement, in their order. Call inside the tenant context of the effects."""
    shared = {
        "tenant_id": access.tenant_id,
        "at": clock.now(),
        "actor_kind": access.actor_kind,
        "actor_id": access.actor_id,
        "actor": access.actor,
        "credential_id": access.credential_id,
        "namespace_id": namespace_id,
        "result": AuditEntry.Result.OK,
        "request_id": access.request_id,
        "revision": revision,
    }
    rows = []
    for one in entries:
        codes, counts = _checked(one.verb, one.object_id, one.codes, one.counts)
        named = {"verb": one.verb, "object_type": one.object_type, "object_id": one.object_id}
        rows.append({"id": new_id(), **shared, **named, "codes": codes, "counts": counts})
    if rows:
        with prepared_cursor() as cursor:
            cursor.execute(_APPEND_ALL, [orjson.dumps(rows).decode()])


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
    words, numbers = _checked(verb, object_id, codes, counts or {})
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


def _checked(verb: str, object_id: str, codes: Iterable[str], counts: Mapping[str, int]) -> tuple[list[str], dict[str, int]]:
    """Codes and counts, once it is sure that they are nothing else."""
    VERBS[verb]
    words = [str(code) for code in codes]
    numbers = dict(counts)
    if len(object_id) > _LONGEST_ID or not all(map(_CODE.fullmatch, [*words, *numbers])):
        msg = f"an entry of {verb} may only hold ids, codes and counts"
        raise ValueError(msg)
    if not all(type(number) is int for number in numbers.values()):
        msg = f"the counts of {verb} are whole numbers"
        raise ValueError(msg)
    return words, numbers
