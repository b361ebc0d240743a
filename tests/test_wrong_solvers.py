"""A solver that answers with a point that is none refutes nothing, whatever the claim; one that is right still does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from spec_texts import check_layouts_text, check_maps_text, check_rules_text
from test_claims import WRONG, Answer, Forth, operation
from test_indexing_counted import CASES

import hloproof.models.indexing
from hloproof.claims import CLAIMS, owed
from hloproof.claims.layouts.owed import owed_layout
from hloproof.claims.operations import composed
from hloproof.claims.operations import owed as table
from hloproof.claims.operations.owed import OwedClaim
from hloproof.claims.operations.simplified import same_points
from hloproof.claims.statements import elimination, relation
from hloproof.engines import portfolio
from hloproof.engines.door import HOW, How
from hloproof.logic.evaluate import is_counterexample
from hloproof.logic.obligation import Obligation, Outcome
from hloproof.models.expressions.expr import Const, Expr
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.module import Operation
from hloproof.models.hlo.parser import parse_module
from hloproof.models.indexing.composition.module_maps import composer_of
from hloproof.models.maps.text import parse_map
from hloproof.pipeline.options import Selection
from hloproof.pipeline.prover import Owed, Prover
from hloproof.results.verdict import ClaimResult, Found, Verdict


def lie(obligation: Obligation, how: How = HOW) -> Outcome:
    """Refuted, at a point that does not refute it: a corner where there is one, else outside of the box."""
    boxes = [(name, i or Interval(0, 0)) for name, i in obligation.variables]
    corners = ([i.lower for _, i in boxes], [i.upper for _, i in boxes], [i.lower - 1 for _, i in boxes])
    for corner in corners:
        point = {name: value for (name, _), value in zip(boxes, corner, strict=True)}
        if not is_counterexample(obligation, point):
            return Outcome("refuted", ("a liar",), tuple(point.items()))
    return Outcome("unknown", reason="there is nothing to lie about")


def honest(obligation: Obligation, how: How = HOW) -> Outcome:
    return portfolio.prove(obligation)


def claimed(claims: Iterable[Owed], solver: Callable[[Obligation], Outcome]) -> dict[str, Found]:
    """What is found of each claim, where this solver answers."""
    prover = Prover(Selection())
    verdicts = prover.add(lambda: list(claims), "here")

    def answer(obligations: Sequence[Obligation], decided: Callable[[int, Outcome], None]) -> None:
        for number, obligation in enumerate(obligations):
            decided(number, solver(obligation))

    prover.prove(answer)
    prover.settle("missing")
    return {c.claim: c for c in verdicts.claims}


def owed_by(text: str) -> Iterator[OwedClaim]:
    """What the root of a module owes."""
    module = parse_module(f"HloModule m\n{text}")
    op = Operation.of(module.entry.root, module.entry)
    yield from owed_layout(op)
    if op.opcode == "fusion":
        yield from composed.owed(composer_of(module), module.entry, module.entry.root, 64)
    else:
        yield from owed(op)


FUSED = """f {
  a = f32[6] parameter(0)
  b = f32[4] slice(a), slice={[0:4]}
  c = f32[4] slice(a), slice={[2:6]}
  ROOT r = f32[4] add(b, c)
}
ENTRY e {
  x = f32[6] parameter(0)
  ROOT y = f32[4] fusion(x), kind=kLoop, calls=f
}"""
BITCAST = "ENTRY e {\n x = f32[4,8]{1,0} parameter(0)\n ROOT y = f32[8,4]{1,0} bitcast(x)\n}"
OPAQUE = 'ENTRY e {\n x = f32[4] parameter(0)\n ROOT y = f32[4] custom-call(x), custom_call_target="t"\n}'
SIMPLIFIED = [
    parse_map(f"(d0) -> ({e}), domain: d0 in [0, 9]") for e in ("(d0 * 6) floordiv 3", "d0 * 2", "d0 * 2 + d0 mod 3")
]


def right_claims() -> Iterator[tuple[str, Callable[[], Iterable[Owed]]]]:
    for name in ("slice", "reshape split", "reduce", "pad interior", "concatenate", "dynamic-slice", "gather", "copy"):
        yield name, lambda name=name: owed(operation(name))  # type: ignore[misc]
    for name, text in (("fusion", FUSED), ("bitcast", BITCAST), ("custom-call", OPAQUE)):
        yield name, lambda text=text: owed_by(text)  # type: ignore[misc]
    yield "simplified", lambda: [OwedClaim("simplify", "", lambda: same_points(*SIMPLIFIED[:2]))]


RIGHT = dict(right_claims())


@pytest.mark.parametrize("name", RIGHT)
def test_a_lie_refutes_no_claim_of_an_instruction(name: str) -> None:
    for claim, found in claimed(RIGHT[name](), lie).items():
        assert found.verdict in (Verdict.UNKNOWN, Verdict.PROVED), (claim, found)
        told = found.reason or ""
        assert found.verdict is Verdict.PROVED or "does not replay" in told or "nothing to lie" in told, (claim, told)


def test_every_claim_of_an_instruction_was_lied_about() -> None:
    lied = {c for build in RIGHT.values() for c, f in claimed(build(), lie).items() if f.verdict is Verdict.UNKNOWN}
    assert lied == {*CLAIMS, "layout", "bitcast", "dedup", "simplify"}


@pytest.mark.parametrize(("name", "change", "claim", "subject", "words"), WRONG)
def test_what_is_wrong_is_refuted_by_the_honest_alone(
    name: str, change: Callable[[Answer], Answer], claim: str, subject: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = hloproof.models.indexing.output_to_input
    monkeypatch.setattr(hloproof.models.indexing, "output_to_input", lambda op, output=0: change(right(op, output)))
    assert name in CASES
    told = claimed([c for c in owed(operation(name)) if c.claim == claim and c.subject == subject], honest)[claim]
    assert (told.verdict, words in (told.counterexample or "")) == (Verdict.REFUTED, True), told
    never = claimed([c for c in owed(operation(name)) if c.claim == claim and c.subject == subject], lie)[claim]
    assert never.verdict is Verdict.UNKNOWN


def test_a_wrong_simplification_is_refuted_by_the_honest_alone() -> None:
    def verdict(solver: Callable[[Obligation], Outcome]) -> Verdict:
        wrong = OwedClaim("simplify", "", lambda: same_points(SIMPLIFIED[1], SIMPLIFIED[2]))
        return claimed([wrong], solver)["simplify"].verdict

    assert (verdict(honest), verdict(lie)) == (Verdict.REFUTED, Verdict.UNKNOWN)


# --- specs -------------------------------------------------------------------------------------------------------

HLO = "map a\n  hlo\n    HloModule m\n    ENTRY e {\n      x = f32[8] parameter(0)\n      ROOT y = f32[3] slice(x), "
MODULES = """map a
  hlo
    HloModule m
    ENTRY e { x = f32[8] parameter(0) ROOT y = f32[3] slice(x), slice={[1:7:2]} }
  hlo-after
    HloModule m
    ENTRY e { x = f32[8] parameter(0) z = f32[6] slice(x), slice={[%s:7]} ROOT y = f32[3] slice(z), slice={[0:6:2]} }
"""
SLICED = HLO + "slice={[1:7:2]}\n    }\n  output-to-input 0 (d0) -> (d0 * 2 + %s), domain: d0 in [0, 2]\n"
EQUAL = "map a\n  map (d0) -> (%s), domain: d0 in [0, 9]\n  becomes (d0) -> (d0 * 2), domain: d0 in [0, 9]\n"
SUMS = (
    "map a\n  map (d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, %s]\n"
    "  becomes (d0)[s0, s1] -> (d0 + s0 + s1 * 2), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 1]\n"
)
LAYOUT = "layout a\n  shape f32[3,5]{1,0:T(2,2)}\n"
RULE = "rule a\n  x + x => x * %s\n"
SPECS: Mapping[str, tuple[Callable[..., list[ClaimResult]], str, str]] = {
    "definition": (check_maps_text, SLICED % 1, SLICED % 2),
    "hlo-after": (check_maps_text, MODULES % 1, MODULES.replace("z = f32[6]", "z = f32[7]") % 0),
    "becomes": (check_maps_text, EQUAL % "d0 + d0", EQUAL % "d0 * 3"),
    "becomes, relational": (check_maps_text, SUMS % 3, SUMS % 2),
    "same": (check_layouts_text, f"{LAYOUT}  same f32[3,5]{{1,0:T(2,2)}}\n", f"{LAYOUT}  same f32[3,5]{{0,1}}\n"),
    "layout": (check_layouts_text, LAYOUT, f"{LAYOUT}  formula (d0, d1) -> (d0), domain: d0 in [0, 2], d1 in [0, 4]\n"),
    "rule": (check_rules_text, RULE % 2, RULE % 3),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_lie_refutes_no_spec(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check, right, wrong = SPECS[name]
    (first,), (second,) = check(right, "x"), check(wrong, "x")
    assert (first.found.verdict, second.found.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    for place in ASKING:
        monkeypatch.setattr(f"hloproof.{place}.prove_one", lie)
    (told,) = check(right, "x")
    assert told.found.verdict in (Verdict.UNKNOWN, Verdict.PROVED), told.found
    (told,) = check(wrong, "x")
    by_evaluation = told.found.engines in (("evaluation",), ("enumeration",))
    assert told.found.verdict is Verdict.UNKNOWN or by_evaluation, told.found


ASKING = ("pipeline.map_specs", "pipeline.layout_specs", "claims.maps.rewrite", "claims.rules.asking")


# --- witnesses ---------------------------------------------------------------------------------------------------


def test_a_converse_that_fails_for_a_value_that_was_solved_for_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two directions of a reduction are converse, whatever value somebody solves for."""

    def solved(unknowns: Mapping[str, Interval], conditions: Iterable[elimination.Membership]) -> dict[str, Expr]:
        return {n: e + 1 for n, e in solve(unknowns, conditions).items()}

    def found() -> Found:
        return claimed([c for c in owed(operation("reduce")) if c.claim == "converse"], honest)["converse"]

    solve = elimination.solve
    assert found().verdict is Verdict.PROVED
    monkeypatch.setattr(table, "_KNOWN", {})
    monkeypatch.setattr(relation, "solve", solved)
    assert (found().verdict, "holds for another" in (found().reason or "")) == (Verdict.UNKNOWN, True)


def test_two_maps_that_share_a_pair_do_so_whatever_is_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing exists is not shown by a value that was solved for: a wrong one proved it."""
    right = hloproof.models.indexing.output_to_input

    def doubled(op: Operation, output: int = 0) -> Answer:
        return tuple(replace(s, maps=s.maps * 2) if s.operand == 0 else s for s in right(op, output))

    def elsewhere(unknowns: Mapping[str, Interval], conditions: Iterable[elimination.Membership]) -> dict[str, Expr]:
        return {n: Const(i.upper + 1) for n, i in unknowns.items()}

    monkeypatch.setattr(hloproof.models.indexing, "output_to_input", doubled)
    monkeypatch.setattr(table, "_KNOWN", {})
    monkeypatch.setattr(relation, "solve", elsewhere)
    about = [c for c in owed(operation("reduce")) if c.claim == "definition" and c.subject == Forth]
    parts = [p for p in about[0].build() if p.obligation.label == "no two maps share a pair"]
    assert [honest(p.obligation).verdict for p in parts] == ["refuted"]


GATHERED = """map a
  hlo
    HloModule m
    ENTRY e {
      x = f32[4,3] parameter(0)
      i = s32[5,%d] parameter(1)
      ROOT g = f32[5,%s,3] gather(x, i), offset_dims={1,2}, start_index_map={0},
        collapsed_slice_dims={}, index_vector_dim=1, slice_sizes={%s,3}
    }
  output-to-input 0 (d0, d1, d2){rt0} -> (rt0 + d1, d2),
    domain: d0 in [0, 4], d1 in [0, %d], d2 in [0, 2], rt0 in [0, %d]
    runtime variables:
    rt0: operand(1); (d0, d1, d2) -> (%s, 0), domain: d0 in [0, 4], d1 in [0, %d], d2 in [0, 2]
"""


@pytest.mark.parametrize(
    ("size", "element", "verdict"),
    [
        (2, "d0", Verdict.PROVED),
        (2, "4 - d0", Verdict.REFUTED),
        (4, "d0", Verdict.PROVED),
        (4, "4 - d0", Verdict.PROVED),
    ],
)
def test_which_element_is_read_matters_where_its_value_does(size: int, element: str, verdict: Verdict) -> None:
    """A window as large as the array starts at 0 whatever it reads, so that the map is right that reads another."""
    text = GATHERED % (1, size, size, size - 1, 4 - size, element, size - 1)
    (told,) = check_maps_text(text, "x")
    assert told.found.verdict is verdict, told.found
