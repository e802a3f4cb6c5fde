# SPDX-License-Identifier: Apache-2.0
"""A criterion is one expression over named quantities: what is printed is what decides.

Allowed are names, numbers, ``+ - * /``, comparisons (also chained), ``and``, ``or``, ``not``.

It can be taken in two steps, of many values at once: by how much the left side of each comparison
is above its right one, then whether the whole is true of such margins.

Where a paper publishes an effect, the criterion asks for one as large as the published one: LEAST
of it at least. :func:`sized` asks the same criterion for any effect, or for a larger one, so that
an effect that is there but smaller is said to be smaller. Numbers are alike up to ALIKE of each
other. The functions below write such criteria; there is no other scale.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.statistics import Floats

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}

PUBLISHED = "published_"  # before the names of the paper's own values
# Half as much again is told apart from alike, and from "around" a number.
ALIKE = "1.5"
EFFECT = "{effect}"  # in a criterion, after an effect that a paper publishes: how much of it
LEAST, ANY, MORE = f"/ {ALIKE}", "* 0", f"* {ALIKE}"


def sized(text: str, effect: str) -> str:
    """A criterion that asks for LEAST of what is published, for ANY effect, or for MORE."""
    return text.replace(EFFECT, effect)


def around(name: str, published: str) -> str:
    """Neither half as much again as a number of the paper, nor as much below."""
    return f"{published} / {ALIKE} <= {name} <= {ALIKE} * {published}"


def alike(one: str, other: str) -> str:
    """Neither is more than half as much again as the other."""
    return f"{one} <= {ALIKE} * {other} and {other} <= {ALIKE} * {one}"


def reaching(*names: str) -> str:
    """Each as large as the paper's number of that name."""
    return " and ".join(f"{name} > {PUBLISHED}{name} {EFFECT}" for name in names)


def grown(larger: str, smaller: str, above: str = "", below: str = "") -> str:
    """As many times as large as in the paper; what goes down is seen from its lower end.

    The paper's numbers have the same names, unless others are given: ``above`` and ``below``.
    """
    growth = f"{PUBLISHED}{above or larger} / {PUBLISHED}{below or smaller} - 1"
    return f"{larger} > {smaller} * (1 + ({growth}) {EFFECT})"


def grown_by(larger: str, smaller: str, growth: str) -> str:
    """The same of a growth that the paper states: 0.2 is a fifth more."""
    return f"{larger} > {smaller} * (1 + {growth} {EFFECT})"


def reduced_by(before: str, after: str, reduction: str) -> str:
    """The same of a reduction that the paper states: 0.2 is a fifth less."""
    return f"{before} > {after} * (1 + {reduction} / (1 - {reduction}) {EFFECT})"


class Criterion:
    """An expression that is true or false of the values of its names."""

    def __init__(self, text: str) -> None:
        """Raises ValueError where the expression says something that is not allowed."""
        self.text = text
        self._tree = ast.parse(text, mode="eval").body
        for node in ast.walk(self._tree):
            if not isinstance(
                node,
                ast.BoolOp | ast.UnaryOp | ast.BinOp | ast.Compare | ast.Name | ast.Constant
                | ast.boolop | ast.Not | ast.USub | ast.Load | ast.operator | ast.cmpop,
            ):  # fmt: skip
                raise ValueError(f"{text!r}: {type(node).__name__} is not allowed")  # noqa: TRY004
        self.names = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether it is true; raises KeyError where a name has no value."""
        margins = self.margins({name: np.array([float(one)]) for name, one in values.items()})
        return bool(self.of(margins)[0])

    def margins(self, values: Mapping[str, Floats]) -> Floats:
        """Left side - right side, a row for each comparison, a column for each of the values."""
        rows = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for one in ast.walk(self._tree):
                if isinstance(one, ast.Compare):
                    sides = [_number(side, values) for side in (one.left, *one.comparators)]
                    pairs = itertools.pairwise(sides)
                    rows += [np.asarray(left - right, dtype=np.float64) for left, right in pairs]
        return np.array(np.broadcast_arrays(*rows)) if rows else np.empty((0, 1))

    def of(self, margins: Floats) -> NDArray[np.bool_]:
        """Whether it is true of each column of margins."""
        rows = iter(margins)
        known = {
            id(one): [_COMPARISONS[type(op)](next(rows), 0.0) for op in one.ops]
            for one in ast.walk(self._tree)
            if isinstance(one, ast.Compare)
        }
        return np.asarray(_truth(self._tree, known), dtype=bool)


def _truth(node: ast.expr, known: Mapping[int, list[Any]]) -> Any:
    match node:
        case ast.BoolOp(op=ast.And()):
            return np.logical_and.reduce([_truth(one, known) for one in node.values])
        case ast.BoolOp(op=ast.Or()):
            return np.logical_or.reduce([_truth(one, known) for one in node.values])
        case ast.UnaryOp(op=ast.Not()):
            return np.logical_not(_truth(node.operand, known))
        case ast.Compare():
            return np.logical_and.reduce(known[id(node)])
    raise ValueError(f"{ast.unparse(node)} is not true or false")


def _number(node: ast.expr, values: Mapping[str, Floats]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, values)
        case ast.BinOp():
            left, right = _number(node.left, values), _number(node.right, values)
            return _ARITHMETIC[type(node.op)](left, right)
    raise ValueError(f"{ast.unparse(node)} is not a number")
