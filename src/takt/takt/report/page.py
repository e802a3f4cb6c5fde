# SPDX-License-Identifier: Apache-2.0
"""What all pages share: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(package: str) -> Environment:
    """The templates of a package; a name that a page does not know is an error."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def asset(name: str, package: str = "takt.report") -> str:
    """A file that is laid into a page."""
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")


def plotly() -> str:
    """plotly.js, made safe to stand inside a script element."""
    source = resources.files("plotly") / "package_data" / "plotly.min.js"
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")


def write(file: Path, content: str) -> None:
    """Writes a page in one step: a reader never sees half of it."""
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        partial.write_text(content, encoding="utf-8")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
