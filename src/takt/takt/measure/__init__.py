# SPDX-License-Identifier: Apache-2.0
"""The flow of an experiment: planned, measured, summarised, reported."""
