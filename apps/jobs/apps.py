"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "apps.jobs"
    label = "jobs"

    def ready(self) -> None:
        from apps.jobs import checks  # noqa: F401, PLC0415 - registers the system checks
