"""The Authorization header of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication

from apps.core.api import request_ids
from apps.core.errors import NotAuthenticated
from apps.tenants.authentication import authenticate

if TYPE_CHECKING:
    from uuid import UUID

    from rest_framework.request import Request

    from apps.tenants.access import Access

_SCHEME = "bearer"
_LONGEST = 256  # longer than any token; nothing beyond it is looked at


@dataclass(frozen=True, slots=True)
class AgentPrincipal:
    """``request.user`` of an API request. Only its id: everything it may do stands in the Access."""

    pk: UUID
    is_authenticated: bool = True
    is_active: bool = True
    is_anonymous: bool = False


class CredentialAuthentication(BaseAuthentication):
    """``Authorization: Bearer <credential or delegation token>``. Sessions and cookies mean nothing here."""

    def authenticate(self, request: Request) -> tuple[AgentPrincipal, Access]:
        """Raises NotAuthenticated (nothing sent, another scheme, odd bytes, unknown), CredentialExpired, CredentialRevoked."""
        access = authenticate(bearer_token(request), request_id=request_ids.of(request))
        return AgentPrincipal(access.actor_id), access

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - signature of REST framework
        return "Bearer"


def bearer_token(request: Request) -> str:
    """The token that was sent; raises NotAuthenticated when there is none or it cannot be one."""
    sent = str(request.META.get("HTTP_AUTHORIZATION", ""))
    if len(sent) > _LONGEST or not sent.isascii():
        raise NotAuthenticated
    scheme, _, token = sent.partition(" ")
    token = token.strip(" ")
    if scheme.lower() != _SCHEME or not token:
        raise NotAuthenticated
    return token
