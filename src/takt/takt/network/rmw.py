# SPDX-License-Identifier: Apache-2.0
"""The middlewares of ROS 2 that an installation has beside its default, each a stack of its own.

``rcl_cyclonedds`` is the probe of ``rcl`` with RMW_IMPLEMENTATION=rmw_cyclonedds_cpp: the same
client library, the same loop, another middleware. Only those are stacks that the configuration of a
cell keeps apart from everything else (see ``transport``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

RCL, RCLCPP = "rcl", "rclcpp"  # the stacks of the two client libraries
VARIABLE = "RMW_IMPLEMENTATION"
FAST_DDS = "rmw_fastrtps"  # begins the names of its implementations
DEFAULT = f"{FAST_DDS}_cpp"
ZENOH = "rmw_zenoh_cpp"
_CONFIGURED = (DEFAULT, "rmw_fastrtps_dynamic_cpp", "rmw_cyclonedds_cpp", ZENOH)
_INDEX = "share/ament_index/resource_index/rmw_typesupport"
_OF_FAST_DDS = ("shm", "loan")  # transports that only its profile sets up
_OF_DDS = (*_OF_FAST_DDS, "udp")


def in_use(variables: Mapping[str, str] = os.environ) -> str:
    """The implementation of a ROS 2 program that is told nothing else."""
    return variables.get(VARIABLE) or DEFAULT


def beside(variables: Mapping[str, str] = os.environ) -> list[str]:
    """The other implementations of the installation that can be measured."""
    prefixes = [variables.get("TAKT_ROS_WHEELS", "")]
    prefixes += variables.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    folders = [Path(one, _INDEX) for one in prefixes if one]
    there = [one for one in _CONFIGURED if any((folder / one).is_file() for folder in folders)]
    return [one for one in there if one != in_use(variables)]


def stacks(base: str, variables: Mapping[str, str] = os.environ) -> Iterator[tuple[str, str]]:
    """The names of the stacks beside ``base``, each with its implementation."""
    for one in beside(variables):
        if base == RCL or one != ZENOH:  # the probe of rclcpp has no transport for it
            yield _stack(base, one), one


def every() -> list[str]:
    """The names of all stacks that an installation may have beside its default."""
    return [
        _stack(base, one)
        for base in (RCL, RCLCPP)
        for one in _CONFIGURED
        if base == RCL or one != ZENOH
    ]


def _stack(base: str, implementation: str) -> str:
    return f"{base}_{implementation.removeprefix('rmw_').removesuffix('_cpp')}"


def settings(implementation: str) -> list[str]:
    """Variables of a program, each with its value; discovery as its own configuration says."""
    return [f"{VARIABLE}={implementation}", "ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT"]


def carries(implementation: str, transport: str) -> bool:
    """Whether it can take this transport."""
    if implementation == ZENOH:
        return transport not in _OF_DDS
    return implementation.startswith(FAST_DDS) or transport not in _OF_FAST_DDS
