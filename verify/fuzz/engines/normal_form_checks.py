"""The normal form held against a second one, of trees instead of digests."""

from __future__ import annotations

import json
from typing import Any

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.engines.reading import DIVISIONS, comparisons, conjuncts, is_defined
from hloproof.fuzz.target import Failure
from hloproof.logic import normal_form
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or, eq
from hloproof.logic.obligation import Obligation
from hloproof.logic.reproduction import from_json, to_json
from hloproof.models.expressions.expr import OPERATORS, Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

Tree = tuple[Any, ...]
"""A term or formula written without regard to names, and to the order of arguments where there is none."""


def normal_forms(obligation: Obligation, w: Writer) -> None:
    """Raises Failure where two that are the same are not seen to be, or two that are not are taken to be."""
    other = _edited(obligation, w)
    if (normal_form.key(obligation) == normal_form.key(other)) is not (_tree(obligation) == _tree(other)):
        raise Failure("solvers: normal forms do not say what is the same", json.dumps(to_json(other)))
    atoms = [c for f in (obligation.hypothesis, obligation.conclusion) for c in comparisons(f, inside=False)]
    if atoms:
        atom = w.one_of(atoms)
        again = Compare(w.one_of(("==", "<=", "==", "<", "!=")), atom.lhs, _shuffled(atom.lhs, w))
        given = obligation.hypothesis if w.chance(2) else And((atom, Or((again, atom))))
        _identical(Obligation(obligation.variables, w.one_of((again, And((again, atom)), atom)), given))
    _identical(obligation)
    divided = Binary(w.one_of(DIVISIONS), Var("n"), w.one_of((Var("k"), Const(0), Const(3), Const(-1))))
    sides = [Binary(w.one_of(("+", "min")), Var(w.one_of("nk")), Const(w.one_of((1, 2)))) for _ in range(2)]
    for lhs, rhs in ((divided, divided), sides):
        _identical(Obligation((("n", None), ("k", None)), Compare("==", lhs, rhs)))
    _scopes(w)


def _edited(obligation: Obligation, w: Writer) -> Obligation:
    """The obligation with one small change, which may leave it the same: another constant, operator, comparator, order
    of arguments, bound or name."""
    data = json.loads(json.dumps(to_json(obligation)))
    spots: list[tuple[Any, int | slice, list[Any]]] = []
    for variable in data["variables"]:
        spots.append((variable, 0, [f"{variable[0]}'"]))
        if variable[1] is not None:
            spots.append((variable, 1, [[variable[1][0] - 1, variable[1][1]], [*variable[1][:1], variable[1][1] + 1]]))
    pending = [data["hypothesis"], data["conclusion"]]
    while pending:
        head, *parts = f = pending.pop()
        if head in ("and", "or"):
            spots.append((f, 0, ["or" if head == "and" else "and"]))
            pending += parts
        elif head == "exists":
            spots += [(v, 1, [[v[1][0], v[1][1] + 1], [v[1][0] - 1, v[1][1]]]) for v in parts[0]]
            pending.append(parts[1])
        elif head == "not":
            pending.append(parts[0])
        else:
            spots.append((f, 0, ["==", "!=", "<=", "<"]))
            spots.append((f, 1, [f[2]]))
            for row in (r for table in parts for r in table):
                if len(row) == 3:
                    spots.append((row, 0, list(OPERATORS)))
                    spots += [(row, 1, [row[2]]), (row, slice(1, 3), [row[2:0:-1]]), (row, slice(1, 3), [row[2:0:-1]])]
                elif isinstance(row[0], int):
                    spots.append((row, 0, [row[0] + 1]))
    if spots:
        place, key, values = w.one_of(spots)
        value = w.one_of(values)
        if isinstance(value, str) and value.endswith("'"):
            text = json.dumps(data).replace(f'"{place[key]}"', f'"{value}"')
            return from_json(json.loads(text))
        place[key] = value
    return from_json(data)


def _scopes(w: Writer) -> None:
    """Two bound variables of quantifiers inside one another are two, whatever their names."""
    outer = tuple((f"o{n}", Interval(0, 1)) for n in range(w.number(1, 2)))
    inner = tuple((f"i{n}", Interval(0, 1)) for n in range(w.number(1, 3)))
    one, other = (Var(w.one_of((*outer, *inner))[0]) for _ in range(2))
    keys = {normal_form.key(Obligation((), Exists(outer, Exists(inner, eq(v, 0))))) for v in (one, other)}
    if (len(keys) == 1) is not (one is other):
        raise Failure("solvers: normal forms take one bound variable for another", f"{outer}, {inner}, {one}, {other}")


def _tree(obligation: Obligation) -> Tree:
    names = {name: f"variable {n}" for n, (name, _) in enumerate(obligation.variables)}
    both = (_formula_tree(f, names) for f in (obligation.hypothesis, obligation.conclusion))
    return (tuple(i for _, i in obligation.variables), *both)


def _formula_tree(f: Formula, names: dict[str, str], depth: int = 0) -> Tree:
    match f:
        case Compare(op, lhs, rhs):
            return (op, _term_tree(lhs, names), _term_tree(rhs, names))
        case Not(part):
            return ("not", _formula_tree(part, names, depth))
        case And(parts) | Or(parts):
            return (type(f).__name__, *(_formula_tree(p, names, depth) for p in parts))
        case Exists(variables, part):
            inner = names | {name: f"bound {depth + n}" for n, (name, _) in enumerate(variables)}
            return ("exists", *(i for _, i in variables), _formula_tree(part, inner, depth + len(variables)))


def _term_tree(root: Expr, names: dict[str, str]) -> Tree:
    made: dict[Expr, Tree] = {}
    for e in postorder(root):
        if isinstance(e, Const):
            made[e] = (e.value,)
        elif isinstance(e, Var):
            made[e] = (names.get(e.name, e.name),)
        elif isinstance(e, Binary) and e.op in DIVISIONS:
            made[e] = (e.op, made[e.lhs], made[e.rhs])
        elif isinstance(e, Binary):
            parts = [p for side in (made[e.lhs], made[e.rhs]) for p in (side[1:] if side[0] == e.op else (side,))]
            made[e] = (e.op, *sorted(parts, key=repr))
    return made[root]


def _shuffled(root: Expr, w: Writer) -> Expr:
    """The same term, or nearly: arguments change places, here and there also those of a division."""
    made: dict[Expr, Expr] = {}
    for e in postorder(root):
        made[e] = e
        if isinstance(e, Binary):
            lhs, rhs = made[e.lhs], made[e.rhs]
            if w.chance(10 if e.op in DIVISIONS else 2):
                lhs, rhs = rhs, lhs
            if isinstance(rhs, Binary) and rhs.op == e.op and e.op not in DIVISIONS and w.chance(2):
                lhs, rhs = Binary(e.op, lhs, rhs.lhs), rhs.rhs
            made[e] = Binary(e.op, lhs, rhs)
    return made[root]


def _identical(obligation: Obligation) -> None:
    given = conjuncts(obligation.hypothesis)
    expected = all(part in given or _is_the_same(part) for part in conjuncts(obligation.conclusion))
    if normal_form.identical(obligation) is not expected:
        raise Failure("solvers: what is written the same is not seen", json.dumps(to_json(obligation)))


def _is_the_same(f: Formula) -> bool:
    if not isinstance(f, Compare) or f.op not in ("==", "<="):
        return False
    return _term_tree(f.lhs, {}) == _term_tree(f.rhs, {}) and all(map(is_defined, (f.lhs, f.rhs)))
