"""The console's own admin site. Every app registers its pages here; memory_platform mounts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.apps import apps
from django.contrib.admin import AdminSite
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import include, path, re_path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from apps.tenants.console import home, navigation
from apps.tenants.console.login import SignInForm
from apps.tenants.models import Role, User

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern, URLResolver

    from apps.tenants.console.base import GovernedAdmin

TENANT_KEY = "tenant"  # in the session: the tenant that a person works in
INSTALLATION = "installation"  # what a superuser may choose instead of a tenant


class GovernanceAdminSite(AdminSite):
    """Only active people who have a role in some tenant, or run the installation, come in."""

    site_title = _("Memory Platform")
    site_header = _("Memory Platform")
    index_title = _("Today")
    site_url = None
    enable_nav_sidebar = False  # the console has a navigation of its own, which works without JavaScript
    index_template = "console/home.html"
    login_form = SignInForm

    # -- who

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        if not isinstance(user, User) or not user.is_active or user.kind != User.Kind.PERSON:
            return False
        return bool(user.is_superuser or getattr(request, "access", None) is not None)

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Somebody who is logged in but has nothing to do here is told so, instead of being asked to log in again."""
        if request.method == "GET" and request.user.is_authenticated and not self.has_permission(request):
            context = {**self.each_context(request), "title": _("No role yet"), **(extra_context or {})}
            return TemplateResponse(request, "console/no_role.html", context, status=403)
        return super().login(request, extra_context)

    # -- where

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Lists and details of the registered pages, and what a person does with their own session; nothing else of Django's."""
        wrap = self.admin_view
        own: list[URLPattern | URLResolver] = [
            path("", wrap(self.index), name="index"),
            path("login/", self.login, name="login"),
            path("logout/", wrap(self.logout), name="logout"),
            path("password_change/", wrap(self.password_change, cacheable=True), name="password_change"),
            path("password_change/done/", wrap(self.password_change_done, cacheable=True), name="password_change_done"),
            path("tenant/", wrap(require_POST(self.choose_tenant)), name="choose_tenant"),
            path("language/", set_language, name="set_language"),
        ]
        own += [path(f"{page.opts.app_label}/{page.opts.model_name}/", include(page.get_urls())) for page in self.pages()]
        return [*own, re_path(r"(?P<url>.*)$", wrap(self.catch_all_view))]

    def pages(self) -> list[GovernedAdmin]:
        return [cast("GovernedAdmin", page) for page in self._registry.values()]  # a test holds that there are no others

    def page_of(self, model: type[Model]) -> GovernedAdmin | None:
        return cast("GovernedAdmin | None", self._registry.get(model))

    def open_page(self, request: HttpRequest, model: str) -> GovernedAdmin | None:
        """The page of a model (``app.Model``), if this person may open it."""
        page = self.page_of(apps.get_model(model))
        return page if page is not None and page.has_view_permission(request) else None

    # -- pages

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """What every page shows: the tenant one works in, the others one may change to, the roles held here, the navigation."""
        permitted = self.has_permission(request)
        access = getattr(request, "access", None)
        cards = getattr(request, "tenant_cards", [])
        return {
            "site_title": self.site_title,
            "site_header": self.site_header,
            "site_url": self.site_url,
            "has_permission": permitted,
            "is_popup": False,
            "is_nav_sidebar_enabled": False,
            "access": access,
            "tenant_cards": cards,
            "tenant_name": next((card.name for card in cards if access is not None and card.tenant_id == access.tenant_id), ""),
            "role_names": [Role(role).label for role in Role.values if access is not None and role in access.roles],
            "home_url": reverse("admin:index"),
            "navigation": navigation.groups_for(request, self.pages()) if permitted else [],
        }

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Home: what needs somebody today. Every number is counted in the open tenant and links to the list behind it."""
        context = {
            **self.each_context(request),
            "title": self.index_title,
            **home.page(self, request),
            **(extra_context or {}),
        }
        request.current_app = self.name
        return TemplateResponse(request, self.index_template, context)

    def choose_tenant(self, request: HttpRequest) -> HttpResponse:
        """Work in another tenant from now on; a tenant in which the person has no role changes nothing."""
        chosen = request.POST.get("tenant", "")
        cards = getattr(request, "tenant_cards", [])
        may = any(str(card.tenant_id) == chosen for card in cards)
        if may or (chosen == INSTALLATION and isinstance(request.user, User) and request.user.is_superuser):
            request.session[TENANT_KEY] = chosen
        return HttpResponseRedirect(reverse("admin:index"))

    def refusal(
        self, request: HttpRequest, status: int, reason: str, *, back: str | None = None, row: str | None = None
    ) -> HttpResponse:
        """A page that says why nothing is shown or done; the same words for what is absent and what is out of reach.

        ``back`` is the address of a list that was asked for wrongly, ``row`` that of a row to which something could not be done.
        """
        context = {**self.each_context(request), "title": reason, "status": status, "back": back, "row_url": row}
        return TemplateResponse(request, "console/refused.html", context, status=status).render()


console = GovernanceAdminSite(name="admin")
