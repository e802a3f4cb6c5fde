# SPDX-License-Identifier: Apache-2.0
"""``takt lab``: what is done inside a guest, and what is made of what it leaves."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from takt.errors import Failure
from takt.lab import application, cells, compare, cyclictest, jobs, trials, verdict
from takt.lab.guest import Share
from takt.lab.kernels import Kernel
from takt.lab.model import KernelResult, Latency, Trial
from takt.lab.modes import WAYS, Mode
from takt.measure.results.model import Cell, Status
from takt.network import transport
from takt.processes.supervision import Stop
from takt.statistics.judgement import Outcome

STOCK = Kernel("stock", "6", Path("/k/v"), Path("/k/m"))
RT = Kernel("rt", "6-rt", Path("/k/v"), Path("/k/m"), real_time=True)

# the jobs


def test_the_loaded_jobs_are_between_the_start_and_the_end_of_the_load() -> None:
    todo = [jobs.cyclictest(load, 5) for load in (jobs.LOADED, jobs.IDLE)]
    script = jobs.init(todo, [Share("out", Path("/out"), writable=True)], Path("/out"))
    order = [
        "step cyclictest-idle",
        "\nload_on",
        "step cyclictest-loaded",
        "\nload_off",
        "mount -t 9p",
    ]
    places = [script.rindex(one) for one in order]
    assert places == sorted(places)
    assert subprocess.run(["sh", "-n"], input=script.encode(), timeout=150).returncode == 0


def test_what_needs_the_host_runs_after_its_folders_are_there() -> None:
    ros = jobs.Job("ping", jobs.IDLE, (("pong", "a b"), ("ping",)), 9, from_host=True)
    shares = [Share("host0", Path("/usr"))]
    script = jobs.init([ros, jobs.cyclictest(jobs.IDLE, 5)], shares, Path("/out"))
    assert script.index("step cyclictest") < script.index("mount -t 9p") < script.index("step ping")
    assert "ro,cache=loose host0 /usr" in script
    awake = [script.rindex(one) for one in ("\nawake_on\n", "step ping", "\nawake_off\n")]
    assert awake == sorted(awake)
    assert script.index("step cyclictest") < awake[0]
    assert """timeout 9 pong 'a b' >>$log 2>&1 & b="$b $!\"""" in script


def test_a_folder_inside_another_one_is_not_shared_twice(tmp_path: Path) -> None:
    (tmp_path / "install" / "lib").mkdir(parents=True)
    (tmp_path / "wheels").mkdir()
    environment = {
        "TAKT_PREFIX": str(tmp_path / "install"),
        "TAKT_ROS_WHEELS": str(tmp_path / "wheels"),  # found by run-time paths alone
        "LD_LIBRARY_PATH": f"{tmp_path / 'install' / 'lib'}:/usr/lib:/nowhere",
    }
    assert {one.folder for one in cells.shares(environment)} == {
        Path("/usr"),
        (tmp_path / "install").resolve(),
        (tmp_path / "wheels").resolve(),
    }
    assert not any(one.writable for one in cells.shares(environment))


# side by side


def test_guests_share_a_host_only_where_its_time_is_not_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare.os, "sched_getaffinity", lambda _: {0, 1, 2})
    memory = [8 << 30]
    monkeypatch.setattr(
        compare.psutil, "virtual_memory", lambda: SimpleNamespace(available=memory[0])
    )
    assert {mode: compare.at_once(mode) for mode in Mode} == {
        Mode.icount: 3,
        Mode.kvm: 1,
        Mode.functional: 1,
    }
    memory[0] = 2 << 30  # of which a guest takes three quarters
    assert compare.at_once(Mode.icount) == 1


def test_the_results_come_in_the_order_of_the_kernels() -> None:
    both = threading.Barrier(2, timeout=150)

    def measure(kernel: Kernel) -> KernelResult:
        both.wait()  # breaks unless the other one runs, too
        return result(kernel.name, 1)

    found = compare.all_of([STOCK, RT], measure, 2, Stop())
    assert [one.kernel for one in found] == ["stock", "rt"]


def test_a_guest_that_fails_ends_the_others() -> None:
    stop = Stop()

    def measure(kernel: Kernel) -> KernelResult:
        if kernel is RT:
            raise Failure("it panicked")
        limit = time.monotonic() + 150
        while not stop.requested and time.monotonic() < limit:
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(Failure, match="it panicked"):
        compare.all_of([STOCK, RT], measure, 2, stop)
    assert stop.requested


# the numbers


def thread(maximum: int, histogram: dict[str, int], cycles: int | None = None) -> dict[str, object]:
    return {
        "histogram": histogram,
        "cycles": sum(histogram.values()) if cycles is None else cycles,
        "min": min(map(int, histogram), default=0),
        "max": maximum,
        "avg": 5.0,
    }


def test_the_threads_of_cyclictest_are_summed_up_together() -> None:
    document = {"thread": {"0": thread(7, {"5": 98, "7": 1}), "1": thread(9, {"5": 99, "9": 2})}}
    found = cyclictest.summed(document, "idle", Mode.icount)
    assert (found.count, found.min_us, found.p50_us, found.p99_us, found.max_us) == (
        200,
        5,
        5,
        7,
        9,
    )


def test_a_percentile_beyond_the_histogram_is_the_maximum() -> None:
    document = {"thread": {"0": thread(30_000, {"5": 90}, cycles=100)}}
    assert cyclictest.summed(document, "idle", Mode.icount).p99_us == 30_000


@pytest.mark.parametrize(
    "content", ["", "{}", '{"thread": {}}', '{"thread": {"0": {"cycles": 1}}}']
)
def test_a_result_that_is_none_is_reported(tmp_path: Path, content: str) -> None:
    file = tmp_path / "cyclictest-idle.json"
    with pytest.raises(Failure, match="wrote no result"):
        cyclictest.read(file, "idle", Mode.icount)
    file.write_text(content)
    with pytest.raises(Failure, match="cannot read"):
        cyclictest.read(file, "idle", Mode.icount)


LATENCY = Latency(
    what="cyclictest",
    load="idle",
    count=5000,
    min_us=1,
    avg_us=2,
    p50_us=2,
    p99_us=9,
    max_us=15,
    outcome=Outcome.meets,
    reasons=[],
)


def result(kernel: str, loaded: float, outcome: Outcome = Outcome.meets) -> KernelResult:
    return KernelResult(
        kernel=kernel,
        release="6",
        mode=Mode.icount,
        preemption="",
        idle_max_us=1,
        loaded_max_us=loaded,
        outcome=outcome,
        latencies=[LATENCY],
        results="",
    )


@pytest.mark.parametrize("rt", list(Outcome))
@pytest.mark.parametrize("stock", list(Outcome))
def test_the_verdict_is_the_outcome_of_the_rt_kernel_whatever_the_maxima(
    rt: Outcome, stock: Outcome
) -> None:
    both = [result("stock", 4.0, stock), result("rt", 4000.0, rt)]
    judged = verdict.judge(both, Mode.icount)
    assert judged.outcome is rt
    assert f"PREEMPT_RT: {rt.value}" in judged.headline
    assert f"stock: {stock.value}" in judged.headline
    assert WAYS[Mode.icount].numbers in judged.headline


@pytest.mark.parametrize("mode", [Mode.icount, Mode.functional])
def test_a_trial_that_failed_fails(mode: Mode) -> None:
    trial = Trial(trial="tune", holds=False, why="nothing changed")
    rt = result("rt", 15.0).model_copy(update={"trials": [trial]})
    judged = verdict.judge([result("stock", 150.0), rt], mode)
    assert judged.outcome is Outcome.fails
    assert "tune" in judged.headline


def test_what_did_not_run_fails_in_every_mode_and_a_load_that_ended_early_decides_nothing() -> None:
    absent = LATENCY.model_copy(update={"outcome": Outcome.fails})
    assert verdict.of_kernel([LATENCY], []) is Outcome.meets
    assert verdict.of_kernel([LATENCY, absent], []) is Outcome.fails
    assert verdict.of_kernel([LATENCY], ["the load ended before the measurement"]) is (
        Outcome.undecided
    )
    assert verdict.of_kernel([], []) is Outcome.undecided
    failed = [result("stock", 4.0, Outcome.fails), result("rt", 1.0)]
    assert verdict.judge(failed, Mode.functional).outcome is Outcome.fails


def test_an_emulators_times_are_no_verdict_and_one_kernel_is_none() -> None:
    both = [result("stock", 150.0), result("rt", 15.0)]
    assert verdict.judge(both, Mode.functional).outcome is Outcome.undecided
    assert verdict.judge(both[:1], Mode.icount).outcome is Outcome.undecided
    assert verdict.ratio(both[1:]) is None


def test_a_probe_that_left_nothing_is_a_failed_cell_with_its_words(tmp_path: Path) -> None:
    checked, plan, found = cells.experiment(1, ros=False)
    assert checked.name == "lab"
    planned, texts = cells.planned(plan.cells, found, tmp_path)
    assert {one.job.load for one in planned} == {jobs.IDLE, jobs.LOADED}
    assert all(name.startswith("lab/") for name in texts)
    (tmp_path / f"{planned[0].job.name}.log").write_text("no such memory\n")
    (tmp_path / f"{planned[0].job.name}.code").write_text("1\n")
    cell = cells.measured(planned[0], tmp_path, tmp_path, "instruction time", found)
    assert cell.status is Status.failed
    assert cell.error
    assert "no such memory" in cell.error.why


# what it executes


def test_the_application_is_described_for_one_core_and_its_files_are_in_the_guest() -> None:
    texts = application.texts()
    described = json.loads(texts["lab/application.json"])
    assert set(described.get("cpus", [0])) == {0}
    assert {one["name"] for one in described["callbacks"]} == {
        "control.step",
        "sensor.read",
        "parser.parse",
    }
    job = application.job(jobs.LOADED, 3)
    assert job.from_host
    assert "/lab/application.json" in job.commands[0]
    profile = Path(dict(job.environment)[transport.PROFILE])
    assert str(profile).lstrip("/") in texts


@pytest.mark.parametrize("mode", [Mode.icount, Mode.functional])
def test_an_execution_that_left_no_trace_fails_with_its_own_words(
    tmp_path: Path, mode: Mode
) -> None:
    (tmp_path / "application-idle.log").write_text("app_runner: no memory\n")
    (row,) = application.measured(tmp_path, jobs.IDLE, mode)
    assert row.outcome is Outcome.fails
    assert "app_runner: no memory" in row.reasons[0]


# what it tries


def tried(out: Path, **changed: object) -> None:
    """What a guest leaves in which all trials went well, but for what is changed."""
    place = {"where": "/proc/x", "before": "1", "result": "changed"}
    documents: dict[str, object] = {
        "doctor": {"fingerprint": {"preemption": "PREEMPT_RT"}, "findings": []},
        "planned": {"places": [place]},
        "applied": {"places": [place]},
        "reverted": {"places": [place], "recorded": 0},
        "planned-again": {"places": [place]},
    } | changed
    for name, document in documents.items():
        (out / f"{name}.json").write_text(json.dumps(document))
    (out / "clock-step.observed").write_text(f"1000 {1000 + trials.STEP_S}\n")
    (out / "cpu-offline.observed").write_text("0\n0-1\n")


def beside(label: str, count: int = 4000, max_us: float = 90.0) -> Cell:
    _, plan, _ = cells.experiment(4, ros=False, disturbances=[label])
    cell = next(one for one in plan.cells if one.label == label)
    return cell.model_copy(update={"status": Status.complete, "count": count, "max_us": max_us})


def held(out: Path, *measured: Cell) -> dict[str, bool]:
    return {one.trial: one.holds for one in trials.judged(out, measured)}


def test_trials_that_went_well_hold(tmp_path: Path) -> None:
    tried(tmp_path)
    found = held(tmp_path, beside(trials.CLOCK), beside(trials.CPU))
    assert found == {"doctor": True, "tune": True, "clock-step": True, "cpu-offline": True}


def test_each_trial_can_fail(tmp_path: Path) -> None:
    tried(tmp_path)
    short, late = beside(trials.CLOCK, count=3999), beside(trials.CPU, max_us=3.6e9)
    assert held(tmp_path, short, late) == {
        "doctor": True,
        "tune": True,
        "clock-step": False,
        "cpu-offline": False,
    }
    (tmp_path / "cpu-offline.observed").write_text("0-1\n0-1\n")  # it was never away
    assert not held(tmp_path, beside(trials.CPU))["cpu-offline"]
    (tmp_path / "clock-step.observed").write_text("1000 1001\n")
    assert not held(tmp_path, beside(trials.CLOCK))["clock-step"]


@pytest.mark.parametrize(
    "changed",
    [
        {"planned-again": {"places": []}},
        {"reverted": {"places": [], "recorded": 1}},
        {"applied": {"places": [{"where": "/proc/x", "result": "refused"}]}},
    ],
)
def test_a_tune_that_leaves_something_behind_or_does_nothing_fails(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    tried(tmp_path, **changed)
    assert not held(tmp_path)["tune"]


def test_a_guest_that_left_nothing_has_no_trial_that_holds(tmp_path: Path) -> None:
    assert set(held(tmp_path).values()) == {False}


def test_a_disturbance_runs_beside_its_probe_to_its_own_end(tmp_path: Path) -> None:
    _, plan, found = cells.experiment(4, ros=False, disturbances=trials.DISTURBANCES)
    planned, _ = cells.planned(plan.cells, found, tmp_path, trials.DISTURBANCES)
    script = jobs.init([one.job for one in planned], [], tmp_path)
    assert script.count("wait $beside") == len(trials.DISTURBANCES)
    assert script.index("cpu1/online") < script.rindex("\nload_on")
    assert subprocess.run(["sh", "-n"], input=script.encode(), timeout=150).returncode == 0
