"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class AuditsConfig(AppConfig):
    name = "apps.audits"
    label = "audits"

    def ready(self) -> None:
        """Hand the writer of the log down to the floor that may not know this one."""
        from apps.audits.log import record  # noqa: PLC0415 - models exist only now
        from apps.tenants.recording import register_recorder  # noqa: PLC0415

        register_recorder(record)
