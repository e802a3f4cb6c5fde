# SPDX-License-Identifier: Apache-2.0
"""Takt: real-time ROS 2, measured, scheduled and proved."""

__version__ = "0.1.0"
