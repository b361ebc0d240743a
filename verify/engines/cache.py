"""Outcomes of obligations from earlier runs.

An entry is found by the normal form of the obligation, whether two engines were asked, the sources that a proof depends
on and the versions of the solvers. `unknown` is kept only for its limits, and only where they are deterministic. Models
are kept by position and replayed by whoever reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, Literal

import hloproof.models.expressions
import hloproof.models.maps
import hloproof.models.rules
from hloproof.engines.budget import Budget
from hloproof.engines.store import DAMAGED, Store, fingerprint
from hloproof.logic.evaluate import TooManySteps, is_counterexample
from hloproof.logic.normal_form import key
from hloproof.logic.obligation import Obligation, Outcome


def proof_sources() -> tuple[Path, ...]:
    """The folders that a proof depends on, as they stand."""
    here = Path(__file__).resolve().parents[1]
    models = (hloproof.models.expressions, hloproof.models.maps, hloproof.models.rules)
    return (*(Path(m.__path__[0]).resolve() for m in models), here / "logic", here / "processes", here / "engines")


@cache
def engines_fingerprint() -> str:
    """A digest of what a proof depends on, as it stands."""
    return fingerprint(proof_sources()).hex()[:16]


_KEPT: Final[dict[str, Literal["proved", "refuted", "unknown"]]] = {
    "proved": "proved",
    "refuted": "refuted",
    "unknown": "unknown",
}


class Cache:
    """The outcomes in a store, opened. `warn` is told when the file had to be set aside."""

    def __init__(self, path: Path, warn: Callable[[str], None] | None = None) -> None:
        self._store = Store(path, warn)

    def get(self, obligation: Obligation, budget: Budget, cross: bool, digest: str = "") -> Outcome | None:
        """What is kept of this obligation, its model replayed; None where nothing is, or an unknown of other limits.
        `digest` is its normal form's key, where the caller has it."""
        found = self._store.get(_entry(digest or key(obligation), cross))
        if found is None:
            return None
        try:
            text, engines, values, reason, limits, _ = json.loads(found)
            if text not in _KEPT:
                return None
            verdict = _KEPT[text]
            # An unknown is a fact about these limits; with others it has to be asked again.
            if verdict == "unknown" and limits != budget.deterministic():
                return None
            model = tuple((name, int(v)) for (name, _), v in zip(obligation.variables, values, strict=bool(values)))
            # A cache may come from elsewhere. A refutation is replayed, as it is when an engine finds it; a proof
            # cannot be, so entries are signed with a key of this user (`store`).
            if verdict == "refuted" and not is_counterexample(obligation, dict(model)):
                return None
            return Outcome(verdict, tuple(engines), model, reason, stages=(("cache", 0.0),))
        except (*DAMAGED, TooManySteps):
            return None

    def put(
        self,
        obligation: Obligation,
        outcome: Outcome,
        budget: Budget,
        cross: bool,
        digest: str = "",
        certificate: str = "",
    ) -> None:
        """Keep the outcome, unless time or memory decided it, or it is an error of this tool."""
        # An error of this tool is not kept: it is to be seen again until it is mended.
        if not outcome.final or outcome.verdict == "internal" or not self._store.is_open:
            return
        limits = budget.deterministic() if outcome.verdict == "unknown" else ""
        values = [v for _, v in outcome.model]
        row = (outcome.verdict, outcome.engines, values, outcome.reason, limits, certificate)
        self._store.put(_entry(digest or key(obligation), cross), json.dumps(row).encode())

    def flush(self) -> None:
        """Write what is pending."""
        self._store.flush()

    def close(self) -> None:
        """Write what is pending and close the file."""
        self._store.close()

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _entry(digest: str, cross: bool) -> bytes:
    # Agreement of two is another fact than the answer of one: neither is found under the name of the other.
    return f"outcome {digest}{'x' if cross else ''}-{engines_fingerprint()}".encode()
