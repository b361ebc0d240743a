"""Errors planted in the map builders, one at a time, and whether the claims refute them.

The errors are generated from the syntax trees of the builders: an operator, a number, an index, a comparison, a bound,
a branch. A mutant whose maps mean the same on every case (by enumeration of all points) is no error. Every other one
must be refuted by some claim about some case. `python tests/planted_errors.py` tries them all and prints a table.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from direct_reads import DIRECT
from map_points import counted
from test_definitions import COLLECTIVES
from test_indexing_counted import CASES, _module

import hloproof.models.indexing
from hloproof.claims import owed
from hloproof.definitions.variables import arrays_of
from hloproof.engines.portfolio import prove
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.indexing.map_set import OperandMaps

FOLDER = Path(hloproof.models.indexing.__file__).parent
BUILDERS = (
    "box",
    "collective",
    "contraction",
    "control",
    "dynamic",
    "elementwise",
    "gather_scatter",
    "movement",
    "reduction",
    "reshape",
    "window",
)
MORE = {
    "clamp": ("f32[2,3] f32[2,3] f32[2,3]", "f32[2,3] clamp(p0, p1, p2)"),
    "topk": ("f32[2,5]", "(f32[2,3], s32[2,3]) topk(p0), k=3, largest=true"),
    "permute": ("f32[2]", "f32[2] collective-permute(p0), source_target_pairs={{0,1},{3,0}}"),
    "all-to-all of a tuple": ("f32[2] f32[2]", "(f32[2], f32[2]) all-to-all(p0, p1), replica_groups={{0,2},{3,1}}"),
    "all-reduce of two": (
        "f32[2] f32[3]",
        "(f32[2], f32[3]) all-reduce(p0, p1), replica_groups={{0,2},{3,1}}, to_apply=add",
    ),
    "custom-call": ("f32[2] f32[3,2]", '(f32[2], f32[4]) custom-call(p0, p1), custom_call_target="x"'),
    "copy-start": ("f32[2,3]", "(f32[2,3], f32[2,3], u32[]) copy-start(p0)"),
    "cholesky": ("f32[2,3,3]", "f32[2,3,3] cholesky(p0), lower=true"),
    "scatter with batching": (
        "f32[3,5,2] s32[3,2,1] f32[3,2,2]",
        "f32[3,5,2] scatter(p0, p1, p2), update_window_dims={2}, inserted_window_dims={2}, input_batching_dims={0}, "
        "scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, to_apply=add",
    ),
    "ragged-dot": (
        "f32[5,3] f32[2,3,4] s32[2]",
        "f32[5,4] ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
        "rhs_group_dims={0}",
    ),
    "scan of rows": (
        "f32[3,2] f32[2]",
        "(f32[3,2], f32[2]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=rows",
    ),
    "reduce of two": (
        "f32[2,3] f32[2,3] f32[] f32[]",
        "(f32[3], f32[3]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=step",
    ),
}


@dataclass(frozen=True)
class Mutant:
    """One change of one builder."""

    module: str
    line: int
    change: str
    node: int
    """The changed node's number in a walk of the tree."""
    variant: int

    def source(self) -> str:
        """The builder's text with the change."""
        tree = ast.parse((FOLDER / f"{self.module}.py").read_text())
        node = next(n for k, n in enumerate(ast.walk(tree)) if k == self.node)
        list(_changes(node))[self.variant][1]()
        return ast.unparse(ast.fix_missing_locations(tree))

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line}: {self.change}"


def mutants() -> list[Mutant]:
    """Every single change of every builder, in the order of the text."""
    return [m for name in BUILDERS for m in _mutants_of(name)]


def _mutants_of(name: str) -> Iterator[Mutant]:
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    for number, node in enumerate(ast.walk(tree)):
        for variant, (label, _) in enumerate(_changes(node)):
            yield Mutant(name, getattr(node, "lineno", 0), label, number, variant)


_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_TYPED = {"IndexingMap", "OperandMaps", "isinstance", "one", "range", "zip"}
"""Calls whose arguments are of different types: swapped they mean nothing."""
_NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """What can be changed at a node: in words, and the change itself (in place)."""
    match node:
        case ast.BinOp(op=op) if type(op) in _OPERATORS:
            for other in _OPERATORS[type(op)]:
                yield (
                    f"{ast.unparse(node)!r}: {type(op).__name__} becomes {other.__name__}",
                    lambda n=node, o=other: setattr(n, "op", o()),
                )
        case ast.Compare(ops=[op]) if type(op) in _COMPARISONS:
            other_comparison = _COMPARISONS[type(op)]
            yield (
                f"{ast.unparse(node)!r}: {type(op).__name__} becomes {other_comparison.__name__}",
                lambda n=node, o=other_comparison: setattr(n, "ops", [o()]),
            )
        case ast.Constant(value=value) if isinstance(value, bool):
            yield f"{value} becomes {not value}", lambda n=node: setattr(n, "value", not n.value)
        case ast.Constant(value=value) if isinstance(value, int):
            yield f"{value} becomes {value + 1}", lambda n=node: setattr(n, "value", n.value + 1)
        case ast.Subscript(slice=ast.Name() as index, ctx=ast.Load()):
            shifted = ast.BinOp(index, ast.Sub(), ast.Constant(1))
            yield f"{ast.unparse(node)!r}: one index lower", lambda n=node, s=shifted: setattr(n, "slice", s)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield f"{name} becomes {_NAMES[name]}", lambda n=node: setattr(n.func, "id", _NAMES[n.func.id])
        case ast.IfExp():
            yield (f"{ast.unparse(node)!r}: branches swapped", lambda n=node: _swap_branches(n))
        case ast.UnaryOp(op=ast.USub()):
            yield f"{ast.unparse(node)!r}: sign dropped", lambda n=node: setattr(n, "op", ast.UAdd())
        case ast.Call(func=ast.Name(id=name), args=[_, _, *_]) if name not in _TYPED:
            yield (
                f"{ast.unparse(node)[:60]!r}: first two arguments swapped",
                lambda n=node: n.args.__setitem__(slice(0, 2), [n.args[1], n.args[0]]),
            )


@cache
def operations() -> tuple[Operation, ...]:
    """The cases: one small operation per form of every opcode."""
    texts = [_module(*case) for case in (*CASES.values(), *COLLECTIVES.values())]
    for operands, root in MORE.values():
        lines = [f"  p{n} = {shape} parameter({n})" for n, shape in enumerate(operands.split())]
        head = DIRECT["rfft"][0].split("ENTRY")[0].replace("step {", "step2 {")
        step = (
            "step {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] parameter(2)\n"
            "  d = f32[] parameter(3)\n  ROOT t = (f32[], f32[]) tuple(a, b)\n}\n"
            "rows {\n  a = f32[2] parameter(0)\n  b = f32[2] parameter(1)\n  ROOT t = (f32[2], f32[2]) tuple(a, b)\n}\n"
        )
        texts.append(parse_module(head + step + "ENTRY e {\n" + "\n".join(lines) + f"\n  ROOT r = {root}\n}}\n"))
    texts += [parse_module(text) for text, _ in DIRECT.values()]
    return tuple(Operation.of(m.entry.root, m.entry, replicas=4) for m in texts)


Maps = dict[tuple[str, int], tuple[OperandMaps, ...] | str]
"""Per direction and array number what a builder answers, or the exception it raises."""


def answers(op: Operation) -> Maps:
    out: Maps = {}
    for direction, count in (("output_to_input", len(arrays_of(op.shape))), ("input_to_output", len(op.operands))):
        for n in range(count):
            try:
                out[direction, n] = getattr(hloproof.models.indexing, direction)(op, n)
            except Exception as error:
                out[direction, n] = type(error).__name__
    return out


class planted:
    """While active, the builders are those of a mutant."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def __enter__(self) -> None:
        self.saved = {n: m for n, m in sys.modules.items() if n.startswith("hloproof.models.indexing.")}
        for name in (*BUILDERS, "table"):  # all of them: they hold each other's functions
            sys.modules.pop(f"hloproof.models.indexing.{name}", None)
            if hasattr(hloproof.models.indexing, name):
                delattr(hloproof.models.indexing, name)
        name = f"hloproof.models.indexing.{self.mutant.module}"
        module = ModuleType(name)
        sys.modules[name] = module
        setattr(hloproof.models.indexing, self.mutant.module, module)
        exec(compile(self.mutant.source(), name, "exec"), module.__dict__)
        importlib.import_module("hloproof.models.indexing.table")

    def __exit__(self, *_: object) -> None:
        for name in [n for n in sys.modules if n.startswith("hloproof.models.indexing.")]:
            del sys.modules[name]
        sys.modules.update(self.saved)
        for name, module in self.saved.items():
            setattr(hloproof.models.indexing, name.rpartition(".")[2], module)


@cache
def originals() -> tuple[Maps, ...]:
    return tuple(answers(op) for op in operations())


_OUTCOMES: dict[Obligation, Outcome] = {}


def _proved(obligation: Obligation) -> Outcome:
    if obligation not in _OUTCOMES:
        _OUTCOMES[obligation] = prove(obligation)
    return _OUTCOMES[obligation]


def verdict(op: Operation) -> tuple[str, str]:
    """The worst verdict of what an operation owes, and why."""
    reason = ""
    try:
        for claim in owed(op):
            try:
                obligations = claim.obligations()
            except NotModelled as error:
                reason = str(error)
                continue
            for obligation in obligations:
                outcome = _proved(obligation)
                if outcome.verdict == "refuted":
                    return "refuted", f"{claim.claim}: {claim.describe(dict(outcome.model), obligation)}"
                if outcome.verdict != "proved":
                    reason = outcome.reason
    except NotModelled as error:
        reason = str(error)
    except TypeError as error:  # maps that hold something other than expressions
        return "crashed", repr(error)
    except Exception as error:
        return "broken", repr(error)
    return ("unknown", reason) if reason else ("proved", "")


def meaning(maps: tuple[OperandMaps, ...] | str, seed: int) -> Any:
    """Every pair of every map with its count, what its runtime variables read and the kind, by enumeration."""
    if isinstance(maps, str):
        return maps
    values = Random(seed).randrange(1 << 30)

    def read(provider: str, index: tuple[int, ...]) -> int:
        return Random(f"{values}{provider}{index}").randint(-2, 6)

    out = {}
    for s in maps:
        pairs: Counter[Any] = Counter()
        for m in s.maps:
            try:
                pairs.update(counted([_closed(m)], read))
            except UndefinedValue:
                pairs["undefined"] += 1
        if pairs:
            out[s.operand, s.position] = (s.kind, pairs)
    return out


def _closed(m: Any) -> Any:
    """The map with the device read as one more result, and the reader's position as one more range variable."""
    from dataclasses import replace

    from hloproof.models.expressions.expr import Var, substitute
    from hloproof.models.maps.indexing_map import Constraint, Variable

    reader = {f"rt{k}" for k, v in enumerate(m.runtime) if v.provider == "reader"}
    if not reader and m.replica is None:
        return m
    results = (*m.results, *(m.replica.results if m.replica is not None else ()))
    if not reader:
        return replace(m, results=results, replica=None)
    (name,) = reader
    into = {name: Var(f"s{len(m.ranges)}")}
    (own,) = [v.interval for v in m.runtime if v.provider == "reader"]
    return replace(
        m,
        ranges=(*m.ranges, Variable(own)),
        runtime=(),
        replica=None,
        results=(*(substitute(e, into) for e in results), into[name]),
        constraints=tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
    )


def same_meaning(one: Maps, other: Maps) -> bool:
    """No enumeration tells the answers apart, or the other ones claim less: a bound that holds all pairs."""
    if one == other:
        return True
    for key, maps in one.items():
        if maps == other[key]:
            continue
        for seed in range(3):
            before, after = meaning(maps, seed), meaning(other[key], seed)
            if before != after and not _weaker(before, after):
                return False
    return True


def _weaker(before: Any, after: Any) -> bool:
    if isinstance(before, str) or isinstance(after, str) or set(before) - set(after):
        return False
    return all(
        (kind, pairs) == before.get(place) or (kind == "bound" and set(pairs) >= set(before.get(place, ("", ()))[1]))
        for place, (kind, pairs) in after.items()
    )


def _same_pairs(one: Maps, other: Maps) -> bool:
    """The answers differ in their kinds only."""
    for key, maps in one.items():
        before, after = meaning(maps, 0), meaning(other[key], 0)
        if isinstance(before, str) or isinstance(after, str):
            return False
        if {k: pairs for k, (_, pairs) in before.items()} != {k: pairs for k, (_, pairs) in after.items()}:
            return False
    return True


def judge(mutant: Mutant) -> tuple[str, str]:
    """`same`, `crashed` (the builder raises or answers no maps), `refuted`, `withheld` (unknown, and only the kind is
    wrong), or what else the claims said, and why."""
    originals()
    try:
        with planted(mutant):
            found = [answers(op) for op in operations()]
            differing = [k for k, maps in enumerate(found) if maps != originals()[k]]
            verdicts = {}
            for k in differing:
                verdicts[k] = verdict(operations()[k])
                if verdicts[k][0] == "refuted":
                    return verdicts[k]
    except Exception as error:
        return "crashed", repr(error)
    missed = [k for k in differing if not same_meaning(originals()[k], found[k])]
    if not missed:
        return "same", ""
    raising = [
        k for k in missed if verdicts[k][0] == "crashed" or any(isinstance(maps, str) for maps in found[k].values())
    ]
    if raising:
        return "crashed", verdicts[raising[0]][1]
    if all(verdicts[k][0] == "unknown" and _same_pairs(originals()[k], found[k]) for k in missed):
        return "withheld", "the kind alone is wrong, and nothing is claimed to be proved"
    return f"MISSED ({verdicts[missed[0]][0]})", f"{operations()[missed[0]].opcode}: {verdicts[missed[0]][1]}"


def main(arguments: Sequence[str]) -> int:
    """Try all mutants, or those of the builders named; print what was not refuted and a table."""
    table: dict[str, Counter[str]] = {}
    for mutant in mutants():
        if arguments and mutant.module not in arguments:
            continue
        result, why = judge(mutant)
        table.setdefault(mutant.module, Counter())[result] += 1
        if result.startswith("MISSED"):
            print(f"{mutant}\n    {result} {why}", flush=True)
    for name, counts in table.items():
        print(f"{name:16s}", ", ".join(f"{k} {n}" for k, n in sorted(counts.items())))
    return any(k.startswith("MISSED") for counts in table.values() for k in counts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


def _swap_branches(node: ast.IfExp) -> None:
    node.body, node.orelse = node.orelse, node.body
