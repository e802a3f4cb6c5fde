# SPDX-License-Identifier: Apache-2.0
"""Where the control group of this process lies, in both versions."""

from __future__ import annotations

from takt.machine.system import System


def cpu_controller_path(system: System) -> str | None:
    """The folder of this process's version 1 CPU control group, if there is one."""
    for line in (system.text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if "cpu" in controllers.split(","):
            for mount in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"):
                for folder in (mount + path.rstrip("/"), mount):  # in a container, only the mount
                    if system.exists(f"{folder}/cpu.shares"):
                        return folder
    return None


def unified_folders(system: System) -> list[str]:
    """This process's version 2 control group and its parents, innermost first."""
    for line in (system.text("/proc/self/cgroup") or "").splitlines():
        if line.startswith("0::"):
            parts = [part for part in line[3:].split("/") if part and part != ".."]
            paths = ["/".join(parts[:n]) for n in range(len(parts), -1, -1)]
            return [f"/sys/fs/cgroup/{path}".rstrip("/") for path in paths]
    return []
