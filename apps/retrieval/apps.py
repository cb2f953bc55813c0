"""Django's view of the app."""

from __future__ import annotations

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "apps.retrieval"
    label = "retrieval"

    def ready(self) -> None:
        from apps.memories.projections import register_projection
        from apps.retention.exposures import set_exposure_finder
        from apps.retention.layers import register_layer
        from apps.retrieval.exposures import find_exposures
        from apps.retrieval.layers import LexicalIndexLayer, TracesLayer
        from apps.retrieval.postings import LexicalProjection

        register_projection(LexicalProjection())
        register_layer(LexicalIndexLayer())
        register_layer(TracesLayer())
        set_exposure_finder(find_exposures)
