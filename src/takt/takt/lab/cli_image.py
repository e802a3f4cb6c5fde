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
        typer.Option(help="Experiment that runs by default. (default: quick)", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Image file to write.")] = Path(
        "takt.img"
    ),
    as_json: AsJson = False,
) -> None:
    """Build a USB stick image that boots a PC into PREEMPT_RT, measures, and powers it off.

    The image holds Debian's RT kernel, this tool, its probes and all their libraries. It installs
    nothing on the PC and does not touch its disks. A menu offers the experiments for a single
    machine, and a shell. Results are stored on the stick as ordinary run folders; takt lab runs
    copies them back. The build is reproducible: equal inputs give equal bytes.

    Exit code: 0 the image is built, 1 a required tool or file is missing, 2 wrong use.

    Example: takt lab image
    Example: takt lab image --experiment mine.yaml --out mine.img
    """
    from takt.cli.output import print_json, stderr, stdout
    from takt.lab import kernels
    from takt.lab.image import disk, experiments, make
    from takt.measure.experiment.shipped import every_experiment
    from takt.measure.experiment.shipped import experiments as shipped

    disk.check_tools()
    make.check_place(out)
    default = experiment or shipped() / "quick.yaml"
    chosen = experiments.chosen(default, every_experiment())
    with stderr().status("downloading Debian's RT kernel with apt") as status:
        kernel = kernels.real_time(kernels.OF_A_PC, show=status.update)
        written = make.make(out, kernel, chosen, default.stem, status.update)
    if as_json:
        print_json(written.model_dump(mode="json"))
        return
    others = ", ".join(one for one in written.experiments if one != written.experiment) or "none"
    size = f"{written.bytes / 1e6:.0f} MB, {written.used / 1e6:.0f} MB used"
    write = f"sudo dd if={written.image} of=/dev/sdX bs=4M conv=fsync status=progress"
    for line in (
        f"{written.image}: {size}; {written.kernel}",
        f"Default experiment: {written.experiment}; others in the menu: {others}",
        f"Write it to a stick (this erases the stick): {write}",
        "Boot a PC from it, without Secure Boot; the PC powers off after the measurement.",
        "Copy the runs back: takt lab runs /dev/sdX",
    ):
        stdout().print(line, markup=False, soft_wrap=True)
