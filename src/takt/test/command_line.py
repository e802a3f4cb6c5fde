# SPDX-License-Identifier: Apache-2.0
"""Calls ``takt`` in this process."""

from __future__ import annotations

from collections.abc import Sequence

from takt.cli.main import main


def takt(arguments: Sequence[str]) -> int:
    """The exit code."""
    try:
        main(list(arguments))
    except SystemExit as ended:
        return int(ended.code or 0)
    raise AssertionError("main always ends the process")
