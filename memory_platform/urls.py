"""Every path of the platform: the API below /api/v1, the console below /admin.

The pages of the console are loaded here, so only processes that answer requests carry them; a worker never does.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from django.apps import apps
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from apps.core.api.docs import SchemaView, docs_page
from apps.core.api.views import UnknownPath
from apps.tenants.console.site import console

api: list[URLPattern | URLResolver] = [
    path("schema", SchemaView.as_view()),
    path("docs", docs_page),
    path("", include("memory_platform.operations.urls")),
    path("", include("apps.tenants.api.urls")),
    path("", include("apps.evidence.api.urls")),
    path("", include("apps.retention.api.urls")),
    path("", include("apps.memories.api.urls")),
    path("", include("apps.retrieval.api.urls")),
    re_path(r"^", UnknownPath.as_view()),
]

for config in apps.get_app_configs():  # in the order of the floors; pages of libraries are not part of the console
    if config.name.startswith("apps.") and find_spec(f"{config.name}.admin") is not None:
        import_module(f"{config.name}.admin")

urlpatterns = [
    path("api/v1/", include(api)),
    path("admin", RedirectView.as_view(pattern_name="admin:index", permanent=True)),
    path("admin/", console.urls),
]

handler400 = "apps.core.api.problems.handler400"
handler403 = "apps.core.api.problems.handler403"
handler404 = "apps.core.api.problems.handler404"
handler500 = "apps.core.api.problems.handler500"
