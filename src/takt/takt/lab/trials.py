# SPDX-License-Identifier: Apache-2.0
"""What is tried where it harms nobody: doctor and tune, a stepped clock, a CPU taken offline."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from takt.lab.jobs import IDLE, MEMORY, Job
from takt.lab.model import Trial
from takt.measure.results.model import Cell, Status

CLOCK, CPU = "clock-step", "cpu-offline"
STEP_S = 3600
_ONLINE = "/sys/devices/system/cpu"
_LIMIT_S = 600  # of the guest's time: an emulator imports Python slowly
# Beside a probe; what was seen is told, so that a disturbance that failed is none.
DISTURBANCES = {
    CLOCK: f"sleep 1; a=$(date +%s); date -s @$((a + {STEP_S})); b=$(date +%s); "
    f"echo $a $b >{MEMORY}/{CLOCK}.observed; sleep 1; date -s @$(($(date +%s) - {STEP_S}))",
    CPU: f"sleep 1; echo 0 >{_ONLINE}/cpu1/online; cat {_ONLINE}/online >{MEMORY}/{CPU}.observed; "
    f"sleep 1; echo 1 >{_ONLINE}/cpu1/online; cat {_ONLINE}/online >>{MEMORY}/{CPU}.observed",
}
# Each asks the tool that runs here; what it would change is the same before and after.
_ASKED = {
    "doctor": ["doctor"],
    "planned": ["tune", "--dry-run"],
    "applied": ["tune", "--apply"],
    "reverted": ["tune", "--revert"],
    "planned-again": ["tune", "--dry-run"],
}


def folders() -> list[Path]:
    """What Python and this tool lie in."""
    named = [sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])]
    named += [one for one in sys.path if one and Path(one).is_dir()]
    return [Path(one) for one in named]


def asked() -> Job:
    """Doctor, and tune there and back."""
    variables = {"PYTHONPATH": os.pathsep.join(map(str, folders()[2:])), "HOME": "/tmp"}  # noqa: S108
    tool = [sys.executable, "-m", "takt"]
    each = [
        f"{shlex.join([*tool, *words])} --json >{MEMORY}/{name}.json; echo {name} $?"
        for name, words in _ASKED.items()
    ]
    script = ("sh", "-c", "\n".join(each))
    return Job("doctor-and-tune", IDLE, (script,), _LIMIT_S, True, tuple(variables.items()))


def judged(out: Path, cells: Iterable[Cell]) -> list[Trial]:
    """What came of them; ``cells`` are those that were measured beside the disturbances."""
    documents = {name: _document(out / f"{name}.json") for name in _ASKED}
    found = [_doctor(documents["doctor"]), _tune(documents)]
    by_label = {cell.label: cell for cell in cells}
    observed = {name: _words(out / f"{name}.observed") for name in DISTURBANCES}
    return [*found, _stepped(observed[CLOCK], by_label), _offline(observed[CPU], by_label)]


def _doctor(document: dict[str, Any]) -> Trial:
    model = (document.get("fingerprint") or {}).get("preemption")
    why = f"reports {model} and {len(document.get('findings', []))} findings"
    return Trial(trial="doctor", holds=model == "PREEMPT_RT", why=why)


def _tune(documents: dict[str, dict[str, Any]]) -> Trial:
    """It changes what it may, and what it would change after the way back is what it was before."""
    places = {name: one.get("places") or [] for name, one in documents.items()}
    changed = [one for one in places["applied"] if one.get("result") == "changed"]
    left = documents["reverted"].get("recorded")
    before, after = (_plan(places[name]) for name in ("planned", "planned-again"))
    why = f"{len(changed)} settings changed, {left} still recorded, "
    why += "the same to change after it" if before == after else "other changes after it"
    return Trial(trial="tune", holds=bool(changed) and left == 0 and before == after, why=why)


def _plan(places: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((str(one.get("where")), str(one.get("before"))) for one in places)


def _stepped(observed: Sequence[str], cells: dict[str, Cell]) -> Trial:
    done = len(observed) == 2 and int(observed[1]) - int(observed[0]) >= STEP_S
    return _beside(CLOCK, done, f"the clock was set {STEP_S} s ahead and back", cells)


def _offline(observed: Sequence[str], cells: dict[str, Cell]) -> Trial:
    return _beside(
        CPU, list(observed) == ["0", "0-1"], "CPU 1 was taken offline and back online", cells
    )


def _beside(name: str, done: bool, what: str, cells: dict[str, Cell]) -> Trial:
    """The probe beside it has all its samples, and none of them is as late as the step."""
    cell = cells.get(name)
    if not done or cell is None:
        return Trial(trial=name, holds=False, why=f"not so: {what}")
    whole = cell.status is Status.complete and cell.count == cell.samples_requested
    calm = cell.max_us is not None and cell.max_us < STEP_S * 1e6 / 2
    why = f"{what}; {cell.count} of {cell.samples_requested} wake-ups were measured meanwhile"
    return Trial(trial=name, holds=whole and calm, why=why)


def _document(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").split()
    except OSError:
        return []
