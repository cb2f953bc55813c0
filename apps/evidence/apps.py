"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "apps.evidence"
    label = "evidence"

    def ready(self) -> None:
        # Models are loaded only now.
        from apps.evidence import coverage, layers, targets  # noqa: PLC0415
        from apps.evidence.content import keep_reason  # noqa: PLC0415
        from apps.evidence.pending import PendingWork  # noqa: PLC0415
        from apps.evidence.revived import deletions_with_events_back  # noqa: PLC0415
        from apps.evidence.sweeps import EventTexts  # noqa: PLC0415
        from apps.retention.downstream.notices import tell_ids  # noqa: PLC0415
        from apps.retention.holds import register_reach  # noqa: PLC0415
        from apps.retention.layers import register_layer  # noqa: PLC0415
        from apps.retention.models import TargetKind  # noqa: PLC0415
        from apps.retention.reasons import set_reason_keeper  # noqa: PLC0415
        from apps.retention.revived import register_revived  # noqa: PLC0415
        from apps.retention.sweeps import register_sweep  # noqa: PLC0415
        from apps.retention.targets import on_revoked, register_target  # noqa: PLC0415

        register_target(TargetKind.EVENT, targets.resolve_event)
        register_target(TargetKind.SESSION, targets.resolve_session)
        register_target(TargetKind.SUBJECT, targets.resolve_subject)
        on_revoked(targets.shut)
        tell_ids("events", coverage.covered_names)
        register_revived(deletions_with_events_back)
        register_layer(PendingWork())
        register_layer(layers.Sources())
        register_sweep(EventTexts())
        register_reach(coverage.reaches)
        set_reason_keeper(keep_reason)
