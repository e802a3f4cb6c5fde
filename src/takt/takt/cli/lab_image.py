# SPDX-License-Identifier: Apache-2.0
"""``takt lab image``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from takt.cli.options import AsJson


def image(
    experiment: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it on Python 3.10
        typer.Option(help="What it runs when nobody chooses. (default: quick)", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option(help="The image.")] = Path("takt.img"),
    as_json: AsJson = False,
) -> None:
    """Make a stick from which a PC boots into PREEMPT_RT, measures, and switches itself off.

    The image holds Debian's RT kernel, this tool, its probes and all libraries of theirs; nothing
    is installed on the PC, and nothing of its disks is touched. A menu offers the experiments that
    need one machine, and a shell. What was measured lies on the stick as ordinary run folders,
    which takt lab runs brings home. Made from the same things, it has the same bytes.

    Exit code: 0 it is made, 1 something that it needs is not there, 2 wrong use.

    Example: takt lab image
    Example: takt lab image --experiment mine.yaml --out mine.img
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.lab import kernels
    from takt.lab.image import disk, experiments, make
    from takt.reproduce.published import experiments as published

    disk.check_tools()
    make.check_place(out)
    default = experiment or published() / "quick.yaml"
    chosen = experiments.chosen(default, published())
    with stderr().status("asking apt for Debian's RT kernel") as status:
        kernel = kernels.of_a_pc(tell=status.update)
        made = make.make(out, kernel, chosen, default.stem, status.update)
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    others = ", ".join(one for one in made.experiments if one != made.experiment) or "none"
    size = f"{made.bytes / 1e6:.0f} MB, {made.used / 1e6:.0f} MB of it used"
    write = f"sudo dd if={made.image} of=/dev/sdX bs=4M conv=fsync status=progress"
    for line in (
        f"{made.image}: {size}; {made.kernel}",
        f"It runs {made.experiment}; its menu offers besides: {others}",
        f"Write it to a stick, which loses what is on it: {write}",
        "Boot a PC from it, without Secure Boot; it switches itself off when it has measured.",
        "Bring home what it measured: takt lab runs /dev/sdX",
    ):
        stdout().print(line, markup=False, soft_wrap=True)
