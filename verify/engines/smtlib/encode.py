"""Obligations as SMT-LIB 2 text, plain enough that any solver reads it.

Integers, `+`, `*`, comparisons, connectives and quantifiers. A division is a quotient and a remainder bound by an
`exists` around its atom and tied to it by axioms, never the solver's `div`, whose rounding differs. Shares no code with
the other encoders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import FLOOR, Obligation, Rounding
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

LONGEST_TERM: Final = 200
"""A longer term is given a name: shared terms could double the text at every level."""


class _Names:
    """Fresh SMT-LIB names, and how the divisions are read that they stand for."""

    def __init__(self) -> None:
        self.count = 0
        self.rounding = FLOOR
        self.linear = True
        """Nothing has been multiplied or divided by what is no number."""

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}_{self.count}"


def variable_names(obligation: Obligation) -> dict[str, str]:
    """The SMT-LIB name of every variable of the obligation."""
    return {name: f"x_{i + 1}" for i, (name, _) in enumerate(obligation.variables)}


def to_smtlib(obligation: Obligation) -> str:
    """Text that is satisfiable exactly when the obligation has a counterexample."""
    names = _Names()
    scope = variable_names(obligation)
    names.count = len(scope)
    lines = [f"; {_remark(obligation.label)}".rstrip(), "; satisfiable exactly when there is a counterexample"]
    body: list[str] = []
    for name, interval in obligation.variables:
        lines.append(f"(declare-const {scope[name]} Int) ; {_remark(name)}")
        if interval is not None:
            body += _within(scope[name], interval)
    names.rounding = obligation.rounding
    body.append(_formula(obligation.hypothesis, "T", scope, names))
    body.append(_formula(obligation.conclusion, "not T", scope, names))
    # What a product stands in may have got a name of its own: the text alone does not tell.
    linear = names.linear and not any("(* x" in b or "(* (" in b for b in body)
    logic = "LIA" if linear else "NIA"
    return "\n".join([f"(set-logic {logic})", *lines, *(f"(assert {b})" for b in body), "(check-sat)", ""])


def _remark(text: str) -> str:
    """In one line: a remark ends with it, and what stood behind would be read."""
    return " ".join(text.split())


def _within(name: str, interval: Interval) -> list[str]:
    return [f"(<= {_number(interval.lower)} {name})", f"(<= {name} {_number(interval.upper)})"]


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _join(word: str, parts: Sequence[str], empty: str) -> str:
    return empty if not parts else parts[0] if len(parts) == 1 else f"({word} {' '.join(parts)})"


def _formula(f: Formula, asked: str, scope: dict[str, str], names: _Names) -> str:
    """`f` is true (T), false (F), or not so; an atom that divides by zero is neither true nor false."""
    wants_all = asked in ("T", "not F")
    match f:
        case Not(part):
            opposite = {"T": "F", "F": "T", "not T": "not F", "not F": "not T"}[asked]
            return _formula(part, opposite, scope, names)
        case And(parts) | Or(parts):
            inner = [_formula(p, asked, scope, names) for p in parts]
            both = isinstance(f, And) == wants_all
            return _join("and", inner, "true") if both else _join("or", inner, "false")
        case Exists(variables, part):
            local = {name: names.fresh("w") for name, _ in variables}
            bounds = [b for name, i in variables for b in _within(local[name], i)]
            body = _formula(part, asked, {**scope, **local}, names)
            binders = " ".join(f"({n} Int)" for n in local.values())
            if not binders:
                return body
            if wants_all:
                return f"(exists ({binders}) {_join('and', [*bounds, body], 'true')})"
            return f"(forall ({binders}) (=> {_join('and', bounds, 'true')} {body}))"
        case Compare():
            return _atom(f, asked, scope, names)


def _atom(f: Compare, asked: str, scope: dict[str, str], names: _Names) -> str:
    """The atom under the quantifier of its quotients, which are determined by their axioms: `exists` will do."""
    quotients: list[str] = []
    axioms: list[str] = []
    divisors: list[str] = []
    done: dict[Expr, str] = {}
    for root in (f.lhs, f.rhs):
        for e in postorder(root):
            if e not in done:
                done[e] = _term(e, done, scope, names, quotients, axioms, divisors)
                if len(done[e]) > LONGEST_TERM:
                    named = names.fresh("t")
                    quotients.append(named)
                    axioms.append(f"(= {named} {done[e]})")
                    done[e] = named
    sign = {"==": "=", "!=": "distinct", "<=": "<=", "<": "<"}[f.op]
    stated = f"({sign} {done[f.lhs]} {done[f.rhs]})"
    if asked in ("F", "not T"):
        stated = f"(not {stated})"
    if "0" in divisors:
        return "false" if asked in ("T", "F") else "true"
    held = _join("and", [*axioms, stated], "true")
    if quotients:
        held = f"(exists ({' '.join(f'({q} Int)' for q in quotients)}) {held})"
    if not divisors:
        return held
    if asked in ("T", "F"):
        return _join("and", [*(f"(distinct {k} 0)" for k in divisors), held], "true")
    return _join("or", [*(f"(= {k} 0)" for k in divisors), held], "false")


def _term(
    e: Expr,
    done: dict[Expr, str],
    scope: dict[str, str],
    names: _Names,
    quotients: list[str],
    axioms: list[str],
    divisors: list[str],
) -> str:
    if isinstance(e, Const):
        return _number(e.value)
    if isinstance(e, Var):
        return scope[e.name]
    assert isinstance(e, Binary)
    x, y = done[e.lhs], done[e.rhs]
    match e.op:
        case "+":
            return f"(+ {x} {y})"
        case "*":
            names.linear = names.linear and (isinstance(e.lhs, Const) or isinstance(e.rhs, Const))
            return f"(* {x} {y})"
        case "min":
            return f"(ite (<= {x} {y}) {x} {y})"
        case "max":
            return f"(ite (<= {x} {y}) {y} {x})"
        case "floordiv" | "ceildiv" | "mod":
            dividend = f"(- {x})" if e.op == "ceildiv" else x
            q, r = names.fresh("q"), names.fresh("r")
            quotients += [q, r]
            axioms.append(f"(= {dividend} (+ (* {y} {q}) {r}))")
            rounding = {"floordiv": names.rounding.division, "mod": names.rounding.mod}.get(e.op, "floor")
            match e.rhs:
                case Const(value):
                    axioms += _remainder(rounding, dividend, y, r, value > 0)
                    divisors += ["0"] if value == 0 else []
                case _:
                    names.linear = False
                    signs = [_join("and", _remainder(rounding, dividend, y, r, up), "true") for up in (True, False)]
                    axioms.append(f"(ite (< 0 {y}) {signs[0]} {signs[1]})")
                    divisors.append(y)
            return r if e.op == "mod" else q if e.op == "floordiv" else f"(- {q})"


def _remainder(rounding: Rounding, x: str, y: str, r: str, up: bool) -> list[str]:
    """Which remainders r of x by y there are, where y is above zero (`up`) or below."""
    size = y if up else f"(- {y})"
    match rounding:
        case "floor":  # the divisor's sign
            return [f"(<= 0 {r})", f"(< {r} {y})"] if up else [f"(<= {r} 0)", f"(< {y} {r})"]
        case "trunc":  # the dividend's sign
            return [f"(ite (<= 0 {x}) (and (<= 0 {r}) (< {r} {size})) (and (<= {r} 0) (< (- {size}) {r})))"]
        case "euclidean":
            return [f"(<= 0 {r})", f"(< {r} {size})"]
