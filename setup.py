"""Everything that depends on which games exist. Packages and C extensions are found by looking into games/.

A new game only needs an entry under `perfectplay.games` in pyproject.toml.
"""

import sys
from glob import glob

from setuptools import find_packages, setup

sys.path.insert(0, "native")  # build scripts import perfectplay_native.build, as those of third parties do

packages: list[str] = []
package_dir: dict[str, str] = {}
for directory in ("framework", "native", *sorted(glob("games/*"))):
    names = find_packages(directory, include=["perfectplay*"])
    packages += names
    package_dir |= {name: f"{directory}/{name}" for name in names if "." not in name}

build_scripts = ["native/perfectplay_native/build_engine.py", *sorted(glob("games/*/perfectplay_*/build_kernel.py"))]

setup(packages=packages, package_dir=package_dir, cffi_modules=[f"{script}:ffi" for script in build_scripts])
