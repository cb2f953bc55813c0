"""Retention classes: their section of the provisioning file, and which class a record gets (RT-01..05)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.core.errors import FieldError, ValidationFailed
from apps.retention.models import RetentionClass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.provisioning_file import Place

CONVERSATION: Final = "conversation"
ENGINEERING_KNOWLEDGE: Final = "engineering_knowledge"

# Setting of a tenant that names the class of events which name none.
DEFAULT_SETTING: Final = "default_retention_class"

_PERIODS = ("content_days", "index_days", "candidate_days", "trace_days", "audit_days", "review_after_months")
_LONGEST = 36_500  # days; nothing is kept for ever by a slip of the keyboard (RT-03)


@dataclass(frozen=True, slots=True)
class ClassSpec:
    """A class as it stands in the file; ``given`` holds the fields that the file names."""

    key: str
    given: dict[str, str | int]


# What every tenant has even if its file says nothing: talk is looked at again after a year, knowledge after half of one.
_BUILT_IN = (
    ClassSpec(CONVERSATION, {"purpose": "Conversations with a subject.", "content_days": 365, "review_after_months": 12}),
    ClassSpec(ENGINEERING_KNOWLEDGE, {"purpose": "What a project has learned.", "content_days": 730, "review_after_months": 6}),
)


def find_classes(tenant_id: UUID, keys: Iterable[str]) -> dict[str, UUID]:
    """Primary keys of the classes of these names; a name that is missing is unknown."""
    return dict(RetentionClass.objects.filter(tenant_id=tenant_id, key__in=set(keys)).values_list("key", "id"))


def default_class(access: Access, otherwise: str = CONVERSATION) -> str:
    """The key of the class of records that name none: the tenant's setting, else ``otherwise``."""
    chosen = access.settings.get(DEFAULT_SETTING)
    return chosen if isinstance(chosen, str) and chosen else otherwise


def find_class(
    access: Access, key: str | None, *, default: str = CONVERSATION, pointer: str = "/retention_class"
) -> RetentionClass:
    """The class of a record. Raises ValidationFailed (``unknown_retention_class`` at ``pointer``)."""
    wanted = default_class(access, default) if key is None else key
    found = RetentionClass.objects.filter(tenant_id=access.tenant_id, key=wanted).first()
    if found is None:
        raise ValidationFailed([unknown_class(pointer)])
    return found


def unknown_class(pointer: str) -> FieldError:
    return FieldError(pointer, "unknown_retention_class", "The tenant has no retention class of this name.")


def parse_classes(value: object, at: Place) -> list[ClassSpec]:
    """Section ``retention_classes``: a list of ``{key, purpose, content_days, …, at_end}``; the built-in ones are always made."""
    found = {spec.key: spec for spec in _BUILT_IN}
    if value is not None:
        for number, item in enumerate(at.items(value)):
            spec = _parse_one(item, at / number)
            found[spec.key] = spec
    return list(found.values())


def _parse_one(item: object, at: Place) -> ClassSpec:
    mapping = at.mapping(item, required={"key"}, optional={"purpose", "at_end", *_PERIODS})
    given: dict[str, str | int] = {}
    for name in _PERIODS:
        if mapping.get(name) is not None:
            given[name] = (at / name).integer(mapping[name], minimum=1, maximum=_LONGEST)
    if mapping.get("purpose") is not None:
        given["purpose"] = (at / "purpose").text(mapping["purpose"], max_chars=400)
    if mapping.get("at_end") is not None:
        given["at_end"] = (at / "at_end").choice(mapping["at_end"], RetentionClass.AtEnd.values)
    return ClassSpec((at / "key").text(mapping["key"], max_chars=128), given)


def apply_classes(access: Access, parsed: list[ClassSpec]) -> int:
    """Make what is missing and change what the file says otherwise; returns how many rows that were. Additive."""
    there = {row.key: row for row in RetentionClass.objects.filter(tenant_id=access.tenant_id)}
    new = [RetentionClass(tenant_id=access.tenant_id, key=spec.key, **spec.given) for spec in parsed if spec.key not in there]
    RetentionClass.objects.bulk_create(new)
    changed = 0
    for spec in parsed:
        row = there.get(spec.key)
        differs = {name: value for name, value in spec.given.items() if row is not None and getattr(row, name) != value}
        # What a file does not say about a class that exists is left as it is; the built-in defaults are only for new ones.
        if row is not None and differs and spec not in _BUILT_IN:
            changed += RetentionClass.objects.filter(tenant_id=access.tenant_id, pk=row.pk).update(**differs)
    return len(new) + changed
