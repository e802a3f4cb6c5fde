# SPDX-License-Identifier: Apache-2.0
"""The page of a robot: what is proved, simulated and measured of it."""
