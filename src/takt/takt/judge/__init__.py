# SPDX-License-Identifier: Apache-2.0
"""The judgement: what was recorded is held to limits, and meets, fails or leaves them undecided."""
