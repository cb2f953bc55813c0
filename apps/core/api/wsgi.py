"""Django's WSGI handler, made unable to fail before the first middleware has seen the request."""

from __future__ import annotations

from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest


class Request(WSGIRequest):
    """Django reads the Content-Type while it makes the request; one that cannot be read would end in a bare 500 of the server."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # not in the stubs
        except ValueError:
            self.content_type, self.content_params = "", {}


class Handler(WSGIHandler):
    """Serves requests of the class above."""

    request_class = Request


def get_application() -> Handler:
    """The application of this process, with the apps loaded."""
    django.setup(set_prefix=False)
    return Handler()
