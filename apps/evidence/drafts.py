"""A draft of an event, and what may be stored of it. Pure: nothing here knows the database.

Forbidden material is gone before anything else looks at the draft: stored text, hash and fingerprint are all those of the
redacted text, so that the value is neither kept nor can be guessed from a hash (EV-09, EV-11, CA-06).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from apps.core.canonical import canonical_json, sha256_hex
from apps.core.errors import FieldError, NotFound, NotPermitted, ValidationFailed
from apps.core.text import fold_key
from apps.evidence.redaction import find_forbidden, marker, redact
from apps.tenants.models import Scope

if TYPE_CHECKING:
    from datetime import datetime

    from apps.tenants.access import Access, NamespaceGrant


@dataclass(frozen=True, slots=True)
class ContentReference:
    """Content that is kept elsewhere: where, and how to tell that it is still the same (EV-05)."""

    uri: str
    sha256: str
    media_type: str
    byte_size: int


@dataclass(frozen=True, slots=True)
class Draft:
    """An event as its sender describes it; each field alone has been checked. Scope and session are requests, not grants."""

    event_id: str
    scope: str
    source_type: str
    occurred_at: datetime
    scope_id: str | None = None
    session_id: str | None = None
    content: str | None = None
    content_ref: ContentReference | None = None
    derived_from: tuple[str, ...] = ()
    retention_class: str | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What will be stored of a draft, for whom, and the fingerprint that tells a replay from a conflict."""

    draft: Draft
    grant: NamespaceGrant
    session_id: str
    content: str | None
    reference: str | None
    metadata: str | None
    content_sha256: str
    redactions: list[dict[str, str | int]]
    fingerprint: str


def prepare(access: Access, draft: Draft) -> Prepared:
    """Authorise the scope and redact.

    Raises NotFound (a scope or session out of reach), NotPermitted (readable, not writable), ValidationFailed (made from itself).
    """
    scope_id = fold_key(draft.scope_id) if draft.scope == Scope.PROJECT and draft.scope_id is not None else draft.scope_id
    grant = access.namespace_for(draft.scope, scope_id)
    if not grant.write:
        raise NotPermitted
    if draft.session_id and access.session_id and draft.session_id != access.session_id:
        raise NotFound  # the session is part of the delegated identity (EV-02); another one is like another subject
    if draft.event_id in draft.derived_from:
        raise ValidationFailed([_itself(draft)])
    redactions: list[dict[str, str | int]] = []
    content = draft.content
    if content is not None:
        redacted = redact(content)
        content = redacted.text
        redactions = [{"kind": one.kind.value, "start": one.start, "length": one.length} for one in redacted.findings]
    reference = _reference(draft.content_ref, redactions)
    metadata = canonical_json(_clean(draft.metadata, redactions)) if draft.metadata else None
    sha256 = draft.content_ref.sha256 if content is None and draft.content_ref else sha256_hex(content or "")
    return Prepared(
        draft=draft,
        grant=grant,
        session_id=draft.session_id or access.session_id or "",
        content=content,
        reference=reference,
        metadata=metadata,
        content_sha256=sha256,
        redactions=redactions,
        fingerprint=_fingerprint(access, draft, grant, sha256, reference, metadata),
    )


def _itself(draft: Draft) -> FieldError:
    where = draft.derived_from.index(draft.event_id)
    return FieldError(f"/derived_from/{where}", "derived_from_itself", "An event cannot be its own origin.")


def _fingerprint(
    access: Access, draft: Draft, grant: NamespaceGrant, sha256: str, reference: str | None, metadata: str | None
) -> str:
    """Of all that the sender said, and whose word it is; the session as it was sent, so that a retry in a new one is a replay."""
    return sha256_hex(
        canonical_json(
            [
                str(grant.id),
                str(access.subject_id),
                draft.session_id,
                draft.source_type,
                draft.occurred_at.isoformat(),
                sha256,
                draft.content is None,
                reference,
                draft.derived_from,
                draft.retention_class,
                draft.topics,
                draft.entities,
                metadata,
            ]
        )
    )


def _reference(reference: ContentReference | None, redactions: list[dict[str, str | int]]) -> str | None:
    if reference is None:
        return None
    found = {
        "uri": _clean(reference.uri, redactions, "content_ref"),
        "sha256": reference.sha256,
        "media_type": _clean(reference.media_type, redactions, "content_ref"),
        "byte_size": reference.byte_size,
    }
    return canonical_json(found)


def _clean(value: Any, redactions: list[dict[str, str | int]], where: str = "metadata", name: str = "") -> Any:  # noqa: ANN401 - JSON
    """A JSON value without forbidden material. A string is looked at with its key: ``{"password": "…"}`` says what it is."""
    if isinstance(value, dict):
        return {_clean(key, redactions, where): _clean(inner, redactions, where, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner, redactions, where, name) for inner in value]
    if not isinstance(value, str) or not value:
        return value
    before = f"{name}: " if name else ""
    findings = [one for one in find_forbidden(before + value) if one.end > len(before)]
    if not findings:
        return value
    parts: list[str] = []
    done = 0
    for one in findings:
        start = max(one.start - len(before), done)
        parts += (value[done:start], marker(one.kind))
        done = one.end - len(before)
        redactions.append({"kind": one.kind.value, "start": start, "length": done - start, "field": where})
    return "".join([*parts, value[done:]])
