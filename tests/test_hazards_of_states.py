"""Where the parts of a loop's state lie, and what a condition, a call and a size read and write: each wrong module
stands beside its sound twin."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.claims.asynchronous import judge
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

_STATE: Final = "(f32[8], f32[8], pred[])"
_PARTS: Final = (
    f" s = {_STATE} parameter(0)\n a = f32[8] get-tuple-element(s), index=0\n"
    " b = f32[8] get-tuple-element(s), index=1\n k = pred[] get-tuple-element(s), index=2\n"
)
_MORE: Final = f"more {{\n{_PARTS} ROOT o = pred[] not(k)\n}}\n"
_SMALL: Final = " one = f32[2] constant({1,2})\n zero = s32[] constant(0)\n"
_GIVEN: Final = (
    " x = f32[8] parameter(0)\n k = pred[] parameter(1)\n y = f32[8] negate(x)\n w = f32[8] tan(x)\n"
    " u = f32[8] sine(x)\n v = f32[8] cosine(u)\n"
)


def _told(bodies: str, entry: str, says: str = "", given: str = _GIVEN) -> dict[str, set[str]]:
    """What is not proved, with its verdicts."""
    text = f"HloModule m, is_scheduled=true{says}\n{bodies}ENTRY e {{\n{given}{entry}}}\n"
    out: dict[str, set[str]] = {}
    for j in judge(parse_module(text), lambda _: True, lambda _: False):
        if j.found.verdict is not Verdict.PROVED:
            out.setdefault(j.claim, set()).add(str(j.found.verdict))
    return out


_CONSTANT: Final = " c = f32[8] constant({1,2,3,4,5,6,7,8})\n"
_ADDING: Final = f"turn {{\n{_PARTS} n = f32[8] add(a, b)\n ROOT t = {_STATE} tuple(n, b, k)\n}}\n"
_ALIAS: Final = ", input_output_alias={ {0}: (0, {}, may-alias) }"
_LOOP: Final = f" t = {_STATE} tuple(FIRST, READ, k)\n l = {_STATE} while(t), condition=more, body=turn\n"
_LAST: Final = " g = f32[8] get-tuple-element(l), index=0\n ROOT r = (f32[8]) tuple(g)\n"


@pytest.mark.parametrize("first", ["c", "u"])
@pytest.mark.parametrize(("read", "wrong"), [("x", True), ("y", False)])
def test_a_constant_that_a_loop_begins_with_is_copied_to_where_its_result_lies(
    first: str, read: str, wrong: bool
) -> None:
    """Which is where the parameter lies that is given away: it is not there any more in the first turn."""
    loop = _LOOP.replace("FIRST", first).replace("READ", read)
    told = _told(_ADDING + _MORE, _CONSTANT + loop + _LAST, _ALIAS)
    assert set(told.get("hazard-overwrite", ())) | set(told.get("hazard-donation", ())) == (
        {"refuted"} if wrong else set()
    )


@pytest.mark.parametrize(("read", "wrong"), [("a", True), ("b", False)])
def test_a_loop_that_begins_with_a_constant_in_a_loop_lies_where_that_has_its_part(read: str, wrong: bool) -> None:
    inner = _ADDING.replace("turn {", "adds {") + _MORE
    outer = f"turn {{\n{_PARTS}{_CONSTANT} q = {_STATE} tuple(c, {read}, k)\n"
    outer += f" i = {_STATE} while(q), condition=more, body=adds\n g = f32[8] get-tuple-element(i), index=0\n"
    outer += f" ROOT t = {_STATE} tuple(g, b, k)\n}}\n"
    entry = _LOOP.replace("FIRST", "u").replace("READ", "v") + " ROOT g = f32[8] get-tuple-element(l), index=0\n"
    assert _told(inner + outer, entry) == ({"hazard-overwrite": {"refuted"}} if wrong else {})


def test_one_constant_in_two_parts_of_a_state_is_two_copies() -> None:
    body = (
        f"turn {{\n{_PARTS} n = f32[8] add(a, b)\n m = f32[8] multiply(b, b)\n ROOT t = {_STATE} tuple(n, m, k)\n}}\n"
    )
    entry = _CONSTANT + _LOOP.replace("FIRST", "c").replace("READ", "c")
    entry += " g = f32[8] get-tuple-element(l), index=0\n h = f32[8] get-tuple-element(l), index=1\n"
    assert _told(body + _MORE, entry + " ROOT r = f32[8] add(g, h)\n") == {}


_UPDATED: Final = f"{_SMALL} e = f32[8] dynamic-update-slice(a, one, zero)\n"
_ASKS: Final = (
    f"asks {{\n{_PARTS}WRITES f = f32[1] slice(e), slice={{[0:1]}}\n g = f32[] reshape(f)\n z = f32[] constant(0)\n"
    " h = pred[] compare(g, z), direction=GT\n ROOT o = pred[] and(h, k)\n}\n"
)
_TURNS: Final = {
    "is handed on by the body": (f"turn {{\n{_PARTS} n = f32[8] negate(b)\n ROOT t = {_STATE} tuple(a, n, k)\n}}\n", 1),
    "is read behind the loop": (
        f"turn {{\n{_PARTS} n = f32[8] iota(), iota_dimension=0\n ROOT t = {_STATE} tuple(n, b, k)\n}}\n",
        0,
    ),
}


@pytest.mark.parametrize("turn", _TURNS)
@pytest.mark.parametrize("writes", [True, False])
def test_what_a_condition_writes_is_needed_where_it(turn: str, writes: bool) -> None:
    body, used = _TURNS[turn]
    asks = _ASKS.replace("WRITES", _UPDATED if writes else " e = f32[8] negate(a)\n")
    entry = _LOOP.replace("FIRST", "u").replace("READ", "v").replace("=more", "=asks")
    entry += f" g = f32[8] get-tuple-element(l), index={used}\n ROOT r = f32[8] negate(g)\n"
    assert _told(asks + body, entry) == ({"hazard-overwrite": {"refuted"}} if writes else {})


_TWO: Final = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n"
_CALLS: Final = (
    " m = f32[8] call(y, OTHER), to_apply=g\n n = f32[8] call(u, v), to_apply=g\n ROOT r = f32[8] add(m, n)\n"
)
_READS_FIRST: Final = (
    f"g {{\n{_TWO}{_SMALL} e = f32[8] dynamic-update-slice(q, one, zero)\n d = f32[8] negate(e)\n"
    " n = f32[8] sine(p)\n ROOT r = f32[8] add(d, n)\n}\n"
)
_READS_TWICE: Final = (
    f"run {{\n{_TWO} k = f32[8] reverse(q), dimensions={{0}}\n c = f32[4] slice(k), slice={{[0:4]}}\n"
    " z = s32[] constant(0)\n ROOT r = f32[8] dynamic-update-slice(p, c, z)\n}\n"
    f"g {{\n{_TWO} n = f32[8] sine(q)\n f = f32[8] fusion(p, q), kind=kLoop, calls=run\n d = f32[8] negate(f)\n"
    " ROOT r = f32[8] add(d, n)\n}\n"
)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [(_READS_FIRST, "refuted"), (_READS_TWICE, "unknown")],
    ids=["written as the second and read as the first", "read before and where it is written"],
)
def test_what_a_call_is_handed_twice_by_one_of_two_callers(body: str, verdict: str) -> None:
    assert verdict in _told(body, _CALLS.replace("OTHER", "y")).get("hazard-overwrite", ())
    assert not _told(body, _CALLS.replace("OTHER", "w")).get("hazard-overwrite")


@pytest.mark.parametrize(("waits", "wrong"), [("", True), (", control-predecessors={n}", False)])
def test_what_nothing_orders_may_be_read_after_it_was_written(waits: str, wrong: bool) -> None:
    """Though the text has it before."""
    body = f"g {{\n{_TWO}{_SMALL} n = f32[8] negate(q)\n e = f32[8] dynamic-update-slice(p, one, zero){waits}\n"
    body += " d = f32[8] negate(e)\n ROOT r = f32[8] add(d, n)\n}\n"
    text = f"HloModule m\n{body}ENTRY e {{\n{_GIVEN}{_CALLS.replace('OTHER', 'y')}}}\n"
    found = judge(parse_module(text), lambda _: True, lambda _: False, after_copy_insertion=True)
    refuted = [j.place.instruction for j in found if j.found.verdict is Verdict.REFUTED]
    assert refuted == (["m"] if wrong else [])


_SIZED: Final = " x = f32[<=8] parameter(0)\n y = f32[<=8] parameter(1)\n"
_SIZE: Final = " g = s32[] get-dimension-size(x), dimensions={0}\n"
_MADE: Final = " n = f32[<=8] negate(y)\n"


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("sized", [True, False])
def test_a_size_that_is_known_at_run_time_is_read_where_the_array_lies(late: bool, sized: bool) -> None:
    lines = (_MADE + _SIZE if late else _SIZE + _MADE) + " ROOT t = (f32[<=8], s32[]) tuple(n, g)\n"
    given = _SIZED
    if not sized:  # nothing but the shape tells it
        lines, given = lines.replace("<=", ""), given.replace("<=", "")
    told = _told("", lines, _ALIAS, given)
    assert told == ({"hazard-donation": {"refuted"}} if late and sized else {})


@pytest.mark.parametrize(("alias", "wrong"), [("{}: (0, {})", True), ("{1}: (0, {1})", True), ("{0}: (0, {0})", False)])
def test_who_gives_away_the_table_of_a_tuple_keeps_what_is_in_it(alias: str, wrong: bool) -> None:
    given = (
        " p = (f32[8], f32[8]) parameter(0)\n a = f32[8] get-tuple-element(p), index=0\n"
        " b = f32[8] get-tuple-element(p), index=1\n"
    )
    entry = f"{_UPDATED} n = f32[8] negate(e)\n o = f32[8] bitcast(b)\n ROOT r = (f32[8], f32[8]) tuple(n, o)\n"
    told = _told("", entry, f", input_output_alias={{ {alias} }}", given)
    assert told == ({"hazard-constant": {"refuted"}} if wrong else {})


@pytest.mark.parametrize(("by", "unknown"), [("NVSHMEM", True), ("NCCL", False)])
def test_a_sum_that_needs_two_buffers_is_not_made_in_one(by: str, unknown: bool) -> None:
    config = f'backend_config={{"collective_backend_config":{{"backend":"{by}"}}}}'
    adds = "adds {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n"
    entry = f" s = f32[8] all-reduce-start(x), to_apply=adds, {config}\n d = f32[8] all-reduce-done(s)\n"
    told = _told(adds, entry + " ROOT r = (f32[8]) tuple(d)\n", _ALIAS)
    assert told == ({"hazard-in-place": {"unknown"}} if unknown else {})


_DECIDED: Final = f"more {{\n{_PARTS} ROOT o = pred[] get-tuple-element(s), index=2\n}}\n" + _ADDING
_DECLARED: Final = 'custom-call(OVER), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}'


@pytest.mark.parametrize("flies", [False, True])
@pytest.mark.parametrize(("over", "wrong"), [("q", True), ("o", False)])
def test_what_a_condition_hands_on_the_loop_reads(over: str, wrong: bool, flies: bool) -> None:
    """Though no instruction of the condition touches an element of it."""
    loop = _LOOP.replace("FIRST", "u").replace("READ", "v").replace("v, k)", "v, q)")
    lines = f" d = pred[] {_DECLARED}\n{loop}"
    if flies:
        begun = _DECLARED.replace("custom-call(", "custom-call-start(")
        lines = f" f = ((pred[]), pred[]) {begun}\n{loop} d = pred[] custom-call-done(f)\n"
    lines = " q = pred[] not(k)\n o = pred[] not(k)\n" + lines.replace("OVER", over)
    end = " g = f32[8] get-tuple-element(l), index=0\n ROOT r = (f32[8], pred[]) tuple(g, d)\n"
    told = _told(_DECIDED, lines + end)
    assert told.get("hazard-output" if flies else "hazard-overwrite", set()) == ({"refuted"} if wrong else set())
    assert bool(told) is wrong


_FLAG: Final = "(pred[], pred[], u32[])"
_ENDS: Final = f"ends {{\n s = {_FLAG} parameter(0)\n ROOT d = pred[] copy-done(s)\n}}\n"
_BOTH: Final = "both {\n a = pred[] parameter(0)\n b = pred[] parameter(1)\n ROOT c = pred[] and(a, b)\n}\n"
_CHOICE: Final = "conditional(CHOSEN, s, s), true_computation=ends, false_computation=ends\n"
_CHOSEN: Final = {
    "where it ends": (_ENDS, f" ROOT r = pred[] {_CHOICE}"),
    "where it begins anew": (
        f"ends {{\n s = {_FLAG} parameter(0)\n d = pred[] copy-done(s)\n n = pred[] not(d)\n"
        f" ROOT t = {_FLAG} copy-start(n)\n}}\n",
        f" c = {_FLAG} {_CHOICE} ROOT r = pred[] copy-done(c)\n",
    ),
    "by another name": (_ENDS, f" h = pred[] opt-barrier(g)\n ROOT r = pred[] {_CHOICE.replace('CHOSEN', 'h')}"),
    "in a call": (
        f"{_ENDS}chooses {{\n s = {_FLAG} parameter(0)\n g = pred[] parameter(1)\n ROOT d = pred[] {_CHOICE}}}\n",
        " ROOT r = pred[] call(s, g), to_apply=chooses\n",
    ),
}


@pytest.mark.parametrize("way", _CHOSEN)
@pytest.mark.parametrize("part", [0, 1])
def test_what_chooses_a_branch_is_read_before_that_ends_it(way: str, part: int) -> None:
    """The copy is written until then; what it copies may be read."""
    bodies, lines = (text.replace("CHOSEN", "g") for text in _CHOSEN[way])
    entry = f" q = pred[] not(k)\n s = {_FLAG} copy-start(q)\n g = pred[] get-tuple-element(s), index={part}\n{lines}"
    assert _told(bodies, entry).get("hazard-output", set()) == (set() if part else {"refuted"})


@pytest.mark.parametrize(("chosen", "wrong"), [("s", True), ("k", False)])
def test_a_sum_in_flight_does_not_choose_who_ends_it(chosen: str, wrong: bool) -> None:
    bodies = f"{_BOTH}ends {{\n s = pred[] parameter(0)\n ROOT d = pred[] all-reduce-done(s)\n}}\n"
    entry = " q = pred[] not(k)\n s = pred[] all-reduce-start(q), to_apply=both\n"
    entry += f" ROOT r = pred[] {_CHOICE.replace('CHOSEN', chosen)}"
    assert _told(bodies, entry) == ({"hazard-output": {"refuted"}} if wrong else {})


@pytest.mark.parametrize(
    "turns",
    [
        " ROOT t = pred[] opt-barrier(s)\n",
        " d = pred[] all-reduce-done(s)\n n = pred[] not(d)\n ROOT t = pred[] all-reduce-start(n), to_apply=both\n",
    ],
)
@pytest.mark.parametrize(
    ("asks", "wrong"),
    [
        (" ROOT s = pred[] parameter(0)\n", True),
        (' s = pred[] parameter(0)\n ROOT o = pred[] custom-call(), custom_call_target="any"\n', False),
    ],
)
def test_what_flies_into_a_condition_is_not_what_its_loop_asks(asks: str, wrong: bool, turns: str) -> None:
    bodies = f"{_BOTH}asks {{\n{asks}}}\nturn {{\n s = pred[] parameter(0)\n{turns}}}\n"
    entry = " q = pred[] not(k)\n s = pred[] all-reduce-start(q), to_apply=both\n"
    entry += " l = pred[] while(s), condition=asks, body=turn\n ROOT d = pred[] all-reduce-done(l)\n"
    assert _told(bodies, entry) == ({"hazard-output": {"refuted"}} if wrong else {})


def test_what_a_loop_asks_lies_where_no_other_part_of_its_state_does() -> None:
    """One array is handed over as both, and the other one changes."""
    state = "(pred[], pred[])"
    parts = f" s = {state} parameter(0)\n p = pred[] get-tuple-element(s), index=0\n"
    parts += " q = pred[] get-tuple-element(s), index=1\n"
    bodies = f"more {{\n{parts} ROOT o = pred[] copy(q)\n}}\nturn {{\n{parts} n = pred[] not(p)\n"
    bodies += f" ROOT t = {state} tuple(n, q)\n}}\n"
    for more in (bodies, bodies.replace("ROOT o = pred[] copy(q)", "ROOT o = pred[] bitcast(q)")):
        for other, wrong in (("q", True), ("o", False)):
            entry = f" q = pred[] not(k)\n o = pred[] not(k)\n t = {state} tuple(q, {other})\n"
            entry += (
                f" l = {state} while(t), condition=more, body=turn\n ROOT r = pred[] get-tuple-element(l), index=0\n"
            )
            assert _told(more, entry) == ({"hazard-overwrite": {"refuted"}} if wrong else {})


_ASKED: Final = "(f32[8], f32[8], f32[8], s32[])"
_FOUR: Final = f" s = {_ASKED} parameter(0)\n" + "".join(
    f" {name} = {shape} get-tuple-element(s), index={n}\n"
    for n, (name, shape) in enumerate((("a", "f32[8]"), ("b", "f32[8]"), ("c", "f32[8]"), ("n", "s32[]")))
)
_WRITING: Final = (
    " one = f32[1] constant({1})\n e = f32[8] dynamic-update-slice(b, one, n)\n"
    ' o = () custom-call(e), custom_call_target="show", custom_call_has_side_effect=true\n'
)
_READING: Final = ' g = () custom-call(a), custom_call_target="show", custom_call_has_side_effect=true\n'
_LESS: Final = " most = s32[] constant(3)\n ROOT k = pred[] compare(n, most), direction=LT\n"
_NEXT: Final = " f = f32[8] sine(c)\n h = f32[8] cosine(c)\n one = s32[] constant(1)\n m = s32[] add(n, one)\n"
_SHARED: Final = {
    "the body reads": (f"{_FOUR}{_WRITING}{_LESS}", " d = f32[8] add(a, c)\n", ("a, b, d, m", "a, f, d, m")),
    "the condition reads": (f"{_FOUR}{_WRITING}{_READING}{_LESS}", "", ("f, f, c, m", "f, h, c, m")),
    "the body hands on": (f"{_FOUR}{_WRITING}{_LESS}", "", ("a, b, c, m", "a, f, c, m")),
}


def test_what_one_operation_of_a_condition_reads_where_it_writes_is_not_known() -> None:
    """Of two parts that are one array in the loop, and two where the condition is called."""
    at_once = ' e = f32[8] custom-call(b, a), custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n'
    shown = ' o = () custom-call(e), custom_call_target="show", custom_call_has_side_effect=true\n'
    told = _asked_twice(f"{_FOUR}{at_once}{shown}{_LESS}", "", "f, f, c, m", "x, x, v")
    assert "unknown" in told["hazard-overwrite"] and "refuted" not in told["hazard-overwrite"]


@pytest.mark.parametrize("who", _SHARED)
@pytest.mark.parametrize("wrong", [True, False])
def test_what_a_condition_writes_lies_with_what_others_need(who: str, wrong: bool) -> None:
    """Of two parts that lie in one buffer; the condition is called as well, with two that do not."""
    asks, turns, roots = _SHARED[who]
    told = _asked_twice(asks, turns, roots[not wrong], "x, x, v" if wrong else "u, y, v")
    assert ("refuted" in told.get("hazard-overwrite", ())) is wrong, told


def _asked_twice(asks: str, turns: str, root: str, first: str) -> dict[str, set[str]]:
    """A condition of a loop that is called as well, with other arrays."""
    bodies = f"asks {{\n{asks}}}\nturns {{\n{_FOUR}{_NEXT}{turns} ROOT r = {_ASKED} tuple({root})\n}}\n"
    given = " x0 = f32[8] parameter(0)\n" + "".join(f" {name} = f32[8] copy(x0)\n" for name in "xyuvwij")
    entry = (
        f" zero = s32[] constant(0)\n zero2 = s32[] copy(zero)\n t = {_ASKED} tuple({first}, zero2)\n"
        f" l = {_ASKED} while(t), condition=asks, body=turns\n g = f32[8] get-tuple-element(l), index=2\n"
        f" z = s32[] constant(0)\n q = {_ASKED} tuple(w, i, j, z)\n h = pred[] call(q), to_apply=asks\n"
        " ROOT r = (f32[8], pred[]) tuple(g, h)\n"
    )
    return _told(bodies, entry, given=given)


@pytest.mark.parametrize("turned", [False, True])
def test_what_any_branch_returns_twice_is_one_buffer_in_all(turned: bool) -> None:
    both = "p = f32[8] parameter(0)\n m = f32[8] negate(p)\n n = f32[8] sine(p)\n ROOT r = (f32[8], f32[8]) tuple(m, n)"
    bodies = f"two {{\n {both}\n}}\none {{\n {both.replace('(m, n)', '(m, m)')}\n}}\n"
    names = ("one", "two") if turned else ("two", "one")
    entry = (
        f" c = (f32[8], f32[8]) conditional(k, y, u), true_computation={names[0]}, false_computation={names[1]}\n"
        " m = f32[8] get-tuple-element(c), index=0\n n = f32[8] get-tuple-element(c), index=1\n"
    )
    assert _told(bodies, entry + " ROOT r = f32[8] add(m, n)\n") == {"hazard-overwrite": {"refuted"}}


@pytest.mark.parametrize("order", [("turn", "keeps"), ("keeps", "turn")])
def test_a_condition_of_two_loops_is_given_what_either_body_returns(order: tuple[str, str]) -> None:
    """One of which returns a constant, which the condition writes."""
    asks = f"asks {{\n{_PARTS}{_UPDATED} f = f32[1] slice(e), slice={{[0:1]}}\n g = f32[] reshape(f)\n"
    asks += " z = f32[] constant(0)\n h = pred[] compare(g, z), direction=GT\n ROOT o = pred[] and(h, k)\n}\n"
    bodies = asks + f"turn {{\n{_PARTS} n = f32[8] negate(b)\n ROOT t = {_STATE} tuple(n, b, k)\n}}\n"
    bodies += f"keeps {{\n{_PARTS}{_CONSTANT} ROOT t = {_STATE} tuple(c, b, k)\n}}\n"
    entry = "".join(
        f" t{n} = {_STATE} tuple({first}, y, k)\n l{n} = {_STATE} while(t{n}), condition=asks, body={body}\n"
        for n, (first, body) in enumerate(zip("uw", order, strict=True))
    )
    entry += " m = f32[8] get-tuple-element(l0), index=1\n n = f32[8] get-tuple-element(l1), index=1\n"
    assert "refuted" in _told(bodies, entry + " ROOT r = f32[8] add(m, n)\n")["hazard-constant"]


_NOT: Final = "NAME {\n s = pred[] parameter(0)\n ROOT n = pred[] not(s)\n}\n"


@pytest.mark.parametrize("body", ["asks", "turns"])
@pytest.mark.parametrize(
    ("entry", "says", "claim"),
    [
        (" q = pred[] not(k)\n l = pred[] while(q), WAY\n ROOT r = pred[] and(q, l)\n", "", "hazard-overwrite"),
        (" ROOT l = pred[] while(k), WAY\n", "", "hazard-constant"),
        (
            " l = pred[] while(k), WAY\n ROOT r = pred[] and(l, k)\n",
            ", input_output_alias={ {}: (1, {}, may-alias) }",
            "hazard-donation",
        ),
        (" q = pred[] not(k)\n l = pred[] while(q), WAY\n ROOT r = pred[] and(l, k)\n", "", ""),
    ],
)
def test_a_loop_that_turns_with_what_it_asks_makes_its_state_anew(entry: str, says: str, claim: str, body: str) -> None:
    """One computation is condition and body, and hands back what the next turn is given."""
    bodies = _NOT.replace("NAME", "asks") + (_NOT.replace("NAME", "turns") if body == "turns" else "")
    told = _told(bodies, entry.replace("WAY", f"condition=asks, body={body}"), says)
    assert ("refuted" in told.get(claim, set())) is bool(claim)
    assert claim or not told
