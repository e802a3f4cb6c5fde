# SPDX-License-Identifier: Apache-2.0
"""Executes an application for real on ROS 2: by Takt, or by what it is compared with."""

from takt.execution.execute import execute
from takt.execution.model import APPROACHES, Execution

__all__ = ["APPROACHES", "Execution", "execute"]
