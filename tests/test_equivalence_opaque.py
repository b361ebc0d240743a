"""Of an operation of which nothing is known all that is written at it counts, and all that it gives."""

from __future__ import annotations

import pytest
from red_pairs import entry, one, proved, unproved

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module

GIVES = "(f32[4], s32[4])"


def shuffled(written: str = "", gives: str = GIVES) -> str:
    return one("f32[4]", f"s = {gives} shuffle(p){written}", "ROOT r = f32[4] get-tuple-element(s), index=0")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (shuffled(", channel_id=1"), shuffled(", channel_id=2")),
        (shuffled(", schedule=SCHEDULE_EARLIEST"), shuffled()),
        (shuffled(", output_to_operand_aliasing={{0}: (0, {})}"), shuffled()),
        (shuffled(", sharding={replicated}"), shuffled(", sharding={maximal device=0}")),
        (shuffled(", replica_groups={{0,1}}"), shuffled(", replica_groups={{1,0}}")),
        (shuffled(', backend_config="a"'), shuffled(', backend_config="b"')),
        (shuffled(', frontend_attributes={a="1"}'), shuffled(', frontend_attributes={a="2"}')),
        (shuffled(", result_accuracy={mode=highest}"), shuffled()),
        (shuffled(", seed=a"), shuffled(', seed="a"')),
        (shuffled(), shuffled(gives="(f32[4], s32[8])")),
    ],
)
def test_what_is_written_at_it_counts(before: str, after: str) -> None:
    unproved(before, after, "rounding")


def test_notes_of_who_wrote_it_do_not() -> None:
    proved(shuffled(", seed=1"), shuffled(', seed=1, metadata={op_name="x"}'), "exact")


THREE = ("a = f32[4] parameter(0)", "b = f32[4] parameter(1)", "c = f32[4] parameter(2)")
INNER = entry(
    *THREE,
    "t = (f32[4], f32[4]) tuple(b, c)",
    "u = (f32[4], (f32[4], f32[4])) tuple(a, t)",
    "ROOT r = f32[4] shuffle(u)",
)
OUTER = entry(
    *THREE,
    "t = (f32[4], f32[4]) tuple(a, b)",
    "u = ((f32[4], f32[4]), f32[4]) tuple(t, c)",
    "ROOT r = f32[4] shuffle(u)",
)


def applies(ignored: str = "") -> str:
    """A function that an operation is handed, and perhaps a parameter that it ignores."""
    function = f"f {{\n  x = f32[] parameter(0)\n{ignored}  ROOT y = f32[] negate(x)\n}}\n"
    return entry("p = f32[4] parameter(0)", "ROOT r = f32[4] shuffle(p), to_apply=f", before=function)


def laid(layout: str) -> str:
    return one("f32[2,3]", f"c = f32[2,3]{layout} copy(p)", "ROOT r = f32[6] shuffle(c)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (INNER, OUTER),
        (
            one("f32[4]", "ROOT r = f32[4] shuffle(p)"),
            one("f32[4]", "t = (f32[4]) tuple(p)", "ROOT r = f32[4] shuffle(t)"),
        ),
        (applies(), applies("  z = f32[] parameter(1)\n")),
        (laid("{1,0}"), laid("{0,1}")),
    ],
)
def test_what_it_is_handed_counts_as_of_a_call(before: str, after: str) -> None:
    """Nesting, what functions take, and how bytes lie: of a call each did, and of this it was proved."""
    for pair in ((before, after), (after, before)):
        unproved(*pair, "rounding")
    for module in (before, after):
        proved(module, module.replace("HloModule m", "HloModule n"), "exact")


def test_what_it_is_handed_lies_as_its_shape_says() -> None:
    """A tuple copies nothing: what it hands on in another layout is another array, where somebody may look at bytes."""
    lines = "t = (f32[2,3]{}) tuple(p)", "g = f32[2,3]{} get-tuple-element(t), index=0", "ROOT r = f32[6] shuffle(g)"
    straight, turned = ([line.format(layout) for line in lines] for layout in ("{1,0}", "{0,1}"))
    proved(one("f32[2,3]{1,0}", *straight), one("f32[2,3]{1,0}", "ROOT r = f32[6] shuffle(p)"), "exact")
    lost = one("f32[2,3]{1,0}", *turned)
    assert decide(parse_module(lost), parse_module(lost), "rounding").verdict != "proved"


def open_to_us(before: str, after: str) -> None:
    assert decide(parse_module(before), parse_module(after), "rounding").verdict == "unknown"


@pytest.mark.parametrize(
    "named", ["f", "%f", '"f"', "{f}", "{%f}", "{1,g,f}", "{f->k}", '"k->f"', '"of f."', '"of:\\nf"', '"k.f"', "{f.}"]
)
def test_what_it_may_call_in_words_that_nobody_knows_is_not_only_a_name(named: str) -> None:
    """Of a computation that an unknown attribute names the name alone was compared."""

    def calling(opcode: str, told: str) -> str:
        function = f"f {{\n  x = f32[] parameter(0)\n  ROOT y = f32[] {opcode}(x)\n}}\n"
        return entry("p = f32[4] parameter(0)", f"ROOT r = f32[4] shuffle(p), {told}", before=function)

    open_to_us(calling("negate", f"applies={named}"), calling("cosine", f"applies={named}"))
    for told in (f"applies={named}".replace("f", "h"), "to_apply=f"):
        proved(calling("negate", told), calling("negate", told).replace("HloModule m", "HloModule n"), "exact")
    unproved(calling("negate", "to_apply=f"), calling("cosine", "to_apply=f"), "rounding")
    silent = 'metadata={op_name="f"}'  # says nothing, whatever it names
    proved(calling("negate", silent), calling("negate", silent).replace("HloModule m", "HloModule n"), "exact")


def test_a_name_that_begins_with_a_number_is_one() -> None:
    def calling(opcode: str) -> str:
        function = f"%1f {{\n  x = f32[] parameter(0)\n  ROOT y = f32[] {opcode}(x)\n}}\n"
        return entry("p = f32[4] parameter(0)", "ROOT r = f32[4] shuffle(p), applies=%1f", before=function)

    open_to_us(calling("negate"), calling("cosine"))


def test_another_operation_that_it_names_is_not_only_a_name() -> None:
    def beside(opcode: str) -> str:
        return one("f32[4]", f"q = f32[4] {opcode}(p)", "ROOT r = f32[4] shuffle(p), with=%q")

    open_to_us(beside("negate"), beside("cosine"))
