"""A weak solver with a known defect, which shows that the tests of the real one would find it."""

from __future__ import annotations

from types import ModuleType

from perfectplay_native._engine import ffi as engine_ffi

from perfectplay_native.kernel import Kernel


class NaiveSearch:
    """Stores draws by repetition at once, as if they held on every path. So its draws may be wrong."""

    def __init__(self, module: ModuleType, kernel: Kernel) -> None:
        self._ffi, self._lib, self._kernel = module.ffi, module.lib, kernel
        address = self._ffi.cast("const pp_kernel *", int(engine_ffi.cast("uintptr_t", kernel.c)))
        self._c = self._ffi.gc(self._lib.pp_search_new(address), self._lib.pp_search_free)

    def run(self, position: int) -> NaiveSearch:
        assert self._lib.pp_search_run(self._c, position) == self._lib.PP_OK
        return self

    def outcome(self, position: int) -> int:
        return int(self._lib.pp_search_outcome(self._c, position))

    def entries(self) -> dict[int, int]:
        """The outcome of each position in the table."""
        count = self._lib.pp_search_progress(self._c).unique
        positions, outcomes = self._ffi.new("pp_position[]", count), self._ffi.new("uint8_t[]", count)
        self._lib.pp_search_entries(self._c, positions, outcomes)
        return dict(zip(positions, outcomes, strict=True))
