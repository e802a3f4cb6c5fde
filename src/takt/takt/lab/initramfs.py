# SPDX-License-Identifier: Apache-2.0
"""The file system that a guest boots from: a cpio archive, the same bytes for the same content.

What is measured and what loads the machine lies in it, with its libraries, so that nothing waits
for the host while it is measured.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from takt.errors import Failure
from takt.processes import process

BUSYBOX = "lab/busybox"
MODULES = "lab/modules"
WANTED = ("virtio_pci", "9pnet_virtio", "9p")
# Memory is all that there is, so what lies at these places stays there: a checkout below /tmp.
IN_MEMORY = """for place in /dev/shm /tmp /run; do
    [ "$(ls -A $place)" ] || mount -t tmpfs tmpfs $place
done"""
_OF_THE_KERNEL = ("dev", "proc", "sys")  # that a guest mounts over whatever lies there
_MERGED = ("bin", "sbin", "lib", "lib64")  # each a link to its name below usr
_FOLDERS = ("proc", "sys", "dev", "tmp", "run", "root", "etc", "lab/bin")
_LDD_S = 20.0
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x[0-9a-f]+\)$")


@dataclass
class Archive:
    """Files by their names, without a leading slash; folders above them are made."""

    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)  # mode with type, content

    def folder(self, name: str) -> None:
        """Adds a folder and those above it."""
        for one in (*PurePosixPath(name).parents, PurePosixPath(name)):
            if str(one) != ".":
                self.files.setdefault(str(one), (stat.S_IFDIR | 0o755, b""))

    def file(self, name: str, content: bytes, *, executable: bool = False) -> None:
        """Adds a file."""
        self.folder(str(PurePosixPath(name).parent))
        self.files[name] = (stat.S_IFREG | (0o755 if executable else 0o644), content)

    def link(self, name: str, target: str) -> None:
        """Adds a symbolic link."""
        self.folder(str(PurePosixPath(name).parent))
        self.files[name] = (stat.S_IFLNK | 0o777, target.encode())

    def program(self, file: Path) -> None:
        """Adds a program under its own path, with all its libraries. Raises Failure."""
        self.programs([file])

    def programs(self, files: Sequence[Path]) -> None:
        """The same for many programs and libraries at once."""
        known = {PurePosixPath(name).name for name in self.files}
        for one in (*files, *libraries(*files, known=known)):
            if merged(one).split("/")[0] in _OF_THE_KERNEL:
                raise Failure(
                    f"{one} would be hidden in the guest by its own /{merged(one).split('/')[0]}",
                    fix="move this clone to another folder, such as your home or /opt",
                )
            self.file(merged(one), one.read_bytes(), executable=True)

    def packed(self) -> bytes:
        """The archive in the format that the kernel reads (newc); no time, no owner but root."""
        parts = []
        for number, name in enumerate(sorted(self.files), start=1):
            parts.append(_entry(name, number, *self.files[name]))
        parts.append(_entry("TRAILER!!!", 0, 0, b""))
        return b"".join(parts)


def build(
    modules: Path,
    init: str,
    programs: Iterable[Path],
    texts: Mapping[str, str],
    wanted: Sequence[str] = WANTED,
) -> bytes:
    """The archive of one kernel. Raises Failure where a program, a library or a module lacks."""
    archive = Archive()
    begin(archive, modules, wanted)
    archive.file("init", init.encode(), executable=True)
    for program in programs:
        archive.program(program)
    for name, text in texts.items():
        archive.file(name, text.encode())
    return archive.packed()


def begin(archive: Archive, modules: Path, wanted: Sequence[str]) -> None:
    """The folders, busybox, and modules in the order in which they load. Raises Failure."""
    for name in _FOLDERS:
        archive.folder(name)
    for name in _MERGED:
        archive.folder(f"usr/{name}")
        archive.link(name, f"usr/{name}")
    archive.file(BUSYBOX, _static_busybox().read_bytes(), executable=True)
    for number, (name, content) in enumerate(in_order(modules, wanted)):
        archive.file(f"{MODULES}/{number:02}-{name}.ko", content)


def libraries(*programs: Path, known: Collection[str] = ()) -> list[Path]:
    """The libraries of programs, and their loader, each once; none of one that is static.

    Those that are not found are an error unless they are ``known``: a program that loads one of
    these has them already.
    """
    done = process.output(["ldd", *programs], _LDD_S + len(programs))
    lacks = {line.split()[0] for line in done.stdout.splitlines() if "not found" in line}
    if lacks := lacks.difference(known):
        names = ", ".join(sorted(lacks))
        raise Failure(f"libraries are missing: {names}", where=", ".join(map(str, programs)))
    matches = (_LIBRARY.search(line.strip()) for line in done.stdout.splitlines())
    # A library that two others name on different ways is one.
    return list(dict.fromkeys(Path(os.path.normpath(one[1])) for one in matches if one))


def in_order(folder: Path, wanted: Sequence[str]) -> list[tuple[str, bytes]]:
    """The modules and what they depend on, each after what it needs; a built-in one is no file."""
    files = {file.name.partition(".")[0].replace("-", "_"): file for file in folder.glob("*.ko*")}
    taken: dict[str, bytes] = {}

    def take(name: str, within: tuple[str, ...]) -> None:
        if name in taken or name in within:
            return
        if name not in files:
            if within:  # it would not load
                raise Failure(f"{within[-1]} needs the module {name}", where=str(folder))
            return
        content = files[name].read_bytes()
        if files[name].suffix == ".xz":
            content = lzma.decompress(content)
        for needed in _depends(content):
            take(needed, (*within, name))
        taken[name] = content

    for one in wanted:
        take(one, ())
    return list(taken.items())


def _depends(module: bytes) -> list[str]:
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    names = found[1].decode() if found else ""
    return [name.replace("-", "_") for name in names.split(",") if name]


def _static_busybox() -> Path:
    found = shutil.which("busybox")
    fix = "install busybox-static: ./takt setup lab"
    if found is None:
        raise Failure("busybox is not installed", fix=fix)
    try:
        linked = libraries(Path(found))
    except subprocess.TimeoutExpired:
        linked = []
    if linked:
        raise Failure("this busybox needs libraries", where=found, fix=fix)
    return Path(found)


def merged(file: Path) -> str:
    """Where a file lies with one tree for programs and libraries, as Debian and Ubuntu have it."""
    name = str(file).lstrip("/")
    return f"usr/{name}" if name.split("/")[0] in _MERGED else name


def _entry(name: str, number: int, mode: int, content: bytes) -> bytes:
    data = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    numbers = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(data), 0)
    head = b"070701" + b"".join(b"%08X" % one for one in numbers) + data
    return _padded(head) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
