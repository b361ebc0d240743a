"""What each stage does with an obligation, by its name: engines within limits, and what hands sub-goals to them.

Nothing here says which of them is asked when, and none of their counterexamples is believed: see `portfolio`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from hloproof.engines.budget import Budget
from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.logic.obligation import FLOOR, Obligation

Countermodel = dict[str, int] | None
"""A counterexample, or None for: there is none."""

Procedure = Callable[[Obligation, Budget], Countermodel]


def _isl(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.isl import encode as encode_isl

    return encode_isl.find_counterexample(obligation, budget.isl_operations)


def _z3(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.z3 import encode as encode_z3

    return encode_z3.find_counterexample(obligation, budget.z3_rlimit)


def _isl_briefly(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.isl import encode as encode_isl

    return encode_isl.find_counterexample(obligation, budget.isl_operations // BRIEF)


def _z3_quickly(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.z3 import encode as encode_z3

    return encode_z3.find_counterexample_quickly(obligation, budget.z3_rlimit // BRIEF // 10)


def _z3_briefly(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.z3 import encode as encode_z3

    return encode_z3.find_counterexample(obligation, budget.z3_rlimit // BRIEF)


def _products(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines import instances
    from hloproof.engines.nonlinear import products

    if not instances.parameters(obligation):
        raise NotExpressible("for symbolic divisors only")
    products.find_counterexample(obligation, budget.z3_rlimit // BRIEF)
    return None


def _products_at_length(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.nonlinear import products

    products.find_counterexample(obligation, budget.z3_rlimit)
    return None


def _enumeration(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines import enumeration as enumerate_points

    return enumerate_points.find_counterexample(obligation, budget.enumeration_points)


def _identical(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.logic.normal_form import identical

    if identical(obligation):
        return None
    raise NotExpressible("not written the same")


def _digits(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.structural import mixed_radix

    return mixed_radix.find_counterexample(obligation, lambda goal: _subgoal("digits", ("isl", "z3"), goal, budget))


def _digits_z3(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.structural import mixed_radix

    engines = ("z3 briefly", "z3")
    return mixed_radix.find_counterexample(obligation, lambda goal: _subgoal("digits", engines, goal, budget))


def _intervals(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.structural import intervals

    intervals.find_counterexample(obligation, lambda goal: _subgoal("intervals", ("isl", "z3"), goal, budget))
    return None


def _symbolic_digits(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.structural import symbolic_digits

    engines = ("z3 briefly", "products")
    symbolic_digits.find_counterexample(obligation, lambda g: _subgoal("symbolic digits", engines, g, budget))
    return None


def _symbolic_digits_text(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.structural import symbolic_digits

    engines = ("products", "cvc5", "z3 on SMT-LIB briefly")
    symbolic_digits.find_counterexample(obligation, lambda g: _subgoal("symbolic digits", engines, g, budget))
    return None


def _cvc5_at_length(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.smtlib import cvc5 as cvc5_engine

    return cvc5_engine.find_counterexample(obligation, budget.z3_rlimit // BRIEF)


def _z3_text_briefly(obligation: Obligation, budget: Budget) -> Countermodel:
    return _z3_text(obligation, replace(budget, z3_rlimit=budget.z3_rlimit // BRIEF))


def _cvc5(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.smtlib import cvc5 as cvc5_engine

    return cvc5_engine.find_counterexample(obligation, budget.z3_rlimit // Z3_PER_CVC5)


def _z3_text(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines.smtlib import encode as encode_smtlib
    from hloproof.engines.z3 import encode as encode_z3

    said, values = encode_z3.decide(encode_smtlib.to_smtlib(obligation), budget.z3_rlimit)
    if said == "unsat":
        return None
    if said != "sat":
        raise GaveUp(f"Z3 stopped on the SMT-LIB text ({said})")
    return {name: values.get(written, 0) for name, written in encode_smtlib.variable_names(obligation).items()}


def _instances(obligation: Obligation, budget: Budget) -> Countermodel:
    from hloproof.engines import instances

    return instances.find_counterexample(obligation, budget.isl_operations // BRIEF)


def asked(name: str, obligation: Obligation, budget: Budget) -> Countermodel:
    """What one stage answers. Raises GaveUp, also where it cannot read the obligation's quotients."""
    # Here, and not in each of them: a stage that forgot to look would prove something else.
    if obligation.rounding != FLOOR and name not in ROUNDINGS:
        raise NotExpressible("for quotients that round down")
    return ENGINES[name](obligation, budget)


def _subgoal(stage: str, engines: tuple[str, ...], goal: Obligation, budget: Budget) -> Countermodel:
    """An engine's answer on a sub-goal: the first of `engines` that gives one."""
    reasons: list[str] = []
    for name in engines:
        try:
            return asked(name, goal, budget)
        except GaveUp as error:
            reasons.append(f"{name}: {error}")
    raise GaveUp(f"{stage}, a sub-goal: {'; '.join(reasons)}")


BRIEF: Final = 20
"""The first, brief attempt of an engine has this part of its limit."""

Z3_PER_CVC5: Final = 400
"""So many of Z3's units of resources are, very roughly, as much work as one of cvc5's."""

ENGINES: dict[str, Procedure] = {
    "identical": _identical,
    "isl briefly": _isl_briefly,
    "isl": _isl,
    "digits": _digits,
    "z3": _z3,
    "z3 quickly": _z3_quickly,
    "z3 briefly": _z3_briefly,
    "products": _products,
    "products at length": _products_at_length,
    "symbolic digits": _symbolic_digits,
    "symbolic digits on SMT-LIB": _symbolic_digits_text,
    "z3 on SMT-LIB briefly": _z3_text_briefly,
    "cvc5 at length": _cvc5_at_length,
    "digits for z3": _digits_z3,
    "intervals": _intervals,
    "enumeration": _enumeration,
    "cvc5": _cvc5,
    "z3 on SMT-LIB": _z3_text,
    "instances": _instances,
}
"""Every stage by name. `identical`, `digits` and `intervals` are not engines by themselves: the first is the thin
normal form, the others hand sub-goals to isl and Z3."""

ROUNDINGS: Final = frozenset({"products at length", "cvc5", "cvc5 at length", "z3 on SMT-LIB", "z3 on SMT-LIB briefly"})
"""The stages that read quotients and remainders as the obligation says; the others know floor alone."""
