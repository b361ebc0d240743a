"""What Shardy says of the parts that devices hold is what the SPMD partitioner is told, or it is not proved."""

from __future__ import annotations

import pytest

from hloproof.equivalence import decide
from hloproof.equivalence.refuting.refute import Refutation, refute
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module
from hloproof.queries.equivalence import compare
from hloproof.results.verdict import Verdict


def shardy(dims: str = '{"x"}, {}', part: str = "2,8", mesh: str = '"x"=4', manual: str = '"x"') -> str:
    quoted, axes = dims.replace('"', '\\"'), manual.replace('"', '\\"')
    sharding = f"#sdy.sharding_per_value<[<@mesh, [{quoted}]>]>"
    return f"""HloModule m, num_partitions=4, frontend_attributes={{xla.sdy.meshes={{mesh = #sdy.mesh<[{mesh}]>}}}}
ENTRY e {{
  p = f32[8,8] parameter(0)
  a = (f32[{part}]) custom-call(p), custom_call_target="xla.sdy.GlobalToLocalShape",
    custom_call_has_side_effect=true,
    frontend_attributes={{xla.sdy.in_shardings="{sharding}",xla.sdy.manual_axes="#sdy<manual_axes{{{axes}}}>"}}
  b = f32[{part}] get-tuple-element(a), index=0
  c = f32[{part}] negate(b)
  d = (f32[8,8]) custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape",
    custom_call_has_side_effect=true,
    frontend_attributes={{xla.sdy.manual_axes="#sdy<manual_axes{{{axes}}}>",xla.sdy.out_shardings="{sharding}"}}
  ROOT r = f32[8,8] get-tuple-element(d), index=0
}}
"""


def spmd(into: str, out: str = "", part: str = "2,8", partitions: int = 4) -> str:
    return f"""HloModule m, num_partitions={partitions}
ENTRY e {{
  p = f32[8,8] parameter(0)
  q = f32[8,8] copy(p), sharding={{{into}}}
  b = f32[{part}] custom-call(q), custom_call_target="SPMDFullToShardShape", sharding={{manual}}
  c = f32[{part}] negate(b), sharding={{manual}}
  d = f32[{part}] copy(c), sharding={{manual}}
  ROOT r = f32[8,8] custom-call(d), custom_call_target="SPMDShardToFullShape", sharding={{{out or into}}}
}}
"""


def negated(size: int, partitions: int) -> str:
    return f"""HloModule m, num_partitions={partitions}
ENTRY e {{
  p = f32[{size}] parameter(0)
  ROOT r = f32[{size}] negate(p)
}}
"""


@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 1), (1, 1)])
def test_parameters_of_another_shape_are_shards_where_a_module_is_partitioned(before: int, after: int) -> None:
    """Then nothing is said of them; otherwise they are no two modules to compare."""
    modules = parse_module(negated(8, before)), parse_module(negated(2, after))
    if before == after:
        with pytest.raises(InputError):
            compare(*modules)
    else:
        answer = compare(*modules)
        assert answer.verdict is Verdict.UNKNOWN and "SPMD partitioning" in answer.reason


TWO = {"mesh": '"x"=2, "y"=2', "manual": '"x", "y"'}

SAME = {
    "rows": (shardy(), spmd("devices=[4,1]<=[4]")),
    "columns": (shardy('{}, {"x"}', "8,2"), spmd("devices=[1,4]<=[4]", part="8,2")),
    "both": (shardy('{"x"}, {"y"}', "4,4", **TWO), spmd("devices=[2,2]<=[4]", part="4,4")),
    "turned": (shardy('{"y"}, {"x"}', "4,4", **TWO), spmd("devices=[2,2]<=[2,2]T(1,0)", part="4,4")),
    "turned, listed": (shardy('{"y"}, {"x"}', "4,4", **TWO), spmd("devices=[2,2]0,2,1,3", part="4,4")),
    "two axes on one": (shardy('{"y", "x"}, {}', **TWO), spmd("devices=[4,1]0,2,1,3")),
    "one of two axes": (
        shardy('{"x"}, {}', "4,8", **TWO),
        spmd("devices=[2,1,2]<=[4] last_tile_dim_replicate", part="4,8"),
    ),
    "everywhere": (shardy("{}, {}", "8,8"), spmd("replicated", part="8,8")),
}

OTHER = {
    "other devices": (shardy(), spmd("devices=[4,1]1,0,2,3")),
    "put together in another way": (shardy(), spmd("devices=[4,1]<=[4]", "devices=[4,1]1,0,2,3")),
    "axes turned": (shardy('{"x"}, {"y"}', "4,4", **TWO), spmd("devices=[2,2]<=[2,2]T(1,0)", part="4,4")),
    "axes of one dimension turned": (shardy('{"x", "y"}, {}', **TWO), spmd("devices=[4,1]0,2,1,3")),
    "the other axis replicated": (
        shardy('{"x"}, {}', "4,8", **TWO),
        spmd("devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate", part="4,8"),
    ),
    "one axis not manual": (shardy('{"x"}, {}', "4,8", '"x"=2, "y"=2', '"x"'),
                            spmd("devices=[2,1,2]<=[4] last_tile_dim_replicate", part="4,8")),
    "an open dimension": (shardy('{"x", ?}, {}'), spmd("devices=[4,1]<=[4]")),
    "a part of an axis": (shardy('{"x":(1)2}, {}', "4,8"),
                          spmd("devices=[2,1,2]<=[4] last_tile_dim_replicate", part="4,8")),
    "a mesh of another name": (shardy().replace("@mesh", "@other"), spmd("devices=[4,1]<=[4]")),
    "another mesh for what is not understood": (
        shardy('{"x", ?}, {}'), shardy('{"x", ?}, {}', mesh='"y"=1, "x"=4')
    ),
    "a device twice": (shardy(), spmd("devices=[4,1]0,1,2,2")),
    "a device that is none": (shardy(), spmd("devices=[4,1]0,1,2,4")),
    "tiles for some devices": (shardy(part="4,8"), spmd("devices=[2,1]<=[2]", part="4,8")),
    "no sharding of what is parted": (
        shardy(), spmd("devices=[4,1]<=[4]").replace("copy(p), sharding={devices=[4,1]<=[4]}", "copy(p)")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_the_same_parts_are_proved(name: str) -> None:
    before, after = map(parse_module, SAME[name])
    assert decide(before, after, "exact").verdict is Verdict.PROVED


@pytest.mark.parametrize("counts", ["num_partitions=4", "num_partitions=2", "num_partitions=4, replica_count=2"])
def test_what_is_not_understood_is_the_same_on_as_many_devices(counts: str) -> None:
    text = spmd("devices=[2,1,2]<=[4] last_tile_dims={manual}", part="4,8")
    found = decide(parse_module(text), parse_module(text.replace("num_partitions=4", counts)))
    assert found.verdict is (Verdict.PROVED if counts == "num_partitions=4" else Verdict.UNKNOWN)


@pytest.mark.parametrize("order", ["[2,2]T(0,0)", "[2,2]T(0)", "[2]", "[2,4]"])
def test_the_reader_refuses_an_order_that_is_none(order: str) -> None:
    with pytest.raises(InputError, match=r"permutation|does not match"):
        parse_module(spmd(f"devices=[2,2]<={order}", part="4,4"))


@pytest.mark.parametrize("name", OTHER)
def test_other_parts_and_what_is_not_understood_are_not(name: str) -> None:
    before, after = map(parse_module, OTHER[name])
    assert decide(before, after).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "more",
    [
        "literal=s32[] 1",
        "window={size=2}",
        "padding_type=PADDING_SAME",
        "feature_group_count=2",
        'backend_config="unspecified_dims=[0]"',
        'frontend_attributes={foo="1"}',
    ],
)
def test_a_call_that_says_more_than_is_understood_is_another_call(more: str) -> None:
    text = spmd("devices=[4,1]<=[4]")
    for at in ("sharding={manual}\n  c", "sharding={devices=[4,1]<=[4]}\n}"):
        said, silent = (
            text.replace(at, f"{at[: at.index(chr(10))]}, {m}{at[at.index(chr(10)) :]}") for m in (more, API)
        )
        assert decide(parse_module(text), parse_module(said), "exact").verdict is Verdict.UNKNOWN
        assert decide(parse_module(text), parse_module(silent), "exact").verdict is Verdict.PROVED


API = 'api_version=API_VERSION_STATUS_RETURNING, frontend_attributes={_xla_compute_type="host"}'
MANUAL = ",xla.sdy.manual_axes="


@pytest.mark.parametrize(
    "more", [',foo="1"', ',xla.sdy.out_shardings_of="1"', ',xla.sdy.in_shardings="1"', ',z.xla.sdy.in_shardings="{in}"']
)
def test_of_the_words_of_shardy_all_are_known(more: str) -> None:
    """The last is found by whoever looks for the name alone: what stands there is another one's value."""
    text = shardy()
    said = text.replace(MANUAL, f"{more}{MANUAL}", 1)
    if "{in}" in more:
        said = text.replace("xla.sdy.in_shardings=", "z.xla.sdy.in_shardings=", 1)
    assert said != text
    assert decide(parse_module(text), parse_module(said), "exact").verdict is Verdict.UNKNOWN


P = [[float(8 * a + b) for b in range(8)] for a in range(8)]
ON_ALL = [[P]] * 4


@pytest.mark.parametrize("text", [text for pair in SAME.values() for text in pair])
def test_parts_put_together_again_are_the_whole(text: str) -> None:
    for semantics in ("real", "hashed"):
        found = run_module(parse_module(text), ON_ALL, semantics, partitions=4)
        whole = parse_module(
            "HloModule w, num_partitions=4\nENTRY e {\n p = f32[8,8] parameter(0)\n ROOT r = f32[8,8] negate(p)\n}\n"
        )
        assert found == run_module(whole, ON_ALL, semantics, partitions=4)


def test_each_device_has_its_part() -> None:
    """By hand: two axes of two devices, columns by the first, rows by the second."""
    text = shardy('{"y"}, {"x"}', "4,4", **TWO)
    lines = [line.replace("ROOT ", "") for line in text.splitlines() if "LocalToGlobal" not in line]
    cut = next(k for k, line in enumerate(lines) if line.strip().startswith("c = "))
    module = parse_module("\n".join([*lines[:cut], "  ROOT c = f32[4,4] copy(b)", "}"]))
    corners = [part[0][0] for part in run_module(module, ON_ALL, partitions=4)]
    assert corners == [P[4 * (d % 2)][4 * (d // 2)] for d in range(4)]


def test_parts_put_together_in_another_way_are_refuted_with_equal_inputs_on_all_devices() -> None:
    before, after = map(parse_module, OTHER["put together in another way"])
    found = refute(before, after, 20)
    assert isinstance(found, Refutation) and found.partitions == 4
    assert all(one == found.inputs[0] for one in found.inputs)
    one, other = (run_module(m, found.inputs, partitions=4) for m in (before, after))
    a, b = found.index
    assert one[found.device][a][b] == found.before != found.after == other[found.device][a][b]
