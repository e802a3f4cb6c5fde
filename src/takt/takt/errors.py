# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can mend: what is wrong, where, what to do. They never show a traceback."""

from __future__ import annotations


class TaktError(Exception):
    """Wrong use: the command ends with exit code 2 and this message."""

    exit_code = 2

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        """``where: what``, as compilers do, so that editors jump there; then the remedy."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  remedy: {self.remedy}" if self.remedy else text


class Failure(TaktError):
    """Asked rightly, but it did not work out: exit code 1."""

    exit_code = 1
