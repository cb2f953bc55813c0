"""What callers send as events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from apps.core.api.fields import choice, identifier, instant, integer, items, json_object, key, nested, raw, text
from apps.core.api.schema import Body, Query
from apps.core.errors import FieldError
from apps.core.limits import LIMITS
from apps.evidence.drafts import ContentReference, Draft
from apps.evidence.models import SourceType
from apps.tenants.models import Scope


class ContentRefIn(Body):
    """Content that is kept elsewhere."""

    uri: str = text(min_chars=1, max_chars=2048)
    sha256: str = text(pattern=r"[0-9a-f]{64}", help="SHA-256 of the content, in lower-case hexadecimal.")
    media_type: str = text(min_chars=1, max_chars=128)
    byte_size: int = integer(minimum=0)


class EventIn(Body):
    """POST /memory-events."""

    event_id: str = identifier(help="The sender's own id; the same one again is a replay.")
    scope: Scope = choice(Scope)
    scope_id: str | None = identifier(default=None, help="Needed for a project; else one's own subject key or tenant key.")
    session_id: str | None = identifier(default=None)
    source_type: SourceType = choice(SourceType)
    occurred_at: datetime = instant(ahead=timedelta(seconds=LIMITS.future_seconds))
    content: str | None = text(max_bytes=LIMITS.content_bytes, default=None)
    content_ref: ContentRefIn | None = nested(ContentRefIn, default=None)
    derived_from: tuple[str, ...] = items(identifier(), max_items=LIMITS.labels, default=())
    retention_class: str | None = identifier(default=None)
    topics: tuple[str, ...] = items(key(), max_items=LIMITS.labels, default=())
    entities: tuple[str, ...] = items(key(), max_items=LIMITS.labels, default=())
    metadata: dict[str, Any] = json_object(max_bytes=LIMITS.metadata_bytes, default_factory=dict)

    def cross_check(self) -> Iterator[FieldError]:
        if self.content is None and self.content_ref is None:
            yield FieldError("/content", "required", "Give content or content_ref.")

    @property
    def draft(self) -> Draft:
        reference = self.content_ref
        return Draft(
            event_id=self.event_id,
            scope=self.scope.value,
            scope_id=self.scope_id,
            session_id=self.session_id,
            source_type=self.source_type.value,
            occurred_at=self.occurred_at,
            content=self.content,
            content_ref=None
            if reference is None
            else ContentReference(reference.uri, reference.sha256, reference.media_type, reference.byte_size),
            derived_from=self.derived_from,
            retention_class=self.retention_class,
            topics=self.topics,
            entities=self.entities,
            metadata=self.metadata,
        )


class EventBatchIn(Body):
    """POST /memory-events/batch. Items are checked one by one, so that one that is wrong does not fail the others."""

    body_limit: ClassVar[int] = LIMITS.batch_body_bytes

    events: tuple[Any, ...] = items(raw(EventIn), max_items=LIMITS.batch_events, min_items=1)


class EventQuery(Query):
    include: str | None = choice("content", default=None, help="Text, reference and metadata; needs raw:read.")
