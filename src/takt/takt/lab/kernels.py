# SPDX-License-Identifier: Apache-2.0
"""Debian's kernels, fetched through apt and unpacked below the user's cache; never installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from takt.errors import Failure
from takt.processes import process
from takt.processes.process import Process, how_ended

_NAME = re.compile(r"linux-image-(\d+\.\d+\.[\d.]+(?:[+~-](?!rt)[a-z0-9.~]+)?)(-rt)?-amd64")
# Those that a guest needs to see a folder of the host or another guest, those that a PC needs to
# see a stick and a keyboard, and what they depend on.
_MODULES = (
    *("net/9p/", "fs/9p/", "fs/netfs/", "fs/fscache/", "drivers/virtio/"),
    *("drivers/net/veth.", "net/sched/sch_"),
    *("drivers/net/ethernet/intel/e1000e/", "drivers/ptp/", "drivers/pps/"),
    *("drivers/usb/host/", "drivers/usb/core/", "drivers/usb/common/", "drivers/usb/storage/"),
    *("drivers/ata/", "drivers/nvme/", "drivers/scsi/s", "drivers/scsi/virtio_scsi."),
    *("drivers/block/virtio_blk.", "drivers/mmc/", "drivers/hid/", "drivers/cpufreq/"),
    *("fs/fat/", "fs/nls/", "lib/", "crypto/", "arch/x86/crypto/crc"),
)
# What was unpacked for less lacks them.
OF_A_PC = "usb-storage.ko*"
OF_A_NETWORK = "e1000e.ko*"
OF_A_LINK = "sch_etf.ko*"
_SEARCH_S, _DOWNLOAD_S, _UNPACK_S = 60.0, 600.0, 300.0
_REMEDY = (
    "on Debian 12 or later: sudo apt-get update; elsewhere apt needs a source of Debian's kernels "
    "(linux-image-rt-amd64)"
)


@dataclass(frozen=True)
class Kernel:
    """One kernel that is booted."""

    name: str  # stock, stock-full, rt
    release: str  # as uname says it
    image: Path
    modules: Path  # a folder of .ko files, flat
    options: tuple[str, ...] = ()  # on its command line
    real_time: bool = False


def cache() -> Path:
    """Where unpacked kernels are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "takt" / "kernels"


def pair(names: Iterable[str]) -> tuple[str, str] | None:
    """The newest version of which there is a stock and an RT package; None: of none."""
    found: dict[str, dict[bool, str]] = {}
    for name in names:
        if match := _NAME.fullmatch(name.strip()):
            found.setdefault(match[1], {})[bool(match[2])] = match[0]
    both = [version for version, packages in found.items() if len(packages) == 2]
    if not both:
        return None
    newest = max(both, key=lambda version: [int(number) for number in re.findall(r"\d+", version)])
    return found[newest][False], found[newest][True]


def find(
    place: Path | None = None,
    show: Callable[[str], None] = lambda _: None,
    module: str = "",
) -> list[Kernel]:
    """The stock kernel, the same with ``preempt=full``, and the RT kernel of one version.

    ``module``: one that guests need besides those for folders of the host. What is missing is
    downloaded by apt. Raises Failure where there is no apt, no such package, no network or no room.
    """
    place = place or cache()
    packages = pair(_known_to_apt()) or pair(_unpacked(place))
    if packages is None:
        raise _none_known()
    stock, rt = (_fetched(package, place, show, module) for package in packages)
    return [
        _kernel("stock", stock),
        _kernel("stock-full", stock, ("preempt=full",)),
        _kernel("rt", rt, real_time=True),
    ]


def real_time(
    module: str, place: Path | None = None, show: Callable[[str], None] = lambda _: None
) -> Kernel:
    """The RT kernel with the modules of a PC or of a network; raises Failure as ``find`` does."""
    place = place or cache()
    packages = pair(_known_to_apt()) or pair(_unpacked(place))
    if packages is None:
        raise _none_known()
    return _kernel("rt", _fetched(packages[1], place, show, module), real_time=True)


def _none_known() -> Failure:
    return Failure(
        "apt knows no version of Debian's kernel as stock and as RT kernel",
        where="apt-cache search linux-image",
        fix=_REMEDY,
    )


def _known_to_apt() -> list[str]:
    if shutil.which("apt-cache") is None or shutil.which("dpkg-deb") is None:
        raise Failure("this system has no apt", fix="run the lab on Debian, or in its container")
    query = ["apt-cache", "search", "--names-only", "^linux-image-[0-9].*-amd64$"]
    try:
        done = process.output(query, _SEARCH_S)
    except subprocess.TimeoutExpired:
        raise Failure(
            "apt-cache does not answer", fix="try it by hand: " + " ".join(query)
        ) from None
    return [line.split()[0] for line in done.stdout.splitlines() if line.strip()]


def _unpacked(place: Path) -> list[str]:
    """Those of the cache: enough where apt has no lists any more."""
    return [folder.name for folder in place.glob("linux-image-*") if (folder / "vmlinuz").is_file()]


def _kernel(
    name: str, folder: Path, options: tuple[str, ...] = (), *, real_time: bool = False
) -> Kernel:
    release = folder.name.removeprefix("linux-image-")
    return Kernel(name, release, folder / "vmlinuz", folder / "modules", options, real_time)


def _fetched(package: str, place: Path, show: Callable[[str], None], module: str = "") -> Path:
    """The folder of a package; one without ``module`` was unpacked for less, and is made anew."""
    folder = place / package
    if (folder / "vmlinuz").is_file() and (not module or any(folder.glob(f"modules/{module}"))):
        return folder
    show(f"fetching {package}, about 110 MB")
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".new-") as download:
        _download(package, Path(download))
        archive = next(Path(download).glob("*.deb"), None)
        if archive is None:
            raise Failure(f"apt did not download {package}", where=download, fix=_REMEDY)
        unpacked = Path(download) / "kernel"
        _unpack(archive, unpacked)
        if folder.exists() and module:
            folder.rename(Path(download) / "less")
        if not folder.exists():
            unpacked.rename(folder)  # in one step: a killed download leaves no half kernel
    return folder


def _download(package: str, folder: Path) -> None:
    # As root apt would become a user that may not write here.
    command = ["env", f"--chdir={folder}", "apt-get", "-o", "APT::Sandbox::User=root"]
    try:
        done = process.output([*command, "--quiet", "download", package], _DOWNLOAD_S)
    except subprocess.TimeoutExpired:
        raise Failure(f"{package} was not downloaded in {_DOWNLOAD_S:.0f} s") from None
    if done.returncode:
        said = (done.stderr.strip() or how_ended(done.returncode))[-600:]
        raise Failure(f"{package} was not downloaded: {said}", fix=_REMEDY)


def _unpack(archive: Path, folder: Path) -> None:
    """Takes image, configuration and the modules that a guest needs out of a package."""
    (folder / "modules").mkdir(parents=True)
    unpacking = Process(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE)
    try:
        with tarfile.open(fileobj=unpacking.popen.stdout, mode="r|") as content:
            for one in content:
                target = _kept(one.name)
                source = content.extractfile(one) if target and one.isfile() else None
                if target and source:
                    (folder / target).write_bytes(source.read())
    except tarfile.TarError as error:
        raise Failure(f"cannot read the package: {error}", where=str(archive)) from None
    finally:
        unpacking.end()
        if unpacking.popen.stdout:
            unpacking.popen.stdout.close()
    if not (folder / "vmlinuz").is_file():
        raise Failure("the package contains no kernel", where=str(archive), fix=_REMEDY)


def _kept(name: str) -> str | None:
    """The name in the cache of a file in the package; None: not needed."""
    name = name.removeprefix("./")
    for first in ("vmlinuz", "config"):
        if name.startswith(f"boot/{first}-"):
            return first
    module = re.fullmatch(r"(?:usr/)?lib/modules/[^/]+/kernel/(.+?\.ko(?:\.xz)?)", name)
    if module and module[1].startswith(_MODULES):
        return f"modules/{Path(module[1]).name}"
    return None
