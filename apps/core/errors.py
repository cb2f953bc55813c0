"""Domain errors: what a verb may answer instead of a result.

Every class has a status, a stable code, a title and a fixed detail. None of them ever carries text of a caller: an error is
logged, stored in traces and shown to other people more easily than the object it is about. What an error says beyond its class
are numbers, public ids and JSON pointers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field: where it is (JSON Pointer), a stable code, and an explanation that does not repeat the value."""

    pointer: str
    code: str
    detail: str


class DomainError(Exception):
    """Base of everything that becomes a problem document (RFC 9457, design/06 Errors)."""

    status: ClassVar[int] = 500
    code: str = "internal_error"
    title: ClassVar[str] = "Internal error"
    detail: str = "The request could not be completed."

    def __init__(self) -> None:
        super().__init__(self.code)

    def extras(self) -> dict[str, object]:
        """Members of the problem document beyond the standard ones."""
        return {}

    def headers(self) -> dict[str, str]:
        """Header fields that belong to the answer."""
        return {}


class RetryLater(DomainError):
    """Base of errors that name a time after which the same request may work; seconds, at least one."""

    retry_after: int

    def __init__(self, retry_after: int = 1) -> None:
        super().__init__()
        self.retry_after = max(1, retry_after)

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


# -- 400: the request cannot be read


class BadRequest(DomainError):
    status = 400
    code = "bad_request"
    title = "Bad request"
    detail = "The request is not one that this server can read."


class MalformedJson(DomainError):
    """Also NaN and Infinity, duplicate keys, nesting deeper than 32, lone surrogates and bytes that are not UTF-8."""

    status = 400
    code = "malformed_json"
    title = "Malformed JSON"
    detail = "The body is not well-formed JSON in UTF-8 with unique keys, finite numbers and at most 32 levels."


class LengthRequired(DomainError):
    status = 411
    code = "length_required"
    title = "Length required"
    detail = "The body has a transfer coding that hides its length. Send Content-Length."


class ContentTooLarge(DomainError):
    status = 413
    code = "content_too_large"
    title = "Content too large"
    detail = "The body is larger than this endpoint accepts."


class UriTooLong(DomainError):
    """Answered by the web server, before there is a request."""

    status = 414
    code = "uri_too_long"
    title = "URI too long"
    detail = "The request line is longer than this server reads."


class UnsupportedMediaType(DomainError):
    status = 415
    code = "unsupported_media_type"
    title = "Unsupported media type"
    detail = "The body must be application/json in UTF-8."

    def headers(self) -> dict[str, str]:
        return {"Accept": "application/json"}


# -- 401 and 403: who asks


class NotAuthenticated(DomainError):
    status = 401
    code = "not_authenticated"
    title = "Not authenticated"
    detail = "A valid credential or delegation token is needed."

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class CredentialExpired(NotAuthenticated):
    code = "credential_expired"
    title = "Credential expired"
    detail = "The time of this credential or delegation is over."


class CredentialRevoked(NotAuthenticated):
    code = "credential_revoked"
    title = "Credential revoked"
    detail = "This credential or delegation has been revoked."


class OperationNotGranted(DomainError):
    """The credential lacks the operation, whatever the object."""

    status = 403
    code = "operation_not_granted"
    title = "Operation not granted"
    detail = "The credential does not have this operation."


class NotPermitted(DomainError):
    """The caller can read the object, so its existence is known, but may not do this to it."""

    status = 403
    code = "not_permitted"
    title = "Not permitted"
    detail = "This action on this object is not allowed."


class ReviewerBarred(NotPermitted):
    """Who wrote something, sent its evidence, asked for it, or made the agent that did, has no vote about it."""

    code = "reviewer_barred"
    title = "Reviewer barred"
    detail = "Nobody decides about what he wrote, asked for or supplied the evidence of."


# -- 404, 405, 410: what is asked for


class NotFound(DomainError):
    """Absent, of another tenant, or unreadable: one answer, whatever the action (ID-09)."""

    status = 404
    code = "not_found"
    title = "Not found"
    detail = "There is nothing here that you may see."


class MethodNotAllowed(DomainError):
    status = 405
    code = "method_not_allowed"
    title = "Method not allowed"
    detail = "This path does not have this method."

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        super().__init__()
        self.allowed = tuple(allowed)

    def headers(self) -> dict[str, str]:
        return {"Allow": ", ".join(self.allowed)}


class Revoked(DomainError):
    """Only for an id that the caller could read before the deletion; a read also names the public id of the job."""

    status = 410
    code = "revoked"
    title = "Revoked"
    detail = "This has been deleted."

    def __init__(self, deletion_job_id: str | None = None) -> None:
        super().__init__()
        self.deletion_job_id = deletion_job_id

    def extras(self) -> dict[str, object]:
        return {} if self.deletion_job_id is None else {"deletion_job_id": self.deletion_job_id}


# -- 409 and 428: what is there already


class Conflict(DomainError):
    status = 409
    code = "conflict"
    title = "Conflict"
    detail = "The request does not fit the present state."


class EventIdConflict(Conflict):
    code = "event_id_conflict"
    title = "Event id conflict"
    detail = "An event with this id and other content is stored already."


class CandidateIdConflict(Conflict):
    code = "candidate_id_conflict"
    title = "Candidate id conflict"
    detail = "A candidate with this id and other content is stored already."


class DeletionRequestConflict(Conflict):
    code = "deletion_request_conflict"
    title = "Deletion request conflict"
    detail = "A deletion request with this id and another target or other options is stored already."


class ExportRequestConflict(Conflict):
    code = "export_request_conflict"
    title = "Export request conflict"
    detail = "An export request with this id and another subject or reason is stored already."


class DeletionInProgress(Conflict):
    """What is being deleted is neither read nor handed out; afterwards there is nothing left of it."""

    code = "deletion_in_progress"
    title = "Deletion in progress"
    detail = "A deletion of this subject has been accepted and is not completed yet."

    def __init__(self, deletion_job_id: str | None = None) -> None:
        super().__init__()
        self.deletion_job_id = deletion_job_id

    def extras(self) -> dict[str, object]:
        return {} if self.deletion_job_id is None else {"deletion_job_id": self.deletion_job_id}


class VersionConflict(Conflict):
    code = "version_conflict"
    title = "Version conflict"
    detail = "The object has another version than expected."

    def __init__(self, current_version: int) -> None:
        super().__init__()
        self.current_version = current_version

    def extras(self) -> dict[str, object]:
        return {"current_version": self.current_version}


class ConflictChanged(Conflict):
    """Of a set of contradicting values: somebody else has settled it, or its members are not those that were looked at."""

    code = "conflict_changed"
    title = "Conflict changed"
    detail = "The values in conflict are not the ones that were expected. Read the conflict again."


class ConflictSettled(Conflict):
    code = "conflict_settled"
    title = "Conflict settled"
    detail = "This conflict has been settled already."


class StaleReview(Conflict):
    code = "stale_review"
    title = "Stale review"
    detail = "What is reviewed has been edited since it was looked at. Look at it again."


class ReviewClosed(Conflict):
    code = "review_closed"
    title = "Review closed"
    detail = "This review has been decided, or has ended."


class ReviewNotPossible(Conflict):
    code = "review_not_possible"
    title = "Review not possible"
    detail = "The write protocol refuses what was to be approved as it stands now."


class ReviewPending(Conflict):
    code = "review_pending"
    title = "Review pending"
    detail = "This is under review already."


class ReviewClaimed(Conflict):
    """Somebody else is looking at it; the claim ends by itself."""

    code = "review_claimed"
    title = "Review claimed"
    detail = "Somebody else has claimed this review."

    def __init__(self, until: datetime) -> None:
        super().__init__()
        self.until = until

    def extras(self) -> dict[str, object]:
        return {"claimed_until": self.until.isoformat()}


class RevisionUnavailable(Conflict):
    code = "revision_unavailable"
    title = "Revision unavailable"
    detail = "This revision does not exist yet."


class IdempotencyKeyReuse(Conflict):
    code = "idempotency_key_reuse"
    title = "Idempotency key reuse"
    detail = "This Idempotency-Key was used for a request with another body."


class IdempotencyInProgress(RetryLater, Conflict):
    code = "idempotency_in_progress"
    title = "Request in progress"
    detail = "A request with this Idempotency-Key is still being worked on."


class PreconditionRequired(DomainError):
    status = 428
    code = "precondition_required"
    title = "Precondition required"
    detail = "Give expected_version in the body or If-Match in the header."


class HeaderFieldsTooLarge(DomainError):
    """Answered by the web server, before there is a request."""

    status = 431
    code = "header_fields_too_large"
    title = "Header fields too large"
    detail = "The header fields are more, or longer, than this server reads."


# -- 422: the request can be read, and is wrong

# Codes that design/06 names for a whole answer; an answer whose errors all have one of them shows it as its own code.
_CODES_OF_ANSWERS = frozenset(
    {
        "forbidden_material",
        "immutable_field",
        "invalid_cursor",
        "invalid_key",
        "invalid_text",
        "invalid_type",
        "max_length",
        "no_scoped_miss",
        "occurred_in_future",
        "timezone_required",
        "unknown_field",
    }
)


class ValidationFailed(DomainError):
    """One or more wrong fields; ``errors[].code`` is the exact code of each."""

    status = 422
    code = "validation_failed"
    title = "Validation failed"
    detail = "Fields of the request are wrong; see errors."

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        codes = {error.code for error in self.errors}
        if len(codes) == 1 and codes <= _CODES_OF_ANSWERS:
            self.code = next(iter(codes))
        super().__init__()

    def extras(self) -> dict[str, object]:
        return {"errors": [{"pointer": e.pointer, "code": e.code, "detail": e.detail} for e in self.errors]}


# -- 429, 500, 503: the server


class RateLimited(RetryLater):
    status = 429
    code = "rate_limited"
    title = "Rate limited"
    detail = "Too many requests with this credential."


class InternalError(DomainError):
    """A fault of the server; what happened is in its log under the request id, never in the answer."""


class AuthorityUnavailable(RetryLater):
    """The database does not answer. A write was not done, or was undone, unless a retry with the same id says otherwise."""

    status = 503
    code = "authority_unavailable"
    title = "Authority unavailable"
    detail = "The authority that must decide this does not answer. Try again."

    def __init__(self, retry_after: int = 5) -> None:
        super().__init__(retry_after)
