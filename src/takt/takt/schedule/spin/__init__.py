# SPDX-License-Identifier: Apache-2.0
"""Runs ROS 2 programs of anybody under Takt's executor, or with priorities for their threads."""
