# SPDX-License-Identifier: Apache-2.0
"""From samples to numbers: summaries of one run, comparison of two."""
