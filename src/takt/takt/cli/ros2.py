# SPDX-License-Identifier: Apache-2.0
"""``ros2 takt``: the tool as a command of ROS 2's command line.

The entry point of the group ``ros2cli.command`` (``setup.cfg``). ros2cli asks its extensions for no
base class, so nothing of it is imported: who has no ros2cli has the tool all the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys


class TaktCommand:
    """Real-time ROS 2, measured, scheduled and proved."""

    NAME: str | None = None  # set by ros2cli
    EXTENSION_POINT_VERSION = "0.1"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        """All that follows is the tool's, ``--help`` too: to this parser nothing is an option."""
        parser.prefix_chars = ""
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Become the tool: its exit code, signals and output are those of this process."""
        # As the root's help says: "Call `ros2 <command> -h`".
        given = ["--help" if one == "-h" else one for one in args.arguments]
        # ros2 is the system's Python; the tool's packages are in the environment that is active.
        python = shutil.which("python3") or sys.executable
        sys.stdout.flush()
        os.execv(python, [python, "-m", "takt", *given])  # noqa: S606
