# SPDX-License-Identifier: Apache-2.0
"""The judgement: what was recorded is held to limits, and meets, fails or leaves them undecided."""

from takt.judge.gate import gate
from takt.judge.model import Outcome, Verdict

__all__ = ["Outcome", "Verdict", "gate"]
