"""What is written beside operations and is no part of HLO: a name stands in one class, and all others are unknown."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from memory_cases import judged, roomy_plan
from red_pairs import entry, is_named
from spec_texts import check_maps_text

from hloproof.claims.asynchronous import judge
from hloproof.cli import run
from hloproof.equivalence import decide
from hloproof.equivalence.answer import Tier
from hloproof.equivalence.meaning import carried_when
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.attributes import Attributes, Word
from hloproof.models.hlo.beside import (
    CONFIGURATION,
    FRONTEND,
    TRIP_COUNT,
    UnknownInside,
    beside,
    configuration,
    device_pairs,
    frontend_entries,
    kind_of,
    rows_of,
    unknown_in,
)
from hloproof.models.hlo.module import Instruction
from hloproof.models.hlo.opcodes import OPCODES
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.interpreter.in_flight import source_device
from hloproof.queries.equivalence import compare
from hloproof.results.verdict import Verdict

CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus"
FOO = 'frontend_attributes={foo="1"}'
TWO_TYPES = "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)SAID\n}\n"


def beside_one(said: str, opcode: str = "add", of: str = "f32[4]") -> str:
    return entry(f"p = {of} parameter(0)", f"q = {of} {opcode}(p, p)", f"ROOT r = {of} negate(q)").replace(
        f"{opcode}(p, p)", f"{opcode}(p, p){said and ', ' + said}"
    )


def fused(said: str, inside: str = "") -> str:
    body = f"f {{\n a = f32[4] parameter(0)\n ROOT c = f32[4] sine(a){inside and ', ' + inside}\n}}\n"
    return entry(
        "p = f32[4] parameter(0)", f"ROOT r = f32[4] fusion(p), kind=kLoop, calls=f{said and ', ' + said}", before=body
    )


def reduced(said: str) -> str:
    return entry(
        "p = f32[4] parameter(0)",
        "z = f32[] constant(0)",
        "ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=f",
        before=TWO_TYPES.replace("SAID", said and ", " + said),
    )


def bitcast(said: str) -> str:
    return entry("p = f32[2,3]{1,0} parameter(0)", f"ROOT r = f32[3,2]{{1,0}} bitcast(p){said and ', ' + said}")


def put_out(said: str) -> str:
    return entry(
        "p = f32[2] parameter(0)",
        "t = token[] after-all()",
        f"o = token[] outfeed(p, t), outfeed_shape=f32[2]{said and ', ' + said}",
        "ROOT r = f32[2] negate(p)",
    )


def sliced(said: str, order: str = "{1,0}") -> str:
    return entry(
        f"p = f32[8,2]{order} parameter(0)",
        "i = s32[] parameter(1)",
        "z = s32[] constant(0)",
        f"ROOT r = f32[1,2] dynamic-slice(p, i, z), dynamic_slice_sizes={{1,2}}{said and ', ' + said}",
    )


def given(said: str) -> str:
    return entry(f"p = f32[4] parameter(0){said and ', ' + said}", "ROOT r = f32[4] negate(p)")


UNKNOWN = [
    (beside_one, FOO, 'frontend_attributes={xla.sdy.sharding="foo=1"}'),
    (beside_one, 'frontend_attributes={xla.sdy.x="1",foo={a=1}}', "frontend_attributes={}"),
    (beside_one, 'frontend_attributes={xla.sdy.x="1",xla.sdy.x="2"}', 'frontend_attributes={xla.sdy.x="1"}'),
    (beside_one, 'backend_config={"foo":"1"}', 'backend_config={"operation_queue_id":"0"}'),
    *(
        (beside_one, f'backend_config={{"foo":{value}}}', "backend_config={}")
        for value in ('"0"', '""', "false", "null")
    ),
    (beside_one, 'backend_config="{\\"foo\\":1}"', 'backend_config="{\\"sizes\\":[1]}"'),
    (beside_one, 'backend_config={"foo":{}}', 'backend_config={"sizes":[]}'),
    (beside_one, 'backend_config={"foo":[]}', 'backend_config={"device_type":""}'),
    (fused, 'backend_config={"fusion_backend_config":""}', 'backend_config={"fusion_backend_config":{}}'),
    (beside_one, "backend_config={sizes:[4],foo:1}", "backend_config={sizes:[4]}"),
    (beside_one, 'backend_config="any words"', 'backend_config=""'),
    (
        fused,
        'backend_config={"fusion_backend_config.kind":"x"}',
        'backend_config={"fusion_backend_config":{"kind":"x"}}',
    ),
    (
        fused,
        'backend_config={"fusion_backend_config":{"cudnn_fusion_config.plan_id":"1"}}',
        'backend_config={"fusion_backend_config":{"cudnn_fusion_config":{}}}',
    ),
    (
        beside_one,
        'backend_config={"operationQueueId":"3","operation_queue_id":"4"}',
        'backend_config={"operationQueueId":"3"}',
    ),
    (beside_one, 'backend_config={"fusion_backend_config":{"kind":"x"}}', 'backend_config={"device_type":"HOST"}'),
    (beside_one, 'backend_config={"known_trip_count":{"n":"1"}}', 'backend_config={"reification_cost":[]}'),
    (beside_one, 'backend_config={"dynamic_slice_config":{}}', "backend_config={}"),
    (
        fused,
        'backend_config={"fusion_backend_config":{"kind":"__triton","foo":1}}',
        'backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4"}}}',
    ),
    (lambda said: fused("", said), FOO, "frontend_attributes={MUST_FUSE=1}"),
    (reduced, FOO, 'frontend_attributes={inlineable="false"}'),
    (
        bitcast,
        'backend_config={"bitcast_backend_config":{"result_layout":{"minor_to_major":["0","1"]}}}',
        'backend_config={"force_earliest_schedule":true}',
    ),
    (put_out, 'backend_config={"foo":"1"}', 'backend_config={"operation_queue_id":"1"}'),
    (fused, 'frontend_attributes={num_batch_dim="0"}', 'frontend_attributes={num_batch_dims="0"}'),
    (put_out, FOO, 'frontend_attributes={_scheduling_group_id="1"}'),
    (given, FOO, 'frontend_attributes={xla.sdy.sharding="x"}'),
]


@pytest.mark.parametrize("make, wrong, right", UNKNOWN, ids=[w for _, w, _ in UNKNOWN])
def test_what_no_table_knows_may_change_what_is_computed(make, wrong: str, right: str) -> None:  # type: ignore[no-untyped-def]
    """The twin says something that has no meaning, and is proved without a word."""
    plain = parse_module(make(""))
    for pair in ((plain, parse_module(make(wrong))), (parse_module(make(wrong)), plain)):
        found = decide(*pair, "exact")
        assert found.verdict == "unknown" and ("backend_config" in found.reason or "frontend_attr" in found.reason)
    twin = decide(plain, parse_module(make(right)), "exact")
    assert (twin.verdict, [*twin.axioms]) == ("proved", [])


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [("0", "0", Verdict.PROVED), ("1", "1", Verdict.PROVED), ("0", "1", Verdict.UNKNOWN)],
)
def test_words_beside_one_of_two_parameters(before: str, after: str, verdict: Verdict) -> None:
    """Also where both are given the same: which one it is may be what they mean."""

    def text(which: str) -> str:
        words = [f", {FOO}" if which == number else "" for number in "01"]
        lines = "".join(f" {name} = f32[4] parameter({k}){words[k]}\n" for k, name in enumerate("ab"))
        body = f"f {{\n{lines} s = f32[4] subtract(a, a)\n t = f32[4] subtract(b, b)\n ROOT r = f32[4] add(s, t)\n}}\n"
        return entry("p = f32[4] parameter(0)", "ROOT r = f32[4] call(p, p), to_apply=f", before=body)

    assert decide(parse_module(text(before)), parse_module(text(after)), "exact").verdict == verdict


def test_the_same_words_beside_the_same_operation_say_the_same() -> None:
    for make in (beside_one, fused, reduced, given):
        found = decide(parse_module(make(FOO)), parse_module(make(FOO)), "exact")
        assert (found.verdict, [*found.axioms]) == ("proved", [])
    other = FOO.replace("1", "2")
    assert decide(parse_module(beside_one(FOO)), parse_module(beside_one(other)), "exact").verdict == "unknown"
    inlined = entry("p = f32[4] parameter(0)", f"ROOT c = f32[4] sine(p), {FOO}")
    assert decide(parse_module(fused("", FOO)), parse_module(inlined), "exact").verdict == "proved"
    moved = beside_one("").replace("negate(q)", f"negate(q), {FOO}")
    assert decide(parse_module(beside_one(FOO)), parse_module(moved), "exact").verdict == "unknown"


def places(offset: int) -> str:
    return f'backend_config={{"dynamic_slice_config":{{"byte_offset":"{offset}","byte_stride":"0"}}}}'


def test_where_a_copy_reads_is_a_promise_as_its_operand_lies_in_memory() -> None:
    told = [("promised: dynamic_slice_config of dynamic-slice", "exact")]
    for before, after, promised in [
        (sliced(""), sliced(places(8)), told),
        (sliced(""), sliced('backend_config={"dynamicSliceConfig":{}}'), told),
        (sliced(places(8)), sliced(places(16)), told),
        (sliced(places(8), "{0,1}"), sliced(places(8)), told),
        (sliced(places(8)), sliced(places(8)), []),
        (sliced(places(8)), sliced(""), []),
    ]:
        found = decide(parse_module(before), parse_module(after), "exact")
        assert (found.verdict, [*found.axioms]) == ("proved", promised)


def test_that_all_replicas_are_given_the_same_is_a_promise() -> None:
    told = [("promised: parameter_replication of parameter", "exact")]
    same, other = "parameter_replication={true}", "parameter_replication={false}"
    for before, after, promised in [("", same, told), (other, same, told), (same, same, []), (same, other, [])]:
        found = decide(parse_module(given(before)), parse_module(given(after)), "exact")
        assert (found.verdict, [*found.axioms]) == ("proved", promised)


@pytest.mark.parametrize(("before", "promised"), [(0, False), (1, True)])
def test_that_all_replicas_are_given_the_same_is_a_promise_of_one_parameter(before: int, promised: bool) -> None:
    def text(said_of: int) -> str:
        said = [", parameter_replication={true}" if k == said_of else "" for k in (0, 1)]
        lines = (f"{n} = f32[4] parameter({k}){words}" for k, (n, words) in enumerate(zip("xy", said, strict=True)))
        return entry(*lines, "ROOT r = f32[4] subtract(x, y)")

    what = "promised: parameter_replication of parameter"
    assert is_named(parse_module(text(before)), parse_module(text(0)), what) is promised


def test_words_beside_a_whole_module_are_kept_or_nothing_is_proved() -> None:
    def headed(said: str) -> str:
        return given("").replace("m\n", f"m, frontend_attributes={{{said}}}\n", 1)

    for before, after, verdict in [
        ("", "foo=1", "unknown"),
        ("foo=1", "foo=2", "unknown"),
        ("foo=1", "", "unknown"),
        ("foo=1", "foo=1", "proved"),
        ("", 'fingerprint_before_lhs="a"', "proved"),
        ("", 'xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}', "proved"),
    ]:
        found = decide(parse_module(headed(before)), parse_module(headed(after)), "exact")
        assert found.verdict == verdict, (before, after)


def test_claims_about_an_operation_of_which_something_is_not_known_are_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = 'backend_config={"bitcast_backend_config":{"result_layout":{"minor_to_major":["0"]}}}'
    file = tmp_path / "m.hlo"
    for text, plain, what in [
        (bitcast(layout), bitcast(""), "backend_config.bitcast_backend_config of bitcast"),
        (fused(FOO), fused(""), "frontend_attributes.foo of fusion"),
        (fused("", FOO), fused(""), "frontend_attributes.foo of sine"),
        (beside_one(FOO), beside_one(""), "frontend_attributes.foo of add"),
    ]:
        file.write_text(text)
        run(["check", str(file), "--no-cache"])
        assert f"it is not known what {what} says" in capsys.readouterr().out
        file.write_text(plain)
        run(["check", str(file), "--no-cache"])
        assert "unknown" not in capsys.readouterr().out


@pytest.mark.parametrize("place", ["result", "inside"])
def test_orders_of_memory_count_beside_what_no_table_knows(place: str) -> None:
    """That of the result, and of what nobody takes in what is called."""

    def text(order: str) -> str:
        function = (
            "f {\n  x = f32[2,2]{1,0} parameter(0)\n"
            f"  d = f32[2,2]{{{order}}} negate(x)\n  ROOT r = f32[2,2]{{1,0}} copy(x)\n}}\n"
        )
        made = f"f32[2,2]{{{order}}} negate(x)" if place == "result" else "f32[2,2]{1,0} call(x), to_apply=f"
        lines = (
            f'  x = f32[2,2]{{1,0}} parameter(0)\n  c = {made}, frontend_attributes={{odd="x"}}\n'
            "  ROOT r = f32[2,2]{1,0} copy(c)\n"
        )
        return f"HloModule m\n{function if place == 'inside' else ''}ENTRY e {{\n{lines}}}\n"

    rows, columns = (parse_module(text(order)) for order in ("1,0", "0,1"))
    assert decide(rows, columns, "exact").verdict == "unknown"
    assert decide(columns, columns, "exact").verdict == "proved"


@pytest.mark.parametrize("table", [CONFIGURATION, FRONTEND], ids=["backend_config", "frontend_attributes"])
def test_each_name_stands_in_one_class(table: str) -> None:
    """For no opcode two rows mean one name, and none stands above a name that another row means."""
    rows = rows_of(table)
    for opcode in (*OPCODES, "custom-call-start", "fusion-start"):
        meant = [name for row in rows if row.means(opcode) for name in row.names]
        for one, other in combinations(meant, 2):
            assert one != other and not other.startswith(f"{one}.") and not one.startswith(f"{other}."), opcode
            assert not one.endswith("*") or not other.startswith(one[:-1])


@pytest.mark.parametrize("opcode", sorted(set(OPCODES) - {"custom-call"}))
def test_what_is_written_is_silent_read_promised_or_unknown(opcode: str) -> None:
    """By the table, for each of its names and for one that it has not."""
    rows = rows_of(CONFIGURATION)
    for name in {"foo", *(n for row in rows for n in row.names)}:
        value: object = "x"
        for part in reversed(name.split(".")):
            value = {part: value}
        said = json.dumps(value)
        if name == TRIP_COUNT:
            said = f'{{"{name}":{{"n":"3"}}}}'
        made = Instruction("i", opcode, ArrayShape("f32", ()), attributes=Attributes((("backend_config", Word(said)),)))
        kind = kind_of(opcode, name, rows)
        counted = {"promise": ["promise"], "unknown": ["unknown"], "empty": ["unknown"]}.get(kind, [])
        assert [b.kind for b in beside(made)] == counted, name


def test_what_is_silent_beside_a_collective_is_so_beside_one_in_flight() -> None:
    """Of any spelling; what begins something else knows no more than it."""
    name, rows = "collective_backend_config.is_sync", rows_of(CONFIGURATION)
    found = {
        kind_of(f"{of}-{step}", name, rows) for of in ("reduce-scatter", "async", "send") for step in ("start", "done")
    }
    assert found == {kind_of("all-reduce", name, rows)} == {"silent"}
    assert {kind_of(of, name, rows) for of in ("negate-start", "copy-start", "negate")} == {"unknown"}


def test_configurations_and_attributes_are_read_as_they_are_written() -> None:
    assert configuration(Word('{"a":{"b":1,"b":2}}')) is None
    assert configuration(Word("{a:1,'b':2}")) is None
    assert configuration(Word('{a : "x:y", "b_c":[1]}')) == {"a": "x:y", "b_c": [1]}
    assert frontend_entries('{a="x,y=1",b={c={}},d=e}') == {"a": "x,y=1", "b": "{c={}}", "d": "e"}
    for text in ("{a}", "{a=1,a=1}", "{a=1", "a=1", "{=1}", "{a=1}x", "{a=}"):
        assert frontend_entries(text) is None, text


@pytest.mark.parametrize(
    ("name", "bare", "quoted", "same"),
    [
        ("frontend_attributes", r"{a={\\}}", r'{a="{\\}"}', False),
        ("frontend_attributes", r"{a={\n}}", r'{a="{\n}"}', False),
        ("frontend_attributes", "{a={n}}", '{a="{n}"}', True),
        ("frontend_attributes", r"{a=\\}", r'{a="\\"}', False),
        ("backend_config", r'{"a":"\\n"}', r'"{\"a\":\"\\n\"}"', False),
        ("backend_config", r'{"a":"\\"}', r'"{\"a\":\"\\\"}"', False),
        ("backend_config", '{"a":"n"}', r'"{\"a\":\"n\"}"', True),
        ("backend_config", r"{x\\y}", r'"{x\\y}"', False),
        ("backend_config", '{"a":1e400}', '{"a":1e500}', False),
        ("backend_config", '{"a":-1e400}', '{"a":-Infinity}', False),
        ("backend_config", '{"a":-0}', '{"a":0}', False),
        ("backend_config", '{"a":-0}', '{"a":0.0}', False),
        ("backend_config", '{"a":1e-400}', '{"a":0.0}', False),
        ("backend_config", '{"a":[0.1]}', '{"a":[0.10000000000000001]}', False),
        ("backend_config", '{"a":0.1}', '{"a":"0.1"}', False),
        (
            "backend_config",
            '{"a":{"b":1e300,"c":[{"e":1,"d":true}]}}',
            '{"a":{"c":[{"d":true,"e":1}],"b":1e300 }}',
            True,
        ),
    ],
)
def test_what_is_escaped_in_quotes_is_not_what_stands_without_them(
    name: str, bare: str, quoted: str, same: bool
) -> None:
    def proved(operation: str, texts: tuple[str, str], tier: Tier) -> bool:
        one, other = (
            parse_module(entry("p = f32[] parameter(0)", f"ROOT r = f32[] {operation}, {name}={text}"))
            for text in texts
        )
        return decide(one, other, tier).verdict == "proved"

    for texts, wanted in ((bare, bare), True), ((quoted, quoted), True), ((bare, quoted), same):
        assert proved("negate(p)", texts, "real") == wanted
    # At a call of a library all of it is part of what is called, letter by letter.
    call = 'custom-call(p), custom_call_target="f"'
    assert proved(call, (bare, bare), "exact") and (same or not proved(call, (bare, quoted), "real"))


def test_a_call_is_handed_the_letters_that_its_quotes_mean() -> None:
    call = 'ROOT r = f32[] custom-call(p), custom_call_target="f", backend_config='
    one, other = (parse_module(entry("p = f32[] parameter(0)", call + text)) for text in (r"{\n}", r'"{\n}"'))
    assert decide(one, one, "exact").verdict == decide(other, other, "exact").verdict == "proved"
    assert decide(one, other, "real").verdict == "unknown"


def test_what_is_called_is_looked_into_at_any_depth() -> None:
    inner = "g {\n x = f32[4] parameter(0)\n ROOT y = f32[4] sine(x), " + FOO + "\n}\n"
    outer = "f {\n a = f32[4] parameter(0)\n ROOT c = f32[4] call(a), to_apply=g\n}\n"
    module = parse_module(fused("").replace(fused("").split("}\n")[0] + "}\n", "HloModule m\n" + inner + outer))
    found = UnknownInside(module)
    assert found.of(module.entry.root) == {"frontend_attributes.foo of sine"}
    assert found.of(module.entry.parameters[0]) == frozenset()


def test_the_tables_know_what_the_compilers_write() -> None:
    """Of the last modules that JAX wrote for each program, on both backends."""
    files = sorted(CORPUS.glob("jax-*/*/after.hlo"))[::9]
    if not files:
        pytest.skip("the corpus is not here")
    for file in files:
        module = parse_module(file.read_text())
        found = {b.name for c in module.computations for i in c.instructions for b in beside(i)}
        assert found <= {"backend_config.dynamic_slice_config"}, file


def extremes(opcode: str) -> str:
    return entry("p = s32[4] parameter(0)", f"ROOT r = s32[4] {opcode}(p, p), {FOO}")


def ignoring(operand: str) -> str:
    """A fusion that makes zeros whatever it is given."""
    body = "f {\n a = f32[4] parameter(0)\n z = f32[] constant(0)\n ROOT c = f32[4] broadcast(z), dimensions={}\n}\n"
    fusion = f"ROOT r = f32[4] fusion({operand}), kind=kLoop, calls=f, {FOO}"
    return entry("p = f32[4] parameter(0)", "q = f32[4] parameter(1)", fusion, before=body)


def twice(part: int) -> str:
    """One of two equal parts."""
    body = "f {\n a = f32[4] parameter(0)\n s = f32[4] sine(a)\n ROOT c = (f32[4], f32[4]) tuple(s, s)\n}\n"
    fusion = f"t = (f32[4], f32[4]) fusion(p), kind=kLoop, calls=f, {FOO}"
    got = f"ROOT r = f32[4] get-tuple-element(t), index={part}"
    return entry("p = f32[4] parameter(0)", fusion, got, before=body)


def turned(dimension: int) -> str:
    """A single element, turned round."""
    return entry("p = f32[1,1] parameter(0)", f"ROOT r = f32[1,1] reverse(p), dimensions={{{dimension}}}, {FOO}")


def summed(order: str) -> str:
    body = f"f {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add({order})\n}}\n"
    reduce = f"ROOT r = f32[] reduce(p, z), dimensions={{0}}, to_apply=f, {FOO}"
    return entry("p = f32[4] parameter(0)", "z = f32[] constant(0)", reduce, before=body)


def made_of(lines: str, before: str = "") -> str:
    """A fusion that gives the first operand's negative, by way of these lines."""
    body = f"f {{\n a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n{lines}\n}}\n"
    fusion = f"ROOT r = f32[4] fusion(p, q), kind=kLoop, calls=f, {FOO}"
    return entry("p = f32[4] parameter(0)", "q = f32[4] parameter(1)", fusion, before=before + body)


NEGATIVE = " ROOT d = f32[4] negate(a)"
CALLING = " ROOT d = f32[4] call(a), to_apply=g"
CALLED = "g {\n x = f32[4] parameter(0)\n ROOT y = f32[4] negate(x)\n}\n"
LONGER = CALLED.replace(
    "ROOT y = f32[4] negate(x)", "z = f32[4] negate(x)\n w = f32[4] negate(z)\n ROOT y = f32[4] negate(w)"
)
OTHER = "o {\n v = f32[4] parameter(0)\n ROOT k = f32[4] sine(v)\n}\n"


def chosen(branches: str) -> str:
    kind = "pred[]" if "true" in branches else "s32[]"
    number = "true" if "true" in branches else "1"
    return f" i = {kind} constant({number})\n z = f32[4] conditional(i, b, b), {branches}\n{NEGATIVE}"


OF_FUNCTIONS = [
    ("an operand", made_of(" m = f32[4] maximum(a, b)\n ROOT d = f32[4] negate(m)"),
     made_of(" m = f32[4] maximum(b, a)\n ROOT d = f32[4] negate(m)")),
    ("a parameter", made_of(" c = f32[4] negate(b)\n" + NEGATIVE), made_of(" c = f32[4] negate(a)\n" + NEGATIVE)),
    ("an attribute", made_of(" z = f32[4] reverse(b), dimensions={0}\n" + NEGATIVE),
     made_of(" z = f32[4] reverse(b), dimensions={}\n" + NEGATIVE)),
    ("a constant", made_of(" z = f32[] constant(0)\n" + NEGATIVE), made_of(" z = f32[] constant(1)\n" + NEGATIVE)),
    ("a number", made_of(" m = f32[4] maximum(a, b)\n ROOT d = f32[4] negate(m)"),
     made_of(" m = f32[4] maximum(a, b)\n ROOT d = f32[4] negate(m)").replace(
         "a = f32[4] parameter(0)\n b = f32[4] parameter(1)", "a = f32[4] parameter(1)\n b = f32[4] parameter(0)")),
    ("the root", made_of(NEGATIVE + "\n e = f32[4] negate(a)"),
     made_of(" d = f32[4] negate(a)\n ROOT e = f32[4] negate(a)")),
    ("what is called", made_of(CALLING, CALLED), made_of(CALLING, LONGER)),
    ("a shape", made_of(" z = f32[2,2] reshape(b)\n" + NEGATIVE), made_of(" z = f32[4,1] reshape(b)\n" + NEGATIVE)),
    ("what is written there", made_of(' z = f32[4] copy(b), frontend_attributes={odd="1"}\n' + NEGATIVE),
     made_of(' z = f32[4] copy(b), frontend_attributes={odd="2"}\n' + NEGATIVE)),
    ("the order of branches", made_of(chosen("branch_computations={g, o}"), CALLED + OTHER),
     made_of(chosen("branch_computations={o, g}"), CALLED + OTHER)),
    ("which branch is which", made_of(chosen("true_computation=g, false_computation=o"), CALLED + OTHER),
     made_of(chosen("false_computation=g, true_computation=o"), CALLED + OTHER)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [case[1:] for case in OF_FUNCTIONS], ids=[case[0] for case in OF_FUNCTIONS])
def test_the_same_words_beside_another_function_may_say_something_else(one: str, other: str) -> None:
    """Without them the functions are equal; with other names they are the same one."""
    plain = parse_module(one.replace(f", {FOO}", "")), parse_module(other.replace(f", {FOO}", ""))
    assert decide(*plain, "exact").verdict == "proved"
    assert decide(parse_module(one), parse_module(other), "exact").verdict == "unknown"
    renamed = one.replace("g {", "h {").replace("=g", "=h").replace("{g,", "{h,").replace(" d = ", " u = ")
    renamed = renamed.replace(" m = ", " n = ")
    assert decide(parse_module(one), parse_module(renamed.replace("(m)", "(n)")), "exact").verdict == "proved"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (summed("a, b"), summed("b, a")),
        (extremes("maximum"), extremes("minimum")),
        (turned(0), turned(1)),
        (ignoring("p"), ignoring("q")),
        (twice(0), twice(1)),
    ],
    ids=["of two functions", "of two operations", "of two dimensions", "of two operands", "of two parts"],
)
def test_the_same_words_beside_another_operation_may_say_something_else(one: str, other: str) -> None:
    """Without them the two are equal."""
    plain = parse_module(one.replace(f", {FOO}", "")), parse_module(other.replace(f", {FOO}", ""))
    assert decide(*plain, "exact").verdict == "proved"
    assert decide(parse_module(one), parse_module(other), "exact").verdict == "unknown"
    assert decide(parse_module(one), parse_module(one), "exact").verdict == "proved"


def two_slices(first: str, second: str) -> str:
    return entry(
        "p = f32[8] parameter(0)",
        "i = s32[] parameter(1)",
        "j = s32[] parameter(2)",
        f"a = f32[1] dynamic-slice(p, i), dynamic_slice_sizes={{1}}{first and ', ' + first}",
        f"b = f32[1] dynamic-slice(p, j), dynamic_slice_sizes={{1}}{second and ', ' + second}",
        "ROOT r = (f32[1], f32[1]) tuple(a, b)",
    )


def two_branches(first: str, second: str) -> str:
    branches = "".join(
        f"{name} {{\n t = (f32[8], s32[]) parameter(0)\n p = f32[8] get-tuple-element(t), index=0\n"
        f" i = s32[] get-tuple-element(t), index=1\n a = f32[1] dynamic-slice(p, i), dynamic_slice_sizes={{1}}"
        f"{said and ', ' + said}\n ROOT n = f32[1] {then}(a)\n}}\n"
        for name, then, said in (("f", "negate", first), ("g", "sine", second))
    )
    return entry(
        "p = f32[8] parameter(0)",
        "i = s32[] parameter(1)",
        "b = pred[] parameter(2)",
        "t = (f32[8], s32[]) tuple(p, i)",
        "ROOT r = f32[1] conditional(b, t, t), true_computation=f, false_computation=g",
        before=branches,
    )


def two_permutations(first: str, second: str, pairs: tuple[str, str], starts: bool = False) -> str:
    """Of one array by two pairs, or of two arrays by one."""
    operands = "pp" if pairs[0] != pairs[1] else "pq"
    said = [f", frontend_attributes={{_xla_send_recv_validation={w}}}" if w else "" for w in (first, second)]
    made: list[str] = []
    before = ""
    for name, operand, pair, word in zip("ab", operands, pairs, said, strict=True):
        if starts:
            before += f"w{name} {{\n x = f32[2] parameter(0)\n ROOT y = f32[2] collective-permute(x)"
            before += f", source_target_pairs={{{{{pair}}}}}\n}}\n"
            made.append(f"s{name} = ((f32[2]), f32[2]) async-start({operand}), calls=w{name}{word}")
            made.append(f"{name} = f32[2] async-done(s{name})")
        else:
            made.append(f"{name} = f32[2] collective-permute({operand}), source_target_pairs={{{{{pair}}}}}{word}")
    whole = entry(
        "p = f32[2] parameter(0)", "q = f32[2] parameter(1)", *made, "ROOT r = (f32[2], f32[2]) tuple(a, b)",
        before=before,
    )  # fmt: skip
    return whole.replace("m\n", "m, replica_count=2\n", 1)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (two_slices, places(8)),
        (two_branches, places(8)),
        (lambda a, b: two_permutations(a, b, ("0,1", "1,0")), "{{0,6}}"),
        (lambda a, b: two_permutations(a, b, ("0,1", "0,1")), "{{0,6}}"),
        (lambda a, b: two_permutations(a, b, ("0,1", "1,0"), starts=True), "{{0,6}}"),
        (lambda a, b: two_permutations(a, b, ("0,1", "0,1"), starts=True), "{{0,6}}"),
    ],
    ids=["operands", "branches", "pairs", "permuted", "pairs of starts", "operands of starts"],
)
def test_a_promise_of_one_operation_is_none_of_another(make, word: str) -> None:  # type: ignore[no-untyped-def]
    one, other = parse_module(make(word, "")), parse_module(make("", word))
    found = decide(one, other, "exact")
    assert found.verdict == "proved" and len([a for a, _ in found.axioms if a.startswith("promised")]) == 1
    assert not decide(one, parse_module(make(word, "")), "exact").axioms


@pytest.mark.parametrize("after", [False, True])
def test_claimed_maps_of_a_module_of_which_something_is_not_known_are_unknown(after: bool) -> None:
    def judged(said: str) -> str:
        module = given("").replace("negate(p)", f"negate(p){said}")
        lines = "".join(f"    {line}\n" for line in module.split("\n"))
        plain = "".join(f"    {line}\n" for line in given("").split("\n"))
        clause = f"  hlo-after\n{lines}" if after else "  output-to-input 0 (d0) -> (d0), domain: d0 in [0, 3]\n"
        (found,) = check_maps_text(f"map a\n  hlo\n{plain if after else lines}{clause}", "x.map")
        return found.verdict

    assert judged("") == judged(', backend_config={"sizes":[4]}') == "proved"
    assert judged(', backend_config={"foo":[4]}') == "unknown"


def permuted(start: str, end: str = "") -> str:
    head = "p = f32[2] parameter(0)", "s = (f32[2], f32[2]) collective-permute-start(p), source_target_pairs={{0,1}}"
    said = [said and f", frontend_attributes={{{said}}}" for said in (start, end)]
    return entry(head[0], head[1] + said[0], f"ROOT r = f32[2] collective-permute-done(s){said[1]}").replace(
        "HloModule m\n", "HloModule m, replica_count=2\n"
    )


WHEN = "_xla_send_recv_validation={{0,1}}"
FAKE = 'xla.sdy.x="_xla_send_recv_validation={{0,7}}"'


@pytest.mark.parametrize(
    ("before", "after", "promised"),
    [
        (permuted(""), permuted(WHEN), True),
        (permuted(""), permuted("", WHEN), True),
        (permuted(""), permuted(WHEN, WHEN), True),
        (permuted(WHEN), permuted(WHEN, WHEN), False),
        (permuted(FAKE), permuted(f"{FAKE},{WHEN}"), True),
        (permuted(""), permuted(FAKE), False),
        (permuted(WHEN), permuted(WHEN.replace("=", '="') + '"'), False),
    ],
)
def test_when_a_permutation_carries_anything_is_said_by_an_attribute_of_its_own(
    before: str, after: str, promised: bool
) -> None:
    """Of its start or end, and not by what another attribute holds."""
    found = decide(parse_module(before), parse_module(after), "exact")
    assert (found.verdict, bool(found.axioms)) == ("proved", promised)


PAIRS = '_xla_send_recv_source_target_pairs="{{0,1}}"'


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (PAIRS, True),
        (f'{PAIRS},b="1"', True),
        ('b="1"', True),
        (f'{PAIRS},b="1",b="1"', False),
        (PAIRS.replace("{{0", "\\x7b{0"), False),
        (PAIRS.replace("1}}", "1}"), False),
        (PAIRS.replace("1}}", "1},}"), False),
        (PAIRS.replace("1}}", "1" * 5000 + "}}"), False),
    ],
)
def test_who_sends_to_whom_is_not_made_up_where_it_cannot_be_read(said: str, known: bool) -> None:
    """Each device was given its own data."""
    received = entry(
        "t = token[] after-all()", f"ROOT r = (f32[2], u32[], token[]) recv(t), frontend_attributes={{{said}}}"
    )
    i = parse_module(received).entry.root
    if known:
        assert source_device(i, 1) == (0 if "pairs" in said else None)
    else:
        with pytest.raises(NotModelled):
            source_device(i, 1)


def test_when_a_permutation_carries_anything_is_not_known_of_a_list_that_cannot_be_read() -> None:
    """It was run as one that always carries something."""
    plain, doubled = (parse_module(permuted(said)) for said in ('b="1"', f'{WHEN},b="1",b="1"'))
    permutes = [
        [i for c in m.computations for i in c.instructions if "permute-start" in i.opcode] for m in (plain, doubled)
    ]
    assert [bool(carried_when(found[0])) for found in permutes] == [False, True]


def looped(config: str) -> str:
    body = (
        "b {\n s = (s32[]) parameter(0)\n x = s32[] get-tuple-element(s), index=0\n o = s32[] constant(1)\n"
        " y = s32[] add(x, o)\n ROOT z = (s32[]) tuple(y)\n}\n"
        "c {\n s = (s32[]) parameter(0)\n x = s32[] get-tuple-element(s), index=0\n k = s32[] constant(5)\n"
        " ROOT l = pred[] compare(x, k), direction=LT\n}\n"
    )
    loop = f"w = (s32[]) while(t), condition=c, body=b{config and ', backend_config=' + config}"
    got = "ROOT r = s32[] get-tuple-element(w), index=0"
    return entry("p = s32[] parameter(0)", "t = (s32[]) tuple(p)", loop, got, before=body)


@pytest.mark.parametrize(
    "config",
    [
        '"known_trip_count: {n: 5} foo: 1"',
        '{"known_trip_count":{"n":"5"},"knownTripCount":{"n":"5"},"foo":1}',
        '{"known_trip_count":{"n":"5","foo":1}}',
        '{"known_trip_count":{"n":"x"}}',
        '{"known_trip_count":5}',
        '{"known_trip_count":""}',
        '{"known_trip_count":{"n":true}}',
        '{"dynamic_variables":["0"]}',
        '"[1]"',
    ],
)
def test_a_count_of_turns_is_read_where_the_whole_is_understood(config: str) -> None:
    silent = parse_module(looped('{"dynamic_variables":[]}'))
    assert decide(parse_module(looped("")), silent, "exact").verdict == "proved"
    found = decide(parse_module(looped("")), parse_module(looped(config)), "exact")
    assert found.verdict == "unknown" and "of while" in found.reason
    other = config.replace("foo", "fox").replace("5", "6").replace("x", "y")
    same = decide(parse_module(looped(config)), parse_module(looped(other)), "exact").verdict == "proved"
    assert same == (config == other)


def test_a_count_of_turns_stands_in_a_field_of_its_own() -> None:
    """What a string of another field holds says nothing of it."""
    fake = '{"device_type":"\\"known_trip_count\\":{\\"n\\":\\"5\\"}","known_trip_count":{"n":"5"}}'
    found = decide(parse_module(looped(fake)), parse_module(looped(fake.replace('"n":"5"', '"n":"2"'))), "exact")
    assert [*found.axioms] == [("promised: known_trip_count of while", "exact")]


@pytest.mark.parametrize("said", ['{fingerprint_before_lhs_of="1"}', '{xla.other="1"}', "{a}"])
def test_what_is_written_beside_a_module_is_held_to_a_list(said: str) -> None:
    plain = looped("")
    text = plain.replace("HloModule m", f"HloModule m, frontend_attributes={said}")
    assert decide(parse_module(plain), parse_module(text), "exact").verdict == "unknown"
    silent = plain.replace("HloModule m", 'HloModule m, frontend_attributes={fingerprint_before_lhs="1"}')
    assert decide(parse_module(plain), parse_module(silent), "exact").verdict == "proved"


STATE = "(f32[8], u32[], token[])"
ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
PAIRS = '_xla_send_recv_source_target_pairs="{{0,1}}"'


def exchanging(of_send: str = "", of_done: str = "", of_sum: str = "", of_sine: str = "", of_call: str = "") -> str:
    """A send, a sum over both devices, a sine and a call: what is said beside each."""

    def said(text: str, first: str = "") -> str:
        whole = ",".join(t for t in (first, text) if t)
        return whole and f", frontend_attributes={{{whole}}}"

    return (
        "HloModule m, is_scheduled=true, replica_count=2\n"
        + ADD
        + CALLED.replace("[4]", "[8]")
        + "ENTRY e {\n  p = f32[8] parameter(0)\n"
        f"  t = token[] after-all()\n  r = {STATE} recv(t), channel_id=1{said('', PAIRS)}\n"
        f"  s = {STATE} send(p, t), channel_id=1{said(of_send, PAIRS)}\n"
        "  sd = token[] send-done(s), channel_id=1\n"
        f"  rd = (f32[8], token[]) recv-done(r), channel_id=1{said(of_done)}\n"
        "  x = f32[8] get-tuple-element(rd), index=0\n"
        f"  y = f32[8] all-reduce(x), replica_groups={{}}, to_apply=add{said(of_sum)}\n"
        f"  z = f32[8] sine(y){said(of_sine)}\n  ROOT c = f32[8] call(z), to_apply=g{said(of_call)}\n}}\n"
    )


def of_claim(text: str, name: str) -> set[str]:
    found = judge(parse_module(text), lambda claim: claim == name, lambda _: False)
    return {str(j.found.verdict) for j in found}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (exchanging(of_send='foo="1"'), exchanging(of_send='_xla_send_recv_pipeline="0"')),
        (exchanging(of_send='_xla_send_recv_pipeline="1"'), exchanging(of_send='_scheduling_group_id="1"')),
        (exchanging(of_send='foo="1"'), exchanging(of_send='_scheduling_group_id="1"')),
        (exchanging(of_send='Scheduler_Hint="1"'), exchanging(of_send='scheduler_hint="1"')),
        (exchanging(of_send='x="_xla_send_recv_pipeline=1"'), exchanging(of_send='xla.sdy.x="y=1"')),
        (exchanging(of_sum='foo="1"'), exchanging(of_sum='combiner_key="1"')),
        (exchanging(of_sum='foo="1"'), exchanging(of_sine='foo="1"')),
        (exchanging(of_call='foo="1"'), exchanging(of_call='_xla_stream_annotation="1"')),
    ],
)
def test_who_waits_for_whom_is_not_known_where_words_of_an_exchange_are_not(wrong: str, right: str) -> None:
    """What stands beside an operation that is over before the next begins is nothing to them."""
    assert of_claim(wrong, "collective-deadlock") == {"unknown"}
    assert of_claim(right, "collective-deadlock") == {"proved"}


def in_flight(of_start: str = "", of_done: str = "", of_sine: str = "") -> str:
    return (
        "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[8] parameter(0)\n"
        f"  s = (f32[8], f32[8], u32[]) copy-start(p){of_start}\n  q = f32[8] sine(p){of_sine}\n"
        f"  d = f32[8] copy-done(s){of_done}\n  ROOT r = f32[8] add(d, q)\n}}\n"
    )


def test_what_is_in_flight_is_held_until_nobody_knows_when_words_of_it_are_not_known() -> None:
    claims = ("hazard-operand", "hazard-output", "hazard-overwrite")
    for said in (f", {FOO}", ', backend_config={"foo":1}'):
        for text in (in_flight(said), in_flight("", said)):
            assert [of_claim(text, c) for c in claims if of_claim(in_flight(), c)] == [{"unknown"}] * sum(
                bool(of_claim(in_flight(), c)) for c in claims
            )
    for text in (in_flight(), in_flight("", "", f", {FOO}"), in_flight(', backend_config={"is_sync":true}')):
        assert set().union(*(of_claim(text, c) for c in claims)) == {"proved"}


@pytest.mark.parametrize("opcode", ["all-reduce", "reduce-scatter", "call"])
def test_what_is_in_flight_beside_what_devices_do_or_run_is_held_until_nobody_knows_when(opcode: str) -> None:
    """Words of a step that is over before the next one begins are nothing to it."""
    text = in_flight("", "", "MORE").replace("ENTRY", ADD + CALLED.replace("[4]", "[8]") + "ENTRY")
    text = text.replace("m, is", "m, replica_count=1, is")
    sums = f"{opcode}(p), replica_groups={{{{0}}}}, to_apply=add"
    sums += ", dimensions={0}" if opcode == "reduce-scatter" else ""
    step = text.replace("sine(p)", "call(p), to_apply=g" if opcode == "call" else sums)
    for more, said in ((f", {FOO}", "unknown"), (', backend_config={"foo":1}', "unknown"), ("", "proved")):
        assert of_claim(step.replace("MORE", more), "hazard-operand") == {said}
        assert of_claim(text.replace("MORE", more), "hazard-operand") == {"proved"}


CHAINED = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %s = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(%a)START
  %b = f32[8]{0} sine(%a)
  %c = f32[8]{0} negate(%b)NEGATE
  %d = f32[8]{0} copy-done(%s)
  ROOT %r = f32[8]{0} add(%c, %d)
}
"""


def test_a_plan_holds_where_it_is_known_what_is_done_in_the_place_of_what() -> None:
    def verdicts(start: str, negate: str) -> dict[str, set[str]]:
        text = CHAINED.replace("START", start).replace("NEGATE", negate)
        out: dict[str, set[str]] = {}
        for result in judged(text, roomy_plan(text, (("c", "b"),))):
            out.setdefault(result.claim, set()).add(str(result.verdict))
        return out

    plain = verdicts("", "")
    assert plain["plan-in-place"] == plain["plan-interference"] == {"proved"}
    assert verdicts("", f", {FOO}")["plan-in-place"] == {"unknown"}
    flying = verdicts(f", {FOO}", "")
    assert flying["plan-in-place"] == flying["plan-interference"] == {"unknown"}
    assert flying["plan-size"] == plain["plan-size"] == {"proved"}


def placed(words: str) -> str:
    return fused(f'backend_config={{"fusion_backend_config":{{"kind":"__dynamic_memcpy",{words}}}}}')


@pytest.mark.parametrize(
    ("words", "verdict", "told"),
    [
        ('"dynamic_memcpy_config":{"depends_on_loop":true,"src_offset_bytes":["0","4"]}', "proved", True),
        ('"cudnn_fusion_config":{"plan_id":"3"}', "proved", False),
        ('"cudnn_fusion_config":{"plan_id":"3","kind":"CONV_WGRAD"}', "unknown", False),
    ],
)
def test_what_a_fusion_is_made_by_is_told_field_by_field(words: str, verdict: str, told: bool) -> None:
    """A plan number says nothing; that the library is to take it for a gradient may."""
    found = decide(parse_module(fused("")), parse_module(placed(words)), "exact")
    assert (found.verdict, bool(found.axioms)) == (verdict, told)


def summed_in_flight(of_done: str, opcode: str = "all-gather") -> str:
    pair = "(f32[2], f32[4])" if opcode == "all-gather" else "f32[2]"
    said = "dimensions={0}" if opcode == "all-gather" else "to_apply=add"
    groups = "replica_groups={{0,1},{2,3}}"
    return (
        "HloModule m, replica_count=4\n" + ADD + "ENTRY e {\n  p = f32[2] parameter(0)\n"
        f"  s = {pair} {opcode}-start(p), {said}, {groups}\n"
        f"  ROOT d = {'f32[4]' if opcode == 'all-gather' else 'f32[2]'} {opcode}-done(s){of_done}\n}}\n"
    )


@pytest.mark.parametrize("opcode", ["all-gather", "all-reduce"])
@pytest.mark.parametrize("said", [", replica_groups={{0,2},{1,3}}", ", channel_id=4", ", use_global_device_ids=true"])
def test_an_end_says_nothing_of_who_takes_part_that_its_start_does_not(opcode: str, said: str) -> None:
    plain = parse_module(summed_in_flight("", opcode))
    assert decide(plain, parse_module(summed_in_flight(said, opcode)), "exact").verdict == "unknown"
    for silent in (", replica_groups={{0,1},{2,3}}", ", use_global_device_ids=false"):
        assert decide(plain, parse_module(summed_in_flight(silent, opcode)), "exact").verdict == "proved"


def configured(config: str) -> str:
    return entry("p = f32[4] parameter(0)", f"ROOT r = f32[4] negate(p), backend_config={config}")


def compared(before: str, after: str) -> str:
    return decide(parse_module(before), parse_module(after)).verdict.value


@pytest.mark.parametrize("around", ["[{}]", '{{"foo":{}}}'])
@pytest.mark.parametrize("times", [99, 100, 500, 700, 5000])
def test_configurations_in_configurations_are_compared_by_their_letters(around: str, times: int) -> None:
    """From some hundreds on it was an error of Python's."""
    said = "1"
    for _ in range(times - 1):
        said = around.format(said)
    one, two = (configured(f'{{"foo":{said.replace("1", inner)}}}') for inner in ("1", "2"))
    assert compared(one, one) == "proved"
    assert compared(one, two) == "unknown"
    assert list(beside(parse_module(one).entry.root))


def test_the_order_of_a_list_in_a_configuration_counts_and_that_of_its_names_does_not() -> None:
    one, two, three = (
        configured(f'{{"foo":{said}}}') for said in ('{"a":[1,2],"b":3}', '{"b":3,"a":[1,2]}', '{"a":[2,1],"b":3}')
    )
    assert compared(one, two) == "proved"
    assert compared(one, three) == "unknown"


ADDED = ("p = f32[4] parameter(0)", "q = f32[4] parameter(1)")


@pytest.mark.parametrize("beside", ['backend_config={"foo":1}', 'frontend_attributes={foo="1"}'])
def test_what_nobody_knows_refutes_nothing(beside: str) -> None:
    """It may change what is computed, so that what is computed without it is no counterexample."""
    one, two = (entry(*ADDED, f"ROOT r = f32[4] {opcode}(p, q)") for opcode in ("add", "multiply"))
    assert compare(parse_module(one), parse_module(two)).verdict is Verdict.REFUTED
    loud = two.replace("(p, q)", f"(p, q), {beside}")
    for x, y in ((one, loud), (loud, one)):
        found = compare(parse_module(x), parse_module(y))
        assert found.verdict is Verdict.UNKNOWN and "without them element" in (found.reason or "")
    silent = two.replace("(p, q)", '(p, q), frontend_attributes={inlineable="false"}')
    assert compare(parse_module(one), parse_module(silent)).verdict is Verdict.REFUTED
    header = two.replace("HloModule m", 'HloModule m, frontend_attributes={foo="1"}', 1)
    assert compare(parse_module(one), parse_module(header)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("caller", ["fusion(x), kind=kLoop, calls=g", "call(x), to_apply=g"])
def test_what_nobody_knows_changes_what_it_stands_around_with_all_that_is_written_there(caller: str) -> None:
    """What is not used, too: of two such functions with other words inside the two were one."""
    text = "HloModule m\ng {{\n a = f32[4] parameter(0)\n k = f32[4] negate(a){}\n ROOT r = f32[4] abs(a)\n}}\n"
    text += f"ENTRY e {{{{\n x = f32[4] parameter(0)\n ROOT r = f32[4] {caller}, "
    text += "frontend_attributes={{bar={{1}}}}\n}}\n"
    none, one, two = (text.format(words) for words in ("", ', backend_config={"foo":1}', ', backend_config={"foo":2}'))
    assert compared(one, one) == compared(none, none) == "proved"
    assert {compared(x, y) for x, y in combinations((none, one, two), 2)} == {"unknown"}


@pytest.mark.parametrize(
    "name", ["_xla_send_recv_Validation", "xlaSendRecvValidation", "__xla_send_recv_validation", "Inlineable"]
)
def test_an_attribute_of_frontends_has_one_name(name: str) -> None:
    """Another is nobody's, and was nobody's to tell."""
    module = parse_module(permuted(f'{name}="1"'))
    assert unknown_in(module) == {f"frontend_attributes.{name} of collective-permute-start"}


@pytest.mark.parametrize(
    "text", ["{{0,1}{1,0}}", "{{0,1},,{1,0}}", "{,{0,1}}", "{{0,1,2}}", "{{0}}", "{0,1}", "{{-1,0}}", ""]
)
def test_pairs_of_devices_are_a_list(text: str) -> None:
    assert device_pairs(text) is None
    assert device_pairs(" { { 0 , 1 } , {1,0} } ") == ((0, 1), (1, 0)) and device_pairs("{}") == ()


SENDING = (
    "HloModule m, replica_count=2\nENTRY e {{\n  p = f32[4] parameter(0)\n  t = token[] after-all()\n"
    "  s = (f32[4], u32[], token[]) send(p, t), channel_id=1{0}\n  d = token[] send-done(s), channel_id=1\n"
    "  r = (f32[4], u32[], token[]) recv(t), channel_id=1{0}\n  q = (f32[4], token[]) recv-done(r), channel_id=1\n"
    "  g = f32[4] get-tuple-element(q), index=0\n  ROOT o = f32[4] {1}(g, p)\n}}\n"
)


def told_of(before: str, after: str) -> str:
    return compare(parse_module(before), parse_module(after)).verdict.value


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ("", "refuted"),
        (', _xla_send_recv_pipeline="1"', "refuted"),
        (', _scheduling_group_id="1"', "refuted"),
        (', foo="1"', "unknown"),
        (", _xla_send_recv_validation={{1,2}}", "unknown"),
    ],
)
def test_what_is_sent_with_words_that_nobody_knows_refutes_nothing(more: str, verdict: str) -> None:
    """Nor does what is carried in some turns only."""
    one, two = (SENDING.format(f", frontend_attributes={{{PAIRS}{more}}}", op) for op in ("add", "multiply"))
    assert told_of(one, two) == verdict
    if verdict == "refuted":
        assert compared(one, one) == "proved"


@pytest.mark.parametrize(
    "name",
    [
        "_xla_send_recv_source_target_pairs",
        "_xla_send_recv_validation",
        "_xla_send_recv_pipeline",
        "_xla_host_transfer_handler_name",
        "_xla_host_transfer_rendezvous",
    ],
)
def test_words_that_concern_a_transfer_are_known_there_alone(name: str) -> None:
    sent = SENDING.format(f', frontend_attributes={{{name}="1"}}', "add")
    assert unknown_in(parse_module(sent)) == set()
    other = parse_module(sent.replace(name, "_xla_send_recv_foo"))
    assert unknown_in(other) == {f"frontend_attributes._xla_send_recv_foo of {o}" for o in ("send", "recv")}
    beside_sum = SENDING.format("", "add").replace("add(g, p)", f'add(g, p), frontend_attributes={{{name}="1"}}')
    assert unknown_in(parse_module(beside_sum)) == {f"frontend_attributes.{name} of add"}


@pytest.mark.parametrize("of", ["send", "recv", "send-done", "recv-done"])
@pytest.mark.parametrize("more", ['foo="1"', "_xla_send_recv_validation={{1,2}}"])
def test_words_of_each_part_of_a_transfer_count(of: str, more: str) -> None:
    said = f", frontend_attributes={{{PAIRS}}}"
    one, two = (SENDING.format(said, op) for op in ("add", "multiply"))
    assert told_of(one, two) == "refuted"
    ends = {"send": "send(p, t)", "recv": "recv(t)", "send-done": "send-done(s)", "recv-done": "recv-done(r)"}
    for text in (one, two):
        line = next(line for line in text.splitlines() if ends[of] in line)
        worded = line.replace(PAIRS, f"{PAIRS}, {more}") if PAIRS in line else f"{line}, frontend_attributes={{{more}}}"
        other = two if text is one else one
        assert told_of(text.replace(line, worded), other) == "unknown"


@pytest.mark.parametrize(
    ("pairs", "verdict"), [("{{0,1},{1,0}}", "refuted"), ("{{0,1},{1,1}}", "unknown"), ("{{1,1},{0,1}}", "unknown")]
)
def test_one_device_receives_from_one(pairs: str, verdict: str) -> None:
    said = f', frontend_attributes={{_xla_send_recv_source_target_pairs="{pairs}"}}'
    assert told_of(SENDING.format(said, "add"), SENDING.format(said, "multiply")) == verdict


@pytest.mark.parametrize("target", ["Sharding", "MoveToHost", "MoveToDevice", "AllocateBuffer", "Pin", "Unpin"])
@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("", "refuted"),
        (', backend_config="unspecified_dims=[0]"', "refuted"),
        (', frontend_attributes={_xla_buffer_placement="pinned_host"}', "refuted"),
        (', frontend_attributes={foo="1"}', "unknown"),
        (', backend_config="foo=[0]"', "unknown"),
        (', backend_config="unspecified_dims=[0], foo"', "unknown"),
        (', backend_config="unspecified_dims=[foo]"', "unknown"),
        (', backend_config="unspecified_dims=[0]", frontend_attributes={foo="1"}', "unknown"),
        (', backend_config={"foo":1}', "unknown"),
    ],
)
def test_a_call_that_gives_what_it_is_given_is_run_where_all_its_words_are_known(
    target: str, said: str, verdict: str
) -> None:
    start = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n"
    kept = start + f'  c = f32[4] custom-call(p), custom_call_target="{target}"{said}\n  ROOT z = f32[4] copy(c)\n}}\n'
    assert told_of(kept, start + "  ROOT z = f32[4] negate(p)\n}\n") == verdict


@pytest.mark.parametrize("name", ["_xla_send_send_source_target_pairs", "foo"])
def test_what_a_transfer_says_of_its_partner_says_nothing_of_when_it_is_over(name: str) -> None:
    """The compiler's own tests have the first, which is nobody's."""
    text = exchanging(of_send=f'{name}="{{{{0,1}}}}"')
    assert of_claim(text, "hazard-operand") == {"proved"}
    other = text.replace("send(p, t), channel_id=1", 'send(p, t), channel_id=1, backend_config={"foo":1}')
    assert of_claim(other, "hazard-operand") == {"unknown"}
