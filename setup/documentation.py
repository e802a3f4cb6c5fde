# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: ``docs/`` in ``.takt/site``, built by Sphinx; a warning is an error.

The pages that are made from the code and from the headers are written before, and not tracked.

Usage: .takt/venv/bin/python setup/documentation.py. What it needs comes on its first use.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "src" / "takt"))
from setup import bootstrap, cpp_pages
from setup.distributions import STATE
from setup.steps import SetupError, say, together

from takt import reference

SITE = STATE / "site"


def commands() -> list[list[str]]:
    """The documentation site, without a warning."""
    return [[sys.executable, __file__]]


def main() -> int:
    try:
        with (STATE / "lock").open("w") as lock:
            bootstrap.acquire(lock)
            together(bootstrap.make_environment("docs", "docs", "the site's Python environment"))
    except SetupError as error:
        say(f"takt: {error}")
        return 2
    reference.write()
    cpp_pages.write()
    python = STATE / "docs" / "bin" / "python"
    # Anew each time: a page that was not read again has no warnings.
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--fresh-env", "--write-all"]
    code = subprocess.run(
        [python, "-m", "sphinx", *options, str(bootstrap.ROOT / "docs"), str(SITE)]
    ).returncode
    if not code:
        say(f"the site: {SITE / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
