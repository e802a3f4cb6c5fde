# SPDX-License-Identifier: Apache-2.0
"""The time that a hypervisor takes from this machine."""

from __future__ import annotations

import os
from pathlib import Path


def steal_seconds() -> float:
    """CPU time that the hypervisor gave to others since boot, all CPUs together."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0
