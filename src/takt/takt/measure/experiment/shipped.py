# SPDX-License-Identifier: Apache-2.0
"""The experiments that come with Takt, and those of the installed papers."""

from __future__ import annotations

from pathlib import Path

from takt import plugins
from takt.errors import Failure

EXPERIMENT = "experiment.yaml"  # in the folder of a paper


def experiments() -> Path:
    """The folder of Takt's own experiments: of the source tree, or of an installation."""
    here = Path(__file__).resolve()
    names = ("experiments", "share/takt/experiments")
    for place in (parent / name for parent in here.parents for name in names):
        if (place / "quick.yaml").is_file():
            return place
    raise Failure("Takt's experiments are not installed", where=str(here.parents[3]))


def every_experiment() -> dict[str, Path]:
    """The files by name: Takt's own, and that of each paper that is an experiment."""
    papers = plugins.loaded(plugins.PAPERS, lambda one: Path(one.__file__).with_name(EXPERIMENT))
    own = {one.stem: one for one in experiments().glob("*.yaml")}
    return dict(sorted({**{n: f for n, f in papers.items() if f.is_file()}, **own}.items()))
