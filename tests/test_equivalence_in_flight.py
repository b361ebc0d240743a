"""What is in flight between a start and its end: what may be said of it, where branches, loops and words that nobody
knows hand it on, and what flies inside of it."""

from __future__ import annotations

import pytest
from red_pairs import SAID, entry, is_named, on_two

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module

FLIES = "((f32[2]), f32[2])"


NOTHING_COMES_OF = "".join(
    f"w{n} {{\n  x = f32[2] parameter(0)\n  y = f32[2] collective-permute(x), source_target_pairs={{{{{pair}}}}}\n"
    f"  o = f32[2] constant({{1, 2}})\n  ROOT r = f32[2] copy(o)\n}}\n"
    f"s{n} {{\n  x = f32[2] parameter(0)\n  ROOT s = {FLIES} async-start(x), calls=w{n}\n}}\n"
    for n, pair in enumerate(("0,1", "1,0"))
)


def promised_by_its_end(before: list[str], after: list[str], functions: str = "") -> bool | None:
    """Both fly and end, and the end of one of them says what it carried: of `d0` in the module before, of `d1` in the
    one after. Whether that is told; None where it is not known which start is ended."""
    texts = []
    for n in (0, 1):
        ends = [f"d{k} = f32[2] async-done(c{k}){SAID if k == n else ''}" for k in (0, 1)]
        lines = ["p = f32[2] parameter(0)", "q = pred[] parameter(1)", "n = pred[] not(q)", *before, *after, *ends]
        text = entry(*lines, "ROOT r = f32[2] add(d0, d1)", before=NOTHING_COMES_OF + functions)
        texts.append(parse_module(on_two(text)))
    found = decide(texts[0], texts[1], "exact")
    if found.verdict == "unknown":
        assert "one of several starts" in found.reason
        return None
    assert found.verdict == "proved"
    return "promised: _xla_send_recv_validation of async-done" in dict(found.axioms)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("q01", "q01", None),
        ("q01", "q10", None),
        ("q00", "q01", None),
        ("q10", "q11", None),
        ("q00", "q00", False),
        ("q00", "q11", True),
        ("q00", "n00", False),
    ],
)
def test_what_is_said_of_one_of_two_that_may_fly(first: str, second: str, told: bool | None) -> None:
    def chosen(name: str, starts: str) -> list[str]:
        branches = f"true_computation=s{starts[1]}, false_computation=s{starts[2]}"
        return [f"{name} = {FLIES} conditional({starts[0]}, p, p), {branches}"]

    assert promised_by_its_end(chosen("c0", first), chosen("c1", second)) is told


@pytest.mark.parametrize("first", ["000", "111", "001", "010", "100"])
@pytest.mark.parametrize("second", ["000", "111", "011", "101", "110"])
def test_what_is_said_of_one_of_three_that_may_fly(first: str, second: str) -> None:
    """Each branch counts."""

    def chosen(name: str, starts: str) -> list[str]:
        branches = ", ".join(f"s{n}" for n in starts)
        return [
            f"n{name} = s32[] convert(q)",
            f"{name} = {FLIES} conditional(n{name}, p, p, p), branch_computations={{{branches}}}",
        ]

    known = len(set(first)) == len(set(second)) == 1
    assert promised_by_its_end(chosen("c0", first), chosen("c1", second)) is ((first != second) if known else None)


@pytest.mark.parametrize(("first", "second"), [("01", "01"), ("01", "00"), ("01", "11"), ("00", "01"), ("11", "11")])
def test_what_is_said_of_what_flies_round(first: str, second: str) -> None:
    """It flies before the loop, and another one after a turn."""
    state = f"(pred[], f32[2], {FLIES})"
    turns = "".join(
        f"b{n} {{\n  t = {state} parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
        f"  p = f32[2] get-tuple-element(t), index=1\n  f = {FLIES} get-tuple-element(t), index=2\n"
        f"  d = f32[2] async-done(f)\n  l = pred[] constant(false)\n  s = {FLIES} async-start(p), calls=w{n}\n"
        f"  ROOT r = {state} tuple(l, p, s)\n}}\n"
        for n in (0, 1)
    )
    more = f"more {{\n  t = {state} parameter(0)\n  ROOT k = pred[] get-tuple-element(t), index=0\n}}\n"

    def looped(name: str, starts: str) -> list[str]:
        at, turn = starts[0], starts[1]
        return [
            f"s{name} = {FLIES} async-start(p), calls=w{at}",
            f"t{name} = {state} tuple(q, p, s{name})",
            f"l{name} = {state} while(t{name}), condition=more, body=b{turn}",
            f"{name} = {FLIES} get-tuple-element(l{name}), index=2",
        ]

    assert promised_by_its_end(looped("c0", first), looped("c1", second), turns + more) is None


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [("00", "00", False), ("00", "11", True), ("00", "01", None), ("01", "00", None), ("01", "10", None)],
)
def test_what_is_said_of_one_of_two_that_fly_together(first: str, second: str, told: bool | None) -> None:
    """Out of one branch and the other: each part may be something else."""
    both = f"({FLIES}, {FLIES})"
    functions = "".join(
        f"f{n} {{\n  x = f32[2] parameter(0)\n  a = {FLIES} async-start(x), calls=w{first[n]}\n"
        f"  b = {FLIES} async-start(x), calls=w{second[n]}\n  ROOT t = {both} tuple(a, b)\n}}\n"
        for n in (0, 1)
    )
    one = [
        f"t = {both} conditional(q, p, p), true_computation=f0, false_computation=f1",
        f"c0 = {FLIES} get-tuple-element(t), index=0",
    ]
    assert promised_by_its_end(one, [f"c1 = {FLIES} get-tuple-element(t), index=1"], functions) is told


@pytest.mark.parametrize(("first", "second"), ["01", "10"])
def test_what_is_said_of_one_of_two_that_fly_round_together(first: str, second: str) -> None:
    """Before the loop they are alike."""
    state = f"(pred[], f32[2], {FLIES}, {FLIES})"
    given = f"  t = {state} parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
    functions = (
        f"more {{\n{given}  ROOT o = pred[] copy(k)\n}}\n"
        f"turn {{\n{given}  p = f32[2] get-tuple-element(t), index=1\n  l = pred[] constant(false)\n"
        f"  a = {FLIES} async-start(p), calls=w{first}\n  b = {FLIES} async-start(p), calls=w{second}\n"
        f"  ROOT r = {state} tuple(l, p, a, b)\n}}\n"
    )
    one = [
        f"a = {FLIES} async-start(p), calls=w0",
        f"b = {FLIES} async-start(p), calls=w0",
        f"t = {state} tuple(q, p, a, b)",
        f"l = {state} while(t), condition=more, body=turn",
        f"c0 = {FLIES} get-tuple-element(l), index=2",
    ]
    assert promised_by_its_end(one, [f"c1 = {FLIES} get-tuple-element(l), index=3"], functions) is None


KEEPS = "".join(
    f"v{n} {{\n  x = f32[2] parameter(0)\n  y = f32[2] collective-permute(x), source_target_pairs={{{{{pair}}}}}\n"
    "  ROOT r = f32[2] copy(x)\n}\n"
    for n, pair in enumerate(("0,1", "1,0"))
)


def kept_round(after: tuple[str, str], inside: tuple[str, str] = ("", "")) -> str:
    """What flies gives what it was given, out of the loop and in its turns: as many values, all of them one."""
    state = f"(pred[], {FLIES}, {FLIES})"
    given = f"  t = {state} parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
    functions = (
        f"more {{\n{given}  ROOT o = pred[] copy(k)\n}}\n"
        f"turn {{\n{given}  f = {FLIES} get-tuple-element(t), index=1\n  g = {FLIES} get-tuple-element(t), index=2\n"
        f"  d = f32[2] async-done(f){inside[0]}\n  e = f32[2] async-done(g){inside[1]}\n  l = pred[] constant(false)\n"
        f"  s = {FLIES} async-start(d), calls=v1\n  u = {FLIES} async-start(e), calls=v0\n"
        f"  ROOT r = {state} tuple(l, s, u)\n}}\n"
    )
    lines = [
        "p = f32[2] parameter(0)",
        "q = pred[] parameter(1)",
        f"a = {FLIES} async-start(p), calls=v0",
        f"b = {FLIES} async-start(p), calls=v0",
        f"t = {state} tuple(q, a, b)",
        f"l = {state} while(t), condition=more, body=turn",
        f"c0 = {FLIES} get-tuple-element(l), index=1",
        f"c1 = {FLIES} get-tuple-element(l), index=2",
        f"d0 = f32[2] async-done(c0){after[0]}",
        f"d1 = f32[2] async-done(c1){after[1]}",
        "ROOT r = f32[2] add(d0, d1)",
    ]
    return on_two(entry(*lines, before=KEEPS + functions))


@pytest.mark.parametrize("where", ["after", "inside"])
@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_what_is_said_of_one_of_two_that_begin_alike(where: str, first: int, second: int) -> None:
    """Though all that they give is one value."""
    texts = []
    for said in (first, second):
        words = (SAID, "") if said == 0 else ("", SAID)
        texts.append(parse_module(kept_round(words) if where == "after" else kept_round(("", ""), words)))
    found = decide(texts[0], texts[1], "exact")
    assert found.verdict == "unknown" and "one of several starts" in found.reason
    quiet = parse_module(kept_round(("", "")))
    assert decide(quiet, quiet, "exact").verdict == "proved"


@pytest.mark.parametrize("second", ["0", "1"])
@pytest.mark.parametrize("words", [', frontend_attributes={odd="x"}', ""])
@pytest.mark.parametrize("meets", ["c = f32[2] call(f), to_apply=ends{}", "g = {} opt-barrier(f){}"])
def test_what_flies_round_is_given_to_what_has_words_that_nobody_knows(meets: str, words: str, second: str) -> None:
    """It may be another one in each turn."""
    state = f"(s32[], f32[2], {FLIES}, f32[2])"
    given = f"  t = {state} parameter(0)\n  k = s32[] get-tuple-element(t), index=0\n"

    def text(start: str) -> str:
        met = meets.format(words) if "call" in meets else meets.format(FLIES, words) + "\n  c = f32[2] async-done(g)"
        functions = (
            f"ends {{\n  f = {FLIES} parameter(0)\n  ROOT d = f32[2] async-done(f)\n}}\n"
            f"more {{\n{given}  z = s32[] constant(0)\n  ROOT o = pred[] compare(k, z), direction=GT\n}}\n"
            f"turn {{\n{given}  p = f32[2] get-tuple-element(t), index=1\n  f = {FLIES} get-tuple-element(t), index=2\n"
            f"  {met}\n  o = s32[] constant(1)\n  j = s32[] subtract(k, o)\n"
            f"  s = {FLIES} async-start(p), calls=w{start}\n  ROOT r = {state} tuple(j, p, s, c)\n}}\n"
        )
        lines = ["p = f32[2] parameter(0)", "m = s32[] parameter(1)", f"s = {FLIES} async-start(p), calls=w0"]
        lines += [f"t = {state} tuple(m, p, s, p)", f"l = {state} while(t), condition=more, body=turn"]
        ends = "ROOT r = f32[2] get-tuple-element(l), index=3"
        return on_two(entry(*lines, ends, before=NOTHING_COMES_OF + functions))

    found = decide(parse_module(text("0")), parse_module(text(second)), "exact")
    assert found.verdict == ("unknown" if words else "proved")


@pytest.mark.parametrize(("first", "second"), [("x", "x"), ("x", "y"), ("y", "x"), ("", "x"), ("x", "")])
def test_what_is_said_of_what_flies_with_words_that_nobody_knows(first: str, second: str) -> None:
    """Also where nothing comes back."""
    functions = "w {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(x)\n  ROOT r = () tuple()\n}\n"

    def text(said: str) -> str:
        lines = ["p = f32[2] parameter(0)"]
        for n, odd in enumerate((first, second)):
            words = f', frontend_attributes={{odd="{odd}"}}' if odd else ""
            lines.append(f"s{n} = ((f32[2]), ()) async-start(p), calls=w{words}")
            lines.append(f"d{n} = () async-done(s{n}){SAID if said == str(n) else ''}")
        return on_two(entry(*lines, "ROOT r = f32[2] copy(p)", before=functions))

    for before, after in (("0", "1"), ("1", "0")):
        found = decide(parse_module(text(before)), parse_module(text(after)), "exact")
        assert found.verdict == "proved"
        told = "promised: _xla_send_recv_validation of async-done" in dict(found.axioms)
        assert told is (first != second)


@pytest.mark.parametrize(
    ("first", "second", "told"), [("00", "00", False), ("00", "01", True), ("01", "00", True), ("00", "10", True)]
)
def test_what_is_said_of_one_of_two_that_fly_out_of_unknown_words(first: str, second: str, told: bool) -> None:
    """Where nothing comes back: of the first and of the second part, and of what was given another array beside."""
    functions = "w {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(x)\n  ROOT r = () tuple()\n}\n" + (
        "h {\n  x = f32[2] parameter(0)\n  u = f32[2] parameter(1)\n  a = ((f32[2]), ()) async-start(x), calls=w\n"
        "  b = ((f32[2]), ()) async-start(x), calls=w\n  ROOT t = (((f32[2]), ()), ((f32[2]), ())) tuple(a, b)\n}\n"
    )

    def text(said: int) -> str:
        lines = ["p = f32[2] parameter(0)", "q = f32[2] parameter(1)"]
        for n, which in enumerate((first, second)):
            lines += [
                f"t{n} = (((f32[2]), ()), ((f32[2]), ())) call(p, {'pq'[int(which[0])]}), to_apply=h,"
                ' frontend_attributes={odd="x"}',
                f"c{n} = ((f32[2]), ()) get-tuple-element(t{n}), index={which[1]}",
                f"d{n} = () async-done(c{n}){SAID if said == n else ''}",
            ]
        return on_two(entry(*lines, "ROOT r = f32[2] copy(p)", before=functions))

    assert (
        is_named(parse_module(text(0)), parse_module(text(1)), "promised: _xla_send_recv_validation of async-done")
        is told
    )


@pytest.mark.parametrize(("given", "told"), [("p, q", False), ("p, p", True), ("q, q", True)])
def test_what_a_start_says_is_said_of_all_that_it_is_given(given: str, told: bool) -> None:
    """Also of what comes to nothing there."""
    body = (
        "w {\n  x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n  s = f32[2] add(x, y)\n"
        "  z = f32[2] collective-permute(s), source_target_pairs={{0,1}}\n  ROOT o = f32[2] constant({1, 2})\n}\n"
    )
    flies = "((f32[2], f32[2]), f32[2])"

    def text(said: bool) -> str:
        lines = ["p = f32[2] parameter(0)", "q = f32[2] parameter(1)"]
        lines += [f"a = {flies} async-start(p, q), calls=w{SAID}", "c = f32[2] async-done(a)"]
        lines += [f"b = {flies} async-start({given}), calls=w{SAID if said else ''}", "d = f32[2] async-done(b)"]
        return on_two(entry(*lines, "ROOT r = f32[2] add(c, d)", before=body))

    assert (
        is_named(
            parse_module(text(False)), parse_module(text(True)), "promised: _xla_send_recv_validation of async-start"
        )
        is told
    )


@pytest.mark.parametrize(("first", "second", "told"), [("0", "0", False), ("0", "1", True), ("1", "0", True)])
def test_what_is_said_of_what_is_given_something_in_flight(first: str, second: str, told: bool) -> None:
    outer = f"outer {{\n  f = {FLIES} parameter(0)\n  ROOT d = f32[2] async-done(f)\n}}\n"

    def given(name: str, start: str) -> list[str]:
        begins = f"f{name} = {FLIES} async-start(p), calls=w{start}"
        return [begins, f"{name} = (({FLIES}), f32[2]) async-start(f{name}), calls=outer"]

    assert promised_by_its_end(given("c0", first), given("c1", second), outer) is told


@pytest.mark.parametrize(("second", "found"), [("0", "proved"), ("1", "unknown")])
def test_what_is_called_with_words_that_nobody_knows_is_given_something_in_flight(second: str, found: str) -> None:
    outer = f"outer {{\n  f = {FLIES} parameter(0)\n  ROOT d = f32[2] async-done(f)\n}}\n"
    before, after = (
        parse_module(
            on_two(
                entry(
                    "p = f32[2] parameter(0)",
                    f"f = {FLIES} async-start(p), calls=w{start}",
                    'ROOT c = f32[2] call(f), to_apply=outer, frontend_attributes={odd="x"}',
                    before=NOTHING_COMES_OF + outer,
                )
            )
        )
        for start in ("0", second)
    )
    assert decide(before, after, "exact").verdict == found


HOLDS = f"((f32[2]), (f32[2], {FLIES}))"


COPIED = f"({FLIES}, {FLIES}, u32[])"


INSIDE = (
    "".join(
        f"t{n} {{\n  x = f32[2] parameter(0)\n  s = {FLIES} async-start(x), calls=w{n}\n"
        f"  ROOT t = (f32[2], {FLIES}) tuple(x, s)\n}}\n"
        f"a{n} {{\n  x = f32[2] parameter(0)\n  ROOT t = {HOLDS} async-start(x), calls=t{n}\n}}\n"
        f"c{n} {{\n  x = f32[2] parameter(0)\n  s = {FLIES} async-start(x), calls=w{n}\n"
        f"  ROOT t = {COPIED} copy-start(s)\n}}\n"
        f"b{n} {{\n  t = (pred[], f32[2], {HOLDS}) parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
        f"  p = f32[2] get-tuple-element(t), index=1\n  f = {HOLDS} get-tuple-element(t), index=2\n"
        f"  i = (f32[2], {FLIES}) async-done(f)\n  g = {FLIES} get-tuple-element(i), index=1\n"
        f"  d = f32[2] async-done(g)\n  l = pred[] constant(false)\n  s = {HOLDS} async-start(p), calls=t{n}\n"
        f"  ROOT r = (pred[], f32[2], {HOLDS}) tuple(l, p, s)\n}}\n"
        for n in (0, 1)
    )
    + f"more {{\n  t = (pred[], f32[2], {HOLDS}) parameter(0)\n  ROOT k = pred[] get-tuple-element(t), index=0\n}}\n"
    f"ends {{\n  f = {FLIES} parameter(0)\n  ROOT d = f32[2] async-done(f)\n}}\n"
    f"copied {{\n  f = {COPIED} parameter(0)\n  g = {FLIES} copy-done(f)\n  ROOT d = f32[2] async-done(g)\n}}\n"
)


def inside_of(way: str, name: str, n: str) -> list[str]:
    """What another one in flight holds in flight."""
    ends = [f"i{name} = (f32[2], {FLIES}) async-done(u{name})", f"{name} = {FLIES} get-tuple-element(i{name}), index=1"]
    if way == "copied":
        return [f"s{name} = {FLIES} async-start(p), calls=w{n}", f"{name} = {COPIED} copy-start(s{name})"]
    if way == "copied by both branches":
        branches = f"true_computation=c{n}, false_computation=c{n}"
        return [f"u{name} = {COPIED} conditional(q, p, p), {branches}", f"{name} = {FLIES} copy-done(u{name})"]
    if way == "begun":
        return [f"u{name} = {HOLDS} async-start(p), calls=t{n}", *ends]
    if way == "chosen":
        return [f"u{name} = {HOLDS} conditional(q, p, p), true_computation=a0, false_computation=a{n}", *ends]
    return [
        f"s{name} = {HOLDS} async-start(p), calls=t0",
        f"t{name} = (pred[], f32[2], {HOLDS}) tuple(q, p, s{name})",
        f"l{name} = (pred[], f32[2], {HOLDS}) while(t{name}), condition=more, body=b{n}",
        f"u{name} = {HOLDS} get-tuple-element(l{name}), index=2",
        *ends,
    ]


@pytest.mark.parametrize(
    ("way", "first", "second", "told"),
    [
        ("chosen", "0", "0", False),
        ("chosen", "0", "1", None),
        ("chosen", "1", "0", None),
        ("looped", "0", "0", None),
        ("looped", "0", "1", None),
        ("copied by both branches", "0", "0", False),
        ("copied by both branches", "0", "1", True),
        ("copied by both branches", "1", "0", True),
        ("begun", "0", "0", False),
        ("begun", "0", "1", True),
        ("begun", "1", "0", True),
    ],
)
def test_what_is_said_of_what_flies_inside_of_another(way: str, first: str, second: str, told: bool | None) -> None:
    assert promised_by_its_end(inside_of(way, "c0", first), inside_of(way, "c1", second), INSIDE) is told


@pytest.mark.parametrize(("first", "second", "told"), [("0", "0", False), ("0", "1", True), ("1", "0", True)])
def test_what_is_said_of_what_is_given_a_copy_of_what_flies(first: str, second: str, told: bool) -> None:
    def given(name: str, n: str) -> list[str]:
        starts = f"{name} = (({COPIED}), f32[2]) async-start(g{name}), calls=copied"
        return [*inside_of("copied", f"g{name}", n), starts]

    assert promised_by_its_end(given("c0", first), given("c1", second), INSIDE) is told


@pytest.mark.parametrize(
    ("way", "second", "found"),
    [
        ("copied", "0", "proved"),
        ("copied", "1", "unknown"),
        ("chosen", "0", "proved"),
        ("chosen", "1", "unknown"),
        ("looped", "1", "unknown"),
        ("begun", "0", "proved"),
        ("begun", "1", "unknown"),
    ],
)
def test_what_is_called_with_words_that_nobody_knows_is_given_what_flies_inside(
    way: str, second: str, found: str
) -> None:
    run = "copied" if way == "copied" else "ends"
    before, after = (
        parse_module(
            on_two(
                entry(
                    "p = f32[2] parameter(0)",
                    "q = pred[] parameter(1)",
                    *inside_of(way, "f", n),
                    f'ROOT c = f32[2] call(f), to_apply={run}, frontend_attributes={{odd="x"}}',
                    before=NOTHING_COMES_OF + INSIDE,
                )
            )
        )
        for n in ("0", second)
    )
    assert decide(before, after, "exact").verdict == found


@pytest.mark.parametrize(("second", "known"), [("0", True), ("1", False)])
def test_what_a_start_says_is_said_of_what_it_is_given_in_flight(second: str, known: bool) -> None:
    outer = f"outer {{\n  f = {FLIES} parameter(0)\n  ROOT d = f32[2] async-done(f)\n}}\n"
    lines = [
        "p = f32[2] parameter(0)",
        "q = pred[] parameter(1)",
        f"f = {FLIES} conditional(q, p, p), true_computation=s0, false_computation=s{second}",
        f"c = (({FLIES}), f32[2]) async-start(f), calls=outer{SAID}",
        "ROOT d = f32[2] async-done(c)",
    ]
    module = parse_module(on_two(entry(*lines, before=NOTHING_COMES_OF + outer)))
    assert decide(module, module, "exact").verdict == ("proved" if known else "unknown")
    silent = on_two(entry(*lines, before=NOTHING_COMES_OF + outer).replace(SAID, ""))
    assert decide(parse_module(silent), parse_module(silent), "exact").verdict == "proved"
    ends = parse_module(silent.replace("async-done(c)", f"async-done(c){SAID}"))
    assert decide(ends, ends, "exact").verdict == ("proved" if known else "unknown")


@pytest.mark.parametrize(("second", "told"), [("0", False), ("2", True), ("3", True)])
def test_what_is_said_of_what_holds_something_in_flight(second: str, told: bool) -> None:
    """It holds the same, and does something else beside, or gives something else that nobody takes."""
    functions = "".join(
        f"t{n} {{\n  x = f32[2] parameter(0)\n  s = {FLIES} async-start(x), calls=w0\n{more}"
        f"  ROOT t = (f32[2], {FLIES}) tuple({first}, s)\n}}\n"
        f"a{n} {{\n  x = f32[2] parameter(0)\n  ROOT t = {HOLDS} async-start(x), calls=t{n}\n}}\n"
        for n, more, first in (
            ("2", "  y = f32[2] collective-permute(x), source_target_pairs={{1,0}}\n", "x"),
            ("3", "  y = f32[2] negate(x)\n", "y"),
        )
    )

    def text(said: int) -> str:
        lines = ["p = f32[2] parameter(0)", "q = pred[] parameter(1)"]
        for n, which in enumerate(("0", second)):
            lines += [
                f"c{n} = {HOLDS} conditional(q, p, p), true_computation=a{which}, false_computation=a{which}",
                f"d{n} = (f32[2], {FLIES}) async-done(c{n}){SAID if said == n else ''}",
                f"f{n} = {FLIES} get-tuple-element(d{n}), index=1",
                f"e{n} = f32[2] async-done(f{n})",
            ]
        return on_two(entry(*lines, "ROOT r = f32[2] add(e0, e1)", before=NOTHING_COMES_OF + INSIDE + functions))

    assert (
        is_named(parse_module(text(0)), parse_module(text(1)), "promised: _xla_send_recv_validation of async-done")
        is told
    )


@pytest.mark.parametrize("gives", ["tuple(p, s)", "tuple(s, p)"])
def test_a_part_of_the_result_that_is_in_flight_is_not_modelled(gives: str) -> None:
    parts = f"(f32[2], {FLIES})" if gives == "tuple(p, s)" else f"({FLIES}, f32[2])"
    lines = ["p = f32[2] parameter(0)", f"s = {FLIES} async-start(p), calls=w0"]
    module = parse_module(on_two(entry(*lines, f"ROOT t = {parts} {gives}", before=NOTHING_COMES_OF)))
    assert decide(module, module, "exact").reason == "not modelled: a result that is in flight"
    inside = f"ROOT t = {parts} {gives}\n}}\n"
    function = f"gives {{\n  p = f32[2] parameter(0)\n  s = {FLIES} async-start(p), calls=w0\n  {inside}"
    copied = ["p = f32[2] parameter(0)", f"t = {parts} call(p), to_apply=gives", f"c = {parts} copy(t)"]
    module = parse_module(on_two(entry(*copied, "ROOT r = f32[2] copy(p)", before=NOTHING_COMES_OF + function)))
    assert "which is given what is in flight" in decide(module, module, "exact").reason


@pytest.mark.parametrize(("second", "found"), [("0", "proved"), ("1", "unknown")])
def test_all_branches_of_what_has_words_that_nobody_knows_count(second: str, found: str) -> None:
    before, after = (
        parse_module(
            on_two(
                entry(
                    "p = f32[2] parameter(0)",
                    "n = s32[] parameter(1)",
                    f"ROOT c = f32[2] conditional(n, p, p), branch_computations={{w0, w{n}}}, "
                    'frontend_attributes={odd="x"}',
                    before=NOTHING_COMES_OF,
                )
            )
        )
        for n in ("0", second)
    )
    assert decide(before, after, "exact").verdict == found


@pytest.mark.parametrize("branches", ["s0", "s0, s0, s0"])
def test_what_is_said_of_what_flies_out_of_so_many_branches(branches: str) -> None:
    number = branches.count(",") + 1

    def chosen(name: str) -> list[str]:
        given = ", ".join(["p"] * number)
        return [
            f"n{name} = s32[] convert(q)",
            f"{name} = {FLIES} conditional(n{name}, {given}), branch_computations={{{branches}}}",
        ]

    assert promised_by_its_end(chosen("c0"), chosen("c1")) is False


@pytest.mark.parametrize(("returns", "known"), [("f, v", True), ("v, f", False)])
def test_what_flies_round_stays_where_it_was(returns: str, known: bool) -> None:
    """It has the shape of what lies beside it."""
    state = f"(pred[], {FLIES}, {FLIES})"
    given = f"  t = {state} parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
    functions = (
        f"more {{\n{given}  ROOT o = pred[] copy(k)\n}}\n"
        f"turn {{\n{given}  f = {FLIES} get-tuple-element(t), index=1\n  v = {FLIES} get-tuple-element(t), index=2\n"
        f"  l = pred[] constant(false)\n  ROOT r = {state} tuple(l, {returns})\n}}\n"
    )
    lines = ["p = f32[2] parameter(0)", "q = pred[] parameter(1)", f"a = {FLIES} async-start(p), calls=w0"]
    lines += ["o = (f32[2]) tuple(p)", f"b = {FLIES} tuple(o, p)", f"t = {state} tuple(q, a, b)"]
    lines += [f"l = {state} while(t), condition=more, body=turn", "ROOT r = f32[2] copy(p)"]
    module = parse_module(on_two(entry(*lines, before=NOTHING_COMES_OF + functions)))
    found = decide(module, module, "exact")
    assert found.verdict == ("proved" if known else "unknown")
    assert known or "in flight" in found.reason


@pytest.mark.parametrize(
    ("begins", "turns"), [("copy", "async"), ("async", "copy"), ("copy", "copy"), ("async", "async")]
)
def test_what_flies_round_stays_what_it_was(begins: str, turns: str) -> None:
    """A copy of what is carried is known by it, and not what runs a computation of its own."""
    flies = "((f32[2]), (f32[2]), u32[])"
    starts = {"copy": f"{flies} copy-start(TUPLE)", "async": f"{flies} async-start(p), calls=wraps"}
    state = f"(pred[], f32[2], {flies})"
    given = f"  t = {state} parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
    functions = (
        "wraps {\n  x = f32[2] parameter(0)\n  ROOT t = (f32[2]) tuple(x)\n}\n"
        f"more {{\n{given}  ROOT o = pred[] copy(k)\n}}\n"
        f"turn {{\n{given}  p = f32[2] get-tuple-element(t), index=1\n  o = (f32[2]) tuple(p)\n"
        f"  f = {starts[turns].replace('TUPLE', 'o')}\n  l = pred[] constant(false)\n"
        f"  ROOT r = {state} tuple(l, p, f)\n}}\n"
    )
    lines = ["p = f32[2] parameter(0)", "q = pred[] parameter(1)", "o = (f32[2]) tuple(p)"]
    lines += [f"a = {starts[begins].replace('TUPLE', 'o')}", f"t = {state} tuple(q, p, a)"]
    lines += [f"l = {state} while(t), condition=more, body=turn", "ROOT r = f32[2] copy(p)"]
    module = parse_module(on_two(entry(*lines, before=functions)))
    assert decide(module, module, "exact").verdict == ("proved" if begins == turns else "unknown")


@pytest.mark.parametrize("where", ["turn", "after"])
def test_what_is_said_of_a_permutation_that_flies_round(where: str) -> None:
    """It is known by what it gives."""
    state = "(pred[], (f32[2], f32[2]), (f32[2], f32[2]))"
    given = f"  t = {state} parameter(0)\n  k = pred[] get-tuple-element(t), index=0\n"
    flies = "(f32[2], f32[2])"

    def start(name: str, of: str, pairs: str) -> str:
        return f"{name} = {flies} collective-permute-start({of}), source_target_pairs={{{pairs}}}"

    def text(said: int) -> str:
        words = [SAID if n == said else "" for n in (0, 1)]
        inside, after = (words, ["", ""]) if where == "turn" else (["", ""], words)
        functions = (
            f"more {{\n{given}  ROOT o = pred[] copy(k)\n}}\n"
            f"turn {{\n{given}  f = {flies} get-tuple-element(t), index=1\n"
            f"  g = {flies} get-tuple-element(t), index=2\n  d = f32[2] collective-permute-done(f){inside[0]}\n"
            f"  e = f32[2] collective-permute-done(g){inside[1]}\n"
            f"  l = pred[] constant(false)\n  {start('s', 'd', '{0,1}')}\n  {start('u', 'e', '{1,0}')}\n"
            f"  ROOT r = {state} tuple(l, s, u)\n}}\n"
        )
        lines = [
            "p = f32[2] parameter(0)",
            "q = pred[] parameter(1)",
            start("a", "p", "{0,1}"),
            start("b", "p", "{0,1}"),
        ]
        lines += [f"t = {state} tuple(q, a, b)", f"l = {state} while(t), condition=more, body=turn"]
        for n, name in enumerate("cd"):
            lines.append(f"{name} = {flies} get-tuple-element(l), index={n + 1}")
            lines.append(f"{name}d = f32[2] collective-permute-done({name}){after[n]}")
        return on_two(entry(*lines, "ROOT r = f32[2] add(cd, dd)", before=functions))

    found = decide(parse_module(text(0)), parse_module(text(0)), "exact")
    assert (found.verdict, found.axioms) == ("proved", ())
    found = decide(parse_module(text(0)), parse_module(text(1)), "exact")
    assert found.verdict == "proved"
    assert "promised: _xla_send_recv_validation of collective-permute-done" in dict(found.axioms)


@pytest.mark.parametrize(("first", "second", "told"), [("0", "0", False), ("0", "1", True), ("1", "0", True)])
def test_what_is_said_of_what_was_updated_in_flight(first: str, second: str, told: bool) -> None:
    def updated(name: str, start: str) -> list[str]:
        return [f"s{name} = {FLIES} async-start(p), calls=w{start}", f"{name} = {FLIES} async-update(s{name})"]

    assert promised_by_its_end(updated("c0", first), updated("c1", second)) is told


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("false_computation=w1, true_computation=w0", False),
        ("false_computation=w0, true_computation=w1", True),
        ("true_computation=w1, false_computation=w0", True),
    ],
)
def test_what_is_said_of_what_chooses_is_said_of_its_branches(second: str, told: bool) -> None:
    """As they are named, whatever their order."""
    chooses = "".join(
        f"h{n} {{\n  x = f32[2] parameter(0)\n  q = pred[] constant(true)\n"
        f"  c = f32[2] conditional(q, x, x), {branches}\n  ROOT r = f32[2] constant({{1, 2}})\n}}\n"
        for n, branches in enumerate(("true_computation=w0, false_computation=w1", second))
    )
    one, other = ([f"c{n} = {FLIES} async-start(p), calls=h{n}"] for n in (0, 1))
    assert promised_by_its_end(one, other, chooses) is told
