"""Workers as Ray actors: started, asked, replaced when they die. Nothing else imports Ray."""

from __future__ import annotations

import inspect
import os
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from perfectplay.cluster.messages import DamagedMessage, GameSpec, Ref
from perfectplay.cluster.worker import Worker
from perfectplay.errors import Interrupted, PerfectPlayError, UsageError
from perfectplay.solve.options import Cluster

POLL_SECONDS = 0.2
START_SECONDS = 60.0
"""How long a worker of a cluster may take to start; after this we go on without it."""

OWN_START_SECONDS = 600.0
"""The same of a Ray that we start, and of each of its processes: the cores are there, but may have much to do."""

START_TRIES = 5
"""So often we start a Ray here: processes of it wait only 15 seconds for each other, and then it ends."""

ANSWER_SECONDS = 10.0
"""How long the head of a cluster may take to answer."""

NODE_SECONDS = 0.01
"""How often we look whether a Ray that starts is there."""

_OPTIONS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # A Ray that starts looks for its own object store a moment too early, and then would sleep for a second.
    "RAY_raylet_client_connect_timeout_milliseconds": "20",
    "RAY_raylet_client_num_connect_attempts": "3000",  # a minute, on a machine with much to do
    # Its processes have half a minute or a whole one, which on a machine with much to do is not enough.
    "RAY_gcs_server_port_wait_time_s": f"{OWN_START_SECONDS:.0f}",
    "RAY_agent_register_timeout_ms": f"{1000 * OWN_START_SECONDS:.0f}",
    "RAY_worker_register_timeout_seconds": f"{OWN_START_SECONDS:.0f}",
    "RAY_worker_niceness": "0",  # workers are the solve itself: they come after nobody
}

_FEWER_PROCESSES = {"no_monitor": True, "include_log_monitor": False}


class WorkerLost(Exception):
    """A worker died, or what it had made is lost or damaged: the component must be solved again."""


def load_ray() -> Any:
    """The module; UsageError that says what to install where it is missing."""
    for name, value in _OPTIONS.items():
        os.environ.setdefault(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Ray's own making
            import ray
            import ray.exceptions
    except ImportError as error:
        raise UsageError(f"workers need Ray ({error}): pip install 'perfectplay[ray]'") from None
    return ray


@contextmanager
def _bare(ray: Any, check: Callable[[], None]) -> Iterator[None]:
    """Let `ray.init` start what workers need, and no more; `check` is called while it waits.

    It has no options for that: without, three processes of Ray's own (which count the machines of a cloud, collect logs
    and serve a page) take two seconds to start and to end. A Ray that is made otherwise inside starts them.
    """
    parameters, services, state = ray._private.parameter, ray._private.services, ray._private.state
    known = inspect.signature(parameters.RayParams).parameters
    less = {name: value for name, value in _FEWER_PROCESSES.items() if name in known}
    started: list[Any] = []
    try:
        with (
            _replaced(parameters, "RayParams", lambda made: partial(made, **less)),
            _replaced(services, "start_api_server", lambda _: lambda *_, **__: (None, None)),  # as if it failed to
            _replaced(services, "start_ray_process", partial(_noting, started)),
            _replaced(state.GlobalState, "get_node", partial(_patient, started, check)),
        ):
            yield
    except BaseException:
        for each in started:
            each.process.kill()
            each.process.wait()
        raise


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Meanwhile something of Ray's is what `make` makes of it, if there is such a thing."""
    kept = getattr(owner, name, None)
    if kept is not None:
        setattr(owner, name, make(kept))
    try:
        yield
    finally:
        if kept is not None:
            setattr(owner, name, kept)


def _noting(started: list[Any], start: Callable[..., Any]) -> Callable[..., Any]:
    """`start_ray_process`, which then is noted."""

    def begin(*arguments: Any, **more: Any) -> Any:
        started.append(start(*arguments, **more))
        return started[-1]

    return begin


def _patient(
    started: list[Any], check: Callable[[], None], get_node: Callable[[Any, str], Any]
) -> Callable[[Any, str], Any]:
    """`get_node` once the node is there.

    By itself it looks a moment too early, then sleeps for a second, and soon gives up.
    """

    def found(state: Any, node_id: str) -> Any:
        deadline = time.monotonic() + OWN_START_SECONDS
        while not any(node["NodeID"] == node_id for node in state.node_table()):
            check()
            if time.monotonic() > deadline or any(each.process.poll() is not None for each in started):
                raise PerfectPlayError("one of its processes ended, or is not ready yet")
            time.sleep(NODE_SECONDS)
        return get_node(state, node_id)

    return found


@contextmanager
def _own_signals(meanwhile: signal.Handlers | None = None) -> Iterator[None]:
    """Keep our handlers of Ctrl-C and SIGTERM, which Ray takes over; `meanwhile` is put in their place."""
    main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        for number in handlers if meanwhile is not None else ():
            signal.signal(number, meanwhile)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _require_answer(address: str) -> None:
    """PerfectPlayError where nobody answers at HOST:PORT: Ray itself would take minutes to say so."""
    host, _, port = address.rpartition(":")
    if not port.isdigit() or "://" in address:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise PerfectPlayError(
            f"nobody answers at {address} ({error}): start a cluster there with `ray start --head`"
        ) from None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


class RayPool:
    """The workers of one solve. `tell` is called while we wait, and `stop` ends the wait."""

    def __init__(
        self, cluster: Cluster, spec: GameSpec, memory: int | None, stop: threading.Event, tell: Callable[[], None]
    ) -> None:
        self._ray = load_ray()
        self._memory, self._stop, self._tell = memory, stop, tell
        self._actors: list[Any] = []
        self.pids: list[int] = []
        """The workers' processes, each on its own machine."""
        self._own = False
        self._patience = OWN_START_SECONDS if cluster.address is None else START_SECONDS
        self._connect(cluster)
        try:
            self._wanted = cluster.workers or self._cores()
            self._actor = self._ray.remote(Worker)
            self._ray_spec = self._ray.put(spec)
            self.revive()
        except BaseException:
            self.close()
            raise

    def _connect(self, cluster: Cluster) -> None:
        if self._ray.is_initialized():
            return
        if cluster.address is None:
            cores = cluster.workers or os.cpu_count()
            self._start({"address": "local", "num_cpus": cores, "include_dashboard": False})
        else:
            self._join(cluster.address)
        self._own = True

    def _start(self, where: dict[str, Any]) -> None:
        for left in reversed(range(START_TRIES)):
            try:
                with _bare(self._ray, self._check_stop):
                    self._init(where)
                return
            except Exception as error:  # Ray has many ways to say it
                self._check_stop()
                if not left:
                    raise PerfectPlayError(f"cannot start Ray here: {_short(error)}") from None

    def _join(self, address: str) -> None:
        _require_answer(address)
        try:
            self._init({"address": address})
        except Exception as error:
            raise PerfectPlayError(
                f"cannot join the cluster at {address}: {_short(error)}; if it runs there, it may want a token: set "
                f"RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to what the cluster was started with"
            ) from None

    def _init(self, where: dict[str, Any]) -> None:
        with warnings.catch_warnings(), _own_signals():
            warnings.simplefilter("ignore")
            self._ray.init(log_to_driver=False, logging_level="ERROR", **where)

    def _cores(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def size(self) -> int:
        return len(self._actors)

    def revive(self) -> None:
        """Begin with fresh workers: as many as wanted, or as the cluster still has room for."""
        for actor in self._actors:
            self._ray.kill(actor)
        options = {"num_cpus": 1, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        count = min(self._wanted, self._cores())  # a lost node took its cores along
        new = [self._actor.options(**options).remote(self._ray_spec, self._memory) for _ in range(count)]
        greetings = {actor.hello.remote(): actor for actor in new}
        waiting, deadline = list(greetings), time.monotonic() + self._patience
        self._actors = new
        ready: list[Any] = []
        while waiting and time.monotonic() < deadline:
            done, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=POLL_SECONDS)
            ready += done
            self._check_stop()
        self._actors, self.pids = [], []
        for greeting in greetings:  # in their order
            actor = greetings[greeting]
            try:
                if greeting not in ready:
                    raise WorkerLost
                self.pids.append(self._value(greeting)["pid"])
                self._actors.append(actor)
            except WorkerLost:
                self._ray.kill(actor)
        if not self._actors:
            waited = f"{self._patience:.0f} seconds"
            raise PerfectPlayError(f"Ray could not start a worker within {waited}: does the cluster have a free core?")

    # ---- asking ----

    def put(self, value: Any) -> Ref:
        return self._ray.put(value)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        """Ask a worker; what comes back are references, a list of them where `returns` is more than 1."""
        return getattr(self._actors[worker], method).options(num_returns=returns).remote(*arguments)

    def wait(self, refs: Sequence[Ref]) -> list[Ref]:
        """Those of the references that are there; at least one."""
        while True:
            done, _ = self._ray.wait(list(refs), num_returns=1, timeout=POLL_SECONDS)
            self._check_stop()
            if done:
                return list(done)

    def get(self, refs: Sequence[Ref]) -> list[Any]:
        """The values; WorkerLost where one cannot be had any more."""
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
                raise WorkerLost(str(cause)) from None
            raise cause from None
        except errors.RayError as error:
            raise WorkerLost(" ".join(str(error).split())[:200]) from None

    def _check_stop(self) -> None:
        self._tell()
        if self._stop.is_set():
            raise Interrupted("interrupted")

    def close(self) -> None:
        """End the workers, and Ray where it was started or joined for this."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._own:
            with _own_signals(signal.SIG_IGN):  # it takes half a second, and stopped midway leaves processes behind
                self._ray.shutdown()
