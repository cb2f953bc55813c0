"""One POST to a server that is not trusted: an end in time whatever it does, a cap on what it may answer, no redirects.

The standard library's client follows no redirect (the key would go along); what else it must not do: apps/core/outward.py.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from apps.core import clock
from apps.core.outward import Line, tls_context
from apps.memories.extractors.base import Outage, Unusable

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

_AT_ONCE = 64 * 1024
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said; ``retry_after`` as it stood there."""

    status: int
    body: bytes
    retry_after: str | None


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, most_bytes: int) -> Answer:
    """Send a request and read its answer, all within ``seconds``.

    Raises Outage (no connection, no answer in time) and Unusable (too large, cut off, packed, no HTTP).
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    line = Line(clock.monotonic() + seconds)
    try:
        line.connect(host, port, tls=parts.scheme == "https")
        connection = HTTPSConnection(host, port, context=tls_context()) if parts.scheme == "https" else HTTPConnection(host, port)
        connection.sock = cast("socket.socket", line)
        connection.request("POST", parts.path or "/", body, {"Accept-Encoding": "identity", "Connection": "close", **headers})
        return _read(connection.getresponse(), most_bytes)
    except TimeoutError:
        raise Outage("server_timeout") from None  # noqa: EM101 - codes
    except ssl.SSLError:
        raise Outage("server_tls") from None  # noqa: EM101
    except OSError:
        raise Outage("server_unreachable") from None  # noqa: EM101
    except (HTTPException, ValueError):
        raise Unusable("answer_no_http") from None  # noqa: EM101
    finally:
        line.hang_up()


def _read(response: HTTPResponse, most_bytes: int) -> Answer:
    answer = Answer(response.status, b"", response.getheader("Retry-After"))
    if response.status != 200:  # noqa: PLR2004 - only a success is read: what stands in an error may quote the request
        return answer
    if response.getheader("Content-Encoding", "identity").lower() != "identity":
        raise Unusable("answer_packed")  # noqa: EM101 - asked for plain; a packed one may unfold to anything
    if response.length is not None and response.length > most_bytes:
        raise Unusable("answer_too_large")  # noqa: EM101
    found = bytearray()
    try:
        while chunk := response.read(min(_AT_ONCE, most_bytes + 1 - len(found))):
            found += chunk
            if len(found) > most_bytes:
                raise Unusable("answer_too_large")  # noqa: EM101
    except (HTTPException, ConnectionError):
        raise Unusable("answer_cut_off") from None  # noqa: EM101
    if response.length:  # more was announced
        raise Unusable("answer_cut_off")  # noqa: EM101
    return Answer(answer.status, bytes(found), answer.retry_after)
