"""Pages of one row beside its detail: a form, and the verb that it calls.

Each names the roles it is for; a test walks all of them for every role. Whoever opens one could open the detail page: the row
comes from the same narrowed rows. A verb's refusal becomes a page that says why, and nothing is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db.models import UUIDField
from django.http import Http404, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.generic import View

from apps.core.errors import DomainError, NotFound, NotPermitted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.forms import Form
    from django.http import HttpRequest, HttpResponse
    from django_stubs_ext import StrOrPromise

    from apps.tenants.access import Access
    from apps.tenants.console.base import GovernedAdmin


class RowPage(View):
    """GET shows the form, POST calls the verb through :meth:`act`."""

    http_method_names: ClassVar[list[str]] = ["get", "head", "post"]  # type: ignore[misc]  # Django declares it on the instance

    key: ClassVar[str]  # the last part of its address
    title: ClassVar[StrOrPromise]  # of the page, and of the link to it
    about: ClassVar[StrOrPromise] = ""  # what happens when the form is sent
    roles: ClassVar[frozenset[str]]
    form: ClassVar[type[Form]]
    template: ClassVar[str] = "console/row_form.html"
    submit: ClassVar[StrOrPromise]
    dangerous: ClassVar[bool] = False
    refusals: ClassVar[Mapping[type[DomainError], StrOrPromise]] = {}  # why the verb did nothing, in the words of this page

    page: GovernedAdmin = None  # type: ignore[assignment]  # given by as_view

    # -- what a page says

    def offered(self, access: Access, row: Any) -> bool:  # noqa: ANN401 - rows are of the page's model
        """Whether the detail page of this row shows the way here."""
        return self.open_to(access) and self.allowed(access, row)

    def allowed(self, access: Access, row: Any) -> bool:  # noqa: ANN401, ARG002
        """Whether this person may do it with this row, which they see; the verb decides again."""
        return True

    def initial(self, row: Any) -> dict[str, Any]:  # noqa: ANN401, ARG002
        """What the empty form holds."""
        return {}

    def form_for(self, row: Any, data: Mapping[str, Any] | None = None) -> Form:  # noqa: ANN401
        return self.form(data, initial=self.initial(row))

    def act(self, access: Access, row: Any, said: dict[str, Any]) -> HttpResponse:  # noqa: ANN401
        """Call the verb and answer; ``said`` is what the form holds. May raise any DomainError."""
        raise NotImplementedError

    # -- how it is answered

    def open_to(self, access: Access | None) -> bool:
        return access is not None and bool(self.roles & access.roles)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:  # noqa: ANN401
        access = self.page.access(request)
        if access is None or not self.page.has_view_permission(request) or not self.open_to(access):
            raise PermissionDenied
        self.row = self._row(request, kwargs["object_id"])
        if not self.allowed(access, self.row):
            raise PermissionDenied
        try:
            answer: HttpResponse = super().dispatch(request, *args, **kwargs)  # type: ignore[assignment]
        except DomainError as refused:
            return self._refused(request, refused)
        return answer

    def get(self, request: HttpRequest, **_address: str) -> HttpResponse:
        return self.shown(request, self.form_for(self.row))

    def post(self, request: HttpRequest, **_address: str) -> HttpResponse:
        access = self.page.access(request)
        form = self.form_for(self.row, request.POST)
        if access is None or not form.is_valid():
            return self.shown(request, form)
        return self.act(access, self.row, form.cleaned_data)

    def shown(self, request: HttpRequest, form: Form, **more: Any) -> HttpResponse:  # noqa: ANN401
        site = self.page.admin_site
        context = {
            **site.each_context(request),
            "title": self.title,
            "opts": self.page.opts,
            "page": self.page,
            "list_url": reverse(self.page.address("changelist")),
            "row_url": self.row_url,
            "row_label": self.page.label(self.row),
            "row_page": self,
            "form": form,
            **more,
        }
        request.current_app = site.name
        return TemplateResponse(request, self.template, context)

    def done(self, said: str) -> HttpResponse:
        """Back to the row, with a sentence about what was done."""
        messages.success(self.request, said)
        return HttpResponseRedirect(self.row_url)

    @property
    def row_url(self) -> str:
        return reverse(self.page.address("change"), args=[quote(self.row.pk)])

    def _row(self, request: HttpRequest, object_id: str) -> Any:  # noqa: ANN401
        key = object_id if isinstance(self.page.opts.pk, UUIDField) else unquote(object_id)
        row = self.page.get_object(request, key)
        if row is None:
            raise Http404
        return row

    def _refused(self, request: HttpRequest, refused: DomainError) -> HttpResponse:
        if isinstance(refused, NotFound):
            raise Http404 from refused
        if isinstance(refused, NotPermitted):
            raise PermissionDenied from refused
        words = next((said for kind, said in self.refusals.items() if isinstance(refused, kind)), None)
        reason = str(words or _("This was refused, and nothing was changed."))
        return self.page.admin_site.refusal(request, refused.status, reason, row=self.row_url)
