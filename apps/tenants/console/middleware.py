"""Which tenant a person works in, and the transaction in which a console page is made."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from apps.core.api import request_ids
from apps.core.errors import NotFound
from apps.core.isolation import system_context, tenant_context
from apps.tenants.console_access import person_access, tenants_of
from apps.tenants.models import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase

CONSOLE_ROOT = "/admin/"
SESSION_KEY = "tenant"
CHOICE = "tenant"


class ConsoleTenant:
    """For people below /admin/: choose the tenant, decide what they reach there, and make the page inside its context.

    A superuser without a role gets no access to any tenant's rows: the pages of the installation (tenants, users) only.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith(CONSOLE_ROOT):
            return self.get_response(request)
        user = request.user._wrapped if isinstance(request.user, SimpleLazyObject) and request.user.pk else request.user  # noqa: SLF001
        if not isinstance(user, User):
            return self.get_response(request)
        cards = tenants_of(user)
        request.tenant_cards = cards  # type: ignore[attr-defined]
        chosen = request.POST.get(CHOICE) if request.path == reverse("admin:index") and request.method == "POST" else None
        if chosen is not None:
            if any(str(card.tenant_id) == chosen for card in cards):
                request.session[SESSION_KEY] = chosen
            return HttpResponseRedirect(reverse("admin:index"))
        known = {str(card.tenant_id) for card in cards}
        wanted = request.session.get(SESSION_KEY)
        tenant_id = wanted if wanted in known else next((str(card.tenant_id) for card in cards), None)
        if tenant_id is None:
            if not user.is_superuser:
                return self.get_response(request)
            with system_context():
                return self._rendered(request)
        try:
            request.access = person_access(user, UUID(tenant_id), request_id=request_ids.of(request))  # type: ignore[attr-defined]
        except NotFound:
            return self.get_response(request)
        with tenant_context(UUID(tenant_id)):
            return self._rendered(request)

    def _rendered(self, request: HttpRequest) -> HttpResponseBase:
        """Django renders a template answer inside its innermost handler, so the page is whole when this returns."""
        return self.get_response(request)
