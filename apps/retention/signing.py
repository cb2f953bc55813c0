"""Ed25519 signatures of this installation over canonical JSON; nothing here asks a database or Django's models.

The key pair is one secret of 256 bits, made once under the home folder (settings.CERTIFICATE_KEY). The public half is for whoever
wants to check a certificate without trusting, or reaching, the installation that issued it.
"""

from __future__ import annotations

import base64
import binascii
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from apps.core.canonical import canonical_json, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Mapping

ALGORITHM: Final = "Ed25519"
_SEED_BYTES = 32


class Fault(StrEnum):
    """Why a signed document is not what it says."""

    MALFORMED = "malformed"
    OTHER_KEY = "signed_with_another_key"
    ALTERED = "altered"


class BadKey(ValueError):
    """Not an Ed25519 public key in PEM."""


def private_key() -> Ed25519PrivateKey:
    """Raises ImproperlyConfigured when the secret is not 32 bytes in URL-safe base 64."""
    secret = str(settings.CERTIFICATE_KEY)
    try:
        seed = base64.b64decode(secret + "=" * (-len(secret) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        seed = b""
    if len(seed) != _SEED_BYTES:
        msg = "CERTIFICATE_KEY must be 32 random bytes in URL-safe base 64."
        raise ImproperlyConfigured(msg)
    return Ed25519PrivateKey.from_private_bytes(seed)


def public_key() -> Ed25519PublicKey:
    return private_key().public_key()


def key_id(key: Ed25519PublicKey) -> str:
    """SHA-256 of the raw public key, in hexadecimal: which key signed, without trusting what the document brings along."""
    return sha256_hex(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


def pem_of(key: Ed25519PublicKey) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")


def read_public_key(pem: bytes) -> Ed25519PublicKey:
    """Raises BadKey."""
    try:
        key = load_pem_public_key(pem)
    except ValueError as trouble:
        raise BadKey from trouble
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey
    return key


def sign(document: Mapping[str, object]) -> tuple[str, str]:
    """Signature (base 64) over the canonical JSON of a document, and the id of the key."""
    key = private_key()
    made = key.sign(canonical_json(document).encode())
    return base64.b64encode(made).decode("ascii"), key_id(key.public_key())


def find_fault(data: bytes, member: str, key: Ed25519PublicKey) -> tuple[dict[str, object], Fault | None]:
    """Check ``{<member>: document, "signature": {algorithm, key_id, value}}``; returns the document and what is wrong."""
    try:
        envelope = json.loads(data)
        document, signature = envelope[member], envelope["signature"]
        value = base64.b64decode(signature["value"], validate=True)
        wanted = {"algorithm": ALGORITHM, "key_id": key_id(key)}
        found = {name: signature[name] for name in wanted}
        text = canonical_json(document).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, Fault.MALFORMED
    if not isinstance(document, dict) or set(envelope) != {member, "signature"} or set(signature) != {*wanted, "value"}:
        return {}, Fault.MALFORMED
    if found != wanted:
        return document, Fault.OTHER_KEY
    try:
        key.verify(value, text)
    except InvalidSignature:
        return document, Fault.ALTERED
    return document, None
