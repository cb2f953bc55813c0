"""The code blocks of a page, run as a reader would run them, and the answers that stand behind them.

Blocks of one language are one session, in the order of the page. A ``json`` or ``text`` block directly behind a code block is what it printed
last, shortened: members that are left out may be anything, and an ellipsis inside a text stands for any characters.

``python -m tests.docs.snippets PAGE bash`` runs the blocks of one language and prints what each printed, for whoever writes a page.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "@@end of block@@"
_ANSWERS = ("json", "text")


@dataclass(frozen=True, slots=True)
class Block:
    """One code block; ``answer`` is the block behind it, ``kind`` its language."""

    line: int
    code: str
    kind: str = ""
    answer: str = ""


def blocks(page: str, language: str) -> list[Block]:
    """The blocks of one language with their answers."""
    found = list(_FENCE.finditer(page))
    taken = []
    for place, block in enumerate(found):
        if block[1] != language:
            continue
        after = found[place + 1] if place + 1 < len(found) else None
        directly = after is not None and after[1] in _ANSWERS and page[block.end() : after.start()].strip() == ""
        line = page.count("\n", 0, block.start()) + 2
        taken.append(Block(line, block[2], after[1], after[2]) if directly and after is not None else Block(line, block[2]))
    return taken


def run(found: Sequence[Block], language: str, environment: Mapping[str, str], *, seconds: float = 240) -> list[str]:
    """Run the blocks as one session in the project's folder; what each of them printed. AssertionError when one fails."""
    if language == "bash":
        parts = [f"{block.code}\necho; echo '{_MARK}'\n" for block in found]
        # A checkout's own interpreter is what the pages name; here it is the one that runs the tests.
        script = "set -euo pipefail\n" + "".join(parts).replace(".venv/bin/python", sys.executable)
        command = ["bash", "-c", script]
    else:
        script = "".join(f"{block.code}\nprint(); print({_MARK!r}, flush=True)\n" for block in found)
        command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=PROJECT, env=dict(environment), capture_output=True, text=True, timeout=seconds, check=False
    )
    printed = done.stdout.split(_MARK)
    assert done.returncode == 0, (
        f"the block at line {found[min(len(printed), len(found)) - 1].line} failed:\n{done.stderr}{printed[-1]}"
    )
    return [text.strip() for text in printed[: len(found)]]


def differences(block: Block, printed: str) -> list[str]:
    """Where the answer on the page is not what was printed; empty when it is, or when the page shows none."""
    if not block.answer:
        return []
    if block.kind == "json":
        try:
            last = json.loads(printed.splitlines()[-1]) if printed else None
        except ValueError:
            last = json.loads(printed)
        return list(_unlike(json.loads(block.answer), last, ""))
    wanted = block.answer.strip()
    return [] if _like(wanted, printed) else [f"the page says {wanted!r}, printed was {printed!r}"]


def _unlike(wanted: Any, found: Any, at: str) -> Any:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name, value in wanted.items():
            if name not in found:
                yield f"{at}/{name} is not in the answer"
            else:
                yield from _unlike(value, found[name], f"{at}/{name}")
    elif isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            yield f"{at} has {len(found)} members, the page shows {len(wanted)}"
        for place, (one, other) in enumerate(zip(wanted, found, strict=False)):
            yield from _unlike(one, other, f"{at}/{place}")
    elif isinstance(wanted, str) and isinstance(found, str):
        if not _like(wanted, found):
            yield f"{at} is {found!r}, the page says {wanted!r}"
    elif wanted != found or isinstance(wanted, bool) != isinstance(found, bool):
        yield f"{at} is {found!r}, the page says {wanted!r}"


def _like(wanted: str, found: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, wanted.split("…"))), found, re.DOTALL) is not None


def main() -> None:
    import os

    page, language = sys.argv[1:3]
    found = blocks(Path(page).read_text(encoding="utf-8"), language)
    for block, printed in zip(found, run(found, language, os.environ), strict=True):
        print(f"--- line {block.line}\n{printed}")
        for difference in differences(block, printed):
            print(f"!!! {difference}")


if __name__ == "__main__":
    main()
