# SPDX-License-Identifier: Apache-2.0
"""``takt generate``: synthetic applications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from takt.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from takt.schedule.generate.blocks import Generated


def generate(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="PARAMS.json",
            help="Parameters or parameter ranges; an app.yaml for --emit-code.",
        ),
    ],
    repeat: Annotated[
        int,
        typer.Option(
            min=1, max=1_000_000, help="Number of applications per parameter combination."
        ),
    ] = 1,
    seed: Annotated[
        Optional[int],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(
            min=0,
            help="Random seed; the same seed generates the same applications. (default: drawn)",
        ),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o",
            "--out",
            help="New folder for the applications. (default: applications/NAME)",
            show_default=False,
        ),
    ] = None,
    emit_code: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write ROS 2 packages of each application below this folder."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Generate applications by the rules of Krukiewicz-Gacek 2021, and extensions, as app.yaml.

    takt analyse, simulate and execute read these files. manifest.json lists the parameters of each
    application. With --emit-code, each application also becomes packages: one for Takt,
    NAME_baseline0 and NAME_baseline1.

    Exit code: 0 generated, 2 wrong use, or parameters that contradict each other.

    Example: takt generate examples/parameters.json --repeat 10 --seed 1
    """
    import secrets

    from takt.cli.output import print_json, stdout
    from takt.schedule.generate import files
    from takt.schedule.generate.space import read_space

    if source.suffix in {".yaml", ".yml"}:
        _emit_only(source, emit_code, as_json=as_json)
        return
    space = read_space(source)
    seed = secrets.randbelow(2**32) if seed is None else seed
    folder = files.new_folder(out or Path("applications") / source.stem)
    packages: list[str] = []
    applications = files.generate(space, repeat, seed)
    if emit_code:
        applications = _emitting(applications, emit_code, packages)
    manifest = files.write(folder, applications, source, repeat, seed)
    if as_json:
        print_json({**manifest, "out": str(folder), "packages": packages})
        return
    written = len(manifest["applications"])
    stdout().print(f"{written} applications (seed {seed}): {folder}", soft_wrap=True, markup=False)
    if emit_code:
        text = f"{len(packages)} packages: {emit_code}"
        stdout().print(text, soft_wrap=True, markup=False)


def _emitting(
    applications: Iterator[Generated], folder: Path, packages: list[str]
) -> Iterator[Generated]:
    """Passes the applications on, with the packages of each."""
    from takt.schedule.generate.code import write_packages

    for one in applications:
        packages += map(str, write_packages(one.flat, folder))
        yield one


def _emit_only(source: Path, folder: Path | None, *, as_json: bool) -> None:
    from takt.cli.output import print_json, stdout
    from takt.errors import TaktError
    from takt.schedule.application.file import read_application
    from takt.schedule.application.flat import flat
    from takt.schedule.generate.code import write_packages
    from takt.schedule.generate.files import SCHEMA_VERSION

    if folder is None:
        raise TaktError(
            "an app.yaml is already an application; nothing to generate",
            where=str(source),
            fix="add --emit-code DIR for its source code, or give parameters (a JSON file)",
        )
    packages = list(map(str, write_packages(flat(read_application(source)), folder)))
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "packages": packages})
    else:
        stdout().print("\n".join(packages), soft_wrap=True, markup=False)
