"""Runs the static checks: lint, formatting, types and the documentation build.

    .venv/bin/python tools/check.py          check everything
    .venv/bin/python tools/check.py --fix    first format Python, C and JavaScript and fix lint errors

Each check is a separate step. All steps run even if one fails, and the exit status is 1 if any failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHON = sys.executable


def tracked_files(*suffixes: str) -> list[str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listing.stdout.split("\0") if name.endswith(suffixes) and (ROOT / name).is_file()]


def steps(fix: bool, site: str) -> dict[str, list[str]]:
    clang_format = [str(Path(PYTHON).with_name("clang-format")), "--style=file", "--fallback-style=none"]
    prettier = ROOT / "node_modules" / ".bin" / "prettier"  # installed by `npm ci`
    format_javascript = [str(prettier), "--log-level=warn", "--write" if fix else "--check", *tracked_files(".js")]
    return {
        "ruff check": [PYTHON, "-m", "ruff", "check", "--quiet", *(["--fix"] if fix else [])],
        "ruff format": [PYTHON, "-m", "ruff", "format", "--quiet", *([] if fix else ["--check"])],
        "clang-format": [*clang_format, *(["-i"] if fix else ["--dry-run", "--Werror"]), *tracked_files(".c", ".h")],
        **({"prettier": format_javascript} if prettier.exists() else {}),
        "mypy": [PYTHON, "-m", "mypy", "--no-error-summary"],
        "mkdocs": [PYTHON, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", site],
    }


def run(name: str, command: list[str]) -> bool:
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'}  {name}", flush=True)
    return done.returncode == 0


def main() -> int:
    site = tempfile.mkdtemp()
    try:
        results = [run(name, command) for name, command in steps("--fix" in sys.argv[1:], site).items()]
    finally:
        shutil.rmtree(site)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
