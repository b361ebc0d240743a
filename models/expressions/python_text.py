"""Integer expressions as Python text, for what is asked at very many points. Nothing is simplified on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder

_SPELLED: Final[Mapping[str, str]] = {
    "+": "({} + {})",
    "*": "({} * {})",
    "floordiv": "({} // {})",
    "ceildiv": "(-(-{} // {}))",
    "mod": "({0} - {1} * ({0} // {1}))",
    "min": "min({}, {})",
    "max": "max({}, {})",
}
"""How Python writes each operator; it agrees with `evaluate.apply_operator` (a test)."""


def python_term(root: Expr, variable: Callable[[str], str] = str) -> str:
    """The expression as one Python expression; parts that come twice are written twice. `variable` spells a name."""
    texts: dict[Expr, str] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            texts[e] = f"({e.value})"
        elif isinstance(e, Var):
            texts[e] = variable(e.name)
        elif isinstance(e, Binary):
            texts[e] = _SPELLED[e.op].format(texts[e.lhs], texts[e.rhs])
    return texts[root]


def python_text(expressions: Sequence[Expr], prefix: str) -> tuple[list[str], list[str]]:
    """Assignments `t0 = ...` that compute the expressions, each distinct part once, and the names of the results."""
    names: dict[Expr, str] = {}
    lines: list[str] = []
    for root in expressions:
        for e in postorder(root):
            if e in names:
                continue
            if isinstance(e, Const):
                names[e] = f"({e.value})"
            elif isinstance(e, Var):
                names[e] = e.name
            elif isinstance(e, Binary):
                names[e] = f"{prefix}{len(lines)}"
                lines.append(f"{names[e]} = {_SPELLED[e.op].format(names[e.lhs], names[e.rhs])}")
    return lines, [names[e] for e in expressions]


def compiled(lines: Sequence[str]) -> Callable[..., Any]:
    """The function whose definition begins in the first line."""
    scope: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<expressions>", "exec"), scope)
    made: Callable[..., Any] = scope[lines[0].removeprefix("def ").partition("(")[0]]
    return made


def function_of(expressions: Sequence[Expr], names: Sequence[str]) -> Callable[..., tuple[int, ...]]:
    """The values of expressions as a function of the values of these variables. It raises ZeroDivisionError."""
    lines, results = python_text(expressions, "t")
    body = [f"    {line}" for line in (*lines, f"return ({''.join(r + ', ' for r in results)})")]
    return compiled([f"def values({', '.join(names)}):", *body])
