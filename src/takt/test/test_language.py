# SPDX-License-Identifier: Apache-2.0
"""What people read is written in the words of the field: the words below are not, and come back.

Read are the help of all commands, every text in the Python and C++ sources that has a space (so
errors, notes, tables and log messages, not comments), and the documents. What is still to do
stands in language.json: files that are not read yet, a list that only shrinks, and how often an
identifier has one of the worst words, a number that only sinks.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.models import OptionInfo

from takt.reference import command_line

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "src/takt/takt"
SOURCES = (ROOT / "src", ROOT / "setup")
LEFT = json.loads((Path(__file__).parent / "language.json").read_text(encoding="utf-8"))
# What is not written, and what is written instead.
BANNED = {
    r"tells?|telling|told": "report, show, print or log",
    r"mend(s|ed|ing)?|remed(y|ies)": "fix",
    r"seen": "observed, measured or found",
    r"nobody( uses)?": "no process, no user; unused, idle; unknown",
    r"somebody( else)?": "another process, another user",
    r"whoever|those (who|which)|of whom|of what": "the noun: threads that …, every user with …",
    r"never (came|arrived)|did not (come|arrive)": "missing; dropped or lost for a message",
    r"shortfalls?": "not granted: requested policy, granted policy",
    r"for good": "guaranteed, for all executions",
    r"whereby": "two sentences",
    r"(goes|go|going) on with": "continue",
    r"(bring|brings|brought) home": "copy, fetch",
    r"in no time": "duration must be greater than 0",
    r"(this|it) is no": "this is not a …",
    r"there is no such": "no such …",
    r"can(not| be)? (be )?told": "unknown, no answer",
    r"left alone": "unchanged",
    r"not taken for": "not recognised as",
}
# A help says what to do or names the thing; these begin half a sentence.
HALF = "of|for|on|by|what|how|where|which|whether|such|instead|meanwhile|from|before|at|after"
_BANNED = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): use for word, use in BANNED.items()}
_CPP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL)
_PARTS = re.compile(r"[A-Z]?[a-z]+")


def faults(text: str) -> list[str]:
    """What in a text is not written, each with what is written instead."""
    return [
        f"{found[0]!r}: write {use}; in: {' '.join(text.split())[:200]}"
        for pattern, use in _BANNED.items()
        if (found := pattern.search(text))
    ]


def faults_of_help(text: str) -> list[str]:
    """The same of the help of an option, and of its form."""
    found = faults(text)
    if re.match(rf"({HALF})\b", text, re.IGNORECASE):
        found.append(f"begins with half a sentence; name the thing or say what to do: {text}")
    if not text.endswith((".", ")")) or "\n" in text:
        found.append(f"is one line that ends with a full stop or its default: {text}")
    return found


def texts_of_python(source: str) -> Iterator[tuple[int, str]]:
    """The line and text of each literal with a space in it, docstrings left out."""
    tree = ast.parse(source)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
              for part in node.values}  # fmt: skip
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            constants = (getattr(part, "value", None) for part in node.values)
            text = "".join(one if isinstance(one, str) else "{}" for one in constants)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = "" if id(node) in inside | said else node.value
        if " " in text.strip():
            yield node.lineno, text


def texts_of_cpp(source: str) -> Iterator[tuple[int, str]]:
    """The line and text of each literal with a space in it; those side by side are one."""
    at, text, end = 0, "", 0
    for found in _CPP.finditer(source):
        if not found[0].startswith('"'):
            continue
        if source[end : found.start()].strip():
            if " " in text.strip():
                yield at, text
            text = ""
        at = at if text else source.count("\n", 0, found.start()) + 1
        text, end = text + found[0][1:-1], found.end()
    if " " in text.strip():
        yield at, text


def texts_of_markdown(source: str) -> Iterator[tuple[int, str]]:
    """The line and text of each line: code is read, too, as it holds what programs print."""
    yield from enumerate(source.splitlines(), 1)


def identifiers(source: str) -> Iterator[str]:
    """The words of the names in a Python or C++ source; comments and texts left out."""
    code = re.sub(r'"""(?:.|\n)*?"""|#[^\n]*', "", source) if "import" in source else source
    for name in re.findall(r"[A-Za-z_]\w*", _CPP.sub("", code)):
        yield from (part.lower() for part in _PARTS.findall(name))


def read() -> Iterator[tuple[Path, Iterator[tuple[int, str]]]]:
    """All files that people read from, with their texts; without the files that are left."""
    for folder, ending, texts in (
        (TOOL, "*.py", texts_of_python),
        (ROOT / "src", "*.[ch]pp", texts_of_cpp),
        (ROOT / "docs", "*.md", texts_of_markdown),
        (ROOT, "README.md", texts_of_markdown),
    ):
        for file in sorted(folder.glob(ending) if folder == ROOT else folder.rglob(ending)):
            if "test" not in file.relative_to(ROOT).parts and not is_left(file):
                yield file, texts(file.read_text(encoding="utf-8"))


def is_left(file: Path) -> bool:
    name = str(file.relative_to(ROOT))
    return any(name == one or name.startswith(f"{one}/") for one in LEFT["not yet read"])


@pytest.mark.parametrize("name", command_line.every())
def test_help_is_in_the_words_of_the_field(name: str) -> None:
    function = command_line.command(name)
    first = (inspect.getdoc(function) or "").splitlines()[0]
    found = faults(inspect.getdoc(function) or "")
    if re.match(rf"({HALF})\b", first, re.IGNORECASE) or not first.endswith("."):
        found.append(f"begins with a sentence that says what the command does: {first}")
    for key, info in command_line.infos(function):
        assert info.help, f"{name} {key} has no help"
        wanted = faults_of_help if isinstance(info, OptionInfo) else faults
        found += [f"{key} {one}" for one in wanted(" ".join(info.help.split()))]
    assert not found, "\n".join(found)


def test_texts_are_in_the_words_of_the_field() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {one}"
        for file, texts in read()
        for line, text in texts
        for one in faults(text)
    ]
    assert not found, "\n".join(found)


def test_what_is_left_exists() -> None:
    gone = [one for one in LEFT["not yet read"] if not (ROOT / one).exists()]
    assert not gone, f"take these out of language.json: {gone}"


@pytest.mark.parametrize(("word", "most"), LEFT["identifiers"].items())
def test_identifiers_lose_their_worst_words(word: str, most: int) -> None:
    places = [place.rglob(ending) for place in SOURCES for ending in ("*.py", "*.[ch]pp")]
    files = set().union(*places) - {Path(__file__)}
    pattern = re.compile(word)
    number = sum(
        pattern.fullmatch(part) is not None
        for file in files
        for part in identifiers(file.read_text(encoding="utf-8"))
    )
    assert number <= most, f"{word}: {number} times in identifiers, {most} before: use another word"
    assert number > most - 30, f"{word}: only {number} times: write that into language.json"


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("the threads told of no policy", "report"),
        ("mend it by hand", "fix"),
        ("  remedy: reboot", "fix"),
        ("2 of 3 messages never came", "missing"),
        ("so whoever reads it", "the noun"),
        ("Nobody uses it", "unused"),
        ("this is no trace", "not a"),
    ],
)
def test_a_banned_word_is_found(text: str, instead: str) -> None:
    (found,) = faults(text)
    assert instead in found


@pytest.mark.parametrize(
    "text",
    ["duration must be greater than 0", "amend the commit", "this is not a trace", "a toll of 3 s"],
)
def test_a_good_text_is_not_found(text: str) -> None:
    assert not faults(text)


@pytest.mark.parametrize("text", ["Of everything that is random.", "Random seed", "Such as 3s."])
def test_half_a_help_is_found(text: str) -> None:
    assert faults_of_help(text)


@pytest.mark.parametrize("text", ["Random seed.", "Write to this folder. (default: results)"])
def test_a_whole_help_is_not_found(text: str) -> None:
    assert not faults_of_help(text)


def test_texts_are_read_from_sources() -> None:
    python = '"""Told in a docstring."""\nx = f"told {y.told} now"  # told here\nz = "told"\n'
    assert list(texts_of_python(python)) == [(2, "told {} now")]
    cpp = '// "told here"\nf("one "\n  "told", \'"\', "two");\n'
    assert list(texts_of_cpp(cpp)) == [(2, "one told")]


def test_identifiers_are_split_into_words() -> None:
    assert list(identifiers('x = whatWasTold(not_told)  // told\n"told"')) == [
        "x", "what", "Was".lower(), "told", "not", "told",
    ]  # fmt: skip


def test_groups_of_digits_are_written_in_one_way() -> None:
    """By ``text.count`` and ``text.fixed``: a narrow space, which is never broken."""
    sources = {one: one.read_text(encoding="utf-8") for one in TOOL.rglob("*.py")}
    with_commas = [one.name for one, text in sources.items() if re.search(r":,(\.|\})", text)]
    # The first replaces the commas; the other writes a page of Markdown, beside prose with commas.
    assert sorted(set(with_commas)) == ["coverage.py", "text.py"]
