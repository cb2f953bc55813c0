"""What callers send to have something deleted."""

from __future__ import annotations

from collections.abc import Iterable

from apps.core.api.fields import boolean, choice, identifier, nested, text
from apps.core.api.schema import Body
from apps.core.errors import FieldError
from apps.retention.models import TargetKind

LONGEST_REASON = 2000  # characters
LONGEST_TARGET = 160  # scope, slash and scope id


class TargetIn(Body):
    kind: TargetKind = choice(TargetKind, help="What kind of thing is to be deleted.")
    id: str = identifier(
        max_chars=LONGEST_TARGET,
        help="Public id of a memory, own id of an event or session, key of a subject, or scope/scope_id of a namespace.",
    )


class ResumptionIn(Body):
    """POST …/resume: there is nothing to say."""

    empty_body = True


class DeletionIn(Body):
    """POST /memory-deletions."""

    deletion_request_id: str = identifier(help="The caller's own id; the same one again is the same deletion.")
    target: TargetIn = nested(TargetIn)
    cover_sources: bool = boolean(default=False, help="Erase the source events as well.")
    suppress_future: bool = boolean(default=False, help="Do not take the same fact up again from later statements.")
    reason: str = text(max_chars=LONGEST_REASON, default="", help="Why; kept as private text until the deletion is done.")


class CancellationIn(Body):
    """POST /memory-cancellations: exactly one of the two."""

    session_id: str | None = identifier(default=None, help="A session of the caller's own subject.")
    trace_id: str | None = identifier(default=None, help="A trace of the caller's own subject.")

    def cross_check(self) -> Iterable[FieldError]:
        if self.session_id is None and self.trace_id is None:
            yield FieldError("/session_id", "required", "Name a session or a trace.")
        elif self.session_id is not None and self.trace_id is not None:
            yield FieldError("/trace_id", "ambiguous_target", "Name a session or a trace, not both.")
