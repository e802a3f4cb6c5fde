# SPDX-License-Identifier: Apache-2.0
"""What all pages share: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

from importlib import resources

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


def asset(name: str, package: str = "takt.pages") -> str:
    """A file that is laid into a page."""
    return (resources.files(package) / "templates" / name).read_text(encoding="utf-8")


def scripts(*own: tuple[str, str]) -> str:
    """The scripts that pages share, then the page's own by package."""
    shared = [(name, "takt.pages") for name in ("folds.js", "numbers.js", "drawing.js")]
    return "\n".join(asset(name, package) for name, package in (*shared, *own))
