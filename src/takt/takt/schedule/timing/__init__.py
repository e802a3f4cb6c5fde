# SPDX-License-Identifier: Apache-2.0
"""The timing file: what the callbacks of a running system are told without a change of their code."""
