# SPDX-License-Identifier: Apache-2.0
"""``takt measure supply`` with the installed probe: what it writes counts in an analysis."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Takt

ROOT = Path(__file__).resolve().parents[3]
PREFIX = ROOT / os.environ.get("TAKT_STATE", ".takt") / "install"
CORE = min(os.sched_getaffinity(0))


@pytest.fixture
def measured(takt: Takt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    if not (PREFIX / "lib" / "takt_probes" / "probe_raw").exists():
        pytest.skip("probe_raw is not installed")
    monkeypatch.setenv("TAKT_PREFIX", str(PREFIX))
    command = ["measure", "supply", "--cpu", str(CORE), "--period", "50ms", "--duration", "1s"]
    return takt.json(*command, "--repetitions", "1", "--out", tmp_path / "s")


def test_the_supply_of_a_core_is_measured_and_counts(
    takt: Takt, tmp_path: Path, measured: dict[str, object]
) -> None:
    (found,) = measured["supply"]  # type: ignore[misc]
    assert found["cpu"] == CORE
    assert 0 < found["mean_share"] <= 1
    assert found["least_share"] <= found["mean_share"]
    assert found["curve"]
    for point in found["curve"]:
        assert found["rate"] * (point["length_us"] - found["delay_us"]) <= point["least_us"] + 1e-3
    names = [one["name"] for one in found["takers"] if one["kind"] == "interrupt"]
    assert names
    app = tmp_path / "x.app.yaml"
    app.write_text(
        f"cpus: [{CORE}]\nnodes: {{n: {{c: {{timer: 10s, wcet: 1us, priority: 1}}}}}}\n",
        encoding="utf-8",
    )
    done = takt.json("analyse", app, "--supply", tmp_path / "s" / "supply.yaml")
    (callback,) = done["scenarios"][0]["callbacks"]
    assert callback["response_us"] >= found["delay_us"] + found["latency_us"]
    assert done["remarks"][-1].startswith(f"assuming the measured supply, latency of core {CORE} (")
