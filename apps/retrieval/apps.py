"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "apps.retrieval"
    label = "retrieval"

    def ready(self) -> None:
        from apps.memories.projections import register_projection  # noqa: PLC0415 - models are loaded by now
        from apps.retention.cancellations import set_trace_finder  # noqa: PLC0415 - models are loaded by now
        from apps.retention.exposures import set_exposure_finder  # noqa: PLC0415 - models are loaded by now
        from apps.retention.layers import register_layer  # noqa: PLC0415 - models are loaded by now
        from apps.retention.sweeps import register_sweep  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval import jobs  # noqa: F401, PLC0415 - models are loaded by now; registers its handler
        from apps.retrieval.exposures import find_exposures  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.handed_out import find_handed_out  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.layers import LexicalIndexLayer, TracesLayer  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.postings import LexicalProjection  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.semantic import permission  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.semantic.checks import configure_embedder  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.semantic.indexing import VectorProjection  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.semantic.layers import SemanticIndexLayer  # noqa: PLC0415 - models are loaded by now
        from apps.retrieval.sweeps import Traces  # noqa: PLC0415 - models are loaded by now
        from apps.tenants.provisioning import register_section  # noqa: PLC0415 - models are loaded by now

        configure_embedder()
        register_section(permission.RECALL, parse=permission.parse_scopes, apply=permission.apply_recall)
        register_section(permission.OUTSIDE, parse=permission.parse_scopes, apply=permission.apply_outside)
        register_projection(LexicalProjection())
        register_projection(VectorProjection())
        register_layer(LexicalIndexLayer())
        register_layer(SemanticIndexLayer())
        register_layer(TracesLayer())
        set_exposure_finder(find_exposures)
        set_trace_finder(find_handed_out)
        register_sweep(Traces())
