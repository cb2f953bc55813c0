"""The console's own admin site. Every app registers its pages here; memory_platform mounts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from apps.tenants.console import cards
from apps.tenants.models import User

if TYPE_CHECKING:
    from django.http import HttpRequest


class GovernanceAdminSite(AdminSite):
    """Only active people who have a role in some tenant, or run the installation, come in."""

    site_title = _("Memory Platform")
    site_header = _("Memory Platform")
    index_title = _("Today")
    site_url = None
    enable_nav_sidebar = True
    index_template = "console/home.html"

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        if not isinstance(user, User) or not user.is_active or user.kind != User.Kind.PERSON:
            return False
        return bool(user.is_superuser or getattr(request, "access", None) is not None)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """What every page shows: the tenant one works in, the others one may change to, and the roles held here."""
        return {
            **super().each_context(request),
            "access": getattr(request, "access", None),
            "tenant_cards": getattr(request, "tenant_cards", []),
        }

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Home: what needs somebody today. Every number is counted in the open tenant and links to the list behind it."""
        access = getattr(request, "access", None)
        shown = cards.cards_for(access) if access is not None else []
        return super().index(request, {**(extra_context or {}), "cards": shown})


console = GovernanceAdminSite(name="admin")
