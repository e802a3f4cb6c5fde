# SPDX-License-Identifier: Apache-2.0
"""Campaigns: applications generated, analysed, simulated and executed in bulk."""
