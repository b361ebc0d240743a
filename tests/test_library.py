"""`import hloproof` as a library: what its docstrings say is true, and every source is read."""

from __future__ import annotations

import doctest
import gzip
from importlib import import_module
from pathlib import Path

import pytest

import hloproof
from hloproof.results.errors import BadInput

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "specs" / "examples" / "attention.hlo"
TRANSPOSE = "ROOT r = f32[8,4] transpose(f32[4,8] p), dimensions={1,0}"


@pytest.mark.parametrize("name", ["reading", "maps", "layouts", "checking", "pairs"])
def test_the_examples_in_the_docstrings_are_true(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"hloproof.library.{name}"))
    assert not failed and tried


def test_every_public_name_is_there_with_a_docstring() -> None:
    for name in hloproof.__all__:
        assert getattr(hloproof, name).__doc__, name


class Lowered:
    """What `jax.jit(f).lower(x)` offers, as far as it is used."""

    def __init__(self, text: str) -> None:
        self.text = text

    def as_text(self, dialect: str = "stablehlo") -> str:
        return self.text if dialect == "hlo" else "module { func.func stablehlo.add }"

    def compile(self) -> None:
        raise AssertionError("nothing is compiled")


def test_a_module_is_read_from_text_file_gzip_and_jax(tmp_path: Path) -> None:
    packed = tmp_path / "m.hlo.gz"
    packed.write_bytes(gzip.compress(TRANSPOSE.encode()))
    plain = tmp_path / "m.hlo"
    plain.write_text(TRANSPOSE)
    for source in (TRANSPOSE, plain, str(plain), packed, Lowered(TRANSPOSE), hloproof.parse(TRANSPOSE)):
        assert hloproof.parse(source).entry.root.opcode == "transpose"


def test_what_could_not_be_read_is_not_proved(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.hlo", tmp_path / "bad.hlo"
    good.write_text(TRANSPOSE)
    bad.write_text("HloModule m\nENTRY e { ROOT p = f32[4] nothing() }\n")
    wrong = tmp_path / "wrong.rules"
    wrong.write_text("rule halves\n  x floordiv 2 => x floordiv 3\n")
    for given, verdict in (([good], "proved"), ([bad], "unknown"), ([good, bad], "unknown"), ([bad, wrong], "refuted")):
        found = hloproof.check(given)
        assert found.verdict == found.report.verdict == verdict and bool(found) is (verdict == "proved")
    found = hloproof.check(good)
    found.report.interrupted = True
    assert found.verdict == "unknown" and not found


def test_stablehlo_gets_an_answer_that_says_what_to_do() -> None:
    with pytest.raises(hloproof.InputError, match="dialect='hlo'"):
        hloproof.parse("module @m {\n func.func @main() { stablehlo.return }\n}")


def test_a_source_that_is_none_is_refused() -> None:
    with pytest.raises(hloproof.InputError, match="not int"):
        hloproof.parse(7)


def test_a_string_is_one_path() -> None:
    for source in (str(EXAMPLE), EXAMPLE, [EXAMPLE]):
        found = hloproof.check(source)
        assert found and str(found).startswith("184 proved")


def test_nothing_is_not_proved(tmp_path: Path) -> None:
    """What a pattern finds where no file is."""
    (tmp_path / "m.hlo").write_text(TRANSPOSE)
    assert hloproof.check(tmp_path.glob("*.hlo"))
    with pytest.raises(BadInput, match="no file or folder was given"):
        hloproof.check(tmp_path.glob("*.txt"))


@pytest.mark.parametrize(("said", "told"), [("direction", "output-to-input or"), ("layout", "logical or physical")])
def test_maps_of_no_direction_and_no_order_are_refused(said: str, told: str) -> None:
    """A name that nobody knows was taken for the other."""
    with pytest.raises(LookupError, match=f"{said} is {told}"):
        hloproof.maps(TRANSPOSE, **{said: "both"})  # type: ignore[arg-type]


def test_text_that_is_no_module_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(hloproof.InputError, match="unknown opcode 'negat'"):
        hloproof.check("HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negat(p)\n}\n")


def test_inclusion_has_a_witness() -> None:
    row, all_of_it = "(d0) -> (d0, 0), domain: d0 in [0, 3]", "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 4]"
    assert hloproof.included(row, all_of_it)
    back = hloproof.included(all_of_it, row)
    assert back.verdict == "refuted" and back.counterexample


WAY = """(d0)[s0]{{rt0}} -> (d0), domain: d0 in [0, 3], s0 in [0, 3], rt0 in [0, 2]
runtime variables: rt0: a; (d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3]
replica id: (d0)[s0]{{rt0}} -> (s0), domain: d0 in [0, 3], {}"""
NOWHERE_LESS = "s0 in [0, 3], rt0 in [0, 2]"


@pytest.mark.parametrize(
    "less",
    [
        "s0 in [0, 1], rt0 in [0, 2]",
        "s0 in [1, 3], rt0 in [0, 2]",
        "s0 in [0, 3], rt0 in [0, 1]",
        f"{NOWHERE_LESS}, s0 mod 2 in [0, 0]",
        f"{NOWHERE_LESS}, d0 + s0 in [0, 5]",
    ],
)
def test_inclusion_counts_where_steps_between_devices_lead_nowhere(less: str) -> None:
    """Their own domain was not looked at: all of a map lay in a part of it."""
    part, whole = WAY.format(less), WAY.format(NOWHERE_LESS)
    assert hloproof.included(part, whole) and hloproof.included(part, part) and hloproof.included(whole, whole)
    assert hloproof.included(whole, part).verdict == "refuted"
    assert hloproof.equal(whole, part).verdict == "refuted"


def test_steps_to_no_device_are_as_many_as_none() -> None:
    """A list of steps without one, beside a map that has no such list, ended with an internal error."""
    whole, part = (f"(d0) -> (d0), domain: d0 in [0, {last}]" for last in (3, 2))
    empty = f"{whole}\nreplica id: (d0) -> (), domain: d0 in [0, 2]"
    assert hloproof.included(empty, whole) and hloproof.included(part, empty) and hloproof.included(empty, part)
    assert hloproof.included(whole, empty).verdict == "refuted"


UNSAID = "(d0)[s0]{{a, b}} -> ({}), domain: d0 in [0, 1], s0 in [0, {}], a in [0, 3], b in [{}, 3], b mod 2 in [0, 0]"
SAID = "\nruntime variables: a: x; (d0) -> (d0), domain: d0 in [0, 1]\nb: y; (d0) -> (d0), domain: d0 in [0, 1]"


@pytest.mark.parametrize(
    ("inner", "outer", "said"), [(("a", 0, 0), ("b + s0", 1, 0), "refuted"), (("s0", 0, 0), ("s0", 1, 2), "proved")]
)
def test_inclusion_knows_no_variable_of_which_nothing_is_said(
    inner: tuple[str, int, int], outer: tuple[str, int, int], said: str
) -> None:
    """One value stood for all of them, and was cut to an interval that is part of the domain."""
    one, two = UNSAID.format(*inner), UNSAID.format(*outer)
    assert hloproof.included(one, one) and hloproof.equal(one, two).verdict == "refuted"
    assert hloproof.included(one, two).verdict == "unknown"
    assert hloproof.included(one + SAID, two + SAID).verdict == said


def test_a_pair_of_both_maps_is_not_outside() -> None:
    """What is read chooses among the pairs of the outer map; a point where they part lies in that one."""
    box = "d0 in [0, 3], s0 in [0, 1]"
    read = f"(d0)[s0]{{rt0}} -> (rt0), domain: {box}, rt0 in [0, 2]\nruntime variables:\n"
    read += f"rt0: a; (d0)[s0] -> (s0), domain: {box}"
    for last, said in ((2, "unknown"), (0, "refuted")):
        assert hloproof.included(read, f"(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, {last}]").verdict == said


@pytest.mark.parametrize(
    ("inner", "outer", "by_the_formula"),
    [("d0 mod -3", "s0 + -2", "not otherwise"), ("d0 mod -3", "s0", "not otherwise"), ("d0 mod 3", "s0", "")],
)
def test_inclusion_reads_remainders_in_both_ways(inner: str, outer: str, by_the_formula: str) -> None:
    box = "domain: d0 in [0, 9], s0 in [0, 2]"
    found = hloproof.included(*(f"(d0)[s0] -> ({e}), {box}" for e in (inner, outer)))
    assert found.verdict == ("unknown" if by_the_formula else "proved")
    assert by_the_formula in (found.reason or "")


def test_inclusion_knows_that_constants_hold_no_other_contents() -> None:
    box = "domain: d0 in [0, 1]"
    own, read = f"(d0) -> (d0), {box}", f"(d0){{{{a}}}} -> (a), {box}, a in [0, 1]\na: {{}}; (d0) -> (d0), {box}"
    read = read.replace("\n", "\nruntime variables: ")
    assert hloproof.included(read.format("constant({0, 1})"), own).verdict == "unknown"
    assert hloproof.included(read.format("x"), own).verdict == "refuted"
    assert hloproof.included(own, read.format("constant({0, 1})")).verdict == "unknown"
    assert hloproof.included(own, read.format("x")).verdict == "refuted"


@pytest.mark.parametrize(
    "other", ["(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 0]", "(d0) -> (d0, 0), domain: d0 in [0, 1]"]
)
def test_what_cannot_be_compared_lies_in_nothing(other: str) -> None:
    own, nothing = (f"(d0) -> (d0), domain: d0 in [0, {last}]" for last in (1, -1))
    for maps in ((own, other), (other, own)):
        with pytest.raises(hloproof.InputError, match="the maps cannot be compared"):
            hloproof.included(*maps)
    assert hloproof.included(nothing, other)
    assert hloproof.included(other, nothing).verdict == "unknown"


def test_results_draw_themselves() -> None:
    assert "<svg" in (hloproof.layout("f32[3,5]{1,0:T(2,4)}")._repr_svg_() or "")
    assert "<pre>" in hloproof.maps(TRANSPOSE)._repr_html_()
    assert "proved" in hloproof.check(TRANSPOSE)._repr_html_()
    assert "<ol>" in hloproof.simplify("(d0) -> (d0 + 0), domain: d0 in [0, 3]")._repr_html_()


def test_two_modules_are_compared() -> None:
    same = hloproof.equivalent(TRANSPOSE, TRANSPOSE)
    assert same and same.tier == "exact" and "proved" in repr(same)
    before = "HloModule m\nENTRY e {\n  p = s32[6] parameter(0)\n  ROOT r = s32[4] slice(p), slice={[1:5]}\n}"
    other = hloproof.equivalent(before, before.replace("[1:5]", "[2:6]"))
    assert other.verdict == "refuted" and other.inputs and other.tier is None
    assert "<pre>" in other._repr_html_() and "refuted" in repr(other)


def test_a_memory_plan_is_judged_and_drawn(tmp_path: Path) -> None:
    from memory_cases import CHAIN, CHAIN_PLAN, changed

    spoiled = changed(CHAIN_PLAN, "<4 y @0> (size=128,offset=128)", "<4 y @0> (size=128,offset=64)")
    assert hloproof.memory_plan(CHAIN, CHAIN_PLAN)
    (tmp_path / "m.txt").write_text(CHAIN)
    with pytest.raises(hloproof.InputError, match="none lies beside"):
        hloproof.memory_plan(tmp_path / "m.txt")
    (tmp_path / "m-buffer-assignment.txt").write_text(spoiled)
    found = hloproof.memory_plan(tmp_path / "m.txt")
    assert found.verdict == "refuted" and "plan-interference" in str(found)
    assert "#c0392b" in (found._repr_svg_() or "")


NOTEBOOK = f"""
import hloproof
module = hloproof.parse({str(EXAMPLE)!r})
module.entry.root.opcode
hloproof.maps(module)
hloproof.simplify("(d0) -> ((d0 * 4 + 3) / 4), domain: d0 in [0, 9]")
hloproof.equal("(d0) -> (d0 mod 4), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 3]")
hloproof.layout("f32[3,5]{{1,0:T(2,4)}}", (2, 4))
hloproof.check({str(EXAMPLE)!r})
hloproof.equivalent(module, module)
"""


def test_a_notebook_runs_and_shows_each_of_its_cells() -> None:
    """Each line is a cell; what it gives is shown as notebooks do: as a picture, as HTML, else in words."""
    names: dict[str, object] = {}
    shown = []
    for cell in NOTEBOOK.strip().splitlines():
        if cell.startswith(("import", "module =")):
            exec(cell, names)
            continue
        given = eval(cell, names)
        ways = (getattr(given, way)() for way in ("_repr_svg_", "_repr_html_") if hasattr(given, way))
        shown.append(next(filter(None, ways), repr(given)))
    assert len(shown) == 7 and all(shown)
    assert "<svg" in shown[4] and "184 proved" in shown[5] and "proved" in shown[6] and "proved" in shown[3]


def test_text_on_one_long_line_is_no_path() -> None:
    assert hloproof.check(TRANSPOSE + ', metadata={op_name="' + "x" * 5000 + '"}')


WITHOUT_A_VALUE = "(d0) -> (d0 + 0 * (4 floordiv d0)), domain: d0 in [{}, 3]"


@pytest.mark.parametrize("other", ["(d0) -> (d0), domain: d0 in [0, 3]", WITHOUT_A_VALUE.format(0)])
def test_what_has_no_value_lies_in_nothing(other: str) -> None:
    """Written alike or not: a division by zero is an error, told as that of `equal` is."""
    for maps in ((WITHOUT_A_VALUE.format(0), other), (other, WITHOUT_A_VALUE.format(0))):
        with pytest.raises(hloproof.InputError, match="division by zero"):
            hloproof.included(*maps)
    assert hloproof.included(WITHOUT_A_VALUE.format(1), "(d0) -> (d0), domain: d0 in [0, 3]")


def test_what_reads_nothing_lies_in_nothing_known() -> None:
    read = "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 5]\nruntime variables: rt0: parameter(1); "
    other = read + "(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 3]"
    fine = read + "(d0) -> (d0), domain: d0 in [0, 3]"
    assert hloproof.included(other, other).verdict.value == "unknown"
    assert hloproof.included(fine, fine).verdict.value == "proved"
