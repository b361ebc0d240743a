"""Names that are words of the grammar elsewhere: whatever the reader takes for a name, what is printed reads back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import RESERVED, may_name, parse_expr
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable, Variable, dim
from hloproof.models.maps.text import parse_map, print_map
from hloproof.models.rules.rule import ExpressionRule
from hloproof.models.rules.text import parse_rules
from hloproof.models.specs.layouts import parse_layouts

WORDS = (
    *("domain", "runtime", "variables", "replica", "id", "reading", "KNOWN", "EMPTY", "min", "max", "nothing", "sizes"),
    *("parameter", "constant", "operand", "reader", "rt", "rt0", "rt1", "d0", "d1", "s0", "s1", "true", "false", "inf"),
    *("is_simplified", "affine_map", "xla.indexing_map", "a.b", "_", "x.", "divides", "never", "always", "for", "gcd"),
    *("when", "compute", "with", "witness", "because", "from", "expect", "note", "rule", "division", "remainder"),
    *("map", "layout", "shape", "formula", "hlo", "becomes", "expect", "follow", "e1", "x0", "u0"),
)
ODD = st.sampled_from(WORDS) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,5}", fullmatch=True).filter(may_name)


@st.composite
def spelled(draw: st.DrawFn) -> str:
    names = draw(st.lists(ODD, min_size=6, max_size=6, unique=True))
    dims, ranges = names[: draw(st.integers(0, 2))], names[2 : 2 + draw(st.integers(0, 1))]
    runtime, inner = names[3 : 3 + draw(st.integers(0, 2))], names[5]
    every = [*dims, *ranges, *runtime]
    domain = [f"{n} in [0, {draw(st.integers(1, 5))}]" for n in every]
    if draw(st.booleans()) and every:
        domain.append(f"{every[0]} + 1 in [0, 3]")
    results = [" + ".join(every), f"min({every[-1]} mod 3, max({every[0]}, 1))"] if every else ["7"]
    head = f"({', '.join(dims)})" + (f"[{', '.join(ranges)}]" if ranges else "")
    head += f"{{{', '.join(runtime)}}}" if runtime else ""
    lines = [f"{head} -> ({', '.join(results)})" + (f", domain: {', '.join(domain)}" if domain else "")]
    own = [f"{n} in [0, 5]" for n in dims] if draw(st.booleans()) else []
    index = f"({', '.join(dims if own else [])})"
    behind = f", domain: {', '.join(own)}" if own else ""
    if runtime:
        lines.append("runtime variables:")
    for n in runtime:
        read = f"{index} -> (){behind}"
        if draw(st.booleans()):
            bounds = ", ".join([*own, f"{inner} in [0, 2]"])
            read = f"{index}{{{inner}}} -> ({inner}), domain: {bounds}; reading {{{inner} = parameter(2); {read}}}"
        lines.append(f"{n}: parameter(1)" + (f"; {read}" if draw(st.booleans()) else ""))
    return "\n".join(lines)


@settings(max_examples=300, deadline=None)
@given(spelled())
def test_a_map_that_is_read_is_printed_as_it_reads_back(text: str) -> None:
    m = parse_map(text)
    again = parse_map(print_map(m))
    assert again == m
    assert [v.name for _, v in again.variables()] == [v.name for _, v in m.variables()]


def test_a_runtime_variable_may_be_called_domain() -> None:
    text = (
        "(){d, domain} -> (d + domain), domain: d in [0, 3], domain in [0, 4]\nruntime variables:\n"
        "d: parameter(0); () -> ()\ndomain: parameter(1); () -> ()"
    )
    m = parse_map(text)
    assert print_map(m) == text
    assert [v.provider for v in m.runtime] == ["parameter(0)", "parameter(1)"]


@settings(max_examples=200, deadline=None)
@given(st.lists(ODD | st.sampled_from([*RESERVED, "a b", "1", "", "d-1", "a)"]), min_size=4, max_size=4))
def test_names_that_no_text_can_hold_are_not_printed(names: list[str]) -> None:
    """Maps are made by programs too, which may name variables alike, or by words of the grammar."""
    box = Interval(0, 3)
    m = IndexingMap(
        (Variable(box, names[0]), Variable(box, names[1])),
        (dim(0) + dim(1) * 2, dim(1)),
        (Variable(box, names[2]),),
        (RuntimeVariable(box, names[3], "parameter(0)"),),
    )
    assert parse_map(print_map(m)) == m
    inner = replace(m, replica=IndexingMap(m.dims, (dim(0),)))
    assert parse_map(print_map(inner)) == inner


@settings(max_examples=200, deadline=None)
@given(st.lists(ODD, min_size=3, max_size=3, unique=True))
def test_a_rule_says_the_same_in_other_names(names: list[str]) -> None:
    def rule(x: str, c: str, k: str) -> ExpressionRule:
        (found,) = parse_rules(
            f"rule a\n  ({x} * {c}) mod {k} => min({x}, {k}) + {c}\n  when {k} > 0, {c} >= {x}\n"
            f"  with {x}: expression, {c}: constant, {k}: constant\n"
        )
        assert isinstance(found, ExpressionRule)
        return found

    plain, odd = rule("x", "c", "k"), rule(*names)
    into = {a: Var(b) for a, b in zip(("x", "c", "k"), names, strict=True)}
    assert (odd.lhs, odd.rhs) == tuple(substitute(e, into) for e in (plain.lhs, plain.rhs))
    said = [(c.op, substitute(c.lhs, into), substitute(c.rhs, into)) for c in plain.conditions]
    assert [(c.op, c.lhs, c.rhs) for c in odd.conditions] == said


@settings(max_examples=100, deadline=None)
@given(st.lists(ODD, min_size=2, max_size=2, unique=True))
def test_a_formula_of_a_layout_may_use_any_name(names: list[str]) -> None:
    a, b = names
    formula = f"({a}, {b}) -> ({a} * 5 + {b}),\n    domain: {a} in [0, 2], {b} in [0, 4]"
    (spec,) = parse_layouts(f"layout a\n  shape f32[3,5]\n  formula {formula}\n")
    assert spec.formula == parse_map("(d0, d1) -> (d0 * 5 + d1), domain: d0 in [0, 2], d1 in [0, 4]")


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_words_that_stand_for_operators_name_nothing(word: str) -> None:
    with pytest.raises(InputError):
        parse_map(f"({word}) -> ({word}), domain: {word} in [0, 3]")
    with pytest.raises(InputError):
        parse_expr(f"{word} + 1")
