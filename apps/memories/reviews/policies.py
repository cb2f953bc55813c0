"""The rules of reviews: built-in ones, and those of a tenant from its provisioning file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.audits import log
from apps.memories.models import ReviewKind, ReviewPolicy
from apps.memories.reviews.deciding import Rule

if TYPE_CHECKING:
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.provisioning_file import Place

SECTION = "review_policies"
_MOST = 9


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """One rule as the file or the product says it."""

    approvals: int = 1
    distinct_groups: int = 1
    author_barred: bool = True
    due_days: int = 7


# What holds for everybody is agreed on by two (ID-17); the rest needs one who is not its author.
BUILT_IN = {
    ReviewKind.CANDIDATE: PolicySpec(),
    ReviewKind.REVALIDATION: PolicySpec(due_days=30),
    ReviewKind.PROMOTION_PROJECT: PolicySpec(),
    ReviewKind.PROMOTION_ORGANIZATION: PolicySpec(approvals=2),
}


def current_policy(tenant_id: UUID, kind: str) -> ReviewPolicy | None:
    """The newest rule of a tenant for a kind; None: the built-in one."""
    return ReviewPolicy.objects.filter(tenant_id=tenant_id, kind=kind).order_by("-version").first()


def due_days(policy: ReviewPolicy | None, kind: str) -> int:
    """How long a review of this kind may wait."""
    return BUILT_IN[ReviewKind(kind)].due_days if policy is None else policy.due_days


def rule_of(policy: ReviewPolicy | None, kind: str) -> Rule:
    """What a review that was opened under this policy needs."""
    found = BUILT_IN[ReviewKind(kind)] if policy is None else policy
    return Rule(found.approvals, found.distinct_groups, found.author_barred)


# -- provisioning


def parse_policies(value: object, at: Place) -> dict[str, PolicySpec]:
    """Section ``review_policies``: ``{kind: {approvals, distinct_groups, author_barred, due_days}}``."""
    if value is None:
        return {}
    found = {}
    for kind, entry in at.any_mapping(value).items():
        place = at / kind
        place.choice(kind, ReviewKind.values)
        said = place.mapping(entry, optional={"approvals", "distinct_groups", "author_barred", "due_days"})
        built_in = BUILT_IN[ReviewKind(kind)]

        def number(name: str, default: int, most: int = _MOST, said: dict[str, object] = said, place: Place = place) -> int:
            return default if said.get(name) is None else (place / name).integer(said[name], minimum=1, maximum=most)

        barred = said.get("author_barred", True)
        if not isinstance(barred, bool):
            raise (place / "author_barred").wrong("must be true or false")  # noqa: EM101, TRY003 - a message for people
        approvals = number("approvals", built_in.approvals)
        groups = number("distinct_groups", 1)
        if groups > approvals:
            raise (place / "distinct_groups").wrong("must not exceed the approvals")  # noqa: EM101, TRY003 - a message for people
        found[kind] = PolicySpec(approvals, groups, barred, number("due_days", built_in.due_days, 365))
    return found


def apply_policies(access: Access, parsed: dict[str, PolicySpec]) -> int:
    """Write rules that differ from those in force as new versions; returns how many. Open reviews keep theirs."""
    made = 0
    for kind, spec in parsed.items():
        row = current_policy(access.tenant_id, kind)
        held = BUILT_IN[ReviewKind(kind)] if row is None else row
        names = PolicySpec.__slots__
        if all(getattr(held, name) == getattr(spec, name) for name in names):
            continue
        ReviewPolicy.objects.create(
            tenant_id=access.tenant_id,
            kind=kind,
            version=1 if row is None else row.version + 1,
            **{name: getattr(spec, name) for name in names},
        )
        log.record(access, "review.policy_changed", "review_policy", kind, counts={"approvals": spec.approvals})
        made += 1
    return made
