# SPDX-License-Identifier: Apache-2.0
"""Running a plan: probes, recordings, and what is left when something dies."""
