# SPDX-License-Identifier: Apache-2.0
"""The trace of an executor or simulator: read, derive, sum up, export."""
