# SPDX-License-Identifier: Apache-2.0
"""Why deadlines were missed, from a trace (docs/reference/metrics.md)."""

from takt.explain.misses import explain
from takt.explain.model import Explanation

__all__ = ["Explanation", "explain"]
