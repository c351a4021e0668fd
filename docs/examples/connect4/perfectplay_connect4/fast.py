"""The plugin with the kernel in C: texts and board still come from the Python rules."""

from collections.abc import Mapping
from typing import Any

from perfectplay import hookimpl
from perfectplay_native.kernel import Kernel

from perfectplay_connect4._kernel import ffi, lib
from perfectplay_connect4.plugin import options
from perfectplay_connect4.rules import ConnectFour

__all__ = ["configure", "options"]


class FastConnectFour(ConnectFour):
    """The same game. `solve check` compares every rule in C with its Python twin."""

    def __init__(self, width: int, height: int, mirror: bool) -> None:
        super().__init__(width, height, mirror)
        self._size = ffi.new("connect4_size *", {"width": width, "height": height, "mirror": mirror})
        self._struct = ffi.new("pp_kernel *", lib.connect4_kernel)
        self._struct.context = self._size  # both live as long as this object does

    @hookimpl
    def kernel(self) -> Kernel:
        return Kernel(ffi, self._struct)


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return FastConnectFour(options["width"], options["height"], options["mirror"])
