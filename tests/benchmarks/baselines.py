"""What the engines are compared with: isl as its manual suggests, Z3 with its own division, Z3 with quotients, and
trying every point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import islpy as isl
import z3

from hloproof.engines import enumeration as enumerate_points
from hloproof.engines.gave_up import GaveUp
from hloproof.engines.portfolio import prove
from hloproof.engines.z3 import encode as encode_z3
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder

Verdict = str
"""proved, refuted, or unknown."""


def this_tool(obligation: Obligation) -> Verdict:
    return prove(obligation).verdict


def plain_isl(obligation: Obligation) -> Verdict:
    """Piecewise quasi-affine expressions and sets by the API, node by node; is the hypothesis within the conclusion?"""
    try:
        return _PlainIsl(obligation).verdict()
    except (isl.Error, GaveUp):
        return "unknown"


class _PlainIsl:
    def __init__(self, obligation: Obligation) -> None:
        self.obligation = obligation
        self.names: dict[str, int] = {}
        pending: list[Formula] = [obligation.hypothesis, obligation.conclusion]
        self.names = {name: i for i, (name, _) in enumerate(obligation.variables)}
        while pending:
            match pending.pop():
                case And(parts) | Or(parts):
                    pending += parts
                case Not(part):
                    pending.append(part)
                case Exists(variables, part):
                    for name, _ in variables:
                        self.names.setdefault(name, len(self.names))
                    pending.append(part)
                case Compare():
                    pass
        context = isl.Context()
        context.set_on_error(1)
        self.space = isl.Space.set_alloc(context, 0, len(self.names))
        self.local = isl.LocalSpace.from_space(self.space)
        self.context = context

    def verdict(self) -> Verdict:
        given = isl.Set.universe(self.space)
        for name, interval in self.obligation.variables:
            if interval is not None:
                given = given.intersect(self.within(name, interval.lower, interval.upper))
        given = given.intersect(self.set(self.obligation.hypothesis))
        return "proved" if given.subtract(self.set(self.obligation.conclusion)).is_empty() else "refuted"

    def within(self, name: str, lower: int, upper: int) -> isl.Set:
        at = self.names[name]
        box = isl.Set.universe(self.space)
        box = box.lower_bound_val(isl.dim_type.set, at, isl.Val(str(lower), self.context))
        return box.upper_bound_val(isl.dim_type.set, at, isl.Val(str(upper), self.context))

    def set(self, f: Formula) -> isl.Set:
        match f:
            case Compare(op, lhs, rhs):
                x, y = self.aff(lhs), self.aff(rhs)
                return {"==": x.eq_set, "!=": x.ne_set, "<=": x.le_set, "<": x.lt_set}[op](y)
            case And(parts):
                result = isl.Set.universe(self.space)
                for p in parts:
                    result = result.intersect(self.set(p))
                return result
            case Or(parts):
                result = isl.Set.empty(self.space)
                for p in parts:
                    result = result.union(self.set(p))
                return result
            case Not(part):
                return self.set(part).complement()
            case Exists(variables, part):
                result = self.set(part)
                for name, interval in variables:
                    result = result.intersect(self.within(name, interval.lower, interval.upper))
                for name, _ in variables:
                    at = self.names[name]
                    result = result.project_out(isl.dim_type.set, at, 1).insert_dims(isl.dim_type.set, at, 1)
                return result.set_tuple_id(isl.Id("", self.context)) if result.has_tuple_id() else result

    def aff(self, root: Expr) -> isl.PwAff:
        done: dict[Expr, Any] = {}
        for e in postorder(root):
            match e:
                case Const(value):
                    aff = isl.Aff.val_on_domain(self.local, isl.Val(str(value), self.context))
                    done[e] = isl.PwAff.from_aff(aff)
                case Var(name):
                    done[e] = isl.PwAff.from_aff(isl.Aff.var_on_domain(self.local, isl.dim_type.set, self.names[name]))
                case Binary(op, lhs, rhs):
                    done[e] = self.operate(op, done[lhs], done[rhs], lhs, rhs)
        return done[root]

    def operate(self, op: str, x: Any, y: Any, lhs: Expr, rhs: Expr) -> Any:
        if op == "+":
            return x.add(y)
        if op in ("min", "max"):
            return x.union_min(y) if op == "min" else x.union_max(y)
        if op == "*" and isinstance(lhs, Const):
            x, rhs = y, lhs
        if not isinstance(rhs, Const):
            raise GaveUp("not constant")
        value = isl.Val(str(rhs.value), self.context)
        if op == "*":
            return x.scale_val(value)
        floor = (x.neg() if op == "ceildiv" else x).scale_down_val(value).floor()
        return floor if op == "floordiv" else floor.neg() if op == "ceildiv" else x.sub(floor.scale_val(value))


def z3_own_division(obligation: Obligation) -> Verdict:
    """Z3's integer `div` and `mod` as they are. (For negative divisors they round otherwise: the answer is wrong.)"""
    z3.z3._main_ctx = None  # a fresh context, as the others have
    names: dict[str, Any] = {name: z3.Int(name) for name, _ in obligation.variables}
    solver = z3.Solver()
    for name, interval in obligation.variables:
        if interval is not None:
            solver.add(names[name] >= interval.lower, names[name] <= interval.upper)
    solver.add(_z3_formula(obligation.hypothesis, names), z3.Not(_z3_formula(obligation.conclusion, names)))
    answer = solver.check()
    return "proved" if answer == z3.unsat else "refuted" if answer == z3.sat else "unknown"


def _z3_formula(f: Formula, names: dict[str, Any]) -> Any:
    match f:
        case Compare(op, lhs, rhs):
            x, y = _z3_term(lhs, names), _z3_term(rhs, names)
            return {"==": lambda: x == y, "!=": lambda: x != y, "<=": lambda: x <= y, "<": lambda: x < y}[op]()
        case And(parts):
            return z3.And(*(_z3_formula(p, names) for p in parts))
        case Or(parts):
            return z3.Or(*(_z3_formula(p, names) for p in parts))
        case Not(part):
            return z3.Not(_z3_formula(part, names))
        case Exists(variables, part):
            inner = {name: z3.FreshInt(name) for name, _ in variables}
            body = z3.And(
                *(z3.And(inner[n] >= i.lower, inner[n] <= i.upper) for n, i in variables),
                _z3_formula(part, {**names, **inner}),
            )
            return z3.Exists(list(inner.values()), body)


def _z3_term(root: Expr, names: dict[str, Any]) -> Any:
    done: dict[Expr, Any] = {}
    for e in postorder(root):
        match e:
            case Const(value):
                done[e] = z3.IntVal(value)
            case Var(name):
                done[e] = names[name]
            case Binary(op, lhs, rhs):
                x, y = done[lhs], done[rhs]
                done[e] = {
                    "+": lambda x, y: x + y,
                    "*": lambda x, y: x * y,
                    "floordiv": lambda x, y: x / y,
                    "ceildiv": lambda x, y: -((-x) / y),
                    "mod": lambda x, y: x % y,
                    "min": lambda x, y: z3.If(x <= y, x, y),
                    "max": lambda x, y: z3.If(x >= y, x, y),
                }[op](x, y)
    return done[root]


def z3_quotients(obligation: Obligation) -> Verdict:
    """Z3 with quotient and remainder variables: this project's encoder, without the stages before it."""
    try:
        return "proved" if encode_z3.find_counterexample(obligation, 2**31) is None else "refuted"
    except GaveUp:
        return "unknown"


def brute_force(obligation: Obligation) -> Verdict:
    """Every point, where there are no more than a hundred thousand."""
    try:
        return "proved" if enumerate_points.find_counterexample(obligation, 10**5) is None else "refuted"
    except GaveUp:
        return "unknown"


COLUMNS: dict[str, Callable[[Obligation], Verdict]] = {
    "hloproof": this_tool,
    "plain isl": plain_isl,
    "Z3 div/mod": z3_own_division,
    "Z3 quotients": z3_quotients,
    "brute force": brute_force,
}
