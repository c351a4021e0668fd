"""The pool of workers as Ray actors: starts them, calls them and replaces those that die. Only this module uses Ray."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from perfectplay.cluster.messages import DamagedMessage, GameSource, Ref, WorkerInfo, find_source
from perfectplay.cluster.worker import Worker
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game.game import Game
from perfectplay.solve.options import Cluster
from perfectplay.threads import check_stop

POLL_SECONDS = 0.2

START_ATTEMPTS = 3
"""How often to try starting a local Ray. Its processes wait only 15 s for each other, so a busy machine may need it."""

WORKER_START_SECONDS = 60.0
"""How long a worker of a running cluster may take to start; the solve continues without one that takes longer."""

LOCAL_START_SECONDS = 600.0
"""The same for a Ray started here, whose cores are known to exist but may be busy."""

CONNECT_SECONDS = 10.0
"""How long the head of a cluster may take to accept a connection."""


class WorkerLost(Exception):
    """A worker died, or its result is lost or damaged, so that the component must be solved again."""


class Pool(Protocol):
    """The workers as the driver sees them: `RayPool`, or in tests workers in the same process."""

    @property
    def size(self) -> int: ...
    def put(self, value: Any) -> Ref: ...
    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any: ...
    def wait(self, refs: Sequence[Ref]) -> list[Ref]: ...
    def get(self, refs: Sequence[Ref]) -> list[Any]: ...
    def restart(self) -> None: ...
    def close(self) -> None: ...


def sum_cpu_seconds(pool: Pool) -> float:
    """Return the processor time of all workers since they started."""
    workers: list[WorkerInfo] = pool.get([pool.call(worker, "describe") for worker in range(pool.size)])
    return sum(worker.cpu_seconds for worker in workers)


LOOPBACK_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""With the value 0, a Ray that is started here uses the address 127.0.0.1, as it does on macOS. Read at import."""


def load_ray(cluster: Cluster) -> Any:
    """Return the module; raise UsageError if Ray is not installed.

    If the cluster has no address, the Ray that will be started on this machine accepts connections from this machine
    only, with a token. The token is in the environment of Ray's processes, which other users cannot read. Ray
    reads these settings when it is imported, so a program that has imported it before keeps its own.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # documented: no usage reports over the network
    if cluster.address is None and "ray" not in sys.modules:
        os.environ.setdefault(LOOPBACK_ONLY, "0")
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
            import ray.exceptions
    except ImportError as error:
        raise UsageError(f"workers need Ray ({error}); run: pip install 'perfectplay[ray]'") from None
    return ray


@contextmanager
def _temporary_directory() -> Iterator[None]:
    """Let a Ray that is started meanwhile keep its files in a new directory, which is removed at the end."""
    before = os.environ.get("RAY_TMPDIR")
    with tempfile.TemporaryDirectory(prefix="pp-", dir=before, ignore_cleanup_errors=True) as directory:
        os.environ["RAY_TMPDIR"] = directory
        try:
            yield
        finally:
            os.environ.pop("RAY_TMPDIR")
            if before is not None:
                os.environ["RAY_TMPDIR"] = before


@contextmanager
def _restore_signals(temporary: signal.Handlers | None = None) -> Iterator[None]:
    """Restore the handlers of Ctrl-C and SIGTERM, which Ray replaces; `temporary` is set in the meantime."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if in_main_thread else ()
    handlers = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in handlers if temporary is not None else ():
            signal.signal(number, temporary)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _require_reachable(address: str) -> None:
    """Raise PerfectPlayError if nothing listens at HOST:PORT. Ray itself would retry for minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdigit() or "://" in address:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise PerfectPlayError(
            f"no Ray cluster is reachable at {address} ({error}); start one there with `ray start --head`"
        ) from None


def _shorten(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


class RayPool:
    """The workers of one solve. `report` is called during waits, and setting `stop` ends them with Interrupted."""

    def __init__(
        self,
        cluster: Cluster,
        game: Game | GameSource,
        memory: int | None,
        stop: threading.Event,
        report: Callable[[], None],
    ) -> None:
        source = find_source(game) if isinstance(game, Game) else game
        self._ray = load_ray(cluster)
        self._resources = ExitStack()
        self._memory, self._stop, self._report = memory, stop, report
        self._actors: list[Any] = []
        self.pids: list[int] = []
        """The process of each worker on its machine."""
        self._start_seconds = LOCAL_START_SECONDS if cluster.address is None else WORKER_START_SECONDS
        self._owns_ray = not self._ray.is_initialized()
        if self._owns_ray:
            self._connect(cluster)
        try:
            self._target_size = cluster.workers or self._cores()
            self._actor_class = self._ray.remote(Worker)
            self._source = self._ray.put(source)
            self.restart()
        except BaseException:
            self.close()
            raise

    def _connect(self, cluster: Cluster) -> None:
        if cluster.address is None:
            self._resources.enter_context(_temporary_directory())
            try:
                self._start_ray(cluster.workers or os.cpu_count())
            except BaseException:
                self._resources.close()
                raise
            return
        if os.environ.get(LOOPBACK_ONLY) == "0":
            raise PerfectPlayError(
                f"this process has loaded Ray for this machine only ({LOOPBACK_ONLY}=0); join a cluster in another one"
            )
        _require_reachable(cluster.address)
        try:
            self._init_ray(address=cluster.address)
        except Exception as error:
            raise PerfectPlayError(
                f"cannot join the cluster at {cluster.address}: {_shorten(error)}; if the cluster requires a token, "
                f"set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token it was started with"
            ) from None

    def _start_ray(self, cores: int | None) -> None:
        for attempt in range(1, START_ATTEMPTS + 1):
            try:
                self._init_ray(address="local", num_cpus=cores, include_dashboard=False)
                return
            except Exception as error:  # Ray raises many types
                self._ray.shutdown()
                self._check_stop()
                if attempt == START_ATTEMPTS:
                    raise PerfectPlayError(f"cannot start Ray on this machine: {_shorten(error)}") from None

    def _init_ray(self, **arguments: Any) -> None:
        with warnings.catch_warnings(), _restore_signals():
            warnings.simplefilter("ignore")
            self._ray.init(log_to_driver=False, logging_level="ERROR", **arguments)

    def _cores(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def size(self) -> int:
        return len(self._actors)

    def restart(self) -> None:
        """Replace all workers by new ones: as many as requested, or as the cluster still has cores."""
        for actor in self._actors:
            self._ray.kill(actor)
        options = {"num_cpus": 1, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        count = min(self._target_size, self._cores())  # a lost machine has taken its cores with it
        self._actors = [self._actor_class.options(**options).remote(self._source, self._memory) for _ in range(count)]
        replies = {actor.describe.remote(): actor for actor in self._actors}
        waiting, deadline = list(replies), time.monotonic() + self._start_seconds
        while waiting and time.monotonic() < deadline:
            _, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=POLL_SECONDS)
            self._check_stop()
        self._actors, self.pids = [], []
        for reply, actor in replies.items():
            try:
                if reply in waiting:
                    raise WorkerLost
                self.pids.append(self._value(reply).pid)
                self._actors.append(actor)
            except WorkerLost:
                self._ray.kill(actor)
        if not self._actors:
            raise PerfectPlayError(
                f"Ray could not start a worker within {self._start_seconds:.0f} seconds; check that the cluster has a "
                f"free core"
            )

    # ---- calls ----

    def put(self, value: Any) -> Ref:
        return self._ray.put(value)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        """Call a worker's method; return a reference to its result, or `returns` references to a tuple's parts."""
        return getattr(self._actors[worker], method).options(num_returns=returns).remote(*arguments)

    def wait(self, refs: Sequence[Ref]) -> list[Ref]:
        """Wait for at least one of the references; return those that are ready."""
        while True:
            ready, _ = self._ray.wait(list(refs), num_returns=1, timeout=POLL_SECONDS)
            self._check_stop()
            if ready:
                return list(ready)

    def get(self, refs: Sequence[Ref]) -> list[Any]:
        """Wait for all references and return their values; raise WorkerLost if one is no longer available."""
        waiting = list(refs)
        while waiting:
            _, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=POLL_SECONDS)
            self._check_stop()
        return [self._value(ref) for ref in refs]

    def _value(self, ref: Ref) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, (errors.RayError, DamagedMessage)):
                raise WorkerLost(_shorten(cause)) from None
            raise cause from None
        except errors.RayError as error:
            raise WorkerLost(_shorten(error)) from None

    def _check_stop(self) -> None:
        self._report()
        check_stop(self._stop)

    def close(self) -> None:
        """Stop the workers, and disconnect from Ray unless it was initialized by the caller."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._owns_ray:
            with _restore_signals(signal.SIG_IGN):  # interrupting a shutdown would leave processes behind
                self._ray.shutdown()
                self._resources.close()
