"""Reproduction files: an obligation and what the engines said of it, readable and loadable."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import FLOOR, Obligation, RoundingSemantics
from hloproof.models.expressions.expr import Binary, Expr, Var, lift
from hloproof.models.expressions.expr import to_table as expr_table
from hloproof.models.expressions.interval import Interval


def write(obligation: Obligation, engines: tuple[str, ...], reason: str, folder: Path | None) -> Path:
    """Write `hloproof-internal-<hash>.json` into the folder (default: the working directory); the same obligation
    overwrites its file. Returns the path."""
    content = {"reason": reason, "engines": list(engines), "label": obligation.label, **to_json(obligation)}
    text = json.dumps(content, indent=1)
    name = hashlib.sha256(json.dumps(to_json(obligation)).encode()).hexdigest()[:16]
    folder = folder or Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"hloproof-internal-{name}.json"
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> Obligation:
    """The obligation of a reproduction file."""
    return from_json(json.loads(path.read_text(encoding="utf-8")))


def to_json(obligation: Obligation) -> dict[str, Any]:
    """The obligation as `from_json` reads it, without its label."""
    return {
        "variables": [[name, _interval(i)] for name, i in obligation.variables],
        "hypothesis": formula_to_json(obligation.hypothesis),
        "conclusion": formula_to_json(obligation.conclusion),
        **({} if obligation.rounding == FLOOR else {"rounding": list(astuple(obligation.rounding))}),
    }


def from_json(data: dict[str, Any]) -> Obligation:
    """The obligation that `to_json` wrote; a label is taken where there is one."""
    return Obligation(
        variables=tuple((name, None if i is None else Interval(*i)) for name, i in data["variables"]),
        hypothesis=formula_from_json(data["hypothesis"]),
        conclusion=formula_from_json(data["conclusion"]),
        label=data.get("label", ""),
        rounding=RoundingSemantics(*data.get("rounding", ())),
    )


def formula_to_json(f: Formula) -> list[Any]:
    """A formula as lists, as `formula_from_json` reads it; expressions are tables of nodes, shared ones written
    once."""
    match f:
        case Compare(op, lhs, rhs):
            return [op, [list(row) for row in expr_table(lhs)], [list(row) for row in expr_table(rhs)]]
        case And(parts):
            return ["and", *map(formula_to_json, parts)]
        case Or(parts):
            return ["or", *map(formula_to_json, parts)]
        case Not(part):
            return ["not", formula_to_json(part)]
        case Exists(variables, part):
            return ["exists", [[name, _interval(i)] for name, i in variables], formula_to_json(part)]


def formula_from_json(data: list[Any]) -> Formula:
    """The formula that `formula_to_json` wrote. Raises ValueError, KeyError and the like for anything else."""
    head, *rest = data
    match head:
        case "and":
            return And(tuple(map(formula_from_json, rest)))
        case "or":
            return Or(tuple(map(formula_from_json, rest)))
        case "not":
            return Not(formula_from_json(rest[0]))
        case "exists":
            return Exists(tuple((name, Interval(*i)) for name, i in rest[0]), formula_from_json(rest[1]))
        case _:
            return Compare(head, _expr(rest[0]), _expr(rest[1]))


def _expr(table: list[list[Any]]) -> Expr:
    nodes: list[Expr] = []
    for row in table:
        if len(row) == 3:
            nodes.append(Binary(row[0], nodes[row[1]], nodes[row[2]]))
        else:
            nodes.append(Var(row[0]) if isinstance(row[0], str) else lift(int(row[0])))
    return nodes[-1]


def _interval(i: Interval | None) -> list[int] | None:
    return None if i is None else [i.lower, i.upper]
