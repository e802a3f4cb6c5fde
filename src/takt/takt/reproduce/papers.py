# SPDX-License-Identifier: Apache-2.0
"""The papers that can be reproduced: plug-ins of the group ``takt.papers``."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from takt import plugins
from takt.errors import TaktError


def names() -> list[str]:
    """The papers of all installed distributions, without importing them."""
    return list(plugins.found(plugins.PAPERS))


def module(paper: str) -> ModuleType:
    """The package of a paper; raises TaktError if there is none, Failure if it does not load."""
    plug_in = plugins.found(plugins.PAPERS).get(paper)
    if plug_in is None:
        there = ", ".join(names()) or "install a plug-in with papers"
        raise TaktError(f"unknown paper {paper!r}", where="PAPER", fix=f"one of {there}")
    found: ModuleType = plug_in.load()
    return found


def hosts(paper: str) -> tuple[str, ...]:
    """The machines of a paper that can be workers; raises as :func:`module` does."""
    found: tuple[str, ...] = getattr(module(paper), "HOSTS", ())
    return found


def refuse_without_experiment(paper: str, option: str) -> None:
    """Raises TaktError where a paper has no measurements, which this option is for."""
    from takt.measure.experiment.shipped import EXPERIMENT

    if not (folder(paper) / EXPERIMENT).exists():
        raise TaktError(f"{paper} has no measurements", where=option, fix=f"omit {option}")


def folder(paper: str) -> Path:
    """Where the files of a paper are; raises as :func:`module` does."""
    return Path(str(module(paper).__file__)).parent
