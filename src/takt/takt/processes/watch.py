# SPDX-License-Identifier: Apache-2.0
"""Somebody who watches over a run, and sweeps after it where its tool is killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from takt.processes.guard import MARK, identity

# A program of its own, which sweeps what every room leaves; this room knows no more than its path.
_UNDERTAKER = Path(__file__).parents[1] / "cli" / "undertaker.py"


class Watch:
    """An undertaker of this process's."""

    def __init__(self, folder: Path, run_folder: Path, memory: Path) -> None:
        """Before the scratch folder is made."""
        command = [sys.executable, "-IS", _UNDERTAKER, folder, run_folder, memory]
        read, self._pipe = os.pipe()
        try:
            subprocess.run(
                [*map(str, command), identity(os.getpid())],
                stdin=read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: value for name, value in os.environ.items() if name != MARK},
                start_new_session=True,
                check=False,  # without one, the next run sweeps
            )
        finally:
            os.close(read)

    def end(self) -> None:
        """The run has ended in order."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, b".")
        os.close(self._pipe)
