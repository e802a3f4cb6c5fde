# SPDX-License-Identifier: Apache-2.0
"""Keys and certificates of machines: nobody else's to read, and refused where they could be."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import synthetic_hosts
from conftest import Takt
from synthetic_hosts import of_another_authority

from takt.errors import TaktError
from takt.network import certificates


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "takt" / "workers"


@pytest.fixture
def careless() -> Iterator[None]:
    """Everything is everybody's, unless a program cares."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_an_invited_machine_has_its_new_authority_and_keys_stay_private(
    takt: Takt, careless: None, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A robot joins its desk, then another one; keys are nobody else's to read all along."""
    robot = tmp_path / "robot" / "takt" / "workers"
    for desk in ("desk", "office"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / desk))
        printed = takt("scheduler", "invite", "robot")
        assert printed.returncode == 0, printed.stderr
        assert "./takt scheduler join" in printed.stdout
        assert takt("scheduler", "invite", "robot").returncode == 2  # the one of before stays
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "robot"))
        assert takt("scheduler", "join", "robot.pem").returncode == 0
        assert not (takt.folder / "robot.pem").exists()
        theirs = tmp_path / desk / "takt" / "workers"
        assert (
            certificates.known().authority == certificates._read(theirs / "machine.pem").authority
        )
        openssl = ["openssl", "verify", "-x509_strict", "-purpose", "sslclient", "-CAfile"]
        (tmp_path / "authority.pem").write_text(certificates.known().authority)
        if shutil.which("openssl"):
            done = subprocess.run(
                [*openssl, tmp_path / "authority.pem", robot / "machine.pem"], capture_output=True
            )
            assert done.returncode == 0, done.stderr
        for folder in (robot, theirs):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            for key in folder.iterdir():
                assert stat.S_IMODE(key.stat().st_mode) == 0o600
    printed = takt("scheduler", "invite", "arm")
    assert (printed.returncode, "joined another authority" in printed.stderr) == (2, True)


def readable(file: Path) -> None:
    file.chmod(0o640)


def folder_readable(file: Path) -> None:
    file.parent.chmod(0o750)


def link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 200)


def without_key(file: Path) -> None:
    text = file.read_text()
    file.write_text(text[text.index("-----BEGIN CERTIFICATE") :])


def garbage(file: Path) -> None:
    file.write_bytes(bytes(range(256)) * 10)


@pytest.mark.parametrize("damage", [readable, folder_readable, link, cut, without_key, garbage])
def test_keys_that_others_may_have_and_damaged_ones_are_refused(
    home: Path, damage: Callable[[Path], None]
) -> None:
    file = certificates.own().file
    damage(file)
    with pytest.raises(TaktError) as printed:
        certificates.own()
    assert str(home) in str(printed.value)
    assert printed.value.fix


def test_who_invites_may_not_join_by_mistake(takt: Takt, home: Path, tmp_path: Path) -> None:
    other = of_another_authority(tmp_path / "other")
    before = certificates.own()
    printed = takt("scheduler", "join", other)
    assert (printed.returncode, "its own authority" in printed.stderr) == (2, True)
    assert certificates.own() == before


def test_two_first_starts_make_one_authority(home: Path) -> None:
    files = [
        subprocess.Popen(
            [
                *(sys.executable, "-c"),
                "from takt.processes import certificates; print(certificates.own().authority)",
            ],
            env=os.environ | {"PYTHONPATH": synthetic_hosts.python_path()},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    assert len({one.communicate(timeout=300)[0] for one in files}) == 1
