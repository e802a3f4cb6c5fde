# SPDX-License-Identifier: Apache-2.0
"""A wheel of the tool: built by pip, then tagged by auditwheel for the systems on which it runs.

Usage: .takt/venv/bin/python setup/release/wheel.py; the wheel goes to .takt/release/wheel.
auditwheel takes the tag (manylinux_2_NN) from the symbols that the compiled parts ask of the C and
C++ libraries, and refuses what would need a library that not every Linux has.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
from setup.distributions import ROOT, STATE
from setup.release.environment import FOLDER, ReleaseError, call, compiling, tools
from setup.steps import SetupError

SOURCE = ROOT / "setup" / "wheel"


def make() -> Path:
    """The wheel; raises ReleaseError and SetupError."""
    bin_folder = tools()
    environment = compiling([STATE / "venv" / "bin", bin_folder])
    built, wheel_folder = FOLDER / "built", FOLDER / "wheel"
    for folder in (built, wheel_folder):
        shutil.rmtree(folder, ignore_errors=True)
    # Of the same depth as the launcher's, for ccache; an ended build goes on.
    options = ["--no-deps", "--no-build-isolation"]
    options += [f"--config-settings=build-dir={STATE / 'build-wheel' / 'core'}"]
    pip = [STATE / "venv" / "bin" / "python", "-m", "pip", "wheel", *options]
    call("the wheel", [*pip, "--wheel-dir", built, SOURCE], environment)
    repair = [bin_folder / "auditwheel", "repair", "--plat", "auto", "--wheel-dir", wheel_folder]
    call("its tag", [*repair, *built.glob("takt-*.whl")], environment)
    (wheel,) = wheel_folder.glob("takt-*-manylinux*.whl")
    return wheel


def main() -> int:
    try:
        print(make())
    except (ReleaseError, SetupError) as error:
        print(f"takt: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
