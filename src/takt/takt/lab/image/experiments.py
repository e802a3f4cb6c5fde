# SPDX-License-Identifier: Apache-2.0
"""Which experiments go onto a stick: those that one machine can do with what is on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from takt.errors import TaktError
from takt.lab.image import content
from takt.measure.experiment.file import read_experiment
from takt.measure.experiment.model import Experiment
from takt.network.stacks import Stacks, parts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")  # a word of the kernel's command line


def chosen(default: Path, others: Mapping[str, Path]) -> dict[str, bytes]:
    """The default one and others, by their names.

    Raises TaktError where the default one is not well-formed, or cannot be measured there.
    """
    inside = content.stacks_inside()
    if why := _unfit(read_experiment(default)[0], inside):
        raise TaktError(f"this experiment cannot run from a stick: {why}", where=str(default))
    if not _NAME.fullmatch(default.stem):
        raise TaktError(
            "an experiment's file needs a name of letters, digits, dots and dashes",
            where=str(default),
            fix="the kernel's command line selects it by this name: rename it",
        )
    fit = {
        name: one
        for name, one in others.items()
        if name != default.stem and not _unfit(read_experiment(one)[0], inside)
    }
    return {name: one.read_bytes() for name, one in {**fit, default.stem: default}.items()}


def _unfit(experiment: Experiment, inside: list[str]) -> str:
    """Why it cannot run on one machine with these stacks; empty: it can."""
    each = experiment.measurements
    if any(host != "here" for one in each for host in one.host):
        return "it needs a second host"
    named = {name for one in each for stack in one.stack for name in parts(stack)}
    lacking = sorted(named.difference(inside))
    skipped = experiment.skip_missing and all(map(Stacks({}).is_known, lacking))
    if lacking and not (skipped and named.intersection(inside)):
        return (
            f"its stacks {', '.join(lacking)} are not on the stick (available: {', '.join(inside)})"
        )
    return ""
