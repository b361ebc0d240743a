"""Planted errors, one at a time: sites found in the syntax tree of a file, and the source with one of them changed."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

_OPERATORS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_SIGNS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "and",
    ast.Or: "or",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_CALLS: Final[dict[str, str]] = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "le": "lt",
    "lt": "le",
    "eq": "ne",
    "ne": "eq",
    "conj": "disj",
    "disj": "conj",
    "any": "all",
    "all": "any",
}
"""Names that are exchanged where they are called and the file has both, or both are built in."""
_WORDS: Final[dict[str, str]] = {
    "floordiv": "ceildiv",
    "ceildiv": "floordiv",
    "mod": "floordiv",
    "min": "max",
    "max": "min",
    "<=": "<",
    "<": "<=",
}
"""Operators that are written as words."""


@dataclass(frozen=True, slots=True)
class Site:
    """One change: `number` counts the sites of the file in the order of its tree; the rest is for the reader."""

    file: str
    number: int
    line: int
    function: str
    change: str
    span: tuple[int, int]
    """First and last line, inclusive, of the statement that it is in, without the statements inside that one."""
    body: tuple[int, int]
    """First and last line, inclusive, of the outermost function that it is in."""

    code: str
    """The line as it stands, without indentation."""
    nth: int
    """Counts from 1 the equal changes of equal lines in one function."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.change}: {self.code}"

    @property
    def key(self) -> str:
        """Names the change without numbers of lines, so that it stays when lines are added elsewhere."""
        nth = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.file} :: {self.function} :: {self.code} :: {self.change}{nth}"


def _header(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement up to the first statement inside it."""
    last = node.end_lineno or node.lineno
    inner = [n.lineno for n in ast.walk(node) if isinstance(n, ast.stmt) and n is not node and n.lineno > node.lineno]
    return node.lineno, min([last, *(line - 1 for line in inner)])


class _Walker(ast.NodeTransformer):
    """Counts sites; changes the one with number `chosen`, if any. Only the bodies of functions have sites."""

    def __init__(self, chosen: int | None = None) -> None:
        self.chosen = chosen
        self.sites: list[tuple[int, str, str, tuple[int, int], tuple[int, int]]] = []
        self.functions: list[str] = []
        self.span = self.body = (0, 0)
        self.names: set[str] = set()

    def _take(self, node: ast.AST, change: str) -> bool:
        """Notes a site; whether it is the one to change."""
        if not self.functions:
            return False
        self.sites.append((getattr(node, "lineno", 0), ".".join(self.functions), change, self.span, self.body))
        return len(self.sites) - 1 == self.chosen

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        before, self.span = self.span, _header(node)
        if not self.functions:
            self.body = (node.lineno, node.end_lineno or node.lineno)
        changed = super().visit(node)
        self.span = before
        return changed

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {"min", "max", "any", "all"}
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.functions.append(node.name)
        doc = ast.get_docstring(node) is not None
        node.body = [s if k == 0 and doc else self.visit(s) for k, s in enumerate(node.body)]
        self.functions.pop()
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # what an error says is not what is tried here

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg == "strict":  # of zip: lengths that differ are errors of their own
            return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        other = _OPERATORS.get(type(node.op))
        if other is not None and self._take(node, f"{_SIGNS[type(node.op)]} becomes {_SIGNS[other]}"):
            node.op = other()  # type: ignore[assignment]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other = _OPERATORS[type(node.op)]
        if self._take(node, f"{_SIGNS[type(node.op)]} becomes {_SIGNS[other]}"):
            node.op = other()  # type: ignore[assignment]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for k, op in enumerate(node.ops):
            other = _OPERATORS.get(type(op))
            if other is not None and self._take(node, f"{_SIGNS[type(op)]} becomes {_SIGNS[other]}"):
                node.ops[k] = other()  # type: ignore[call-overload]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Not, ast.USub)):
            sign = "not" if isinstance(node.op, ast.Not) else "-"
            if self._take(node, f"{sign} is left out"):
                return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            if self._take(node, f"{node.value} becomes {not node.value}"):
                return ast.copy_location(ast.Constant(not node.value), node)
        elif isinstance(node.value, int):
            if self._take(node, f"{node.value} becomes {node.value + 1}"):
                return ast.copy_location(ast.Constant(node.value + 1), node)
        elif isinstance(node.value, str) and node.value in _WORDS:
            other = _WORDS[node.value]
            if self._take(node, f"{node.value!r} becomes {other!r}"):
                return ast.copy_location(ast.Constant(other), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            other = _CALLS.get(node.func.id)
            if other is not None and other in self.names and self._take(node, f"{node.func.id} becomes {other}"):
                node.func = ast.copy_location(ast.Name(other, ast.Load()), node.func)
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._dropped(node)

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._dropped(node)

    def _dropped(self, node: ast.Tuple | ast.List) -> ast.AST:
        """One element left out of a sequence of calls: a dropped constraint, a lost condition."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and node.elts and all(isinstance(e, ast.Call) for e in node.elts):
            for k in range(len(node.elts)):
                if self._take(node, f"element {k} is left out"):
                    return ast.copy_location(type(node)([*node.elts[:k], *node.elts[k + 1 :]], node.ctx), node)
        return node


def sites(file: str, source: str) -> list[Site]:
    """All sites of a file."""
    walker = _Walker()
    walker.visit(ast.parse(source))
    text = source.splitlines()
    seen: Counter[tuple[str, str, str]] = Counter()
    found: list[Site] = []
    for n, (line, function, change, span, body) in enumerate(walker.sites):
        code = text[line - 1].strip()
        seen[function, code, change] += 1
        found.append(Site(file, n, line, function, change, span, body, code, seen[function, code, change]))
    return found


def mutated(source: str, number: int) -> ast.Module:
    """The tree with the change at the site of this number."""
    tree = ast.parse(source)
    changed = _Walker(number).visit(tree)
    assert isinstance(changed, ast.Module)
    return ast.fix_missing_locations(changed)
