# SPDX-License-Identifier: Apache-2.0
"""What the tests of the set-up share."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SETUP = Path(__file__).resolve().parent.parent


@pytest.fixture
def bootstrap(tmp_path: Path) -> Any:
    """The set-up's module, working on a folder of its own with empty requirements."""
    spec = importlib.util.spec_from_file_location("bootstrap", SETUP / "bootstrap.py")
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.STATE = tmp_path / ".takt"
    module.STATE.mkdir()
    module.LOG = module.STATE / "setup.log"
    module.LOG.touch()
    module.REQUIREMENTS = tmp_path / "requirements"
    module.REQUIREMENTS.mkdir()
    for name in ("check", "tool", "dev", "ros-kilted"):
        (module.REQUIREMENTS / f"{name}.txt").write_text(f"# {name}\n")
    return module
