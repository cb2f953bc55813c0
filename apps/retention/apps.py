"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class RetentionConfig(AppConfig):
    name = "apps.retention"
    label = "retention"

    def ready(self) -> None:
        from apps.jobs.sweeper import register_chore  # noqa: PLC0415
        from apps.retention import jobs  # noqa: F401, PLC0415 - registers the handler; models are loaded only now
        from apps.retention.backup_layer import BackupsLayer  # noqa: PLC0415
        from apps.retention.backups import remove_expired  # noqa: PLC0415
        from apps.retention.classes import apply_classes, parse_classes  # noqa: PLC0415
        from apps.retention.downstream.notices import Downstream  # noqa: PLC0415
        from apps.retention.exports import endings as exports  # noqa: PLC0415
        from apps.retention.exports import jobs as export_jobs  # noqa: F401, PLC0415
        from apps.retention.layers import register_layer  # noqa: PLC0415
        from apps.retention.ledger.guard import is_whole  # noqa: PLC0415
        from apps.retention.models import TargetKind  # noqa: PLC0415
        from apps.retention.private_tables import keep_no_samples  # noqa: PLC0415
        from apps.retention.readiness import barrier_is_whole, register_barrier_check  # noqa: PLC0415
        from apps.retention.storage import StorageLayer  # noqa: PLC0415
        from apps.retention.sweeps import register_sweep, sweep_everything  # noqa: PLC0415
        from apps.retention.targets import on_revoked, register_target, resolve_namespace  # noqa: PLC0415
        from apps.tenants.gates import register_gate  # noqa: PLC0415
        from apps.tenants.provisioning import register_section  # noqa: PLC0415

        register_layer(StorageLayer())
        register_layer(BackupsLayer())
        register_layer(exports.ExportArchives())
        register_layer(Downstream())
        register_sweep(exports.PastExports())
        on_revoked(exports.overtake)
        register_chore(sweep_everything)
        register_chore(remove_expired)
        register_barrier_check(is_whole)
        register_gate(barrier_is_whole)
        post_migrate.connect(keep_no_samples, sender=self, dispatch_uid="retention.keep_no_samples")
        register_section("retention_classes", parse=parse_classes, apply=apply_classes)
        register_target(TargetKind.NAMESPACE, resolve_namespace)
