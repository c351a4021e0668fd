"""Files are written atomically and synced, and never replace a device."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import stat
import threading
from pathlib import Path

import pytest

from perfectplay import export_table, open_table, solve_game
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.files import atomic_write
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
