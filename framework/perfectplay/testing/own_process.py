"""Work in a process of its own: code that crashes, hangs or takes all memory ends that process and not this one.

The child is a fork, so that it has the game as it was loaded, however that was: installed, a file, an object in a test.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

from perfectplay.solving.memory_limits import available_memory, data_bytes

PATIENCE = 30
"""Seconds that a child may wait for one answer before it is ended."""

MEMORY = 2 << 30
"""Bytes that a child may take beyond what its parent has."""

Send = Callable[[Any], None]

_DONE = ()
"""The last that a child sends; all else comes in a tuple of its own, but for what is raised."""

_OUT_OF_MEMORY = 99
"""The exit code of a child that took more than `MEMORY`."""

_fork = get_context("fork")


class Ended(Exception):
    """The child ended, or was ended, before its work was done; the message says how: "crashed with SIGSEGV"."""


def in_own_process(
    work: Callable[[Send], None], *, waits_for: Callable[[], int | None], patience: int | None = None
) -> Iterator[Any]:
    """What `work` sends from a process of its own, as it comes.

    `waits_for` numbers the answers that the child waits for: None while it waits for none. Raises Ended if the child
    crashes, takes more than `MEMORY`, or waits for one of them for `patience` seconds (default: `PATIENCE`); what
    `work` raises is raised here.
    """
    receiver, sender = _fork.Pipe(duplex=False)
    child = _fork.Process(target=_do, args=(work, sender), daemon=True)
    with warnings.catch_warnings():
        # Python warns of locks that other threads hold: the child waits for none of theirs.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child.start()
    sender.close()
    try:
        done = yield from _received(receiver, waits_for, patience or PATIENCE)
        if not done:
            child.join()
            raise Ended(_how(child.exitcode or 0))
    finally:
        child.kill()
        child.join()
        receiver.close()


def end_out_of_memory() -> NoReturn:
    """In a child: there is not even room to say what happened, so the exit code does."""
    os._exit(_OUT_OF_MEMORY)


def _received(receiver: Connection, waits_for: Callable[[], int | None], patience: int) -> Generator[Any, None, bool]:
    """What comes; at the end, whether the child said that it was done."""
    awaited, seconds = None, 0
    while seconds < patience:  # counted in waits: a computer that slept did not wait
        if receiver.poll(1):
            try:
                message = receiver.recv()
            except EOFError:
                return False
            if isinstance(message, Exception):
                raise message
            if message == _DONE:
                return True
            yield from message
        now = waits_for()
        seconds = seconds + 1 if now is not None and now == awaited else 0
        awaited = now
    raise Ended(f"gave no answer in {patience} seconds")


def _do(work: Callable[[Send], None], sender: Connection) -> None:
    """In the child: its parent hears Ctrl-C, and ends it; if the parent is gone, so is the reason to go on."""
    faulthandler.disable()  # whoever waits tells more than a list of Python's frames
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _bound_memory()
    try:
        work(lambda thing: sender.send((thing,)))
        sender.send(_DONE)
    except MemoryError:
        end_out_of_memory()
    except Exception as error:
        sender.send(error)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _bound_memory() -> None:
    """Where the system can, let a list that grows without end be an error, and not the end of the machine."""
    import resource  # only where it is asked for: not every system has it

    room = min(MEMORY, available_memory().bytes // 2)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + room, hard))


def _how(exitcode: int) -> str:
    if exitcode == _OUT_OF_MEMORY:
        return "took all the memory it was given"
    if exitcode >= 0:
        return f"ended the process with exit code {exitcode}"
    try:
        return f"crashed with {signal.Signals(-exitcode).name}"
    except ValueError:  # a signal without a name
        return f"crashed with signal {-exitcode}"
