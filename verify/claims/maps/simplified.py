"""Simplification with its proof: the map, the rules that led there, and the verdict on before = after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hloproof.claims.maps.rewrite import rewrite
from hloproof.claims.maps.tighten import tighten
from hloproof.engines.door import HOW, How
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.variables import remove_unused_symbols, rescale_symbols
from hloproof.models.simplifier.rewriter import RewriteStep
from hloproof.models.simplifier.simplify import simplify
from hloproof.models.specs.maps import Equality
from hloproof.results.verdict import Found

_ROUNDS: Final = 8
"""Rounds of proved facts and rules; each leaves a smaller map, and the last ends the search where it is cut off."""


@dataclass(frozen=True)
class SimplifiedMap:
    """A map, how it was reached, and what was found of its being equal to the one before: pointwise, unless variables
    were rescaled or left out."""

    map: IndexingMap
    derivation: tuple[RewriteStep, ...]
    equality: Equality
    found: Found


def simplified(
    m: IndexingMap, rescale: bool = False, remove_unused: bool = False, how: How = HOW, engines: bool = True
) -> SimplifiedMap:
    """Simplifies the map and proves the result.

    `rescale` first replaces range variables of which only one residue is used; `remove_unused` leaves out symbols that
    nothing needs. Both change the variables, and the claim is then relational. `engines` lets the engines finish where
    the rules stop.
    """
    after, steps = m, list[RewriteStep]()
    if rescale:
        # Residues of one variable are joined before its scale is chosen.
        joined = simplify(m)
        rescaled = rescale_symbols(joined.map)
        if rescaled != joined.map:
            steps += [*joined.derivation, RewriteStep("rescaled-symbol", _ranges(joined.map), _ranges(rescaled))]
            after = rescaled
    result = simplify(after)
    after = result.map
    steps += result.derivation
    if engines:
        for _ in range(_ROUNDS):  # what one round proves may be what the next one needs
            after, more = tighten(after)
            steps += more
            if not more:
                break
    if remove_unused:
        smaller = remove_unused_symbols(after, m)
        if smaller != after:
            steps.append(RewriteStep("unused-symbol", _ranges(after), _ranges(smaller)))
            after = smaller
    equality: Equality = "pointwise" if not rescale and not remove_unused else "relational"
    return SimplifiedMap(after, tuple(steps), equality, rewrite(m, after, equality, how))


def _ranges(m: IndexingMap) -> str:
    names = m.display_names()
    return f"[{', '.join(names[f's{j}'] for j in range(len(m.ranges)))}]"
