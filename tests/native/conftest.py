"""Compiled modules for the tests of the engine: the graph game's kernel, and an engine with a known defect."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from cffi import FFI

import perfectplay_native
from perfectplay_native.build import engine_ffi, kernel_ffi
from perfectplay_native.kernel import Kernel

from .naive_search import NaiveSearch

HERE = Path(__file__).parent
ENGINE = Path(perfectplay_native.__file__).with_name("src")


Shared = Callable[[str, Callable[[Path], object]], Path]


def build_module(ffi: FFI, name: str, shared: Shared) -> ModuleType:
    """Compile a cffi module once for all of pytest-xdist's workers, and import it."""
    (library,) = shared(name, lambda directory: ffi.compile(tmpdir=str(directory))).glob(f"{name}*.so")
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def graph_module(shared: Shared) -> ModuleType:
    """The cffi module of graph_kernel.c, built like the kernel of a third party."""
    sources, header = [str(HERE / "graph_kernel.c")], HERE / "graph_kernel.h"
    ffi = kernel_ffi("compiled_graph_kernel", sources=sources, header=header)
    return build_module(ffi, "compiled_graph_kernel", shared)


@pytest.fixture(scope="session")
def naive_search(shared: Shared) -> Callable[[Kernel], NaiveSearch]:
    """A search whose draws ignore that they depend on the path, from a separate build of the engine."""
    ffi = engine_ffi("naive_engine", ENGINE, compile_args=["-O1", "-DPP_NAIVE_DRAWS"])
    module = build_module(ffi, "naive_engine", shared)
    return lambda kernel: NaiveSearch(module, kernel)
