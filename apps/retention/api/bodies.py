"""What callers send to have something deleted."""

from __future__ import annotations

from apps.core.api.fields import boolean, choice, identifier, nested, text
from apps.core.api.schema import Body
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
