# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can fix: what is wrong, where, what to do. They never show a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TypeVar

Error = TypeVar("Error", bound="TaktError")
MOST = 9  # faults of one file that are reported; the others are counted
_SCREEN = 1900  # characters of all errors together, if there are several
COMMAND = re.compile(r"\btakt (-|[a-z])")  # in a fix


class TaktError(Exception):
    """Wrong use: the command ends with exit code 2 and this message."""

    exit_code = 2

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix
        self.others: Sequence[TaktError] = ()  # found at the same time, reported after this one
        self.uncounted = 0  # found besides, but not reported

    def __str__(self) -> str:
        """``where: what``, as compilers do, so that editors jump there; then the fix.

        Errors in a row with the same fix show it once.
        """
        shown = self._shown(1 + len(self.others))
        for count in range(len(self.others), 0, -1):
            if len(shown) <= _SCREEN:
                break
            shown = self._shown(count)
        return shown

    def _shown(self, count: int) -> str:
        """The first of the errors; the others are counted."""
        every = [self, *self.others][:count]
        uncounted = self.uncounted + 1 + len(self.others) - count
        lines = []
        for one, after in zip(every, [*every[1:], None], strict=True):
            text = shortened(one.what, 1200)
            lines.append(f"{shortened(one.where, 300)}: {text}" if one.where else text)
            if after is None and uncounted:
                lines.append(f"… and {uncounted} more fault{'s' * (uncounted > 1)}")
            if one.fix and (after is None or after.fix != one.fix):
                lines.append(f"  fix: {shortened(one.fix, 400)}{with_wheels(one.fix)}")
        return "\n".join(lines)


class Failure(TaktError):
    """Asked rightly, but it did not work out: exit code 1."""

    exit_code = 1


class Unsupported(Failure):
    """Asked rightly, but this machine or installation does not have what it takes: exit code 2."""

    exit_code = 2


def together(errors: Sequence[Error]) -> Error:
    """Several errors as one: the first, which reports the others after itself."""
    first = errors[0]
    first.others = errors[1:MOST]
    first.uncounted = len(errors[MOST:])
    return first


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
