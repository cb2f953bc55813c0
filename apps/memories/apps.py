"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    name = "apps.memories"
    label = "memories"

    def ready(self) -> None:
        # Models are loaded only now.
        from apps.evidence import registries  # noqa: PLC0415
        from apps.memories import checks, extractors, forgetting, labels, layers, outside  # noqa: PLC0415
        from apps.memories import jobs as _jobs  # noqa: F401, PLC0415 - registers itself
        from apps.memories.candidate_reads import candidates_of  # noqa: PLC0415
        from apps.memories.reviews import policies  # noqa: PLC0415
        from apps.memories.revived import deletions_with_memories_back  # noqa: PLC0415
        from apps.memories.sweeps import LostEvidence, Proposals, ReviewDates  # noqa: PLC0415
        from apps.retention.downstream.notices import tell_ids  # noqa: PLC0415
        from apps.retention.layers import register_layer  # noqa: PLC0415
        from apps.retention.models import TargetKind  # noqa: PLC0415
        from apps.retention.revived import register_revived  # noqa: PLC0415
        from apps.retention.sweeps import register_sweep  # noqa: PLC0415
        from apps.retention.targets import on_revoked, register_target  # noqa: PLC0415
        from apps.tenants.provisioning import register_section  # noqa: PLC0415

        checks.configure_extractors()
        registries.use_extraction(outside.recipe(extractors.chosen()[0]))
        registries.set_further_readers(outside.further_readers)
        registries.set_label_resolver(labels.canonical_labels)
        registries.set_candidate_finder(candidates_of)
        register_section("labels", parse=labels.parse_labels, apply=labels.apply_labels)
        register_section(policies.SECTION, parse=policies.parse_policies, apply=policies.apply_policies)
        register_section(outside.SETTING, parse=outside.parse_scopes, apply=outside.apply_scopes)
        register_target(TargetKind.MEMORY, forgetting.resolve_memory)
        on_revoked(forgetting.shut)
        tell_ids("memories", layers.revoked_names)
        register_revived(deletions_with_memories_back)
        for layer in (layers.Candidates(), layers.Versions(), layers.Relations()):
            register_layer(layer)
        for sweep in (Proposals(), ReviewDates(), LostEvidence()):
            register_sweep(sweep)
