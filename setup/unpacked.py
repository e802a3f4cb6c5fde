# SPDX-License-Identifier: Apache-2.0
"""Programs out of Debian's packages: fetched and checked by apt, unpacked, never installed."""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

RELEASE = "trixie"
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FETCH_S, CALL_S = 600.0, 600.0
MACHINE = "x86_64-linux-gnu"


class UnpackError(Exception):
    """What stopped it and what to do about it."""


class FetchError(UnpackError):
    """The packages do not come: no network, or a mirror that lacks them."""


def call(command: Sequence[str], folder: Path = Path("/")) -> subprocess.CompletedProcess[str]:
    """What a program said; one that does not end has failed."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CALL_S,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"it did not end in {CALL_S:.0f} s")


def loader(system: Path) -> list[str]:
    """What starts a program of an unpacked system."""
    libraries = system / "usr" / "lib" / MACHINE
    return [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries)]


def refusal() -> str:
    """Why nothing can be had this way here; empty where it can."""
    if not mirror_of_debian():
        return "this is no Debian, whose packages fit"
    if platform.machine() != "x86_64":
        return f"this machine is {platform.machine()}, not x86_64"
    missing = [one for one in ("apt-get", "dpkg-deb") if shutil.which(one) is None]
    return f"{missing[0]} is not installed" if missing else ""


def system(state: Path, packages: Sequence[str]) -> Path:
    """A folder that is like the root of a system with these packages; raises UnpackError."""
    mirror = mirror_of_debian()
    state.mkdir(parents=True, exist_ok=True)
    folder, stamp = state / "system", state / "unpacked"
    content = f"{mirror} {RELEASE} {' '.join(packages)}\n"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != content:
        unpack(fetch(state, mirror, packages), folder)
        stamp.write_text(content, encoding="utf-8")
    return folder


def mirror_of_debian() -> str:
    """Where this machine's own apt gets Debian from; empty where it does not."""
    if not KEYS.exists() or shutil.which("apt-get") is None:
        return ""
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    lines = [line.partition("=") for line in release.splitlines()]
    names = {value.strip('"') for key, _, value in lines if key.endswith("CODENAME")}
    printed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"],
        capture_output=True,
        text=True,
    )
    pairs = [line.split() for line in printed.stdout.splitlines()]
    found = [one[1] for one in pairs if len(one) == 2 and one[0] in names]
    return found[0] if found else ""


def fetch(state: Path, mirror: str, packages: Sequence[str]) -> list[Path]:
    """The packages and all that they need, their signatures checked; raises UnpackError."""
    apt = state / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()  # nothing is installed
    (apt / "sources.list").write_text(f"deb [signed-by={KEYS}] {mirror} {RELEASE} main\n")
    # Proxies and certificates are those of the machine; only its packages and sources are not.
    settings = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::State": apt,
        "Dir::State::Status": apt / "status",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "",
        "APT::Update::Post-Invoke-Success": "",
        "APT::Update::Post-Invoke": "",
        "Acquire::Retries": 5,
    }
    options = [f"--option={name}={value}" for name, value in settings.items()]
    install = ["install", "--yes", "--download-only", "--no-install-recommends"]
    for words in (["update", "--error-on=any"], [*install, *packages]):
        line = ["apt-get", *options, "--quiet", *words]
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=FETCH_S, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            printed = "\n".join((done.stdout + done.stderr).splitlines()[-8:])
            raise FetchError(
                f"{packages[0]} and what it needs do not come from {mirror}:\n{printed}\n"
                "  fix: see that this machine reaches it, then do this again"
            )
    return sorted((apt / "cache" / "archives").glob("*.deb"))


def unpack(archives: list[Path], system: Path) -> None:
    """Puts the packages' files where they belong; raises UnpackError."""
    shutil.rmtree(system, ignore_errors=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (system / "usr" / name).mkdir(parents=True)
        (system / name).symlink_to(f"usr/{name}")
    for archive in archives:
        done = subprocess.run(
            ["dpkg-deb", "--extract", str(archive), str(system)], capture_output=True, text=True
        )
        if done.returncode:
            raise UnpackError(
                f"{archive} is not unpacked: {done.stderr.strip()}\n  fix: free space there"
            )


def start(system: Path, programs: Mapping[str, Sequence[str | Path]]) -> Path:
    """A folder of scripts that start programs of the system; they hold where the clone is now."""
    folder = system / "started"
    folder.mkdir(exist_ok=True)
    for name, words in programs.items():
        line = shlex.join([*loader(system), *map(str, words)])
        (folder / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder
