# SPDX-License-Identifier: Apache-2.0
"""The result of a check on a terminal, readable at 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from takt.doctor.finding import Finding, Severity
from takt.doctor.show import print_prose, show_finding, tuned_by
from takt.measure.check.evidence import Layer, is_realtime, layers, way
from takt.measure.check.verdict import rate_text
from takt.measure.results import scheduling
from takt.measure.results.model import Run, Verdict
from takt.pages import text
from takt.pages.row_table import RowTable

LEVELS = {
    "good": "bold green",
    "fair": "bold dark_orange",
    "unknown": "bold magenta",
    "bad": "bold red",
}
SHOWN_FINDINGS = 3
_CAVEAT = (
    "Takt added no load: with a busy disk, camera or network, latencies grow, on kernels "
    "other than PREEMPT_RT by milliseconds."
)
PERCENTILES = ("p50_us", "p99_us", "p999_us", "max_us")


def show(console: Console, run: Run, folder: Path, core: str, files: Sequence[Path]) -> None:
    """Print what was measured, the verdict, what it means, what to fix, and where it all is."""
    found = layers(run.cells, folder)
    if found:
        _intro(console, run, found, core)
        console.print(_table(found))
        print_prose(console, Text(_legend(found), style="dim"), indent=2)
    if run.verdict:
        _verdict(console, run.verdict)
    meaning = _meaning(found)
    if meaning:
        console.print(Text("\nWHAT IT MEANS", style="bold"))
        for line in meaning:
            print_prose(console, Text(line), indent=2)
    _findings(console, run.doctor)
    console.print()
    for file in files:
        console.print(Text(f"{file}"), soft_wrap=True)


def _legend(found: Sequence[Layer]) -> str:
    deadline = text.duration(found[0].first.deadline_us)
    words = "Each row: all repetitions together, from the planned start of the cycle. Late: number "
    words += f"of {text.count(max(layer.count for layer in found))} responses more than "
    words += f"{deadline} after it, or missing."
    fewer = {layer.count for layer in found if layer.count}
    if len(fewer) > 1:
        words = words.replace("number of", "number of up to")
    if any(layer.not_granted for layer in found):
        words += " (!): requested real-time settings were not granted; see the reasons."
    if any(cell.disturbed for layer in found for cell in layer.cells):
        words += " (~): other programs took much CPU time meanwhile; see the reasons."
    return words


def _intro(console: Console, run: Run, found: Sequence[Layer], core: str) -> None:
    done = sum(cell.count > 0 for cell in run.cells)
    first = found[0].first
    payloads = sorted({layer.first.payload_bytes for layer in found} - {0})
    sizes = ", ".join(map(text.bytes_, payloads))
    words = f"{done} of {len(run.cells)} measurements, each at {rate_text(1e6 / first.period_us)}"
    words += f", messages of {sizes}." if sizes else "."
    console.print(Text("\nWHAT WAS MEASURED", style="bold"))
    print_prose(console, Text(words), indent=2)
    real_time = next((layer.first for layer in found if is_realtime(layer.first)), None)
    if real_time:
        asked = f"SCHED_{real_time.scheduling.upper()} {real_time.priority}"
        print_prose(console, Text(f"Real-time is {asked} on CPU {core}."), indent=2)
    console.print()


def _table(found: Sequence[Layer]) -> RowTable[Layer]:
    names = [way(layer.first) for layer in found]
    first = {id(layer): name for layer, name in zip(found, names, strict=True)}
    for layer, before, name in zip(found[1:], names, names[1:], strict=False):
        first[id(layer)] = "" if name == before else name
    columns: dict[str, Callable[[Layer], object]] = {"": _kind}
    for name, key in zip(("p50", "p99", "p99.9", "max"), PERCENTILES, strict=True):
        columns[name] = partial(_response, key)
    return RowTable(
        heading="  Response in µs",
        rows=found,
        name=lambda layer: f"  {first[id(layer)]}".rstrip(),
        always={**columns, "late": _late},
        words=frozenset({""}),
        style=lambda layer: "bold" if scheduling.real_time(layer.first) else "",
    )


def _kind(layer: Layer) -> str:
    kind = "real-time" if scheduling.real_time(layer.first) else "normal"
    if layer.failed:
        return f"{kind} failed"
    # Both are explained among the reasons.
    kind += " (!)" if layer.not_granted else ""
    return f"{kind} (~)" if any(cell.disturbed for cell in layer.cells) else kind


def _response(key: str, layer: Layer) -> str:
    response = layer.statistics.response if layer.statistics else None
    return text.microseconds(getattr(response, key, None))


def _late(layer: Layer) -> str:
    late = layer.late(layer.first.deadline_us).at_most
    return text.count(late) if layer.count else text.ABSENT


def _verdict(console: Console, verdict: Verdict) -> None:
    heading = Text.assemble(("\nVERDICT: ", "bold"), (verdict.level.upper(), LEVELS[verdict.level]))
    console.print(heading)
    print_prose(console, Text(verdict.headline, style="bold"), indent=2)
    for reason in verdict.reasons:
        print_prose(console, Text(f"- {reason}"), indent=2, hanging=2)


def _meaning(found: Sequence[Layer]) -> list[str]:
    """What the numbers leave of a cycle, in words."""
    asked = [layer for layer in found if is_realtime(layer.first)] or found
    by_way: dict[tuple[str, str], Layer] = {}
    for layer in asked:  # of one that was refused in part, what was asked for comes last
        if layer.statistics:
            by_way[layer.first.stack, layer.first.transport] = layer
    wake, ros = by_way.get(("raw", "nanosleep")), by_way.get(("rcl", "shm"))
    if wake is None or wake.statistics is None:
        return []
    if _too_many_gone(wake):
        return ["More than 1 in 1000 cycles are missing: no bound holds for 999 of 1000.", _CAVEAT]
    period, late = wake.first.period_us, wake.statistics.response.p999_us
    thread = (
        "a thread without the requested real-time settings"
        if wake.not_granted
        else "a real-time thread"
    )
    within = f"{thread} starts within {text.duration(late)} of its planned time"
    lines = [f"In 999 of 1000 cycles of a {rate_text(1e6 / period)} loop, {within}."]
    if ros and _too_many_gone(ros):
        lines.append(
            "More than 1 in 1000 answers over ROS 2 are missing: no cycle may rely on them."
        )
    elif ros and ros.statistics:
        lines.append(_round_trip(ros.statistics.latency.p999_us, late, period))
    normal = _normal_wake_up(found)
    if normal is not None and normal > late:
        lines.append(
            f"The same thread at normal priority starts within {text.duration(normal)}, "
            "and even later under load."
        )
    return [*lines, _CAVEAT]


def _too_many_gone(layer: Layer) -> bool:
    """Whether so much never came that p99.9, which is of what came, says nothing of all."""
    return layer.absent * 1000 > layer.count


def _round_trip(trip: float, late: float, period: float) -> str:
    """What it takes of a cycle beside the wake-up."""
    both, whole = text.duration(late + trip), text.duration(period)
    rest = period - late - trip
    left = (
        f"{text.duration(rest)} of {whole} remain for the control law"
        if rest > 0
        else f"that is more than a whole cycle of {whole}"
    )
    return (
        "A request to another process over ROS 2 and its answer take up to "
        f"{text.duration(trip)} more. Together with the wake-up: {both}; {left}."
    )


def _normal_wake_up(found: Sequence[Layer]) -> float | None:
    for layer in found:
        if layer.first.kind == "wakeup" and not is_realtime(layer.first) and layer.statistics:
            return layer.statistics.response.p999_us
    return None


def _findings(console: Console, findings: Sequence[Finding]) -> None:
    serious = [one for one in findings if one.severity in (Severity.problem, Severity.warning)]
    if not serious:
        return
    console.print(Text("\nWHAT TO FIX FIRST", style="bold"))
    for number, finding in enumerate(serious[:SHOWN_FINDINGS]):
        if number:
            console.print()
        show_finding(console, finding)
    if len(serious) > SHOWN_FINDINGS:
        more = f"{len(serious) - SHOWN_FINDINGS} more: takt doctor"
        console.print(Text(f"  … and {more}", style="dim"))
    if hint := tuned_by(findings):
        console.print()
        print_prose(console, Text(hint), indent=2)
