# SPDX-License-Identifier: Apache-2.0
"""A compiler out of Debian's packages: fetched and checked by apt, unpacked, never installed."""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WANTED = 14
RELEASE = "trixie"
PACKAGES = ("g++", "libgtest-dev", "nlohmann-json3-dev", "libcli11-dev", "libssl-dev")
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FETCH_S, CALL_S = 600.0, 600.0
MACHINE = "x86_64-linux-gnu"


class UnpackError(Exception):
    """What stopped it and what to do about it."""


@dataclass(frozen=True)
class Compiler:
    """GCC, on this machine's own system or on an unpacked one.

    Its programs are started by the loader of their own system, with the libraries of that: so
    nothing is installed or mounted, and what they read and write is where this machine has it.
    """

    system: Path | None

    def headers(self) -> list[Path]:
        """Where the standard library and those of other packages are, that one first."""
        usr = (self.system or Path("/")) / "usr"
        library = max((usr / "include" / "c++").iterdir(), key=lambda one: int(one.name))
        include = usr / "include"
        return [library, include / MACHINE / "c++" / library.name, include, include / MACHINE]

    def complete(self, folder: Path) -> None:
        """Debian divides Python's headers, and the one part includes the other by its full name."""
        if self.system is None or not folder.name.startswith("python3"):
            return
        for other in folder.parent.glob(f"{MACHINE}/{folder.name}"):
            link = self.system / "usr" / "include" / MACHINE / folder.name
            link.unlink(missing_ok=True)
            link.symlink_to(other)

    def compile(
        self, options: Sequence[str], folder: Path = Path("/")
    ) -> subprocess.CompletedProcess[str]:
        """Calls it in a folder."""
        program = "g++" if self.system is None else str(self.system / "started" / "g++")
        return call([program, *options], folder)

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Runs what it has linked."""
        return call([*([] if self.system is None else loader(self.system)), *command])


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


def compiler(state: Path) -> Compiler | str:
    """GCC of the wanted version, or why there can be none; raises UnpackError."""
    if (own := major("g++")) is None or own >= WANTED:
        return f"the build itself has GCC {own}" if own else "there is no g++"
    mirror = mirror_of_debian()
    if not mirror:
        return f"this is no Debian, whose packages fit; its own compiler is GCC {own}"
    if platform.machine() != "x86_64":
        return f"this machine is {platform.machine()}, not x86_64"
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    state.mkdir(parents=True, exist_ok=True)
    system, stamp = state / "system", state / "unpacked"
    content = f"{mirror} {RELEASE} {' '.join(PACKAGES)}\n"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != content:
        unpack(fetch(state, mirror), system)
        stamp.write_text(content, encoding="utf-8")
    start(system)
    return Compiler(system)


def major(program: str) -> int | None:
    """The version of a compiler; none where it is not there."""
    if shutil.which(program) is None:
        return None
    done = subprocess.run([program, "-dumpversion"], capture_output=True, text=True)
    return int(done.stdout.split(".")[0])


def mirror_of_debian() -> str:
    """Where this machine's own apt gets Debian from; empty where it does not."""
    if not KEYS.exists() or shutil.which("apt-get") is None:
        return ""
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    lines = [line.partition("=") for line in release.splitlines()]
    names = {value.strip('"') for key, _, value in lines if key.endswith("CODENAME")}
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)"],
        capture_output=True,
        text=True,
    )
    pairs = [line.split() for line in told.stdout.splitlines()]
    found = [one[1] for one in pairs if len(one) == 2 and one[0] in names]
    return found[0] if found else ""


def fetch(state: Path, mirror: str) -> list[Path]:
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
    for words in (["update", "--error-on=any"], [*install, *PACKAGES]):
        line = ["apt-get", *options, "--quiet", *words]
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=FETCH_S, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            told = "\n".join((done.stdout + done.stderr).splitlines()[-8:])
            raise UnpackError(
                f"the packages of GCC {WANTED} do not come from {mirror}:\n{told}\n"
                "  remedy: see that this machine reaches it, then run this stage again"
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
                f"{archive} is not unpacked: {done.stderr.strip()}\n  remedy: free space there"
            )


def start(system: Path) -> None:
    """Scripts that start the compiler and what it calls; they hold where the clone is now."""
    folder, usr = system / "started", system / "usr"
    folder.mkdir(exist_ok=True)
    own = usr / "libexec" / "gcc" / MACHINE / str(WANTED)
    programs = {name: [own / name] for name in ("cc1plus", "collect2")}
    programs |= {name: [usr / "bin" / f"{MACHINE}-{name}"] for name in ("as", "ld")}
    gcc = [usr / "bin" / f"{MACHINE}-g++-{WANTED}", f"--sysroot={system}", f"-B{folder}"]
    for name, words in (programs | {"g++": gcc}).items():
        line = shlex.join([*loader(system), *map(str, words)])
        (folder / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
