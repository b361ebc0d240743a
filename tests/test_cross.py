"""Cross-checking means two engines that share no encoder, and unknown where there is no second."""

from __future__ import annotations

import pytest
from spec_texts import check_layouts_text, check_maps_text, check_rules_text

from hloproof.claims.rules import crossed as crossing
from hloproof.engines.door import How
from hloproof.engines.gave_up import GaveUp
from hloproof.engines.independence import ENCODERS, independent
from hloproof.engines.portfolio import FIRST, SECOND
from hloproof.engines.procedures import ENGINES
from hloproof.models.rules.text import parse_rules
from hloproof.results.verdict import Verdict

CROSS = How(cross=True)


def test_the_table_names_every_stage() -> None:
    assert set(ENCODERS) == set(ENGINES)


def test_no_second_engine_shares_an_encoder_with_the_first() -> None:
    assert set(FIRST) <= set(SECOND)
    for first, seconds in SECOND.items():
        assert seconds and all(independent(first, s) for s in seconds), first
    assert not independent("z3", "digits for z3")
    assert not independent("products", "symbolic digits")
    # What hands sub-goals on, or does not say which of two decided, counts with all that it may ask.
    for name, shared in (("digits", ("isl", "z3", "digits for z3", "symbolic digits")), ("intervals", ("isl", "z3"))):
        assert not any(independent(name, other) for other in shared)
    assert not any(independent("instances", other) for other in ("isl", "isl briefly", "digits", "enumeration"))


HLO = "  hlo\n    p = f32[4] parameter(0)\n    r = f32[4] reverse(p), dimensions={0}\n    ROOT c = f32[4] negate(r)\n"
MAPS = [
    "  map (d0) -> (d0 mod 40), domain: d0 in [0, 39]\n  becomes (d0) -> (d0), domain: d0 in [0, 39]\n",
    "  map (d0)[s0] -> (s0 * 2), domain: d0 in [0, 3], s0 in [0, 3]\n"
    "  becomes (d0)[s0, s1] -> (s0 * 4 + s1 * 2), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 1]\n",
    HLO + "  follow\n  output-to-input 0 (d0)[s0] -> (3 - d0 + s0 - s0), domain: d0 in [0, 3], s0 in [0, 1]\n",
    HLO + f"  hlo-after\n{HLO.split(chr(10), 1)[1].replace('negate', 'copy')}"
    "  follow\n  output-to-input 0 (d0) -> (3 - d0 mod 4), domain: d0 in [0, 3]\n",
]


@pytest.mark.parametrize("text", MAPS)
def test_map_specs_name_two_engines(text: str) -> None:
    (found,) = check_maps_text(f"map a\n{text}", "x.map", CROSS)
    assert found.verdict is Verdict.PROVED, found.reason
    assert any(independent(a, b) for a in found.engines for b in found.engines), found.engines


def test_layouts_name_two_engines() -> None:
    (found,) = check_layouts_text("layout a\n  shape f32[3,5]{1,0:T(2,2)}\n  same s32[3,5]{1,0:T(2,2)}\n", "x", CROSS)
    assert found.verdict is Verdict.PROVED
    assert any(independent(a, b) for a in found.engines for b in found.engines)


@pytest.mark.parametrize("clause", ["", "division euclidean"])
def test_a_rule_without_a_second_proof_is_unknown(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the quotients round otherwise the second proof is that of the SMT-LIB text, which states how."""
    rule = f"rule a\n x - (x floordiv 4) * 4 in [0, 3] => always\n {clause}\n"
    assert check_rules_text(rule, "x.rules")[0].verdict is Verdict.PROVED
    assert check_rules_text(rule, "x.rules", cross=True)[0].verdict is Verdict.PROVED
    for name in ("z3", "cvc5", "z3 on SMT-LIB"):
        monkeypatch.setitem(ENGINES, name, _gives_up)
    found = check_rules_text(rule, "x.rules", cross=True)[0]
    assert found.verdict is Verdict.UNKNOWN and "no two engines" in str(found.reason)


def _gives_up(*_: object) -> None:
    raise GaveUp("asked to")


@pytest.mark.parametrize("engines", [("products at length",) * 2, ("z3", "z3 quickly")])
def test_one_encoder_counts_once(engines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the two proves it beside one of another encoder; they alone are one proof."""
    text = "rule a\n (2 * x + 1) mod 2 => 1\n"

    def asked(*names: str) -> Verdict:
        monkeypatch.setattr(crossing, "_ASKED", tuple((name, 3_000_000) for name in names))
        return check_rules_text(text, "x.rules", cross=True)[0].verdict

    assert {asked(name, "z3 on SMT-LIB") for name in engines} == {Verdict.PROVED}
    assert asked(*engines) is Verdict.UNKNOWN


def test_a_hint_is_proved_twice_before_it_is_used() -> None:
    (rule,) = parse_rules("rule a\n x + y => x when y >= 0 because y <= 0\n")
    assert "no two engines" in crossing.crossed(rule).left
    (rule,) = parse_rules("rule a\n x + y => x when y >= 0, y <= 0 because y <= 0\n")
    assert not crossing.crossed(rule).left


def test_a_second_statement_is_asked_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first statement that says too little is met by one written apart."""
    from dataclasses import replace

    from hloproof.claims.maps import equality
    from hloproof.claims.statements.relation import Piece

    text = (
        "  map (d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 9], s0 mod 4 in [0, 2]\n"
        "  same-relation (d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 9]\n"
    )
    whole = Piece.membership
    monkeypatch.setattr(equality, "difference", lambda m, others: None)
    monkeypatch.setattr(Piece, "membership", lambda self, *a: whole(replace(self, constraints=()), *a))
    (found,) = check_maps_text(f"map a\n{text}", "x.map", CROSS)
    assert found.verdict is Verdict.INTERNAL
    assert "refuted in another" in str(found.reason)


RUNTIME = (
    "{m} (d0){{rt0}} -> ({e}), domain: d0 in [0, 3], rt0 in [0, 9]\n    runtime variables:\n    rt0: parameter(1){i}\n"
)


@pytest.mark.parametrize(
    ("index", "after", "verdict"),
    [("", "1 + rt0", "proved"), ("; (d0) -> (d0), domain: d0 in [0, 3]", "1 + rt0", "proved"), ("", "rt0", "refuted")],
)
def test_what_is_read_is_stated_twice(index: str, after: str, verdict: str) -> None:
    text = "  " + RUNTIME.format(m="map", e="rt0 + 1", i=index) + "  " + RUNTIME.format(m="becomes", e=after, i=index)
    (found,) = check_maps_text(f"map a\n{text}", "x.map", CROSS)
    assert found.verdict.value == verdict, found.reason
