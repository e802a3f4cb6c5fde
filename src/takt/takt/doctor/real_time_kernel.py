# SPDX-License-Identifier: Apache-2.0
"""The way to a PREEMPT_RT kernel: it depends on who built the kernel that runs now."""

from __future__ import annotations

from takt.machine.surroundings import Maker, in_container, kernel_maker
from takt.machine.system import System

_ANY = "boot a kernel built with CONFIG_PREEMPT_RT=y (in mainline Linux since 6.12)"
_PRO = "sudo pro attach && sudo pro enable realtime-kernel"
_PRO_RELEASES = ("22.04", "24.04")  # of Ubuntu, whose real-time kernel comes with Ubuntu Pro
_IN_THE_ARCHIVE = (25, 10)  # from this release of Ubuntu on
_ARCHIVE = "sudo apt install linux-image-realtime"
_REBOOT = "   # then reboot"
_JETSON = (
    "install NVIDIA's real-time kernel for this release of Jetson Linux (its Developer Guide, "
    f"Real-Time Kernel){_REBOOT}"
)
_DNF = f"sudo dnf install kernel-rt{_REBOOT}; RHEL: from the Real Time repository"
_OF: dict[Maker, str] = {
    "Jetson": _JETSON,
    "Raspberry Pi": f"{_ANY}; Raspberry Pi OS: apt-cache search 'linux-image.*-rt'",
    "Debian": f"sudo apt install linux-image-rt-$(dpkg --print-architecture){_REBOOT}",
    "Fedora": _DNF,
    "RHEL": _DNF,
}
_WSL = (
    "boot Linux on the machine itself: Windows schedules this virtual machine, whatever its "
    "kernel. For development, build WSL2-Linux-Kernel with CONFIG_PREEMPT_RT=y and set it in "
    ".wslconfig ([wsl2] kernel=…)"
)


def fix(system: System) -> str:
    """What to install or boot."""
    maker = kernel_maker(system)
    if maker == "WSL":
        return _WSL
    if in_container(system):  # the distribution is the image's, the kernel the host's
        of_ubuntu = f"{_PRO} (Ubuntu {' or '.join(_PRO_RELEASES)}), {_ARCHIVE} (25.10 or later)"
        return f"on the host: {of_ubuntu if maker == 'Ubuntu' else _ANY}"
    return _of_ubuntu(system) if maker == "Ubuntu" else _OF.get(maker, _ANY)


def _of_ubuntu(system: System) -> str:
    release = system.distribution.get("VERSION_ID", "")
    variant = " --variant=raspi" if system.release.endswith("-raspi") else ""
    if release in _PRO_RELEASES:
        return f"{_PRO}{variant}{_REBOOT}"
    year, _, month = release.partition(".")
    known = year.isdecimal() and month.isdecimal()
    if known and (int(year), int(month)) >= _IN_THE_ARCHIVE and not variant:
        return f"{_ARCHIVE}{_REBOOT}"
    return _ANY
