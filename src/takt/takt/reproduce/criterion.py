# SPDX-License-Identifier: Apache-2.0
"""A criterion is one expression over named quantities: what is printed is what decides.

Allowed are names, numbers, ``+ - * /``, comparisons (also chained), ``and``, ``or``, ``not``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}


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
        return bool(_value(self._tree, values))


def _value(node: ast.expr, values: Mapping[str, float]) -> float:  # noqa: PLR0911 - a case each
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return values[name]
        case ast.BoolOp(op=ast.And()):
            return all(_value(one, values) for one in node.values)
        case ast.BoolOp(op=ast.Or()):
            return any(_value(one, values) for one in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return not _value(node.operand, values)
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, values)
        case ast.BinOp():
            left, right = _value(node.left, values), _value(node.right, values)
            return _ARITHMETIC[type(node.op)](left, right)
        case ast.Compare():
            sides = [_value(one, values) for one in (node.left, *node.comparators)]
            pairs = zip(node.ops, sides, sides[1:], strict=False)
            return all(_COMPARISONS[type(op)](a, b) for op, a, b in pairs)
    raise ValueError(f"{ast.unparse(node)} is not allowed")
