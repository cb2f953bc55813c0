"""Tenants of their own for evaluations: what is measured never mixes with what is remembered."""

from __future__ import annotations

from typing import Final

DATASETS: Final = "evaluation"
CASES: Final = "evaluation-cases"
EVALUATION_TENANTS: Final = frozenset({DATASETS, CASES})
