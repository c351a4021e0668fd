"""One size of Quixo: rules from the C kernel, texts and board from here."""

from __future__ import annotations

from perfectplay import hookimpl
from perfectplay_native.kernel import Kernel
from perfectplay_quixo._kernel import ffi, lib


class Quixo:
    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        tables = lib.quixo_board_new(width, height)
        if tables == ffi.NULL:
            raise MemoryError("there is not enough memory for the tables of the board")
        # All three live as long as this object does.
        self._tables = ffi.gc(tables, lib.quixo_board_free)
        self._struct = ffi.new("pp_kernel *", lib.quixo_kernel)
        self._struct.context = self._tables
        cells = width * height
        self._struct.tier_count = (cells + 1) * (cells + 2) // 2
        self._kernel = Kernel(ffi, self._struct)

    @hookimpl
    def kernel(self) -> Kernel:
        return self._kernel
