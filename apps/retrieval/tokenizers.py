"""Counting tokens exactly and offline (BU-08, C7).

The counter is the Rust tokenizer of bpe-openai. Its Python package reads all vocabularies into dictionaries at import (70 MiB
and a second), which a counter never needs, so the compiled module is loaded by itself; if a release moves it, the package is
used.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from types import ModuleType

DEFAULT = "o200k_base"
EXACT = ("o200k_base", "cl100k_base")
_BINDINGS = "bpe_openai._bindings"
_ESTIMATE_MARGIN = 120  # percent of the default count: other vocabularies of this size differ by less on mixed text


class _Native(Protocol):
    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts with one tokenizer; `exact` is False where the named one is not at hand and the count is an estimate."""

    name: str
    exact: bool
    native: _Native

    def count(self, text: str) -> int:
        """Tokens of the text."""
        try:
            tokens = self.native.count(text)
        except UnicodeEncodeError:  # a lone surrogate, which no stored text has; still never a reason to fail
            tokens = self.native.count(text.encode("utf-8", "replace").decode("utf-8"))
        return tokens if self.exact else -(-tokens * _ESTIMATE_MARGIN // 100)


def counter(name: str = DEFAULT) -> TokenCounter:
    """The counter for a tokenizer's name; an unknown name gives a cautious estimate that says so."""
    exact = name in EXACT
    return TokenCounter(name, exact, _native(name if exact else DEFAULT))


@lru_cache(maxsize=len(EXACT))
def _native(encoding: str) -> _Native:
    return cast("_Native", _bindings().tokenizer_for_encoding(encoding))


def _bindings() -> ModuleType:
    if _BINDINGS not in sys.modules:
        path = _extension()
        spec = importlib.util.spec_from_file_location(_BINDINGS, path) if path is not None else None
        if spec is None or spec.loader is None:
            return importlib.import_module(_BINDINGS)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[_BINDINGS] = module  # the extension can be initialised once; a later import of the package finds it here
    return sys.modules[_BINDINGS]


def _extension() -> Path | None:
    package = importlib.util.find_spec("bpe_openai")
    folders = package.submodule_search_locations if package is not None else None
    names = [f"_bindings{suffix}" for suffix in EXTENSION_SUFFIXES]
    return next((path for folder in folders or () for name in names if (path := Path(folder) / name).is_file()), None)
