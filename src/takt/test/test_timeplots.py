# SPDX-License-Identifier: Apache-2.0
"""Pictures over time: small however long the measurement, and no peak is lost by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from takt.pages import timeplots
from takt.pages.timeplots import COLUMNS, Course

HOURS = 12 * 3600.0


def long_course(number: int = 1_000_000) -> tuple[Course, np.ndarray, np.ndarray]:
    at = np.linspace(0, HOURS, number, endpoint=False)
    values = 1.0 + 0.1 * np.sin(np.arange(number))
    return Course("twelve hours", HOURS, 10.0), at, values


@pytest.mark.parametrize("place", [0, 123_456, 999_999])
def test_a_single_peak_among_a_million_samples_stays(place: int) -> None:
    course, at, values = long_course()
    values[place] = 42.0
    for part in range(0, len(at), 70_000):  # in batches
        course.add(at[part : part + 70_000], values[part : part + 70_000])
    column = int(np.argmax(course.high))
    assert course.high.max() == 42.0
    assert abs(course.times_s[column] - at[place]) <= HOURS / COLUMNS
    assert np.sum(course.high > 2.0) == 1


def test_the_lowest_stays_too_and_all_columns_are_filled() -> None:
    course, at, values = long_course()
    values[5] = 0.25
    course.add(at, values)
    assert course.filled.all()
    assert course.low.min() == 0.25


def test_times_without_samples_stay_empty() -> None:
    course = Course("a gap", 100.0, 10.0)
    course.add(np.array([0.5, 99.5]), np.array([1.0, 2.0]))
    assert course.filled.sum() == 2


def test_losses_are_counted_where_they_were() -> None:
    course = Course("lost", 60.0, 10.0)
    course.lose(np.array([30.01, 30.02, 60.0]))
    assert course.lost.sum() == 3
    assert course.lost[COLUMNS // 2] == 2
    assert course.lost[-1] == 1


def test_what_was_recorded_after_the_planned_end_is_in_the_last_column() -> None:
    course = Course("late", 10.0, 10.0)
    course.add(np.array([10.5]), np.array([7.0]))
    assert course.high[-1] == 7.0


def test_a_picture_of_twelve_hours_is_small_and_has_everything_in_words(tmp_path: Path) -> None:
    course, at, values = long_course()
    values[::1000] = 30.0
    course.add(at, values)
    course.lose(np.array([HOURS / 2]))
    course.begin(0.0)
    course.begin(HOURS / 2)
    empty = Course("nothing came", HOURS, 10.0)
    files = timeplots.grid(tmp_path / "9", "a middleware", [course, empty, course], 10.0)
    assert [one.name for one in files] == ["9.png", "9.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert all(one.stat().st_size < 1_000_000 for one in files)


def drawn(tmp_path: Path, seconds: float, highest: float) -> str:
    from matplotlib import rc_context

    course = Course("a panel", seconds, 10.0)
    course.add(np.array([0.0, seconds / 2]), np.array([1.0, highest]))
    course.lose(np.array([seconds / 3]))
    with rc_context({"svg.fonttype": "none"}):  # words instead of outlines
        files = timeplots.grid(tmp_path / "one", "a middleware", [course], 10.0)
    return files[1].read_text(encoding="utf-8")


def test_the_deadline_and_the_losses_are_named_in_it(tmp_path: Path) -> None:
    text = drawn(tmp_path, 60.0, 5.0)
    for words in ("deadline 10 ms", "1 lost", "a panel", "a middleware", "round trip (ms)"):
        assert words in text


@pytest.mark.parametrize(
    ("seconds", "unit"), [(2.0, "time (s)"), (600.0, "time (min)"), (43_200.0, "time (h)")]
)
def test_the_axis_has_the_unit_that_suits_its_length(
    tmp_path: Path, seconds: float, unit: str
) -> None:
    assert unit in drawn(tmp_path, seconds, 5.0)


def test_what_is_late_has_another_colour(tmp_path: Path) -> None:
    late = timeplots._MISSED
    assert drawn(tmp_path, 60.0, 30.0).count(late) > drawn(tmp_path, 60.0, 5.0).count(late)


def test_a_column_with_one_sample_is_drawn(tmp_path: Path) -> None:
    from matplotlib.image import imread

    def inked(count: int) -> int:
        course = Course("short", 4.0, 10.0)
        course.add(np.linspace(0.01, 3.99, count), np.full(count, 2.0))
        pixels = imread(timeplots.grid(tmp_path / str(count), "", [course], 10.0)[0])[..., :3]
        teal = np.array([0x0A, 0x7D, 0x8C]) / 255
        return int((np.abs(pixels - teal).max(axis=-1) < 0.1).sum())

    assert inked(0) == 0
    assert inked(400) > 400
