# SPDX-License-Identifier: Apache-2.0
"""The page of a reproduction: everything of the outcome, where the paper has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import takt

from takt.reproduce import page, papers
from takt.reproduce.model import (
    Deviation,
    Figure,
    Finding,
    Outcome,
    Request,
    Row,
    Statement,
    Unfinished,
    size_in_words,
)
from takt.reproduce.published import read_published
from takt.reproduce.unfinished import HEADS
from takt.reproduce.ye2023 import drawing
from takt.reproduce.ye2023.quantities import KIB, MIB

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63"
    "000100000500010d0a2db40000000049454e44ae426082"
)  # fmt: skip


def finding(name: str, at: str, holds: bool | None, **more: object) -> Finding:
    values: dict[str, object] = {
        "id": name,
        "stack": "rcl",
        "claim": f"<b>{name}</b> is so",
        "at": at,
        "published": {"share": 0.26},
        "measured": {"share": 0.125},
        "holds": holds,
        "criterion": "share >= published_share / 2",
        "intervals": {"share": (0.1, 0.15)},
        "definitions": {"share": "misses / executions"},
    }
    return Finding.model_validate(values | more)


def row(table: str, published: dict[str, int | float | str | None]) -> Row:
    return Row(
        table=table, row="baseline1", vendor="rcl", published=published, measured={"max": 70}
    )


def outcome(folder: Path) -> Outcome:
    (folder / "figures").mkdir()
    (folder / "figures" / "figure-5.9.png").write_bytes(PIXEL)
    (folder / "figures" / "figure-9.9.png").write_bytes(PIXEL)
    return Outcome(
        paper="p2021",
        title="A <paper>",
        scale=0.01,
        complete=True,
        findings=[
            finding("late", "5.10, figure 5.12", None, needs="about 80 runs"),
            finding("first", "5.4.3, figures 5.8 to 5.10", True, differs="one core, not two"),
            finding("table", "5.5, table 5.14", False),
        ],
        tables=[
            row("5.14", {"max": 83}),
            row("9.1", {}),
        ],
        figures=[
            Figure(figure="5.9", file="figures/figure-5.9.png"),
            Figure(figure="9.9", file="figures/figure-9.9.png"),
        ],
        skipped=["50 points, for the scale"],
        results=str(folder),
    )  # fmt: skip


def test_sections_come_in_the_papers_order_with_their_tables_and_figures(tmp_path: Path) -> None:
    found = page.sections(outcome(tmp_path))
    assert [one.name for one in found] == ["5.4.3", "5.5", "5.10", "Further tables and figures"]
    assert [one.figure for one in found[0].figures] == ["5.9"]
    assert list(found[1].tables) == ["5.14"]
    assert (list(found[3].tables), [one.figure for one in found[3].figures]) == (["9.1"], ["9.9"])


def test_a_row_of_a_figure_an_output_or_a_section_is_where_these_are(tmp_path: Path) -> None:
    result = outcome(tmp_path)
    result.findings.append(finding("suite", "4.1.2, figure 4.1, output 4.2", True))
    result.tables = [row("figure 4.1", {}), row("output 4.2", {}), row("section 4.1.2", {})]
    section = page.sections(result)[0]
    assert (section.name, list(section.tables)) == (
        "4.1.2",
        ["figure 4.1", "output 4.2", "section 4.1.2"],
    )


@pytest.mark.parametrize("paper", papers.names())
def test_every_published_table_and_figure_has_a_section(paper: str) -> None:
    published = read_published(paper)
    result = Outcome(
        paper=paper, title="", scale=1, complete=True, results="",
        findings=[finding(name, claim.at, True) for name, claim in published.findings.items()],
        tables=[row(one.table, {}) for one in published.tables],
        figures=[Figure(figure=number, file="") for number in published.figures],
        statements=published.all_statements(),
    )  # fmt: skip
    assert "Further tables and figures" not in [one.name for one in page.sections(result)]


def test_a_table_that_only_a_statement_speaks_of_stands_in_its_section(tmp_path: Path) -> None:
    result = outcome(tmp_path)
    result.tables = [row("table 7", {})]
    result.statements = [
        Statement(claim="it is so", at="2.1, table 7", why="a setting"),
        Statement(claim="it is drawn", at="2.2, figure 99", why="a drawing"),
    ]
    assert page.sections(result)[0].name == "2.1"
    assert "2.2" not in [one.name for one in page.sections(result)]


def test_a_figure_stands_in_its_own_chapter_though_another_one_refers_to_it(tmp_path: Path) -> None:
    result = outcome(tmp_path)
    result.findings = [finding("early", "4.1.2, figures 4.1 and 9.9", True)]
    result.statements = [
        Statement(claim="it is drawn", at="chapter 9, figure 9.9", why="a drawing")
    ]
    result.tables = []
    last = page.sections(result)[-2]
    assert (last.name, [one.figure for one in last.figures]) == ("chapter 9", ["9.9"])
    result.statements = []
    assert [one.figure for one in page.sections(result)[0].figures] == ["9.9"]


def test_deviations_statements_and_what_is_too_rare_are_on_the_page(tmp_path: Path) -> None:
    result = outcome(tmp_path)
    result.undecidable = ["one-in-a-million"]
    result.deviations = [Deviation(paper="two <cores>", here="one core", why="there is one")]
    result.statements = [
        Statement(claim="it is early", at="5.4.3", finding="first"),
        Statement(claim="it is good", at="chapter 6", why="a judgement"),
    ]
    text = page.keep(result).read_text(encoding="utf-8")
    for said in (
        "one-in-a-million", "two &lt;cores&gt;", "there is one",
        '<a href="#first-rcl">first</a>: holds here', "A judgement.",
    ):  # fmt: skip
        assert said in text


def left(state: str, number: int = 0, **more: object) -> Unfinished:
    return Unfinished.model_validate(
        {"point": f"A <DDS> {number}", "key": f"a-{number}", "state": state, "runs": 2, "of": 3,
         "why": "none of 10 messages arrived"} | more
    )  # fmt: skip


def test_what_is_not_complete_is_named_on_the_page(tmp_path: Path) -> None:
    result = outcome(tmp_path)
    assert "never came" not in page.render(result, tmp_path)
    result.unfinished = [left("lost", fix="sysctl"), *(left("waiting", one) for one in range(12))]
    result.complete = False
    text = page.render(result, tmp_path)
    for said in (
        "Messages that never came",
        (
            "<b>A &lt;DDS&gt; 0</b>, 2 of 3 runs: none of 10 messages arrived. Try: "
            "<code>sysctl</code>"
        ),
        "Not all was measured yet",
        "A &lt;DDS&gt; 9</b>",
        "<li>and 2 more</li>",
    ):
        assert said in text
    assert "A &lt;DDS&gt; 10</b>" not in text
    assert "Something failed" not in text


def test_a_page_of_before_still_says_that_it_is_not_complete(tmp_path: Path) -> None:
    result = outcome(tmp_path)
    result.complete = False
    assert "Not all was measured" in page.render(result, tmp_path)


@pytest.mark.parametrize(
    ("states", "code"),
    [((), 0), (("lost",), 0), (("lost", "waiting"), 1), (("failed",), 1)],
)
def test_lost_messages_are_an_answer_and_what_waits_or_failed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    states: tuple[str, ...], code: int,
) -> None:  # fmt: skip
    unfinished = [left(state, fix="[sysctl]") for state in states]
    published = read_published("ye2023")
    answer = published.outcome(
        Request(scale=0.01), tmp_path, unfinished=unfinished, findings=[], tables=[], figures=[]
    )
    monkeypatch.setattr("takt.reproduce.reproduce", lambda *_: answer)
    assert takt(["reproduce", "ye2023"]) == code
    said = capfd.readouterr()
    for state in states:
        assert HEADS[state].split(";")[0] in said.out
    assert said.out.count("A <DDS> 0, 2 of 3 runs: none of 10") == len(states)
    assert said.out.count("try: [sysctl]") == len(states)
    assert ("Continue with" in said.err) == bool(code)
    assert takt(["reproduce", "ye2023", "--json"]) == code
    document = json.loads(capfd.readouterr().out)
    assert document["complete"] == (not code)
    assert [one["state"] for one in document["unfinished"]] == list(states)


@pytest.mark.parametrize(
    ("at", "numbers"),
    [
        ("5.4.2, figures 5.3, 5.5 and 5.7", ["5.3", "5.5", "5.7"]),
        ("5.5, tables 5.12 to 5.14", ["5.12", "5.13", "5.14"]),
        ("2.4, figure 2.7", ["2.7"]),
        ("4.3.2, figure 4.3, output 4.4", ["4.3", "4.4"]),
        ("chapter 6", []),
    ],
)
def test_the_figures_and_tables_of_a_place_are_read(at: str, numbers: list[str]) -> None:
    assert [number for _, number in page.mentioned(at)] == numbers


def test_everything_of_a_finding_is_on_the_page_and_nothing_is_markup(tmp_path: Path) -> None:
    result = page.keep(outcome(tmp_path)).read_text(encoding="utf-8")
    assert "&lt;b&gt;first&lt;/b&gt; is so." in result
    for said in (
        "A &lt;paper&gt;",
        "share &gt;= published_share / 2",
        "(0.1 to 0.15)",
        "misses / executions",
        "about 80 runs",
        "One core, not two.",
        "Left out: 50 points, for the scale.",
        "does not hold here",
        "undecided",
    ):
        assert said in result
    assert result.count("data:image/png;base64,") == 2
    assert result.index('id="first-') < result.index('id="table-') < result.index('id="late-')


def test_a_published_number_has_its_unit_behind_it() -> None:
    printed = page.figures_in_words({"growth": 0.15, "p999_us": 400, "share_percent": 3})
    assert printed == "growth 0.15, p99.9 400 µs, share 3 %"


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (982.5, "982.5"),
        (1022.4, "1022.4"),
        (999.84, "999.8"),
        (3542, "3542"),
        (0.00013771, "0.0001377"),
    ],
)
def test_the_papers_digits_stay(value: float, printed: str) -> None:
    assert page.cell(value) == printed


def test_the_report_of_a_kept_outcome_is_the_same_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = page.keep(outcome(tmp_path))
    first = kept.read_text(encoding="utf-8")
    kept.unlink()
    assert takt(["report", str(tmp_path)]) == 0
    assert capfd.readouterr().out.strip() == str(kept)
    again = kept.read_text(encoding="utf-8")
    assert len(again.splitlines()) == len(first.splitlines())


def test_a_damaged_outcome_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page.keep(outcome(tmp_path))
    (tmp_path / page.DOCUMENT).write_text('{"paper": 3}')
    assert takt(["report", str(tmp_path)]) == 2
    said = capfd.readouterr().err
    assert "outcome" in said
    assert "Traceback" not in said


def test_words_of_an_axis_do_not_overlap() -> None:
    sizes = [64.0 * 4**place for place in range(10)]  # to 16 MB
    assert drawing._apart(sorted([*sizes, 512.0 * KIB])) == sizes
    assert drawing._apart([10.0, 25.0, 50.0, 100.0]) == [10.0, 25.0, 50.0, 100.0]
    assert drawing._apart([5.0]) == [5.0]


def test_sizes_are_written_as_the_paper_does() -> None:
    assert [size_in_words(one) for one in (64, KIB, 512 * KIB, 16 * MIB)] == [
        "64 B", "1 KB", "512 KB", "16 MB",
    ]  # fmt: skip
