"""What every governed page of the console has in common: read-only, scoped, role by role, without full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import DateTimeField, Q, QuerySet, UUIDField
from django.http import Http404
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.core.ids import parse_public_id, public_id
from apps.tenants.console import columns, details
from apps.tenants.console.lists import ScopedChangeList
from apps.tenants.console.navigation import Area
from apps.tenants.console.scope import EVERY_ROLE, narrow
from apps.tenants.console.searching import by_id_or_column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.db.models import Model
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern
    from django_stubs_ext import StrOrPromise

    from apps.tenants.access import Access
    from apps.tenants.console.details import Related, Section
    from apps.tenants.console.row_pages import RowPage
    from apps.tenants.console.site import GovernanceAdminSite

__all__ = ["EVERY_ROLE", "Area", "GovernedAdmin"]

_ERROR_FLAG = "e"
_NUL = "\x00"


class GovernedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic when it runs
    """Rows of the open tenant, for the roles named, narrowed to what is in reach.

    Governed models are never saved here: there is a list, a detail page, and the ``row_pages`` named, each of which calls a verb.
    Private text is never loaded: ``hidden_fields`` are deferred.
    """

    admin_site: GovernanceAdminSite

    # Who sees the page, and which rows.
    roles: ClassVar[frozenset[str]] = EVERY_ROLE
    namespace_paths: ClassVar[tuple[str, ...]] = ()
    policy_paths: ClassVar[tuple[str, ...]] = ()
    hidden_fields: ClassVar[tuple[str, ...]] = ()  # columns without meaning for people, secrets, and private text
    label_for_everyone: ClassVar[bool] = False  # the label may be shown to people who cannot open the page itself

    # Where it is and what it says about itself.
    area: ClassVar[Area] = Area.RECORDS
    page_title: ClassVar[StrOrPromise | None] = None
    about: ClassVar[StrOrPromise] = ""  # one sentence above the list: what these rows are
    when_empty: ClassVar[StrOrPromise] = ""  # how rows come to be here

    # What is shown.
    id_prefix: ClassVar[str | None] = None
    references: ClassVar[Mapping[str, str]] = {}  # columns that hold keys of other rows without a foreign key → the model
    headings: ClassVar[Mapping[str, StrOrPromise]] = {}  # columns that are called otherwise here than in their model
    told_by_others: ClassVar[tuple[str, ...]] = ()  # columns that a method of the page says in better words
    vocabularies: ClassVar[Mapping[str, Mapping[str, StrOrPromise]]] = {}  # what the words of a column are called
    sections: ClassVar[tuple[Section, ...]] = ()
    related: ClassVar[tuple[Related, ...]] = ()
    row_pages: ClassVar[tuple[type[RowPage], ...]] = ()  # what can be done with a row
    detail_template: ClassVar[str] = "console/detail.html"
    linked_by: ClassVar[Mapping[str, StrOrPromise]] = {}  # lookups that links of other pages narrow the list by → what they are
    sortable: ClassVar[tuple[str, ...]] = ()  # only columns that have an index, or lists that stay short

    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # they count every choice of every filter
    list_per_page = 50
    actions = None
    save_as = False

    # -- who

    @property
    def title(self) -> StrOrPromise:
        return self.page_title or self.opts.verbose_name_plural or ""

    def access(self, request: HttpRequest) -> Access | None:
        return getattr(request, "access", None)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - signature of Django
        access = self.access(request)
        return access is not None and bool(self.roles & access.roles)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        return False

    # -- which rows

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows this person sees: lists, details, links and counts start here. Row-level security bounds the tenant too."""
        rows = self._bare_rows()
        access = self.access(request)
        if access is None:
            return rows.none()
        return narrow(
            rows,
            access,
            self.roles,
            tenant=self.model.governance.tenant,
            namespaces=self.namespace_paths,
            policies=self.policy_paths,
        )

    def labelled_rows(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows that pages may name by their label."""
        return self._bare_rows() if self.label_for_everyone else self.get_queryset(request)

    def _bare_rows(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.model._default_manager.order_by(*self.ordering or ("pk",))  # noqa: SLF001 - Django's own name for it
        return rows.defer(*self.hidden_fields) if self.hidden_fields else rows

    # -- names and addresses

    def label(self, row: Any) -> str:  # noqa: ANN401 - a row of this model
        """What a link to the row says."""
        text = str(row)
        return self.spelled(row.pk) if text == str(row.pk) else text

    def spelled(self, key: UUID) -> str:
        return public_id(self.id_prefix, key) if self.id_prefix else str(key)

    def key_of(self, text: str) -> Any:  # noqa: ANN401 - a primary key of this model
        """The primary key behind an address or a search: its public id, or the key itself; None for anything else."""
        if _NUL in text:
            return None
        if isinstance(self.opts.pk, UUIDField):
            found = parse_public_id(self.id_prefix, text) if self.id_prefix else None
            if found is None:
                try:
                    found = UUID(text)
                except ValueError:
                    return None
            return found
        try:
            return self.opts.pk.to_python(text)
        except ValidationError:
            return None

    def address(self, page: str) -> str:
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_urls(self) -> list[URLPattern]:
        """A list, a detail page and the pages of a row. Django's for adding, changing, deleting and history do not exist here."""
        wrap = self.admin_site.admin_view
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path("", wrap(require_safe(self.changelist_view)), name=f"{name}_changelist"),
            path("<path:object_id>/change/", wrap(require_safe(self.change_view)), name=f"{name}_change"),
            *(
                path(f"<path:object_id>/{one.key}/", wrap(one.as_view(page=self)), name=f"{name}_{one.key}")
                for one in self.row_pages
            ),
        ]

    # -- the list

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[ScopedChangeList]:  # noqa: ARG002, ANN401
        return ScopedChangeList

    @property
    def columns(self) -> list[str]:
        return [str(name) for name in self.list_display]

    def get_list_display(self, request: HttpRequest) -> list[Any]:  # noqa: ARG002
        return [self.column(name) for name in self.columns]

    def column(self, name: str) -> Callable[[Model], object]:
        """The function that shows a column; the same object each time, because Django finds columns by identity."""
        known: dict[str, Callable[[Model], object]] = self.__dict__.setdefault("_columns", {})
        if name not in known:
            known[name] = columns.column(self, name)
        return known[name]

    def get_list_display_links(self, request: HttpRequest, list_display: Any) -> list[Any]:  # noqa: ARG002, ANN401
        return list(list_display)[:1]

    def get_sortable_by(self, request: HttpRequest) -> list[Any]:  # noqa: ARG002
        return [self.column(name) for name in self.sortable]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:  # noqa: ARG002
        """Only what the page's own filters and the links of other pages ask for.

        Django would let any column be compared with anything, and so answer questions about texts and hashes that are not shown.
        """
        return lookup in self.__dict__.setdefault("_lookups", self._own_lookups())

    def _own_lookups(self) -> frozenset[str]:
        found = set(self.linked_by)
        for entry in self.list_filter:
            if isinstance(entry, str):
                found |= {f"{entry}__exact", f"{entry}__isnull"}
                if isinstance(self.opts.get_field(entry), DateTimeField):
                    found |= {f"{entry}__gte", f"{entry}__lt"}
            elif isinstance(entry, type) and issubclass(entry, admin.SimpleListFilter):
                found.add(str(entry.parameter_name))
        return frozenset(found)

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> tuple[QuerySet[Any], bool]:
        """Whole ids and whole keys only: nothing is ever looked for inside a text."""
        term = search_term.strip()
        return (queryset.filter(self.matching(request, term)) if term else queryset), False

    def matching(self, request: HttpRequest, term: str) -> Q:  # noqa: ARG002 - pages that know more override it
        return by_id_or_column(self, term)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        # Django comes back with its flag after a filter that means nothing; NUL is no character of any column.
        if _ERROR_FLAG in request.GET or any(_NUL in value for values in request.GET.lists() for value in values[1]):
            return self.admin_site.refusal(request, 400, _("This list cannot be narrowed like that."), back=request.path)
        extra = {"title": capfirst(self.title), "page": self, **(extra_context or {})}
        return super().changelist_view(request, extra)

    # -- one row

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:  # noqa: ARG002, ANN401
        key = self.key_of(object_id)
        return None if key is None else self.get_queryset(request).filter(pk=key).first()

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",  # noqa: ARG002 - signature of Django
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """One row as a page to read; there is nothing to submit."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, object_id if isinstance(self.opts.pk, UUIDField) else unquote(object_id))
        if row is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            **details.page(self, request, row),
            **self.told(request, row),
            "row_pages": self._offered(request, row),
            "title": self.label(row),
            "opts": self.opts,
            "page": self,
            "list_url": self._list_it_came_from(request),
            "kind": capfirst(self.opts.verbose_name),
            **(extra_context or {}),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, self.detail_template, context)

    def _list_it_came_from(self, request: HttpRequest) -> str:
        """The list as it was narrowed, and at its place, when the row was opened from there."""
        narrowed = request.GET.get("_changelist_filters", "")
        return reverse(self.address("changelist")) + (f"?{narrowed}" if narrowed else "")

    def told(self, request: HttpRequest, row: Any) -> dict[str, Any]:  # noqa: ARG002, ANN401 - pages that know more override it
        """What a detail page of its own shows beyond columns and tables."""
        return {}

    def _offered(self, request: HttpRequest, row: Any) -> list[tuple[type[RowPage], str]]:  # noqa: ANN401
        access = self.access(request)
        return [
            (one, reverse(self.address(one.key), args=[quote(row.pk)]))
            for one in self.row_pages
            if access is not None and one(page=self).offered(access, row)
        ]
