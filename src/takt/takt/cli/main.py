# SPDX-License-Identifier: Apache-2.0
"""The root of the command line.

A command is a module ``takt.cli.<name>`` with one typed function of the same name; its docstring is
its help; one that is a keyword of Python has an underscore behind it there. Where it has ``PARTS``,
each is a command below it, ``takt.cli.<name>_<part>``.
Only the module of the command that is called is imported, and these modules import everything heavy
inside their function, so that the tool starts at once.
"""

from __future__ import annotations

import importlib
import keyword
import sys
from typing import TYPE_CHECKING, Any

from takt import __version__

if TYPE_CHECKING:
    import typer

# In the order in which a newcomer meets them.
COMMANDS = (
    "check",
    "doctor",
    "tune",
    "lab",
    "measure",
    "run",
    "report",
    "compare",
    "history",
    "reproduce",
    "analyse",
    "simulate",
    "compare-executors",
    "execute",
    "record",
    "spin",
    "model",
    "metrics",
    "gate",
    "explain",
    "generate",
    "import",
    "campaign",
    "scheduler",
    "worker",
    "trace",
    "view",
    "top",
    "bench",
    "clean",
    "setup",
)


def main(arguments: list[str] | None = None) -> None:
    """Run the tool and leave the process with its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:  # not worth importing anything for
        sys.stdout.write(f"takt {__version__}\n")
        sys.exit(0)
    from takt.cli.ending import ending

    with ending(arguments):
        _application()(arguments, prog_name="takt")


def function_name(command: str) -> str:
    """Of a command, or of a part of one (``lab image``), and of its module."""
    return command.replace("-", "_").replace(" ", "_") + "_" * keyword.iskeyword(command)


def _application() -> Any:
    """Build the group of commands, each loaded when it is looked up."""
    import typer
    import typer.main

    from takt.cli.usage import Command, Group, readable

    class LazyCommands(Group):
        def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
            return list(COMMANDS)

        def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
            if cmd_name not in COMMANDS:
                return None
            name = function_name(cmd_name)
            module = importlib.import_module(f"takt.cli.{name}")
            single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            function = getattr(module, name)
            parts = getattr(module, "PARTS", ())
            if parts:
                single.callback(cls=Group, invoke_without_command=True)(function)
            else:
                single.command(name=cmd_name, cls=Command)(function)
            for part in parts:
                below = importlib.import_module(f"takt.cli.{cmd_name}_{part}")
                single.command(name=part, cls=Command)(getattr(below, part))
            command = typer.main.get_command(single)
            command.name = cmd_name
            return readable(command)

    root = typer.Typer(
        cls=LazyCommands,
        add_completion=False,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        rich_markup_mode="rich",
    )

    @root.callback()
    def takt(
        version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    ) -> None:
        """Real-time ROS 2, measured, scheduled and proved.

        Start with: takt check
        """
        if version:
            sys.stdout.write(f"takt {__version__}\n")
            raise typer.Exit

    return readable(typer.main.get_command(root))
