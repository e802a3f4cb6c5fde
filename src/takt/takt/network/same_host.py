# SPDX-License-Identifier: Apache-2.0
"""Whether Fast DDS takes two machines for one.

Fast DDS 3 distinguishes hosts by their machine-id alone. Of a participant with its own id it
ignores the addresses of the network, so that clones of one disk image, and network namespaces of
one machine, find each other and never exchange a message.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from takt.network import rmw, transport
from takt.network.rmw import RCL, RCLCPP

MACHINE = Path("/etc/machine-id")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NETWORK = Path("/proc/self/ns/net")
_BY_DEFAULT = (RCL, "rcl_direct", RCLCPP)  # stacks that take the user's RMW
FIX = (
    "on one of them: sudo rm /etc/machine-id && sudo systemd-machine-id-setup; a network namespace "
    "needs a file of its own mounted over /etc/machine-id"
)


class Identity(NamedTuple):
    """Of this process's host; both are digests, empty where this machine does not say."""

    machine: str  # its machine-id
    network: str  # its network namespace: one boot has several


def identity() -> Identity:
    """That of this process."""
    return Identity(_digest(_text(MACHINE)), _digest(_text(_BOOT), _link(_NETWORK)))


def taken_for_one(
    stacks: list[str],
    one: Identity,
    other: Identity,
    variables: Mapping[str, str] = os.environ,
) -> bool:
    """Whether participants of these stacks on two hosts cannot reach each other for that reason."""
    if not set(stacks).intersection(_by_fast_dds(variables)):
        return False
    if transport.is_fast_dds_2(variables):
        return False  # by addresses
    return bool(one.machine) and one.machine == other.machine and one.network != other.network


def _by_fast_dds(variables: Mapping[str, str]) -> Iterator[str]:
    """The stacks whose middleware it is."""
    if rmw.in_use(variables).startswith(rmw.FAST_DDS):
        yield from _BY_DEFAULT
    for base in (RCL, RCLCPP):
        for name, implementation in rmw.stacks(base, variables):
            if implementation.startswith(rmw.FAST_DDS):
                yield name


def _text(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text(encoding="ascii", errors="replace").strip()
    return ""


def _link(file: Path) -> str:
    with contextlib.suppress(OSError):
        return str(file.readlink())
    return ""


def _digest(*parts: str) -> str:
    """Not the text itself: a machine-id is not for others."""
    text = " ".join(filter(None, parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
