# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from takt.errors import Failure
from takt.network import stacks


@pytest.fixture
def jazzy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the launcher does with --ros jazzy."""
    monkeypatch.setenv("TAKT_ROS", "jazzy")
    monkeypatch.setenv("TAKT_STATE", ".takt/jazzy")


@pytest.mark.usefixtures("jazzy")
@pytest.mark.parametrize("fix", ["build it: ./takt --setup-only", "takt run --resume a/run"])
def test_a_fix_means_the_wheels_that_were_chosen(fix: str) -> None:
    assert str(Failure("it ended", fix=fix)) == (f"it ended\n  fix: {fix} (with --ros jazzy)")


@pytest.mark.usefixtures("jazzy")
def test_a_fix_without_a_command_stays_as_it_is() -> None:
    assert str(Failure("no room", fix="make room in takt-runs/")).endswith("takt-runs/")


def test_the_default_needs_no_option(monkeypatch: pytest.MonkeyPatch) -> None:
    fix = "build it: ./takt --setup-only"
    monkeypatch.setenv("TAKT_ROS", "kilted")
    monkeypatch.setenv("TAKT_STATE", ".takt")
    assert str(Failure("it ended", fix=fix)).endswith("--setup-only")
    monkeypatch.delenv("TAKT_ROS")  # an installation of ROS 2
    assert str(Failure("it ended", fix=fix)).endswith("--setup-only")


def test_what_needs_ros_is_not_built_by_setting_up_again_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = stacks.Stacks({})
    assert "--setup-only" in str(there.missing("rcl", "--stack"))
    monkeypatch.setattr(stacks, "WITHOUT_ROS", True)
    assert "source an installation" in str(there.missing("rcl", "--stack"))
    assert "--setup-only" in str(there.missing("raw", "--stack"))
    with pytest.raises(Failure, match="source an installation"):
        stacks.program("no_program_of_takt")
