"""Embedders by name, a closed list, and the one this deployment has chosen.

What an embedder is called says everything its vectors depend on: software, model, dimension. Vectors of two names are never
compared, so another model is another name and what was embedded before waits to be embedded anew.
"""

from __future__ import annotations

import math
import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

_Result = TypeVar("_Result")
Embedding = list[float]  # of length one, so that distances of any two lie between 0 and 2

_NAME: Final = re.compile(r"[a-z0-9_.@-]{1,64}")
MOST_DIMENSIONS: Final = 2000  # what pgvector can index


class EmbedderError(Exception):
    """It could not be done now. ``code`` may be shown; ``seconds``: how long the other side wants to be left alone."""

    def __init__(self, code: str, seconds: float = 0.0) -> None:
        super().__init__(code)
        self.code = code
        self.seconds = seconds


class Embedder(Protocol):
    """``outside``: texts leave this machine. ``far``: beyond this permille nothing is about a question, however it stands out.

    ``near``: permille of cosine distance in which meaning alone brings a text in.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def outside(self) -> bool: ...

    @property
    def near(self) -> int: ...

    @property
    def far(self) -> int: ...

    def passages(self, texts: Sequence[str]) -> list[Embedding]:
        """One vector for each text that is remembered, in their order. Raises EmbedderError."""

    def question(self, text: str, *, seconds: float) -> Future[Embedding]:
        """The vector of a question, being made; it raises EmbedderError. Nobody waits for it longer than ``seconds``."""


_makers: dict[str, Callable[[], Embedder]] = {}
_chosen: list[Embedder] = []


def register(kind: str, make: Callable[[], Embedder]) -> None:
    """Let the setting SEMANTIC_EMBEDDER name this kind. A second one of the same name is a mistake: ValueError."""
    if kind in _makers:
        msg = f"There is an embedder named {kind} already."
        raise ValueError(msg)
    _makers[kind] = make


def kinds() -> list[str]:
    """What the setting may name."""
    return sorted(_makers)


def choose(kind: str) -> None:
    """Use this kind from now on; none for an empty word or one that nobody registered (the system checks refuse that)."""
    _chosen[:] = [_makers[kind]()] if kind in _makers else []


def chosen() -> Embedder | None:
    """The embedder of this deployment, None while the lane is off."""
    return _chosen[0] if _chosen else None


def is_name(text: str) -> bool:
    """Whether a text may be the name of an embedder: such a name can stand in a statement as it is."""
    return _NAME.fullmatch(text) is not None


def checked(rows: Sequence[Sequence[object]], *, count: int, dimension: int) -> list[Embedding]:
    """The rows as vectors of length one. Raises EmbedderError unless they are so many finite vectors of this dimension."""
    if len(rows) != count:
        raise EmbedderError("answer_wrong_count")  # noqa: EM101 - codes
    return [_unit(row, dimension) for row in rows]


def _unit(row: Sequence[object], dimension: int) -> Embedding:
    if len(row) != dimension:
        raise EmbedderError("answer_wrong_dimension")  # noqa: EM101
    numbers = [float(value) for value in row if isinstance(value, (int, float)) and not isinstance(value, bool)]
    length = math.sqrt(math.fsum(number * number for number in numbers)) if len(numbers) == dimension else 0.0
    if not math.isfinite(length) or length == 0.0:
        raise EmbedderError("answer_no_vector")  # noqa: EM101
    return [number / length for number in numbers]


class Threads:
    """Threads that are made when the first work comes, in whichever process that is."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ThreadPoolExecutor | None = None
        os.register_at_fork(after_in_child=self._forget)

    def submit(self, function: Callable[[], _Result]) -> Future[_Result]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._count, thread_name_prefix="embedder")
        return self._pool.submit(function)

    def _forget(self) -> None:
        """A child has none of its parent's threads."""
        self._pool = None
