# SPDX-License-Identifier: Apache-2.0
"""A fresh system of this machine's own release in a folder, and commands in it.

It is made once, as the matrix makes its own (setup/matrix/by_chroot.py), and copied for each trial:
what is installed in a copy is gone with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from setup.matrix import by_chroot
from setup.matrix.entries import ByChroot
from setup.matrix.trial import Failed, Trial
from setup.release.environment import FOLDER


def codename() -> str:
    """This machine's release, as its archive calls it."""
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    lines = [line.partition("=") for line in release.splitlines()]
    return next((value.strip('"') for key, _, value in lines if key == "VERSION_CODENAME"), "")


class System:
    """A copy of the fresh system; raises trial.LeftOut where none can be made."""

    def __init__(self, root: Path) -> None:
        trial = Trial(FOLDER / "system")
        pristine = trial.folder / "root"
        if not (trial.folder / "made").exists():
            by_chroot.make(ByChroot(kind="chroot", suite=codename()), trial, pristine)
        self.root = root
        subprocess.run(["cp", "--archive", pristine, root], check=True)
        for name in by_chroot.SHARED:
            if (source := Path("/") / name).exists():
                shutil.copyfile(source, root / name)
        for settings in Path("/", by_chroot.APT).glob("*prox*"):
            shutil.copyfile(settings, root / by_chroot.APT / settings.name)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command in it, as root; what it mounts is gone with its last process."""
        inside: Sequence[str | Path] = ("sh", "-c", by_chroot.INSIDE, "sh", self.root, *words)
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--", *inside],
            env=by_chroot.environment() | {"DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )

    def well(self, *words: str) -> str:
        """What a command printed, which ends well; raises trial.Failed."""
        done = self.run(*words)
        if done.returncode:
            said = (done.stdout + done.stderr)[-4000:]
            raise Failed(f"{' '.join(words)}: exit code {done.returncode}\n{said}")
        return done.stdout


def possible() -> str:
    """Why there is none here; empty where there is."""
    return by_chroot.obstacle() or ("" if os.access("/proc/self/ns/pid", os.R_OK) else "no /proc")
