# SPDX-License-Identifier: Apache-2.0
"""What a folder began with, and goes on with: its scale, and who executes the baselines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from takt.documents.reading import read_json
from takt.documents.writing import write_text
from takt.errors import Failure, TaktError
from takt.network import stacks
from takt.schedule.execution.execute import RUNNER_RCLCPP

SCALE = "scale.json"
#: rclcpp's own single-threaded executor, or Takt's copy of its order on rcl.
Baselines = Literal["rclcpp", "copy"]
RCLCPP: Baselines = "rclcpp"
COPY: Baselines = "copy"  # also of folders of former versions, which do not say it


@dataclass(frozen=True)
class Beginning:
    """Of a folder."""

    scale: float
    baselines: Baselines


def begin(folder: Path, scale: float) -> Beginning:
    """Begins a folder, by rclcpp where it is installed, or goes on with it as it began.

    Raises TaktError for another scale, whose runs have another length, and where rclcpp is gone.
    """
    kept = folder / SCALE
    if not kept.exists():
        begun = Beginning(scale, RCLCPP if _has_rclcpp() else COPY)
        write_text(kept, json.dumps({"scale": scale, "baselines": begun.baselines}) + "\n")
        return begun
    known = read_json(kept)
    if known["scale"] != scale:
        raise TaktError(
            f"the reproduction in this folder has scale {known['scale']:g}, not {scale:g}",
            where=str(kept),
            fix=f"continue with --scale {known['scale']:g}, or start a new one without --out",
        )
    begun = Beginning(scale, known.get("baselines", COPY))
    if begun.baselines == RCLCPP and not _has_rclcpp():
        raise TaktError(
            "the baselines of this reproduction are executed by rclcpp, which is not here",
            where=str(kept),
            fix=f"{stacks.HOW_TO_GET_RCLCPP}; or start a new one without --out",
        )
    return begun


def _has_rclcpp() -> bool:
    try:
        stacks.program(RUNNER_RCLCPP)
    except Failure:
        return False
    return True
