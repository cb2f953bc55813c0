"""What a page points to: labels and addresses of other rows, fetched once per kind and only as far as the person may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.apps import apps
from django.contrib.admin.utils import quote
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from apps.tenants.console_access import COMMAND_ID, SERVICE_ID

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import Model
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

    from apps.tenants.console.base import GovernedAdmin
    from apps.tenants.console.site import GovernanceAdminSite


class Links:
    """Say with ``want`` what the page will point to, then ``show`` it; each kind of row is one statement, however many there are.

    A row out of reach is named by its id alone: its label could say more than the person may know.
    """

    def __init__(self, site: GovernanceAdminSite, request: HttpRequest) -> None:
        self._site = site
        self._request = request
        self._wanted: dict[type[Model], set[Any]] = {}
        self._found: dict[type[Model], dict[Any, str]] = {}

    def want(self, model: type[Model] | str, keys: Iterable[Any]) -> None:
        self._wanted.setdefault(_model(model), set()).update(key for key in keys if key is not None)

    def page_of(self, model: type[Model] | str) -> GovernedAdmin | None:
        return self._site.page_of(_model(model))

    def show(self, model: type[Model] | str, key: Any) -> SafeString:  # noqa: ANN401 - keys are of the model's kind
        """A link with the row's label, its label alone where there is no page, or its id where it is out of reach."""
        model = _model(model)
        label = self._labels(model).get(key)
        page = self._site.page_of(model)
        if label is None:
            return format_html('<code class="id">{}</code>', _spelled(page, key))
        if page is None or not page.has_view_permission(self._request):
            return format_html("{}", label)
        return format_html('<a href="{}">{}</a>', reverse(page.address("change"), args=[quote(key)]), label)

    def _labels(self, model: type[Model]) -> dict[Any, str]:
        found = self._found.setdefault(model, {})
        missing = self._wanted.pop(model, set())
        if missing:
            found.update(self._fetch(model, missing))
        return found

    def _fetch(self, model: type[Model], keys: set[Any]) -> dict[Any, str]:
        page = self._site.page_of(model)
        if page is None:  # a table of Django's own, such as groups: named, not opened
            return {row.pk: str(row) for row in model._base_manager.filter(pk__in=keys)}  # noqa: SLF001
        labels = {row.pk: page.label(row) for row in page.labelled_rows(self._request).filter(pk__in=keys)}
        return {**_services(keys), **labels}


def _services(keys: set[Any]) -> dict[Any, str]:
    """The platform's own identities act, but are nobody's account."""
    names = {SERVICE_ID: _("the platform"), COMMAND_ID: _("a command of the installation")}
    return {key: name for key, name in names.items() if key in keys}


def _model(model: type[Model] | str) -> type[Model]:
    return apps.get_model(model) if isinstance(model, str) else model


def _spelled(page: GovernedAdmin | None, key: Any) -> str:  # noqa: ANN401
    return page.spelled(key) if page is not None and isinstance(key, UUID) else str(key)
