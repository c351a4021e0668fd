"""Finds a C compiler and builds shared objects with it.

A compiler that does not work is never an error, only the reason why rules are not compiled. It is called directly,
because setuptools, which builds plugins with a C kernel, would take a second.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from perfectplay.errors import reason
from perfectplay_native.build import INCLUDE

FLAGS = ("-O2", "-std=c11", "-fno-semantic-interposition", "-fPIC", "-shared")
"""As `perfectplay_native.build.COMPILE_ARGS`, without warnings. -O3 takes longer, and solves are not faster."""

VERSION_SECONDS = 10
COMPILE_SECONDS = 60


class NotCompiled(Exception):
    """The rules cannot be compiled. The message is one phrase with the reason."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A working C compiler: its command and the text that it prints for --version."""

    command: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        """The command and the first line of the version, for messages."""
        return f"{shlex.join(self.command)} ({self.version.splitlines()[0]})"

    def build(self, source: Path, target: Path) -> None:
        """Compile one C file to a shared object. Raises NotCompiled."""
        _run([*self.command, *FLAGS, "-I", str(INCLUDE), "-o", str(target), str(source)], COMPILE_SECONDS)
        if not target.is_file():
            raise NotCompiled(f"{shlex.join(self.command)} wrote no file")


def find_compiler() -> Compiler:
    """Return the compiler in $CC, or else the first of cc, gcc, clang and the package ziglang that works.

    Raises NotCompiled if there is none.
    """
    return _find_compiler(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=4)
def _find_compiler(chosen: str, path: str) -> Compiler:
    """Find a compiler. The arguments are the environment variables that the result depends on."""
    failure = NotCompiled("there is no C compiler; install one, or `pip install 'perfectplay[compiler]'`")
    for command in _candidates(chosen):
        try:
            version = _run([*command, "--version"], VERSION_SECONDS)
        except NotCompiled as error:
            failure = error
            continue
        if version.strip():
            return Compiler(command, version)
        failure = NotCompiled(f"{shlex.join(command)} --version prints nothing")
    raise failure


def _candidates(chosen: str) -> Iterator[tuple[str, ...]]:
    if chosen.strip():
        yield tuple(shlex.split(chosen)) if chosen.count('"') % 2 == chosen.count("'") % 2 == 0 else (chosen,)
        return
    for name in ("cc", "gcc", "clang"):
        if program := shutil.which(name):
            yield (program,)
    if find_spec("ziglang") is not None:
        yield (sys.executable, "-m", "ziglang", "cc")


def _run(command: Sequence[str], seconds: float) -> str:
    """Run a command and return its output. Raises NotCompiled if it fails, crashes or takes too long."""
    name = shlex.join(command[:1])
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,  # a compiler has child processes, which must end with it
        )
    except OSError as error:
        raise NotCompiled(f"cannot run {name}: {reason(error)}") from None
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _kill(process)
        raise NotCompiled(f"{name} did not finish within {seconds:g} seconds") from None
    except BaseException:  # Ctrl-C
        _kill(process)
        raise
    if process.returncode < 0:
        raise NotCompiled(f"{name} crashed ({signal.Signals(-process.returncode).name})")
    if process.returncode:
        message = next((line.strip() for line in errors.splitlines() if "error" in line), "")
        message = message or " ".join(errors.split()[:20])
        raise NotCompiled(f"{name} failed with exit code {process.returncode}" + (f": {message}" if message else ""))
    return output


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a process that was started in a separate session, with its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
