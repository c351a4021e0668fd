"""The graph game's compiled kernel, for the tests of the engine."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def graph_module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The cffi module of graph_kernel.c, built the way a third party builds a kernel."""
    header = (HERE / "graph_kernel.h").read_text()
    ffi = game_ffi(
        "compiled_graph_kernel",
        sources=[str(HERE / "graph_kernel.c")],
        cdef=header[header.index("/* cdef */") : header.index("/* end cdef */")],
        include_dirs=[str(HERE)],
    )
    path = ffi.compile(tmpdir=str(tmp_path_factory.mktemp("graph_kernel")))
    spec = importlib.util.spec_from_file_location("compiled_graph_kernel", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
