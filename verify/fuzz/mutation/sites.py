"""Planted errors, one at a time: sites found in the syntax tree of a file, and the source with one of them changed."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final


def _both_ways(*pairs: str) -> dict[str, str]:
    """Two words of each text, which become one another."""
    found = [(one, other) for one, other in map(str.split, pairs)]
    return dict(found) | {other: one for one, other in found}


_OPERATORS: Final[dict[type[ast.AST], tuple[str, type[ast.AST]]]] = {
    ast.Add: ("+", ast.Sub),
    ast.Sub: ("-", ast.Add),
    ast.Mult: ("*", ast.Add),
    ast.FloorDiv: ("//", ast.Mult),
    ast.Mod: ("%", ast.FloorDiv),
    ast.Lt: ("<", ast.LtE),
    ast.LtE: ("<=", ast.Lt),
    ast.Gt: (">", ast.GtE),
    ast.GtE: (">=", ast.Gt),
    ast.Eq: ("==", ast.NotEq),
    ast.NotEq: ("!=", ast.Eq),
    ast.And: ("and", ast.Or),
    ast.Or: ("or", ast.And),
    ast.In: ("in", ast.NotIn),
    ast.NotIn: ("not in", ast.In),
    ast.Is: ("is", ast.IsNot),
    ast.IsNot: ("is not", ast.Is),
}
"""How an operator is written, and what it becomes."""
_CALLS: Final = _both_ways("min max", "minimum maximum", "le lt", "eq ne", "conj disj", "any all")
"""Names that are exchanged where they are called and the file has both, or both are built in."""
WORDS: Final = _both_ways("floordiv ceildiv", "min max", "<= <") | {"mod": "floordiv"}
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
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """What has to run for the change to show: the line, or else its statement, or else its function."""
        return (self.line, self.line), self.span, self.body

    @property
    def key(self) -> str:
        """Names the change without numbers of lines, so that it stays when lines are added elsewhere."""
        nth = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.file} :: {self.function} :: {self.code} :: {self.change}{nth}"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is: the names of the functions around, and the lines that `Site` names `span` and `body`."""

    functions: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    body: tuple[int, int] = (0, 0)


_Change = tuple[ast.AST, _Place, str, Callable[[], None]]
"""The changed node, its place, what is changed, and what changes it in the tree."""


def _header(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement up to the first statement inside it."""
    last = node.end_lineno or node.lineno
    inner = [n.lineno for n in ast.walk(node) if isinstance(n, ast.stmt) and n is not node and n.lineno > node.lineno]
    return node.lineno, min([last, *(line - 1 for line in inner)])


def _is_left_alone(node: ast.AST) -> bool:
    """What an error says is not what is tried here; lengths for `zip` that differ are errors of their own."""
    return isinstance(node, (ast.Raise, ast.JoinedStr, ast.arguments)) or (
        isinstance(node, ast.keyword) and node.arg == "strict"
    )


def _walk(node: ast.AST, put: Callable[[ast.AST], None], at: _Place, names: set[str]) -> Iterator[_Change]:
    """Every change of the tree, those of inner nodes first; `put` puts another node in the place of this one. Only the
    bodies of functions are changed."""
    if _is_left_alone(node):
        return
    if isinstance(node, ast.stmt):
        lines = (node.lineno, node.end_lineno or node.lineno)
        at = replace(at, span=_header(node), body=at.body if at.functions else lines)
    fields = [name for name, _ in ast.iter_fields(node)]
    if isinstance(node, ast.FunctionDef):
        at, fields = replace(at, functions=(*at.functions, node.name)), ["body"]
    elif isinstance(node, ast.AnnAssign):
        fields = ["value"]
    for name in fields:
        inside = getattr(node, name)
        if isinstance(inside, list):
            documented = isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None
            for k in range(documented, len(inside)):
                if isinstance(inside[k], ast.AST):
                    yield from _walk(inside[k], partial(inside.__setitem__, k), at, names)
        elif isinstance(inside, ast.AST):
            yield from _walk(inside, partial(setattr, node, name), at, names)
    if at.functions:
        for change, other in _changes(node, names):
            yield node, at, change, partial(put, ast.copy_location(other, node))


def _changes(node: ast.AST, names: set[str]) -> Iterator[tuple[str, ast.AST]]:
    """What a node may become, and how that is told."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _OPERATORS:
            sign, other = _exchanged(op)
            yield sign, _with(node, op=other)
        case ast.Compare(ops=ops):
            for k, compared in enumerate(ops):
                sign, other = _exchanged(compared)
                yield sign, _with(node, ops=[*ops[:k], other, *ops[k + 1 :]])
        case ast.UnaryOp(op=ast.Not() | ast.USub() as op, operand=operand):
            yield f"{'not' if isinstance(op, ast.Not) else '-'} is left out", operand
        case ast.Constant(value=bool(value)):
            yield f"{value} becomes {not value}", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield f"{value} becomes {value + 1}", ast.Constant(value + 1)
        case ast.Constant(value=str(value)) if value in WORDS:
            yield f"{value!r} becomes {WORDS[value]!r}", ast.Constant(WORDS[value])
        case ast.Call(func=ast.Name(id=name) as function) if _CALLS.get(name) in names:
            called = ast.copy_location(ast.Name(_CALLS[name], ast.Load()), function)
            yield f"{name} becomes {_CALLS[name]}", _with(node, func=called)
        case ast.Tuple(elts=parts, ctx=ast.Load()) | ast.List(elts=parts, ctx=ast.Load()):
            # One element left out of a sequence of calls: a dropped constraint, a lost condition.
            for k in range(len(parts) if all(isinstance(e, ast.Call) for e in parts) else 0):
                yield f"element {k} is left out", _with(node, elts=[*parts[:k], *parts[k + 1 :]])


def _exchanged(op: ast.AST) -> tuple[str, ast.AST]:
    sign, other = _OPERATORS[type(op)]
    return f"{sign} becomes {_OPERATORS[other][0]}", other()


def _with(node: ast.AST, **changed: object) -> ast.AST:
    return type(node)(**{**dict(ast.iter_fields(node)), **changed})


def _all_changes(tree: ast.Module) -> Iterator[_Change]:
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {"min", "max", "any", "all"}
    return _walk(tree, lambda other: None, _Place(), names)


def sites(file: str, source: str) -> list[Site]:
    """All sites of a file."""
    text = source.splitlines()
    seen: Counter[tuple[str, str, str]] = Counter()
    found: list[Site] = []
    for n, (node, at, change, _) in enumerate(_all_changes(ast.parse(source))):
        line, function = getattr(node, "lineno", 0), ".".join(at.functions)
        code = text[line - 1].strip()
        seen[function, code, change] += 1
        found.append(Site(file, n, line, function, change, at.span, at.body, code, seen[function, code, change]))
    return found


def mutated(source: str, number: int) -> ast.Module:
    """The tree with the change at the site of this number."""
    tree = ast.parse(source)
    _, _, _, make = next(islice(_all_changes(tree), number, None))
    make()
    return ast.fix_missing_locations(tree)
