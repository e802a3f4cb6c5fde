# SPDX-License-Identifier: Apache-2.0
"""How much of the running kernel can be interrupted."""

from __future__ import annotations

import re

from takt.machine.system import System


def preemption_model(system: System) -> tuple[str, str | None]:
    """Model (``PREEMPT_RT``, ``PREEMPT_DYNAMIC``, ``PREEMPT``, ``NONE``, ``""``) and its mode.

    The mode is known for PREEMPT_DYNAMIC only: what debugfs tells, else the boot option, else the
    default that was built in; None where none of them can be read.
    """
    version = system.text("/proc/sys/kernel/version") or system.text("/proc/version") or ""
    config = system.kernel_config
    if system.text("/sys/kernel/realtime") == "1" or re.search(r"PREEMPT[_ ]RT", version):
        return "PREEMPT_RT", None
    if "PREEMPT_DYNAMIC" in version or config.get("CONFIG_PREEMPT_DYNAMIC") == "y":
        return "PREEMPT_DYNAMIC", _dynamic_mode(system)
    if re.search(r"\bPREEMPT\b", version) or config.get("CONFIG_PREEMPT") == "y":
        return "PREEMPT", None
    return ("NONE", None) if version else ("", None)


def _dynamic_mode(system: System) -> str | None:
    chosen = re.search(r"\((\w+)\)", system.text("/sys/kernel/debug/sched/preempt") or "")
    if chosen:
        return chosen.group(1)
    if option := system.boot_option("preempt"):
        return option
    for mode in ("none", "voluntary", "lazy"):
        if system.kernel_config.get(f"CONFIG_PREEMPT_{mode.upper()}") == "y":
            return mode
    return "full" if system.kernel_config.get("CONFIG_PREEMPT") == "y" else None
