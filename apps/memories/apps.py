"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "apps.memories"
    label = "memories"

    def ready(self) -> None:
        # Models are loaded only now.
        from apps.evidence import registries  # noqa: PLC0415
        from apps.memories import extractors, forgetting, jobs, labels, layers  # noqa: F401, PLC0415 - jobs registers itself
        from apps.memories.candidate_reads import candidates_of  # noqa: PLC0415
        from apps.memories.candidates import POLICY_VERSION  # noqa: PLC0415
        from apps.memories.extraction import EXTRACTOR  # noqa: PLC0415
        from apps.retention.layers import register_layer  # noqa: PLC0415
        from apps.retention.models import TargetKind  # noqa: PLC0415
        from apps.retention.targets import on_revoked, register_target  # noqa: PLC0415
        from apps.tenants.provisioning import register_section  # noqa: PLC0415

        version = extractors.get(EXTRACTOR).version
        registries.use_extraction(registries.Extraction(EXTRACTOR, version, POLICY_VERSION))
        registries.set_label_resolver(labels.canonical_labels)
        registries.set_candidate_finder(candidates_of)
        register_section("labels", parse=labels.parse_labels, apply=labels.apply_labels)
        register_target(TargetKind.MEMORY, forgetting.resolve_memory)
        on_revoked(forgetting.shut)
        for layer in (layers.Candidates(), layers.Versions(), layers.Relations()):
            register_layer(layer)
