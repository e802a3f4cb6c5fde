# SPDX-License-Identifier: Apache-2.0
"""How a finding of any paper is judged: one printed expression, intervals over runs."""

from __future__ import annotations

import numpy as np
import pytest
from grouped_numbers import first_number

from takt.reproduce.criterion import Criterion
from takt.reproduce.judgement import judge
from takt.reproduce.model import Answer
from takt.reproduce.quantity import Check, Observed, Quantity, Share, share
from takt.reproduce.scatter import Missing, Order, degrees, reach


class Runs:
    """Points with a number a run."""

    def __init__(self, points: dict[str, list[float]], order: Order | None = None) -> None:
        self._points, self._order = points, order
        self._asked: dict[str, list[float]] = {}

    def drawn(self, order: Order | None) -> Runs:
        return Runs(self._points, order)

    @property
    def runs(self) -> int:
        return min(map(len, self._asked.values()))

    @property
    def seconds(self) -> float:
        return 60.0 * sum(map(len, self._asked.values()))

    def mean(self, point: str) -> float:
        if point not in self._points:
            raise Missing(f"{point} was not measured")
        values = self._points[point]
        if self._order is not None:
            values = [values[at] for at in self._order.integers(len(values), size=len(values))]
        self._asked[point] = values
        return sum(values) / len(values)

    def mean_of_all(self) -> float:
        return sum(map(self.mean, self._points)) / len(self._points)


def check(criterion: str, *points: str) -> Check[Runs]:
    def of(point: str) -> Quantity[Runs]:
        return Quantity(f"mean of {point}", lambda runs: runs.mean(point))

    return Check(criterion, {point: of(point) for point in points})


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("a < b <= 3", {"a": 1, "b": 3}, True),
        ("a < b <= 3", {"a": 1, "b": 4}, False),
        ("a >= 0.01 and a / b > 2", {"a": 0, "b": 0}, False),  # never divides
        ("not a == 0 or b > -1", {"a": 0, "b": 0}, True),
        ("a * (1 - b / 2) - 1 >= 0", {"a": 2, "b": 1}, True),
    ],
)
def test_a_criterion_is_true_or_false_of_its_names(
    text: str, values: dict[str, float], holds: bool
) -> None:
    assert Criterion(text).holds(values) is holds


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b > 1", "a[0] > 1", "f(a)", "'a' < b", "[a] < b", "a := 1"]
)
def test_what_is_no_comparison_of_numbers_is_refused(text: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        Criterion(text).holds({"a": 1, "b": 1})


def test_a_name_without_a_quantity_is_refused() -> None:
    with pytest.raises(ValueError, match="no quantity b"):
        check("a > b and a > published_c", "a")


def test_runs_that_agree_decide_and_have_narrow_intervals() -> None:
    runs = Runs({"a": [1.0, 1.1, 0.9, 1.0, 1.05]})
    found = judge(check("a >= published_effect / 2", "a"), {"effect": 1.6}, runs)
    assert (found.holds, found.needs) == (True, "")
    low, high = found.intervals["a"]
    assert 0.8 < low < 1.01 < high < 1.2
    assert judge(check("a >= published_effect / 2", "a"), {"effect": 2.6}, runs).holds is False


def test_runs_on_both_sides_are_undecided_and_say_what_it_would_take() -> None:
    runs = Runs({"a": [0.2, 1.0, 0.3, 1.1, 0.5]})
    found = judge(check("a > 0.5", "a"), {}, runs)
    assert found.holds is None
    assert found.needs == "about 80 runs of each point: 80 min of measuring"


def test_a_value_at_the_threshold_is_not_decided_by_more_runs() -> None:
    found = judge(check("a > 0.5", "a"), {}, Runs({"a": [0.4, 0.6, 0.45, 0.55, 0.5]}))
    assert found.holds is None
    assert "at the threshold" in found.needs


def test_one_run_and_a_missing_point_are_undecided() -> None:
    one = judge(check("a > 0.5", "a"), {}, Runs({"a": [9.0]}))
    assert (one.holds, one.measured) == (None, {"a": 9.0})
    assert "one run only" in one.needs
    none = judge(check("a > b", "a", "b"), {}, Runs({"a": [1.0, 2.0]}))
    assert (none.holds, none.needs) == (None, "b was not measured")


@pytest.mark.parametrize(
    ("points", "runs"),
    [
        (1, 2),
        (1, 5),
        pytest.param(6, 2, marks=pytest.mark.thorough),
    ],
)
def test_an_interval_covers_the_truth_as_often_as_it_says(points: int, runs: int) -> None:
    rng = np.random.default_rng(7)
    over_all = Quantity("mean of all points", Runs.mean_of_all)
    inside = 0
    for _ in range(200):
        synthetic = Runs({f"p{name}": list(rng.normal(10, 1, runs)) for name in range(points)})
        found = judge(Check("mean > 0", {"mean": over_all}), {}, synthetic, most_draws=1000)
        low, high = found.intervals["mean"]
        inside += low <= 10 <= high
    # 95 % of 200 are 190; the chance of fewer than 178 by accident is below one in a thousand.
    assert inside >= 178


def test_two_runs_on_one_side_do_not_decide_unless_they_agree() -> None:
    assert judge(check("a > 0.5", "a"), {}, Runs({"a": [0.55, 0.9]})).holds is None
    assert judge(check("a > 0.5", "a"), {}, Runs({"a": [0.88, 0.9]})).holds is True


def test_many_points_know_their_scatter_better_than_one() -> None:
    one = {"p": [9.0, 11.0]}
    many = {f"p{place}": [9.0, 11.0] for place in range(6)}
    alone, alike = (
        judge(Check("mean > 0", {"mean": Quantity("", Runs.mean_of_all)}), {}, Runs(points))
        for points in (one, many)
    )
    assert alone.intervals["mean"] == (pytest.approx(0.8, abs=0.1), pytest.approx(19.2, abs=0.1))
    # Six times as many runs alone would make it 2.4 times as narrow.
    assert alike.intervals["mean"][0] > 8.7


def test_what_has_a_highest_value_has_no_interval_above_it() -> None:
    level: Quantity[Runs] = Quantity("a share", lambda runs: runs.mean("a"), most=1)
    found = judge(Check("a > 0", {"a": level}), {}, Runs({"a": [0.9, 0.98]}))
    assert found.intervals["a"][1] == 1.0


def test_what_has_a_lowest_value_has_no_interval_below_it() -> None:
    ratio: Quantity[Runs] = Quantity("slowest over fastest", lambda runs: runs.mean("a"), least=1)
    found = judge(Check("a < 2", {"a": ratio}), {}, Runs({"a": [1.02, 1.2]}))
    assert found.intervals["a"][0] == 1.0


def test_what_was_seen_once_is_seen_though_the_other_run_has_not() -> None:
    runs = Runs({"a": [38.0, 47.0]})

    def highest(evidence: Runs) -> float:
        evidence.mean("a")
        return 47.0 if evidence._order is None else 38.0

    evidence = Check("most > 40", {"most": Observed("highest", highest)})
    found = judge(evidence, {}, runs)
    assert (found.holds, found.intervals) == (True, {})
    assert judge(Check("most <= 40", evidence.quantities), {}, runs).holds is False


def test_what_is_never_below_zero_has_no_interval_below_it() -> None:
    found = judge(check("a < 0.01", "a"), {}, Runs({"a": [0.0, 0.004]}))
    assert found.holds is None
    assert found.intervals["a"] == (0.0, pytest.approx(0.0203, abs=0.001))


class Counted(Runs):
    """Points with cases of so many samples a run."""

    def __init__(self, *counts: tuple[int, int]) -> None:
        super().__init__({})
        self.counts = counts

    def drawn(self, order: Order | None) -> Counted:
        return self

    @property
    def runs(self) -> int:
        return len(self.counts)


def rare(*counts: tuple[int, int]) -> Answer:
    often: Share[Counted] = share("cases of samples", lambda evidence: evidence.counts)
    return judge(Check("often <= 1e-3", {"often": often}), {}, Counted(*counts), most_draws=50)


def test_what_was_never_seen_is_as_rare_as_its_samples_can_show() -> None:
    # 1 - 1e-3 to the power of n is 2.5 %: n is 3687.
    assert rare((0, 1850), (0, 1850)).holds is True
    few = rare((0, 1800), (0, 1800))
    assert few.holds is None
    assert few.needs.startswith("about ")
    assert 3600 < first_number(few.needs) < 4000
    assert few.intervals["often"][0] == 0.0
    assert rare((20, 1800), (20, 1800)).holds is False


class Both(Counted):
    """Cases, and a number of each run."""

    def drawn(self, order: Order | None) -> Both:
        synthetic = Both(*self.counts)
        synthetic._points, synthetic._order = self._points, order
        return synthetic


def test_what_it_would_take_is_runs_where_no_share_leaves_it_undecided() -> None:
    evidence = Both((0, 9000), (0, 9000))
    evidence._points = {"a": [0.4, 0.9]}
    often: Share[Both] = share("cases of samples", lambda both: both.counts)
    level: Quantity[Both] = Quantity("mean", lambda both: both.mean("a"))
    found = judge(Check("often <= 1e-3 and a > 0.5", {"often": often, "a": level}), {}, evidence)
    assert found.holds is None
    assert "runs of each point" in found.needs
    few = Both((0, 900), (0, 900))
    few._points = {"a": [0.8, 0.81]}
    found = judge(Check("often <= 1e-3 and a > 0.5", {"often": often, "a": level}), {}, few)
    assert "samples" in found.needs


def test_cases_of_one_run_are_no_witnesses_of_each_other() -> None:
    assert rare(*[(5, 1000)] * 4).holds is False
    assert rare((20, 1000), *[(0, 1000)] * 3).holds is None


def test_fewer_runs_are_trusted_less() -> None:
    reaches = [float(reach(np.array([runs - 1.0]), runs)[0]) for runs in (2, 3, 5, 30)]
    assert reaches == sorted(reaches, reverse=True)
    assert reaches[-1] > 1


def test_one_point_that_scatters_has_the_degrees_of_freedom_of_one() -> None:
    def freedom(**points: list[float]) -> float:
        runs = Runs(points)
        return float(degrees(lambda order: np.array([runs.drawn(order).mean_of_all()]))[0])

    assert freedom(a=[1.0, 2.0, 3.0]) == pytest.approx(2)
    assert freedom(a=[1.0, 2.0, 3.0], b=[5.0, 5.0, 5.0]) == pytest.approx(2)
    assert freedom(a=[1.0, 2.0, 3.0], b=[5.0, 6.0, 7.0]) == pytest.approx(4)
    assert freedom(a=[5.0, 5.0, 5.0]) == 2
