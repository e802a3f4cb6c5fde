# SPDX-License-Identifier: Apache-2.0
"""Synthetic applications: the thesis's parameters, rules and restrictions; distributions."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Takt
from scipy import stats

from takt.errors import TaktError
from takt.schedule.application.dump import app_yaml
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat
from takt.schedule.generate import periods, utilization
from takt.schedule.generate.blocks import BLOCK, Generated, block, blocks
from takt.schedule.generate.code import write_packages
from takt.schedule.generate.parameters import Parameters
from takt.schedule.generate.sets import NOBODY, Sets, draw
from takt.schedule.generate.space import read_space
from takt.schedule.metrics import measure

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
MS = 1_000_000


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def sets(count: int = 200, **keys: Any) -> Sets:
    given: dict[str, Any] = {"nodes": 20, "utilization": 0.75, "periods": [10, 20, 40]}
    return draw(Parameters(**(given | {"message_size": "512kB"} | keys)), count, rng())


def fault(folder: Path, ranges: dict[str, Any] | None = None, **keys: Any) -> str:
    given: dict[str, Any] = {"nodes": 4, "utilization": 0.5, "periods": [10, 20]}
    path = folder / "x.json"
    path.write_text(json.dumps({"parameters": ranges or (given | keys)}, indent=1))
    with pytest.raises(TaktError) as caught:
        read_space(path)
    assert caught.value.fix
    assert "x.json:" in str(caught.value)
    return str(caught.value)


def test_listing_5_3_is_valid_input() -> None:
    space = read_space(EXAMPLES / "parameters.json")
    (one,) = block(space, 1, 0, 0, 1)
    assert len(one.document["callbacks"]) == 3
    assert one.document["topics"][0]["bytes"] == 512_000
    assert one.utilization == pytest.approx(0.7, abs=1e-6)


def test_listing_5_4_is_valid_input_and_forces_all_combinations() -> None:
    space = read_space(EXAMPLES / "parameter_ranges.json")
    assert len({(c["nodes"], c["utilization"]) for c in space.combinations}) == 24
    drawn = [one for c in range(24) for one in block(space, 1, c, 0, BLOCK)]
    for key, count in {"periods": 4, "pubsub": 3, "deadlines": 2, "deadlines_wcet": 3}.items():
        assert len({str(getattr(one.parameters, key)) for one in drawn}) == count
    assert {one.parameters.message_size for one in drawn} == {512_000, 2_000_000}
    assert {one.parameters.priorities for one in drawn} == {"rate-monotonic", "random"}


@pytest.mark.parametrize(
    ("text", "size"),
    [("16b", 16), ("256Kb", 256_000), ("512kB", 512_000), ("8Mb", 8_000_000), ("4KiB", 4096)],
)
def test_sizes_are_bytes_however_the_thesis_spells_them(text: str, size: int) -> None:
    assert (
        Parameters(nodes=2, utilization=0.5, periods=[10], message_size=text).message_size == size
    )


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"nodes": 1}, "restriction 1: 1 is not more than one node"),
        ({"utilization": 1.1}, "restriction 2: a utilization of 1.1"),
        ({"utilization": 0.001}, "restriction 2"),
        ({"pubsub": [1.5, 0.5], "message_size": "1kB"}, "restriction 3: 6 publishers are more"),
        ({"pubsub": [0.5, 1.5], "message_size": "1kB"}, "restriction 4: 6 subscribers are more"),
        ({"pubsub": [0.1, 1.0], "message_size": "1kB"}, "restriction 5: the only publisher"),
        ({"utilization": 0.9, "deadlines": "wcet", "deadlines_wcet": [5.0]}, "restriction 6"),
        ({"utilization_max": 1.5}, "restriction 7"),
        ({"utilization_max": 0.1}, "with at most 0.1 each cannot reach 0.5"),
        ({"pubsub": [0.0, 0.5]}, "subscribers without publishers"),
        ({"pubsub": [0.5, 0.5]}, "publishers need a message size"),
        ({"utilization_max": 0.2, "utilization_generator": "uunifast"}, "does not keep"),
        ({"deadlines_wcet": [0.9]}, "at least 1"),
        ({"deadlines_wcet": 0.9}, "at least 1"),
        ({"policy": "fifo"}, "must be 'fp'"),
        ({"best_case": [0.0, 0.5]}, "above 0 and at most 1"),
        ({"best_case": [1.5]}, "above 0 and at most 1"),
        ({"deadlines_wcet": [2.0, 1.0]}, "range"),
        ({"periods": []}, "neither a list of periods"),
        ({"periods": "loguniform"}, "log-uniform, nor"),
        ({"periods": [0]}, "greater than 0"),
        ({"periods_range": [10]}, "the least and the greatest"),
        ({"priorities": "high"}, "'rate-monotonic' or 'random'"),
        ({"message-size": "big"}, "not a size"),
        ({"node": 3}, "did you mean nodes?"),
    ],
)
def test_what_may_not_be_asked_for_is_refused_with_its_line(
    tmp_path: Path, keys: dict[str, Any], expected: str
) -> None:
    assert expected in fault(tmp_path, **keys)


@pytest.mark.parametrize("key", ["utilization_max", "groups", "best_case"])
def test_a_number_without_end_is_refused_with_its_line(tmp_path: Path, key: str) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"parameters": {"nodes": 4, "utilization": 0.5, "periods": [10, 20],\n')
    with path.open("a") as file:
        file.write(f'"{key}": 1e999}}}}')
    with pytest.raises(TaktError, match=r"x\.json:2: .*finite number"):
        read_space(path)


def test_a_restriction_is_kept_by_every_value_of_a_range(tmp_path: Path) -> None:
    ranges: dict[str, Any] = {"force_all_combinations": ["nodes"], "nodes": [5, 1]}
    ranges |= {"utilization": [0.5], "periods": [[10]]}
    assert "restriction 1" in fault(tmp_path, ranges)
    unknown = ranges | {"nodes": [5], "force_all_combinations": ["priorities"]}
    assert "priorities has no values to combine" in fault(tmp_path, unknown)


def test_each_period_is_used_by_as_many_nodes_as_any_other() -> None:
    for row in sets(nodes=20).period:
        assert sorted(Counter(row.tolist()).values()) == [6, 7, 7]


def test_publishers_and_subscribers_are_the_share_asked_for_and_nobody_reads_itself() -> None:
    found = sets(nodes=10, pubsub=[0.6, 0.8])
    assert (found.writes.sum(axis=1) == 6).all()
    assert ((found.reads != NOBODY).sum(axis=1) == 8).all()
    for writes, reads in zip(found.writes, found.reads, strict=True):
        for node, source in enumerate(reads):
            assert source == NOBODY or (writes[source] and source != node)
    assert len(np.unique(found.reads)) == 11  # every node is read by somebody somewhere


@pytest.mark.parametrize("generator", ["uunifast", "uunifast-discard", "fixed-sum"])
def test_the_utilization_is_the_one_asked_for(generator: str) -> None:
    found = sets(utilization_generator=generator, utilization=1.0)
    assert (found.utilization() <= 1).all()
    assert found.utilization() == pytest.approx(1, abs=20 / (10 * MS))
    assert (found.wcet >= 1).all()


def test_deadlines_are_a_multiple_of_the_wcet_within_the_period() -> None:
    found = sets(deadlines="wcet", deadlines_wcet=[1.5, 3.0], nodes=3, utilization=0.9)
    ratio = found.deadline / found.wcet
    assert (found.deadline <= found.period).all()
    assert ((ratio >= 1.5 - 1e-6) & (ratio <= 3.0 + 1e-6)).all()
    assert (sets().deadline == sets().period).all()


def test_best_cases_are_a_share_of_the_wcet_and_change_nothing_else() -> None:
    found, constant = sets(best_case=[0.2, 0.5]), sets()
    share = found.best / found.wcet
    assert 0.19 < share.min() < 0.25
    assert 0.45 < share.max() <= 0.5
    assert (found.wcet == constant.wcet).all()
    assert (found.priority == constant.priority).all()
    assert (constant.best == constant.wcet).all()


def test_rate_monotonic_priorities_fall_with_the_period() -> None:
    found = sets(periods="log-uniform", periods_range=[1, 1000], nodes=150)
    assert found.priority.min() >= 1
    assert found.priority.max() == 98
    for period, priority in zip(found.period, found.priority, strict=True):
        order = np.argsort(period)
        assert (np.diff(priority[order]) <= 0).all()
    few = sets(nodes=6)
    assert sorted(set(few.priority[0].tolist())) == [96, 97, 98]


def test_random_priorities_are_distinct_and_spread() -> None:
    found = sets(priorities="random", nodes=50)
    assert all(len(set(row.tolist())) == 50 for row in found.priority)
    assert set(np.unique(found.priority).tolist()) == set(range(1, 99))


def test_uunifast_is_uniform_over_the_simplex() -> None:
    shares = utilization.uunifast(4000, 6, 0.8, rng())
    for task in range(6):  # each share of a uniform point of the simplex is Beta(1, n - 1)
        assert stats.kstest(shares[:, task] / 0.8, stats.beta(1, 5).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("tasks", "total", "most"),
    [(2, 1.0, 0.7), (3, 1.0, 0.5), (5, 0.7, 0.2), (20, 0.75, 0.1), (4, 1.0, 1.0)],
)
def test_the_fixed_sum_has_the_distribution_of_discarding(
    tasks: int, total: float, most: float
) -> None:
    fixed = utilization.fixed_sum(4000, tasks, total, most, rng())
    discard = utilization.uunifast_discard(4000, tasks, total, most, rng())
    assert fixed.sum(axis=1) == pytest.approx(total)
    assert fixed.min() >= 0
    assert fixed.max() <= most + 1e-12
    for task in {0, 1, tasks - 1}:
        assert stats.ks_2samp(fixed[:, task], discard[:, task]).pvalue > 1e-3


def test_the_fixed_sum_draws_what_discarding_never_finds() -> None:
    shares = utilization.fixed_sum(100, 50, 1.0, 0.0201, rng())
    assert shares.max() <= 0.0201 + 1e-12
    with pytest.raises(TaktError, match="use fixed-sum"):
        utilization.uunifast_discard(100, 50, 1.0, 0.0201, rng())


def test_log_uniform_periods_are_multiples_and_log_uniform() -> None:
    found = periods.log_uniform(200, 50, MS, 1000 * MS, rng())
    assert (found % MS == 0).all()
    assert (found.min(), found.max()) == (MS, 1000 * MS)
    # With a granularity the logarithm of the whole multiple k has the mass log((k + 1) / k).
    share = (found < 32 * MS).mean()
    assert share == pytest.approx(np.log(32) / np.log(1001), abs=0.02)


def test_automotive_periods_have_the_published_shares() -> None:
    found = periods.automotive(200, 50, rng())
    counts = [int((found == period * MS).sum()) for period in periods.AUTOMOTIVE]
    shares = np.array(list(periods.AUTOMOTIVE.values())) / 85
    assert stats.chisquare(counts, shares * 10_000).pvalue > 1e-3


def test_the_same_seed_gives_the_same_applications_and_a_longer_series_begins_alike() -> None:
    space = read_space(EXAMPLES / "parameter_ranges.json")

    def texts(seed: int, repeat: int) -> list[str]:
        found: list[Generated] = []
        for number, size in blocks(repeat):
            found += block(space, seed, 3, number, size)
        return [one.text for one in found]

    assert texts(1, 10) == texts(1, 10)
    assert texts(1, 230)[:10] == texts(1, 10)
    assert texts(1, 10) != texts(2, 10)
    assert len(set(texts(1, 230))) == 230


def test_the_file_and_the_fast_way_to_the_core_say_the_same(tmp_path: Path) -> None:
    space = read_space(EXAMPLES / "parameter_ranges.json")
    space.drawn["best_case"] = [[1.0], [0.2, 0.9]]
    for one in block(space, 5, 9, 0, 20):
        path = tmp_path / f"{one.name}.app.yaml"
        path.write_text(app_yaml(one.document, "x"))
        read = flat(read_application(path))
        for callback in read["callbacks"]:
            assert callback.pop("kind") == "timer"
            callback.setdefault("deadline", callback["period"])
        fast = one.document
        order = {topic["name"]: topic for topic in read["topics"]}
        assert read["callbacks"] == fast["callbacks"]
        assert [order[topic["name"]] for topic in fast["topics"]] == fast["topics"]
        assert (read["name"], read["policy"]) == (fast["name"], fast["policy"])


def test_the_command_writes_files_and_a_manifest(takt: Takt) -> None:
    done = takt.json(
        "generate", EXAMPLES / "parameters.json", "--repeat", "3", "--seed", "1", "--out", "apps"
    )
    assert (done["exit_code"], done["schema_version"], done["seed"]) == (0, 1, 1)
    entries = json.loads((takt.folder / "apps" / "manifest.json").read_text())["applications"]
    assert entries == done["applications"]
    for entry in entries:
        application = read_application(takt.folder / "apps" / entry["file"])
        assert len(application.callbacks) == 3
    again = takt("generate", EXAMPLES / "parameters.json", "--out", "apps")
    assert again.returncode == 2
    assert "not empty" in again.stderr


def test_the_command_names_the_line_of_broken_json(takt: Takt) -> None:
    (takt.folder / "x.json").write_text('{\n "parameters": {"nodes" 3}\n}')
    done = takt("generate", "x.json")
    assert done.returncode == 2
    assert "x.json:2: not valid JSON" in done.stderr
    assert takt("generate", "none.json").returncode == 2
    assert "add --emit-code" in takt("generate", EXAMPLES / "docking.app.yaml").stderr


def test_the_emitted_code_of_a_callback_that_waits_sleeps_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.app.yaml"
    path.write_text(
        "nodes: {n: {a: {timer: 9ms, wcet: 1ms, suspension: 5ms}, b: {timer: 9ms, wcet: 1ms}}}"
    )
    package, *_ = write_packages(flat(read_application(path)), tmp_path / "code")
    source = (package / "src" / "main.cpp").read_text(encoding="utf-8")
    assert source.count("std::this_thread::sleep_for(5ms);") == 1
    assert source.count(".waits = true") == 1


@pytest.mark.timeout(660)
@pytest.mark.parametrize(
    "approach", ["", *(pytest.param(f"_baseline{n}", marks=pytest.mark.thorough) for n in (0, 1))]
)
def test_an_emitted_package_builds_and_its_trace_counts_deadlines(
    takt: Takt, approach: str
) -> None:
    underlay = ROOT / os.environ.get("TAKT_STATE", ".takt") / "setup.sh"
    if not underlay.exists():
        pytest.skip("takt_rcl is not built here")
    done = takt("generate", EXAMPLES / "docking.app.yaml", "--emit-code", "code")
    assert done.returncode == 0, done.stderr
    name = f"docking{approach}"
    source, build = takt.folder / "code" / name, takt.folder / "build"
    for command in (f"cmake -S {source} -B {build}", f"cmake --build {build}"):
        compiled = subprocess.run(
            ["bash", "-c", f". {underlay} && {command}"], text=True, capture_output=True
        )
        assert compiled.returncode == 0, compiled.stdout + compiled.stderr
        assert "warning" not in compiled.stdout
    trace = takt.folder / "trace"
    ran = subprocess.run([build / name, "1", trace], text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    executions = {line.split()[0]: int(line.split()[1]) for line in ran.stdout.splitlines()}
    assert set(executions) == {"radar.scan", "guard.brake"}
    assert all(count > 0 for count in executions.values())
    traces = (
        [trace] if approach != "_baseline1" else [Path(f"{trace}.{n}") for n in ("radar", "guard")]
    )
    counted = {one.callback: one for file in traces for one in measure(file).callbacks}
    assert {name: counted[name].executions for name in executions} == executions
