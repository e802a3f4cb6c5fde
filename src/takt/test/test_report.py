# SPDX-License-Identifier: Apache-2.0
"""The report's data and file, without a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from synthetic_runs import CHECK, FAILED, Point, write_document, write_run

from takt.cli.main import main
from takt.measure.report import charts
from takt.measure.report.html import write_report
from takt.measure.report.model import build
from takt.measure.report.order import worst_first
from takt.measure.report.settings import _remarks
from takt.measure.results import store
from takt.measure.results.model import Conditions, Status
from takt.measure.statistics.distribution import percentiles
from takt.measure.statistics.series import Batch, Series, joined, read_series, series_of
from takt.measure.statistics.summary import summarise
from takt.pages import text

WAKEUP = CHECK[0]


def report_of(folder: Path) -> str:
    return write_report(folder, store.read(folder)).read_text(encoding="utf-8")


def words_of(page: str) -> str:
    class Words(HTMLParser):
        text = ""
        skipped = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.skipped = tag in {"script", "style"}

        def handle_endtag(self, tag: str) -> None:
            self.skipped = False

        def handle_data(self, data: str) -> None:
            if not self.skipped:
                self.text += data + " "

    words = Words()
    words.feed(page)
    return re.sub(r"\s+", " ", words.text)


def series(latency_us: ArrayLike, period_us: int = 1000) -> Series:
    latency = np.round(np.asarray(latency_us) * 1000).astype(np.int64)
    intended = np.arange(len(latency), dtype=np.int64) * period_us * 1000
    received = np.where(latency > 0, intended + latency, 0)
    return series_of(Batch(0, np.arange(len(latency)), intended, intended, received))


def test_pooled_numbers_are_those_of_all_samples_together(tmp_path: Path) -> None:
    run = write_run(tmp_path, [WAKEUP], repetitions=3, count=800)
    (variant,) = build(tmp_path, run).variants
    samples = joined([read_series(tmp_path / cell.samples[0]) for cell in run.cells])
    assert variant.statistics == summarise([samples], 1000.0)
    assert variant.total("count") == 2400
    assert [one.extreme.us for one in variant.highest] == sorted(
        (samples.latency_ns / 1000).tolist(), reverse=True
    )[:10]


def test_settings_that_differ_only_in_scheduling_share_charts(tmp_path: Path) -> None:
    run = write_run(tmp_path, CHECK, repetitions=1, count=300)
    page = build(tmp_path, run)
    assert len(page.measurements) == 6
    assert sum(len(one.variants) for one in page.measurements) == len(CHECK)
    first = page.measurements[0]
    assert [one.colour for one in first.variants] == [0, 1]
    names = [one["name"] for one in first.charts[f"{first.anchor}-histogram"]["series"]]
    assert names == ["normal", "real-time FIFO 80, CPU 1"]


def test_the_worst_measurement_is_shown_first(tmp_path: Path) -> None:
    quiet = Point("raw", "wakeup", "nanosleep", "other", 60.0, spikes=0)
    points = [
        quiet,
        replace(quiet, payload_bytes=1, losses=5),
        replace(quiet, payload_bytes=2, median_us=2000.0),
        replace(quiet, payload_bytes=3, median_us=300.0),
    ]
    page = build(tmp_path, write_run(tmp_path, points, repetitions=1, count=300))
    order = [one.variants[0].cells[0].payload_bytes for one in worst_first(page.measurements)]
    assert order == [2, 1, 3, 0]  # late, absent, slow, none of these


def test_no_sample_is_missing_in_the_histogram() -> None:
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(11, 1.5, 50_000)).astype(np.int64)
    drawn = charts.histogram([("all", 0, charts.fine_bins(values))])["series"][0]
    assert sum(drawn["y"]) == len(values)
    assert len(drawn["x"]) == len(drawn["y"]) + 1 <= charts.HISTOGRAM_BINS + 2
    assert drawn["x"] == sorted(drawn["x"])


def test_the_tail_falls_from_all_samples_to_the_slowest_one() -> None:
    rng = np.random.default_rng(2)
    values = np.exp(rng.normal(11, 0.3, 20_000)).astype(np.int64)
    drawn = charts.tail([("all", 0, charts.fine_bins(values), percentiles(values))])["series"][0]
    assert drawn["y"][0] == 1
    assert drawn["y"][-1] == 1 / len(values)
    assert drawn["x"][-1] == charts.short(values.max() / 1000)
    assert drawn["y"] == sorted(drawn["y"], reverse=True)
    for x, y in zip(drawn["x"][1:-1], drawn["y"][1:-1], strict=True):
        assert y == pytest.approx((values / 1000 > x).mean(), rel=0.2, abs=2e-3)


def test_a_long_recording_is_thinned_without_losing_a_peak() -> None:
    latency = np.full(400_000, 50.0)
    latency[[7, 123_456, 399_990]] = [900.0, 987.0, 1.5]
    latency[200_000:200_050] = 0.0  # lost
    whole = series(latency)
    thin = charts.thinned(whole, charts.stretch(len(whole)))
    assert len(thin) < 20_000
    assert (thin.response_ns.max(), thin.response_ns.min()) == (987_000, 1_500)
    assert 900_000 in thin.response_ns
    drawn = [charts.over_time([one], "x", 0, 1000.0) for one in (whole, thin)]
    assert max(drawn[1]["parts"][0]["high"]) == 987.0
    assert len(drawn[0]["lost"]) == len(drawn[1]["lost"]) > 0


def test_repetitions_too_many_to_hold_are_pooled_by_the_cores_histograms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path, [WAKEUP], repetitions=3, count=5000)
    (exact,) = build(tmp_path, run).variants
    monkeypatch.setattr("takt.measure.statistics.distribution.MOST_EXACT", 1000)
    (pooled,) = build(tmp_path, run).variants
    assert exact.statistics is not None
    assert pooled.statistics is not None
    a, b = exact.statistics.latency, pooled.statistics.latency
    assert (b.count, b.min_us, b.max_us) == (a.count, a.min_us, a.max_us)
    assert b.mean_us == pytest.approx(a.mean_us, abs=1e-5)
    assert b.stddev_us == pytest.approx(a.stddev_us, rel=1e-6)
    assert b.p999_us == pytest.approx(a.p999_us, rel=0.02)
    assert pooled.statistics.exceedance == exact.statistics.exceedance
    assert pooled.statistics.loop_exceedance == exact.statistics.loop_exceedance


def test_what_was_read_back_of_threads_and_faults_is_reported() -> None:
    asked = {"policy": "rr", "priority": 80}
    threads = [
        {"name": "probe", "policy": "rr", "priority": 80},
        {"name": "dds", "policy": "other", "priority": 0},
        {"name": "takt.watchdog", "policy": "fifo", "priority": 81},
    ]
    granted = asked | {"threads": threads, "minor_faults": 7, "rr_interval_ns": 100_000_000}
    remarks = _remarks(asked, granted | {"memory_locked": False})
    assert remarks == [
        "time slice 100\u2009ms",
        "1 of 2 threads have other settings: 1 dds normal",
        "7 page faults during the measurement",
        "its memory was not locked",
    ]
    assert _remarks({"policy": "other"}, {"policy": "other", "minor_faults": 7}) == []


def test_no_peak_is_lost_in_the_time_plot() -> None:
    latency = np.full(100_000, 50.0)
    latency[77_777] = 987.0
    latency[55_555] = 3.0
    drawn = charts.over_time([series(latency)], "x", 0, 1000.0)
    (part,) = drawn["parts"]
    assert len(part["x"]) <= charts.TIME_BINS + 1
    assert max(part["high"]) == 987.0
    assert part["x"][int(np.argmax(part["high"]))] == pytest.approx(77.777, abs=0.3)
    assert min(part["low"]) == 3.0


def test_lost_samples_and_repetitions_are_in_the_time_plot() -> None:
    latency = np.full(1000, 50.0)
    latency[500] = 0.0  # lost
    drawn = charts.over_time([series(latency), series(latency)], "x", 0, 1000.0)
    assert len(drawn["parts"]) == 2
    assert drawn["breaks"] == [pytest.approx(0.999, abs=0.01)]
    assert drawn["lost"] == [pytest.approx(0.5, abs=0.01), pytest.approx(1.499, abs=0.01)]


def test_forty_cells_stay_below_two_megabytes(tmp_path: Path) -> None:
    points = [replace(WAKEUP, payload_bytes=8 * number) for number in range(1, 41)]
    write_run(tmp_path, points, repetitions=1, count=20_000)
    assert len(report_of(tmp_path).encode()) < 2_000_000


def test_failed_and_partial_cells_stand_in_the_report_with_their_reasons(tmp_path: Path) -> None:
    run = write_run(tmp_path, [WAKEUP, FAILED], repetitions=2, count=300)
    run.cells[0].status = Status.partial
    write_document(tmp_path, run)
    words = words_of(report_of(tmp_path))
    assert "3 of 4 repetitions did not come to their end" in words
    assert str(FAILED.fails) in words
    assert "What to do: Remove left-over segments in /dev/shm and run again." in words
    assert "1 of 2 repetitions complete" in words


def test_the_names_of_many_unfinished_cells_are_folded(tmp_path: Path) -> None:
    run = write_run(tmp_path, [WAKEUP], repetitions=5, count=300)
    for cell in run.cells:
        cell.status = Status.partial
    write_document(tmp_path, run)
    page = report_of(tmp_path)
    words = words_of(page)
    assert "5 of 5 repetitions did not come to their end" in words
    assert re.search(r"5 repetitions\s*: partial", words)
    (folded,) = re.findall(r"<summary>Which ones</summary>(.*?)</details>", page)
    assert folded.count("<strong data-unfinished=") == 5


def test_settings_that_were_refused_are_said_in_words(tmp_path: Path) -> None:
    write_run(tmp_path, [replace(CHECK[1], denied=True)], repetitions=2, count=300)
    words = words_of(report_of(tmp_path))
    assert "1 of 1 settings differ from what was requested" in words
    assert "policy: requested fifo, granted other" in words
    assert "What to do: Add 'username - rtprio 98'" in words


def test_what_several_settings_lack_is_said_once(tmp_path: Path) -> None:
    denied = [replace(point, denied=True) for point in (CHECK[1], CHECK[3])]
    assert len({one.key for one in denied}) == len(denied)
    write_run(tmp_path, denied, repetitions=2, count=300)
    words = words_of(report_of(tmp_path))
    (settings,) = re.findall("Settings requested and granted.*", words, re.DOTALL)
    assert settings.count("What to do: Add 'username - rtprio 98'") == 1
    assert settings.count(": see above.") == 2


def test_conditions_that_were_declared_are_reported_as_they_were_found(tmp_path: Path) -> None:
    run = write_run(tmp_path, [WAKEUP], repetitions=2, count=300)
    assert build(tmp_path, run).conditions == []
    assert "Conditions found" not in words_of(report_of(tmp_path))
    for cell, share in zip(run.cells, (0.5, 0.75), strict=True):
        cell.load, cell.host, cell.link_mbps, cell.traffic_mbps = (
            "stress 2",
            "here,namespace",
            100,
            40,
        )
        cell.conditions = Conditions(
            load_cpu_share=share,
            idle_cpu_share=0.0,
            traffic_there_mbps=39.9,
            link_there_bytes=1500000,
        )
    store.write(run, tmp_path)
    words = words_of(report_of(tmp_path))
    assert "from here to namespace at 100 Mbit/s · with 40 Mbit/s of traffic" in words
    assert "with load stress 2" in words
    assert "50 to 75 % of CPU time used by it, 0 % idle" in words
    assert "39.9 Mbit/s there" in words
    assert "kB of everything there" in words


def test_what_two_clocks_are_apart_is_an_error_bar(tmp_path: Path) -> None:
    run = write_run(tmp_path, [WAKEUP], repetitions=2, count=300)
    assert 'class="error"' not in report_of(tmp_path)
    for cell, bound in zip(run.cells, (20.0, 308.5), strict=True):
        cell.host = "controller,component"
        cell.conditions = Conditions(clock="chrony", clock_bound_us=bound)
    run.hosts = {"component": {"kernel": "6.1.0-other"}}
    store.write(run, tmp_path)
    page = report_of(tmp_path)
    words = words_of(page)
    assert page.count('class="error"') == 1
    assert "± 308 µs by two clocks" in words or "± 309 µs by two clocks" in words
    assert "20 to 308 µs at most between the clocks, chrony" in words
    assert "from controller to component" in words
    assert "Host component" in words
    assert "6.1.0-other" in words


def test_samples_that_are_gone_leave_a_report_that_says_so(tmp_path: Path) -> None:
    run = write_run(tmp_path, [WAKEUP], repetitions=2, count=300)
    (tmp_path / run.cells[1].samples[0]).write_bytes(b"PAR1 no more")
    words = words_of(report_of(tmp_path))
    assert "could not be read" in words
    assert run.cells[1].samples[0] in words


def test_names_cannot_put_markup_into_the_report(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><b onmouseover=alert(2)>"
    run = write_run(tmp_path, [WAKEUP], repetitions=1, count=300, name=evil)
    run.cells[0].transport = evil
    run.machine["kernel"] = evil
    write_document(tmp_path, run)
    page = report_of(tmp_path)
    assert "<script>alert" not in page
    assert "<b onmouseover" not in page
    assert evil in words_of(page)


@pytest.mark.parametrize("points", [[], [FAILED]])
def test_a_run_without_any_sample_has_a_report(tmp_path: Path, points: list[Point]) -> None:
    run = write_run(tmp_path, points, repetitions=1)
    run.verdict = None
    run.doctor = []
    run.ended = None
    write_document(tmp_path, run)
    words = words_of(report_of(tmp_path))
    assert "No verdict" in words
    assert "doctor was not asked" in words


def test_a_single_sample_and_equal_samples_can_be_drawn() -> None:
    for values in ([50.0, 50.0], [1.0] * 100, [9.0, 0.0, 0.0]):
        one = series(values)
        if len(one):
            bins = charts.fine_bins(one.latency_ns)
            drawn = charts.histogram([("x", 0, bins)])["series"][0]
            assert sum(drawn["y"]) == len(one)
            tail = charts.tail([("x", 0, bins, percentiles(one.latency_ns))])
            assert tail["series"][0]["y"][-1] == charts.short(1 / len(one))
        assert charts.over_time([one], "x", 0, 1.0)["type"] == "time"


def test_several_real_time_settings_have_colours_of_their_own(tmp_path: Path) -> None:
    point = Point("raw", "wakeup", "nanosleep", "other", 50.0)
    points = [point] + [replace(point, policy="fifo", priority=p) for p in (20, 40, 60)]
    run = write_run(tmp_path, points, repetitions=1, count=300)
    assert [one.colour for one in build(tmp_path, run).variants] == [0, 1, 2, 3]


def test_the_command_writes_where_it_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "run", [WAKEUP], repetitions=1, count=300)
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "here.html")])
    assert not ended.value.code
    assert capfd.readouterr().out.strip() == str(tmp_path / "here.html")
    assert (tmp_path / "here.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize("place", ["nothing", "file"])
def test_a_report_of_nothing_is_wrong_use(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], place: str
) -> None:
    (tmp_path / "file").write_text("{}")
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path / place)])
    assert ended.value.code == 2
    assert capfd.readouterr().err.startswith("takt: ")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0.00"),
        (1.234, "1.23"),
        (56.78, "56.8"),
        (123.4, "123"),
        (12345.6, "12\u202f346"),
        (None, "–"),
    ],
)
def test_microseconds_have_sensible_digits(value: float | None, written: str) -> None:
    assert text.microseconds(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (10.0, "10 µs"),
        (850.4, "850 µs"),
        (999.9, "1 ms"),
        (1250.0, "1.25 ms"),
        (2e6, "2 s"),
        (4.8e8, "8 min"),
    ],
)
def test_durations_choose_their_unit(value: float | None, written: str) -> None:
    assert text.duration(value).replace("\u2009", " ") == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.5, "50 %"), (3.7e-4, "0.037 %"), (3e-6, "3 in a million")],
)
def test_probabilities_can_be_read(value: float, written: str) -> None:
    assert text.probability(value).replace("\u2009", " ") == written


def test_a_sentence_begins_with_a_capital_but_a_cell_keeps_its_name() -> None:
    assert text.full_stop("ROS 2 is slow") == "ROS\u00a02 is slow."
    assert text.full_stop("real-time it is") == "Real-time it is."
    assert text.full_stop("rcl-pubsub-shm-r0: 1 lost") == "rcl-pubsub-shm-r0: 1 lost."
