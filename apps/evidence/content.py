"""The only door to private text.

Nothing else reads or writes the text of a Content row. Callers hand in what they were allowed to see and get text back for
ids they hold; whether they may hold an id was decided by the scoped reads before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from apps.core import clock
from apps.core.canonical import sha256_hex
from apps.core.ids import new_id
from apps.core.prepared import fetch_prepared, prepared_cursor
from apps.evidence.models import Content
from apps.evidence.redaction import redact
from apps.retention.readiness import require_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

# One parameter for any number of texts; see apps/evidence/event_rows.py.
_INSERT: Final = """
    INSERT INTO evidence_content (id, tenant_id, namespace_id, text, sha256, size, created_at)
    SELECT r.id, r.tenant_id, r.namespace_id, r.text, r.sha256, r.size, r.created_at
    FROM json_to_recordset(%s::json)
         AS r(id uuid, tenant_id uuid, namespace_id uuid, text text, sha256 text, size integer, created_at timestamptz)
"""

_TEXTS = "SELECT id, text FROM evidence_content WHERE tenant_id = %s AND id = ANY(%s)"  # on the way of every query


def store_texts(tenant_id: UUID, texts: Sequence[tuple[UUID, str]], ids: Sequence[UUID] | None = None) -> list[UUID]:
    """Insert one Content row per ``(namespace id, text)`` and return their ids in the same order.

    ``ids`` are the primary keys to use, for callers whose rows point here before the text is stored. Must be called inside
    the tenant context; the text is kept byte for byte.
    """
    if not texts:
        return []
    at = clock.now()
    keys = [new_id() for _ in texts] if ids is None else list(ids)
    rows = []
    for key, (namespace_id, text) in zip(keys, texts, strict=True):
        data = text.encode()
        rows.append(
            {
                "id": key,
                "tenant_id": tenant_id,
                "namespace_id": namespace_id,
                "text": text,
                "sha256": sha256_hex(data),
                "size": len(data),
                "created_at": at,
            }
        )
    with prepared_cursor() as cursor:
        cursor.execute(_INSERT, [orjson.dumps(rows).decode()])
    return keys


def store_text(tenant_id: UUID, namespace_id: UUID, text: str | None) -> UUID | None:
    """Insert one text; None stays None."""
    return store_texts(tenant_id, [(namespace_id, text)])[0] if text is not None else None


def read_texts(tenant_id: UUID, ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """Texts by id; an id whose text was erased is missing from the answer.

    Raises AuthorityUnavailable while the revocation barrier is not known to be whole, whoever asks: a page, a job or a command.
    """
    wanted = {key for key in ids if key is not None}
    if not wanted:
        return {}
    require_whole()
    return dict(fetch_prepared(_TEXTS, [tenant_id, list(wanted)]))


def read_text(tenant_id: UUID, content_id: UUID | None) -> str | None:
    """One text, or None if there is none or it was erased."""
    return None if content_id is None else read_texts(tenant_id, [content_id]).get(content_id)


def erase_texts(tenant_id: UUID, ids: Iterable[UUID]) -> int:
    """Delete Content rows; returns how many were there. References must have been cleared before (foreign keys refuse)."""
    return Content.objects.filter(tenant_id=tenant_id, id__in=list(ids))._raw_delete("default")  # noqa: SLF001 - no cascade to collect


def keep_reason(tenant_id: UUID, namespace_id: UUID, text: str) -> UUID:
    """Store why somebody asked for a deletion, without what may not be stored. The text goes with the target."""
    return store_texts(tenant_id, [(namespace_id, redact(text).text)])[0]
