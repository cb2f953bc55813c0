"""What every governed page of the console has in common: read-only, scoped, role by role, without full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

from apps.tenants.models import Role

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest

    from apps.tenants.access import Access

EVERY_ROLE = frozenset({Role.OWNER, Role.COMPLIANCE, Role.REVIEWER, Role.AUDITOR, Role.OPERATOR})
# These see the rows (never the texts) of every namespace; a reviewer sees those of the namespaces in reach.
_WHOLE_TENANT = frozenset({Role.OWNER, Role.COMPLIANCE, Role.AUDITOR, Role.OPERATOR})
MOST_COUNTED = 10_000


class BoundedPaginator(Paginator):
    """Counts no further than it would ever be paged by hand; a list of millions never waits for a full count."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        return rows.order_by()[:MOST_COUNTED].count() if isinstance(rows, QuerySet) else len(rows)


class GovernedAdmin(admin.ModelAdmin):
    """Rows of the open tenant, for the roles named, narrowed to the namespaces in reach where ``namespace_path`` is set.

    Governed models are never saved here: add, change and delete are off; transitions are pages or actions that call verbs.
    """

    roles: ClassVar[frozenset[str]] = EVERY_ROLE
    namespace_path: ClassVar[str | None] = None
    hidden_fields: ClassVar[tuple[str, ...]] = ()  # columns without meaning for people: hashes, keys of private texts

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    actions = None
    save_as = False

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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Row-level security bounds the tenant; this bounds the namespaces."""
        rows = super().get_queryset(request)
        access = self.access(request)
        if access is None or not self.roles & access.roles:
            return rows.none()
        if self.namespace_path is None or access.roles & _WHOLE_TENANT:
            return rows
        return rows.filter(**{f"{self.namespace_path}__in": [grant.id for grant in access.namespaces]})

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:  # noqa: ARG002
        hidden = {*self.hidden_fields, "tenant"}
        return [field.name for field in self.model._meta.fields if field.name not in hidden]  # noqa: SLF001

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return self.get_fields(request, obj)
