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

    @hookimpl
    def kernel(self) -> Kernel:
        return Kernel(ffi, lib.connect4_kernel, context=self._size)


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return FastConnectFour(options["width"], options["height"], options["mirror"])
