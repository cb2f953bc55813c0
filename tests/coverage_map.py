"""``make coverage-map``: which requirement is proved by which test, and which by none.

Reads the ``requirement`` marks without running a test. With ``--requirements FILE`` (default: ../shared/requirements.md where it
exists) it also lists the numbers in that file that no test names.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).resolve().parent
REQUIREMENT = re.compile(r"^- \*\*([A-Z]{2}-\d{2,3})\*\*", re.MULTILINE)


def marks(node: ast.AST) -> list[str]:
    """The ids in ``@pytest.mark.requirement("DJ-12", ...)`` on a function or class, or in a module's ``pytestmark``."""
    found = []
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "requirement":
            found += [argument.value for argument in part.args if isinstance(argument, ast.Constant)]
    return found


def proofs(folder: Path = TESTS) -> dict[str, list[str]]:
    """Requirement id → names of the tests that carry it."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.rglob("test_*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        everywhere = [mark for node in module.body if isinstance(node, ast.Assign) for mark in marks(node)]
        _collect(module, everywhere, str(file.relative_to(folder)), found)
    return found


def _collect(node: ast.Module | ast.ClassDef, inherited: list[str], where: str, found: dict[str, list[str]]) -> None:
    for item in node.body:
        if isinstance(item, ast.ClassDef):
            own = [mark for decorator in item.decorator_list for mark in marks(decorator)]
            _collect(item, inherited + own, f"{where}::{item.name}", found)
        elif isinstance(item, ast.FunctionDef) and item.name.startswith("test_"):
            for mark in inherited + [mark for decorator in item.decorator_list for mark in marks(decorator)]:
                found[mark].append(f"{where}::{item.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requirements", type=Path, default=TESTS.parent.parent / "shared" / "requirements.md")
    arguments = parser.parse_args()
    proved = proofs()
    for requirement in sorted(proved):
        print(requirement)
        for test in proved[requirement]:
            print(f"    {test}")
    if arguments.requirements.exists():
        known = set(REQUIREMENT.findall(arguments.requirements.read_text(encoding="utf-8")))
        missing = sorted(known - set(proved))
        print(f"\n{len(known & set(proved))} of {len(known)} requirements have a test; without one:")
        print("  " + " ".join(missing))
        if unknown := sorted(set(proved) - known):
            print(f"marks that name no requirement: {' '.join(unknown)}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
