"""cvc5, where it is installed: a solver of its own behind the SMT-LIB encoder. The only module that imports it."""

from __future__ import annotations

import re
from importlib.util import find_spec

from hloproof.engines.gave_up import GaveUp, NotExpressible
from hloproof.engines.smtlib.encode import to_smtlib, variable_names
from hloproof.logic.obligation import Obligation

_VALUE = re.compile(r"\((x_\d+) (?:(\d+)|\(- (\d+)\))\)")


def is_installed() -> bool:
    """Whether cvc5 can be imported; it is not imported here."""
    return find_spec("cvc5") is not None


def decide(smtlib: str, rlimit: int = 0, milliseconds: int = 0) -> tuple[str, str]:
    """What cvc5 says of SMT-LIB text: the answer to its `check-sat`, and what it says to commands after that.

    `rlimit` is cvc5's deterministic resource limit, 0 for none. Raises ImportError when it is not installed.
    """
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("produce-models", "true")
    solver.setOption("seed", "0")
    if rlimit:
        solver.setOption("rlimit", str(rlimit))
    if milliseconds:
        solver.setOption("tlimit-per", str(milliseconds))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smtlib, "obligation")
    symbols = parser.getSymbolManager()
    said: list[str] = []
    try:
        while not (command := parser.nextCommand()).isNull():
            answer = str(command.invoke(solver, symbols)).strip()
            if answer:
                said.append(answer)
    except RuntimeError as error:  # what its Python binding raises for errors of every kind
        said.append(str(error))
    return (said[0], " ".join(said[1:])) if said else ("no answer", "")


def find_counterexample(obligation: Obligation, rlimit: int) -> dict[str, int] | None:
    """Values of the obligation's variables at which it fails, or None when cvc5 shows that there are none.

    Raises NotExpressible when cvc5 is not installed, GaveUp at the resource limit.
    """
    if not is_installed():
        raise NotExpressible("cvc5 is not installed (the extra hloproof[certify])")
    names = variable_names(obligation)
    ask = f"(get-value ({' '.join(names.values())}))" if names else ""
    said, more = decide(to_smtlib(obligation) + ask, rlimit)
    if said == "unsat":
        return None
    if said != "sat":
        raise GaveUp(f"cvc5 stopped ({said[:100]}) within its resource limit of {rlimit}")
    values = {name: int(plus or f"-{minus}") for name, plus, minus in _VALUE.findall(more)}
    return {name: values[written] for name, written in names.items()}
