# SPDX-License-Identifier: Apache-2.0
"""Records ROS 2 programs of anybody, unchanged: takt_record is preloaded into each process."""
