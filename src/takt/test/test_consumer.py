# SPDX-License-Identifier: Apache-2.0
"""A project of a user's own, with CMake alone: find_package(takt_core), compile, link, run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

STATE = Path(__file__).resolve().parents[3] / os.environ.get("TAKT_STATE", ".takt")
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(takt_core 0.1 REQUIRED)
takt_use_real_time_linking()
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE takt_core::takt_core)
install(TARGETS consumer)
"""
# What is passed between the two, in both directions: a task, an event, a policy and an error.
MAIN = """
#include <chrono>
#include <cstdio>
#include <takt/executor/executor.hpp>
#include <takt/sched/error.hpp>
#include <typeinfo>

using namespace std::chrono_literals;

struct LastIn : takt::sched::Policy {
  std::string_view name() const noexcept override { return "last-in"; }
  bool preemptive() const noexcept override { return false; }
  bool fixed_priority() const noexcept override { return false; }
  bool before(const takt::sched::Job& a, const takt::sched::Job& b) const noexcept override {
    return a.release > b.release;
  }
};

int main() {
  takt::executor::Executor executor{{.policy = std::make_shared<LastIn>(),
                                     .real_time = false, .lock_memory = false,
                                     .stop_on_signals = false}};
  takt::os::Event ran;
  const takt::sched::Task task{.name = "one", .parameters = {.period = 10ms, .priority = 10}};
  executor.add(task, {.callback = [&](const takt::sched::Job&) { ran.notify(); }});
  executor.start();
  ran.wait();
  executor.stop();
  try {
    executor.add(task, {.callback = [](const takt::sched::Job&) {}});
  } catch (const takt::Error& error) {
    const bool same = &typeid(error) == &typeid(takt::sched::ScheduleError);
    std::printf("%s, %s\\n", error.where().c_str(), same ? "one type" : "another type");
    return 0;
  }
  return 1;
}
"""


def test_a_plain_cmake_project_uses_the_installed_core(tmp_path: Path) -> None:
    config = STATE / "install/share/takt_core/cmake"
    if not (config / "takt_coreConfig.cmake").exists():
        pytest.skip("takt_core is not installed here")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "main.cpp").write_text(MAIN)
    cmake = shutil.which("cmake", path=f"{STATE / 'venv/bin'}:{os.environ['PATH']}")
    assert cmake is not None

    def run(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    build = str(tmp_path / "build")
    ninja = ["-GNinja"] if shutil.which("ninja") else []
    prefixes = f"-DCMAKE_PREFIX_PATH={STATE / 'install'};{STATE / 'ros'}"  # as .takt/setup.sh says
    run(cmake, "-S", str(tmp_path), "-B", build, *ninja, prefixes)
    run(cmake, "--build", build)
    assert run(f"{build}/consumer") == "task 'one', one type\n"
