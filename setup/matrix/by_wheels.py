# SPDX-License-Identifier: Apache-2.0
"""Tries the wheels of a ROS 2: a check whose every measurement ends, and stages of the tests."""

from __future__ import annotations

import json
import os
import re

from setup.distributions import ROOT
from setup.matrix.entries import ByWheels
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial, plain_environment
from setup.reasons import reasons

# The verdict is on the machine's deadlines: for, against, or undecided. None is on the wheels.
VERDICTS = (0, 1, 3)
CTEST = re.compile(r"tests passed, (\d+) tests? failed out of (\d+)")
PYTEST = re.compile(r"^(?=.*\d (?:passed|failed)).* in [\d.]+s.*$", re.MULTILINE)


def tried(how: ByWheels, trial: Trial) -> Outcome:
    """Sets up what is missing and checks; raises LeftOut where an installation is sourced."""
    if distribution := os.environ.get("ROS_DISTRO"):
        raise LeftOut(f"an installation of ROS 2 is sourced: {distribution}")
    command = [ROOT / "takt", "check", "--json", "--ros", how.distribution]
    done = trial.call(
        "set-up and check", command, folder=ROOT, environment=plain_environment(), well=VERDICTS
    )
    checked = complete(done.stdout)
    if not how.stages:
        return Outcome("passed", checked, versions(how))
    done = trial.call(
        f"stages {', '.join(how.stages)}",
        [ROOT / "takt", "test", "--ros", how.distribution, *how.stages],
        folder=ROOT,
        environment=plain_environment(),
        well=(0, 1),
    )
    passed, failed = counts(done.stdout)
    if not passed:
        raise Failed(f"no test ran, see {trial.log}")
    detail = f"{checked}; stages of the tests: {', '.join(how.stages)}"
    return Outcome("failed" if done.returncode else "passed", detail, versions(how), passed, failed)


def counts(printed: str) -> tuple[int, int]:
    """How many tests of CTest and pytest passed and failed, of all stages together."""
    printed = printed.partition("The last lines of what failed:")[0]  # which are printed twice
    outcomes = [(int(every) - int(failed), int(failed)) for failed, every in CTEST.findall(printed)]
    for line in PYTEST.findall(printed):
        found = [re.search(rf"(\d+) {word}", line) for word in ("passed", "failed", "error")]
        passed, failed, errors = (int(one[1]) if one else 0 for one in found)
        outcomes.append((passed, failed + errors))
    return sum(one for one, _ in outcomes), sum(one for _, one in outcomes)


def complete(printed: str) -> str:
    """That a check measured all that it began; raises Failed where it did not."""
    try:
        cells = json.loads(printed)["cells"]
    except (ValueError, KeyError):
        raise Failed(f"the check printed no document: {reasons(printed)}") from None
    empty = [one for one in cells if not one["count"]]
    if empty or not cells:
        raise Failed(f"{len(empty)} of {len(cells)} measurements of the check have no samples")
    return f"check with {len(cells)} measurements, all complete"


def versions(how: ByWheels) -> str:
    """Of the client library, as the lock has it."""
    lock = ROOT / "setup" / "requirements" / f"ros-{how.distribution}.txt"
    lines = lock.read_text(encoding="utf-8").splitlines()
    named = [line.split()[0] for line in lines if line.split("==")[0].endswith("-rcl")]
    return named[0].replace("==", " ") if named else ""
