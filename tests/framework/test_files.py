"""Files are written atomically and synced, and never replace a device."""

from __future__ import annotations

import fcntl
import os
import resource
import shlex
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from perfectplay import export_table, open_table, solve_game
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.files import atomic_write
from perfectplay.game.loading import load_game
from perfectplay.game.match import load_match
from perfectplay.table.gbl2 import read_header
from perfectplay.table.locations import table_path


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    with atomic_write(Path("/dev/null")) as part:
        part.write_bytes(b"gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_fifo_is_written_to_and_not_replaced(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    with atomic_write(fifo) as part:
        part.write_bytes(b"hello")
    reader.join()
    assert received == [b"hello"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def write_to(name: object, text: str, output: str, tmp_path: Path) -> subprocess.CompletedProcess[bytes]:
    """Write a text in a separate process whose standard output is redirected in a shell, as `| cat` or `>> FILE`."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom perfectplay.files import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as part:\n    part.write_text(sys.argv[2])\n"
    )
    words = shlex.join([sys.executable, "-c", code, str(name), text])
    return subprocess.run(f"{words} {output}", shell=True, cwd=tmp_path, capture_output=True)


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_is_written_through(tmp_path, name):
    (tmp_path / "link").symlink_to("/dev/stdout")
    (tmp_path / "log").write_text("before ")
    assert write_to(name, "piped", "| cat", tmp_path).stdout == b"piped"
    done = write_to(name, "appended", ">> log", tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "log").read_text() == "before appended"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "log"]


def test_a_closed_pipe_ends_the_export_quietly(install, codes, tmp_path):
    install("tictactoe", codes.tic_tac_toe)
    environment = {**os.environ, "PYTHONPATH": str(install.path), "PERFECTPLAY_TABLES": str(tmp_path / "tables")}
    solve = shlex.join([sys.executable, "-m", "perfectplay"])
    script = f"{solve} tictactoe >/dev/null && {solve} export tictactoe csv - | head -1"
    done = subprocess.run(script, shell=True, capture_output=True, env=environment, cwd=tmp_path, text=True)
    assert done.stdout == "position,text,to_move,outcome,remoteness\n"
    assert "internal error" not in done.stderr
    whole = subprocess.run(
        f"{solve} export tictactoe csv -", shell=True, capture_output=True, env=environment, text=True
    )
    assert len(whole.stdout.splitlines()) == 766
    assert "-: 765 positions" in whole.stderr
    refused = subprocess.run(f"{solve} export tictactoe csv - --json", shell=True, capture_output=True, env=environment)
    assert (refused.returncode, refused.stdout) == (2, b"")


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    file = tmp_path / "secret.csv"
    file.write_text("old")
    file.chmod(0o600)
    with atomic_write(file) as part:
        part.write_text("new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_interrupt_during_the_removal_leaves_no_temporary_file(tmp_path):
    """The second Ctrl-C may arrive while the temporary file is removed."""
    code = (
        "from pathlib import Path\nfrom perfectplay.files import atomic_write\n"
        "unlink = Path.unlink\n"
        "def interrupt(path, missing_ok=False):\n    Path.unlink = unlink\n    raise KeyboardInterrupt\n"
        "with atomic_write(Path('out.csv')) as part:\n    Path.unlink = interrupt\n    raise KeyboardInterrupt\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "KeyboardInterrupt" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read", [read_header, lambda path: load_match(load_game("connect4"), path)])
def test_a_fifo_is_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="not a regular file"):
        read(tmp_path / "fifo")


def test_a_name_that_is_not_valid_text_can_be_exported_to(tic_tac_toe, tmp_path):
    pytest.importorskip("pyarrow")
    solve_game(tic_tac_toe, directory=tmp_path).table.close()
    with open_table(tic_tac_toe, table_path(tic_tac_toe, tmp_path)) as table:
        for kind in ("csv", "gbl2", "sqlite", "parquet"):
            name = os.fsencode(tmp_path) + b"/caf\xe9." + kind.encode()
            export_table(table, kind, Path(os.fsdecode(name)))
            assert os.stat(name).st_size > 0


def test_a_symbolic_link_is_followed_and_kept(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    with atomic_write(tmp_path / "link.csv") as part:
        part.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"


def test_a_broken_link_names_the_missing_directory(tmp_path):
    (tmp_path / "link.csv").symlink_to("none/x.csv")
    with (
        pytest.raises(UsageError, match=f"there is no directory {tmp_path}/none to write x.csv to"),
        atomic_write(tmp_path / "link.csv"),
    ):
        pass


def test_a_socket_or_directory_is_rejected(tmp_path):
    import socket

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        with pytest.raises(UsageError, match="is not a regular file"), atomic_write(tmp_path / "socket"):
            pass
    with pytest.raises(UsageError, match="is a directory"), atomic_write(tmp_path):
        pass


def test_only_leftovers_of_killed_writers_are_removed(tmp_path):
    (tmp_path / ".out.csv.dead.part").write_text("half")
    live = tmp_path / ".out.csv.live.part"
    live.write_text("half")
    with live.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with atomic_write(tmp_path / "out.csv") as part:
            part.write_text("whole")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".out.csv.live.part", "out.csv"]


def test_the_contents_are_synced_before_the_rename_and_the_directory_after(tmp_path, monkeypatch):
    steps: list[str] = []
    sync, rename = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("fsync"), sync(file)))
    monkeypatch.setattr(Path, "replace", lambda part, target: (steps.append("rename"), rename(part, target)))
    with atomic_write(tmp_path / "out") as part:
        part.write_text("x")
    assert steps == ["fsync", "rename", "fsync"]


@pytest.mark.parametrize("kind", ["csv", "gbl2", "sqlite", "parquet"])
def test_a_failed_export_raises_one_error_and_leaves_no_file(tic_tac_toe, tmp_path, kind):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    solve_game(tic_tac_toe, directory=tmp_path).table.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open_table(tic_tac_toe, table_path(tic_tac_toe, tmp_path)) as table:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            with pytest.raises(PerfectPlayError, match="cannot write"):
                export_table(table, kind, tmp_path / "out")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
    assert [file.name for file in tmp_path.iterdir()] == ["tictactoe"]
