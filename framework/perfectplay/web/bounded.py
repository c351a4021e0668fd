"""Runs the hooks of a variant that a client has named in a separate process, with limits on time and memory.

A name in an address can describe a game of any size, for example one of OpenSpiel's. Its hooks may take hours for one
position, and Python cannot interrupt a thread. A process can be killed: after its time, or when the client is gone.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.memory import data_bytes

SECONDS = 10.0
MEMORY = 128 << 20
"""Bytes that the process may allocate in addition to those of the server."""
MAX_PROCESSES = 2
POLL_SECONDS = 0.1

T = TypeVar("T")
_fork = get_context("fork")  # the child has the game as it was loaded


class BoundedError(PerfectPlayError):
    """The work failed, exceeded its limits, or its client has gone; with an HTTP status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def run_bounded(request: Request, slots: asyncio.Semaphore, work: Callable[[], T]) -> T:
    """Return the result of `work`, which a child process computes. `slots` limit the number of such processes.

    Raises UsageError as `work` does, and BoundedError for any other error, for too much time or memory, and if the
    client goes away.
    """
    try:
        await asyncio.wait_for(slots.acquire(), SECONDS)
    except TimeoutError:
        raise BoundedError(429, "the server is busy with other variants; try again later") from None
    gone = threading.Event()
    running = asyncio.ensure_future(run_in_threadpool(_run_child, work, gone))
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=POLL_SECONDS)
            if not running.done() and await request.is_disconnected():
                gone.set()
        result: T = running.result()
        return result
    finally:
        gone.set()
        slots.release()


def _run_child(work: Callable[[], T], gone: threading.Event) -> Any:
    receiver, sender = _fork.Pipe(duplex=False)
    child = _fork.Process(target=_compute, args=(work, sender), daemon=True)
    with warnings.catch_warnings():
        # Python warns about locks held by other threads. A child that waits for one is killed.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child.start()
    sender.close()
    try:
        deadline = time.monotonic() + SECONDS
        while not receiver.poll(POLL_SECONDS):
            if gone.is_set():
                raise BoundedError(503, "the client has gone")
            if time.monotonic() > deadline:
                raise BoundedError(409, f"this takes more than {SECONDS:.0f} seconds; solve the game first")
        try:
            status, result = receiver.recv()
        except EOFError:
            memory = f"more than {MEMORY >> 20} MiB of memory"
            raise BoundedError(409, f"this takes {memory}, or crashes; solve the game first") from None
        if status == 400:
            raise UsageError(result)
        if status != 200:
            raise BoundedError(status, result)
        return result
    finally:
        for kill in (child.kill, lambda: os.killpg(child.pid or 0, signal.SIGKILL)):  # it may have children, too
            with suppress(ProcessLookupError, PermissionError):
                kill()
        child.join()
        receiver.close()


def _compute(work: Callable[[], Any], sender: Connection) -> None:
    import resource  # not available on Windows

    os.setsid()
    faulthandler.disable()  # a crash is reported to the client, not with a list of frames on the terminal
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + MEMORY, hard))
    try:
        sender.send((200, work()))
    except Exception as error:
        if not any(isinstance(each, MemoryError) for each in (error, error.__cause__, error.__context__)):
            sender.send((_status_of(error), str(error)))
    # If nothing was sent, the parent notices that the connection ends.
    os._exit(0)


def _status_of(error: Exception) -> int:
    """Return the HTTP status for an error. A hook that fails with the client's options is no fault of the server."""
    if isinstance(error, PerfectPlayError):
        return 400 if isinstance(error, UsageError) else 409
    return int(getattr(error, "status", 500))
