"""Bearer tokens: what they look like, and the only form in which they are kept.

``mp_<tenant>_<secret>`` is a credential, ``mpd_<tenant>_<secret>`` a delegation. The tenant part is no secret and grants
nothing: it says in which tenant the SHA-256 of the whole token is looked up. The secret has 256 bits, so its plain hash cannot
be searched for.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.core.canonical import sha256_hex
from apps.core.ids import parse_public_id, public_id

if TYPE_CHECKING:
    from uuid import UUID

CREDENTIAL = "mp"
DELEGATION = "mpd"

_SECRET_BYTES = 32
_TOKEN = re.compile(r"(mpd?)_([0-9a-z]{26})_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class TokenParts:
    """The kind of a token and the tenant in which to look for it."""

    kind: str
    tenant_id: UUID


def new_credential_token(tenant_id: UUID) -> str:
    """A fresh credential."""
    return f"{public_id(CREDENTIAL, tenant_id)}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def delegation_token(tenant_id: UUID, delegation_id: UUID, host_token: str) -> str:
    """The token of a delegation: a keyed hash of its id under the host's own credential.

    A repeated request with the same Idempotency-Key can so be given its token again although the token is stored nowhere. Who can
    compute it holds the host's credential and could mint another one; the token itself says nothing about that credential.
    """
    digest = hmac.new(host_token.encode(), b"delegation:" + delegation_id.bytes, hashlib.sha256).digest()
    return f"{public_id(DELEGATION, tenant_id)}_{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return sha256_hex(token)


def parse_token(text: str) -> TokenParts | None:
    """The parts of a well-formed token, or None; says nothing about whether it exists."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        return None
    kind, tenant = match.groups()
    tenant_id = parse_public_id(kind, f"{kind}_{tenant}")
    return None if tenant_id is None else TokenParts(kind, tenant_id)
