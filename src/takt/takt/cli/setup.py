# SPDX-License-Identifier: Apache-2.0
"""``takt setup``: parts that are not everybody's, installed when asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

# Debian's and Ubuntu's names; the trap is that none of them is called rosmaster or roscore.
PACKAGES = {
    "ros1": (
        "pkg-config",
        "libroscpp-dev",
        "ros-message-generation",
        "python3-rosmaster",
    ),
    "cyclictest": ("rt-tests",),
    "cyclonedds": ("cyclonedds-dev", "cyclonedds-tools"),
    "rustdds": (),
    "iceoryx2": (),
    "zenoh": (),
    "ethercat": (),
    "lab": (
        *("qemu-system-x86", "busybox-static", "rt-tests", "stress-ng", "iperf3"),
        *("mtools", "grub-common", "grub-pc-bin", "grub-efi-amd64-bin"),  # the image
    ),
}
CRATES = {
    "rustdds": "takt_rustdds",
    "iceoryx2": "takt_iceoryx2",
    "zenoh": "takt_zenoh",
    "ethercat": "takt_ethercat",
}  # of the source tree; the probe is built where they are
RUST = "install Rust 1.89 or later (https://rustup.rs)"


class Part(str, Enum):
    """What can be added."""

    ros1 = "ros1"
    cyclictest = "cyclictest"
    cyclonedds = "cyclonedds"
    rustdds = "rustdds"
    iceoryx2 = "iceoryx2"
    zenoh = "zenoh"
    ethercat = "ethercat"
    lab = "lab"


def setup(
    parts: Annotated[
        list[Part],
        typer.Argument(
            help="ros1: roscpp and rosmaster, about 200 MB; cyclictest; cyclonedds: Cyclone "
            "DDS; by cargo: rustdds, iceoryx2, zenoh (about ten minutes), ethercat (a "
            "master and simulated slaves); lab: QEMU and the tools that build an image, "
            "about 100 MB.",
            metavar="PART…",
            show_default=False,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Install what additional stacks or the lab need, by apt or cargo, and build their probes.

    Asks first. Without the permission to install, prints the command to run.

    Exit code: 0 installed, 1 not installed, 2 wrong use.

    Example: takt setup ros1 cyclonedds
    """
    from takt.cli.output import stdout
    from takt.network.stacks import ON_REQUEST

    root = Path(__file__).resolve().parents[4]
    names = list(dict.fromkeys(part.value for part in parts))
    missing = {name: missing_packages(name) for name in names}
    if any(missing.values()):
        _install(names, [package for each in missing.values() for package in each], yes)
    stacks = [name for name in names if name in ON_REQUEST]
    for name in stacks:
        crate = CRATES.get(name)
        if crate and not library(crate, root).exists():
            build_crate(name, crate, root, yes=yes)
    unbuilt = [name for name in stacks if missing[name] or not probe(name, root).exists()]
    if unbuilt:
        build(unbuilt, root)
    for name in names:
        listed = "takt measure --help lists its measurements"
        hint = listed if name in stacks else f"see takt {name} --help"
        stdout().print(f"{name} is installed; {hint}")


def build(parts: Sequence[str], root: Path) -> None:
    """Builds the probes of parts in the source tree; raises Failure where one was not built."""
    from takt.errors import Failure

    if not (root / "takt").is_file():
        raise Failure(
            "cannot build: this tool was not started from its source tree",
            fix="build the package takt_probes of your workspace again",
        )
    cache = state(root) / "build" / "takt_probes" / "CMakeCache.txt"
    cache.unlink(missing_ok=True)  # it remembers what was not there
    failed = _build([root / "takt", "--setup-only"], root)
    absent = [part for part in parts if failed or not probe(part, root).exists()]
    if absent:
        raise Failure(
            f"not built: the probe of {', '.join(absent)}",
            where=str(state(root) / "setup.log"),
            fix="see the log for the missing dependency",
        )


def state(root: Path) -> Path:
    """Where the launcher of a source tree builds for the ROS 2 that was chosen."""
    return root / os.environ.get("TAKT_STATE", ".takt")


def library(crate: str, root: Path) -> Path:
    """Where cargo puts a crate of ours, and the build of the probes finds it."""
    return state(root) / "build" / crate / "release" / f"lib{crate}.a"


def probe(part: str, root: Path) -> Path:
    """Where the probe of a part is installed in a source tree."""
    return state(root) / "install" / "lib" / "takt_probes" / f"probe_{part}"


def missing_packages(part: str) -> list[str]:
    """The packages of a part that are not installed; raises Failure where there is no dpkg."""
    from takt.errors import Failure

    names = PACKAGES[part]
    if not names:
        return []
    if shutil.which("dpkg-query") is None or shutil.which("apt-get") is None:
        raise Failure(
            "this system has no apt",
            fix=f"install the equivalents of these Debian packages: {' '.join(names)}; then: "
            "./takt --setup-only",
        )
    query = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *names]
    done = subprocess.run(query, capture_output=True, text=True)
    there = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
    return [name for name in names if name not in there]


def _install(parts: Sequence[str], names: list[str], yes: bool) -> None:
    from takt.errors import Failure

    sudo = [] if os.geteuid() == 0 else ["sudo"]
    patience = "--option=DPkg::Lock::Timeout=900"  # another package manager may be at work
    install = ["apt-get", "install", "--yes", "--no-install-recommends", patience, *names]
    commands = [[*sudo, "apt-get", "update"], [*sudo, *install]]  # no lists on a bare machine
    line = " && ".join(map(" ".join, commands))
    by_hand = f"run: {line}; then: ./takt setup {' '.join(parts)}"
    if sudo and shutil.which("sudo") is None:
        raise Failure("packages are missing, and only root can install them", fix=by_hand)
    if not yes:
        _ask(parts, "packages are missing", line, by_hand)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in commands:
        if subprocess.run(command, env=environment, stdout=2).returncode:
            raise Failure(
                f"{' '.join(command[len(sudo) :][:2])} failed", fix="see apt's messages above"
            )


def build_crate(part: str, crate: str, root: Path, *, yes: bool) -> None:
    """Builds a crate of the source tree; raises Failure where there is no cargo or it fails."""
    from takt.errors import Failure

    cargo = shutil.which("cargo") or shutil.which("cargo", path=Path.home() / ".cargo" / "bin")
    if cargo is None:
        raise Failure("cargo is not installed", fix=f"{RUST}, then: ./takt setup {part}")
    target = library(crate, root).parents[1]
    command = [cargo, "build", "--release", "--locked", "--target-dir", str(target)]
    source = root / "src" / crate
    line = f"cd {source} && {' '.join(command)}"
    if not yes:
        _ask(
            [part],
            "this downloads and builds several hundred crates, for several minutes",
            line,
            f"run: {line}",
        )
    if _build(command, source):
        raise Failure(
            "cargo build failed", fix=f"see cargo's messages above; if cargo is outdated: {RUST}"
        )


def _build(command: Sequence[str | Path], folder: Path) -> int:
    """Runs what ends with this process, and all that it has started; returns its exit code."""
    from takt.processes.process import Process

    process = Process(command, stdout=2, stderr=2, watched=True, folder=folder)
    try:
        return process.wait() or 0
    finally:
        process.end()


def _ask(parts: Sequence[str], why: str, line: str, by_hand: str) -> None:
    """Returns where the user agrees; raises Failure where not."""
    from takt.cli.output import stderr
    from takt.errors import Failure

    if not sys.stdin.isatty():
        fix = f"confirm with ./takt setup {' '.join(parts)} --yes, or {by_hand}"
        raise Failure(f"{why}, and standard input is not an interactive terminal", fix=fix)
    stderr().print(line, markup=False, soft_wrap=True)
    if not typer.confirm("Run this?", err=True):
        raise Failure("nothing was installed", fix=by_hand)
