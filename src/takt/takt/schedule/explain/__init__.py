# SPDX-License-Identifier: Apache-2.0
"""Why deadlines were missed and bounds exceeded, from a trace (docs/reference/metrics.md)."""

from takt.schedule.explain.late import explain
from takt.schedule.explain.model import Explanation

__all__ = ["Explanation", "explain"]
