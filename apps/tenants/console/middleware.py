"""Which tenant a person works in, and the transaction in which a console page is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from apps.core.api import request_ids
from apps.core.errors import AuthorityUnavailable, NotFound
from apps.core.isolation import system_context, tenant_context
from apps.tenants.console.site import INSTALLATION, TENANT_KEY, console
from apps.tenants.console_access import person_access, tenants_of
from apps.tenants.models import User

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse, HttpResponseBase

CONSOLE_ROOT: Final = "/admin/"
_SERVER_ERROR = 500


class ConsoleTenant:
    """For people below /admin/: open the tenant they chose, decide what they reach there, and make the page inside its context.

    Being a superuser opens no tenant's rows, only the pages of the installation (tenants, people), which see every tenant.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        user = request.user if request.path_info.startswith(CONSOLE_ROOT) else None
        if not isinstance(user, User) or user.kind != User.Kind.PERSON:
            return self.get_response(request)
        request.tenant_cards = tenants_of(user)  # type: ignore[attr-defined]
        chosen = self._chosen(request, user)
        if chosen is None:
            return self._installation(request) if user.is_active and user.is_superuser else self.get_response(request)
        try:
            with tenant_context(chosen):
                request.access = person_access(user, chosen, request_id=request_ids.of(request))  # type: ignore[attr-defined]
                return self._whole(request)
        except NotFound:  # the role was taken away a moment ago
            return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Refusals below /admin/ look like the console and say nothing about what is there."""
        if not request.path_info.startswith(CONSOLE_ROOT) or not console.has_permission(request):
            return None
        if isinstance(exception, PermissionDenied):
            return console.refusal(request, 403, _("Your roles in this tenant do not open this page."))
        if isinstance(exception, AuthorityUnavailable):  # after a restore, until what was deleted since is gone again
            return console.refusal(
                request, 503, _("No words are shown at the moment: the deletions of a restored database are applied again.")
            )
        if isinstance(exception, Http404):
            return console.refusal(request, 404, _("There is nothing here, or nothing that you may see."))
        return None

    def _chosen(self, request: HttpRequest, user: User) -> UUID | None:
        known = [str(card.tenant_id) for card in request.tenant_cards]  # type: ignore[attr-defined]
        wanted = request.session.get(TENANT_KEY)
        if wanted == INSTALLATION and user.is_superuser:
            return None
        return UUID(wanted if wanted in known else known[0]) if known else None

    def _installation(self, request: HttpRequest) -> HttpResponseBase:
        with system_context():
            return self._whole(request)

    def _whole(self, request: HttpRequest) -> HttpResponseBase:
        """Django renders a template answer inside its innermost handler, so the page is whole when this returns."""
        response = self.get_response(request)
        if response.status_code >= _SERVER_ERROR:  # the fault became an answer before it could undo the transaction
            transaction.set_rollback(True)
        return response
