# SPDX-License-Identifier: Apache-2.0
"""Executes an application for real on ROS 2: by Takt, or by what it is compared with."""

from takt.schedule.execution.execute import execute
from takt.schedule.execution.model import APPROACHES, Execution

__all__ = ["APPROACHES", "Execution", "execute"]
