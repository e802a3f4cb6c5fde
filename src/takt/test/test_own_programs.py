# SPDX-License-Identifier: Apache-2.0
"""The programs that a wheel of the tool brings along: found without a variable, and last of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.errors import Failure
from takt.network import stacks


def probe(prefix: Path, name: str) -> Path:
    """A program where probes are installed."""
    path = prefix / "lib" / "takt_probes" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stacks, "OWN", tmp_path / "installed")
    (tmp_path / "installed").mkdir()
    return tmp_path / "installed"


def test_they_are_found_where_nothing_is_set_up(own: Path) -> None:
    raw = probe(own, "probe_raw")
    assert stacks.find({}).probes == {"raw": raw}


def test_a_workspace_comes_before_them(own: Path, tmp_path: Path) -> None:
    probe(own, "probe_raw")
    newer = probe(tmp_path / "workspace", "probe_raw")
    assert stacks.find({"AMENT_PREFIX_PATH": str(tmp_path / "workspace")}).probes["raw"] == newer


def test_what_is_not_among_them_is_built_in_a_workspace(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAKT_PREFIX", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    with pytest.raises(Failure, match="app_runner is not installed") as refused:
        stacks.program("app_runner", fix="./takt setup something")
    assert refused.value.exit_code == 2
    assert refused.value.fix == stacks.IN_A_WHEEL


def test_a_probe_that_does_not_answer_is_not_to_be_built_again(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe(own, "probe_raw").write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(stacks, "CAPABILITIES_LIMIT_S", 0.2)
    with pytest.raises(Failure, match=r"the stack raw did not answer in 0\.2 s") as failed:
        stacks.find({})["raw"]
    assert failed.value.fix == "run again when the machine is less busy"


def test_a_clone_has_none() -> None:
    assert not stacks.OWN.exists()
