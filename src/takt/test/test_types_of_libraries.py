# SPDX-License-Identifier: Apache-2.0
"""Polymorphic types that cross the border of a library are defined in it, and in no user of it.

Otherwise each user brings a type of its own, and where libraries are opened with RTLD_LOCAL, as
plugins and Python modules are, a runtime that compares types by address catches no error of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import test_headers
from test_libraries import INSTALLED, library

PACKAGES = [
    pytest.param(one, marks=[] if one == "takt_core" else pytest.mark.thorough)
    for one in ("takt_core", "takt_rcl", "takt_rclcpp")
]
# Types that are known to cross it; the compiler finds them, and what is added later.
KNOWN = {
    "takt_core": {
        *("takt::Error", "takt::sched::ScheduleError", "takt::application::ParseError"),
        *("takt::trace::TraceError", "takt::analysis::Interrupted", "takt::sched::CoreListener"),
        *("takt::sched::Policy", "takt::executor::Input", "takt::executor::JobSource"),
    },
    "takt_rcl": {"takt::RclError", "takt::SubscriptionBase"},
    "takt_rclcpp": {"takt_rclcpp::SchedulingExecutor"},
}
# Each provokes what it catches; `where` is the address of the type's description.
CATCHER = """
#include <typeinfo>
extern "C" {
struct Caught { const char* name; const void* where; };
const Caught* caught();
}
template <class Error, class Function>
const std::type_info* catch_in(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return &typeid(error) == &typeid(Error) ? &typeid(Error) : nullptr;
  } catch (...) {
  }
  return nullptr;
}
"""
OF_CORE = """
#include <atomic>
#include <takt/analysis/analyse.hpp>
#include <takt/application/parse.hpp>
#include <takt/sched/core_state.hpp>
#include <takt/sched/policies.hpp>
#include <takt/trace/reader.hpp>

const Caught* caught() {
  using namespace takt;
  static const std::atomic<bool> stop{true};
  static const Caught all[] = {
      {"ScheduleError",
       catch_in<sched::ScheduleError>([] { (void)sched::parse_policy("no such policy"); })},
      {"ParseError", catch_in<application::ParseError>([] { (void)application::parse("{"); })},
      {"TraceError", catch_in<trace::TraceError>([] { (void)trace::read_trace("/dev/null"); })},
      {"Interrupted", catch_in<analysis::Interrupted>([] {
         analysis::Options options;
         options.stop = &stop;
         (void)analysis::analyse(
             application::parse(R"({"version":1,"name":"a","callbacks":[{"name":"b","period":1000,)"
                                R"("priority":5,"execution":{"worst":10}}]})"),
             options);
       })},
      {"CoreListener", &typeid(sched::CoreListener)},
      {nullptr, nullptr}};
  return all;
}
"""
OF_RCL = """
#include <takt/rcl/context.hpp>
#include <takt/rcl/error.hpp>
#include <takt/rcl/node.hpp>

const Caught* caught() {
  static const Caught all[] = {
      {"RclError", catch_in<takt::RclError>([] {
         takt::Context context;
         takt::Node node{context, "no name of a node"};
       })},
      {nullptr, nullptr}};
  return all;
}
"""
# Two libraries of a process that has nothing of Takt itself; ctypes opens them with RTLD_LOCAL.
OPENER = """
import ctypes, os, sys

class Caught(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("where", ctypes.c_void_p)]

class Found(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("symbol", ctypes.c_void_p)]

dladdr = ctypes.CDLL(None).dladdr
dladdr.argtypes = [ctypes.c_void_p, ctypes.POINTER(Found)]
for file in sys.argv[1:]:
    caught = ctypes.CDLL(file, mode=os.RTLD_LOCAL | os.RTLD_NOW).caught
    caught.restype = ctypes.POINTER(Caught)
    for one in caught():
        if one.name is None:
            break
        found = Found()
        if one.where:
            assert dladdr(one.where, ctypes.byref(found))
        print(one.name.decode(), os.path.basename(found.file.decode()) if one.where else "-")
sys.stdout.flush()
os._exit(0)  # without the end of a middleware
"""


def compiler(package: str) -> list[str]:
    """The command that compiles against the headers of a package."""
    library(package)
    command = [one for one in test_headers.compiler(package) if one != "-fsyntax-only"]
    reported = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True)
    if "clang" in reported.stdout:
        pytest.skip("only GCC lists the classes of a file")
    return [*command, "-O0", "-fPIC"]


def compiled(package: str, text: str, output: Path, *options: str) -> None:
    source = output.with_suffix(".cpp")
    source.write_text(text, encoding="utf-8")
    command = [*compiler(package), *options, "-o", str(output), str(source)]
    done = subprocess.run(command, cwd=output.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_user_of_a_polymorphic_type_does_not_define_it(package: str, tmp_path: Path) -> None:
    names = [one for one in test_headers.headers(package) if "deprecated" not in one]
    includes = "".join(f"#include <{one}>\n" for one in names)
    compiled(package, includes, tmp_path / "listed.o", "-c", "-fdump-lang-class")
    (dump,) = tmp_path.glob("*.class")
    listed = dump.read_text(encoding="utf-8", errors="replace")
    types = set(re.findall(r"^Vtable for (takt\w*(?:::\w+)+)$", listed, re.MULTILINE))
    assert types >= KNOWN[package]
    used = "".join(f"  typeid({one}),\n" for one in sorted(types))
    text = f"{includes}#include <typeindex>\nconst std::type_index all[] = {{\n{used}}};\n"
    compiled(package, text, tmp_path / "user.o", "-c", "-fno-access-control")
    command = ["nm", "--demangle", "--defined-only", str(tmp_path / "user.o")]
    defined = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    described = set(re.findall(r"(?:typeinfo|vtable) for (takt.*)$", defined, re.MULTILINE))
    assert described & types == set()


@pytest.mark.parametrize(
    ("package", "text"),
    [
        pytest.param("takt_core", OF_CORE, id="takt_core"),
        pytest.param("takt_rcl", OF_RCL, id="takt_rcl", marks=pytest.mark.thorough),
    ],
)
def test_libraries_opened_locally_catch_each_type_which_the_library_defines(
    package: str, text: str, tmp_path: Path
) -> None:
    links = [f"-L{INSTALLED / 'lib'}", f"-Wl,-rpath,{INSTALLED / 'lib'}", "-shared"]
    opened = [tmp_path / f"{name}.so" for name in ("one", "other")]
    source = tmp_path / "catcher.cpp"
    source.write_text(CATCHER + text, encoding="utf-8")
    object_file = tmp_path / "catcher.o"
    compiled(package, CATCHER + text, object_file, "-c")
    for one in opened:
        command = [compiler(package)[0], *links, "-o", one, object_file, f"-l{package}"]
        command.append("-ltakt_core")
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
    done = subprocess.run(
        [sys.executable, "-c", OPENER, *opened], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    named = re.findall(r'^ *\{"(\w+)"', text, re.MULTILINE)
    assert [name for name, _ in lines] == named * 2
    assert [line for line in lines if not line[1].startswith(f"lib{package}.so")] == []
