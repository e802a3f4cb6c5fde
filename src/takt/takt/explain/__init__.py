# SPDX-License-Identifier: Apache-2.0
"""Why deadlines were missed and bounds exceeded, from a trace (docs/reference/metrics.md)."""

from takt.explain.late import explain
from takt.explain.model import Explanation

__all__ = ["Explanation", "explain"]
