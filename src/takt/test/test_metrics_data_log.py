# SPDX-License-Identifier: Apache-2.0
"""Lines of made and used data (Krukiewicz-Gacek 2021, listing 5.1), read and written."""

from __future__ import annotations

from pathlib import Path

import pytest
import trace_files as make
from command_line import takt

from takt.errors import TaktError
from takt.schedule.metrics import measure
from takt.schedule.trace.file import Type

LISTING = """\
[1626023628.982256552]: producing_data_topic_id sensor1 452
[1626023629.52480321]: producing_data_topic_id sensor3 321
[1626023629.883291035]: producing_data_topic_id sensor4 520
[1626023630.12144923]: using_data_topic_id sensor1 452
"""
SCAN, WRITER, READER = 7, 0, 1


def log_of(folder: Path, text: str) -> Path:
    file = folder / "log.txt"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_listing_has_one_use_of_data_that_is_as_old_as_its_lines_say(tmp_path: Path) -> None:
    found = measure(log_of(tmp_path, LISTING))
    (age,) = found.data_age
    assert (age.topic, age.unknown) == ("sensor1", 0)
    assert age.age_us is not None
    assert age.age_us.mean == pytest.approx(1_139_192.678)
    assert found.freshness is not None
    assert found.freshness.on_old_data == 0


def test_a_use_after_newer_data_is_on_old_data(tmp_path: Path) -> None:
    lines = LISTING.splitlines()
    newer = "[1626023629.9]: producing_data_topic_id sensor1 453"
    # As RCUTILS prints them, in any order, among other lines, and with data made before the begin.
    logged = lines[3].replace("]: ", "] [node3]: ")
    text = "\n".join([f"[INFO] {logged}", "get_next_timer_start", newer, *lines[:3],
                      "[1626023631.0]: using_data_topic_id sensor4 7"])  # fmt: skip
    found = measure(log_of(tmp_path, text))
    assert found.freshness is not None
    assert [(one.node, one.on_old_data) for one in found.freshness.nodes] == [
        ("readers of sensor1", 1),
        ("readers of sensor4", 1),
    ]
    assert [one.unknown for one in found.data_age] == [0, 1]


def test_what_a_trace_has_of_data_is_written_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = make.write(
        tmp_path / "t",
        [
            *(
                make.name("task", number, name)
                for number, name in ((WRITER, "a.b"), (READER, "c.d"))
            ),
            make.name("topic", SCAN, "/scan"),
            make.event(1_000, Type.use, READER, 0, -1, topic=SCAN),
            make.event(2_000, Type.publish, WRITER, 0, 0, topic=SCAN),
            make.event(5_000, Type.use, READER, 1, 0, topic=SCAN),
        ],
    )
    log = tmp_path / "t.log"
    assert takt(["trace", str(trace), "--log", str(log)]) == 0
    first, second = log.read_text(encoding="utf-8").splitlines()
    assert first == "[1.000002007]: producing_data_topic_id scan 0"
    assert second == "[1.000005007]: using_data_topic_id scan 0"
    capsys.readouterr()
    assert takt(["metrics", str(log)]) == 0
    shown = capsys.readouterr()
    assert "any reader ← scan" in shown.out
    assert "on old data 0" in shown.out
    assert "no execution" not in shown.out
    assert "name no callbacks" in shown.err
    assert takt(["trace", str(trace), "--log", str(trace)]) == 2


def test_what_has_no_such_line_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="no line has producing_data_topic_id"):
        measure(log_of(tmp_path, "[1.0]: something else\n"))
    with pytest.raises(TaktError, match="name no callbacks"):
        measure(log_of(tmp_path, LISTING), application=tmp_path / "x.app.yaml")
