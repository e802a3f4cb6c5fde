# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in a file, its reader gives its content or a short error with a place.

The examples are the same in every run. By hand: TAKT_TEST_ROUNDS breaks so many times as many
files, TAKT_TEST_SEED others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mutations import PIECES, Mutation, break_reader, mutated
from read_files import READERS, Reader, valid_files

SEED = int(os.environ.get("TAKT_TEST_SEED", "1"))
ROUNDS = int(os.environ.get("TAKT_TEST_ROUNDS", "1"))
MANY = 1500 * ROUNDS
MUTATIONS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(-40, 40),
        st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def valid() -> Iterator[dict[str, bytes]]:
    with valid_files() as files:
        yield files


def of_each_reader() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


@of_each_reader()
@settings(
    max_examples=30,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(mutations=MUTATIONS)
@example(mutations=[])
@example(mutations=[(0.0, 10**9, b"a: &a [x,x]\n" + b"b: &a [*a,*a,*a]\n" * 40)])
@example(mutations=[(0.0, 10**9, b"a: &a\n  <<: *a\n")])
@example(mutations=[(0.0, 10**9, b"a: " + b"[" * 100_000)])
@example(mutations=[(0.0, 10**9, b"[" * 100_000)])
@example(mutations=[(0.0, 10**9, b"1\n2\n3\n")])
@example(mutations=[(0.0, 10**9, b"1 -5\n")])
@example(mutations=[(0.0, 64, b"TAKTTRC1")])
def test_a_broken_file_is_read_or_refused_in_few_words(
    tmp_path: Path, valid: dict[str, bytes], reader: Reader, mutations: list[Mutation]
) -> None:
    file = tmp_path / reader.name
    file.write_bytes(mutated(valid[reader.name], mutations))
    reader.survives(file)


@of_each_reader()
def test_a_whole_file_is_read(tmp_path: Path, valid: dict[str, bytes], reader: Reader) -> None:
    file = tmp_path / reader.name
    file.write_bytes(valid[reader.name])
    reader.read(file)


@pytest.mark.thorough
@pytest.mark.timeout(600 * ROUNDS)
@of_each_reader()
def test_many_broken_files_cost_neither_time_nor_memory(
    tmp_path: Path, valid: dict[str, bytes], reader: Reader
) -> None:
    break_reader(reader, valid[reader.name], MANY, SEED, tmp_path)
