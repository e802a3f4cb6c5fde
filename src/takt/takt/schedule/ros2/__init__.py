# SPDX-License-Identifier: Apache-2.0
"""Events of tracetools, of ros2_tracing or of takt record: read, and followed to callbacks."""
