"""Which sizes a tensor rule speaks of: decided once more, with shape inference as XLA has it, point by point.

What a rule's left side demands is left out of what is proved, and sizes of instances are drawn by it: a demand too many
would make false rules true, and no instance would show it. Nothing but the reader of rules is shared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Final

import pytest

from hloproof.logic.evaluate import truth
from hloproof.logic.formula import Formula, conj, eq
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.tensor_rules.rule import Call, Comparison, GroupEntry, Name, Tensor, TensorRule
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.tensor_rules.operations.meaning import Meaning, conditions, declared_sizes
from hloproof.tensor_rules.operations.table import read

FOLDER = Path(__file__).parents[1] / "specs" / "tensor_rules"
FILES = sorted(FOLDER.glob("*.trules"))
Dims = list[list[int]]
"""Sizes of a tensor, dimensions in groups."""


class IllFormed(Exception):
    """XLA takes no such operation."""


def demanded(holds: bool) -> None:
    if not holds:
        raise IllFormed


NUMBERS: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "min": min,
    "max": max,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "ceildiv": lambda a, b: -(-a // b),
}
ORDERS: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
}


def number(e: Expr, values: Mapping[str, int]) -> int:
    match e:
        case Const(value):
            return value
        case Var(name):
            return values[name]
        case Binary(op, lhs, rhs):
            a, b = number(lhs, values), number(rhs, values)
            demanded(bool(b) or op not in ("floordiv", "mod", "ceildiv"))
            return NUMBERS[op](a, b)
    raise AssertionError(e)


class Sizes:
    """The shapes of a rule's tensors at one rank and with values for all names; a member of k... is k:0, k:1."""

    def __init__(self, rule: TensorRule, rank: int) -> None:
        self.rule, self.rank = rule, rank
        each: set[str] = set()
        alone: set[str] = set() if rule.devices is None else set(rule.devices.free)
        for e in (*(e for _, listed in rule.tensors for e in listed), *rule.indices, *rule.side_entries()):
            (each if e.each else alone).update(e.value.free)
        for c in (c for condition in rule.conditions for part in condition.alternatives for c in part):
            (each if c.each else alone).update(c.lhs.free | c.rhs.free)
        self.grouped = sorted(each - alone)
        self.names = [*sorted(alone), *(f"{n}:{k}" for n in self.grouped for k in range(rank))]
        self.values: dict[str, int] = {}

    def at_member(self, e: Expr, k: int) -> int:
        return number(e, {**self.values, **{n: self.values[f"{n}:{k}"] for n in self.grouped}})

    def listed(self, entries: Sequence[GroupEntry]) -> Dims:
        return [
            [self.at_member(e.value, k) for k in range(self.rank)] if e.each else [number(e.value, self.values)]
            for e in entries
        ]

    def tensor(self, entries: Sequence[GroupEntry]) -> Dims:
        out = self.listed(entries)
        demanded(all(n >= 0 for group in out for n in group))
        return out

    def holds(self, c: Comparison) -> bool:
        if c.each:
            return all(ORDERS[c.op](self.at_member(c.lhs, k), self.at_member(c.rhs, k)) for k in range(self.rank))
        return ORDERS[c.op](number(c.lhs, self.values), number(c.rhs, self.values))

    def counts(self, values: dict[str, int]) -> tuple[bool, bool]:
        """Whether the rule speaks of these values; and if so, whether its right side is of the left one's shape."""
        self.values = values
        try:
            for _, entries in self.rule.tensors:
                self.tensor(entries)
            demanded(self.rule.devices is None or self.devices >= 1)
            left = self.shape(self.rule.left)
            for node in self.rule.assumed:
                self.shape(node)
            for condition in self.rule.conditions:
                met = [[self.holds(c) for c in part] for part in condition.alternatives]
                demanded(any(map(all, met)))
        except IllFormed:
            return False, False
        try:
            return True, [n for g in left for n in g] == [n for g in self.shape(self.rule.right) for n in g]
        except IllFormed:
            return True, False

    @property
    def devices(self) -> int:
        assert self.rule.devices is not None
        return number(self.rule.devices, self.values)

    def shape(self, node: Tensor) -> Dims:
        if isinstance(node, Name):
            return self.tensor(dict(self.rule.tensors)[node.name])
        if not isinstance(node, Call):
            return []
        args = [self.shape(a) for a in node.args]
        given = {k: self.listed(v) for k, v in node.attributes if not isinstance(v, str)}
        return self.inferred(node.op, args, given, node)

    def inferred(self, op: str, args: list[Dims], given: dict[str, Dims], node: Call) -> Dims:
        def dims(name: str) -> list[int]:
            return [group[0] for group in given.get(name, [])]

        def rows(like: Dims, *names: tuple[str, int]) -> list[list[tuple[int, ...]]]:
            """Size and attributes of each dimension; a default for what is left out."""
            columns = [like, *(given.get(name, [[default] * len(g) for g in like]) for name, default in names)]
            return [list(zip(*groups, strict=True)) for groups in zip(*columns, strict=True)]

        match op:
            case "concatenate":
                (d,) = dims("dim")
                demanded(all(a[:d] + a[d + 1 :] == args[0][:d] + args[0][d + 1 :] for a in args))
                return [*args[0][:d], [sum(a[d][0] for a in args)], *args[0][d + 1 :]]
            case "slice":
                found = rows(args[0], ("start", 0), ("limit", 0), ("stride", 1))
                demanded(all(0 <= s <= t <= n and p > 0 for g in found for n, s, t, p in g))
                return [[len(range(s, t, p)) for _, s, t, p in g] for g in found]
            case "pad":
                found = rows(args[0], ("low", 0), ("high", 0), ("interior", 0))
                demanded(all(between >= 0 for g in found for *_, between in g))
                out = [[lo + n + max(n - 1, 0) * between + hi for n, lo, hi, between in g] for g in found]
                demanded(all(n >= 0 for g in out for n in g))
                return out
            case "transpose":
                return [args[0][d] for d in dims("dims")]
            case "broadcast" | "iota" | "reshape" | "bitcast":
                out = given["shape"]
                demanded(all(n >= 0 for g in out for n in g))
                if op == "broadcast":
                    demanded([out[d] for d in dims("dims")] == args[0])
                elif op != "iota":
                    demanded(prod(n for g in out for n in g) == prod(n for g in args[0] for n in g))
                return out
            case "constant":
                return []
            case "dynamic-slice" | "gather":
                demanded(all(0 <= w <= n for g in rows(args[0], ("size", 0)) for n, w in g))
                return given["size"]
            case "dynamic-update-slice" | "scatter":
                pairs = zip(args[0], args[1], strict=True)
                demanded(all(w <= n for g, h in pairs for n, w in zip(g, h, strict=True)))
                return args[0]
            case "reduce":
                return [g for d, g in enumerate(args[0]) if d not in dims("dims")]
            case "dot":
                left, right = dims("lhs_batch") + dims("lhs_contract"), dims("rhs_batch") + dims("rhs_contract")
                demanded([args[0][d] for d in left] == [args[1][d] for d in right])
                free = [
                    [g for d, g in enumerate(a) if d not in used] for a, used in zip(args, (left, right), strict=True)
                ]
                return [args[0][d] for d in dims("lhs_batch")] + free[0] + free[1]
            case "convolution":
                demanded(args[0][2] == args[1][1])
                defaults = (("stride", 1), ("low", 0), ("high", 0), ("base_dilation", 1), ("dilation", 1))
                (along,) = rows([args[0][1]], *defaults)
                fit = [windows(n, w, *row) for (n, *row), w in zip(along, args[1][0], strict=True)]
                return [args[0][0], fit, args[1][2]]
            case "reduce-window":
                return [[windows(n, w, s) for n, w, s in g] for g in rows(args[0], ("size", 1), ("stride", 1))]
            case "all-gather" | "reduce-scatter" | "all-to-all":
                (d,) = dims("dim")
                n, count = args[0][d][0], self.devices
                demanded(op == "all-gather" or n % count == 0)
                here = {"all-gather": n * count, "reduce-scatter": n // count, "all-to-all": n}[op]
                return [*args[0][:d], [here], *args[0][d + 1 :]]
            case "reverse" | "all-reduce" | "collective-permute":
                return args[0]
        shaped = [a for a in args if a] or [[]]
        demanded(all(a == shaped[0] for a in shaped))
        return shaped[0]


def windows(n: int, w: int, stride: int, low: int = 0, high: int = 0, base: int = 1, dilation: int = 1) -> int:
    """How many windows of w elements fit, `dilation` apart, into n elements that are `base` apart and padded."""
    demanded(w >= 1 and stride >= 1 and base >= 1 and dilation >= 1)
    length = (n - 1) * base + 1 + low + high if n else low + high
    demanded(length >= 0)
    return max(0, (length - (w - 1) * dilation - 1) // stride + 1)


def formulas(rule: TensorRule, rank: int) -> tuple[Formula, Formula, frozenset[str]]:
    """What is taken for true of the sizes, what is owed, and the names that stand for a device."""
    m = Meaning(rule, rank)
    left = read(m, rule.left)
    for node in rule.assumed:
        read(m, node)
    asked = len(m.wellformed)
    right = read(m, rule.right)
    same = [eq(x, y) for x, y in zip(left.sizes, right.sizes, strict=False)]
    owed = conj(*m.wellformed[asked:], *same, eq(len(left.sizes), len(right.sizes)))
    return conj(*declared_sizes(m), *m.wellformed[:asked], *conditions(m)), owed, m.device.free


def is_true(formula: Formula, values: dict[str, int]) -> bool:
    try:
        return truth(formula, values) is True
    except UndefinedValue:
        return False


def points(names: Sequence[str], random: Random) -> list[dict[str, int]]:
    """All small values of up to two names; of more names values near those that may well fit."""
    if len(names) <= 2:
        return [dict(zip(names, p, strict=True)) for p in product(range(-2, 5), repeat=len(names))]
    return [{n: random.choice((-2, -1, 0, 0, 1, 1, 2, 2, 3, 4)) for n in names} for _ in range(60)]


def differs(rule: TensorRule, random: Random) -> tuple[object, int]:
    """Values that are judged otherwise, and how many the rule speaks of."""
    counted = 0
    grouped = any(e.each for e in (*(e for _, listed in rule.tensors for e in listed), *rule.side_entries()))
    for rank in (0, 1, 2) if grouped else (0,):
        given, owed, device = formulas(rule, rank)
        sizes = Sizes(rule, rank)
        for values in points(sizes.names, random):
            counts, same = sizes.counts(values)
            there = {**values, **dict.fromkeys(device, 0)}
            counted += counts
            if counts is not is_true(given, there) or (counts and same is not is_true(owed, there)):
                return (rank, values, counts, same), counted
    return None, counted


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_rules_speak_of_the_sizes_at_which_shape_inference_takes_their_left_side(path: Path) -> None:
    counted = 0
    for rule in parse_tensor_rules(path.read_text(), path.name):
        found, spoken = differs(rule, Random(len(rule.name)))
        assert found is None, (rule.name, found)
        counted += spoken
    assert counted > 50


EDGES: Final = {
    "slice": "A: [n]\nslice(A, start=[s], limit=[t], stride=[p]) => A",
    "pad": "A: [n]  v: []\npad(A, v, low=[l], high=[h], interior=[p]) => A",
    "broadcast": "A: [n]\nbroadcast(A, shape=[m, l], dims=[1]) => broadcast(0, shape=[l, m], dims=[])",
    "iota": "iota(shape=[n, m], dim=0) => iota(shape=[m, n], dim=0)",
    "reshape": "A: [n, m]\nreshape(A, shape=[p, q]) => bitcast(A, shape=[q, p])",
    "concatenate": "A: [n, k...]  B: [m, j...]\nconcatenate(A, B, dim=0) => concatenate(B, A, dim=0)",
    "dynamic-slice": "A: [n]\nindex i\ndynamic-slice(A, start=[i], size=[w]) => gather(A, start=[i], size=[v])",
    "dynamic-update-slice": "A: [n]  B: [m]\nindex i\ndynamic-update-slice(A, B, start=[i]) => B",
    "scatter": "A: [n]  B: [m]\nindex i\nscatter(A, B, start=[i]) => scatter(B, A, start=[i])",
    "dot": "A: [n, m]  B: [p, q]\n"
    "dot(A, B, lhs_contract=[1], rhs_contract=[0]) => dot(A, B, lhs_batch=[0], rhs_batch=[1])",
    "convolution": "A: [1, n, f]  W: [w, g, 1]\nconvolution(A, W) => convolution(A, W, low=[1], high=[-1])",
    "dilated convolution": "A: [1, n, 1]  W: [2, 1, 1]\n"
    "convolution(A, W, stride=[s], base_dilation=[b], dilation=[d]) => convolution(A, W, high=[l])",
    "cut convolution": "A: [1, n, 1]  W: [w, 1, 1]\nconvolution(A, W, low=[l], high=[h]) => A",
    "reduce-window": "A: [n]\nreduce-window(A, size=[w], stride=[s], op=add) => A",
    "all-gather": "A: [n]\ndevices p\nall-gather(A, dim=0) => all-to-all(A, dim=0)",
    "reduce-scatter": "A: [n]\ndevices p\nreduce-scatter(A, dim=0, op=add) => A",
    "all-to-all": "A: [n]\ndevices p\nall-to-all(A, dim=0) => all-reduce(A, op=add)",
    "select": "P: [m]  A: [n]  B: [l]\npred P\nselect(P, A, B) => A",
    "divisors": "A: [n floordiv d]\nwhen m mod d == 0\nA => slice(A, start=[0], limit=[m ceildiv d])",
}


@pytest.mark.parametrize("body", EDGES.values(), ids=EDGES)
def test_an_operation_takes_what_shape_inference_takes(body: str) -> None:
    (rule,) = parse_tensor_rules("rule r\n  " + body.replace("\n", "\n  "))
    for sides in (rule, turned(rule)):
        for seed in range(8):
            assert differs(sides, Random(seed))[0] is None


def turned(rule: TensorRule) -> TensorRule:
    """What is owed on the right is taken for true on the left."""
    return replace(rule, left=rule.right, right=rule.left)
