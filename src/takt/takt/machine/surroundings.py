# SPDX-License-Identifier: Apache-2.0
"""Whose kernel runs, and whether this is a container on it: as the kernel reports, not the image.

A container has the kernel of its host, and a distribution of its own: ``/etc/os-release`` names
the wrong one there.
"""

from __future__ import annotations

from typing import Literal

from takt.machine.system import System

Maker = Literal["WSL", "Jetson", "Ubuntu", "Raspberry Pi", "Debian", "Fedora", "RHEL", ""]
_MARKS = ("/.dockerenv", "/run/.containerenv")
_FIRST_USER_NAMESPACE = ["0", "0", "4294967295"]


def kernel_maker(system: System) -> Maker:
    """Who built the running kernel; empty where it does not say."""
    release = system.release.lower()
    version = system.text("/proc/sys/kernel/version") or system.text("/proc/version") or ""
    board = system.text("/proc/device-tree/compatible") or ""
    signs: tuple[tuple[Maker, bool], ...] = (  # the first that holds: some hold for derivatives
        ("WSL", "microsoft" in release),
        ("Jetson", release.endswith("-tegra") or "nvidia,tegra" in board),
        ("Ubuntu", "Ubuntu" in version or system.exists("/proc/version_signature")),
        ("Raspberry Pi", "rpi" in release or "+rpt" in version),
        ("Debian", "Debian" in version),
        ("Fedora", ".fc" in release),
        ("RHEL", ".el" in release),
    )
    return next((maker for maker, holds in signs if holds), "")


def in_container(system: System) -> bool:
    """Whether a container engine started this process: by its marks, or by its /dev/shm."""
    if any(system.exists(mark) for mark in _MARKS):
        return True
    mounts = (line.split() for line in (system.text("/proc/self/mounts") or "").splitlines())
    # Engines mount a tmpfs with the name of its purpose; systemd calls it tmpfs.
    return any(words[:3] == ["shm", "/dev/shm", "tmpfs"] for words in mounts)  # noqa: S108


def in_user_namespace(system: System) -> bool:
    """Whether capabilities count in a user namespace only, as in a rootless container."""
    first = (system.text("/proc/self/uid_map") or "").split()[:3]
    return bool(first) and first != _FIRST_USER_NAMESPACE
