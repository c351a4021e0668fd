"""Work in a process of its own: code that crashes, hangs or takes all memory ends that process and not this one.

The child is a fork, so that it has the game as it was loaded, however that was: installed, a file, an object in a test.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from struct import Struct
from typing import Any, NoReturn

from perfectplay.game.hooks import Hooks
from perfectplay.memory import available_memory, data_bytes
from perfectplay_native.kernel import Kernel, index_of_slot, tier_of_slot
from perfectplay_native.limits import NO_POSITION

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


# What is being asked, in memory that outlives the process that asks: so a crash can be told in terms of the game.

_LAW = Struct("<24sQ")
"""The law that is tried, and the position that it is tried on."""
_QUESTION = Struct("<24sQQ")
"""What was asked, a hook or a kernel's function, and its first two arguments, 0 where they are no numbers."""
_WAITING = Struct("<QB?24sQQ")
"""How many questions were asked, how many wait for an answer, whether the last of them is for the kernel, and it."""
_AT_KERNEL = _LAW.size
"""The kernel's last question, answered or not: what it wrote where it must not may be noticed much later."""
_AT_WAITING = _AT_KERNEL + _QUESTION.size

_OF_NOTHING = ("start", "about", "players", "kernel", "options", "configure", "encode", "walk")
_OF_A_TIER = ("tier_size", "tier_children")
_OF_A_SLOT = ("unrank", "survey")
_OF_A_MOVE = ("apply", "undo", "format_move")

_NONE = (False, b"", 0, 0)


class Watch:
    """Shared with the processes that are forked after it was made."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._asked = 0
        self._waiting: list[tuple[bool, bytes, int, int]] = []
        """Questions without an answer yet: a hook's, then those that it led to."""

    # ---- for the process that asks ----

    def over_hooks(self) -> None:
        """From now on hear of every question that a hook is asked, whichever game's."""
        Hooks.watcher = self

    def over(self, kernel: Kernel) -> None:
        """From now on hear of every question that this kernel is asked."""
        kernel.watcher = self

    def tries(self, law: str, position: int | None = None) -> None:
        _LAW.pack_into(self._page, 0, law.encode(), NO_POSITION if position is None else position)

    def asks_hook(self, hook: str, arguments: tuple[Any, ...]) -> None:
        """A hook is asked."""
        self._asks(False, hook, arguments)

    def before_call(self, function: str, arguments: tuple[Any, ...]) -> None:
        """A function of the kernel is asked."""
        question = self._asks(True, function, arguments)
        _QUESTION.pack_into(self._page, _AT_KERNEL, *question)

    def after_call(self) -> None:
        self._waiting.pop()
        self._show()

    def ran_out_of_memory(self) -> None:
        """That is the end: what the hook still holds would be in the way of everything else."""
        end_out_of_memory()

    def _asks(self, of_kernel: bool, function: str, arguments: tuple[Any, ...]) -> tuple[bytes, int, int]:
        first = arguments[0] if arguments and type(arguments[0]) is int else 0
        second = arguments[1] if len(arguments) > 1 and type(arguments[1]) is int else 0
        self._asked += 1
        self._waiting.append((of_kernel, function.encode(), first & NO_POSITION, second & NO_POSITION))
        self._show()
        return self._waiting[-1][1:]

    def _show(self) -> None:
        """Write down the question that was asked last of those that wait."""
        last = self._waiting[-1] if self._waiting else _NONE
        _WAITING.pack_into(self._page, _AT_WAITING, self._asked, len(self._waiting), *last)

    # ---- for the process that waits ----

    def waits_for(self) -> int | None:
        """The number of the question that has no answer yet; None where all have."""
        asked, waiting, *_ = _WAITING.unpack_from(self._page, _AT_WAITING)
        return asked if waiting else None

    def story(self, how: str, name: Callable[[int], str]) -> str:
        """What became of the game, which `how` says ("crashed with SIGSEGV"), what it was asked, and what to do."""
        advice = "Ctrl-C shows the line" if how.startswith("gave no answer") else "a debugger can follow"
        return f"{self._what_happened(how, name)}; with PERFECTPLAY_DEBUG=1 {advice}"

    def _what_happened(self, how: str, name: Callable[[int], str]) -> str:
        _, waiting, of_kernel, function, first, second = _WAITING.unpack_from(self._page, _AT_WAITING)
        if of_kernel:
            return f"the kernel {how} in {self._kernel_question(name)}{self._trial(name)}"
        hook = _text(function)
        move = f", move {second}" if hook in _OF_A_MOVE else ""
        where = "" if hook in _OF_NOTHING else f" in {name(first)}{move}"
        found = (f"hook '{hook}' {how}{where}" if waiting else f"the game {how}") + self._trial(name)
        if hook == "kernel":
            return f"{found}: look at what makes the kernel, and at its tier_size"
        if how.startswith("crashed") and self._page[_AT_KERNEL]:
            asked = self._kernel_question(name)
            return f"{found}: does the kernel write where it must not? It was asked last for {asked}"
        return found

    def _kernel_question(self, name: Callable[[int], str]) -> str:
        asked, first, second = _QUESTION.unpack_from(self._page, _AT_KERNEL)
        function = _text(asked)
        if function in _OF_NOTHING:
            return f"'{function}'"
        if function in _OF_A_TIER:
            return f"'{function}' of tier {first}"
        if function in _OF_A_SLOT:
            return f"'{function}' of slot {index_of_slot(first)} of tier {tier_of_slot(first)}"
        move = f", move {second}" if function in _OF_A_MOVE else ""
        return f"'{function}' of {name(first)}{move}"

    def _trial(self, name: Callable[[int], str]) -> str:
        law, position = _LAW.unpack_from(self._page, 0)
        if not _text(law):
            return ", while the game was loaded"
        where = "" if position == NO_POSITION else f" on {name(position)}"
        return f", while the law '{_text(law)}' was tried{where}"


def _text(field: bytes) -> str:
    return field.rstrip(b"\0").decode()
