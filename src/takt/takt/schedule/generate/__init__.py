# SPDX-License-Identifier: Apache-2.0
"""Synthetic applications, as Krukiewicz-Gacek 2021, section 5.2, generates them, and beyond."""
