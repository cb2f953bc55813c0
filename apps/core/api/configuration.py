"""Settings of REST framework and drf-spectacular for this API; plain data, so that settings can import it."""

from __future__ import annotations

from typing import Any, Final

REST_FRAMEWORK: Final[dict[str, Any]] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],  # settings name the class of the floor that knows credentials
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_THROTTLE_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["apps.core.api.parsers.StrictJsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["apps.core.api.responses.JsonRenderer"],
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "apps.core.api.openapi.ContractSchema",
    "EXCEPTION_HANDLER": "apps.core.api.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
    "FORMAT_SUFFIX_KWARG": None,
}

PROBLEM_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "Problem document (RFC 9457). Codes are stable, texts are not.",
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string"},
        "code": {"type": "string", "examples": ["not_found", "validation_failed", "version_conflict"]},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "The wrong fields of a 422.",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string", "description": "JSON Pointer; a query parameter is /name."},
                    "code": {"type": "string", "examples": ["required", "unknown_field", "timezone_required"]},
                    "detail": {"type": "string"},
                },
                "required": ["pointer", "code", "detail"],
            },
        },
        "current_version": {"type": "integer", "description": "The version found, with version_conflict."},
        "deletion_job_id": {"type": "string", "description": "The deletion job, with revoked."},
    },
    "required": ["type", "title", "status", "detail", "code", "request_id"],
}

SPECTACULAR_SETTINGS: Final[dict[str, Any]] = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Memory platform",
    "VERSION": "1",
    "DESCRIPTION": (
        "Governed long-term memory for agents: send source events, propose memories, ask for a small, authorised, explained "
        "packet. "
        "Times are RFC 3339 with an offset on input and UTC on output. Unknown fields are refused."
    ),
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": [],
    "PREPROCESSING_HOOKS": ["apps.core.api.openapi.only_the_api"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "APPEND_COMPONENTS": {
        "schemas": {"Problem": PROBLEM_SCHEMA},
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A credential (mp_…) or delegation token (mpd_…)."}
        },
    },
}
