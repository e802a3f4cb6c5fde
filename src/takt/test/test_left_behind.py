# SPDX-License-Identifier: Apache-2.0
"""A session of tests that leaves something in the shared memory fails, and names it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# A shared memory of its own: in the machine's, runs of other tests sweep what nobody uses.
ALONE = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
ALONE += ['mount -t tmpfs -o size=16m tmpfs /dev/shm && exec "$@"', ""]
LEAVING = """
import glob, os, subprocess, sys, tempfile, time
from pathlib import Path

RUN = '''
import sys
from pathlib import Path
from takt.processes import scratch
run = Path(sys.argv[1])
run.mkdir()
(run / scratch.DOCUMENT).touch()
held = scratch.open_for(run)
'''
HOLDER = '''
import mmap, os, sys
file = os.open("/dev/shm/fastdds_0123456789abcdef", os.O_RDWR | os.O_CREAT)
os.truncate(file, 4096)
kept = mmap.mmap(file, 4096)
print("ready", flush=True)
sys.stdin.read()
'''

def noted():
    places = glob.glob(tempfile.gettempdir() + "/takt-tests-*/*")
    return any("fastdds_0123456789abcdef" in Path(one).read_text() for one in places)

def test_it(tmp_path):
    how = "HOW"
    program = RUN + HOLDER if how == "run" else HOLDER
    process = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "run"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"ready\\n"
    while not noted():
        time.sleep(0.05)
    process.kill()
    process.communicate()
    if how == "nothing":
        Path("/dev/shm/fastdds_0123456789abcdef").unlink()
"""


@pytest.mark.parametrize("workers", ["0", "1"])
@pytest.mark.parametrize(
    ("how", "named"),
    [("file", "fastdds_0123456789abcdef"), ("run", f"takt-{os.getuid()}-"), ("nothing", "")],
)
def test_what_is_left_fails_the_session(tmp_path: Path, how: str, named: str, workers: str) -> None:
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode:
        pytest.skip("this system does not allow a /dev/shm of one's own")
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_leaving.py").write_text(LEAVING.replace("HOW", how))
    words = ["-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-p", "no:cacheprovider"]
    words += ["--basetemp", tmp_path / "base", f"--numprocesses={workers}", tmp_path]
    done = subprocess.run(
        [*ALONE, sys.executable, "-m", "pytest", *map(str, words)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == (how != "nothing"), done.stdout
    assert ("left behind in /dev/shm" in done.stdout) == (how != "nothing")
    assert named in done.stdout
