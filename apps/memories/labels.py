"""The vocabulary of topics and entities: strict for records, lenient for questions (LB-01..17).

A record may only carry canonical keys; what is in use never makes a label legal. A question may use aliases, and a hint that
nobody knows is reported and otherwise ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from apps.core.errors import FieldError, ValidationFailed
from apps.core.prepared import fetch_prepared
from apps.core.text import fold_key
from apps.memories.models import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from apps.tenants.access import Access
    from apps.tenants.provisioning_file import Place

Kind = Literal["topic", "entity"]

_KEY_CHARS = 128
SECTIONS: tuple[tuple[str, Kind], ...] = (("topics", "topic"), ("entities", "entity"))


@dataclass(frozen=True, slots=True)
class Hints:
    """What a question's labels mean: canonical keys, and the hints that are no label, as they were given."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelSpec:
    """One label of a provisioning file."""

    kind: Kind
    key: str
    aliases: tuple[str, ...]


# -- records: strict


def canonical_labels(tenant_id: UUID, kind: Kind, labels: frozenset[str]) -> Mapping[str, str]:
    """The labels (folded) that are canonical keys of their kind; what is missing is unknown. An alias is no key (LB-03)."""
    found = list(Label.objects.filter(tenant_id=tenant_id, kind=kind, key__in=labels).values_list("key", flat=True))
    return dict(zip(found, found, strict=True))


def require_known(tenant_id: UUID, topics: Sequence[str], entities: Sequence[str]) -> None:
    """Raise ValidationFailed naming field, place and label of everything that is no canonical key (LB-04, LB-05)."""
    errors = []
    for (field, kind), labels in zip(SECTIONS, (topics, entities), strict=True):
        if labels:
            known = canonical_labels(tenant_id, kind, frozenset(labels))
            errors += [
                FieldError(f"/{field}/{place}", "unknown_label", f"{label} is no canonical {kind}.")
                for place, label in enumerate(labels)
                if label not in known
            ]
    if errors:
        raise ValidationFailed(errors)


# -- questions: lenient


def vocabulary(tenant_id: UUID) -> dict[str, dict[str, str]]:
    """Every spelling that a question may use, by kind: folded key or alias → canonical key."""
    found: dict[str, dict[str, str]] = {kind: {} for _, kind in SECTIONS}
    rows = fetch_prepared("SELECT kind, key, aliases FROM memories_label WHERE tenant_id = %s", [tenant_id])
    for kind, key, aliases in rows:
        found[kind].update(dict.fromkeys(aliases, key))
    for kind, key, _ in rows:
        found[kind][key] = key
    return found


def resolve_hints(spellings: Mapping[str, str], hints: Iterable[str]) -> Hints:
    """Canonical keys of hints, each once, in order; unknown ones apart (LB-11, LB-13). ``spellings`` are those of their kind."""
    given = list(hints)
    known = dict.fromkeys(spellings[fold_key(hint)] for hint in given if fold_key(hint) in spellings)
    return Hints(tuple(known), tuple(hint for hint in given if fold_key(hint) not in spellings))


# -- provisioning


def parse_labels(value: object, at: Place) -> list[LabelSpec]:
    """Section ``labels``: ``{topics: {key: {aliases: […]}}, entities: {…}}``. An alias has one meaning in its kind (LB-14)."""
    if value is None:
        return []
    found = at.mapping(value, optional=[name for name, _ in SECTIONS])
    specs = []
    for section, kind in SECTIONS:
        if found.get(section) is not None:
            specs += _parse_kind(found[section], kind, at / section)
    return specs


def _parse_kind(value: object, kind: Kind, at: Place) -> list[LabelSpec]:
    specs = []
    for name, entry in at.any_mapping(value).items():
        place = at / name
        aliases: tuple[str, ...] = ()
        if entry is not None:
            mapping = place.mapping(entry, optional=("aliases",))
            listed = (place / "aliases").entries(mapping.get("aliases"))
            aliases = tuple(inner.key(item, max_chars=_KEY_CHARS) for inner, item in listed)
        specs.append(LabelSpec(kind, place.key(name, max_chars=_KEY_CHARS), tuple(dict.fromkeys(aliases))))
    keys = [spec.key for spec in specs]
    if len(set(keys)) < len(keys):
        raise at.wrong("two keys are the same once they are folded")  # noqa: EM101, TRY003 - a message for people
    meanings: dict[str, str] = {key: key for key in keys}
    for spec in specs:
        for alias in spec.aliases:
            if meanings.setdefault(alias, spec.key) != spec.key:
                raise (at / spec.key).wrong("one of its aliases already means another label")  # noqa: EM101, TRY003
    return specs


def apply_labels(access: Access, parsed: list[LabelSpec]) -> int:
    """Make labels that are missing and set the aliases of those that are there; returns rows made or changed. Additive."""
    there = {(row.kind, row.key): row for row in Label.objects.filter(tenant_id=access.tenant_id)}
    new = [
        Label(tenant_id=access.tenant_id, kind=spec.kind, key=spec.key, aliases=list(spec.aliases))
        for spec in parsed
        if (spec.kind, spec.key) not in there
    ]
    Label.objects.bulk_create(new)
    changed = []
    for spec in parsed:
        row = there.get((spec.kind, spec.key))
        if row is not None and set(row.aliases) != set(spec.aliases):
            row.aliases = list(spec.aliases)
            changed.append(row)
    Label.objects.bulk_update(changed, ["aliases"])
    return len(new) + len(changed)
