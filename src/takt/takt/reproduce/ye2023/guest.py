# SPDX-License-Identifier: Apache-2.0
"""What ``takt lab reproduce`` measures of Ye et al. 2023, and what a guest's run answers by itself.

The statements on two kernels, as far as one CPU and compiled probes can measure them.
"""

from __future__ import annotations

from pathlib import Path

from takt.machine.system import System
from takt.measure.experiment.file import Source, read_experiment
from takt.measure.experiment.model import Experiment
from takt.measure.results.model import Run
from takt.network.stacks import Stacks
from takt.reproduce import page
from takt.reproduce.evidence import Measured
from takt.reproduce.experiment import LEAST_RUNS
from takt.reproduce.model import Deviation, Outcome, Request
from takt.reproduce.published import experiment_file, read_published
from takt.reproduce.unfinished import points_left
from takt.reproduce.ye2023.between import ROS2_STACK
from takt.reproduce.ye2023.extent import placed, scaled
from takt.reproduce.ye2023.quantities import JITTER, SIX, SIZES, WAKEUP
from takt.reproduce.ye2023.tables import rows

PAPER = "ye2023"
BARE, MESSAGES = (WAKEUP, JITTER), (SIZES, SIX)
MEMORY_STACK = "raw"  # its probe needs nothing of the host while it measures


def in_guest(experiment: Experiment, scale: float, there: Stacks, *, ros: bool) -> Experiment:
    """Wake-ups and timers at full load, and with ``ros`` sizes and subscribers; two runs each."""
    stacks = dict.fromkeys(BARE, MEMORY_STACK) | (
        dict.fromkeys(MESSAGES, ROS2_STACK) if ros else {}
    )
    chosen = [
        one.model_copy(update={"stack": [stack], "repetitions": LEAST_RUNS})
        for one in experiment.measurements
        if (stack := stacks.get(one.label or "")) and stack in one.stack
    ]
    short = scaled(experiment.model_copy(update={"measurements": chosen}), scale)
    only = Stacks({name: there.probes[name] for name in set(stacks.values()) if name in there})
    return placed(short, only, room=False)


def guest_experiment(scale: float, there: Stacks, *, ros: bool) -> tuple[Experiment, Source]:
    """What a guest measures at a scale, and where it is written."""
    experiment, source = read_experiment(experiment_file(PAPER))
    return in_guest(experiment, scale, there, ros=ros), source


def keep_of_guest(run: Run, folder: Path, scale: float, system: System, numbers: str) -> None:
    """Keeps what a guest's run answers by itself, as data and as a page."""
    page.keep(answers_of_guest(run, folder, Request(scale=scale), system, numbers))


def answers_of_guest(
    run: Run, folder: Path, request: Request, system: System, numbers: str
) -> Outcome:
    """The kernel's options and what was measured; its times are none of the paper's.

    What takes two kernels is judged where both stand beside each other.
    """
    published = read_published(PAPER)
    measured = Measured(run, folder)
    kernel = [one for one in rows(published, measured, system) if one.table == "table 3"]
    outcome = published.outcome(
        request,
        folder,
        unfinished=points_left(run),
        findings=[],
        tables=kernel,
        figures=[],
        skipped=["what the paper says of one kernel: its times do not compare with a guest's"],
    )
    return outcome.model_copy(update={"deviations": _deviations(numbers)})


def _deviations(numbers: str) -> list[Deviation]:
    """In the place of those of a machine."""
    here = {
        "a PC with four CPUs": (
            f"a virtual machine; its times are {numbers}",
            "both kernels without a reboot; its times compare with those of other guests only",
        ),
        "five threads of cyclictest at once": (
            "Takt's own loop, one period after the other",
            "cyclictest's probe needs Python, which the guest has not",
        ),
        "full load by four workers of stress-ng": (
            "the same Fourier transform by stress-ng, a worker on each CPU",
            "as many workers as there are CPUs",
        ),
        "ROS 1 and ROS 2": ("ROS 2, if asked for", "ROS 1 needs a master and its installation"),
        "one run of each point": (
            f"{LEAST_RUNS} runs of each point in random order",
            "how far runs differ shows what a difference means",
        ),
    }
    return [Deviation(paper=paper, here=what, why=why) for paper, (what, why) in here.items()]
