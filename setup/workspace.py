# SPDX-License-Identifier: Apache-2.0
"""The build of the workspace by colcon, Ninja and, where it is installed, ccache; its progress."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from setup.distributions import WITHOUT_ROS, without_ros
from setup.levels import measures_only

# How the time of a first build divides, in percent, measured; only the estimate depends on it.
SHARES = {
    True: {
        "takt_core": 41,
        "takt_interfaces": 10,
        "takt_rcl": 16,
        "takt_rclcpp": 1,
        "takt_probes": 32,
    },
    False: {
        "takt_core": 40,
        "takt_record": 1,
        "takt_interfaces": 5,
        "takt_rcl": 15,
        "takt_rclcpp": 4,
        "takt_probes": 22,
        "takt_runner": 13,
    },
}
STARTED = re.compile(r"^Starting >>> (\w+)", re.MULTILINE)
FINISHED = re.compile(r"^Finished <<< (\w+)", re.MULTILINE)
STEP = re.compile(r"^\[(\d+)/(\d+)\] ", re.MULTILINE)
WORTH_AN_ESTIMATE_S = 10.0
# Collecting GCC's garbage takes a tenth of the compile time: with enough memory, not below 400 MB.
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
AMPLE = 3 << 30  # bytes for each compiler that runs at a time
QUICK_COMPILER = "--param=ggc-min-heapsize=400000" if AMPLE * (os.cpu_count() or 1) < MEMORY else ""
# Debug information is a quarter of the compile time; the code is the same without it.
RELEASE = f"-O2 -DNDEBUG {QUICK_COMPILER}".rstrip()


def command(root: Path, state: Path, level: str, nanobind: str, ros: Path | None) -> list[str]:
    """Colcon's command line; what has not changed is not built again."""
    only = measures_only(level)
    # takt itself is pure Python: it runs from its source folder.
    chosen = ["--packages-up-to=takt_probes"] if only else ["--packages-skip=takt"]
    if without_ros():
        packages = (one.parent.name for one in sorted((root / "src").glob("*/package.xml")))
        chosen = ["--packages-ignore", *(one for one in packages if one not in WITHOUT_ROS)]
    of_ros = (
        [
            f"-DTAKT_ROS_WHEELS={ros}",
            f"-DPython3_EXECUTABLE={ros / 'bin/python'}",
            f"-DPython_EXECUTABLE={ros / 'bin/python'}",
        ]
        if ros
        else []
    )
    return [
        str(state / "venv" / "bin" / "colcon"),
        f"--log-base={state / 'log'}",
        "build",
        "--merge-install",
        f"--base-paths={root / 'src'}",
        f"--build-base={state / 'build'}",
        f"--install-base={state / 'install'}",
        *chosen,
        *parallel(only),
        "--event-handlers=console_direct+",
        "--cmake-args",
        "-GNinja",
        "-DCMAKE_BUILD_TYPE=Release",
        *(f"-DCMAKE_{language}_FLAGS_RELEASE={RELEASE}" for language in ("C", "CXX")),
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DBUILD_TESTING={'ON' if level == 'dev' else 'OFF'}",
        f"-DTAKT_CHECK_ONLY={'ON' if level == 'check' else 'OFF'}",
        f"-DTAKT_MEASURE_ONLY={'ON' if only else 'OFF'}",
        f"-Dnanobind_ROOT={nanobind}",
        *of_ros,
    ]


def parallel(only: bool, memory: int = MEMORY) -> list[str]:
    """How many packages at a time.

    CMake configures on one core, links on one, and the messages are generated on one: other
    packages are built beside that. Without ample memory for the compilers of two, what is built
    beside measuring comes one at a time.
    """
    if only or memory > 2 * AMPLE * (os.cpu_count() or 1):
        return ["--executor=parallel", "--parallel-workers=2"]
    return ["--executor=sequential"]


def forget_unfinished(state: Path) -> None:
    """Lets packages be configured again that an interrupt left without a build.

    Colcon takes CMake's cache for a configured package, where Ninja then has nothing to load.
    """
    for cache in (state / "build").glob("*/CMakeCache.txt"):
        if not cache.with_name("build.ninja").exists():
            cache.unlink()


def environment(
    root: Path, state: Path, ros: Path | None, given: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """What the build finds, and how: the tools, ROS 2, the compiler's cache."""
    # Without MAKEFLAGS colcon limits Ninja by the load average: a busy machine builds one by one.
    variables = {"MAKEFLAGS": f"-j{os.cpu_count()}"}
    if shutil.which("ccache", path=given.get("PATH")):
        # A second clone finds what the first one compiled: paths below the root are no difference.
        variables |= {"CCACHE_BASEDIR": str(root), "CCACHE_NOHASHDIR": "1"}
        # Without it what has precompiled headers is not kept.
        variables["CCACHE_SLOPPINESS"] = "pch_defines,time_macros"
        variables |= dict.fromkeys(
            ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"), "ccache"
        )
    variables |= given
    tools = [state / "venv" / "bin"]
    if ros:
        tools.insert(0, ros / "bin")
        for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH"):  # packages beside the wheels
            variables[name] = ":".join(filter(None, (str(ros), given.get(name))))
    variables["PATH"] = ":".join([*map(str, tools), variables["PATH"]])
    return variables


def progress(log: str, elapsed_s: float, level: str) -> str:
    """How far the build is by its log: package, step, and what that means for the rest."""
    shares = SHARES[measures_only(level)]
    if without_ros():
        shares = {name: shares[name] for name in WITHOUT_ROS}
    started = list(STARTED.finditer(log))
    finished = list(FINISHED.finditer(log))
    active = [one[1] for one in started if one[1] not in {other[1] for other in finished}]
    if not active:
        return ""
    number = f"{len(started)}" if len(active) == 1 else f"{len(started) - 1} and {len(started)}"
    packages = "package" if len(active) == 1 else "packages"
    text = f"{' and '.join(active)}, {packages} {number} of {len(shares)}"
    done = float(sum(shares.get(one[1], 0) for one in finished))
    # A step does not say of which package it is.
    steps = STEP.findall(log, max(one.end() for one in started + finished))
    if steps and len(active) == 1:
        step, total = map(int, steps[-1])
        text += f", step {step} of {total}"
        done += shares.get(active[0], 0) * step / total
    if done and elapsed_s > WORTH_AN_ESTIMATE_S:
        text += f", about {elapsed_s * (sum(shares.values()) - done) / done:.0f} s left"
    return text


def make_prefix(ros: Path) -> None:
    """Lets colcon take the wheels for a prefix like any other: without these files it warns."""
    for shell in ("sh", "bash", "zsh", "ps1"):
        text = "# Nothing: what packages need is in the environment.\n"
        (ros / f"local_setup.{shell}").write_text(text, encoding="utf-8")


def underlay(state: Path, ros: Path | None) -> str:
    """What a user sources to build packages against Takt, as against any workspace."""
    lines = ["# Source me: Takt and its ROS 2 as the underlay of packages of your own."]
    if ros:
        lines += [
            f'export PATH="{ros}/bin:{state}/venv/bin:$PATH"',
            f'export VIRTUAL_ENV="{ros}"  # the Python that CMake shall find',
            "export CMAKE_GENERATOR=Ninja  # which is there, make perhaps not",
            *(
                f'export {name}="{ros}${{{name}:+:${name}}}"'
                for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH")
            ),
        ]
    lines.append(f'. "{state}/install/setup.sh"')
    return "\n".join(lines) + "\n"
