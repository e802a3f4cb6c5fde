# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can mend: what is wrong, where, what to do. They never show a traceback."""

from __future__ import annotations

import os
import re

COMMAND = re.compile(r"\btakt (-|[a-z])")  # in a fix


class TaktError(Exception):
    """Wrong use: the command ends with exit code 2 and this message."""

    exit_code = 2

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        """``where: what``, as compilers do, so that editors jump there; then the fix."""
        text = shortened(self.what, 1200)
        if self.where:
            text = f"{shortened(self.where, 300)}: {text}"
        if not self.fix:
            return text
        return f"{text}\n  fix: {shortened(self.fix, 400)}{with_wheels(self.fix)}"


class Failure(TaktError):
    """Asked rightly, but it did not work out: exit code 1."""

    exit_code = 1


def with_wheels(fix: str) -> str:
    """What a command of a fix needs so that it means this ROS 2, where it is not the default."""
    ros = os.environ.get("TAKT_ROS")
    default = os.environ.get("TAKT_STATE", ".takt") == ".takt"
    return f" (with --ros {ros})" if ros and not default and COMMAND.search(fix) else ""


def shortened(text: str, most: int) -> str:
    """At most so many characters, with the middle left out: bad input may be of any length."""
    if len(text) <= most:
        return text
    left_out = f" … ({len(text) - most} characters) … "
    half = (most - len(left_out)) // 2
    return text[:half] + left_out + text[-half:]
