"""Pairs whose operations are not what their attributes and shapes say, each found by reading the prover: none proved,
and what is left open by a module is no difference. Beside each stands what is right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from red_pairs import ADD, COPY, SAID, entry, is_named, on_two, one, parts_of, proved, unproved

from hloproof.equivalence import decide
from hloproof.equivalence.reading import GraphReader
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.queries.equivalence import compare

MOVES = (
    ', backend_config={"fusion_backend_config":{"kind":"__dynamic_memcpy","dynamic_memcpy_config":'
    '{"depends_on_loop":true,"src_offset_bytes":["0","4"],"dst_offset_bytes":["0","0"]}}}'
)


def given_buffer(kind: str) -> str:
    return entry(
        f'b = b({kind}) custom-call(), custom_call_target="made"',
        'ROOT r = s32[] custom-call(b), custom_call_target="size"',
    )


@pytest.mark.parametrize("other", ["f32[8]", "s32[4]", "f32[2,2]"])
def test_buffers_of_other_shapes_are_other_values(other: str) -> None:
    unproved(given_buffer("f32[4]"), given_buffer(other), "rounding")
    proved(given_buffer("f32[4]"), given_buffer("f32[4]{0}"), "exact")


def test_a_buffer_of_a_size_known_at_run_time_only_is_not_modelled() -> None:
    module = parse_module(given_buffer("f32[<=4]"))
    assert decide(module, module).reason == "not modelled: dynamic dimensions"


def largest(stable: str, result: int = 1) -> str:
    return one(
        "f32[8]",
        f"t = (f32[3], s32[3]) topk(p), k=3, largest=true{stable}",
        f"ROOT r = {'s32' if result else 'f32'}[3] get-tuple-element(t), index={result}",
    )


LAST_OF_EQUALS = one(
    "f32[8]",
    "q = f32[8] reverse(p), dimensions={0}",
    "t = (f32[3], s32[3]) topk(q), k=3, largest=true",
    "i = s32[3] get-tuple-element(t), index=1",
    "c = s32[] constant(7)",
    "b = s32[3] broadcast(c), dimensions={}",
    "ROOT r = s32[3] subtract(b, i)",
)


def test_a_topk_that_is_not_stable_takes_any_of_equal_elements() -> None:
    unproved(largest(""), largest(", is_stable=false"), "rounding")
    proved(largest(""), largest(", is_stable=true"), "exact")
    modules = [parse_module(t) for t in (largest(", is_stable=false"), largest(""), LAST_OF_EQUALS)]
    assert compare(modules[0], modules[2]).verdict == "unknown"
    assert compare(modules[1], modules[2]).verdict == "refuted"
    smallest = parse_module(largest(", is_stable=false").replace("largest=true", "largest=false"))
    assert compare(modules[0], smallest).verdict == "refuted"


def counted(stated: str, limit: str = "n = s32[] constant(5)") -> str:
    """The sine of the sine ..., in a loop that is said to take so many turns."""
    return (
        "HloModule m\n"
        "body {\n s = (s32[], f32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
        " x = f32[] get-tuple-element(s), index=1\n k = s32[] get-tuple-element(s), index=2\n"
        " o = s32[] constant(1)\n j = s32[] add(i, o)\n"
        " y = f32[] sine(x)\n ROOT t = (s32[], f32[], s32[]) tuple(j, y, k)\n}\n"
        "turns {\n s = (s32[], f32[], s32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
        " k = s32[] get-tuple-element(s), index=2\n ROOT l = pred[] compare(i, k), direction=LT\n}\n"
        "ENTRY e {\n p = f32[] parameter(0)\n q = s32[] parameter(1)\n z = s32[] constant(0)\n"
        f" {limit}\n t = (s32[], f32[], s32[]) tuple(z, p, n)\n"
        f" w = (s32[], f32[], s32[]) while(t), condition=turns, body=body{stated}\n"
        " ROOT r = f32[] get-tuple-element(w), index=1\n}\n"
    )


def said(turns: int) -> str:
    return f', backend_config={{"known_trip_count":{{"n":"{turns}"}}}}'


TOLD = [("promised: known_trip_count of while", "exact")]
BY_PARAMETER = "n = s32[] copy(q)"


def counted_inside(stated: str) -> str:
    """A loop that takes five turns, in the turns of one that nobody counts."""
    state = "(s32[], s32[])"
    given = parts_of(state, ["i", "x"]) + " o = s32[] constant(1)\n z = s32[] constant(0)\n"
    functions = (
        f"five {{\n{given} n = s32[] constant(5)\n ROOT l = pred[] compare(i, n), direction=LT\n}}\n"
        f"adds {{\n{given} j = s32[] add(i, o)\n y = s32[] multiply(x, x)\n ROOT r = {state} tuple(j, y)\n}}\n"
        f"more {{\n{given} ROOT l = pred[] compare(i, z), direction=NE\n}}\n"
        f"runs {{\n{given} j = s32[] subtract(i, o)\n v = {state} tuple(z, x)\n"
        f" w = {state} while(v), condition=five, body=adds{stated}\n y = s32[] get-tuple-element(w), index=1\n"
        f" ROOT r = {state} tuple(j, y)\n}}\n"
    )
    lines = ("q = s32[] parameter(0)", "p = s32[] parameter(1)", f"v = {state} tuple(q, p)")
    loop = f"w = {state} while(v), condition=more, body=runs"
    return entry(*lines, loop, "ROOT r = s32[] get-tuple-element(w), index=1", before=functions)


def test_turns_that_a_loop_in_another_is_said_to_take_are_counted() -> None:
    proved(counted_inside(""), counted_inside(said(5)), "exact")
    wrong = decide(parse_module(counted_inside("")), parse_module(counted_inside(said(6))))
    assert wrong.reason == "a loop is said to take 6 turns, and takes 5"


def test_turns_that_a_loop_is_said_to_take_are_counted_or_a_promise() -> None:
    unproved(counted(""), counted(said(6)), "rounding")
    wrong = decide(parse_module(counted("")), parse_module(counted(said(6))))
    assert wrong.reason == "a loop is said to take 6 turns, and takes 5"
    for before, after, told in [
        (counted(""), counted(said(5)), []),
        (counted(said(6)), counted(said(6)), []),
        (counted("", BY_PARAMETER), counted(said(6), BY_PARAMETER), TOLD),
        (counted(said(5), BY_PARAMETER), counted(said(6), BY_PARAMETER), TOLD),
        (counted(said(6), BY_PARAMETER), counted(said(6), BY_PARAMETER), []),
        (counted(said(6), BY_PARAMETER), counted("", BY_PARAMETER), []),
    ]:
        found = decide(parse_module(before), parse_module(after))
        assert (found.verdict, [*found.axioms]) == ("proved", told)


STEP = '"known_init_step":{"init":"3","step":"2"}'
INDEX = '"known_induction_variable":{"tuple_index":"1"}'


@pytest.mark.parametrize(
    "config, name",
    [
        (STEP, "known_init_step"),
        (STEP.replace("known_init_step", "knownInitStep"), "known_init_step"),
        (INDEX, "known_induction_variable"),
        ('"dynamic_variable_tuple_indices":["2"]', "dynamic_variable_tuple_indices"),
    ],
)
def test_what_a_loop_is_said_to_hold_is_a_promise(config: str, name: str) -> None:
    """Whoever unrolls a loop takes where it begins, and by how much it grows, from here."""
    plain, said_so = counted(""), counted(f", backend_config={{{config}}}")
    quoted = counted(", backend_config=" + '"{' + config.replace('"', '\\"') + '}"')
    for before, after, told in [
        (plain, said_so, [(f"promised: {name} of while", "exact")]),
        (plain, quoted, [(f"promised: {name} of while", "exact")]),
        (said_so, plain, []),
        (said_so, said_so, []),
        (said_so, quoted, []),
    ]:
        found = decide(parse_module(before), parse_module(after))
        assert (found.verdict, [*found.axioms]) == ("proved", told)


NINES = "9" * 5000


@pytest.mark.parametrize(
    "config, turns",
    [
        ('"knownTripCount":{"n":-1}', "-1"),
        ('"known_trip_count":{}', "0"),
        ('"known_trip_count" : { "n" : 6 }', "6"),
        (f'"known_trip_count":{{"n":"{NINES}"}}', NINES[:20]),
    ],
    ids=["camel", "left out", "blanks", "long"],
)
def test_counts_are_read_however_they_are_written(config: str, turns: str) -> None:
    wrong = decide(parse_module(counted("")), parse_module(counted(f", backend_config={{{config}}}")))
    assert wrong.reason == f"a loop is said to take {turns} turns, and takes 5"


@pytest.mark.parametrize(
    "config",
    ["known_init_step", '"known_init_step":{"init":' + NINES + "}", '"knownInitStep":' + "[" * 3000 + "]" * 3000],
    ids=["no value", "long", "deep"],
)
def test_what_cannot_be_read_of_a_loop_is_not_known(config: str) -> None:
    found = decide(parse_module(counted("")), parse_module(counted(f", backend_config={{{config}}}")))
    assert found.verdict == "unknown" and "backend_config of while" in found.reason


def permuted(carried: str, by: str = "r = f32[2] copy(q)") -> str:
    """A permutation, and when it carries anything."""
    more = f', frontend_attributes={{_xla_send_recv_validation="{carried}"}}' if carried else ""
    return on_two(
        one("f32[2]", f"q = f32[2] collective-permute(p), source_target_pairs={{{{0,1}}}}{more}", f"ROOT {by}")
    )


def test_turns_in_which_a_permutation_carries_nothing_are_a_promise() -> None:
    told = [("promised: _xla_send_recv_validation of collective-permute", "exact")]
    for before, after, promised in [
        ("", "{{0,6}}", told),
        ("{{0,6}}", "{{0,5}}", told),
        ("", "invalid", told),
        ("{{0,6}}", "{{0,6}}", []),
        ("{{0,6}}", "", []),
    ]:
        found = decide(parse_module(permuted(before)), parse_module(permuted(after)), "exact")
        assert (found.verdict, [*found.axioms]) == ("proved", promised)
    zeros = "z = f32[2] subtract(q, q)\n  ROOT r = f32[2] negate(q)"
    for carried, verdict in (("", "refuted"), ("{{0,6}}", "unknown")):
        pair = parse_module(permuted(carried)), parse_module(permuted(carried, zeros).replace("ROOT z", "z"))
        assert compare(*pair).verdict == verdict


def started(carried: str, pair: str = "0,1") -> str:
    """A permutation in flight, of which its start says when it carries anything."""
    more = f', frontend_attributes={{_xla_send_recv_validation="{carried}"}}' if carried else ""
    wrapped = (
        "w {\n  x = f32[2] parameter(0)\n"
        f"  ROOT y = f32[2] collective-permute(x), source_target_pairs={{{{{pair}}}}}\n}}\n\n"
    )
    return on_two(
        entry(
            "p = f32[2] parameter(0)",
            f"s = ((f32[2]), f32[2]) async-start(p), calls=w{more}",
            "ROOT r = f32[2] async-done(s)",
            before=wrapped,
        )
    )


def test_what_a_start_says_is_said_of_its_permutation() -> None:
    told = [("promised: _xla_send_recv_validation of async-start", "exact")]
    for before, after, promised in [
        ("", "{{0,6}}", told),
        ("{{0,6}}", "{{0,5}}", told),
        ("{{0,6}}", "{{0,6}}", []),
        ("{{0,6}}", "", []),
    ]:
        found = decide(parse_module(started(before)), parse_module(started(after)), "exact")
        assert (found.verdict, [*found.axioms]) == ("proved", promised)
    other = started("", "1,0")
    for carried, verdict in (("", "refuted"), ("{{0,6}}", "unknown")):
        assert compare(parse_module(started(carried)), parse_module(other)).verdict == verdict


def test_a_start_that_names_no_computation_is_not_modelled() -> None:
    state = "((f32[4]), f32[2], u32[])"
    lines = ("p = f32[4] parameter(0)", f"s = {state} slice-start(p), slice={{[0:2]}}", "ROOT d = f32[2] slice-done(s)")
    found = decide(parse_module(entry(*lines)), parse_module(entry(*lines)))
    assert found.verdict == "unknown"
    assert found.reason == "not modelled: slice-start without a computation of its own"


@pytest.mark.parametrize(("second", "told"), [("0,1", False), ("1,0", True)])
def test_what_a_start_says_is_said_of_what_its_call_calls(second: str, told: bool) -> None:
    functions = "".join(
        f"inner{n} {{\n  x = f32[2] parameter(0)\n"
        f"  ROOT y = f32[2] collective-permute(x), source_target_pairs={{{{{pair}}}}}\n}}\n"
        f"w{n} {{\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] call(x), to_apply=inner{n}\n}}\n"
        for n, pair in enumerate(("0,1", second))
    )
    before, after = (
        on_two(
            entry(
                "p = f32[2] parameter(0)",
                f"s = ((f32[2]), f32[2]) async-start(p), calls=w0{SAID}",
                "a = f32[2] async-done(s)",
                f"t = ((f32[2]), f32[2]) async-start(p), calls=w1{SAID if said else ''}",
                "b = f32[2] async-done(t)",
                "ROOT r = f32[2] add(a, b)",
                before=functions,
            )
        )
        for said in (False, True)
    )
    assert (
        is_named(parse_module(before), parse_module(after), "promised: _xla_send_recv_validation of async-start")
        is told
    )


@pytest.mark.parametrize(("first", "second", "told"), [("f", "f", False), ("f", "g", True), ("", "f", True)])
def test_what_is_said_of_a_fusion_is_said_of_what_it_computes(first: str, second: str, told: bool) -> None:
    """Where a copy begins in each turn is not what it is for another computation of the same operands."""
    given = " x = s32[8] parameter(0)\n i = s32[] parameter(1)\n t = s32[] constant(3)\n"
    functions = "".join(
        f"{name} {{\n{given} j = s32[] multiply(i, {factor})\n"
        " ROOT r = s32[2] dynamic-slice(x, j), dynamic_slice_sizes={2}\n}\n"
        for name, factor in (("f", "i"), ("g", "t"))
    )

    def text(said: str) -> str:
        lines = [f"{n}1 = s32[2] fusion(x, i), kind=kLoop, calls={n}{MOVES if n == said else ''}" for n in "fg"]
        head = ("x = s32[8] parameter(0)", "i = s32[] parameter(1)")
        return entry(*head, *lines, "ROOT r = s32[2] add(f1, g1)", before=functions)

    found = decide(parse_module(text(first)), parse_module(text(second)), "exact")
    assert found.verdict == "proved"
    assert any(name.startswith("promised: fusion_backend_config") for name, _ in found.axioms) is told


def copying(*lines: str) -> str:
    """A copy from a place that moves in each turn, as the text says, in a branch and by itself."""
    functions = (
        "part {\n x = s32[8] parameter(0)\n i = s32[] parameter(1)\n"
        " ROOT r = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}\n}\n"
        "copies {\n t = (s32[8], s32[]) parameter(0)\n x = s32[8] get-tuple-element(t), index=0\n"
        " i = s32[] get-tuple-element(t), index=1\n"
        f" ROOT r = s32[2] fusion(x, i), kind=kLoop, calls=part{MOVES}\n}}\n"
        "none {\n t = (s32[8], s32[]) parameter(0)\n ROOT r = s32[2] constant({1, 2})\n}\n"
    )
    head = ("x = s32[8] parameter(0)", "i = s32[] parameter(1)", "q = pred[] parameter(2)")
    last = ("t = (s32[8], s32[]) tuple(x, i)", *lines, "ROOT r = s32[8] copy(x)")
    return entry(*head, *last, before=functions)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("copies, none", "copies, none", False),
        ("copies, none", "none, copies", True),
        ("copies, none", "", True),
        ("", "copies, none", True),
        ("", "", False),
    ],
)
def test_what_is_said_of_a_copy_in_a_branch(before: str, after: str, told: bool) -> None:
    texts = []
    for branches in (before, after):
        named = "true_computation={}, false_computation={}".format(*branches.split(", ")) if branches else ""
        run = f"conditional(q, t, t), {named}" if branches else "call(t), to_apply=copies"
        texts.append(parse_module(copying(f"c = s32[2] {run}")))
    found = decide(texts[0], texts[1], "exact")
    assert found.verdict == "proved"
    assert any(name.startswith("promised: fusion_backend_config") for name, _ in found.axioms) is told


@pytest.mark.parametrize("where", ["async-start", "async-done"])
@pytest.mark.parametrize(
    ("second", "of", "told"), [("0,1", "p", False), ("1,0", "p", True), ("0,1", "q", True), ("1,0", "q", True)]
)
def test_what_is_said_of_what_comes_to_nothing(where: str, second: str, of: str, told: bool) -> None:
    """Of the permutation that is started, and of what it is given, though nobody needs it."""
    functions = "".join(
        f"w{n} {{\n  x = f32[2] parameter(0)\n"
        f"  y = f32[2] collective-permute(x), source_target_pairs={{{{{pair}}}}}\n  ROOT r = f32[2] copy(o)\n}}\n"
        for n, pair in enumerate(("0,1", second))
    ).replace("  ROOT", "  o = f32[2] constant({1, 2})\n  ROOT")

    def text(said: bool) -> str:
        words = [SAID if where == w else "" for w in ("async-start", "async-done")]
        lines = ["p = f32[2] parameter(0)", "q = f32[2] parameter(1)"]
        lines += [f"s = ((f32[2]), f32[2]) async-start(p), calls=w0{words[0]}", f"a = f32[2] async-done(s){words[1]}"]
        words = words if said else ["", ""]
        lines += [
            f"t = ((f32[2]), f32[2]) async-start({of}), calls=w1{words[0]}",
            f"b = f32[2] async-done(t){words[1]}",
        ]
        module = entry(*lines, "ROOT r = f32[2] add(a, b)", before=functions)
        return on_two(module)

    assert (
        is_named(parse_module(text(False)), parse_module(text(True)), f"promised: _xla_send_recv_validation of {where}")
        is told
    )


@pytest.mark.parametrize(("first", "second"), [("p", "p"), ("p", "q"), ("q", "q")])
def test_what_an_end_says_is_said_of_what_is_permuted(first: str, second: str) -> None:
    def text(said: bool) -> str:
        pairs = "channel_id=1, source_target_pairs={{0,1}}"
        more = (SAID, SAID if said else "")
        lines = [
            f"s{n} = (f32[2], f32[2]) collective-permute-start({of}), {pairs}\n"
            f"  d{n} = f32[2] collective-permute-done(s{n}){more[n]}"
            for n, of in enumerate((first, second))
        ]
        head = ("p = f32[2] parameter(0)", "q = f32[2] parameter(1)")
        return on_two(entry(*head, *lines, "ROOT r = f32[2] add(d0, d1)"))

    found = decide(parse_module(text(False)), parse_module(text(True)), "exact")
    assert found.verdict == "proved"
    told = "promised: _xla_send_recv_validation of collective-permute-done"
    assert (told in dict(found.axioms)) is (first != second)


@pytest.mark.parametrize("dead", [True, False])
def test_who_takes_part_beside_words_that_nobody_knows_is_not_modelled(dead: bool) -> None:
    """In a branch: they may change what is exchanged, also where nobody needs it."""
    permutes = 'collective-permute(q), source_target_pairs={{0,1},{1,0}}, frontend_attributes={odd="x"}'
    module = parse_module(exchanged_by(permutes, "first"))
    assert decide(module, module, "exact").verdict == "unknown"
    call = 'call(q), to_apply=h, frontend_attributes={odd="x"}'
    body = (
        "h { q = f32[2] parameter(0)\n g = f32[2] all-reduce(q), replica_groups={}, to_apply=add\n"
        f" ROOT o = f32[2] negate({'q' if dead else 'g'})\n}}\nall {{"
    )
    texts = [parse_module(exchanged_by(call, which).replace("all {", body, 1)) for which in ("first", "every")]
    for before, after in ((0, 1), (1, 0), (0, 0)):
        assert decide(texts[before], texts[after], "exact").verdict == "unknown"


@pytest.mark.parametrize("loops", [0, 1, 3])
def test_who_takes_part_is_not_modelled_behind_loops(loops: int) -> None:
    """However many there were before."""
    state = "(s32[], f32[2])"
    given = f"t = {state} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
    more = (
        "h { q = f32[2] parameter(0)\n g = f32[2] all-reduce(q), replica_groups={}, to_apply=add\n"
        " ROOT o = f32[2] negate(g)\n}\n"
        f"ends {{ {given} z = s32[] constant(0)\n ROOT o = pred[] compare(k, z), direction=GT\n}}\n"
        f"turn {{ {given} a = f32[2] get-tuple-element(t), index=1\n u = s32[] constant(1)\n"
        f" j = s32[] subtract(k, u)\n d = f32[2] add(a, a)\n ROOT r = {state} tuple(j, d)\n}}\nall {{"
    )
    runs = "".join(
        f" n{n} = s32[] constant({n + 2})\n v{n} = {state} tuple(n{n}, q)\n"
        f" l{n} = {state} while(v{n}), condition=ends, body=turn\n"
        for n in range(loops)
    )
    text = exchanged_by('call(q), to_apply=h, frontend_attributes={odd="x"}', "first").replace("all {", more, 1)
    inside = text.replace(" ROOT g = f32[2] call(q)", f"{runs} ROOT g = f32[2] call(q)")
    assert inside.count("while") == loops
    plain = inside.replace(', frontend_attributes={odd="x"}', "")
    assert decide(parse_module(inside), parse_module(inside), "exact").verdict == "unknown"
    assert decide(parse_module(plain), parse_module(plain), "exact").verdict == "proved"


def ended(*said: str) -> str:
    """Two permutations in flight, of which each end says when it carries anything, and perhaps the start of the first
    one."""
    more = [f', frontend_attributes={{_xla_send_recv_validation="{carried}"}}' if carried else "" for carried in said]
    more += [""] * (3 - len(more))
    wrapped = (
        "w {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] collective-permute(x), source_target_pairs={{0,1}}\n}\n\n"
    )
    return on_two(
        entry(
            "p = f32[2] parameter(0)",
            "q = f32[2] parameter(1)",
            f"s = ((f32[2]), f32[2]) async-start(p), calls=w{more[2]}",
            f"a = f32[2] async-done(s){more[0]}",
            "t = ((f32[2]), f32[2]) async-start(q), calls=w",
            f"b = f32[2] async-done(t){more[1]}",
            "ROOT r = f32[2] add(a, b)",
            before=wrapped,
        )
    )


def test_what_an_end_says_is_said_of_what_it_ends() -> None:
    told = [("promised: _xla_send_recv_validation of async-done", "exact")]
    for before, after, promised in [
        (("", ""), ("{{0,6}}", ""), told),
        (("{{0,6}}", ""), ("{{0,5}}", ""), told),
        (("{{0,6}}", ""), ("{{0,6}}", "{{0,6}}"), told),
        (("{{0,6}}", ""), ("{{0,6}}", ""), []),
        (("{{0,6}}", ""), ("", ""), []),
        (("", "", "{{0,6}}"), ("{{0,6}}", "", "{{0,6}}"), []),
        (("", "", "{{0,6}}"), ("{{0,5}}", "", "{{0,6}}"), told),
    ]:
        found = decide(parse_module(ended(*before)), parse_module(ended(*after)), "exact")
        assert (found.verdict, [*found.axioms]) == ("proved", promised)


def sliced(pairs: str) -> str:
    """Two slices of what a device has, sent to two places of what another one has."""
    return one(
        "f32[4]",
        "o = f32[4] negate(p)",
        "z = s32[] constant(0)",
        "w = s32[] constant(2)",
        "a0 = (s32[]) tuple(z)",
        "a1 = (s32[]) tuple(w)",
        "a = ((s32[]), (s32[])) tuple(a0, a1)",
        f"ROOT r = f32[4] collective-permute(p, o, a, a), source_target_pairs={{{pairs}}}, slice_sizes={{{{2}},{{2}}}}",
    ).replace("m\n", "m, replica_count=4\n", 1)


def test_which_slice_a_pair_carries_is_said_by_its_place() -> None:
    unproved(sliced("{0,1},{0,2}"), sliced("{0,2},{0,1}"), "rounding")
    whole = [permuted("").replace("{{0,1}}", pairs) for pairs in ("{{0,1},{1,0}}", "{{1,0},{0,1}}")]
    proved(whole[0], whole[1], "exact")
    four = "(f32[2], f32[2], f32[2], f32[2])"
    combined = whole[1].replace("q = f32[2]", f"t = {four}").replace("permute(p)", "permute(p, p, p, p)")
    proved(whole[0], combined.replace("ROOT", "q = f32[2] get-tuple-element(t), index=3\n  ROOT"), "exact")


def factor(other: str, lower: bool = True, kind: str = "f32") -> str:
    """A triangular factor, with `other` beside it."""
    return one(
        f"{kind}[2,2]",
        f"c = {kind}[2,2] cholesky(p), lower={'true' if lower else 'false'}",
        "i = s32[2,2] iota(), iota_dimension=0",
        "j = s32[2,2] iota(), iota_dimension=1",
        f"k = pred[2,2] compare(i, j), direction={'GE' if lower else 'LE'}",
        f"z = {kind}[] constant({other})",
        f"b = {kind}[2,2] broadcast(z), dimensions={{}}",
        f"ROOT r = {kind}[2,2] select(k, c, b)",
    )


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind, seven", [("f32", "7"), ("c64", "(7, 7)")])
def test_what_stands_beside_a_triangular_factor_is_left_open(lower: bool, kind: str, seven: str) -> None:
    plain = one(f"{kind}[2,2]", f"ROOT c = {kind}[2,2] cholesky(p), lower={'true' if lower else 'false'}")
    assert compare(parse_module(plain), parse_module(factor(seven, lower, kind))).verdict == "unknown"
    assert compare(parse_module(factor(seven, lower, kind)), parse_module(plain)).verdict == "refuted"
    other = factor(seven, not lower, kind)
    assert compare(parse_module(plain), parse_module(other)).verdict == "refuted"
    unproved(factor(seven.replace("7", "0"), lower, kind), plain, "rounding")


def pooled(window: str, function: str, sizes: str = "4") -> str:
    body = f"g {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] {function}\n}}\n"
    return entry(
        "p = f32[5] parameter(0)",
        "z = f32[] constant(0)",
        f"ROOT r = f32[{sizes}] reduce-window(p, z), window={{{window}}}, to_apply=g",
        before=body,
    )


def taken(slice_: str, sizes: str) -> str:
    return one("f32[5]", f"ROOT r = f32[{sizes}] slice(p), slice={{[{slice_}]}}")


@pytest.mark.parametrize(
    "window, sizes, first, last, none",
    [
        ("size=2", "4", "0:4", "1:5", "0:4:1"),
        ("size=2 stride=2", "2", "0:4:2", "1:5:2", "2:5:2"),
        ("size=2 stride=3 pad=-1_2", "2", "1:5:3", "2:5:2", "0:4:3"),
        ("size=2 rhs_dilate=2 stride=2 pad=-1_0", "1", "1:2", "3:4", "2:3"),
    ],
)
def test_the_order_in_a_window_is_left_open(window: str, sizes: str, first: str, last: str, none: str) -> None:
    before = parse_module(pooled(window, "copy(b)", sizes))
    assert compare(before, parse_module(taken(first, sizes))).verdict == "unknown"
    if none != "0:4:1":
        assert compare(before, parse_module(taken(none, sizes))).verdict == "refuted"
    for function in ("add(a, b)", "maximum(a, b)"):
        summed = parse_module(pooled(window, function, sizes))
        assert compare(summed, parse_module(taken(last, sizes))).verdict == "refuted"


def test_a_bitcast_does_not_pack_elements() -> None:
    def cast(to: str) -> str:
        return entry("p = s4[4]{0:E(4)} parameter(0)", f"ROOT r = s4[4]{{0{to}}} bitcast(p)")

    kept = entry("ROOT p = s4[4]{0:E(4)} parameter(0)")
    proved(kept, cast(":E(4)"), "exact")
    for to in ("", ":E(8)"):
        found = decide(parse_module(kept), parse_module(cast(to)))
        assert found.reason == "not modelled: a bitcast between elements that take different room in memory"
    whole = entry("p = f32[4] parameter(0)", "ROOT r = f32[4]{0:E(32)} bitcast(p)")
    proved(COPY, whole, "exact")


@pytest.mark.parametrize("said", ["(f32[5])->f32[4]", "(f32[4], f32[])->f32[4]", "()->f32[4]", "(f32[4])->s32[4]"])
def test_a_header_that_names_other_shapes_than_the_entry_has_is_an_error(said: str) -> None:
    right, wrong = (
        parse_module(COPY.replace("m\n", f"m, entry_computation_layout={{{text}}}\n", 1))
        for text in ("(f32[4]{0})->f32[4]{0}", said)
    )
    assert decide(parse_module(COPY), right).verdict == "proved"
    for pair in ((right, wrong), (wrong, right)):
        with pytest.raises(InputError, match="entry_computation_layout"):
            decide(*pair)


@pytest.mark.parametrize("header", ["replica_count=0", "replica_count=-1", "num_partitions=0"])
def test_a_module_runs_on_one_device_at_least(header: str) -> None:
    with pytest.raises(InputError, match="is at least 1"):
        parse_module(COPY.replace("m\n", f"m, {header}\n", 1))


def exchanged(selector: str, devices: str = "replica_groups={}") -> str:
    """The sum over devices in a branch, looked at by the first device alone."""
    return (
        "HloModule m, replica_count=2\n"
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
        f"all {{ q = f32[] parameter(0)\n ROOT g = f32[] all-reduce(q), {devices}, to_apply=add\n}}\n"
        "own { ROOT q = f32[] parameter(0)\n}\n"
        "ENTRY e {\n p = f32[] parameter(0)\n i = u32[] replica-id()\n z = u32[] constant(0)\n"
        " first = pred[] compare(i, z), direction=EQ\n every = pred[] constant(true)\n"
        f" c = f32[] conditional({selector}, p, p), true_computation=all, false_computation=own\n"
        " ROOT r = f32[] select(first, c, p)\n}\n"
    )


@pytest.mark.parametrize(
    "devices", ["replica_groups={}", "channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}"]
)
def test_who_takes_part_in_an_exchange_is_said_by_what_chooses_its_branch(devices: str) -> None:
    proved(exchanged("first", devices), exchanged("first", devices), "exact")
    unproved(exchanged("first", devices), exchanged("every", devices), "rounding")
    unproved(exchanged("every", devices), exchanged("first", devices), "rounding")
    other = exchanged("first", devices).replace("ROOT r = f32[] add(a, b)", "ROOT r = f32[] multiply(a, b)")
    unproved(exchanged("first", devices), other, "rounding")
    begins = [
        exchanged(chooses, devices)
        .replace("ROOT g = f32[] all-reduce(q)", "s = f32[] all-reduce-start(q)")
        .replace("to_apply=add\n", "to_apply=add\n ROOT g = f32[] all-reduce-done(s)\n")
        for chooses in ("first", "every")
    ]
    proved(begins[0], begins[0], "exact")
    unproved(begins[0], begins[1], "rounding")
    unproved(begins[1], begins[0], "rounding")


EXCHANGES = (
    "all-reduce(q), replica_groups={}, to_apply=add",
    "all-gather(s), replica_groups={{0,1}}, dimensions={0}",
    "all-to-all(q), replica_groups={{0,1}}, dimensions={0}",
    "collective-permute(q), source_target_pairs={{0,1},{1,0}}",
    "collective-broadcast(q), replica_groups={{0,1}}",
    "map(q), dimensions={0}, to_apply=folds",
    "map(q), dimensions={0}, to_apply=permutes",
    'custom-call(q), custom_call_target="some", called_computations={folds}',
)


def exchanged_by(way: str, chooses: str) -> str:
    return (
        "HloModule m, replica_count=2\n"
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
        "folds { x = f32[] parameter(0)\n ROOT y = f32[] all-reduce(x), replica_groups={}, to_apply=add\n}\n"
        "permutes { x = f32[] parameter(0)\n"
        " ROOT y = f32[] collective-permute(x), source_target_pairs={{0,1},{1,0}}\n}\n"
        f"all {{ q = f32[2] parameter(0)\n s = f32[1] slice(q), slice={{[0:1]}}\n ROOT g = f32[2] {way}\n}}\n"
        "own { ROOT q = f32[2] parameter(0)\n}\n"
        "ENTRY e {\n p = f32[2] parameter(0)\n i = u32[] replica-id()\n z = u32[] constant(0)\n"
        " first = pred[] compare(i, z), direction=EQ\n every = pred[] constant(true)\n"
        f" c = f32[2] conditional({chooses}, p, p), true_computation=all, false_computation=own\n"
        " one = pred[2] broadcast(first), dimensions={}\n ROOT r = f32[2] select(one, c, p)\n}\n"
    )


@pytest.mark.parametrize("way", EXCHANGES)
def test_who_takes_part_counts_for_all_exchanges(way: str) -> None:
    """In what an operation applies they are not modelled: how often it is applied, and by whom, would count as well."""
    same = decide(parse_module(exchanged_by(way, "first")), parse_module(exchanged_by(way, "first")), "exact")
    assert same.verdict == ("unknown" if way.startswith(("map", "custom")) else "proved")
    for both in (("first", "every"), ("every", "first")):
        before, after = (parse_module(exchanged_by(way, chooses)) for chooses in both)
        assert decide(before, after, "rounding").verdict == "unknown"


LOOPS = "(s32[], f32[2], f32[2])"


def exchanged_in_turns(second: str) -> str:
    """A sum over devices in the one turn of a loop, and in the turns of another, which each device takes another number
    of; there it, or the first one, is added."""
    given = (
        f" t = {LOOPS} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        " x = f32[2] get-tuple-element(t), index=1\n h = f32[2] get-tuple-element(t), index=2\n"
        " one = s32[] constant(1)\n zero = s32[] constant(0)\n"
    )
    summed = " g = f32[2] all-reduce(x), replica_groups={}, to_apply=add\n"
    return (
        "HloModule m, replica_count=2\n"
        "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n"
        f"once {{\n{given} ROOT o = pred[] compare(k, one), direction=LT\n}}\n"
        f"turn {{\n{given}{summed} j = s32[] add(k, one)\n ROOT r = {LOOPS} tuple(j, x, g)\n}}\n"
        "more {\n t = (s32[], f32[2], f32[2], f32[2]) parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        " zero = s32[] constant(0)\n ROOT o = pred[] compare(k, zero), direction=GT\n}\n"
        "turns {\n t = (s32[], f32[2], f32[2], f32[2]) parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        " x = f32[2] get-tuple-element(t), index=1\n h = f32[2] get-tuple-element(t), index=2\n"
        f" a = f32[2] get-tuple-element(t), index=3\n one = s32[] constant(1)\n{summed} j = s32[] subtract(k, one)\n"
        f" d = f32[2] add(a, {second})\n ROOT r = (s32[], f32[2], f32[2], f32[2]) tuple(j, x, h, d)\n}}\n"
        "ENTRY e {\n x = f32[2] parameter(0)\n i = u32[] replica-id()\n n = s32[] convert(i)\n z = s32[] constant(0)\n"
        f" v = {LOOPS} tuple(z, x, x)\n l = {LOOPS} while(v), condition=once, body=turn\n"
        " h = f32[2] get-tuple-element(l), index=2\n w = (s32[], f32[2], f32[2], f32[2]) tuple(n, x, h, x)\n"
        " m = (s32[], f32[2], f32[2], f32[2]) while(w), condition=more, body=turns\n"
        " ROOT r = f32[2] get-tuple-element(m), index=3\n}\n"
    )


def exchanged_deeper(second: str) -> str:
    """The same in the one turn of a loop in these turns."""
    text, summed = exchanged_in_turns(second), " g = f32[2] all-reduce(x), replica_groups={}, to_apply=add\n"
    given = (
        f" t = {LOOPS} parameter(0)\n k = s32[] get-tuple-element(t), index=0\n"
        " x = f32[2] get-tuple-element(t), index=1\n one = s32[] constant(1)\n"
    )
    inner = (
        f"here {{\n{given} ROOT o = pred[] compare(k, one), direction=LT\n}}\n"
        f"inner {{\n{given}{summed} j = s32[] add(k, one)\n ROOT r = {LOOPS} tuple(j, x, g)\n}}\n"
    )
    run = (
        f" z0 = s32[] constant(0)\n u = {LOOPS} tuple(z0, x, x)\n y = {LOOPS} while(u), condition=here, body=inner\n"
        " g = f32[2] get-tuple-element(y), index=2\n"
    )
    return text.replace(summed, run).replace("once {", f"{inner}once {{", 1)


@pytest.mark.parametrize("text", [exchanged_in_turns, exchanged_deeper])
def test_who_takes_part_in_a_turn_is_said_by_what_decides_on_it(text: Callable[[str], str]) -> None:
    for second in "gh":
        proved(text(second), text(second), "exact")
    unproved(text("g"), text("h"), "rounding")
    unproved(text("h"), text("g"), "rounding")


def exchanged_inside(outer: str, inner: str) -> str:
    """The same in a branch of a branch."""
    pair = "(f32[], pred[])"
    functions = (
        f"both {{ t = {pair} parameter(0)\n q = f32[] get-tuple-element(t), index=0\n"
        " b = pred[] get-tuple-element(t), index=1\n"
        " ROOT c = f32[] conditional(b, q, q), true_computation=all, false_computation=own\n}\n"
        f"none {{ t = {pair} parameter(0)\n ROOT q = f32[] get-tuple-element(t), index=0\n}}\n"
    )
    text = exchanged(outer).replace(f"({outer}, p, p)", f"({outer}, t, t)").replace("ENTRY", f"{functions}ENTRY")
    text = text.replace(
        "true_computation=all, false_computation=own\n ROOT r", "true_computation=both, false_computation=none\n ROOT r"
    )
    return text.replace(
        " c = f32[] conditional(" + outer,
        f" w = pred[] parameter(1)\n t = {pair} tuple(p, {inner})\n c = f32[] conditional({outer}",
    )


@pytest.mark.parametrize("outer", ["first", "every", "w"])
@pytest.mark.parametrize("inner", ["first", "every", "w"])
def test_who_takes_part_in_an_exchange_is_said_by_all_that_chooses(outer: str, inner: str) -> None:
    for others in (("first", "w"), ("w", "first"), ("every", "w"), ("w", "every")):
        one, other = exchanged_inside(outer, inner), exchanged_inside(*others)
        (proved if (outer, inner) == others else unproved)(one, other, "exact")


def test_who_takes_part_in_a_turn_beside_words_that_nobody_knows_is_not_modelled() -> None:
    summed = " g = f32[2] all-reduce(x), replica_groups={}, to_apply=add\n"
    function = f"sums {{\n x = f32[2] parameter(0)\n{summed.replace(' g', ' ROOT g')}}}\n"
    called = ' g = f32[2] call(x), to_apply=sums, frontend_attributes={odd="x"}\n'
    text = parse_module(exchanged_in_turns("g").replace(summed, called).replace("once {", f"{function}once {{", 1))
    found = decide(text, text, "exact")
    assert found.verdict == "unknown"
    assert "which exchanges between devices in a branch or turn" in (found.reason or "")


def exchanges_in(text: str) -> list[tuple[tuple[int, int], ...]]:
    """On which states of loops each exchange depends beside what it is given: by level and number."""
    reader = GraphReader()
    reader.read(parse_module(text), 0)
    found = [n for n in reader.graph.nodes.values() if n.head == "all-reduce"]
    return [tuple(b.key[1:] for b in n.bodies if b.head == "bound" and b.key[0] == "state") for n in found]


@pytest.mark.parametrize("where", ["turn", "condition", "behind"])
def test_who_takes_part_is_said_by_all_states_that_decide(where: str) -> None:
    """The second one decides by what the first one is after a turn; the third one does not."""
    state = "(s32[], s32[], f32[])"
    summed = (
        "i = u32[] replica-id()\n f = f32[] convert(i)\n g = f32[] all-reduce(f), replica_groups={}, to_apply=add\n"
    )
    here = {name: summed if name == where else "g = f32[] constant(1)\n" for name in ("turn", "condition", "behind")}
    given = parts_of(state, ["k", "s", "x"])
    functions = (
        f"{ADD}more {{\n{given} {here['condition']} zero = s32[] constant(0)\n"
        " ROOT o = pred[] compare(k, zero), direction=NE\n}\n"
        f"turn {{\n{given} {here['turn']} one = s32[] constant(1)\n j = s32[] subtract(k, s)\n d = s32[] add(s, one)\n"
        f" y = f32[] add(x, g)\n ROOT r = {state} tuple(j, d, y)\n}}\n"
        f"all {{\n v = {state} parameter(0)\n l = {state} while(v), condition=more, body=turn\n {here['behind']}"
        " ROOT r = f32[] get-tuple-element(l), index=2\n}\n"
        f"own {{\n{given} ROOT r = f32[] copy(x)\n}}\n"
    )
    lines = [f"{name} = {kind} parameter({n})" for n, (name, kind) in enumerate((("n", "s32[]"), ("s", "s32[]")))]
    lines += ["x = f32[] parameter(2)", "q = pred[] parameter(3)", f"v = {state} tuple(n, s, x)"]
    chosen = "ROOT c = f32[] conditional(q, v, v), true_computation=all, false_computation=own"
    text = on_two(entry(*lines, chosen, before=functions))
    assert (((0, 0), (0, 1)) in exchanges_in(text)) is (where != "behind")
    assert where != "behind" or exchanges_in(text) == [()]


def test_who_takes_part_in_a_turn_is_said_by_all_loops_around() -> None:
    assert (0, 1) in {tuple(level for level, _ in states) for states in exchanges_in(exchanged_deeper("g"))}


def printing(turns: int) -> str:
    """A loop that prints in each turn, and gives what no turn changes."""
    return (
        "HloModule m\n"
        "body { s = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
        " x = f32[] get-tuple-element(s), index=1\n o = s32[] constant(1)\n j = s32[] add(i, o)\n"
        ' c = f32[] custom-call(x), custom_call_target="print", custom_call_has_side_effect=true\n'
        " ROOT t = (s32[], f32[]) tuple(j, x)\n}\n"
        "turns { s = (s32[], f32[]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
        f" n = s32[] constant({turns})\n ROOT l = pred[] compare(i, n), direction=LT\n}}\n"
        "ENTRY e {\n p = f32[] parameter(0)\n z = s32[] constant(0)\n t = (s32[], f32[]) tuple(z, p)\n"
        " w = (s32[], f32[]) while(t), condition=turns, body=body\n"
        " ROOT r = f32[] get-tuple-element(w), index=1\n}\n"
    )


def test_how_often_a_loop_has_an_effect_is_not_modelled() -> None:
    found = decide(parse_module(printing(5)), parse_module(printing(6)))
    assert found.reason == "not modelled: effects inside a loop"


def applied(first: str, second: str) -> str:
    """Two calls of something unknown, each handed a function; that of `sorted` promises that the indices are."""
    gather = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    functions = "".join(
        f"{name} {{ a = f32[4] parameter(0)\n i = s32[3,1] parameter(1)\n"
        f" ROOT r = f32[3] gather(a, i), {gather}{more}\n}}\n"
        for name, more in (("sorted", ", indices_are_sorted=true"), ("plain", ""))
    )
    return entry(
        "p = f32[4] parameter(0)",
        "i = s32[3,1] parameter(1)",
        f'x = f32[3] custom-call(p, i), custom_call_target="A", called_computations={{{first}}}',
        f'y = f32[3] custom-call(p, i), custom_call_target="B", called_computations={{{second}}}',
        "ROOT r = (f32[3], f32[3]) tuple(x, y)",
        before=functions,
    )


def test_what_a_function_promises_is_not_promised_where_another_is_applied() -> None:
    before, after = parse_module(applied("sorted", "plain")), parse_module(applied("plain", "sorted"))
    found = decide(before, after)
    assert [*found.axioms] == [("promised: indices_are_sorted of gather", "exact")]
    plain = parse_module(applied("plain", "plain"))
    assert decide(after, plain).axioms == ()
    for promising in (before, after):
        assert [*decide(plain, promising).axioms] == [("promised: indices_are_sorted of gather", "exact")]


def received(kind: str) -> str:
    """What is begun to be received, and nobody waits for."""
    return entry(
        "t = token[] after-all()", f"r = ({kind}, u32[], token[]) recv(t), channel_id=1", "ROOT c = f32[] constant(1)"
    )


@pytest.mark.parametrize("other", ["f32[8]", "s32[4]"])
def test_what_is_received_counts_where_nobody_looks_at_it(other: str) -> None:
    unproved(received("f32[4]"), received(other), "rounding")


def part_of(sharding: str, whole: int, part: int) -> str:
    return (
        "HloModule m, num_partitions=2\n"
        f"ENTRY e {{\n p = f32[{whole}] parameter(0), sharding={{{sharding}}}\n"
        f' ROOT r = f32[{part}] custom-call(p), custom_call_target="SPMDFullToShardShape", sharding={{manual}}\n}}\n'
    )


def test_parts_that_are_not_understood_are_not_followed() -> None:
    def written(whole: int, part: int, header: str = "m,") -> tuple[str, str]:
        texts = [part_of(s, whole, part).replace("m,", header, 1) for s in ("devices=[2]0,1", "devices=[2]<=[2]")]
        return texts[0], texts[1]

    even, also = written(4, 2)
    proved(even, also, "exact")
    # What devices are where there are replicas too is not said here, nor what a part is that is sharded itself.
    for this, that in (written(5, 3), written(5, 2), written(4, 4), written(4, 2, "m, replica_count=2,")):
        unproved(this, that, "rounding")
    unproved(even, even.replace("{manual}", "{devices=[1,2]0,1 last_tile_dims={manual}}"), "rounding")
    open_ = 'sharding={manual}, backend_config="unspecified_dims=[0]"'
    unproved(even, even.replace("sharding={manual}", open_, 1), "rounding")
    proved(even, even.replace("sharding={manual}", 'sharding={manual}, backend_config=""', 1), "exact")


def test_a_call_of_the_library_that_is_seen_outside_is_no_plain_topk() -> None:
    def called(more: str) -> str:
        return entry(
            "p = f32[8] parameter(0)",
            f't = (f32[3], s32[3]) custom-call(p), custom_call_target="TopK", called_computations={{above}}{more}',
            "ROOT r = f32[3] get-tuple-element(t), index=0",
            before="above { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
            " ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER\n}\n",
        )

    proved(called(""), largest("", 0), "exact")
    unproved(called(", custom_call_has_side_effect=true"), largest("", 0), "rounding")
    for more in ('backend_config={"is_stable":false}', 'backend_config="x"', 'frontend_attributes={largest="false"}'):
        unproved(called(", " + more), largest("", 0), "rounding")
    proved(called(', backend_config={}, frontend_attributes={}, metadata={op_name="n"}'), largest("", 0), "exact")


def library_convolution(config: str) -> str:
    return entry(
        "p = f32[1,4,1] parameter(0)",
        "q = f32[2,1,4] parameter(1)",
        "c = (f32[1,3,4], u8[64]) custom-call(p, q), window={size=2}, dim_labels=b0f_0io->b0f, "
        f'custom_call_target="__cudnn$convForward", backend_config={{"cudnn_conv_backend_config":{{{config}}}}}',
        "ROOT r = f32[1,3,4] get-tuple-element(c), index=0",
    )


def test_a_convolution_of_a_library_that_is_told_more_is_another_one() -> None:
    whole = library_convolution('"conv_result_scale":1')
    same = whole.replace("}}", '},"operation_queue_id":"2"}, frontend_attributes={inlineable="false"}')
    proved(whole.replace("c = (f32", "d = (f32").replace("element(c)", "element(d)"), whole, "exact")
    plain = entry(
        "p = f32[1,4,1] parameter(0)",
        "q = f32[2,1,4] parameter(1)",
        "ROOT r = f32[1,3,4] convolution(p, q), window={size=2}, dim_labels=b0f_0io->b0f",
    )
    proved(same, plain, "rounding")
    for said in (
        '},"foo":"1"}',
        '}}, frontend_attributes={foo="1"}',
        "}}, literal=s32[] 1",
        "}}, padding_type=PADDING_SAME",
    ):
        more = whole.replace("}}", said)
        unproved(more, plain, "rounding")
        assert compare(parse_module(more), parse_module(plain)).verdict == "unknown"


def test_a_number_that_a_configuration_leaves_out_is_zero() -> None:
    """So a convolution of a library is multiplied by nothing where it does not say by one."""
    plain = entry(
        "p = f32[1,4,1] parameter(0)",
        "q = f32[2,1,4] parameter(1)",
        "ROOT r = f32[1,3,4] convolution(p, q), window={size=2}, dim_labels=b0f_0io->b0f",
    )
    proved(library_convolution('"conv_result_scale":1'), plain, "rounding")
    proved(library_convolution('"conv_result_scale":1,"side_input_scale":0'), plain, "rounding")
    for config in ("", '"side_input_scale":0', '"conv_result_scale":0'):
        unproved(library_convolution(config), plain, "rounding")
        assert compare(parse_module(library_convolution(config)), parse_module(plain)).verdict == "unknown"


@pytest.mark.parametrize("field", ["stride", "lhs_dilate", "rhs_dilate"])
def test_a_convolution_of_a_library_whose_window_stands_still_is_none(field: str) -> None:
    """No compiler holds the window of a call to anything."""
    still = library_convolution('"conv_result_scale":1').replace("{size=2}", f"{{size=2 {field}=0}}")
    found = decide(parse_module(library_convolution('"conv_result_scale":1')), parse_module(still))
    assert found.verdict == "unknown"


def kept(alias: str) -> str:
    return one("(f32[4], f32[4])", "a = f32[4] get-tuple-element(p), index=0", "ROOT r = f32[4] negate(a)").replace(
        "HloModule m", f"HloModule m{alias}"
    )


def test_a_caller_that_keeps_what_it_gives_does_not_have_it_written_over() -> None:
    """Nothing was said of a pass that makes the caller give a parameter away."""
    must, other = (f", input_output_alias={{ {{}}: (0, {{{k}}}, must-alias) }}" for k in (0, 1))
    may = must.replace("must", "may")
    for before, after in (("", must), (may, must), (must, other)):
        unproved(kept(before), kept(after), "rounding")
    for before, after in ((must, must), ("", may), (must, ""), (must, may)):
        proved(kept(before), kept(after), "exact")
    whole = ", input_output_alias={ {}: (0, {}, must-alias) }"
    first, second = (
        one("f32[4]", "q = f32[4] parameter(1)", "ROOT r = f32[4] add(p, q)").replace(
            "HloModule m", "HloModule m" + whole.replace("(0", f"({k}")
        )
        for k in (0, 1)
    )
    unproved(first, second, "rounding")
    proved(first, first, "exact")
