"""Reading a provisioning file strictly: every wrong thing is named with its place, in words for people (design/06)."""

# ruff: noqa: EM101, EM102, TRY003 - these errors are their messages

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from apps.core.text import fold_key, has_control, key_fault
from apps.tenants.models import Operation, Role
from apps.tenants.people import is_username

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_ID_CHARS = 128
_NAME_CHARS = 200
_TENANT_KEY_CHARS = 100  # leaves room for the role behind it in the name of a group
_STAFF_ROLES = tuple(role for role in Role.values if role != Role.AGENT)


class ProvisioningError(Exception):
    """The file cannot be used; the message says where and why, and nothing has been changed."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the file something stands, such as ``tenants[0].agents[1].key``; and the strict readers of what stands there."""

    path: str = ""

    def __truediv__(self, part: str | int) -> Place:
        if isinstance(part, int):
            return Place(f"{self.path}[{part}]")
        return Place(f"{self.path}.{part}" if self.path else part)

    def wrong(self, why: str) -> ProvisioningError:
        """The error to raise: ``raise at.wrong("must be a list")``."""
        return ProvisioningError(f"{self.path or 'the file'}: {why}")

    def mapping(self, value: object, *, required: Collection[str] = (), optional: Collection[str] = ()) -> dict[str, Any]:
        """A mapping with exactly these keys; ``optional`` ones may be absent."""
        found = self.any_mapping(value)
        unknown = [name for name in found if name not in required and name not in optional]
        if unknown:
            known = ", ".join(sorted([*required, *optional]))
            raise self.wrong(f"there is no {_shown(unknown[0])} here; known are {known}")
        for name in required:
            if found.get(name) is None:
                raise self.wrong(f"{name} is missing")
        return found

    def any_mapping(self, value: object) -> dict[str, Any]:
        """A mapping whose keys are text."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self.wrong("must be a mapping of names to values")
        return value

    def items(self, value: object) -> list[Any]:
        """The entries of a list; an absent list is empty."""
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong("must be a list")
        return value

    def entries(self, value: object) -> Iterator[tuple[Place, Any]]:
        """The same, each with its place."""
        return ((self / number, inner) for number, inner in enumerate(self.items(value)))

    def text(self, value: object, *, max_chars: int = _NAME_CHARS) -> str:
        """Text of one line, not blank."""
        if not isinstance(value, str):
            raise self.wrong("must be text (put it in quotes if it looks like a number, a date or yes/no)")
        if not value.strip() or len(value) > max_chars or has_control(value):
            raise self.wrong(f"must be 1 to {max_chars} visible characters")
        return value

    def key(self, value: object, *, max_chars: int = _ID_CHARS) -> str:
        """A key whose identity is its folded form, which is what comes back."""
        text = self.text(value, max_chars=max_chars)
        if key_fault(text) is not None:
            raise self.wrong("must not hold invisible or direction-changing characters")
        return fold_key(text)

    def integer(self, value: object, *, minimum: int = 0, maximum: int = 1_000_000) -> int:
        """A whole number."""
        if type(value) is not int:
            raise self.wrong("must be a whole number")
        if not minimum <= value <= maximum:
            raise self.wrong(f"must lie between {minimum} and {maximum}")
        return value

    def choice(self, value: object, known: Collection[str]) -> str:
        """One of the words."""
        if not isinstance(value, str) or value not in known:
            raise self.wrong(f"must be one of {', '.join(known)}")
        return value


@dataclass(frozen=True, slots=True)
class ProjectLine:
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class SubjectLine:
    key: str
    projects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CredentialLine:
    name: str
    operations: tuple[str, ...]
    projects: tuple[str, ...]
    subject: str | None
    expires_days: int | None


@dataclass(frozen=True, slots=True)
class AgentLine:
    key: str
    credentials: tuple[CredentialLine, ...]


@dataclass(frozen=True, slots=True)
class StaffLine:
    username: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TenantLine:
    """One tenant of the file. ``sections`` holds what the registered readers of higher floors made of their parts."""

    key: str
    name: str
    projects: tuple[ProjectLine, ...]
    subjects: tuple[SubjectLine, ...]
    agents: tuple[AgentLine, ...]
    staff: tuple[StaffLine, ...]
    sections: dict[str, Any] = field(default_factory=dict)


def read_document(text: str) -> object:
    """The value of a YAML or JSON text; raises ProvisioningError also for a key that stands twice."""
    try:
        # JSON is YAML but for tabs, and one kind of loader gives one kind of message.
        return yaml.load(text.replace("\t", " "), Loader=_StrictLoader)  # noqa: S506 - a SafeLoader that refuses duplicates
    except yaml.YAMLError as trouble:
        mark = getattr(trouble, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark is not None else "the file"
        why = getattr(trouble, "problem", None) or "this is not YAML or JSON"
        raise ProvisioningError(f"{where}: {why}") from None
    except (RecursionError, ValueError):
        raise ProvisioningError("the file: this is not YAML or JSON that can be read") from None


def read_tenants(document: object, sections: Mapping[str, Any]) -> list[TenantLine]:
    """The tenants of a document. ``sections``: name → reader ``(value or None, place)`` of the parts that higher floors own.

    Raises ProvisioningError for anything unknown, missing, repeated or named but not there.
    """
    at = Place()
    top = at.mapping(document, required=("tenants",))
    lines = [_tenant(value, place, sections) for place, value in (at / "tenants").entries(top["tenants"])]
    _unique(at / "tenants", [line.key for line in lines])
    return lines


def _tenant(value: object, at: Place, sections: Mapping[str, Any]) -> TenantLine:
    found = at.mapping(value, required=("key",), optional=("name", "projects", "subjects", "agents", "staff", *sections))
    key = (at / "key").key(found["key"], max_chars=_TENANT_KEY_CHARS)
    if any(letter in "/:" for letter in key):
        raise (at / "key").wrong("must not hold a slash or a colon")
    projects = tuple(_project(item, place) for place, item in (at / "projects").entries(found.get("projects")))
    _unique(at / "projects", [line.key for line in projects])
    subjects = tuple(_subject(item, place) for place, item in (at / "subjects").entries(found.get("subjects")))
    _unique(at / "subjects", [line.key for line in subjects])
    agents = tuple(_agent(item, place) for place, item in (at / "agents").entries(found.get("agents")))
    _unique(at / "agents", [line.key for line in agents])
    staff = tuple(_staff(item, place) for place, item in (at / "staff").entries(found.get("staff")))
    _unique(at / "staff", [line.username for line in staff])
    name = (at / "name").text(found["name"]) if found.get("name") is not None else key
    read = {section: reader(found.get(section), at / section) for section, reader in sections.items()}
    return TenantLine(key, name, projects, subjects, agents, staff, read)


def _project(value: object, at: Place) -> ProjectLine:
    found = at.mapping(value, required=("key",), optional=("name",))
    key = (at / "key").key(found["key"])
    return ProjectLine(key, (at / "name").text(found["name"]) if found.get("name") is not None else key)


def _subject(value: object, at: Place) -> SubjectLine:
    found = at.mapping(value, required=("key",), optional=("projects",))
    return SubjectLine((at / "key").text(found["key"], max_chars=_ID_CHARS), _keys(at / "projects", found.get("projects")))


def _agent(value: object, at: Place) -> AgentLine:
    found = at.mapping(value, required=("key",), optional=("credentials",))
    place = at / "credentials"
    credentials = tuple(_credential(item, inner) for inner, item in place.entries(found.get("credentials")))
    _unique(place, [line.name for line in credentials])
    return AgentLine((at / "key").text(found["key"], max_chars=_ID_CHARS), credentials)


def _credential(value: object, at: Place) -> CredentialLine:
    found = at.mapping(value, required=("name", "operations"), optional=("projects", "subject", "expires_days"))
    place = at / "operations"
    operations = tuple(inner.choice(item, Operation.values) for inner, item in place.entries(found["operations"]))
    _unique(place, operations)
    subject = None
    if found.get("subject") is not None:
        subject = (at / "subject").text(found["subject"], max_chars=_ID_CHARS)
    days = found.get("expires_days")
    return CredentialLine(
        name=(at / "name").text(found["name"], max_chars=_ID_CHARS),
        operations=operations,
        projects=_keys(at / "projects", found.get("projects")),
        subject=subject,
        expires_days=None if days is None else (at / "expires_days").integer(days, minimum=1, maximum=3650),
    )


def _staff(value: object, at: Place) -> StaffLine:
    found = at.mapping(value, required=("username", "roles"))
    username = (at / "username").text(found["username"], max_chars=150)
    if not is_username(username):
        raise (at / "username").wrong("may hold letters, digits and @ . + - _ only")
    roles = tuple(inner.choice(item, _STAFF_ROLES) for inner, item in (at / "roles").entries(found["roles"]))
    if not roles:
        raise (at / "roles").wrong("must name at least one role")
    _unique(at / "roles", roles)
    return StaffLine(username, roles)


def _keys(at: Place, value: object) -> tuple[str, ...]:
    keys = tuple(place.key(item) for place, item in at.entries(value))
    _unique(at, keys)
    return keys


def _unique(at: Place, keys: Collection[str]) -> None:
    seen: set[str] = set()
    for number, key in enumerate(keys):
        if key in seen:
            raise (at / number).wrong(f"{_shown(key)} stands here twice")
        seen.add(key)


def _shown(text: str) -> str:
    return repr(text[:80])


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one where it was built


class _StrictLoader(_Loader):  # type: ignore[misc]
    """YAML as plain data: a key must not stand twice, dates stay text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable) or key in seen:
                self._refuse(key_node)
            seen.add(key)
        found: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return found

    def _refuse(self, node: yaml.Node) -> NoReturn:
        raise yaml.constructor.ConstructorError(None, None, "this key stands here twice", node.start_mark)


def _as_text(loader: _StrictLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


_StrictLoader.add_constructor("tag:yaml.org,2002:timestamp", _as_text)
