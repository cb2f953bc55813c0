"""Paths below /api/v1."""

from __future__ import annotations

from django.urls import path

from memory_platform.operations.views import Live, Metrics, Ready

urlpatterns = [
    path("health/live", Live.as_view()),
    path("health/ready", Ready.as_view()),
    path("metrics", Metrics.as_view()),
]
