"""One signed message to one address (Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature with HMAC-SHA256).

Whoever registers an address makes this server speak to it. So it speaks to addresses of the public network alone, over TLS, looks
a name up once and connects to what it has looked at, follows no redirect, reads no body and is done within seconds. Hosts of
one's own network are named in DOWNSTREAM_INTERNAL_HOSTS.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import ssl
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from django.conf import settings

from apps.core import clock
from apps.core.outward import AddressRefusedError, Line, tls_context

if TYPE_CHECKING:
    import socket
    from datetime import datetime

SECONDS: Final = 10.0  # for the whole exchange, but for the look-up of the name
LONGEST_URL: Final = 2048
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - of the standard, in front of every secret
_PORTS: Final = {"https": 443, "http": 80}
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")


class DeliveryError(Exception):
    """The message was not acknowledged; ``code`` says why. Trying again may help."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def fault_of(url: str) -> str | None:
    """What is wrong with an address, as a code; None for one that may be tried."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "address_malformed"
    printable = url.isascii() and url.isprintable() and " " not in url
    if len(url) > LONGEST_URL or not printable or parts.scheme not in _PORTS or not host:
        return "address_malformed"
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "address_malformed"
    return "address_not_https" if parts.scheme != "https" and not _is_internal(host) else None


def deliver(url: str, secret: str, message_id: str, body: bytes, *, at: datetime, seconds: float = SECONDS) -> str:
    """Send a message; returns the answer's code (``answered_204``) when it is acknowledged, which is what any 2xx means.

    Raises DeliveryError for everything else, and for addresses that must not be spoken to.
    """
    fault = fault_of(url)
    if fault is not None:
        raise DeliveryError(fault)
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    headers = {
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "User-Agent": "memory-platform",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature(secret, message_id, int(at.timestamp()), body),
    }
    line = Line(clock.monotonic() + seconds)
    try:
        line.connect(host, port, tls=parts.scheme == "https", permits=partial(_may_speak_to, host))
        secured = parts.scheme == "https"
        connection = HTTPSConnection(host, port, context=tls_context()) if secured else HTTPConnection(host, port)
        connection.sock = cast("socket.socket", line)
        connection.request("POST", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
        status = connection.getresponse().status  # what stands behind it is not read
    except AddressRefusedError:
        code = "address_refused"
    except TimeoutError:
        code = "timeout"
    except ssl.SSLError:
        code = "tls_failed"
    except (HTTPException, ValueError):
        code = "answer_no_http"
    except OSError:
        code = "unreachable"
    else:
        code = f"answered_{status}"
        if 200 <= status < 300:  # noqa: PLR2004 - a success
            return code
    finally:
        line.hang_up()
    raise DeliveryError(code)


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """``v1,<base 64>`` over id, time and body, with the bytes behind the prefix of the secret."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    made = hmac.new(key, b"%s.%d.%s" % (message_id.encode(), timestamp, body), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(made).decode('ascii')}"


def _is_internal(host: str) -> bool:
    return host.lower() in {str(name).strip().lower() for name in settings.DOWNSTREAM_INTERNAL_HOSTS}


def _may_speak_to(host: str, address: str) -> bool:
    """Addresses of the public network; others only behind a name that the operator has listed."""
    if _is_internal(host):
        return True
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):  # an IPv4 address in another dress
        inside = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if found in _NAT64:
            inside = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inside is not None:
            found = inside
    return found.is_global and not found.is_multicast and not found.is_reserved
