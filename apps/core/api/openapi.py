"""The OpenAPI 3.1 description, made from the same declarations that check bodies and from the results of verbs."""


# ruff: noqa: ANN401, ARG002 - JSON values and requests have no narrower type here; signatures are those of the libraries

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from drf_spectacular.drainage import warn
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from apps.core.api import fields
from apps.core.api.problems import API_ROOT, MEDIA_TYPE
from apps.core.api.schema import Body, Declared, Query

View = TypeVar("View", bound=Callable[..., Any])

IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description='The version expected, such as "v3"; instead of expected_version.'
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Makes a retry harmless for 24 hours; 1 to 128 printable characters.",
)
ETAG = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, description='The version shown or made, such as "v3".', response=[200, 201]
)

_ALWAYS = (401, 403, 404, 429, 503)
_OF_BODIES = (400, 413, 415, 422)
_NO_CONTENT = 204
_DESCRIPTIONS = {
    400: "The body cannot be read.",
    401: "No valid credential.",
    403: "The operation was not granted, or this action on this object is not allowed.",
    404: "Nothing here that the caller may see.",
    409: "The request does not fit the present state.",
    410: "Deleted; only for what the caller could read before.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Fields of the request are wrong.",
    428: "A precondition is missing.",
    429: "Too many requests.",
    503: "The authority does not answer.",
}


def contract(
    *,
    request: type[Body] | None = None,
    query: type[Query] | None = None,
    answers: Mapping[int | tuple[int, str], Any],
    problems: Sequence[int] = (),
    headers: Sequence[OpenApiParameter] = (),
    summary: str = "",
) -> Callable[[View], View]:
    """Describe one method of a view. An answer is a frozen dataclass, a Body, a schema as dict, or None for no body.

    Instead of a status there may be a pair of status and media type, for what is not JSON.
    """
    statuses = {*problems, *_ALWAYS, *(_OF_BODIES if request else ()), *((422,) if query else ())}
    responses: dict[Any, Any] = {
        status: OpenApiResponse(answer, description="No content." if status == _NO_CONTENT else "Done.")
        for status, answer in answers.items()
    }
    responses |= {(status, MEDIA_TYPE): _problem(status) for status in sorted(statuses)}
    return extend_schema(
        request=request,
        parameters=[*_parameters(query), *headers],
        responses=responses,
        summary=summary or None,
    )


def listing(item: Any) -> type[Any]:
    """The shape of a list answer: ``items`` of one kind and ``next_cursor``."""
    return _listing(item)


@cache
def _listing(item: Any) -> type[Any]:
    return dataclasses.make_dataclass(f"{item.__name__}Page", [("items", list[item]), ("next_cursor", str | None)], frozen=True)


def _problem(status: int) -> OpenApiResponse:
    return OpenApiResponse({"$ref": "#/components/schemas/Problem"}, description=_DESCRIPTIONS.get(status, "Refused."))


def _parameters(query: type[Query] | None) -> list[OpenApiParameter]:
    if query is None:
        return []
    found = []
    for one in dataclasses.fields(query):
        required = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        name = one.metadata[fields.NAME] or one.name
        schema = fields.check_of(one).schema()
        if isinstance(one.default, (str, int, bool)) and not isinstance(one.default, Enum):
            schema["default"] = one.default
        found.append(
            OpenApiParameter(name, schema, OpenApiParameter.QUERY, required=required, description=one.metadata[fields.HELP])
        )
    return found


class ContractSchema(AutoSchema):
    """Security and operations of our own views instead of guesses from authentication classes."""

    def get_auth(self) -> list[dict[str, Any]]:
        return [] if getattr(self.view, "anonymous", False) else [{"bearer": []}]

    def get_description(self) -> str:  # type: ignore[override]  # the signature is drf-spectacular's, the stubs know the old one
        """What the method says about itself, or the view; never what a base class says about its own work."""
        handler = getattr(self.view, self.method.lower(), None)
        return inspect.cleandoc(getattr(handler, "__doc__", None) or type(self.view).__dict__.get("__doc__") or "")

    def get_operation_id(self) -> str:
        """Method and path, such as ``post_memory_events_batch``."""
        path = re.sub(r"[{}]", "", self.path.removeprefix("/api/v1")).strip("/")
        return f"{self.method.lower()}_{re.sub(r'[^a-zA-Z0-9]+', '_', path)}"

    def get_extensions(self) -> dict[str, Any]:
        operation = getattr(self.view, "operation", None)
        if isinstance(operation, Mapping):
            operation = operation.get(self.method)
        return {"x-operation": str(operation)} if operation else {}


class BodyExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Request bodies: the schema comes from the checks of the fields."""

    target_class = Declared
    match_subclasses = True

    def get_name(self, auto_schema: Any = None, direction: Any = None) -> str:
        return str(_class_of(self.target).__name__)

    def get_identity(self, auto_schema: Any, direction: Any) -> Any:
        return _class_of(self.target)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        body = _class_of(self.target)
        properties: dict[str, Any] = {}
        required = []
        for one in dataclasses.fields(body):
            name = one.metadata[fields.NAME] or one.name
            schema = _with_components(fields.check_of(one).schema(), auto_schema, direction)
            if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
                required.append(name)
            else:
                schema = _or_null(schema)
                default = one.default if one.default_factory is dataclasses.MISSING else one.default_factory()
                if default is None or isinstance(default, (str, int, float, list, dict)):
                    schema["default"] = default.value if isinstance(default, Enum) else default
                elif default == ():
                    schema["default"] = []
            if one.metadata[fields.HELP]:
                schema["description"] = one.metadata[fields.HELP]
            properties[name] = schema
        found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            found["required"] = required
        return found


class ResultExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Results of verbs: frozen dataclasses, described by their type hints."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        found = _class_of(target)
        return dataclasses.is_dataclass(found) and not issubclass(found, Declared) and not issubclass(found, _LIBRARY)

    def get_name(self, auto_schema: Any = None, direction: Any = None) -> str:
        return str(_class_of(self.target).__name__)

    def get_identity(self, auto_schema: Any, direction: Any) -> Any:
        return _class_of(self.target)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        shape = _class_of(self.target)
        hints = _hints_of(shape)
        shown = [one.name for one in dataclasses.fields(shape) if not one.name.startswith("_")]
        return {
            "type": "object",
            "properties": {name: _of_hint(hints[name], auto_schema, direction) for name in shown},
            "required": shown,
        }


_LIBRARY = (OpenApiParameter, OpenApiResponse)
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    UUID: {"type": "string", "format": "uuid"},
    type(None): {"type": "null"},
}


def _hints_of(shape: type[Any]) -> dict[str, Any]:
    """Type hints of a dataclass, also where its module imports a type for type checkers alone."""
    known = {one.__name__: one for one in _PLAIN if one is not type(None)} | {
        "Any": Any,
        "Mapping": Mapping,
        "Sequence": Sequence,
    }
    try:
        return get_type_hints(shape, localns=known)
    except NameError as missing:
        warn(f"{shape.__module__}.{shape.__qualname__}: {missing.name} is imported for type checkers only and cannot be shown")
    found: dict[str, Any] = {}
    for one in dataclasses.fields(shape):
        alone = type("Alone", (), {"__annotations__": {one.name: one.type}, "__module__": shape.__module__})
        try:
            found |= get_type_hints(alone, localns=known)
        except NameError:
            found[one.name] = Any
    return found


def _class_of(target: Any) -> type[Any]:
    return target if isinstance(target, type) else type(target)


def _of_hint(hint: Any, auto_schema: Any, direction: Any) -> dict[str, Any]:  # noqa: PLR0911 - one line per kind of type
    """The schema of a type hint; what cannot be told apart is any value."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin in (Union, types.UnionType):
        found = [_of_hint(one, auto_schema, direction) for one in arguments if one is not type(None)]
        union = found[0] if len(found) == 1 else {"anyOf": found}
        return _or_null(union) if type(None) in arguments else union
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (list, tuple, set, frozenset) or (
        isinstance(origin, type) and issubclass(origin, Iterable) and origin is not dict
    ):
        return {"type": "array", "items": _of_hint(arguments[0], auto_schema, direction) if arguments else {}}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"type": "string", "enum": [str(member.value) for member in hint]}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return dict(auto_schema.resolve_serializer(hint, direction).ref)
    if hint is dict or origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": True}
    return {}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind == "null" or not schema:
        return schema
    if isinstance(kind, str):
        found = {**schema, "type": [kind, "null"]}
        return found | {"enum": [*schema["enum"], None]} if "enum" in schema else found
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {"anyOf": [schema, {"type": "null"}]}


def _with_components(schema: dict[str, Any], auto_schema: Any, direction: Any) -> dict[str, Any]:
    """Replace the classes of nested bodies by references to their components."""
    if "x-body" in schema:
        return dict(auto_schema.resolve_serializer(schema["x-body"], direction).ref)
    if "items" in schema:
        return {**schema, "items": _with_components(schema["items"], auto_schema, direction)}
    return schema


def only_the_api(endpoints: list[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """Preprocessing hook: paths of the API, without the catch-all."""
    return [
        row
        for row in endpoints
        if row[0].startswith(API_ROOT) and getattr(getattr(row[3], "cls", None), "schema", None) is not None
    ]
