"""Finding a C compiler, and the cache of compiled rules: whatever goes wrong, it is a reason and not an error."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from perfectplay import make_game
from perfectplay.compile import cache, compiler
from perfectplay.compile.compiler import Compiler, NotCompiled, find_compiler
from perfectplay.compile.kernel import compile_rules

from .handwritten import Take

SOURCE = '#include "perfectplay.h"\nint answer(void) { return PP_ABI; }\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory."""
    tmp_path.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("CC", raising=False)
    compiler._find_compiler.cache_clear()
    cache.temporary_directory.cache_clear()
    return tmp_path


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are compiled during a test."""
    targets: list[Path] = []
    build = Compiler.build

    def record(self: Compiler, source: Path, target: Path) -> None:
        targets.append(target)
        build(self, source, target)

    monkeypatch.setattr(Compiler, "build", record)
    return targets


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """program(text): the path of a shell script."""

    def write(text: str) -> str:
        path = tmp_path / "fake-cc"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return write


# ---- the compiler ----


def test_cc_is_found_and_its_version_is_known() -> None:
    found = find_compiler()
    assert os.access(found.command[0], os.X_OK)
    assert found.version.strip()


def test_without_a_compiler_the_reason_is_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    with pytest.raises(NotCompiled, match=r"no C compiler.*perfectplay\[compiler\]"):
        find_compiler()


def test_the_pip_package_of_zig_is_used_if_there_is_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "find_spec", lambda name: object() if name == "ziglang" else None)
    (tmp_path / "ziglang").mkdir()
    (tmp_path / "ziglang" / "__main__.py").write_text("import sys; print('zig', *sys.argv[1:])")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = find_compiler()
    assert found.command == (sys.executable, "-m", "ziglang", "cc")
    assert found.version == "zig cc --version\n"


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 3", "exit code 3"), ("kill -SEGV $$", "SIGSEGV"), ("kill -KILL $$", "SIGKILL"), ("true", "prints nothing")],
)
def test_a_compiler_that_does_not_run(
    script: str, words: str, program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", program(script))
    with pytest.raises(NotCompiled, match=words):
        find_compiler()


def test_a_chosen_compiler_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(NotCompiled, match="/nowhere/cc"):
        find_compiler()


def test_a_chosen_compiler_may_have_arguments(program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{program('echo version $@')} -m64")
    assert find_compiler().version == "version -m64 --version\n"


@pytest.mark.parametrize("quote", ["'", '"'])
def test_an_unclosed_quote_in_cc_is_a_name(quote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"cc {quote}")
    with pytest.raises(NotCompiled, match="cannot run"):
        find_compiler()


FAILURES = {
    "exit code 1: file.c:1: error: no": "echo 'file.c:1: error: no' >&2; exit 1",
    "SIGSEGV": "kill -SEGV $$",
    "wrote no file": "true",
    "within 0.5 seconds": "sleep 60 & sleep 60",
}


@pytest.mark.parametrize("words", FAILURES)
def test_a_compiler_that_fails_crashes_or_hangs(
    words: str, program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "COMPILE_SECONDS", 0.5)
    script = f'if [ "$1" = --version ]; then echo fake; else {FAILURES[words]}; fi'
    monkeypatch.setenv("CC", program(script))
    started = time.monotonic()
    with pytest.raises(NotCompiled, match=words):
        cache.cached_object(SOURCE, find_compiler())
    assert time.monotonic() - started < 20
    assert list(cache.find_directory().iterdir()) == []


@pytest.mark.parametrize("write", ["echo nonsense >", "echo 'int x;' | cc -shared -x c - -o"])
def test_a_compiler_that_writes_something_else(
    write: str, program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game(Take(), name="take")
    words = 'while [ "$1" != -o ]; do shift; done'
    fake = program(f'[ "$1" = --version ] && echo 1.0 && exit; {words}; {write} "$2"')
    monkeypatch.setenv("CC", fake)
    with pytest.raises(NotCompiled, match="fake-cc wrote a file that cannot be loaded"):
        compile_rules(game)
    assert not list(cache.find_directory().glob("*.so"))


def test_a_wrong_c_text_is_a_reason() -> None:
    with pytest.raises(NotCompiled, match="error"):
        cache.cached_object("int f(void) { return undeclared; }", find_compiler())


# ---- the cache ----


def test_a_text_is_compiled_once(home: Path, builds: list[Path]) -> None:
    first = cache.cached_object(SOURCE, find_compiler())
    assert cache.cached_object(SOURCE, find_compiler()) == first
    assert len(builds) == 1
    assert first.parent == home / ".cache" / "perfectplay" / "kernels"
    assert stat.S_IMODE(first.parent.stat().st_mode) == 0o700
    assert [path.name for path in first.parent.iterdir()] == [first.name]


def test_another_text_compiler_or_abi_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_compiler()
    paths = [cache.cached_object(SOURCE, found), cache.cached_object(SOURCE + "\n", found)]
    paths.append(cache.cached_object(SOURCE, Compiler(found.command, "version 2")))
    monkeypatch.setattr(cache, "ABI", 1000)
    paths.append(cache.cached_object(SOURCE, found))
    monkeypatch.setattr(cache, "FLAGS", (*cache.FLAGS, "-DX"))
    paths.append(cache.cached_object(SOURCE, found))
    assert len({path.name.split("-")[0] for path in paths}) == 5


@pytest.mark.parametrize("damage", [b"", b"\0" * 5000, None])
def test_a_damaged_file_is_compiled_again(damage: bytes | None, builds: list[Path]) -> None:
    path = cache.cached_object(SOURCE, find_compiler())
    path.write_bytes(path.read_bytes()[:-1] + b"\1" if damage is None else damage)
    again = cache.cached_object(SOURCE, find_compiler())
    assert len(builds) == 2
    assert cache._find(again.parent, again.name.split("-")[0]) == again


def test_a_link_to_another_file_is_not_loaded(tmp_path: Path, builds: list[Path]) -> None:
    path = cache.cached_object(SOURCE, find_compiler())
    path.rename(tmp_path / "elsewhere.so")
    path.symlink_to(tmp_path / "elsewhere.so")
    assert not cache.cached_object(SOURCE, find_compiler()).is_symlink()
    assert len(builds) == 2


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_directory_that_others_can_write_is_not_used(home: Path, mode: int) -> None:
    kernels = home / ".cache" / "perfectplay" / "kernels"
    kernels.mkdir(parents=True)
    kernels.chmod(mode)
    path = cache.cached_object(SOURCE, find_compiler())
    assert kernels not in path.parents
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(kernels.iterdir()) == []


def test_a_directory_of_another_user_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.getuid()
    (home / ".cache" / "perfectplay" / "kernels").mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert cache.find_directory() == cache.temporary_directory()


def test_a_directory_that_others_can_replace_is_not_used(home: Path) -> None:
    (home / ".cache").mkdir()
    (home / ".cache").chmod(0o777)
    assert cache.find_directory() == cache.temporary_directory()
    (home / ".cache").chmod(0o1777)  # the sticky bit protects it
    assert cache.find_directory() == home / ".cache" / "perfectplay" / "kernels"


def test_without_a_usable_home_a_temporary_directory_is_used(home: Path) -> None:
    (home / ".cache").write_text("not a directory")
    path = cache.cached_object(SOURCE, find_compiler())
    assert path.parent == cache.temporary_directory()


def test_a_full_or_read_only_directory_is_replaced_by_a_temporary_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_only = cache.find_directory()
    add = cache._add

    def fail(directory: Path, *arguments: object) -> Path:
        if directory == read_only:
            raise OSError(30, "Read-only file system")
        return add(directory, *arguments)

    monkeypatch.setattr(cache, "_add", fail)
    assert cache.cached_object(SOURCE, find_compiler()).parent == cache.temporary_directory()


def test_the_temporary_directory_is_removed_at_the_end() -> None:
    code = "from perfectplay.compile import cache; print(cache.temporary_directory())"
    directory = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert directory.strip()
    assert not Path(directory.strip()).exists()


def test_the_least_recently_used_files_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_compiler()
    paths = [cache.cached_object(SOURCE + "\n" * number, found) for number in range(3)]
    for age, path in enumerate(paths):
        os.utime(path, (1000 + age, 1000 + age))
    cache.cached_object(SOURCE, found)  # used again
    monkeypatch.setattr(cache, "MAX_BYTES", 3 * paths[0].stat().st_size + 100)
    newest = cache.cached_object(SOURCE + "// new", found)
    assert [path.exists() for path in (*paths, newest)] == [True, False, True, True]


def test_folders_of_killed_processes_are_removed() -> None:
    folder = cache.find_directory() / ".new-killed"
    folder.mkdir()
    (folder / "rules.c").write_text("")
    os.utime(folder, (1000, 1000))
    cache.cached_object(SOURCE, find_compiler())
    assert not folder.exists()


def test_several_processes_fill_the_cache_at_once(home: Path) -> None:
    code = (
        "import sys; from perfectplay.compile import cache, compiler\n"
        f"for n in range(3): cache.cached_object({SOURCE!r} + chr(10) * n, compiler.find_compiler())"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate()[1] for process in processes] == [b""] * 4
    files = list(cache.find_directory().iterdir())
    assert len(files) >= 3
    assert all(cache._find(path.parent, path.name.split("-")[0]) for path in files)
