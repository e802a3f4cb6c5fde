# SPDX-License-Identifier: Apache-2.0
"""Within one process: whose memory a message is in on arrival, and what cannot be handed over."""

from __future__ import annotations

import json

import pytest
from probe_process import PATIENT, Probes
from test_measuring import COUNT, check

# Whether a message arrives where it was: rclcpp publishes all but a unique_ptr by reference.
POINTERS = {"unique_ptr": True, "shared_ptr": False, "const_ref": False}
OF_TAKT = {"unique_ptr": True, "shared_ptr": True, "const_ref": False}


def addresses(probes: Probes, stack: str, *arguments: object) -> dict[str, int]:
    running = probes.start(
        stack, "pubsub", "--count", COUNT, "--depth", COUNT + 100, *PATIENT, *arguments
    )
    check(running, "both")
    document = running.document()
    assert (document["received"], document["lost"]) == (COUNT, 0)
    found = document["addresses"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("content", ["bytes", "string"])
@pytest.mark.parametrize("executor", ["single_threaded", "events", "takt"])
@pytest.mark.parametrize(("way", "same"), POINTERS.items())
def test_only_a_unique_ptr_arrives_where_it_was(
    probes: Probes, way: str, same: bool, executor: str, content: str
) -> None:
    found = addresses(
        probes, "rclcpp", "--transport", way, "--executor", executor, "--content", content,
        "--payload-bytes", 5000,
    )  # fmt: skip
    assert found == {"compared": COUNT, "same": COUNT if same else 0}


@pytest.mark.parametrize("content", ["bytes", "string"])
@pytest.mark.parametrize(("way", "same"), OF_TAKT.items())
def test_takts_own_library_copies_only_what_is_published_by_reference(
    probes: Probes, way: str, same: bool, content: str
) -> None:
    found = addresses(
        probes, "rcl", "--transport", way, "--content", content, "--payload-bytes", 5000
    )
    assert found == {"compared": COUNT, "same": COUNT if same else 0}


@pytest.mark.parametrize("payload", [64, 4096, 1 << 20])
def test_a_loan_of_fast_dds_arrives_where_it_was(probes: Probes, payload: int) -> None:
    answer = json.loads(probes.ask("rcl", "--capabilities").stdout)
    if not any(one["transport"] == "loan" for one in answer["capabilities"]):
        pytest.skip("takt_interfaces was built without messages of fixed size")
    found = addresses(probes, "rcl", "--transport", "loan", "--payload-bytes", payload)
    assert found == {"compared": COUNT, "same": COUNT}


@pytest.mark.parametrize(
    ("stack", "words", "named"),
    [
        ("cyclonedds", ("--transport", "unique_ptr"), "--transport unique_ptr"),
        ("rcl", ("--transport", "unique_ptr", "--history", "keep_all"), "--history keep_all"),
        ("rcl", ("--transport", "loan", "--payload-bytes", 65), "--payload-bytes 65"),
        ("rcl", ("--transport", "loan", "--payload-bytes", 64, "--content", "string"), "--content"),
        ("rclcpp", ("--transport", "loan"), "--transport loan"),
        ("rclcpp", ("--transport", "const_ref", "--history", "keep_all"), "--history keep_all"),
        ("cyclonedds", ("--transport", "loan"), "--transport loan"),
    ],
)
def test_what_cannot_be_handed_over_like_that_is_refused(
    probes: Probes, stack: str, words: tuple[object, ...], named: str
) -> None:
    done = probes.ask(stack, "pubsub", *words)
    assert done.returncode == 2
    assert named in done.stderr
