# SPDX-License-Identifier: Apache-2.0
"""A compiler out of Debian's packages: fetched and checked by apt, unpacked, never installed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

WANTED = 14
RELEASE = "trixie"
PACKAGES = (
    *("g++", "dash", "ccache"),
    *("libgtest-dev", "nlohmann-json3-dev", "libcli11-dev", "libssl-dev"),
)
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FETCH_S, CALL_S = 600.0, 600.0
# Both for root and for who may make a namespace of users.
ALONE = ("unshare", "--mount", "--map-root-user")
ENTER = 'cd "$0" && exec "$@"'


class UnpackError(Exception):
    """What stopped it and what to do about it."""


@dataclass
class Compiler:
    """GCC, on this machine's own system or on an unpacked one."""

    system: Path | None
    cache: Path | None = None  # of ccache
    _seen: list[Path] = field(default_factory=list)

    @property
    def cached(self) -> bool:
        """Whether what is compiled is kept."""
        return self.cache is not None

    def sees(self, *folders: Path) -> None:
        """Shows it folders of this machine, under the same names."""
        if self.system is None:
            return
        given = [Path("/proc"), Path("/dev"), *sorted(folders)]
        self._seen = [*given, *([self.cache] if self.cache else [])]
        for folder in self._seen:
            (self.system / folder.relative_to("/")).mkdir(parents=True, exist_ok=True)

    def call(
        self, command: Sequence[str], folder: Path = Path("/")
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program of its system in a folder that it sees."""
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/"}
        if self.cache:
            # The same key in each clone, but for the folder of the objects.
            environment |= {"CCACHE_DIR": str(self.cache), "CCACHE_NOHASHDIR": "1"}
            environment["CCACHE_BASEDIR"] = str(Path(__file__).resolve().parents[1])
        line = ["sh", "-c", ENTER, str(folder), *command]
        if self.system is not None:
            binds = [
                f"mount --rbind {shlex.quote(str(one))} {shlex.quote(f'{self.system}{one}')}"
                for one in self._seen
            ]
            inside = " && ".join([*binds, 'exec "$0" "$@"'])
            chroot = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin") or "chroot"
            line = [*ALONE, "sh", "-c", inside, chroot, str(self.system), *line]
        return subprocess.run(
            line,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CALL_S,
        )


def compiler(state: Path) -> Compiler | str:
    """GCC of the wanted version, or why there can be none; raises UnpackError."""
    if (own := major("g++")) is None or own >= WANTED:
        return f"the build itself has GCC {own}" if own else "there is no g++"
    mirror = mirror_of_debian()
    if not mirror:
        return f"this is no Debian, whose packages fit; its own compiler is GCC {own}"
    for program in ("apt-get", "dpkg-deb", "unshare"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        return "neither root nor a namespace of users is allowed, in which to mount folders"
    state.mkdir(parents=True, exist_ok=True)
    system, stamp = state / "system", state / "unpacked"
    content = f"{mirror} {RELEASE} {' '.join(PACKAGES)}\n"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != content:
        unpack(fetch(state, mirror), system)
        stamp.write_text(content, encoding="utf-8")
    return Compiler(system, cache_of_machine())


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


def cache_of_machine() -> Path | None:
    """Where ccache keeps what it has compiled, where that is installed."""
    if shutil.which("ccache") is None:
        return None
    told = subprocess.run(["ccache", "--get-config=cache_dir"], capture_output=True, text=True)
    folder = Path(told.stdout.strip() or Path.home() / ".cache" / "ccache")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
    (system / "tmp").mkdir()
    for archive in archives:
        done = subprocess.run(
            ["dpkg-deb", "--extract", str(archive), str(system)], capture_output=True, text=True
        )
        if done.returncode:
            raise UnpackError(
                f"{archive} is not unpacked: {done.stderr.strip()}\n  remedy: free space there"
            )
    if not (system / "usr" / "bin" / "sh").exists():
        (system / "usr" / "bin" / "sh").symlink_to("dash")
    os.utime(system)
