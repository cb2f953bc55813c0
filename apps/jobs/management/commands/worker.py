"""``manage.py worker``: does the background work (design/06 Commands)."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.jobs.checks import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_USAGE = 2


class Command(BaseCommand):
    help = (
        "Work off background jobs and messages until SIGTERM or SIGINT (send it to this process only). "
        "With --drain: work in this process until nothing is due, then end."
    )
    requires_system_checks = [TAG]  # the others would load the whole web application

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--drain", action="store_true", help="work until nothing is due, then exit 0")
        parser.add_argument("--kinds", metavar="A,B", help="with --drain: only jobs of these kinds")

    def handle(self, *_args: Any, drain: bool, kinds: str | None, **_options: Any) -> None:
        if drain:
            self._drain(kinds)
        elif kinds is not None:
            msg = "--kinds needs --drain"
            raise CommandError(msg, returncode=_USAGE)
        else:
            _work_until_told_to_stop()

    def _drain(self, kinds: str | None) -> None:
        from apps.jobs.registry import handlers  # noqa: PLC0415 - filled when the apps are ready
        from apps.jobs.runner import drain  # noqa: PLC0415 - loads the handlers' modules

        wanted = None if kinds is None else [name.strip() for name in kinds.split(",")]
        unknown = sorted(set(wanted or ()) - handlers().keys())
        if unknown:
            msg = f"no such kind of job: {', '.join(unknown)}. There are: {', '.join(sorted(handlers()))}"
            raise CommandError(msg, returncode=_USAGE)
        with _failures_without_text():
            done = drain(kinds=wanted)
        self.stdout.write(f"{done.jobs} jobs ({done.failed} failed), {done.messages} messages")


def _work_until_told_to_stop() -> None:
    from apps.jobs.doorbell import ClusterError  # noqa: PLC0415 - only in a worker
    from apps.jobs.sweeper import run_worker  # noqa: PLC0415 - only in a worker

    stop = threading.Event()

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, request_stop)
    with _failures_without_text():
        try:
            run_worker(stop)
        except ClusterError as trouble:
            msg = "the worker's processes did not start; the lines above say why"
            raise CommandError(msg, returncode=1) from trouble


@contextmanager
def _failures_without_text() -> Iterator[None]:
    """What ends the command is named by its class: a message of the database may quote a row, and ends up in a log."""
    from apps.jobs.runs import error_code  # noqa: PLC0415 - loads the models

    try:
        yield
    except CommandError:
        raise
    except Exception as failure:  # noqa: BLE001 - see above
        msg = f"the worker failed: {error_code(failure)}"
        raise CommandError(msg, returncode=1) from None
