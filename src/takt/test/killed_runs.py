# SPDX-License-Identifier: Apache-2.0
"""What ``takt clean`` does, for one run alone: other tests have killed runs of their own."""

from __future__ import annotations

from pathlib import Path

from takt.processes import dead, scratch


def cleaned(run_folder: Path) -> bool:
    """Whether a killed run has nothing in memory any more; what it recorded is with its results."""
    for one in dead.dead_folders():
        if one.run_folder == run_folder.resolve():
            one.to_disk()
    return not (run_folder / scratch.LOCK).exists()
