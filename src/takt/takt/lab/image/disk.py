# SPDX-License-Identifier: Apache-2.0
"""A disk as a file: boot sector, GRUB for BIOS and UEFI, one FAT partition; nothing is mounted.

The same bytes for the same content: no time of its own, no number by chance.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from takt.errors import Failure
from takt.lab.image import target
from takt.processes import process

OFFSET = 1 << 20  # of the partition; GRUB's core lies before it
ROOM = 768 << 20  # for what is measured
LABEL = "TAKT"
SETUP = "./takt setup lab"
TOOLS = {"mformat": "mtools", "mcopy": "mtools", "grub-mkimage": "grub-common"}
GRUB = Path("/usr/lib/grub")
_PACKAGES = {"i386-pc": "grub-pc-bin", "x86_64-efi": "grub-efi-amd64-bin"}
_MODULES = (
    *("part_msdos", "fat", "normal", "configfile", "linux", "search", "search_fs_uuid", "echo"),
    *("test", "terminal", "serial", "minicmd", "halt", "reboot", "gfxterm", "all_video"),
)
_OWN = {"i386-pc": ("biosdisk",), "x86_64-efi": ("efi_gop", "efi_uga")}
_EARLY = f"search.fs_uuid {target.SERIAL} root\nset prefix=($root)/boot/grub\n"
_TIME = 1_704_067_200  # 2024-01-01, where SOURCE_DATE_EPOCH says nothing else
SECTOR, _ALIGN = 512, 4 << 20
_SIGNATURE, _FAT32_LBA, _ACTIVE = 0x54414B54, 0x0C, 0x80
_CODE = 440  # bytes of the boot sector before the signature
# Clusters of 8 KiB, and a table for 32 GB of them, so that it can grow on a larger stick.
_TABLE = ("-c", "16", "-L", "32768")
_LIMIT_S = 300.0


def check_tools() -> None:
    """Raises Failure where something that makes a disk is not installed."""
    missing = {package for tool, package in TOOLS.items() if shutil.which(tool) is None}
    missing |= {one for place, one in _PACKAGES.items() if not (GRUB / place).is_dir()}
    if missing:
        raise Failure(f"{', '.join(sorted(missing))} is not installed", fix=SETUP)


def write(disk: Path, tree: Mapping[str, bytes], staging: Path) -> None:
    """Makes the disk, with the files of ``tree`` by their names on it.

    ``staging`` is an empty folder for what is on the way. Raises Failure.
    """
    tree = {**tree, "EFI/BOOT/BOOTX64.EFI": _core("x86_64-efi", staging)}
    used = sum(map(len, tree.values()))
    size = -(-(OFFSET + used + ROOM) // _ALIGN) * _ALIGN
    with disk.open("wb") as file:
        file.truncate(size)
        core = _core("i386-pc", staging)
        if SECTOR + len(core) > OFFSET:
            raise Failure("GRUB's core is larger than the gap before the partition")
        file.write(boot_sector((GRUB / "i386-pc" / "boot.img").read_bytes(), size))
        file.write(core)
    sectors = (size - OFFSET) // SECTOR
    image = ["-i", f"{disk}@@{OFFSET}"]
    number = target.SERIAL.replace("-", "")
    shape = ["-T", str(sectors), "-h", "255", "-s", "63", "-H", str(OFFSET // SECTOR), *_TABLE]
    _run(["mformat", *image, "-F", "-N", number, "-v", LABEL, *shape, "::"])
    folders = {str(one) for name in tree for one in PurePosixPath(name).parents if str(one) != "."}
    for folder in sorted({*folders, target.RESULTS}):
        _run(["mmd", *image, f"::/{folder}"])
    for name, content in sorted(tree.items()):
        local = staging / "file"
        local.write_bytes(content)
        os.utime(local, (_time(), _time()))
        _run(["mcopy", "-m", *image, local, f"::/{name}"])
        local.unlink()


def boot_sector(code: bytes, size: int) -> bytes:
    """The first sector: GRUB's program, and a table with one partition that reaches to the end."""
    start, sectors = OFFSET // SECTOR, (size - OFFSET) // SECTOR
    far = b"\xfe\xff\xff"  # beyond what cylinders, heads and sectors can count
    entry = struct.pack("<B3sB3sII", _ACTIVE, far, _FAT32_LBA, far, start, sectors)
    table = struct.pack("<IH", _SIGNATURE, 0) + entry + bytes(3 * len(entry))
    return code[:_CODE] + table + b"\x55\xaa"


def partition(disk: Path) -> int:
    """Where the partition of such a disk begins, in bytes; raises Failure where it is none."""
    try:
        with disk.open("rb") as file:
            first = file.read(SECTOR)
    except OSError as error:
        fix = "as root, or of the group disk: a stick is a device" if disk.exists() else None
        raise Failure(error.strerror or str(error), where=str(disk), fix=fix) from None
    if len(first) < SECTOR or struct.unpack_from("<I", first, _CODE)[0] != _SIGNATURE:
        fix = "give an image from takt lab image, or the whole stick (/dev/sdX, not sdX1)"
        raise Failure("this is not a stick of takt lab image", where=str(disk), fix=fix)
    return int(struct.unpack_from("<I", first, _CODE + 6 + 8)[0]) * SECTOR


def copied(disk: Path, name: str, folder: Path) -> None:
    """Copies a folder of the stick into one that is there; raises Failure."""
    image = f"{disk}@@{partition(disk)}"
    _run(["mcopy", "-s", "-m", "-n", "-Q", "-i", image, f"::/{name}", folder])


def listed(disk: Path, name: str) -> list[str]:
    """What stands in a folder of the stick."""
    image = f"{disk}@@{partition(disk)}"
    lines = _run(["mdir", "-b", "-i", image, f"::/{name}"]).splitlines()
    return sorted(one.rstrip("/").rpartition("/")[2] for one in lines if one.startswith("::/"))


def _core(platform: str, staging: Path) -> bytes:
    """GRUB with all modules that it needs, and where its menu lies."""
    early, grub_core = staging / "early.cfg", staging / "core"
    early.write_text(_EARLY, encoding="ascii")
    command = ["grub-mkimage", "-O", platform, "-d", str(GRUB / platform), "-p", "/boot/grub"]
    _run([*command, "-c", early, "-o", grub_core, *_MODULES, *_OWN[platform]])
    content = grub_core.read_bytes()
    grub_core.unlink()
    early.unlink()
    return content


def _run(command: Sequence[str | Path]) -> str:
    # mtools writes hours of a time zone, and the time of now where it is not told another.
    environment = [
        "env",
        "TZ=UTC",
        "LC_ALL=C.UTF-8",
        "MTOOLS_SKIP_CHECK=1",
        f"SOURCE_DATE_EPOCH={_time()}",
    ]
    try:
        done = process.output([*environment, *command], _LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Failure(f"{command[0]} does not end") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-500:]
        raise Failure(f"{command[0]}: {said}", fix="check that the disk has space for the image")
    return done.stdout


def _time() -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(given) if given.isdigit() else _TIME
