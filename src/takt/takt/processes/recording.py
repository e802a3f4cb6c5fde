# SPDX-License-Identifier: Apache-2.0
"""The sample file of a running probe, as far as who watches it must know it.

What it holds is read by ``measure.run.samples``; its layout stands in docs/reference/probes.md.
"""

from __future__ import annotations

import os
from pathlib import Path

SUFFIX = ".taktsamples"
_COUNT_OFFSET = 24


def progress(path: Path) -> int:
    """How many samples a running probe has recorded; 0 while there is no file yet."""
    try:
        with path.open("rb") as file:
            head = os.pread(file.fileno(), 8, _COUNT_OFFSET)
    except OSError:
        return 0
    return int.from_bytes(head, "little") if len(head) == 8 else 0
