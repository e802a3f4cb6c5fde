# SPDX-License-Identifier: Apache-2.0
"""Tries an installation of ROS 2: the wheels, dressed as one, and the tests that build on it.

They are those with the marker ``installation``: the workspace by a plain ``colcon build``, the tool
as ``ros2 takt``, the steps of the workflow. See setup/pretended.py.
"""

from __future__ import annotations

import os

from setup.distributions import ROOT, STATE, WHEELS
from setup.matrix.by_python import FAILED, PASSED, SKIPPED, last
from setup.matrix.entries import ByInstallation
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial, plain_environment

LIMIT_S = 10800.0  # of all of them on a busy machine
# One after the other: each builds with all cores.
TESTS = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "installation", "setup/test"]


def tried(_how: ByInstallation, trial: Trial) -> Outcome:
    """Raises LeftOut where there are no wheels to dress."""
    if distribution := os.environ.get("ROS_DISTRO"):
        raise LeftOut(f"an installation of ROS 2 is sourced: {distribution}")
    if not (STATE / "ros").is_dir():
        raise LeftOut("there are no wheels to dress as an installation")
    own = plain_environment() | {
        "PYTHONPATH": str(ROOT / "src" / "takt"),
        "TAKT_ROS": WHEELS,
        "PATH": f"{STATE / 'venv' / 'bin'}:{os.environ['PATH']}",
    }
    command = [STATE / "venv" / "bin" / "python", *TESTS]
    done = trial.call(
        "tests", command, folder=ROOT, environment=own, well=(0, 1, 5), limit_s=LIMIT_S
    )
    passed, failed, skipped = (last(one, done.stdout) for one in (PASSED, FAILED, SKIPPED))
    if not passed and not failed:
        raise Failed(f"no test ran, see {trial.log}")
    detail = "tests of the workspace, the verb and the workflow"
    return Outcome("failed" if failed else "passed", detail, "", passed, failed, skipped)
