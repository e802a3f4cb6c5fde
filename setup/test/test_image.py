# SPDX-License-Identifier: Apache-2.0
"""The OCI image (setup/release/Containerfile): what it says, and that the tool works in it.

buildah builds and runs it as a chroot, which needs no daemon. No image is fetched:
a fresh system of this machine's release, made by debootstrap, has the name of the base that the
Containerfile takes. It has this machine's mirror of Debian, and is discarded with its store. The
tool runs in it as a user who is not root.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from setup.distributions import ROOT
from setup.matrix.trial import LeftOut
from setup.release import debian, system
from setup.release.system import System

FILE = ROOT / "setup" / "release" / "Containerfile"
BASE, IMAGE = "docker.io/library/debian:{}-slim", "localhost/takt"
BUILDS_S = 3600
USER = 1000  # of no account there


def test_its_version_is_that_of_the_packages() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert re.findall(r'image\.version="(.*)"', text) == [debian.VERSION]


def test_its_base_is_the_one_that_is_tried_and_may_be_another() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert re.findall(r"^ARG BASE=(.*)$", text, re.MULTILINE) == [BASE.format("bookworm")]
    assert re.findall(r"^FROM (.*)$", text, re.MULTILINE) == ["${BASE}"]


def test_the_how_to_builds_it_as_its_own_head_says() -> None:
    (line,) = re.findall(r"^#   (podman build .*)$", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    how_to = ROOT / "docs" / "how-to" / "install-without-a-clone.md"
    assert line in how_to.read_text(encoding="utf-8")
    assert (ROOT / line.split("--file ")[1].split()[0]) == FILE


class Images:
    """A store of images in a folder; containers of it run as chroots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        places = ["--root", str(folder / "root"), "--runroot", str(folder / "run")]
        self.program = ["buildah", "--storage-driver", "vfs", *places]

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.program, *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BUILDS_S,
        )

    def well(self, *words: str | Path) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout.strip()

    def tool(self, container: str, volume: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """The entry point with these words, with a folder of the host as its working folder."""
        os.chown(volume, USER, USER)
        who = ["--isolation", "chroot", "--user", f"{USER}:{USER}"]
        mounted = ["--volume", f"{volume}:/work", container, "--"]
        return self.run("run", *who, *mounted, *self.settings["Entrypoint"], *words)

    @property
    def settings(self) -> dict[str, Any]:
        printed = json.loads(self.well("inspect", "--type", "image", IMAGE))
        settings: dict[str, Any] = printed["OCIv1"]["config"]
        return settings


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    """With the image, built of packages of these sources."""
    if shutil.which("buildah") is None:
        pytest.skip("buildah is not installed: apt install buildah")
    if reason := system.possible():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("images")
    fake_images = Images(folder)
    packages = debian.make()
    try:
        base = System(folder / "system")
    except LeftOut as reason:
        pytest.skip(str(reason))
    container = fake_images.well("from", "scratch")
    fake_images.well("add", container, base.root, "/")
    name = BASE.format(system.codename())
    fake_images.well("commit", "--rm", container, name)
    shutil.rmtree(base.root)
    words = ["--isolation", "chroot", "--pull-never", "--build-arg", f"BASE={name}"]
    fake_images.well("build", *words, "--tag", IMAGE, "--file", FILE, packages[0].parent)
    yield fake_images
    fake_images.run("rm", "--all")
    fake_images.run("rmi", "--all", "--force")


@pytest.fixture(scope="module")
def container(images: Images) -> str:
    return images.well("from", IMAGE)


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_the_image_starts_the_tool_and_keeps_no_packages(images: Images, container: str) -> None:
    assert images.settings["Entrypoint"] == ["takt"]
    assert images.settings["WorkingDir"] == "/work"
    root = Path(images.well("mount", container))
    assert not list(root.rglob("*.deb"))
    assert not list((root / "var" / "lib" / "apt" / "lists").iterdir())
    assert (root / "usr" / "include" / "takt_core" / "takt").is_dir()
    images.well("umount", container)


@pytest.mark.release
@pytest.mark.timeout(5400)
@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["--version"], f"takt {debian.VERSION}"),
        (["analyse", "docking.app.yaml"], "radar.scan"),
        (["simulate", "docking.app.yaml"], "guard.brake"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_tool_works_on_a_folder_of_the_host(
    images: Images, container: str, tmp_path: Path, words: list[str], printed: str
) -> None:
    shutil.copy(ROOT / "examples" / "docking.app.yaml", tmp_path)
    done = images.tool(container, tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_the_doctor_examines_a_container_of_a_user_without_rights(
    images: Images, container: str, tmp_path: Path
) -> None:
    done = images.tool(container, tmp_path, "doctor", "--json")
    assert done.returncode in {0, 1}, done.stderr  # 1: with problems
    severities = {one["id"]: one["severity"] for one in json.loads(done.stdout)["findings"]}
    assert severities["sched-fifo"] != "good"


@pytest.mark.release
@pytest.mark.timeout(5400)
def test_it_measures_and_the_run_is_on_the_host(
    images: Images, container: str, tmp_path: Path
) -> None:
    words = ["--stack", "raw", "--duration", "1s", "--json", "--out", "run"]
    done = images.tool(container, tmp_path, "measure", "wakeup", *words)
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    assert {cell["stack"] for cell in cells} == {"raw"}
    assert all(cell["count"] > 0 for cell in cells)
    assert list((tmp_path / "run").iterdir())
