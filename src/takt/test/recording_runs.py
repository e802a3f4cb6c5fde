# SPDX-License-Identifier: Apache-2.0
"""Runs in processes of their own that record while a test looks on."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from takt.processes import recording as recordings
from takt.processes import scratch


def wait_for_samples(process: subprocess.Popen[str], folder: Path, at_least: int) -> Path:
    """Waits until the run in ``folder`` has recorded so many samples; returns the recording."""
    while process.poll() is None:
        lock = folder / scratch.LOCK
        text = lock.read_text() if lock.exists() else ""
        place = scratch.named_in(text, folder)
        found = list(place.glob(f"*{recordings.SUFFIX}")) if place else []
        if found and recordings.progress(found[0]) >= at_least:
            return found[0]
        time.sleep(0.01)
    raise AssertionError(f"the run ended early: {process.communicate()[1]}")
