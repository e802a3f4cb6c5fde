# SPDX-License-Identifier: Apache-2.0
"""The timing file: timing for callbacks whose code stays as it is."""
