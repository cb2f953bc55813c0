"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "apps.core"
    label = "core"

    def ready(self) -> None:
        from apps.core import lookups  # noqa: PLC0415 - models are loaded by now

        lookups.register()
