"""``manage.py evaluate``: the promised behaviours of retrieval, the known weaknesses, and figures on a data set."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.isolation import system_context
from apps.core.text import fold_key
from apps.memories.importing.turns import LayoutError
from apps.retrieval.evaluation.case_runs import Result, run_cases
from apps.retrieval.evaluation.cases import FOLDER, CaseError, Suite, read_suite
from apps.retrieval.evaluation.datasets import read_dataset
from apps.retrieval.evaluation.runs import Measured, Report, import_dataset, measure
from apps.retrieval.evaluation.tenants import DATASETS
from apps.retrieval.semantic.embedders import chosen
from apps.retrieval.semantic.indexing import embed_namespace
from apps.retrieval.semantic.searching import ensure_extension
from apps.tenants.console_access import command_access
from apps.tenants.models import Project, Tenant
from apps.tenants.namespaces import create_project
from apps.tenants.provisioning import provision

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from uuid import UUID

    from apps.retrieval.semantic.embedders import Embedder

FINDINGS, USAGE = 1, 2
COLUMNS = ("recall@5", "recall@10", "recall@20", "mrr", "size", "stale@5", "above", "forbidden")
_PROMOTE = "  (no weakness any more: move it to regression)"


class Command(BaseCommand):
    help = (
        "regression: the promised behaviours, all of them must be green (exit code 1 otherwise). challenge: known weaknesses, "
        "reported openly. retrieval: recall@5/10/20, MRR, stale and forbidden records on a data set, per group, over all, per "
        "lane, and without each signal of the order."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        for suite in Suite:
            cases = kinds.add_parser(
                suite, help="cases through the real pipeline, in a tenant of their own, taken back afterwards"
            )
            cases.add_argument("--only", metavar="TEXT", default="", help="only cases whose id holds this text")
            cases.add_argument(
                "--cases", type=Path, default=FOLDER, help="a folder with regression/ and challenge/ (default: ours)"
            )
            cases.add_argument("--json", action="store_true", help="print the results as JSON")
        figures = kinds.add_parser("retrieval", help="figures on a data set")
        figures.add_argument(
            "--dataset", type=Path, required=True, help="a file in the LoCoMo layout or in the form of docs/import.md"
        )
        figures.add_argument(
            "--ablation", action="store_true", help="also the order of the candidates without each of its signals"
        )
        figures.add_argument(
            "--semantic", action="store_true", help="with the semantic lane: the records are given to the chosen embedder first"
        )
        figures.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *_args: object, **options: Any) -> None:
        if options["what"] == "retrieval":
            self._retrieval(options)
        else:
            self._cases(Suite(options["what"]), options)

    # -- cases

    def _cases(self, suite: Suite, options: dict[str, Any]) -> None:
        try:
            cases = [case for case in read_suite(suite, options["cases"]) if options["only"] in case.id]
        except CaseError as trouble:
            raise CommandError(str(trouble), returncode=USAGE) from trouble
        if not cases:
            raise CommandError("There is no such case.", returncode=USAGE)
        results = run_cases(cases, progress=lambda done: self._progress(done, len(cases)))
        red = [result for result in results if not result.green]
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(suite, results), ensure_ascii=False))
        else:
            for line in _as_lines(suite, results):
                self.stdout.write(line)
        if red and suite is Suite.REGRESSION:
            raise SystemExit(FINDINGS)

    # -- data sets

    def _retrieval(self, options: dict[str, Any]) -> None:
        path: Path = options["dataset"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.", returncode=USAGE)
        try:
            worlds = read_dataset(path)
        except LayoutError as trouble:
            raise CommandError(f"{path.name}: {trouble}.") from trouble
        embedder = chosen() if options["semantic"] else None
        if options["semantic"] and (embedder is None or not ensure_extension()):
            raise CommandError("There is no embedder (SEMANTIC_EMBEDDER), or no pgvector in this database.", returncode=USAGE)
        tenant_id = _tenant(semantic=embedder is not None)
        project = Projects(tenant_id, fold_key(path.stem)[:60])
        for world in worlds:
            project(world.name)  # made before the access is built, which reaches what is there
        done = import_dataset(command_access(tenant_id, actor="evaluate"), worlds, project)
        if embedder is not None:
            self._embed(tenant_id, [project(world.name) for world in worlds], embedder)
        if done.refused:
            self.stderr.write(f"{done.refused} of {done.turns} records were refused and are not measured")
        access = command_access(tenant_id, actor="evaluate")
        found = measure(access, worlds, project, ablate=options["ablation"], progress=self._progress)
        if options["json"]:
            self.stdout.write(json.dumps(_rows(found)))
        else:
            self.stdout.write(table(found.measured))
            for line in _findings(found):
                self.stdout.write(line)

    def _embed(self, tenant_id: UUID, projects: list[str], embedder: Embedder) -> None:
        access = command_access(tenant_id, actor="evaluate")
        for number, key in enumerate(projects, start=1):
            embed_namespace(access, access.project_namespace(key).id, embedder)
            self._progress(number, len(projects))

    def _progress(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{done}/{total}", ending="\n" if done == total else "")


class Projects:
    """The project of each conversation in the evaluation tenant, made when it is first asked for."""

    def __init__(self, tenant_id: UUID, prefix: str) -> None:
        self.tenant_id = tenant_id
        self.prefix = prefix

    def __call__(self, conversation: str) -> str:
        key = f"{self.prefix}.{fold_key(conversation)[:40]}"
        with system_context():
            there = Project.objects.filter(tenant_id=self.tenant_id, key=key).exists()
        if not there:
            create_project(command_access(self.tenant_id, actor="evaluate"), key=key, name=key)
        return key


def table(found: list[Measured]) -> str:
    """The figures as a text table."""
    names = [name for name in COLUMNS if any(name in m.figures for m in found)]
    wide = max([len("ranking"), *(len(m.ranking) for m in found)])
    lines = [f"{'group':<14} {'ranking':<{wide}} {'questions':>9} " + " ".join(f"{name:>9}" for name in names)]
    for m in found:
        cells = (f"{m.figures[name]:>9.3f}" if name in m.figures else " " * 9 for name in names)
        lines.append(f"{m.group:<14} {m.ranking:<{wide}} {m.questions:>9} {' '.join(cells)}".rstrip())
    return "\n".join(lines)


def _rows(found: Report) -> list[dict[str, Any]]:
    """One row for each group and ranking; what was wrong with packets stands in the first, that of the packets over all."""
    rows = [{"group": m.group, "ranking": m.ranking, "questions": m.questions, **m.figures} for m in found.measured]
    for row in rows[:1]:
        row |= {
            "sufficient": found.sufficient,
            "missed": found.missed,
            "leaked": found.leaked,
            "near_leaks": found.near_leaks,
        }
    return rows


def _findings(found: Report) -> list[str]:
    """What was wrong with packets, in lines."""
    missed = ", ".join(f"{reason} {count}" for reason, count in sorted(found.missed.items(), key=lambda one: (-one[1], one[0])))
    questions = found.measured[0].questions if found.measured else 0
    return [
        f"packets that hold everything that answers: {found.sufficient} of {questions}",
        f"records that answer and were not given: {sum(found.missed.values())}{f' ({missed})' if missed else ''}",
        f"records of another place: {found.leaked} given, {found.near_leaks} among candidates",
    ]


def _as_lines(suite: Suite, results: list[Result]) -> list[str]:
    lines = []
    for result in results:
        if result.green:
            lines.append(f"green  {result.case.id}{_PROMOTE if suite is Suite.CHALLENGE else ''}")
            continue
        lines.append(f"red    {result.case.id}: {result.case.failure or result.case.why}")
        lines += [f"         {failure.fault}: {failure.detail}" for failure in result.failures]
    red = sum(not result.green for result in results)
    kinds = Counter(failure.fault.value for result in results for failure in result.failures)
    counted = "".join(f", {kind} {count}" for kind, count in sorted(kinds.items()))
    lines.append(f"{suite}: {len(results) - red} of {len(results)} green, {red} red{counted}")
    return lines


def _as_json(suite: Suite, results: list[Result]) -> dict[str, Any]:
    return {
        "suite": suite,
        "cases": len(results),
        "green": sum(result.green for result in results),
        "results": [
            {
                "id": result.case.id,
                "proves": list(result.case.proves),
                "green": result.green,
                "known": result.case.failure,
                "failures": [{"fault": failure.fault, "detail": failure.detail} for failure in result.failures],
            }
            for result in results
        ],
    }


def _tenant(*, semantic: bool) -> UUID:
    """A tenant of its own: what is measured never mixes with what is remembered."""
    allowed = ["project"] if semantic else []
    provision(json.dumps({"tenants": [{"key": DATASETS, "semantic_recall": allowed, "external_embedding": allowed}]}))
    with system_context():
        return Tenant.objects.get(key=DATASETS).id
