# SPDX-License-Identifier: Apache-2.0
"""Applications in virtual time; the simulator itself is takt_core's."""
