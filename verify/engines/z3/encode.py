"""Obligations to Z3: can the hypothesis hold and the conclusion fail?

Z3 never sees a division. `x floordiv k` becomes a quotient variable q with `x = k * q + r`, where `0 <= r < k` for
k > 0 and `k < r <= 0` for k < 0; for a constant k > 0 the remainder needs no name. (SMT-LIB's own `div` is Euclidean
and differs for negative divisors.) Quotients are total functions of what they divide, so their definitions stand at the
outermost place where their variables are known: as assertions, or as hypotheses under a quantifier. Every obligation
has a context of its own, since Z3's resource count depends on history; the random seed is always the same, Z3's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import count
from typing import Any, Final, Literal, assert_never

import z3

from hloproof.engines.gave_up import GaveUp, OutOfMemory
from hloproof.logic.formula import And, Compare, Exists, Formula, Not, Or
from hloproof.logic.obligation import Obligation
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.expressions.interval import Interval

_Asked = Literal["T", "F", "not T", "not F"]
"""What a formula is to be, where an atom that divides by zero is neither true nor false."""

_NEGATED: Final[dict[_Asked, _Asked]] = {"T": "F", "F": "T", "not T": "not F", "not F": "not T"}


SHARE_OF_THE_CORE: Final = 10
"""The plain core is given this part of the limit before the tactics get all of it."""


USES_OF_A_CONTEXT: Final = 500
"""After so many obligations a shared context makes place for a new one."""

_uses = count()


@lru_cache(maxsize=1)
def _shared(number: int) -> Any:
    """A context for many obligations: the one of this number, while no other is asked for."""
    return z3.Context()


def version() -> str:
    """The name and version of Z3."""
    return f"z3 {z3.get_version_string()}"


def find_counterexample(obligation: Obligation, rlimit: int) -> dict[str, int] | None:
    """Values of the obligation's variables at which it fails, or None when Z3 shows that there are none.

    Raises GaveUp at the resource limit or where Z3 answers unknown.
    """
    reason = ""
    for core, limit in ((z3.SimpleSolver, rlimit // SHARE_OF_THE_CORE), (z3.Solver, rlimit)):
        # The plain core starts in half the time and decides nearly everything; the tactics behind it are for the rest.
        encoded = encode(obligation, core)
        encoded.solver.set("rlimit", limit)
        try:
            answer = encoded.solver.check()
            if answer == z3.unsat:
                return None
            if answer == z3.sat:
                return encoded.values(encoded.solver.model())
            reason = encoded.solver.reason_unknown()
        except z3.Z3Exception as error:
            reason = str(error)
    raise given_up(reason, rlimit)


def find_counterexample_quickly(obligation: Obligation, rlimit: int) -> dict[str, int] | None:
    """The same in a context that many obligations share, which saves most of the time of an easy one.

    How far the limit reaches, and which counterexample is found, depends on what the context has done before: for
    second opinions, whose answer alone counts, behind which a fresh context stands. Raises GaveUp.
    """
    encoded = encode(obligation, z3.SimpleSolver, _shared(next(_uses) // USES_OF_A_CONTEXT))
    encoded.solver.set("rlimit", rlimit)
    try:
        answer = encoded.solver.check()
        if answer == z3.unsat:
            return None
        if answer == z3.sat:
            return encoded.values(encoded.solver.model())
        reason = encoded.solver.reason_unknown()
    except z3.Z3Exception as error:
        reason = str(error)
    raise given_up(reason, rlimit)


def given_up(reason: str, rlimit: int) -> GaveUp:
    """What to raise where Z3 stops for this reason: memory is told apart, since another run may have more of it."""
    if "memory" in reason or "memout" in reason:
        return OutOfMemory(f"Z3 ran out of memory ({reason})")
    return GaveUp(f"Z3 stopped ({reason}) within its resource limit of {rlimit}")


def decide(smtlib: str, rlimit: int) -> tuple[str, dict[str, int]]:
    """What Z3 says of SMT-LIB text (`sat`, `unsat` or why neither), and the values of its constants when `sat`."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", rlimit)
    try:
        solver.from_string(smtlib)
        answer = solver.check()
        if answer != z3.sat:
            return ("unsat", {}) if answer == z3.unsat else (solver.reason_unknown(), {})
        model = solver.model()
        return "sat", {d.name(): model[d].as_long() for d in model.decls() if d.arity() == 0}
    except z3.Z3Exception as error:
        return str(error), {}


class Encoded:
    """A solver that holds the question, and the variables of the obligation in it."""

    def __init__(self, solver: Any, variables: dict[str, Any]) -> None:
        self.solver, self.variables = solver, variables

    def values(self, model: Any) -> dict[str, int]:
        return {name: model.eval(v, model_completion=True).as_long() for name, v in self.variables.items()}


def encode(obligation: Obligation, core: Callable[..., Any] = z3.Solver, context: Any = None) -> Encoded:
    """The question whether a counterexample exists, in a fresh context unless one is given."""
    context = context or z3.Context()
    solver = core(ctx=context)
    encoder = _Encoder(context)
    top = _Scope(None)
    for name, interval in obligation.variables:
        encoder.declare(top, name, interval)
    holds = encoder.formula(obligation.hypothesis, "T", top)
    fails = encoder.formula(obligation.conclusion, "not T", top)
    solver.add(*top.facts, holds, fails)
    return Encoded(solver, {name: top.names[name] for name, _ in obligation.variables})


class _Scope:
    """Names known at a place, the variables to quantify there and the facts about them."""

    def __init__(self, parent: _Scope | None) -> None:
        self.parent = parent
        self.names: dict[str, Any] = {}
        self.variables: list[Any] = []
        self.facts: list[Any] = []
        self.terms: dict[Expr, Any] = {}
        self.defined: dict[tuple[int, int], tuple[Any, Any, Any]] = {}

    def home(self, e: Expr) -> _Scope:
        """The outermost scope in which all variables of `e` are known."""
        here = self
        missing = e.free
        while here.parent is not None and missing.isdisjoint(here.names):
            here = here.parent
        return here

    def find(self, name: str) -> Any:
        here: _Scope | None = self
        while here is not None:
            if name in here.names:
                return here.names[name]
            here = here.parent
        raise KeyError(name)


class _Encoder:
    def __init__(self, context: Any) -> None:
        self.context = context
        self.numbers = count()

    def variable(self, scope: _Scope, hint: str) -> Any:
        made = z3.Int(f"{hint}!{next(self.numbers)}", self.context)
        scope.variables.append(made)
        return made

    def declare(self, scope: _Scope, name: str, interval: Interval | None) -> None:
        made = scope.names[name] = self.variable(scope, name)
        if interval is not None:
            scope.facts += [made >= interval.lower, made <= interval.upper]

    def number(self, value: int) -> Any:
        return z3.IntVal(value, self.context)

    def truth(self, value: bool) -> Any:
        return z3.BoolVal(value, self.context)

    def all_of(self, parts: list[Any]) -> Any:
        return z3.And(*parts, self.truth(True)) if len(parts) != 1 else parts[0]

    def any_of(self, parts: list[Any]) -> Any:
        return z3.Or(*parts, self.truth(False)) if len(parts) != 1 else parts[0]

    # terms

    def term(self, root: Expr, scope: _Scope) -> Any:
        for e in postorder(root):
            home = scope.home(e)
            if e not in home.terms:
                home.terms[e] = self._node(e, home)
        return scope.home(root).terms[root]

    def _node(self, e: Expr, scope: _Scope) -> Any:
        if isinstance(e, Const):
            return self.number(e.value)
        if isinstance(e, Var):
            return scope.find(e.name)
        assert isinstance(e, Binary)
        x, y = (scope.home(part).terms[part] for part in (e.lhs, e.rhs))
        match e.op:
            case "+":
                return x + y
            case "*":
                return x * y
            case "min":
                return z3.If(x <= y, x, y)
            case "max":
                return z3.If(x >= y, x, y)
            case "floordiv":
                return self._quotient(x, y, e.rhs, scope)
            case "ceildiv":
                return -self._quotient(-x, y, e.rhs, scope)
            case "mod":
                return x - y * self._quotient(x, y, e.rhs, scope)

    def _quotient(self, x: Any, k: Any, divisor: Expr, scope: _Scope) -> Any:
        """A variable that is x floordiv k wherever k is not zero."""
        key = (x.get_id(), k.get_id())
        if key in scope.defined:
            return scope.defined[key][0]
        q = self.variable(scope, "q")
        if isinstance(divisor, Const) and divisor.value > 0:
            scope.facts += [k * q <= x, x < k * q + k]
        elif isinstance(divisor, Const) and divisor.value < 0:
            scope.facts += [k * q >= x, x > k * q + k]
        elif not isinstance(divisor, Const):
            r = self.variable(scope, "r")
            scope.facts += [
                z3.Implies(k != 0, x == k * q + r),
                z3.Implies(k > 0, z3.And(r >= 0, r < k)),
                z3.Implies(k < 0, z3.And(r <= 0, k < r)),
            ]
        scope.defined[key] = (q, x, k)  # the terms are kept, for their ids to stay theirs
        return q

    # formulas

    def formula(self, f: Formula, asked: _Asked, scope: _Scope) -> Any:
        match f:
            case Not(part):
                return self.formula(part, _NEGATED[asked], scope)
            case And(parts):
                inner = [self.formula(p, asked, scope) for p in parts]
                return self.all_of(inner) if asked in ("T", "not F") else self.any_of(inner)
            case Or(parts):
                inner = [self.formula(p, asked, scope) for p in parts]
                return self.any_of(inner) if asked in ("T", "not F") else self.all_of(inner)
            case Compare():
                return self._atom(f, asked, scope)
            case Exists():
                return self._exists(f, asked, scope)

    def _exists(self, f: Exists, asked: _Asked, scope: _Scope) -> Any:
        if not f.variables:  # Z3 has no such quantifier
            return self.formula(f.part, asked, scope)
        inner = _Scope(scope)
        for name, interval in f.variables:
            self.declare(inner, name, interval)
        body = self.formula(f.part, asked, inner)
        if asked in ("T", "not F"):
            held = self.all_of([*inner.facts, body])
            # Outside quantifiers the witnesses are plain unknowns of the question.
            return held if scope.parent is None else z3.Exists(inner.variables, held)
        return z3.ForAll(inner.variables, z3.Implies(self.all_of(inner.facts), body))

    def _atom(self, f: Compare, asked: _Asked, scope: _Scope) -> Any:
        x, y = self.term(f.lhs, scope), self.term(f.rhs, scope)
        match f.op:
            case "==":
                stated = x == y
            case "!=":
                stated = x != y
            case "<=":
                stated = x <= y
            case "<":
                stated = x < y
            case _:
                assert_never(f.op)
        if asked in ("F", "not T"):
            stated = z3.Not(stated)
        divisors = self._divisors(f, scope)
        if divisors is None:
            return self.truth(asked in ("not T", "not F"))
        if not divisors:
            return stated
        if asked in ("T", "F"):
            return self.all_of([*(k != 0 for k in divisors), stated])
        return self.any_of([*(k == 0 for k in divisors), stated])

    def _divisors(self, f: Compare, scope: _Scope) -> list[Any] | None:
        """The divisors of the atom that may be zero; None where one is the constant zero."""
        found: list[Any] = []
        for root in (f.lhs, f.rhs):
            for e in postorder(root):
                if isinstance(e, Binary) and e.op in ("floordiv", "ceildiv", "mod"):
                    if isinstance(e.rhs, Const):
                        if e.rhs.value == 0:
                            return None
                    else:
                        found.append(self.term(e.rhs, scope))
        return found
