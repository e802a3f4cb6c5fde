# SPDX-License-Identifier: Apache-2.0
"""Metrics of any trace: of the executor, of the baselines, of the simulator.

Definitions: Krukiewicz-Gacek, thesis (2021), section 5.1; docs/reference/metrics.md.
"""

from takt.schedule.metrics.measure import measure
from takt.schedule.metrics.model import Metrics

__all__ = ["Metrics", "measure"]
