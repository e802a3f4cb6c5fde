# SPDX-License-Identifier: Apache-2.0
"""Tries a compiler: what users build compiles without a warning, tests of the core pass."""

from __future__ import annotations

from setup import compiled
from setup.compilers import Wanted
from setup.matrix.entries import ByCompiler
from setup.matrix.trial import Failed, LeftOut, Outcome, Trial
from setup.unpacked import FetchError, UnpackError


def tried(how: ByCompiler, trial: Trial) -> Outcome:
    """Of its own version, or unpacked; raises LeftOut where it cannot be had."""
    wanted = Wanted(how.family, how.version)
    try:
        result = compiled.tried(wanted, trial.folder, how.tests)
    except FetchError as error:
        raise LeftOut(str(error).splitlines()[0]) from None
    except UnpackError as error:
        raise Failed(str(error)) from None
    if isinstance(result, str):
        raise LeftOut(result)
    detail = (
        f"{result.files} files compile without a warning"
        if not result.wrong
        else f"{result.wrong} errors, warnings or failing programs in {result.files} files"
    )
    return Outcome(
        "failed" if result.wrong else "passed",
        detail,
        result.version,
        result.passed,
        result.failed,
    )
