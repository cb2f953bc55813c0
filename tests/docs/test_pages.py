"""What the pages tell a reader to type is typed here, against a server as ``make serve`` starts it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs import snippets
from tests.docs.snippets import PROJECT

IMPORT = (PROJECT / "docs" / "import.md").read_text(encoding="utf-8")
GUIDE = (PROJECT / "docs" / "api-guide.md").read_text(encoding="utf-8")
README = (PROJECT / "README.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Demo:
    """A running ``serve --demo``: what it printed, and the environment in which its reader works."""

    printed: str
    environment: Mapping[str, str]

    @property
    def query(self) -> str:
        return re.search(r"^query +(.*)$", self.printed, re.MULTILINE)[1]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("pages")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    environment = {
        **kept,
        "MEMORY_PLATFORM_HOME": str(folder / "home"),
        "BASE": f"http://{address}/api/v1",
        "SECRETS": str(folder / "secrets.json"),
        "PYTHONUNBUFFERED": "1",
    }
    log = folder / "serve.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--demo", "--bind", address],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Demo(_until_printed(server, log, "query "), environment)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def _until_printed(server: subprocess.Popen[bytes], log: Path, start: str, seconds: float = 240) -> str:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        text = log.read_text("utf-8", "replace")
        if re.search(rf"^{start}", text, re.MULTILINE):
            return text
        time.sleep(0.1)
    pytest.fail(log.read_text("utf-8", "replace")[-4000:])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
@pytest.mark.requirement("OW-11")
def test_what_the_pages_say_to_type_does_what_they_say(demo: Demo):
    """One test, because one server is enough: the query of the README, then the guide with curl, then the guide in Python."""
    printed_query_gives_the_answer_in_the_readme(demo)
    assert differences(GUIDE, "bash", demo) == []  # first, because it makes the tenant that both sessions use
    assert differences(GUIDE, "python", demo) == []
    assert differences(IMPORT, "bash", demo) == []


def differences(page: str, language: str, demo: Demo) -> list[str]:
    blocks = snippets.blocks(page, language)
    assert blocks
    printed = snippets.run(blocks, language, demo.environment)
    return [
        f"line {one.line}: {found}"
        for one, text in zip(blocks, printed, strict=True)
        for found in snippets.differences(one, text)
    ]


def printed_query_gives_the_answer_in_the_readme(demo: Demo) -> None:
    """Asked at once it has an answer; what the page shows is the answer when the worker has read the conversation."""
    (block,) = (block for block in snippets.blocks(README, "bash") if "memory-query" in block.code)
    body = re.search(r"-d '(.*)'", demo.query)[1]
    assert body in block.code
    assert json.loads(answer(demo.query))["outcome"] == "answered"
    deadline = time.monotonic() + 60
    while (found := snippets.differences(block, answer(demo.query))) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert found == []


def answer(command: str) -> str:
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "page",
    sorted(
        path.relative_to(PROJECT).as_posix()
        for path in [
            PROJECT / "README.md",
            PROJECT / "CHANGELOG.md",
            *(PROJECT / "docs").rglob("*.md"),
        ]
    ),
)
def test_every_link_and_every_path_that_a_page_names_exists(page: str):
    text = (PROJECT / page).read_text(encoding="utf-8")
    missing = []
    for target in re.findall(r"\]\(([^)#][^)]*)\)", text):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            there = (PROJECT / page).parent / file
            if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
                missing.append(target)
    named = re.findall(r"`((?:apps|memory_platform|tests|docs|templates|deploy|\.ci)/[\w./-]+)`", text)
    missing += [path for path in named if not (PROJECT / path).exists()]
    assert missing == []


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
