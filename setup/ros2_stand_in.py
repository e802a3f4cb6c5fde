#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for ros2cli, which no wheel has: ``ros2 run``, and commands found by entry point.

Does by argparse what ros2cli asks of an extension: a parser of its own below the root's, the root's
parser run once before the extension has its arguments, then ``add_arguments`` and ``main``.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix


class Run:
    """Run an executable of a package."""

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        """Package, executable, and all that follows."""
        parser.add_argument("package")
        parser.add_argument("executable")
        parser.add_argument("argv", nargs=argparse.REMAINDER)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Become the program."""
        program = Path(get_package_prefix(args.package), "lib", args.package, args.executable)
        os.execv(program, [str(program), *args.argv])  # noqa: S606


def main() -> Any:
    root = argparse.ArgumentParser("ros2")
    root.add_argument("--use-python-default-buffering", action="store_true")
    parsers = root.add_subparsers(dest="command")
    known = {one.name: one for one in entry_points().select(group="ros2cli.command")}
    below = {name: parsers.add_parser(name, add_help=True) for name in (*known, "run")}
    exit_, help_ = argparse.ArgumentParser.exit, argparse.ArgumentParser.print_help
    argparse.ArgumentParser.exit = lambda *_: None  # type: ignore[method-assign,assignment]
    argparse.ArgumentParser.print_help = lambda *_: None  # type: ignore[method-assign]
    name = root.parse_known_args()[0].command
    argparse.ArgumentParser.exit, argparse.ArgumentParser.print_help = exit_, help_  # type: ignore[method-assign]
    if name is None:
        root.print_help()
        return 0
    extension = known[name].load()() if name in known else Run()
    extension.add_arguments(below[name], f"ros2 {name}")
    return extension.main(parser=root, args=root.parse_args())


if __name__ == "__main__":
    sys.exit(main())
