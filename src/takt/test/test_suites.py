# SPDX-License-Identifier: Apache-2.0
"""The three suites on the command line: what they print and leave behind (Sticha 2014, 4.1-4.3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Takt

from takt.errors import Failure
from takt.measure.results import histogram
from takt.network import ros1


def measured(takt: Takt, kind: str, *options: str) -> tuple[str, Path, dict[str, Any]]:
    """Standard output, run folder and the only cell."""
    done = takt("measure", kind, "--stack", "fake", "--repetitions", "1", *options, "--out", "run")
    assert done.returncode == 0, done.stderr
    folder = takt.folder / "run"
    (cell,) = json.loads((folder / "run.json").read_text())["cells"]
    return done.stdout, folder, cell


def test_a_oneshot_timer_prints_measured_reported_and_difference(takt: Takt) -> None:
    out, folder, cell = measured(
        takt, "timer-oneshot", "--timeout", "1ms", "--samples", "50", "--plot"
    )
    assert "50 one-shot timers with a timeout of 1ms" in out
    for line in ("Measured:   MIN: 11 µs  AVG: 11 µs  MAX: 11 µs", "Reported:   MIN: 1.0 µs"):
        assert line in out
    assert "Difference: MIN: -10 µs" in out
    assert "Indices of highest values (|µs:index|): |11:49|11:48|" in out
    assert "Indices of lowest values (|µs:index|): |11:1|11:2|" in out
    values, counts = histogram.read(folder / cell["histogram"])
    assert (values.tolist(), counts.tolist()) == ([11], [49])
    assert (folder / "samples" / f"{cell['id']}.png").stat().st_size > 1000
    assert (folder / "samples" / f"{cell['id']}.svg").exists()


def test_timers_that_never_fire_are_counted(takt: Takt) -> None:
    out, _, cell = measured(takt, "timer-oneshot", "--transport", "lossy", "--samples", "50")
    assert "Never fired within 500ms: 5" in out
    assert (cell["lost"], cell["statistics"]["one_shot"]["never_fired"]) == (5, 5)


def test_a_cyclic_timer_prints_its_jitter_and_rate(takt: Takt) -> None:
    out, _, cell = measured(takt, "timer-cyclic", "--rate", "1kHz", "--samples", "60")
    assert "60 calls of a timer of 1kHz" in out
    assert "Jitter: MIN: 0.0 µs  AVG: 0.0 µs  MAX: 0.0 µs" in out
    assert "First two, excluded from all other figures: 0.0 µs, 0.0 µs" in out
    assert "Achieved rate: 999.999 Hz; 0 of 60 expiries skipped" in out
    assert cell["statistics"]["cyclic"]["jitter"]["count"] == 57


def test_every_subscriber_prints_its_own_results(takt: Takt) -> None:
    out, _, cell = measured(
        takt, "pubsub", "--transport", "lossy", "--subscribers", "2", "--samples", "50"
    )
    assert "50 messages of 500B at 1kHz to 2 subscribers" in out
    assert "Subscriber 2:" in out
    assert out.count("Received: 45; lost: 5; duplicated: 0; out of order: 0") == 2
    assert len(cell["statistics"]["subscribers"]) == 2


def test_talkers_and_load_are_beside_the_measurement(takt: Takt) -> None:
    options = ("--talkers", "2", "--talker-rate", "50Hz", "--load", "cpu", "--samples", "200")
    _, _, cell = measured(takt, "pubsub", *options)
    assert cell["key"] == "fake-pubsub-fine-500B-other-1kHz-2talkers50Hz-load_cpu"
    assert (cell["status"], cell["count"]) == ("complete", 200)
    # A machine that does much else has others on the core, which is told.
    assert [one for one in cell["notes"] if "occupied CPU" not in one["what"]] == []
    assert [one["role"] for one in cell["probes"]] == ["subscriber", "publisher"]


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (("timer-oneshot", "--rate", "1kHz"), "has no rate"),
        (("timer-oneshot", "--samples", "5", "--duration", "1s"), "give one of them"),
        (("timer-cyclic", "--wait", "busy"), "has no wait"),
        (("pubsub", "--talker-rate", "5Hz"), "needs talkers"),
        (("wakeup", "--load", "heavy"), "--load: 'heavy' is not none, idle, cpu, fft, stress"),
        (("pubsub", "--talkers", "1", "--talker-rate", "1MHz"), "--talker-rate: 1MHz is faster"),
        (("pubsub", "--subscribers", "101"), "must be at most 100"),
    ],
)
def test_what_does_not_go_together_is_refused(
    takt: Takt, options: tuple[str, ...], where: str
) -> None:
    done = takt("measure", *options, "--stack", "fake")
    assert done.returncode == 2
    assert where in done.stderr


def test_without_a_rosmaster_the_way_to_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(Failure, match="rosmaster is not installed") as caught,
        ros1.master(tmp_path),
    ):
        pass
    assert "takt setup ros1" in (caught.value.fix or "")


def test_a_rosmaster_that_ends_at_once_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "rosmaster"
    program.write_text("#!/bin/sh\necho no such module >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(Failure, match="exit code 3") as caught, ros1.master(tmp_path):
        pass
    assert "no such module" in (caught.value.where or "")
