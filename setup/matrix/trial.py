# SPDX-License-Identifier: Apache-2.0
"""What the ways to try a system share: a folder, a log, and how it ended."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from setup.reasons import reasons

LIMIT_S = 3600.0


class LeftOut(Exception):
    """Why it cannot be tried here."""


class Failed(Exception):
    """What went wrong."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended, with what was counted."""

    result: Literal["passed", "failed", "left out"]
    detail: str  # what was shown, or the reason
    version: str = ""  # of the compiler or the system
    passed: int = 0  # tests
    failed: int = 0
    excluded: int = 0


class Trial:
    """One of them: a folder of its own, and a log of what its commands say."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder; an older log goes."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.log = folder / "log.txt"
        self.log.write_text("", encoding="utf-8")

    def call(
        self,
        what: str,
        command: Sequence[object],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        well: Sequence[int] = (0,),
        limit_s: float = LIMIT_S,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a step and tells how long it took; raises Failed where it does not end well."""
        words = [str(one) for one in command]
        started = time.monotonic()
        print(f"  {what} …", flush=True)
        try:
            done = subprocess.run(
                words,
                cwd=folder or self.folder,
                env=dict(os.environ if environment is None else environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=limit_s,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"{what}: {error}") from None
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"\n$ {' '.join(words)}\n{done.stdout}{done.stderr}")
        if done.returncode not in well:
            print(reasons(done.stdout + done.stderr), flush=True)
            raise Failed(f"{what}: exit code {done.returncode}, see {self.log}")
        print(f"  {what}: {time.monotonic() - started:.0f} s", flush=True)
        return done


def plain_environment() -> dict[str, str]:
    """The user's environment without what the launcher put there."""
    ours = ("TAKT_", "PYTHONPATH", "MYPYPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}
