"""Run a game in a child process, so that a crash, a hang or excessive memory use ends only the child.

The child is a fork, so it has the game as it was loaded: installed, from a file, or an object in a test. It logs every
call of a hook or kernel function in shared memory, from which the parent describes what the child did last.
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
from typing import Any

from perfectplay_native._engine import ffi, lib

from perfectplay.game.hooks import Hooks
from perfectplay.memory import available_memory, data_bytes
from perfectplay_native.kernel import Kernel, index_of_slot, tier_of_slot
from perfectplay_native.limits import NO_POSITION

PATIENCE = 30
"""Seconds that one call may take before the child is killed."""

MEMORY = 2 << 30
"""Bytes that a child may allocate in addition to its parent's."""

Send = Callable[[Any], None]

_DONE = ()
"""The last message of a child. Other messages are wrapped in a tuple of one, or are exceptions."""

_OUT_OF_MEMORY = 99
"""The exit code of a child that exceeded `MEMORY`. It may have no memory left to send a message."""

_fork = get_context("fork")


class ChildDied(Exception):
    """The child died or was killed before its work was done. The message is the reason: "crashed with SIGSEGV"."""


def run_in_subprocess(
    work: Callable[[Send], None], *, pending_call: Callable[[], int | None], patience: int | None = None
) -> Iterator[Any]:
    """Call `work` in a child process and yield the objects that it sends.

    `pending_call` returns the number of the call that the child is executing, or None.
    Raises ChildDied if the child crashes, exceeds `MEMORY`, or does not return from a call within `patience` seconds
    (default: `PATIENCE`). Exceptions of `work` are raised here.
    """
    receiver, sender = _fork.Pipe(duplex=False)
    child = _fork.Process(target=_run_child, args=(work, sender), daemon=True)
    with warnings.catch_warnings():
        # Python warns about locks held by other threads. The child does not wait for any of them.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child.start()
    sender.close()
    try:
        done = yield from _receive(receiver, pending_call, patience or PATIENCE)
        if not done:
            child.join()
            raise ChildDied(_exit_reason(child.exitcode or 0))
    finally:
        child.kill()
        child.join()
        receiver.close()


def _receive(receiver: Connection, pending_call: Callable[[], int | None], patience: int) -> Generator[Any, None, bool]:
    """Yield what the child sends. Returns whether the child finished its work."""
    last_call, seconds = None, 0
    while seconds < patience:  # counts polls, because the clock also runs while the computer is suspended
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
        call = pending_call()
        seconds = seconds + 1 if call is not None and call == last_call else 0
        last_call = call
    raise ChildDied(f"did not return within {patience} seconds")


def _run_child(work: Callable[[Send], None], sender: Connection) -> None:
    faulthandler.disable()  # the parent's description is more useful than a list of frames
    lib.pp_report_crashes(ffi.NULL, ffi.NULL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills the child
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    _limit_memory()
    try:
        work(lambda message: sender.send((message,)))
        sender.send(_DONE)
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except Exception as error:
        sender.send(error)
    except SystemExit:
        raise  # the exit code is the reason
    except BaseException as error:  # multiprocessing would print a traceback
        sender.send(ChildDied(f"raised {type(error).__name__} {error}".rstrip()))


def _exit_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _limit_memory() -> None:
    import resource  # not available on Windows

    room = min(MEMORY, available_memory().bytes // 2)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + room, hard))


def _exit_reason(exitcode: int) -> str:
    if exitcode == _OUT_OF_MEMORY:
        return "exceeded the memory limit"
    if exitcode >= 0:
        return f"ended the process with exit code {exitcode}"
    try:
        return f"crashed with {signal.Signals(-exitcode).name}"
    except ValueError:  # a signal without a name
        return f"crashed with signal {-exitcode}"


# Layout of the shared page: the current check, the last call of the kernel, the call in progress.

_CHECK = Struct("<24sQ")
"""Name of the law, position."""
_KERNEL_CALL = Struct("<24sQQ")
"""Function, and its first two arguments or 0. Kept after the call, because corrupted memory may show much later."""
_PENDING = Struct("<QB?24sQQ")
"""Number of calls so far, number of nested calls in progress, whether the innermost is the kernel's, and that call."""
_KERNEL_CALL_AT = _CHECK.size
_PENDING_AT = _KERNEL_CALL_AT + _KERNEL_CALL.size

_NO_ARGUMENTS = ("start", "about", "players", "kernel", "options", "configure", "encode", "walk")
_TIER_ARGUMENT = ("tier_size", "tier_children")
_SLOT_ARGUMENT = ("unrank", "survey")
_MOVE_ARGUMENT = ("apply", "undo", "format_move")

_NO_CALL = (False, b"", 0, 0)


class CallLog:
    """The calls of a game's functions, in memory shared with the processes that are forked later."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._count = 0
        self._calls: list[tuple[bool, bytes, int, int]] = []
        """Calls in progress, the outermost first."""

    # ---- in the child ----

    def attach(self, kernel: Kernel | None = None) -> None:
        """Log all hook calls in this process from now on, and all calls of this kernel."""
        Hooks.watcher = self
        if kernel is not None:
            kernel.watcher = self

    def set_check(self, law: str, position: int | None = None) -> None:
        _CHECK.pack_into(self._page, 0, law.encode(), NO_POSITION if position is None else position)

    def before_hook(self, hook: str, arguments: tuple[Any, ...]) -> None:
        self._push(False, hook, arguments)

    def before_call(self, function: str, arguments: tuple[Any, ...]) -> None:
        """Log a call of the kernel."""
        self._push(True, function, arguments)
        _KERNEL_CALL.pack_into(self._page, _KERNEL_CALL_AT, *self._calls[-1][1:])

    def after_call(self) -> None:
        self._calls.pop()
        self._write_pending()

    def ran_out_of_memory(self) -> None:
        """Exit immediately, because the hook's objects may still occupy all memory."""
        os._exit(_OUT_OF_MEMORY)

    def _push(self, is_kernel: bool, function: str, arguments: tuple[Any, ...]) -> None:
        first, second = (each & NO_POSITION if type(each) is int else 0 for each in (*arguments, 0, 0)[:2])
        self._count += 1
        self._calls.append((is_kernel, function.encode(), first, second))
        self._write_pending()

    def _write_pending(self) -> None:
        innermost = self._calls[-1] if self._calls else _NO_CALL
        _PENDING.pack_into(self._page, _PENDING_AT, self._count, len(self._calls), *innermost)

    # ---- in the parent ----

    def pending_call(self) -> int | None:
        """Return the number of the call in progress, or None."""
        count, depth, *_ = _PENDING.unpack_from(self._page, _PENDING_AT)
        return count if depth else None

    def describe(self, reason: str, name: Callable[[int], str]) -> str:
        """Return a message for an author, with the reason, the call and a way to debug it.

        `name` returns a position as messages show it.
        """
        way = "and press Ctrl-C to see the line" if reason.startswith("did not return") else "to use a debugger"
        return f"{self._describe_call(reason, name)}; set PERFECTPLAY_DEBUG=1 {way}"

    def _describe_call(self, reason: str, name: Callable[[int], str]) -> str:
        _, depth, is_kernel, function, first, second = _PENDING.unpack_from(self._page, _PENDING_AT)
        if is_kernel:
            return f"the kernel {reason} in {self._kernel_call(name)}{self._check(name)}"
        hook = _text(function)
        move = f", move {second}" if hook in _MOVE_ARGUMENT else ""
        where = "" if hook in _NO_ARGUMENTS else f" in {name(first)}{move}"
        subject = f"hook '{hook}'" if hook else "a hook"  # the sweep does not log which
        event = (f"{subject} {reason}{where}" if depth else f"the game {reason}") + self._check(name)
        if hook == "kernel":
            return f"{event}; look at the code that creates the kernel, and at its tier_size"
        if reason.startswith("crashed") and self._page[_KERNEL_CALL_AT]:
            return f"{event}; possible memory corruption in the kernel, last call: {self._kernel_call(name)}"
        return event

    def _kernel_call(self, name: Callable[[int], str]) -> str:
        function, first, second = _KERNEL_CALL.unpack_from(self._page, _KERNEL_CALL_AT)
        function = _text(function)
        if function in _NO_ARGUMENTS:
            return f"'{function}'"
        if function in _TIER_ARGUMENT:
            return f"'{function}' of tier {first}"
        if function in _SLOT_ARGUMENT:
            return f"'{function}' of slot {index_of_slot(first)} of tier {tier_of_slot(first)}"
        move = f", move {second}" if function in _MOVE_ARGUMENT else ""
        return f"'{function}' of {name(first)}{move}"

    def _check(self, name: Callable[[int], str]) -> str:
        law, position = _CHECK.unpack_from(self._page, 0)
        if not _text(law):
            return " while the game was loaded"
        where = "" if position == NO_POSITION else f" of {name(position)}"
        return f" during the check '{_text(law)}'{where}"


def _text(field: bytes) -> str:
    return field.rstrip(b"\0").decode()
