# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021, figures 2.4, 2.5 and 2.9: what the simulated schedules show."""

from __future__ import annotations

from pathlib import Path

import pytest

from takt.pages.pictures import save
from takt.reproduce.krukiewicz2021.schedules import (
    MAX_AGE_MS,
    SPECIAL_MS,
    Schedule,
    draw,
    schedules,
)
from takt.reproduce.published import read_published


@pytest.fixture(scope="module")
def simulated() -> dict[str, list[Schedule]]:
    return schedules()


def order(schedule: Schedule) -> list[str]:
    """Of the first period; with an asterisk what delivers a message."""
    first = [one for one in schedule.stretches if one.begin < 20]
    return [one.task + "*" * one.delivers for one in first]


def test_rclcpp_delivers_last_so_that_the_data_is_old(simulated: dict[str, list[Schedule]]) -> None:
    for schedule in (*simulated["2.4"], simulated["2.9"][0]):
        assert order(schedule) == ["task_1", "task_2", "task_3", "task_3*"]
        assert all(use.old for use in schedule.uses)
        assert schedule.uses[0].age is None
        assert {use.age for use in schedule.uses[1:]} == {25.0}  # a period, and the 5 ms of task 2


def test_as_desired_task_3_follows_task_1_with_its_data(
    simulated: dict[str, list[Schedule]],
) -> None:
    (schedule,) = simulated["2.5"]
    assert order(schedule) == ["task_1", "task_3", "task_2"]
    assert [(use.age, use.old) for use in schedule.uses] == [(0.0, False)] * 3


def test_the_special_scenario_limits_the_age(simulated: dict[str, list[Schedule]]) -> None:
    aware = simulated["2.9"][1]
    assert order(aware) == ["task_3", "task_2", "task_1"]  # task 2 before task 1
    before = [use.age for use in aware.uses if use.at < SPECIAL_MS]
    after = [use.age for use in aware.uses if use.at >= SPECIAL_MS]
    assert before == [None, 8.0]
    assert before[1] > MAX_AGE_MS
    assert len(after) == 2
    assert all(age is not None and age <= MAX_AGE_MS for age in after)


def test_a_picture_shows_each_age_and_has_a_caption(
    simulated: dict[str, list[Schedule]], tmp_path: Path
) -> None:
    captions = read_published("krukiewicz2021").figures
    for number, every in simulated.items():
        assert captions[number].caption
        picture = draw(every)
        for axes, schedule in zip(picture.axes, every, strict=True):
            shown = [one.get_text() for one in axes.texts]
            ages = [use.age for use in schedule.uses]
            assert shown == ["no data" if age is None else f"{age:g} ms" for age in ages]
        assert all(file.stat().st_size > 0 for file in save(picture, tmp_path / number))
