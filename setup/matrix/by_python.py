# SPDX-License-Identifier: Apache-2.0
"""Tries another Python: the set-up as a user has it, every module imported, tests of the tool.

The set-up installs the locked packages, and compiles the modules in C++ for that Python; it is made
in a folder of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from setup.distributions import ROOT, WHEELS
from setup.matrix.entries import ByPython
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial, plain_environment

IMPORTS = """
import importlib, pkgutil, takt
names = [one.name for one in pkgutil.walk_packages(takt.__path__, "takt.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
PASSED, FAILED, SKIPPED = (
    re.compile(rf"\b(\d+) {word}") for word in ("passed", "(?:failed|error)", "skipped")
)
COUNTED = re.compile(r"\b\d+ (?:passed|failed|errors?|skipped)\b")


def tried(how: ByPython, trial: Trial) -> Outcome:
    """Raises LeftOut where that Python is not."""
    python = interpreter(how.version)
    if python is None:
        raise LeftOut(f"there is no python{how.version} on PATH nor below pyenv's folder")
    if distribution := os.environ.get("ROS_DISTRO"):
        raise LeftOut(f"an installation of ROS 2 is sourced: {distribution}")
    state = trial.folder / "takt"
    own = plain_environment() | {
        "TAKT_STATE": str(state.relative_to(ROOT)),
        "TAKT_ROS": WHEELS,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    setup = [python, ROOT / "setup" / "bootstrap.py", f"{ROOT} wheels tool", str(os.getpid())]
    trial.call("set-up of the tool", setup, folder=ROOT, environment=own)
    venv = state / "venv" / "bin" / "python"
    lock = ROOT / "setup" / "requirements" / "dev.txt"
    pip = [venv, "-m", "pip", "install", "--require-hashes", "--only-binary=:all:"]
    builder = ["--no-binary=empy", "--no-build-isolation", "--use-pep517"]
    trial.call("what tests need", [*pip, *builder, "--requirement", lock], environment=own)
    sources = [ROOT / "src" / "takt" / "takt", ROOT / "setup"]
    pycache = own | {"PYTHONPYCACHEPREFIX": str(trial.folder / "pycache")}
    compile_all = [venv, "-W", "error", "-m", "compileall", "-q", "-f", *sources]
    trial.call("every file compiled", compile_all, environment=pycache)
    packages = next((state / "install" / "lib").glob("python3.*/site-packages"))
    prepared = pycache | {
        "PYTHONPATH": f"{ROOT / 'src' / 'takt'}:{packages}",
        "TAKT_PREFIX": str(state / "install"),
        "TAKT_ROS_WHEELS": str(state / "ros"),
        "PATH": f"{venv.parent}:{os.environ['PATH']}",
    }
    imports = [venv, "-W", "error", "-c", IMPORTS]
    modules = trial.call("every module imported", imports, environment=prepared).stdout.strip()
    words = [venv, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses=2"]
    done = trial.call("tests", [*words, *how.tests], folder=ROOT, environment=prepared, well=(0, 1))
    passed, failed, skipped = (last(one, done.stdout) for one in (PASSED, FAILED, SKIPPED))
    if not passed:
        raise Failed(f"no test ran, see {trial.log}")
    detail = f"set up, {modules} modules imported"
    return Outcome("failed" if failed else "passed", detail, version(venv), passed, failed, skipped)


def interpreter(version: str) -> Path | None:
    """One that starts: on the path, or of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [Path(one) for one in (shutil.which(f"python{version}"),) if one]
    found += sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    return next((one for one in found if answers(one, version)), None)


def answers(python: Path, version: str) -> bool:
    """Whether it is that version; pyenv's stand-ins are there for what is not."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() == version


def last(kind: re.Pattern[str], printed: str) -> int:
    """A number of pytest's last line."""
    lines = [line for line in printed.splitlines() if " in " in line and COUNTED.search(line)]
    found = kind.search(lines[-1]) if lines else None
    return int(found[1]) if found else 0


def version(python: Path) -> str:
    """What it says of itself."""
    done = subprocess.run([python, "--version"], capture_output=True, text=True)
    return done.stdout.strip()
