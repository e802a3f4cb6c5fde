# SPDX-License-Identifier: Apache-2.0
"""Executors as they run: what they say on ``/diagnostics``, shown live."""
