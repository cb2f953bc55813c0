"""The extractors of this deployment, from its settings; what is wrong with them is an error of the system checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.checks import Error, register

from apps.jobs.checks import TAG
from apps.memories import extractors
from apps.memories.extractors.openai_compatible import OpenAICompatible
from apps.memories.extractors.openai_compatible.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def configure_extractors() -> None:
    """Register what the settings describe and choose what they name. Called once, when the app starts."""
    names = list(settings.EXTRACTORS)
    if OpenAICompatible.name in names:
        extractors.register(OpenAICompatible(Server(**settings.OPENAI_COMPATIBLE)))
    extractors.choose(names)


@register(TAG)  # a worker looks at these as well
def check_extractors(**_kwargs: Any) -> list[Error]:  # noqa: ANN401 - signature of Django
    """Every fault of the settings about extractors."""
    return list(faults(settings.EXTRACTORS, settings.OPENAI_COMPATIBLE))


def faults(names: Sequence[str], described: dict[str, Any]) -> Iterator[Error]:
    """One error per name that nobody registered, and per fault of the described server if it is asked at all."""
    there = {*extractors.versions(), OpenAICompatible.name}
    for name in names:
        if name not in there:
            yield Error(f"EXTRACTORS names {name!r}; there are: {', '.join(sorted(there))}.", id="memories.E001")
    if OpenAICompatible.name in names:
        if not isinstance(described["options"], dict):
            yield Error("OPENAI_COMPATIBLE_OPTIONS must be a JSON object.", id="memories.E002")
            described = {**described, "options": {}}
        yield from (Error(fault, id="memories.E002") for fault in Server(**described).faults())
