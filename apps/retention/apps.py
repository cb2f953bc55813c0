"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class RetentionConfig(AppConfig):
    name = "apps.retention"
    label = "retention"
