# SPDX-License-Identifier: Apache-2.0
"""Which ROS 2 of the wheels is meant, and where it is set up; the launcher says both.

The known ones are those that have a lock file: ``requirements/ros-NAME.txt``. Each has a folder of
its own, with all that is built on it, so that none disturbs another one. So has "none": there, what
needs no ROS 2 is built.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / os.environ.get("TAKT_STATE", ".takt")
WHEELS = os.environ.get("TAKT_ROS") or "kilted"
NONE = "none"
WITHOUT_ROS = ("takt_core", "takt_probes")  # the packages that need no ROS 2


def prefix() -> Path | None:
    """Where the wheels go; None where an installation is sourced, or none is asked for."""
    return None if "ROS_DISTRO" in os.environ or without_ros() else STATE / "ros"


def without_ros() -> bool:
    """Whether there is to be no ROS 2 at all."""
    return "ROS_DISTRO" not in os.environ and WHEELS == NONE
