# SPDX-License-Identifier: Apache-2.0
"""What releases are made with: an environment of its own, and a way to call programs.

Everything that is made lies below ``.takt/release``; nothing of it is published.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from setup import bootstrap
from setup.distributions import ROOT, STATE
from setup.steps import together

FOLDER = STATE / "release"
LIMIT_S = 3600.0


class ReleaseError(Exception):
    """What could not be made, and what a program said of it."""


def tools() -> Path:
    """The folder of its programs; raises bootstrap.SetupError."""
    with (STATE / "lock").open("w") as lock:
        bootstrap.acquire(lock)
        what = "what releases are made with"
        together(bootstrap.make_environment("release-tools", "release", what))
    return STATE / "release-tools" / "bin"


def compiling(path: Sequence[Path]) -> dict[str, str]:
    """The user's environment without the launcher's packages; ccache where it is installed."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["PATH"] = ":".join([*map(str, path), environment["PATH"]])
    if shutil.which("ccache"):
        environment |= {
            f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX")
        }
        environment |= {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
        environment["CCACHE_SLOPPINESS"] = "pch_defines,time_macros"
    return environment


def call(
    what: str, command: Sequence[object], environment: Mapping[str, str], folder: Path = ROOT
) -> str:
    """What the program printed; raises ReleaseError where it does not end well."""
    words = [str(one) for one in command]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ReleaseError(f"{what}: {error}") from None
    if done.returncode:
        said = (done.stdout + done.stderr)[-6000:]
        raise ReleaseError(f"{what}: exit code {done.returncode}: {' '.join(words)}\n{said}")
    return done.stdout
