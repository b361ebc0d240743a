"""What a map spec says of elements whose place is read at run time: which value is read, what it can hold, whether it
is there. Each claim that was judged wrongly stands beside its twin."""

from __future__ import annotations

import pytest
from claimed_in_modules import ADD, checked, indented
from spec_texts import check_maps_text

from hloproof.engines.door import HOW, How
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module

GATHERED = (
    "x = f32[{},3] parameter(0)\ni = u8[2,1] parameter(1)\nROOT r = f32[2,2,3] gather(x, i), offset_dims={{1,2}}, "
    "collapsed_slice_dims={{}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{2,3}}"
)
BYTES = (
    "output-to-input 0 (d0, d1, d2){{rt0}} -> (rt0 + d1, d2), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 2], "
    "rt0 in [{}]\n    runtime variables:\n"
    "    rt0: operand(1); (d0, d1, d2) -> (d0, 0), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 2]"
)


@pytest.mark.parametrize(
    ("size", "interval", "verdict"),
    [
        *((4, i, "proved") for i in ("0, 2", "-1, 2")),
        *((4, i, "refuted") for i in ("0, 1", "0, 3", "1, 2")),
        *((300, i, "proved") for i in ("0, 298", "0, 255", "-5, 999")),
        *((300, i, "refuted") for i in ("0, 254", "1, 298")),
    ],
)
def test_a_value_is_one_that_its_type_can_hold(size: int, interval: str, verdict: str) -> None:
    """A byte is never -1 and never 256, so that where it is cut there says nothing."""
    found = checked(GATHERED.format(size), BYTES.format(interval))
    assert found.verdict.value == verdict
    if verdict == "proved":
        assert checked(GATHERED.format(size), BYTES.format(interval), how=How(cross=True)).verdict.value == verdict


FOLLOWED = (
    "x = f32[{0}] parameter(0)\ni = u8[] parameter(1)\nj = u8[] negate(i)\n"
    "ROOT r = f32[3] dynamic-slice(x, {1}), dynamic_slice_sizes={{3}}"
)
FROM_BYTE = (
    "output-to-input 0 (d0){{rt0}} -> (d0 + {1}), domain: d0 in [0, 2], rt0 in [{0}]\n    runtime variables:\n"
    "    rt0: {2}; (d0) -> (), domain: d0 in [0, 2]"
)


@pytest.mark.parametrize("provider", ["parameter(1)", "j"])
@pytest.mark.parametrize(
    ("size", "interval", "start", "verdict"),
    [
        *((8, i, "rt0", "proved") for i in ("0, 5", "-3, 5")),
        (8, "-3, 5", "rt0 * 5 floordiv (rt0 + 1) * 0 + rt0", "proved"),
        *((8, i, "rt0", "refuted") for i in ("1, 5", "0, 4", "0, 6")),
        (8, "-3, 5", "rt0 * 5 floordiv rt0 * 0 + rt0", "refuted"),
        *((400, i, "rt0", "proved") for i in ("0, 397", "0, 255", "-1, 999")),
        *((400, i, "rt0", "refuted") for i in ("0, 254", "1, 397")),
    ],
)
def test_a_value_that_is_followed_is_one_that_its_type_can_hold(
    size: int, interval: str, start: str, verdict: str, provider: str
) -> None:
    module = FOLLOWED.format(size, "i" if provider.startswith("p") else provider)
    claim = FROM_BYTE.format(interval, start, provider)
    found = checked(module, "follow", claim)
    assert found.verdict.value == verdict
    if verdict == "proved" and start == "rt0":
        assert checked(module, "follow", claim, how=How(cross=True)).verdict.value == verdict


CALLED = """f {{
  p = f32[8] parameter(0)
  i = s32[] parameter(1)
  {0} = s32[] negate(i)
  ROOT r = f32[2] dynamic-slice(p, {0}), dynamic_slice_sizes={{2}}
}}"""
CALLS = """x = f32[8] parameter(0)
i = s32[] parameter(1)
j = s32[] parameter(2)
{0} = s32[] add(i, j)
a = f32[2] call(x, i), to_apply=f
b = f32[2] call(x, {1}), to_apply=f
ROOT r = f32[2] add(a, b)"""
AT_NAMED = (
    "output-to-input 0 (d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, {1}]\n    runtime variables:\n"
    "    rt0: {0}; (d0) -> (), domain: d0 in [0, 1]"
)
SLICED_AT = (
    "x = f32[8] parameter(0)\ni = s32[] parameter(1)\n{0} = s32[] negate(i)\n"
    "ROOT r = f32[2] dynamic-slice(x, {0}), dynamic_slice_sizes={{2}}"
)


@pytest.mark.parametrize("name", ["k", "reader", "reader.1"])
def test_an_instruction_may_have_any_name(name: str) -> None:
    """An instruction that is called as the reader's own place is, or begins so, is none."""
    provider = "%reader" if name == "reader" else name
    sliced = SLICED_AT.format(name)
    for interval, verdict in (("6", "proved"), ("9", "refuted"), ("5", "refuted")):
        for clauses in (["follow"], []):
            claim = AT_NAMED.format(provider, interval)
            assert checked(sliced, *clauses, claim).verdict.value == verdict, (interval, clauses)
            assert checked(sliced, *clauses, claim, how=How(cross=True)).verdict.value == verdict
    if name == "reader":
        assert checked(sliced, "follow", AT_NAMED.format("reader", "9")).verdict.value == "unknown"
    # Two calls with two starts read at two places; that one of them is not the other is not said.
    calls, body = CALLS.format(name, "j"), CALLED.format(name)
    both = [AT_NAMED.format(f"{site}/{provider}", "6") for site in "ab"]
    assert checked(calls, "follow", *both, bodies=body).verdict.value == "proved"
    for one in both:
        assert checked(calls, "follow", one, bodies=body).verdict.value == "unknown"
    assert checked(calls, "follow", AT_NAMED.format(provider, "6"), bodies=body).verdict.value == "unknown"


LEFT_OUT = (
    "x = f32[8] parameter(0)\nc = s32[4,1] constant({0})\nd = s32[4,1] constant({0})\n"
    "a = f32[4] gather(x, c), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
    "slice_sizes={{1}}\n"
    "b = f32[4] gather(x, {1}), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
    "index_vector_dim=1, slice_sizes={{1}}\nROOT r = f32[4] add(a, b)"
)


@pytest.mark.parametrize(
    ("literal", "verdict"), [("{{0},{1},{2},{3}}", "proved"), ("{...}", "unknown")], ids=["written", "left out"]
)
def test_two_constants_whose_numbers_are_left_out_need_not_be_equal(literal: str, verdict: str) -> None:
    two, one = (LEFT_OUT.format(literal, index) for index in "dc")
    text = f"map a\n  hlo\n{indented(two)}  hlo-after\n{indented(one)}"
    (found,) = check_maps_text(text, "x.map")
    assert found.verdict.value == verdict
    read = "output-to-input 0 (d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 7]\n    runtime variables:\n"
    if literal == "{...}":
        claim = f"{read}    rt0: c; (d0) -> (d0, 0), domain: d0 in [0, 3]"
        assert checked(two, "follow", claim).verdict.value == "unknown"
        assert checked(one, "follow", claim).verdict.value == "proved"


def test_a_gather_of_slices_without_an_element_is_not_modelled() -> None:
    """XLA takes slices of no element along a dimension that is left out; at the last start there is nothing to read."""
    told = checked(
        GATHERED.replace("{{2,3}}", "{{0,3}}")
        .replace("={{}}", "={{0}}")
        .replace("[2,2,3]", "[2,3]")
        .replace("{{1,2}}", "{{1}}")
        .format(4),
        "output-to-input 0 nothing",
    ).found
    assert (told.verdict.value, "fit" in (told.reason or "")) == ("unknown", True)
    text = (
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  i = s32[1] parameter(1)\n  ROOT r = f32[] gather(x, i), "
        "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={0}\n}"
    )
    with pytest.raises(NotModelled, match="no element"):
        run_module(parse_module(text), [[1.0, 2.0, 3.0, 4.0], [4]])


FIXED = "x = f32[10] parameter(0)\n{}\nROOT r = f32[4] dynamic-slice(x, {}), dynamic_slice_sizes={{4}}"
AT_3 = "output-to-input 0 (d0) -> (d0 + {}), domain: d0 in [0, 3]"


@pytest.mark.parametrize(
    ("start", "name", "clauses", "verdict"),
    [
        ("c = s32[] constant(3)", "c", (AT_3.format(3),), "unknown"),
        ("c = s32[] constant(3)", "c", ("follow", AT_3.format(3)), "proved"),
        ("c = s32[] constant(3)", "c", ("follow", AT_3.format(4)), "refuted"),
        ("a = s32[] constant(1)\nb = s32[] add(a, a)", "b", (AT_3.format(2),), "unknown"),
        ("a = s32[] constant(1)\nb = s32[] add(a, a)", "b", ("follow", AT_3.format(2)), "unknown"),
        (
            "a = s32[] constant(1)\np = s32[] parameter(1)\nb = s32[] add(a, p)",
            "b",
            ("follow", AT_3.format(2)),
            "refuted",
        ),
        ("c = s32[] parameter(1)", "c", (AT_3.format(3),), "refuted"),
        ("a = s32[] constant(1)\np = s32[] parameter(1)\nb = s32[] add(a, p)", "b", (AT_3.format(3),), "refuted"),
    ],
)
def test_not_all_contents_are_thought_of_where_they_follow_from_constants(
    start: str, name: str, clauses: tuple[str, ...], verdict: str
) -> None:
    """A claim of one operation is about any start; where the start is known it may be right for that one."""
    assert checked(FIXED.format(start, name), *clauses).verdict == verdict


PLACED = "i = s32[4] parameter(1)\ns = s32[1] slice(i), slice={[2:3]}\nk = s32[] reshape(s)"
READ_AT = (
    "output-to-input 0 (d0){{rt0}} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, {}]\n    runtime variables:\n"
    "    rt0: {}, domain: d0 in [0, 3]"
)


@pytest.mark.parametrize(
    ("start", "most", "read", "verdict"),
    [
        (PLACED, 6, "k; (d0) -> ()", "proved"),
        (PLACED, 5, "k; (d0) -> ()", "refuted"),
        (PLACED, 6, "s; (d0) -> (0)", "unknown"),
        (PLACED, 6, "parameter(1); (d0) -> (2)", "unknown"),
        (PLACED, 6, "parameter(1); (d0) -> (3)", "unknown"),
        ("k = s32[] parameter(1)", 6, "parameter(1); (d0) -> ()", "proved"),
        ("k = s32[] parameter(1)\nj = s32[] parameter(2)", 6, "parameter(2); (d0) -> ()", "refuted"),
        ("k = s32[] constant(3)", 6, "constant(3); (d0) -> ()", "unknown"),
    ],
)
def test_one_value_that_is_read_may_have_two_names(start: str, most: int, read: str, verdict: str) -> None:
    """A difference for contents that cannot be was told: of k, which is an element of i, another value than of that."""
    assert checked(FIXED.format(start, "k"), "follow", READ_AT.format(most, read)).verdict == verdict


TWO_AT = "output-to-input 0 (d0, d1){{a, b}} -> (d0 + a, d1 + b), domain: d0 in [0, 3], d1 in [0, 3], a in [0, 4], "
TWO_AT += "b in [0, {2}]\n    runtime variables:\n    a: {0}; {1}\n    b: {3}; {1}"
TWO_SCALARS = "(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 3]"


@pytest.mark.parametrize(
    ("made", "starts", "read", "most", "verdict"),
    [
        ("k = s32[] copy(j)", "j, k", ("parameter(1)", "k"), 4, "proved"),
        ("k = s32[] copy(j)", "j, k", ("parameter(1)", "parameter(1)"), 4, "unknown"),
        ("k = s32[] copy(j)", "j, k", ("k", "parameter(1)"), 4, "unknown"),
        ("k = s32[] negate(j)", "j, k", ("k", "parameter(1)"), 4, "unknown"),
        ("k = s32[] copy(j)\nl = s32[] copy(j)", "k, l", ("k", "k"), 4, "unknown"),
        ("k = s32[] copy(j)\nl = s32[] copy(j)", "k, l", ("l", "k"), 4, "unknown"),
        ("k = s32[] parameter(2)", "j, k", ("parameter(2)", "parameter(1)"), 4, "refuted"),
        # What is computed may be no number that a wider or a narrower interval tells apart.
        ("c = s32[] constant(3)\nk = s32[] and(j, c)", "k, k", ("k", "k"), 4, "proved"),
        ("c = s32[] constant(3)\nk = s32[] and(j, c)", "k, k", ("k", "k"), 3, "unknown"),
        ("c = s32[] constant(3)\nk = s32[] and(j, c)", "k, k", ("k", "k"), 5, "unknown"),
        ("c = s32[] constant(3)\nk = s32[] subtract(c, j)", "k, k", ("k", "k"), 3, "refuted"),
        # Of an operand nobody says which of the names it has; and what was rounded on the way is not any number.
        ("k = s32[] parameter(2)", "j, k", ("operand(1)", "operand(2)"), 4, "unknown"),
        ("i = f32[] parameter(2)\nk = s32[] bitcast(i)", "k, k", ("k", "k"), 3, "unknown"),
        (
            "i = f32[] bitcast(j)\nc = f32[] constant(1)\nl = f32[] add(i, c)\nk = s32[] bitcast(l)",
            "k, k",
            ("k", "k"),
            3,
            "unknown",
        ),
        (
            "i = f32[] parameter(2)\nc = f32[] constant(1)\nl = f32[] add(i, c)\nk = s32[] bitcast(l)",
            "k, k",
            ("k", "k"),
            3,
            "unknown",
        ),
    ],
)
def test_what_is_followed_is_read_by_values_that_can_be(
    made: str, starts: str, read: tuple[str, str], most: int, verdict: str
) -> None:
    """Two names of one value were given two, where each side had both or one had all of the other's; and a computed
    value one that it never has."""
    body = f"x = f32[8,8] parameter(0)\nj = s32[] parameter(1)\n{made}\n"
    body += f"ROOT r = f32[4,4] dynamic-slice(x, {starts}), dynamic_slice_sizes={{4,4}}"
    assert checked(body, "follow", TWO_AT.format(read[0], TWO_SCALARS, most, read[1])).verdict == verdict


TWO_NAMES = "f { y = f32[8] parameter(0)\n j = s32[] parameter(1)\n c = s32[] constant(3)\n k = s32[] and(j, c)\n "
TWO_NAMES += "ROOT s = f32[2] dynamic-slice(y, k), dynamic_slice_sizes={2} }"


@pytest.mark.parametrize("call", ["call(x, {0}), to_apply=f", "fusion(x, {0}), kind=kLoop, calls=f"])
@pytest.mark.parametrize(("name", "most", "verdict"), [("k", 6, "proved"), ("k", 5, "unknown"), ("i", 5, "unknown")])
def test_what_is_read_may_have_the_name_of_a_parameter_elsewhere(call: str, name: str, most: int, verdict: str) -> None:
    """Of the parameter, which is any number, it was thought, and not of what the body computes."""
    given = f"x = f32[8] parameter(0)\n{name} = s32[] parameter(1)\nROOT r = f32[2] {call.format(name)}"
    assert checked(given, "follow", AT_NAMED.format("k", most), bodies=TWO_NAMES).verdict.value == verdict


def test_what_is_added_to_truth_is_no_whole_number() -> None:
    text = "x = f32[2] parameter(0)\np = pred[] parameter(1)\nc = pred[] constant(true)\nk = pred[] add(p, c)\n"
    text += "ROOT r = f32[2] negate(x)"
    said = "(d0){rt0} -> (d0 + rt0 - 1), domain: d0 in [0, 1], rt0 in [0, 1]\n    runtime variables:\n"
    said += "    rt0: k; (d0) -> (), domain: d0 in [0, 1]"
    assert checked(text, "follow", f"output-to-input 0 {said}").verdict.value == "unknown"


def test_what_is_twice_another_value_is_even() -> None:
    """Where it is odd the maps differ, and it never is."""
    body = "x = f32[4] parameter(0)\ni = s32[] parameter(1)\nj = s32[] add(i, {})\n"
    body += "ROOT r = f32[2] dynamic-slice(x, j), dynamic_slice_sizes={{2}}"
    even = AT_NAMED.format("j", "2").replace("d0 + rt0", "d0 + (rt0 floordiv 2) * 2")
    assert checked(body.format("i"), "follow", even).verdict.value == "unknown"
    assert checked("c = s32[] constant(1)\n" + body.format("c"), "follow", even).verdict.value == "refuted"


@pytest.mark.parametrize(
    "made", ["k = s32[2] broadcast(i), dimensions={}", "m = s32[2] broadcast(i), dimensions={}\nk = s32[2] negate(m)"]
)
def test_what_is_one_element_many_times_is_one_value(made: str) -> None:
    said = "output-to-input 0 (d0){rt0, rt1} -> (d0 + rt0 - rt1), domain: d0 in [0, 2], rt0 in [0, 1], rt1 in [0, 1]"
    said += "\n    runtime variables:\n    rt0: k; (d0) -> (0), domain: d0 in [0, 2]"
    said += "\n    rt1: k; (d0) -> (1), domain: d0 in [0, 2]"
    body = f"x = f32[3] parameter(0)\ni = s32[] parameter(1)\n{made}\nROOT r = f32[3] negate(x)"
    assert checked(body, "follow", said).verdict.value == "unknown"
    other = "x = f32[3] parameter(0)\nk = s32[2] parameter(1)\nROOT r = f32[3] negate(x)"
    assert checked(other, "follow", said).verdict.value == "refuted"


def test_what_is_multiplied_may_not_be_any_number() -> None:
    body = "x = f32[4] parameter(0)\ni = s32[] parameter(1)\nc = s32[] constant(2)\nj = s32[] {}(i, c)\n"
    body += "ROOT r = f32[2] dynamic-slice(x, j), dynamic_slice_sizes={{2}}"
    even = AT_NAMED.format("j", "2").replace("d0 + rt0", "d0 + (rt0 floordiv 2) * 2")
    assert checked(body.format("multiply"), "follow", even).verdict.value == "unknown"
    assert checked(body.format("subtract"), "follow", even).verdict.value == "refuted"


ONE_CALL = "f { y = f32[8] parameter(0)\n j = s32[] parameter(1)\n k = s32[] negate(j)\n "
ONE_CALL += "ROOT s = f32[2] dynamic-slice(y, k), dynamic_slice_sizes={2} }"


@pytest.mark.parametrize(("most", "verdict"), [("6", "proved"), ("5", "unknown")])
def test_what_a_body_computes_is_made_of_what_it_is_given(most: str, verdict: str) -> None:
    """Of a parameter of the body anything was thought, and it is given 0 to 3."""
    given = "x = f32[8] parameter(0)\ni = s32[] parameter(1)\nc = s32[] constant(3)\nj = s32[] and(i, c)\n"
    given += "ROOT r = f32[2] call(x, j), to_apply=f"
    assert checked(given, "follow", AT_NAMED.format("k", most), bodies=ONE_CALL).verdict == verdict


FOUR_AT = "x = f32[8] parameter(0)\ni = s32[4,1] parameter(1)\nROOT r = f32[4] gather(x, i), offset_dims={}, "
FOUR_AT += "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
IN_TURN = "; reading {a = operand(1); (d0) -> (d0, 0), domain: d0 in [0, 3]}"


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        ("(d0) -> (d0, 0), domain: d0 in [0, 3]", "proved"),
        ("(d0) -> (d0, 0), domain: d0 in [0, 3]; replica id: (d0) -> (1), domain: d0 in [0, 3]", "unknown"),
        (f"(d0){{a}} -> (d0, 0), domain: d0 in [0, 3], a in [0, 3]{IN_TURN}", "proved"),
        (f"(d0){{a}} -> (d0 + a * 0, 0), domain: d0 in [0, 3], a in [0, 3]{IN_TURN}", "unknown"),
        (f"(d0){{a}} -> (d0, a), domain: d0 in [0, 3], a in [0, 0]{IN_TURN}", "unknown"),
        ("(d0) -> (3 - d0, 0), domain: d0 in [0, 3]", "refuted"),
    ],
)
def test_an_operation_reads_its_own_array_at_once(read: str, verdict: str) -> None:
    """On another device was proved, and by way of another reading refuted, or an internal error."""
    claim = "output-to-input 0 (d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 7]\n    runtime variables:\n"
    found = checked(FOUR_AT, f"{claim}    rt0: operand(1); {read}")
    assert found.verdict == verdict
    assert verdict != "unknown" or "or by way of another reading" in (found.found.reason or "")


TWICE = (
    "x = f32[9,9] parameter(0)\ni = s32[] parameter(1)\nj = s32[] parameter(2)\n"
    "ROOT r = f32[4,4] dynamic-slice(x, {}), dynamic_slice_sizes={{4,4}}"
)
ONE_START = (
    "output-to-input 0 (d0, d1){rt0} -> (d0 + rt0, d1 + rt0), domain: d0 in [0, 3], d1 in [0, 3], rt0 in [0, 5]\n"
    "    runtime variables:\n    rt0: operand(1); (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 3]"
)


@pytest.mark.parametrize(("starts", "verdict"), [("i, i", "unknown"), ("i, j", "refuted")])
def test_one_array_that_is_two_operands_holds_one_value(starts: str, verdict: str) -> None:
    """The definition has a value for each operand; where both are one array, maps may rely on that."""
    assert checked(TWICE.format(starts), ONE_START).verdict == verdict


WHOLE_LINES = (
    "x = f32[3,3] parameter(0)\ni = s32[2] parameter(1)\nROOT r = f32[3] gather(x, i), offset_dims={0}, "
    "collapsed_slice_dims={1}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={3,1}"
)
OF_WHOLE_LINES = (
    "output-to-input 0 (d0){{rt0, rt1}} -> (d0 + rt1, rt0), domain: d0 in [0, 2], rt0 in [0, 2], rt1 in [0, {1}]\n"
    "    runtime variables:\n    rt0: operand(1); (d0) -> (0), domain: d0 in [0, 2]\n"
    "    rt1: operand(1); (d0) -> ({0}), domain: d0 in [0, 2]"
)


@pytest.mark.parametrize(
    ("element", "last", "verdict"),
    [("1", 0, "proved"), ("0", 0, "proved"), ("2", 0, "refuted"), ("1", 1, "refuted"), ("0", 1, "unknown")],
)
def test_what_is_cut_to_one_value_may_be_read_anywhere(element: str, last: int, verdict: str) -> None:
    """A slice of the whole dimension starts at 0 whatever the indices hold; but there has to be such an element."""
    found = checked(WHOLE_LINES, OF_WHOLE_LINES.format(element, last))
    assert found.verdict.value == verdict
    assert checked(WHOLE_LINES, OF_WHOLE_LINES.format(element, last), how=How(cross=True)).verdict.value == verdict


# --- what is read at run time has to be there ---------------------------------------------------------------------

SLICED_BY = (
    "x = f32[6] parameter(0)\ni = s32[] parameter(1)\nROOT r = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}"
)
READ_TWICE = (
    "output-to-input 0 (d0){{rt0, rt1}} -> ({0}), domain: d0 in [0, 3], rt0 in [{1}], rt1 in [{2}]\n"
    "    runtime variables:\n    rt0: parameter(1); (d0) -> (), domain: d0 in [0, 3]\n"
    "    rt1: parameter(1); (d0) -> (), domain: d0 in [0, 3]"
)


@pytest.mark.parametrize(
    ("result", "one", "two", "verdict"),
    [
        ("d0 + rt0", "0, 2", "0, 2", "proved"),
        ("d0 + rt0", "0, 2", "0, 1", "unknown"),
        ("d0 + max(rt0, rt1)", "0, 2", "0, 1", "unknown"),
        ("d0 + rt0 + rt1 - 1", "0, 1", "1, 2", "unknown"),
        ("d0 + rt0", "0, 1", "0, 1", "refuted"),
    ],
)
def test_one_element_may_be_cut_to_two_intervals(result: str, one: str, two: str, verdict: str) -> None:
    """The narrower one was taken for what the operation reads as well."""
    said = READ_TWICE.format(result, one, two)
    for how in (HOW, How(cross=True)):
        assert checked(SLICED_BY, said, how=how).verdict.value == verdict
    assert checked(SLICED_BY, "follow", said).verdict.value == ("refuted" if verdict == "refuted" else "proved")


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        ("parameter(1); (d0) -> (1), domain: d0 in [0, 2]", "proved"),
        ("parameter(1); (d0) -> (d0 floordiv 2), domain: d0 in [0, 2]", "proved"),
        ("parameter(1); (d0) -> (2), domain: d0 in [0, 2]", "unknown"),
        ("parameter(1); (d0) -> (-1), domain: d0 in [0, 2]", "unknown"),
        ("parameter(1); (d0) -> (d0), domain: d0 in [0, 2]", "unknown"),
        ("parameter(1); (d0) -> (0, 0), domain: d0 in [0, 2]", "unknown"),
        ("parameter(7); (d0) -> (0), domain: d0 in [0, 2]", "unknown"),
        ("nosuch; (d0) -> (0), domain: d0 in [0, 2]", "unknown"),
        (
            "parameter(1); (d0){a} -> (a), domain: d0 in [0, 2], a in [0, 9]; reading {a = parameter(1); (d0) -> (0), "
            "domain: d0 in [0, 2]}",
            "unknown",
        ),
        ("sizes(x); (d0) -> (1), domain: d0 in [0, 2]", "proved"),
        ("sizes(x); (d0) -> (2), domain: d0 in [0, 2]", "unknown"),
    ],
)
def test_what_is_followed_reads_elements_that_there_are(read: str, verdict: str) -> None:
    said = (
        OF_WHOLE_LINES.format("1", 0).partition("    rt1")[0].replace("operand(1)", "parameter(1)") + f"    rt1: {read}"
    )
    found = checked(WHOLE_LINES, "follow", said)
    assert found.verdict.value == verdict, found.found


@pytest.mark.parametrize(("most", "verdict"), [("9", "unknown"), ("1", "unknown")])
def test_whether_there_is_an_element_that_another_names_is_not_known(most: str, verdict: str) -> None:
    said = "output-to-input 0 (d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 2], rt0 in [0, 0], rt1 in [0, 2]\n"
    said += f"    runtime variables:\n    rt0: parameter(1); (d0){{a}} -> (a), domain: d0 in [0, 2], a in [0, {most}]; "
    said += "reading {a = parameter(1); (d0) -> (0), domain: d0 in [0, 2]}\n"
    said += "    rt1: parameter(1); (d0) -> (0), domain: d0 in [0, 2]"
    assert checked(WHOLE_LINES, "follow", said).verdict.value == verdict


@pytest.mark.parametrize(("at", "verdict"), [("", "proved"), ("0", "unknown"), ("5", "unknown")])
def test_a_scalar_has_no_coordinates(at: str, verdict: str) -> None:
    said = READ_TWICE.format("d0 + rt0 + rt1", "0, 2", "0, 0")
    said = said.replace("rt1: parameter(1); (d0) -> ()", f"rt1: parameter(1); (d0) -> ({at})")
    assert checked(SLICED_BY, "follow", said).verdict.value == verdict


def test_what_a_computation_that_is_called_makes_of_what_it_is_given_may_not_be_anything() -> None:
    given = "x = f32[8] parameter(0)\nc = s32[] constant(-3)\nROOT r = f32[2] call(x, c), to_apply=f"
    for most, verdict in (("6", "proved"), ("5", "unknown")):
        found = checked(given, "instruction s", "follow", AT_NAMED.format("k", most), bodies=ONE_CALL)
        assert found.verdict.value == verdict


@pytest.mark.parametrize(
    ("at", "verdict"), [("0", "proved"), ("d0 floordiv 4", "unknown"), ("d0 - d0", "unknown"), ("d0 * 0", "unknown")]
)
@pytest.mark.parametrize("how", ["follow", "output 0"])
def test_each_size_of_an_array_has_a_value_of_its_own(at: str, verdict: str, how: str) -> None:
    """One that no number names was thought of as any."""
    said = (
        "output-to-input 0 (d0){rt0} -> (d0 + rt0 - 4), domain: d0 in [0, 3], rt0 in [0, 9]\n    runtime variables:\n"
    )
    said += f"    rt0: sizes(parameter(0)); (d0) -> ({at}), domain: d0 in [0, 3]"
    found = checked("x = f32[4] parameter(0)\nROOT r = f32[4] negate(x)", how, said)
    assert found.verdict.value == verdict, found.found


@pytest.mark.parametrize(("number", "verdict"), [("1", "proved"), ("01", "unknown"), ("\u0661", "unknown")])
def test_a_parameter_is_called_as_it_is_printed(number: str, verdict: str) -> None:
    body = (
        "x = f32[8] parameter(0)\ni = s32[] parameter(1)\nROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}"
    )
    assert checked(body, "follow", AT_NAMED.format(f"parameter({number})", "6")).verdict.value == verdict


@pytest.mark.parametrize("caller", ["fusion(p, three), kind=kLoop, calls=f", "call(p, three), to_apply=f"])
def test_a_computation_that_is_called_is_not_given_all_there_is(caller: str) -> None:
    """It is given 3 and nothing else."""
    body = "f { x = f32[10] parameter(0)\n k = s32[] parameter(1)\n "
    body += "ROOT ds = f32[2] dynamic-slice(x, k), dynamic_slice_sizes={2} }"
    given = f"p = f32[10] parameter(0)\nthree = s32[] constant(3)\nROOT w = f32[2] {caller}"
    said = "output-to-input 0 (d0) -> (d0 + 3), domain: d0 in [0, 1]"
    assert checked(given, "instruction ds", "follow", said, bodies=body).verdict.value == "unknown"
    own = "output-to-input 0 (d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 8]\n    runtime variables:\n"
    own += "    rt0: parameter(1); (d0) -> (), domain: d0 in [0, 1]"
    assert checked(given, "instruction ds", "follow", own, bodies=body).verdict.value == "proved"


@pytest.mark.parametrize("index", ["", "; (d0) -> (0), domain: d0 in [0, 0]", "; (d0) -> (0, 0), domain: d0 in [0, 0]"])
def test_what_is_followed_says_which_element_is_read(index: str) -> None:
    """Of an array of one element, too."""
    one = "x = f32[8] parameter(0)\ni = s32[1,1] parameter(1)\nROOT r = f32[1] gather(x, i), offset_dims={}, "
    one += "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    said = "output-to-input 0 (d0){rt0} -> (rt0), domain: d0 in [0, 0], rt0 in [0, 7]\n"
    found = checked(one, "follow", f"{said}    runtime variables:\n    rt0: parameter(1){index}")
    assert found.verdict.value == ("proved" if "(0, 0)" in index else "unknown")


EXCHANGED_PARTS = (
    "f { x = f32[8] parameter(0)\n k = s32[] parameter(1)\n a = f32[8] all-to-all(x), replica_groups={{0,1}}, "
    "dimensions={0}\n ROOT ds = f32[2] dynamic-slice(a, k), dynamic_slice_sizes={2} }"
)
OF_PARTS = (
    "output-to-input 0 (d0){{rt0, rt1}} -> ((d0 + rt0) mod 4 + rt1 * 4), {0}\n    runtime variables:\n"
    "    rt0: parameter(1); (d0) -> (), domain: d0 in [0, 1]\n    rt1: reader\n"
    "    replica id:\n    (d0){{rt0, rt1}} -> ((d0 + rt0) floordiv 4), {0}"
)


@pytest.mark.parametrize(("most", "verdict"), [("6", "proved"), ("5", "unknown")])
def test_nor_is_it_given_all_there_is_where_a_place_is_read_beside_it(most: str, verdict: str) -> None:
    given = "p = f32[8] parameter(0)\nthree = s32[] constant(3)\nROOT w = f32[2] call(p, three), to_apply=f"
    said = OF_PARTS.format(f"domain: d0 in [0, 1], rt0 in [0, {most}], rt1 in [0, 1]")
    header = "HloModule m, replica_count=2"
    found = checked(given, "instruction ds", "follow", said, header=header, bodies=EXCHANGED_PARTS)
    assert found.verdict.value == verdict, found.found


@pytest.mark.parametrize(
    ("second", "verdict"), [("", "proved"), ("(d0 - 2)", "proved"), ("(99)", "unknown"), ("(d0)", "unknown")]
)
def test_each_map_that_is_followed_reads_elements_that_there_are(second: str, verdict: str) -> None:
    beside = "x = f32[4] parameter(0)\ni = s32[2] parameter(1)\nROOT r = f32[4] negate(x)"
    said = (
        "output-to-input 0 (d0){rt0} -> (d0 + rt0 * 0), domain: d0 in [2, 3], rt0 in [0, 3]\n    runtime variables:\n"
    )
    said += f"    rt0: parameter(1); (d0) -> {second}, domain: d0 in [2, 3]"
    first = "output-to-input 0 (d0) -> (d0), domain: d0 in [{}]"
    maps = (first.format("0, 1"), said) if second else (first.format("0, 3"),)
    assert checked(beside, "follow", *maps).verdict.value == verdict


def test_an_element_that_no_engine_shows_to_be_there_is_not_one() -> None:
    """Of 1,000,002 elements the places by a third power are two million; one of them is behind the last."""
    beside = "x = f32[2000000] parameter(0)\ni = s32[1000002] parameter(1)\nROOT r = f32[2000000] negate(x)"
    said = "output-to-input 0 (d0){rt0} -> (d0), domain: d0 in [0, 1999999], rt0 in [0, 3]\n    runtime variables:\n"
    said += "    rt0: parameter(1); (d0) -> ((d0 * d0 * d0 * 8 + d0 * d0 * 3) mod 1000003), domain: d0 in [0, 1999999]"
    assert checked(beside, "follow", said).verdict.value == "unknown"


@pytest.mark.parametrize("provider", ["operand(1)", "sizes(operand(0))"])
def test_one_operation_says_which_element_is_read(provider: str) -> None:
    beside = "x = f32[4] parameter(0)\ni = s32[4,1] parameter(1)\nROOT r = f32[4] gather(x, i), offset_dims={}, "
    beside += "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    said = "output-to-input 0 (d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 3]\n    runtime variables:\n"
    right = "operand(1); (d0) -> (d0, 0), domain: d0 in [0, 3]"
    assert checked(beside, f"{said}    rt0: {right}").verdict.value == "proved"
    assert checked(beside, f"{said}    rt0: {provider}").verdict.value == "unknown"


AT_Q = "p = f32[6] parameter(0)\nq = s32[] parameter(1)\nROOT r = f32[2] dynamic-slice(p, q), dynamic_slice_sizes={2}"
BY_TWO = (
    "output-to-input 0 (d0){{rt0, rt1}} -> ({}), domain: d0 in [0, 1], rt0 in [0, 4], rt1 in [0, 4]{}\n"
    "    runtime variables:\n    rt0: parameter(1); (d0) -> (), domain: d0 in [0, 1]\n"
    "    rt1: parameter({}); (d0) -> (), domain: d0 in [0, 1]"
)
PAIRED = (
    "x = f32[8] parameter(0)\ni = s32[4,1] parameter(1)\nROOT r = f32[4] gather(x, i), offset_dims={}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
)
BY_PAIR = (
    "output-to-input 0 (d0){{rt0, rt1}} -> (rt0 * 2 - rt1), domain: d0 in [0, 3], rt0 in [0, 7], rt1 in [0, {1}]\n"
    "    runtime variables:\n    rt0: operand(1); (d0) -> (d0, 0), domain: d0 in [0, 3]\n"
    "    rt1: operand(1); (d0) -> ({0}, 0), domain: d0 in [0, 3]"
)


@pytest.mark.parametrize("how", ["follow", "output 0"])
@pytest.mark.parametrize(
    ("result", "more", "verdict"),
    [
        ("d0 + rt0 * 2 - rt1", "", "proved"),
        ("d0 + rt1", "", "proved"),
        ("(d0 + rt0) floordiv (1 + rt0 - rt1)", "", "proved"),
        ("d0 + rt0", ", (d0 + rt0) mod (1 + rt0 - rt1) in [0, 0]", "proved"),
        ("rt0 * 2 - rt1", "", "refuted"),
        ("d0 + rt0 * 2 - rt1 + 5", "", "refuted"),
        ("(d0 + rt0) floordiv (rt0 - rt1)", "", "refuted"),
    ],
)
def test_two_variables_of_one_element_are_one_value_wherever_they_are_asked(
    result: str, more: str, verdict: str, how: str
) -> None:
    """In bounds as well, and where something is divided by: places were told that no contents lead to."""
    assert checked(AT_Q, how, BY_TWO.format(result, more, 1)).verdict.value == verdict


@pytest.mark.parametrize(("element", "verdict"), [("d0", "proved"), ("(d0 * 2) floordiv 2", "proved"),
                                                  ("3 - d0", "refuted"), ("0", "refuted")])  # fmt: skip
def test_so_are_those_of_elements_that_meet(element: str, verdict: str) -> None:
    for how in (HOW, How(cross=True)):
        assert checked(PAIRED, BY_PAIR.format(element, 7), how=how).verdict.value == verdict


@pytest.mark.parametrize(("within", "verdict"), [("[1, 1]", "proved"), ("[0, 0]", "refuted")])
def test_a_map_that_one_value_gives_no_point_reads_nothing(within: str, verdict: str) -> None:
    right = BY_TWO.format("d0 + rt0", "", 1)
    beyond = BY_TWO.format("d0 + 100", f", rt0 - rt1 in {within}", 1)
    assert checked(AT_Q, right, beyond).verdict.value == verdict


@pytest.mark.parametrize(
    ("result", "place", "verdict"),
    [("d0 + rt0 - rt1", "0", "proved"), ("d0", "rt0 - rt1", "proved"), ("d0 + rt0", "0", "refuted"),
     ("d0", "rt0 + rt1", "refuted")],
)  # fmt: skip
def test_the_own_place_is_one_value(result: str, place: str, verdict: str) -> None:
    domain = "domain: d0 in [0, 5], rt0 in [0, 1], rt1 in [0, 1]"
    first = f"output-to-input 0 (d0){{rt0, rt1}} -> ({result}), {domain}\n    runtime variables:\n    rt0: reader\n"
    first += f"    rt1: reader\n    replica id:\n    (d0){{rt0, rt1}} -> ({place}), {domain}"
    other = (
        "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 5]\n    replica id:\n    (d0) -> (1), domain: d0 in [0, 5]"
    )
    summed = "p = f32[6] parameter(0)\nROOT r = f32[6] all-reduce(p), to_apply=add"
    found = checked(summed, first, other, header="HloModule m, replica_count=2", bodies=ADD)
    assert found.verdict.value == verdict, found.found
