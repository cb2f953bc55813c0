"""Paths of floor 7 below /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.retrieval.api.views import Adoptions, MemoryQuery, Trace

urlpatterns = [
    path("memory-query", MemoryQuery.as_view()),
    path("memory-traces/<str:trace_id>", Trace.as_view()),
    path("memory-traces/<str:trace_id>/adoptions", Adoptions.as_view()),
]
