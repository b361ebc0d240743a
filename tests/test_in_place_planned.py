"""What a memory plan puts over what a fusion, a sort or a scatter still reads: `plan-in-place` alone."""

from __future__ import annotations

from typing import Final

import pytest
from in_place_modules import APPLIED, INTO, LINE, SORTED, TURNED, fused_module, plan_says, worst_of
from memory_cases import judged, roomy_plan

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection

_ONE_TURN: Final = """HloModule m, is_scheduled=true

%fused {
  %p = f32[8]{0} parameter(0)
  %k = s32[] parameter(1)
  %s = f32[3]{0} slice(%p), slice={[0:3]}
  %e = f32[3]{0} negate(%s)
  ROOT %d = f32[8]{0} dynamic-update-slice(%p, %e, %k)
}

%body {
  %state = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %v = f32[8]{0} get-tuple-element(%state), index=1
  %x = f32[8]{0} negate(%v)
  %y = f32[8]{0} fusion(%x, %i), kind=kLoop, calls=%fused
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %z = f32[8]{0} negate(%y)
  ROOT %t = (s32[], f32[8]{0}) tuple(%next, %z)
}

%more {
  %tested = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%tested), index=0
  %last = s32[] constant(1)
  ROOT %is = pred[] compare(%j, %last), direction=LT
}

ENTRY %main {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} negate(%a)
  %zero = s32[] constant(0)
  %first = (s32[], f32[8]{0}) tuple(%zero, %b)
  ROOT %w = (s32[], f32[8]{0}) while(%first), condition=%more, body=%body
}
"""


def test_what_a_loop_counts_is_not_any_number() -> None:
    """It is 0 in the only turn."""
    found = [str(r.verdict) for r in judged(_ONE_TURN, roomy_plan(_ONE_TURN, (("y", "x"),))) if "in-place" in r.claim]
    assert worst_of(found) == "unknown"
    only = Options(jobs=1, selection=Selection(only=("hazard-in-place",)))
    assert {str(r.verdict) for r in check_hlo(_ONE_TURN, only).records()} == {"proved"}


@pytest.mark.parametrize(("offset", "found"), [(8, "unknown"), (12, "refuted"), (16, "unknown")])
def test_what_is_handed_on_lies_where_it_lay_by_the_offsets_of_both(offset: int, found: str) -> None:
    """Elements 4 and 5 twice: as elements 2 and 3 of four that begin 2 elements behind, or as 0 and 1 of 4 behind."""
    four = "f32[4]{0}"
    lines = ["%s = f32[2]{0} slice(%p), slice={[4:6]}", f"%d = {four} concatenate(%s, %s), dimensions={{0}}"]
    module = fused_module(lines, [("d", four)], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, at=(16, offset)) == [found]


@pytest.mark.parametrize(
    ("given", "offset", "found"), [("p", 0, "proved"), ("p", 4, "refuted"), ("e", 0, "unknown"), ("e", 4, "refuted")]
)
def test_what_is_sorted_is_made_there_only_where_it_lies(given: str, offset: int, found: str) -> None:
    lines = [f"%e = {LINE} negate(%p)", SORTED.replace("%e", f"%{given}")]
    module = fused_module(lines, [("d", LINE)], (LINE, LINE), "%x, %w, %j").replace("ALIAS", "")
    plan = roomy_plan(module, (("y", "x"),))
    assert "y @0> (size=32,offset=0)" in plan
    plan = plan.replace("(size=32,offset=0)", "(size=36,offset=0)").replace(
        "y @0> (size=36,offset=0)", f"y @0> (size=32,offset={offset})"
    )
    assert [str(r.verdict) for r in judged(module, plan) if r.claim == "plan-in-place"] == [found]


@pytest.mark.parametrize(("offset", "found"), [(0, "unknown"), (12, "refuted"), (16, "proved")])
def test_what_is_sorted_is_apart_from_where_it_goes(offset: int, found: str) -> None:
    """The first half is read, whenever that is, and not written where the result lies over the second."""
    lines = ["%s = f32[4]{0} slice(%p), slice={[0:4]}", "%d = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge"]
    module = fused_module(lines, [("d", "f32[4]{0}")], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, at=(16, offset)) == [found]


@pytest.mark.parametrize(("start", "found"), [(4, "unknown"), (3, "refuted")])
def test_what_is_sorted_is_apart_from_what_is_updated(start: int, found: str) -> None:
    """The first half is sorted elsewhere, and another half put into the array behind it."""
    lines = [
        "%f = f32[4]{0} slice(%q), slice={[0:4]}",
        f"%at = s32[] constant({start})",
        f"%d = {LINE} dynamic-update-slice(%p, %f, %at)",
        "%s = f32[4]{0} slice(%p), slice={[0:4]}",
        "%e = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge",
    ]
    module = fused_module(lines, [("d", LINE), ("e", "f32[4]{0}")], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]


@pytest.mark.parametrize(("offset", "found"), [(0, "refuted"), (16, "refuted"), (32, "proved")])
def test_all_that_is_sorted_is_apart_from_where_it_goes(offset: int, found: str) -> None:
    """The sums of the first half and the second of three."""
    four = "f32[4]{0}"
    lines = [
        *(f"%s{n} = {four} slice(%p), slice={{[{4 * n}:{4 * n + 4}]}}" for n in range(2)),
        f"%e = {four} add(%s0, %s1)",
        f"%f = {four} reverse(%e), dimensions={{0}}",
        f"%d = {four} sort(%f), dimensions={{0}}, to_apply=%ge",
    ]
    shapes = ("f32[12]{0}", "f32[12]{0}")
    module = fused_module(lines, [("d", four)], shapes, "%x, %w, %j")
    assert plan_says(module, at=(16, offset)) == [found]


@pytest.mark.parametrize(("by", "found"), [("larger", "unknown"), ("sum", "refuted")])
def test_what_a_reduction_begins_with_beside_larger_results(by: str, found: str) -> None:
    """It lies where the result does, which may be it."""
    lines = [
        "%s = f32[1]{0} slice(%p), slice={[0:1]}",
        "%i = f32[] reshape(%s)",
        f"%e = f32[] reduce(%q, %i), dimensions={{0}}, to_apply=%{by}",
        f"%c = {LINE} negate(%q)",
        SORTED.replace("%e", "%p"),
    ]
    module = fused_module(lines, [("e", "f32[]"), ("c", LINE), ("d", LINE)], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]


@pytest.mark.parametrize(
    ("first", "element", "found"),
    [(4, "f32[]", "unknown"), (4, "f32[2]{0}", "unknown"), (1, "f32[2]{0}", "refuted"), (0, "f32[]", "refuted")],
)
def test_what_is_sorted_is_apart_from_what_is_reduced(first: int, element: str, found: str) -> None:
    """The sums are put in front, beside results that are as large as what is summed."""
    rows = "f32[2,4]{1,0}"
    many = element != "f32[]"
    given = rows if many else LINE
    lines = [
        f"%e = {element} reduce(%q, %z), dimensions={{{int(many)}}}, to_apply=%sum",
        f"%c = {given} negate(%q)",
        f"%s = f32[4]{{0}} slice(%p), slice={{[{first}:{first + 4}]}}",
        "%d = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge",
    ]
    module = fused_module(lines, [("e", element), ("c", given), ("d", "f32[4]{0}")], (LINE, given), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]


def test_what_is_sorted_may_be_made_by_the_size_beside_it() -> None:
    """As many are added as the number behind the elements says, where the result lies."""
    lines = [
        "%s = f32[] reduce(%p, %z), dimensions={0}, to_apply=%sum",
        "%e = f32[1]{0} reshape(%s)",
        "%d = f32[1]{0} sort(%e), dimensions={0}, to_apply=%ge",
    ]
    module = fused_module(lines, [("d", "f32[1]{0}")], ("f32[<=8]{0}", LINE), "%x, %w, %j")
    assert plan_says(module, at=(4, 32)) == ["unknown"]


@pytest.mark.parametrize("written", ["sort(%q), dimensions={0}, to_apply=%ge", "negate(%q)"])
@pytest.mark.parametrize("made", ["sort(%s), dimensions={0}, to_apply=%ge", "negate(%s)"])
def test_beside_what_is_written_with_its_size(made: str, written: str) -> None:
    """The size lies behind the elements, where something is read."""
    sized = "f32[<=4]{0}"
    lines = [f"%d = {sized} {written}", "%s = f32[4]{0} slice(%p), slice={[4:8]}", f"%e = f32[4]{{0}} {made}"]
    module = fused_module(lines, [("d", sized), ("e", "f32[4]{0}")], (LINE, sized), "%x, %w, %j")
    assert plan_says(module, "y{0}") == ["unknown"]


_INTO_IT: Final = [
    "%u = f32[4]{0} slice(%q), slice={[0:4]}",
    "%l = f32[4]{0} slice(%p), slice={[0:4]}",
    f"%g = {LINE} dynamic-update-slice(%p, %u, %at)",
]


_TAKEN: Final = [
    "%l = f32[4]{0} dynamic-slice(%p, %at), dynamic_slice_sizes={4}",
    "%g = f32[4]{0} slice(%q), slice={[0:4]}",
]


@pytest.mark.parametrize(
    ("lines", "at", "found"),
    [
        # An update of the upper half, or, where k is 1, of one place below it.
        (["%v = s32[] abs(%k)", "%at = s32[] add(%v, %h)", *_INTO_IT], (32, 0), "unknown"),
        (["%v = s32[] negate(%k)", "%at = s32[] add(%v, %h)", *_INTO_IT], (32, 0), "refuted"),
        # What is sorted begins at 0 always, or at -k, or at 4; the upper half is written.
        (["%v = s32[] abs(%k)", "%at = s32[] negate(%v)", *_TAKEN], (16, 16), "unknown"),
        (["%at = s32[] negate(%k)", *_TAKEN], (16, 16), "refuted"),
        (["%at = s32[] copy(%h)", *_TAKEN], (16, 16), "refuted"),
    ],
)
def test_what_is_sorted_may_be_read_where_another_output_is_written(
    lines: list[str], at: tuple[int, int], found: str
) -> None:
    """That nobody shows that they lie apart does not say that they meet."""
    lines = ["%h = s32[] constant(4)", *lines, "%e = f32[4]{0} sort(%l), dimensions={0}, to_apply=%ge"]
    written = LINE if at[0] == 32 else "f32[4]{0}"
    module = fused_module(lines, [("g", written), ("e", "f32[4]{0}")], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}", at=at) == [found]


@pytest.mark.parametrize("offset", [0, 4])
def test_halves_that_are_sorted_may_be_read_where_another_output_is_written(offset: int) -> None:
    lines = ["%l = f32[8]{0} real(%p)", "%g = f32[1]{0} negate(%q)", "%e = f32[8]{0} sort(%l), dimensions={0}"]
    lines = [f"{line}, to_apply=%ge" if "sort" in line else line for line in lines]
    module = fused_module(lines, [("g", "f32[1]{0}"), ("e", LINE)], ("c64[8]{0}", "f32[1]{0}"), "%x, %w, %j")
    assert plan_says(module, "y{0}", at=(4, offset)) == ["unknown"]


_LOWER: Final = """%lower {
  %ha = u32[] parameter(0)
  %hb = u32[] parameter(1)
  %hc = u16[] convert(%hb)
  %hd = u16[] convert(%ha)
  %he = u16[] add(%hc, %hd)
  ROOT %hf = u32[] convert(%he)
}

%whole {
  %wa = u32[] parameter(0)
  %wb = u32[] parameter(1)
  ROOT %wc = u32[] add(%wa, %wb)
}

%maps {
  %ma = u32[] parameter(0)
  %mb = u32[] parameter(1)
  ROOT %mc = u32[] map(%ma, %mb), dimensions={}, to_apply=%lower
}

%larger_first {
  %ga = u32[] parameter(0)
  %gb = u32[] parameter(1)
  ROOT %gc = pred[] compare(%ga, %gb), direction=GE
}

"""


@pytest.mark.parametrize("shape", ["u32[8]{0} reduce-window(%p, %o), window={size=1}", "u32[8]{0} reduce(%l, %o)"])
@pytest.mark.parametrize(("function", "found"), [("lower", "unknown"), ("maps", "unknown"), ("whole", "refuted")])
def test_halves_that_a_function_takes_may_be_read_where_another_output_is_written(
    shape: str, function: str, found: str
) -> None:
    """Over the upper half of the first element."""
    line = "u32[8]{0}"
    folds = f"{shape}{', dimensions={1}' if 'reduce(' in shape else ''}"
    lines = [
        "%o = u32[] constant(0)",
        "%l = u32[8,1]{1,0} reshape(%p)",
        f"%h = {folds}, to_apply=%{function}",
        f"%e = {line} sort(%h), dimensions={{0}}, to_apply=%larger_first",
        "%g = u16[1]{0} negate(%q)",
    ]
    module = fused_module(lines, [("g", "u16[1]{0}"), ("e", line)], (line, "u16[1]{0}"), "%x, %w, %j")
    assert plan_says(module.replace("%fused {", f"{_LOWER}%fused {{"), "y{0}", at=(2, 2)) == [found]


@pytest.mark.parametrize(("given", "part", "width"), [("c64", "f32", 4), ("c128", "f64", 8)])
@pytest.mark.parametrize(("made", "found"), [("convert(%p)", "unknown"), ("convert(%m)", "refuted")])
def test_the_real_part_that_is_sorted_may_be_read_beside_the_other_one(
    made: str, found: str, given: str, part: str, width: int
) -> None:
    lines = [
        f"%m = {given}[8]{{0}} sine(%p)",
        f"%l = f32[8]{{0}} {made}",
        "%e = f32[8]{0} sort(%l), dimensions={0}, to_apply=%ge",
        f"%g = {part}[1]{{0}} negate(%q)",
    ]
    shapes = (f"{given}[8]{{0}}", f"{part}[1]{{0}}")
    module = fused_module(lines, [("g", shapes[1]), ("e", LINE)], shapes, "%x, %w, %j")
    assert plan_says(module, "y{0}", at=(width, width)) == [found]


@pytest.mark.parametrize(("sorts", "found"), [("%q, %p", "unknown"), ("%p, %q", "refuted")])
def test_of_two_that_are_sorted_as_they_are_the_second_is_kept(sorts: str, found: str) -> None:
    """Along one element; it is read in any order by the sort beside it, and p may be written over itself."""
    line = "f32[8,1]{1,0}"
    lines = [
        f"%t = ({line}, {line}) sort({sorts}), dimensions={{1}}, to_apply=%first",
        f"%d = {line} get-tuple-element(%t), index=1",
        f"%e = {line} sort(%p), dimensions={{0}}, to_apply=%ge",
    ]
    module = fused_module(lines, [("d", line), ("e", line)], (line, line), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]


@pytest.mark.parametrize(
    ("shape", "along", "found"), [("1,8", 0, "unknown"), ("8,1", 1, "unknown"), ("1,8", 1, "refuted")]
)
def test_what_is_sorted_along_one_element_is_kept_in_another_shape(shape: str, along: int, found: str) -> None:
    """The sort beside it reads p in any order; what stays as it is may be written over itself."""
    wide = f"f32[{shape}]{{1,0}}"
    lines = [
        f"%l = {wide} bitcast(%p)",
        f"%s = {wide} sort(%l), dimensions={{{along}}}, to_apply=%ge",
        f"%d = {LINE} bitcast(%s)",
        f"%e = {LINE} sort(%p), dimensions={{0}}, to_apply=%ge",
    ]
    assert plan_says(fused_module(lines, [("d", LINE), ("e", LINE)], (LINE, LINE), "%x, %w, %j"), "y{0}") == [found]


@pytest.mark.parametrize(("made", "layout", "found"), [("%p", "{1,0}", "unknown"), ("%m", "{0,1}", "refuted")])
def test_of_two_that_are_sorted_each_lies_as_its_own_operand(made: str, layout: str, found: str) -> None:
    """The first one lies by columns; the second, along which rows are sorted, is made over p."""
    rows, columns = f"f32[2,4]{layout}", "f32[2,4]{0,1}"
    lines = [
        f"%m = {LINE} negate(%p)",
        f"%e = f32[2,4]{{1,0}} reshape({made})",
        f"%c = {columns} bitcast(%q)",
        f"%t = ({columns}, {rows}) sort(%c, %e), dimensions={{1}}, to_apply=%first",
        f"%s = {rows} get-tuple-element(%t), index=1",
        f"%h = {LINE} bitcast(%s)",
        f"%v = {columns} get-tuple-element(%t), index=0",
        f"%g = {LINE} bitcast(%v)",
    ]
    assert plan_says(fused_module(lines, [("h", LINE), ("g", LINE)], (LINE, LINE), "%x, %w, %j"), "y{0}") == [found]


@pytest.mark.parametrize(("offset", "found"), [(4, "unknown"), (0, "unknown")])
def test_a_half_is_read_outside_of_fusions(offset: int, found: str) -> None:
    """Real numbers are taken out of what lies under them."""
    module = (
        "HloModule m, is_scheduled=true\nENTRY %main {\n  %a = c64[3]{0} parameter(0)\n  %x = c64[3]{0} sine(%a)\n"
        "  %y = f32[3]{0} real(%x)\n  ROOT %r = f32[3]{0} cosine(%y)\n}\n"
    )
    assert plan_says(module, at=(12, offset)) == [found]


@pytest.mark.parametrize(("offset", "found"), [(0, "proved"), (2, "refuted"), (4, "refuted"), (6, "refuted")])
def test_elements_that_lie_astride_others_meet_both(offset: int, found: str) -> None:
    module = fused_module([f"%d = {LINE} negate(%p)"], [("d", LINE)], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, at=(32, offset)) == [found]


@pytest.mark.parametrize(("size", "found"), [("8,1", "unknown"), ("8,2", "refuted"), ("1,8", "refuted")])
def test_what_is_sorted_of_one_stays_as_it_is(size: str, found: str) -> None:
    """Along the second dimension in its place, and along the first one beside it, where it is read."""
    kind = f"f32[{size}]{{1,0}}"
    lines = [f"%{n} = {kind} sort(%p), dimensions={{{d}}}, to_apply=%ge" for n, d in (("d", 1), ("e", 0))]
    module = fused_module(lines, [("d", kind), ("e", kind)], (kind, kind), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]


@pytest.mark.parametrize("begins", ["constant(0)", "constant(1)"])
def test_where_an_update_goes_in_what_is_called_may_not_be_what_any_number_says(begins: str) -> None:
    """Where nobody follows what a call is given it may be the same place always."""
    module = (
        "HloModule m, is_scheduled=true\n\n%work {\n %x = f32[8]{0} parameter(0)\n %v = f32[4]{0} parameter(1)\n"
        " %c = s32[] parameter(2)\n %u = f32[4]{0} negate(%v)\n"
        " ROOT %y = f32[8]{0} dynamic-update-slice(%x, %u, %c)\n}\n\n"
        "ENTRY %main {\n %a = f32[8]{0} parameter(0)\n %b = f32[4]{0} parameter(1)\n"
        f" %j = s32[] {begins}\n %x0 = f32[8]{{0}} negate(%a)\n"
        " %z = f32[8]{0} call(%x0, %b, %j), to_apply=%work\n ROOT %r = f32[8]{0} negate(%z)\n}\n"
    )
    plan = roomy_plan(module, (("y", "x0"), ("u", "x0")))
    found = {r.verdict for r in judged(module, plan) if r.claim == "plan-in-place"}
    assert found == {"proved", "unknown"}


@pytest.mark.parametrize("places", [9, 0])
def test_when_a_fused_scatter_reads_beside_what_is_written_is_not_known(places: int) -> None:
    """Nor which updates are dropped."""
    lines = [
        f"%c = s32[] constant({places})",
        "%i = s32[8,1]{1,0} broadcast(%c), dimensions={}",
        f"%e = {LINE} scatter(%q, %i, %p), {INTO}",
        f"%d = {LINE} broadcast(%z), dimensions={{}}",
    ]
    module = fused_module(lines, [("d", LINE), ("e", LINE)], (LINE, LINE), "%x, %w, %j").replace("ALIAS", "")
    found = judged(module, roomy_plan(module, (("y{0}", "x"), ("y{1}", "w"))))
    assert "unknown" in [r.verdict for r in found if r.claim == "plan-in-place"]
    assert "refuted" not in [r.verdict for r in found if r.claim == "plan-in-place"]


def test_what_a_scatter_writes_is_not_said_beside_a_sort() -> None:
    """It may go to other places, or nowhere."""
    lines = [
        "%i = s32[8,1]{1,0} constant({{0},{1},{0},{1},{0},{1},{8},{9}})",
        f"%d = {LINE} scatter(%p, %i, %q), {INTO}",
        "%s = f32[4]{0} slice(%p), slice={[4:8]}",
        "%e = f32[4]{0} sort(%s), dimensions={0}, to_apply=%ge",
    ]
    module = fused_module(lines, [("d", LINE), ("e", "f32[4]{0}")], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}") == ["unknown"]


@pytest.mark.parametrize(("sizes", "found"), [((4, 8), "unknown"), ((8, 4), "unknown"), ((8, 8), "proved")])
def test_steps_of_results_of_other_sizes_are_other_steps(sizes: tuple[int, int], found: str) -> None:
    lines, results = [], []
    for n, size in enumerate(sizes):
        results.append((f"d{n}", f"f32[{size}]{{0}}"))
        lines.append(f"%s{n} = f32[{size}]{{0}} slice(%p), slice={{[0:{size}]}}")
        lines.append(f"%d{n} = f32[{size}]{{0}} negate(%s{n})")
    assert plan_says(fused_module(lines, results, (LINE, LINE), "%x, %w, %j"), "y{0}") == [found]


@pytest.mark.parametrize("read", ["%p", "%q"])
def test_when_a_smaller_reduction_writes_beside_what_is_read_is_not_known(read: str) -> None:
    wide = "f32[2,8]{1,0}"
    lines = [
        f"%d = {LINE} reduce(%q, %z), dimensions={{0}}, to_apply=%sum",
        f"%s = f32[1,1]{{1,0}} slice({read}), slice={{[0:1],[5:6]}}",
        "%i = f32[] reshape(%s)",
        f"%e = {wide} broadcast(%i), dimensions={{}}",
        f"%o = {wide} negate(%e)",
    ]
    module = fused_module(lines, [("d", LINE), ("o", wide)], (wide, wide), "%x, %w, %j")
    assert plan_says(module, "y{0}") == ["unknown" if read == "%p" else "proved"]


@pytest.mark.parametrize(("given", "found"), [("%q, %t", "refuted"), ("%t, %q", "refuted"), ("%q, %e", "proved")])
def test_all_that_is_reduced_together_is_read(given: str, found: str) -> None:
    """Beside results that are as large; where it is read is where these are written, or not."""
    both = "%both (h0: f32[], h1: f32[], h2: f32[], h3: f32[]) -> (f32[], f32[]) {\n"
    both += "".join(f"  %h{n} = f32[] parameter({n})\n" for n in range(4))
    both += (
        "  %h4 = f32[] add(%h0, %h2)\n  %h5 = f32[] add(%h1, %h3)\n  ROOT %h6 = (f32[], f32[]) tuple(%h4, %h5)\n}\n\n"
    )
    lines = [
        TURNED,
        f"%e = {LINE} negate(%p)",
        f"%c = {LINE} negate(%q)",
        f"%f = (f32[], f32[]) reduce({given}, %z, %z), dimensions={{0}}, to_apply=%both",
        *(f"%f{n} = f32[] get-tuple-element(%f), index={n}" for n in range(2)),
    ]
    module = fused_module(lines, [("c", LINE), ("f0", "f32[]"), ("f1", "f32[]")], (LINE, LINE), "%x, %w, %j")
    module = module.replace("%fused {", f"{both}%fused {{")
    assert plan_says(module, "y{0}") == [found]


@pytest.mark.parametrize(("layout", "found"), [("{1,0}", "proved"), ("{0,1}", "refuted")])
def test_an_update_is_in_place_where_its_result_lies_alike(layout: str, found: str) -> None:
    given = "f32[2,4]{1,0}"
    lines = [
        "%u = f32[1,4]{1,0} slice(%q), slice={[0:1],[0:4]}",
        f"%d = f32[2,4]{layout} dynamic-update-slice(%p, %u, %n, %n)",
    ]
    module = fused_module(lines, [("d", f"f32[2,4]{layout}")], (given, given), "%x, %w, %j")
    assert plan_says(module) == [found]


def test_what_is_sorted_is_given_twice() -> None:
    """The first of two equal results is where it is made."""
    lines = [f"%e = {LINE} negate(%p)", SORTED]
    module = fused_module(lines, [("d", LINE), ("d", LINE)], (LINE, LINE), "%x, %w, %j")
    for place in ("y{0}", "y{1}"):
        assert plan_says(module, place) == ["unknown"]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("f32[16]{0} concatenate(%x, %x), dimensions={0}", "unknown"),
        ("f32[2,8]{1,0} broadcast(%x), dimensions={1}", "unknown"),
        ("f32[8,2]{1,0} broadcast(%x), dimensions={0}", "refuted"),
        ("f32[8]{0} reverse(%x), dimensions={0}", "refuted"),
        ("f32[8]{0} negate(%x)", "proved"),
    ],
)
def test_what_is_handed_on_outside_of_fusions(made: str, found: str) -> None:
    """What stays where it lies is not overwritten."""
    shape = made.split()[0]
    module = (
        "HloModule m, is_scheduled=true\nENTRY %main {\n  %a = f32[8]{0} parameter(0)\n  %x = f32[8]{0} sine(%a)\n"
        f"  %y = {made}\n  ROOT %r = {shape} cosine(%y)\n}}\n"
    )
    assert plan_says(module) == [found]


@pytest.mark.parametrize(
    ("sorts", "layout", "found"),
    [("p", "{1,0}", "proved"), ("p", "{0,1}", "refuted"), ("e", "{1,0}", "unknown"), ("e", "{0,1}", "refuted")],
)
def test_what_is_sorted_is_made_there_only_as_it_lies(sorts: str, layout: str, found: str) -> None:
    given, made = "f32[2,4]{1,0}", f"f32[2,4]{layout}"
    lines = [f"%e = {made} negate(%p)", f"%d = {made} sort(%{sorts}), dimensions={{0}}, to_apply=%ge"]
    module = fused_module(lines, [("d", made)], (given, given), "%x, %w, %j")
    assert plan_says(module) == [found]


_CALLED: Final = """HloModule m, is_scheduled=true

%inner {
 %x = s32[4]{0} parameter(0)
 %i = s32[2,2]{1,0} bitcast(%x)
 %d = s32[2,2]{0,1} gather(%x, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, \
slice_sizes={1}
 ROOT %e = s32[2,2]{0,1} negate(%d)
}

ENTRY %main {
 %a = s32[4]{0} parameter(0)
 %c = s32[4]{0} constant({0, 2, 1, 3})
 %v = s32[4]{0} copy(%c)
 ROOT %y = s32[2,2]{0,1} call(%v), to_apply=%inner
}
"""


def test_what_is_handed_on_by_numbers_of_the_program_is_not_by_any() -> None:
    """Each step hands on its own element, by the only numbers that come up."""
    found = [r for r in judged(_CALLED, roomy_plan(_CALLED, (("d", "v"),))) if r.claim == "plan-in-place"]
    assert "unknown" in [str(r.verdict) for r in found]
    assert "refuted" not in [str(r.verdict) for r in found]


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("slice(%p), slice={[0:4]}", "proved"),
        ("slice(%p), slice={[4:8]}", "refuted"),
        ("dynamic-slice(%p, %k), dynamic_slice_sizes={4}", "refuted"),
        ("dynamic-slice(%p, %at), dynamic_slice_sizes={4}", "unknown"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_all_that_a_sort_reads_may_lie_where_another_one_writes(first: str, swapped: bool, found: str) -> None:
    """What lies apart is shown of one of the two reads, and says nothing of the other."""
    names = ("m", "l") if swapped else ("l", "m")
    lines = [
        "%at = s32[] abs(%k)",
        f"%{names[0]} = f32[4]{{0}} {first}",
        f"%{names[1]} = f32[4]{{0}} slice(%p), slice={{[0:4]}}",
        "%aa = f32[4]{0} add(%l, %m)",
        "%e = f32[4]{0} sort(%aa), dimensions={0}, to_apply=%ge",
        "%h = f32[4]{0} slice(%q), slice={[0:4]}",
        "%g = f32[4]{0} sort(%h), dimensions={0}, to_apply=%ge",
    ]
    module = fused_module(lines, [("g", "f32[4]{0}"), ("e", "f32[4]{0}")], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}", at=(16, 16)) == [found]


@pytest.mark.parametrize(
    ("moved", "found"), [("f32[2,4]{0,1} copy(%p)", "refuted"), ("f32[4,2]{0,1} bitcast(%p)", "proved")]
)
def test_what_an_update_goes_into_lies_otherwise(moved: str, found: str) -> None:
    """What is copied into another layout moves, also where nothing is written."""
    shape = moved.partition(" ")[0]
    row = shape.replace("[2,4]", "[1,4]").replace("[4,2]", "[1,2]")
    limits = "[0:1],[0:4]" if "[2,4]" in shape else "[0:1],[0:2]"
    lines = [f"%c = {moved}", f"%u = {row} slice(%q), slice={{{limits}}}"]
    lines.append(f"%d = {shape} dynamic-update-slice(%c, %u, %n, %n)")
    module = fused_module(lines, [("d", shape)], ("f32[2,4]{1,0}", shape), "%x, %w, %j")
    assert plan_says(module) == [found]


@pytest.mark.parametrize(("by", "found"), [("x", "proved"), ("w", "refuted")])
def test_a_scatter_reads_all_its_updates_while_it_writes(by: str, found: str) -> None:
    """What it writes into is its first operand alone, also outside of fusions."""
    module = (
        f"HloModule m, is_scheduled=true\n\n{APPLIED}\nENTRY %main {{\n %a = {LINE} parameter(0)\n"
        f" %b = {LINE} parameter(1)\n %i = s32[8,1]{{1,0}} parameter(2)\n %x = {LINE} negate(%a)\n"
        f" %w = {LINE} negate(%b)\n %y = {LINE} scatter(%x, %i, %w), {INTO.replace('%sum', '%second')}\n"
        f" ROOT %r = {LINE} negate(%y)\n}}\n"
    )
    assert plan_says(module, by=by) == [found]


@pytest.mark.parametrize(("layout", "found"), [("{1,0}", "proved"), ("{0,1}", "refuted")])
def test_a_sort_is_in_place_where_its_result_lies_alike(layout: str, found: str) -> None:
    module = (
        f"HloModule m, is_scheduled=true\n\n{APPLIED}\nENTRY %main {{\n %a = f32[2,4]{{1,0}} parameter(0)\n"
        f" %x = f32[2,4]{{1,0}} negate(%a)\n %y = f32[2,4]{layout} sort(%x), dimensions={{1}}, to_apply=%ge\n"
        f" ROOT %r = f32[2,4]{layout} negate(%y)\n}}\n"
    )
    assert plan_says(module) == [found]


@pytest.mark.parametrize(("names", "found"), [("hg", "proved"), ("gh", "refuted")])
def test_what_is_sorted_goes_through_tuples_in_tuples(names: str, found: str) -> None:
    """Each part is written over its own operand, or over the other one."""
    both = f"({LINE}, {LINE})"
    lines = [
        f"%both = {both} sort(%q, %p), dimensions={{0}}, to_apply=%first",
        f"%more = ({both}, {LINE}) tuple(%both, %q)",
        f"%again = {both} get-tuple-element(%more), index=0",
        f"%g = {LINE} get-tuple-element(%again), index=0",
        f"%h = {LINE} get-tuple-element(%again), index=1",
    ]
    module = fused_module(lines, [(name, LINE) for name in names], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]


def _nested(lines: list[str], inner: str) -> str:
    """A fusion of x and w that gives ((d, e), f), which `inner` makes a tuple of."""
    both = f"({LINE}, {LINE})"
    shape = f"({both}, {LINE})"
    body = "".join(f" {line}\n" for line in [*lines, f"%in = {both} {inner}", f"ROOT %all = {shape} tuple(%in, %f)"])
    return (
        f"HloModule m, is_scheduled=true\n\n{APPLIED}\n%fused {{\n %p = {LINE} parameter(0)\n"
        f" %q = {LINE} parameter(1)\n %n = s32[] constant(0)\n{body}}}\n\nENTRY %main {{\n"
        f" %a = {LINE} parameter(0)\n %b = {LINE} parameter(1)\n %x = {LINE} negate(%a)\n"
        f" %w = {LINE} negate(%b)\n %y = {shape} fusion(%x, %w), kind=kLoop, calls=%fused\n"
        f" %yy = {both} get-tuple-element(%y), index=0\n %y0 = {LINE} get-tuple-element(%yy), index=0\n"
        f" %y1 = {LINE} get-tuple-element(%yy), index=1\n %y2 = {LINE} get-tuple-element(%y), index=1\n"
        f" %n0 = {LINE} negate(%y0)\n %n1 = {LINE} negate(%y1)\n %n2 = {LINE} negate(%y2)\n"
        f" ROOT %r = ({LINE}, {LINE}, {LINE}) tuple(%n0, %n1, %n2)\n}}\n"
    )


_MOVED: Final = [
    "%s = f32[4]{0} slice(%p), slice={[0:4]}",
    "%t = f32[4]{0} reverse(%s), dimensions={0}",
    "%u = f32[4]{0} negate(%t)",
    f"%e = {LINE} dynamic-update-slice(%p, %u, %n)",
    f"%d = {LINE} negate(%q)",
    f"%f = {LINE} sine(%q)",
]


@pytest.mark.parametrize(
    ("place", "by", "found"),
    [
        ("y{0,0}", "x", ("proved", "refuted")),
        ("y{0,1}", "x", ("refuted", "refuted")),
        ("y{0,0}", "w", ("refuted", "proved")),
        ("y{0,1}", "w", ("proved", "proved")),
    ],
)
def test_results_in_a_tuple_in_a_tuple_lie_each_by_itself(place: str, by: str, found: tuple[str, str]) -> None:
    """What is sorted, and what is updated and made element by element."""
    numbers = f"%f = {LINE} iota(), iota_dimension=0"
    sort = _nested([numbers], "sort(%p, %q), dimensions={0}, to_apply=%first")
    assert (plan_says(sort, place, by), plan_says(_nested(_MOVED, "tuple(%d, %e)"), place, by)) == (
        [found[0]],
        [found[1]],
    )


@pytest.mark.parametrize(("by", "found"), [("x", "proved"), ("w", "refuted")])
def test_parts_of_a_tuple_that_a_fusion_is_given_lie_each_by_itself(by: str, found: str) -> None:
    both = f"({LINE}, {LINE})"
    module = (
        f"HloModule m, is_scheduled=true\n\n%fused {{\n %t = {both} parameter(0)\n"
        f" %p = {LINE} get-tuple-element(%t), index=0\n %q = {LINE} get-tuple-element(%t), index=1\n"
        f" %v = {LINE} reverse(%q), dimensions={{0}}\n ROOT %d = {LINE} add(%p, %v)\n}}\n\nENTRY %main {{\n"
        f" %a = {LINE} parameter(0)\n %b = {LINE} parameter(1)\n %x = {LINE} negate(%a)\n"
        f" %w = {LINE} negate(%b)\n %tt = {both} tuple(%x, %w)\n"
        f" %y = {LINE} fusion(%tt), kind=kLoop, calls=%fused\n ROOT %r = {LINE} negate(%y)\n}}\n"
    )
    assert plan_says(module, by=by) == [found]


@pytest.mark.parametrize(("summed", "found"), [("p", "unknown"), ("q", "proved")])
@pytest.mark.parametrize(("shape", "along"), [("2,4", 1), ("4,2", 0)])
def test_when_a_sum_of_as_many_elements_reads_beside_what_is_written_is_not_known(
    shape: str, along: int, summed: str, found: str
) -> None:
    """Its result has the size of what is written, and a step of it reads more."""
    lines = [
        f"%rows = f32[{shape}]{{1,0}} bitcast(%{summed})",
        f"%m = f32[2]{{0}} reduce(%rows, %z), dimensions={{{along}}}, to_apply=%sum",
        "%s = f32[2]{0} slice(%p), slice={[0:2]}",
        "%g = f32[2]{0} negate(%s)",
        f"%e = {LINE} sine(%q)",
    ]
    results = [("g", "f32[2]{0}"), ("m", "f32[2]{0}"), ("e", LINE)]
    assert plan_says(fused_module(lines, results, (LINE, LINE), "%x, %w, %j"), "y{0}", at=(8, 0)) == [found]


@pytest.mark.parametrize(
    ("made", "found"),
    [("reshape(%p)", "proved"), ("reshape(%v)", "refuted"), ("transpose(%g), dimensions={1,0}", "refuted")],
)
def test_what_is_summed_in_the_steps_of_what_is_written_is_read_there(made: str, found: str) -> None:
    """Each of the eight that are summed is read in the step at its own place, not at that of the sum."""
    lines = [
        f"%d = {LINE} negate(%p)",
        f"%v = {LINE} reverse(%p), dimensions={{0}}",
        "%g = f32[2,4]{1,0} reshape(%p)",
        f"%h = f32[4,2]{{1,0}} {made}",
        "%o = f32[4]{0} reduce(%h, %z), dimensions={1}, to_apply=%sum",
    ]
    module = fused_module(lines, [("d", LINE), ("o", "f32[4]{0}")], (LINE, LINE), "%x, %w, %j")
    assert plan_says(module, "y{0}") == [found]
