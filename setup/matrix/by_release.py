# SPDX-License-Identifier: Apache-2.0
"""Tries a package for users: its tests with the marker ``release`` make, install and use it.

See setup/release; nothing is published.
"""

from __future__ import annotations

import os

from setup.distributions import ROOT, STATE
from setup.matrix.by_python import FAILED, PASSED, SKIPPED, last
from setup.matrix.entries import ByRelease
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial, plain_environment

TESTS = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "release"]


def tried(how: ByRelease, trial: Trial) -> Outcome:
    """Raises LeftOut where all of its tests are left out."""
    own = plain_environment() | {
        "PYTHONPATH": str(ROOT / "src" / "takt"),
        "PATH": f"{STATE / 'venv' / 'bin'}:{os.environ['PATH']}",
    }
    command = [STATE / "venv" / "bin" / "python", *TESTS, *how.tests]
    done = trial.call("tests", command, folder=ROOT, environment=own, well=(0, 1))
    passed, failed, skipped = (last(one, done.stdout) for one in (PASSED, FAILED, SKIPPED))
    if not passed and not failed:
        if "skipped" in done.stdout:
            raise LeftOut(f"all of its tests are left out, see {trial.log}")
        raise Failed(f"no test ran, see {trial.log}")
    detail = "made, installed and used"
    return Outcome("failed" if failed else "passed", detail, "", passed, failed, skipped)
