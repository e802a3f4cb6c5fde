# SPDX-License-Identifier: Apache-2.0
"""Tries a release of Debian or Ubuntu: the first start of a clone in a folder with nothing else.

What is mounted there is mounted in a namespace of its own, and gone when the last process ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from setup import unpacked
from setup.distributions import ROOT
from setup.matrix.by_wheels import VERDICTS, complete
from setup.matrix.entries import ByChroot
from setup.matrix.trial import LeftOut, Outcome, Trial

PACKAGES = "git,python3,ca-certificates"  # what the README asks for
# Names, proxies and certificates are the machine's own.
SHARED = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf", "etc/ssl/certs/ca-certificates.crt")
APT = "etc/apt/apt.conf.d"
KEPT = ("http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_CERT")
# Debian's name has no point release, Ubuntu's has one.
RELEASE = """
. /etc/os-release
case $ID in debian) echo "Debian $(cat /etc/debian_version)" ;; *) echo "$PRETTY_NAME" ;; esac
"""
# What the set-up installs is in more than one part of Ubuntu's archive.
PARTS = {"debian": "main", "ubuntu": "main,universe"}
INSIDE = """
set -e
root=$1
shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
exec chroot "$root" "$@"
"""


def tried(how: ByChroot, trial: Trial) -> Outcome:
    """Raises LeftOut where it cannot be made."""
    if detail := obstacle():
        raise LeftOut(detail)
    root = trial.folder / "root"
    if not (trial.folder / "made").exists():
        make(how, trial, root)
    for name in SHARED:
        if (source := Path("/") / name).exists():
            shutil.copyfile(source, root / name)
    for settings in Path("/", APT).glob("*prox*"):
        shutil.copyfile(settings, root / APT / settings.name)
    clone = root / "takt"
    if not clone.exists():
        trial.call("clone", ["git", "clone", "--quiet", ROOT, clone])
    trial.call("fetch", ["git", "fetch", "--quiet", ROOT, "HEAD"], folder=clone)
    trial.call("check out", ["git", "checkout", "--quiet", "--force", "FETCH_HEAD"], folder=clone)

    def inside(what: str, words: Sequence[str], well: Sequence[int] = (0,)) -> str:
        command = ["unshare", "--mount", "--", "sh", "-c", INSIDE, "sh", root, *words]
        return trial.call(what, command, environment=environment(), well=well).stdout

    checked = complete(inside("first start and check", ["/takt/takt", "check", "--json"], VERDICTS))
    for stage in how.stages:
        inside(f"stage {stage}", ["/takt/takt", "test", stage])
    release = inside("release", ["sh", "-c", RELEASE]).strip()
    compiler = inside("compiler", ["g++", "--version"]).splitlines()[0]
    python = inside("Python", ["python3", "--version"]).strip()
    stages = f"; stages of the tests: {', '.join(how.stages)}" if how.stages else ""
    detail = f"first start of a clone, {checked}{stages}"
    return Outcome("passed", detail, f"{release}, {compiler}, {python}")


def obstacle() -> str:
    """Why no system can be made in a folder here; empty where one can."""
    if os.geteuid():
        return "it needs root, to make a system in a folder and to change into it"
    if detail := unpacked.refusal():
        return detail
    missing = [one for one in ("unshare", "chroot", "wget") if shutil.which(one) is None]
    return f"{missing[0]} is not installed" if missing else ""


def make(how: ByChroot, trial: Trial, root: Path) -> None:
    """The system; an interrupted one is made anew."""
    mirror, keys = unpacked.mirror_of_debian(), "debian-archive-keyring"
    if how.of == "ubuntu":
        mirror, keys = beside(mirror, how.of), "ubuntu-archive-keyring"
        if not has(mirror, how.suite):
            raise LeftOut(f"this machine's mirror of Debian has no Ubuntu {how.suite} beside it")
    try:
        packages = ["debootstrap", f"{how.of}-{'archive-' * (how.of == 'debian')}keyring"]
        system = unpacked.system(trial.folder / "debootstrap", packages)
    except unpacked.FetchError as error:
        raise LeftOut(str(error).splitlines()[0]) from None
    shutil.rmtree(root, ignore_errors=True)
    share = system / "usr" / "share"
    options = ["--variant=minbase", f"--include={PACKAGES}", f"--components={PARTS[how.of]}"]
    words = [*options, f"--keyring={share / 'keyrings' / keys}.gpg", how.suite, root, mirror]
    trial.call(
        f"the system: {how.suite}",
        ["unshare", "--mount", "--", "sh", system / "usr" / "sbin" / "debootstrap", *words],
        environment=environment() | {"DEBOOTSTRAP_DIR": str(share / "debootstrap")},
    )
    (trial.folder / "made").touch()


def beside(mirror: str, name: str) -> str:
    """Where a mirror of Debian has another distribution, if it has: in a folder beside it."""
    return f"{mirror.rstrip('/').rpartition('/')[0]}/{name}"


def has(mirror: str, suite: str) -> bool:
    """Whether a mirror has a release."""
    command = ["wget", "--quiet", "--spider", "--timeout=30", f"{mirror}/dists/{suite}/Release"]
    return not subprocess.run(command).returncode


def environment() -> dict[str, str]:
    """That of a fresh login, with this machine's proxies."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {
        "HOME": "/root",
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8",
    }
