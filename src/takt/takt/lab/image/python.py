# SPDX-License-Identifier: Apache-2.0
"""What of Python the target gets, so that the very same tool runs there: by absolute path."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path, PurePath

from takt.errors import Failure

TOOL = Path(__file__).resolve().parents[2]  # the package takt
# What `takt run` imports, late imports included; what these need comes along.
NEEDED = ("typer", "rich", "pydantic", "numpy", "pyarrow", "psutil", "ruamel.yaml")
CORE = "takt_core"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
# Tests, headers, sources of extensions, and what no measurement uses: two thirds of the bytes.
_LEFT_OUT = re.compile(
    r"/(tests?|include|__pycache__|idlelib|ensurepip|lib2to3|turtledemo|tkinter|config-3[^/]*"
    r"|pydoc_data|bin)/|\.(pyx|pxd|pyi|h|hpp|a|c|cc|exe)$|/(lib|_)(arrow_)?(python_)?flight"
)
_COMPILE_S = 600.0
# In an interpreter of its own: the order of a set, and what is interned, are the same each time.
_COMPILE = """
import importlib.util, marshal, sys
for line in sys.stdin.read().split("\\0"):
    try:
        code = marshal.dumps(compile(open(line, "rb").read(), line, "exec", dont_inherit=True), 2)
    except (SyntaxError, ValueError):
        code = b""
    sys.stdout.buffer.write(len(code).to_bytes(4, "little") + code)
"""


def search_path() -> list[Path]:
    """Where the target's Python looks for modules, besides its own library."""
    core = next((Path(one) for one in sys.path if (Path(one) / CORE).is_dir()), None)
    if core is None:
        raise Failure(f"{CORE} is not installed", fix="./takt --setup-only")
    found = [TOOL.parent, core, *(_place(metadata.distribution(one)) for one in NEEDED)]
    return list(dict.fromkeys(found))


def interpreter() -> Path:
    """The program itself: not the link to it in a virtual environment."""
    return Path(sys.executable).resolve()


def files() -> list[Path]:
    """All files, by the names that they have here; sorted."""
    found = {*_below(Path(sysconfig.get_path("stdlib")), "*-packages"), *_below(TOOL)}
    found.update(_below(next(one for one in search_path() if (one / CORE).is_dir()) / CORE))
    for one in _distributions():
        found.update(_of(one))
    return sorted(found)


def compiled(sources: list[Path]) -> dict[Path, bytes]:
    """What Python makes of its sources, by the name under which it looks for it.

    The same bytes each time, and taken without a look at the source's time: in an emulator, and on
    a slow PC, compiling would take longer than measuring.
    """
    words = b"\0".join(str(one).encode() for one in sources)
    command = [str(interpreter()), "-I", "-S", "-c", _COMPILE]
    environment = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, input=words, env=environment, capture_output=True, timeout=_COMPILE_S
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise Failure(f"Python does not compile its own files: {said}", where=command[0])
    return {
        one.parent / "__pycache__" / f"{one.stem}.{sys.implementation.cache_tag}.pyc": _head()
        + code
        for one, code in zip(sources, _parts(done.stdout), strict=True)
        if code
    }


def _head() -> bytes:
    """PEP 552: by hash, never checked."""
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)


def _parts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def _distributions() -> list[metadata.Distribution]:
    """The needed ones, and all that they need on this machine."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(NEEDED)
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in found:
            continue
        try:
            found[key] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            if name in NEEDED:
                raise Failure(f"{name} is not installed", fix="./takt --setup-only") from None
            continue  # of another system, or another Python
        for one in found[key].requires or ():
            match = _NAME.match(one)
            if match and "extra ==" not in one:
                waiting.append(match[0])
    return list(found.values())


def _of(one: metadata.Distribution) -> Iterator[Path]:
    place = _place(one)
    for name in one.files or ():
        file = place / name
        if ".." not in name.parts and _wanted(name) and file.is_file():
            yield file


def _place(one: metadata.Distribution) -> Path:
    return Path(str(one.locate_file("")))


def _below(folder: Path, without: str = "") -> Iterator[Path]:
    for file in folder.rglob("*"):
        name = file.relative_to(folder)
        if without and Path(name.parts[0]).match(without):
            continue
        if _wanted(name) and file.is_file():
            yield file


def _wanted(name: PurePath) -> bool:
    """Of a name below its folder: the folder itself may be called anything."""
    return not _LEFT_OUT.search(f"/{name}")
