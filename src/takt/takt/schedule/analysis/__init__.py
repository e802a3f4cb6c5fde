# SPDX-License-Identifier: Apache-2.0
"""Schedulability analysis: the core proves, this package reads, asks and shows."""
