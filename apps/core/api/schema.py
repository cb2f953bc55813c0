"""Request bodies and query parameters as frozen, typed dataclasses.

``EventIn.parse(request)`` is all a view says. Unknown fields are refused at every depth, and one answer names every wrong field
with a JSON Pointer and a stable code.
"""


# ruff: noqa: ANN401 - JSON values and REST framework's requests have no narrower type here

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, dataclass_transform
from urllib.parse import parse_qsl

from apps.core.api import fields
from apps.core.api.parsers import read_json
from apps.core.api.validation import MOST_ERRORS, WRONG, Check, Errors, pointer_to, wrong
from apps.core.errors import FieldError, ValidationFailed
from apps.core.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterable

_Row: TypeAlias = tuple[str, str, Check, bool, Any, Any]  # name in JSON, attribute, check, required, default, factory

_MOST_PARAMETERS = 50


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(
        fields.text,
        fields.identifier,
        fields.key,
        fields.integer,
        fields.number,
        fields.boolean,
        fields.choice,
        fields.instant,
        fields.items,
        fields.json_object,
        fields.anything,
        fields.nested,
        fields.raw,
    ),
)
class Declared:
    """Base of Body and Query: turns field declarations into a frozen dataclass and a reading plan."""

    immutable: ClassVar[tuple[str, ...]] = ()
    _plan: ClassVar[tuple[_Row, ...]] = ()
    _known: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)
        cls._plan = tuple(
            (
                one.metadata[fields.NAME] or one.name,
                one.name,
                one.metadata[fields.CHECK],
                one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING,
                one.default,
                None if one.default_factory is dataclasses.MISSING else one.default_factory,
            )
            for one in dataclasses.fields(cls)  # type: ignore[arg-type]  # made a dataclass two lines above
        )
        cls._known = frozenset(row[0] for row in cls._plan)

    @property
    def given(self) -> frozenset[str]:
        """The fields that stood in the request with a value other than null."""
        found: frozenset[str] = self.__dict__.get("_given", frozenset())
        return found

    def cross_check(self) -> Iterable[FieldError]:
        """Rules between fields, asked only when each field alone is right. Pointers are those of this object."""
        return ()

    @classmethod
    def of(cls, value: object, pointer: str = "") -> Self:
        """Check one JSON value; raises ValidationFailed with every error, at most a hundred."""
        errors: Errors = []
        found = cls.read(value, pointer, errors)
        if errors:
            raise ValidationFailed(errors[:MOST_ERRORS])
        made: Self = found
        return made

    @classmethod
    def read(cls, value: Any, pointer: str, errors: Errors) -> Any:
        """Check one JSON value and collect errors; the result is meaningless when there is a new error."""
        if type(value) is not dict:
            return wrong(errors, pointer, "invalid_type", "This must be an object.")
        before = len(errors)
        if not value.keys() <= cls._known:
            cls._refuse_unknown(value, pointer, errors)
        values: dict[str, Any] = {}
        given: list[str] = []
        for name, attribute, check, required, default, factory in cls._plan:
            found = value.get(name)
            if found is not None:
                values[attribute] = check.clean(found, f"{pointer}/{name}", errors)
                given.append(attribute)
            elif required:
                errors.append(FieldError(f"{pointer}/{name}", "required", "This field is required."))
            else:
                values[attribute] = default if factory is None else factory()
        if len(errors) > before:
            return WRONG
        made = object.__new__(cls)
        values["_given"] = frozenset(given)
        made.__dict__.update(values)
        for fault in made.cross_check():
            errors.append(FieldError(pointer + fault.pointer, fault.code, fault.detail))
        return made

    @classmethod
    def _refuse_unknown(cls, value: dict[str, Any], pointer: str, errors: Errors) -> None:
        for name in value:
            if name not in cls._known and len(errors) < MOST_ERRORS:
                if name in cls.immutable:
                    errors.append(FieldError(pointer_to(pointer, name), "immutable_field", "This field never changes."))
                else:
                    errors.append(FieldError(pointer_to(pointer, name), "unknown_field", "There is no such field."))


class Body(Declared):
    """A JSON object of a request, or an object inside one."""

    body_limit: ClassVar[int] = LIMITS.body_bytes
    empty_body: ClassVar[bool] = False

    @classmethod
    def parse(cls, request: Any) -> Self:
        """Read and check the body of a request.

        Raises MalformedJson, LengthRequired, ContentTooLarge, UnsupportedMediaType and ValidationFailed.
        """
        return cls.of(read_json(request, limit=cls.body_limit, empty=cls.empty_body))


class Query(Declared):
    """The query parameters of a request; on its own it has none and so refuses all."""

    @classmethod
    def parse(cls, request: Any) -> Self:
        """Read and check the query parameters of a request; raises ValidationFailed."""
        sent = request.META.get("QUERY_STRING", "")
        return cls.of(cls._values(sent) if sent else {})

    @classmethod
    def _values(cls, sent: str) -> dict[str, Any]:
        try:
            pairs = parse_qsl(sent, keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS)
        except ValueError:  # bytes that are not UTF-8, or far too many parameters
            raise ValidationFailed([FieldError("", "invalid_text", "The query string cannot be read.")]) from None
        checks = {row[0]: row[2] for row in cls._plan}
        values: dict[str, Any] = {}
        for name, text in pairs:
            if name in values:
                raise ValidationFailed([FieldError(pointer_to("", name), "duplicate_parameter", "Give this parameter once.")])
            check = checks.get(name)
            values[name] = text if check is None else check.from_text(text)
        return values


class ListQuery(Query):
    """The parameters of a list: where to go on, and how many rows."""

    cursor: str | None = fields.text(default=None, help="next_cursor of the page before.")
    limit: int = fields.integer(minimum=1, maximum=LIMITS.page_rows_max, default=LIMITS.page_rows, help="Rows of a page.")

    def filters(self) -> dict[str, Any]:
        """What narrows the list: every parameter but cursor and limit."""
        return {row[1]: getattr(self, row[1]) for row in self._plan if row[1] not in ("cursor", "limit")}
