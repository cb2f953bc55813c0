"""SIGTERM and SIGINT as an orderly end: they interrupt what a program does, and never what it does to end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM)


def end_on_sigterm() -> None:
    """From now on SIGTERM ends the program by SystemExit instead of on the spot; a second one changes nothing.

    SIGINT raises KeyboardInterrupt already, as often as it comes: people at a prompt use it for other things than ending.
    """
    signal.signal(signal.SIGTERM, _end)


@contextmanager
def held_off() -> Iterator[None]:
    """SIGTERM and SIGINT that arrive inside take effect when the block is over.

    For steps of which half would be worse than none, and that are short: nothing but SIGKILL ends the program meanwhile. What
    was ignored before (a shell starts programs in the background without SIGINT) is ignored inside, too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs handlers in the main thread only
        return
    arrived: list[int] = []
    heeded = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _frame: arrived.append(number)) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for first in arrived[:1]:
            signal.raise_signal(first)


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, _already_ending)
    raise SystemExit(128 + number)


def _already_ending(_number: int, _frame: FrameType | None) -> None:
    pass
