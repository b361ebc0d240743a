"""Which engines are two: a table of the code that each stage's answer goes through.

Under `cross` a verdict needs two stages that share no encoder, as declared here; stages that hand sub-goals on count
with the encoders of all that they may ask. The solver behind may be one: Z3 reads what its encoder builds and, apart
from it, the text that the SMT-LIB encoder writes.
"""

from __future__ import annotations

from typing import Final

ENCODERS: Final[dict[str, frozenset[str]]] = {
    "isl": frozenset({"isl/encode"}),
    "isl briefly": frozenset({"isl/encode"}),
    "z3": frozenset({"z3/encode"}),
    "z3 quickly": frozenset({"z3/encode"}),
    "z3 briefly": frozenset({"z3/encode"}),
    "products": frozenset({"nonlinear/prove"}),
    "products at length": frozenset({"nonlinear/prove"}),
    "digits": frozenset({"structural/mixed_radix", "isl/encode", "z3/encode"}),
    "digits for z3": frozenset({"structural/mixed_radix", "z3/encode"}),
    "intervals": frozenset({"structural/intervals", "isl/encode", "z3/encode"}),
    "symbolic digits": frozenset({"structural/symbolic_digits", "z3/encode", "nonlinear/prove"}),
    "symbolic digits on SMT-LIB": frozenset({"structural/symbolic_digits", "nonlinear/prove", "smtlib/encode"}),
    "z3 on SMT-LIB": frozenset({"smtlib/encode"}),
    "z3 on SMT-LIB briefly": frozenset({"smtlib/encode"}),
    "cvc5": frozenset({"smtlib/encode"}),
    "cvc5 at length": frozenset({"smtlib/encode"}),
    "enumeration": frozenset({"logic/evaluate"}),
    # Both, although one is asked: which of the two decided an instance is not written down, so neither may be the
    # second.
    "instances": frozenset({"logic/evaluate", "isl/encode"}),
    "identical": frozenset({"logic/normal_form"}),
}
"""By stage, the modules that turn an obligation into what is decided."""


def independent(one: str, other: str) -> bool:
    """Two stages that share no encoder."""
    return ENCODERS[one].isdisjoint(ENCODERS[other])
