# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the process tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from probe_process import Probes, folder_of_probes

from takt.network.domain import own_domain


@pytest.fixture
def probes(tmp_path: Path) -> Iterator[Probes]:
    with own_domain() as domain:
        probes = Probes(folder_of_probes(), tmp_path, domain)
        yield probes
        probes.end_all()


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: real-time policies, mounts, other users")
