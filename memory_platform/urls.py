"""Every path of the platform: the API below /api/v1, the console below /admin."""

from __future__ import annotations

from django.urls import include, path, re_path

from apps.core.api.docs import SchemaView, docs_page
from apps.core.api.views import UnknownPath
from apps.tenants.console.site import console

import importlib.util  # TEMPORARY until every room stands


def _there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


_rooms = ["memory_platform.operations.urls", "apps.tenants.api.urls", "apps.evidence.api.urls", "apps.retention.api.urls", "apps.memories.api.urls", "apps.retrieval.api.urls"]
api = [
    path("schema", SchemaView.as_view()),
    path("docs", docs_page),
    *[path("", include(name)) for name in _rooms if _there(name)],
    re_path(r"^", UnknownPath.as_view()),
]

urlpatterns = [
    path("api/v1/", include(api)),
    path("admin/", console.urls),
]

handler400 = "apps.core.api.problems.handler400"
handler403 = "apps.core.api.problems.handler403"
handler404 = "apps.core.api.problems.handler404"
handler500 = "apps.core.api.problems.handler500"
