# SPDX-License-Identifier: Apache-2.0
"""Which ROS 2 of the wheels is meant, and where it is set up; the launcher says both.

The known ones are those that have a lock file: ``requirements/ros-NAME.txt``. Each has a folder of
its own, with all that is built on it, so that none disturbs another one.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / os.environ.get("TAKT_STATE", ".takt")
WHEELS = os.environ.get("TAKT_ROS") or "kilted"
