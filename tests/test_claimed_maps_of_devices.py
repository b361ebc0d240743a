"""What a map spec says where several devices take part: their groups, their positions, the steps between them. Each
claim that was judged wrongly stands beside its twin."""

from __future__ import annotations

import pytest
from claimed_in_modules import ADD, EACH, OWN, checked
from spec_texts import check_maps_text

from hloproof.engines.door import HOW, How

FIRST = OWN + "\n    replica id:\n    (d0) -> (0), domain: d0 in [0, 1]"
REDUCE, BROADCAST = "all-reduce(x), to_apply=add", "collective-broadcast(x)"
DEVICES = [
    # One group of all: of as many as the header of the module says, and not of one.
    ("replica_count=2", REDUCE, OWN, "refuted"),
    ("replica_count=2", REDUCE, EACH, "proved"),
    ("replica_count=1", REDUCE, OWN, "proved"),
    ("num_partitions=2", REDUCE, OWN, "proved"),
    ("num_partitions=2", REDUCE + ", channel_id=1", OWN, "refuted"),
    ("num_partitions=2", REDUCE + ", channel_id=1", EACH, "proved"),
    ("replica_count=2", BROADCAST, OWN, "refuted"),
    ("replica_count=2", BROADCAST, FIRST, "proved"),
    ("replica_count=2", REDUCE + ", replica_groups={{0},{1}}", OWN, "proved"),
]
# Steps over the range variable alone, which is the first of theirs and not of the map's.
ALONE = (
    OWN.replace("(d0) ->", "(d0)[s0] ->") + ", s0 in [0, 2]\n    replica id:\n    ()[s0] -> (s0), domain: s0 in [0, {}]"
)
DEVICES += [
    ("replica_count=3", REDUCE, ALONE.format(2), "proved"),
    ("replica_count=3", REDUCE, ALONE.format(1), "refuted"),
    ("replica_count=3", REDUCE, ALONE.format(0), "refuted"),
]
# Another step, or none at all.
DEVICES += [
    ("replica_count=2", BROADCAST, FIRST.replace("(0)", steps), verdict)
    for steps, verdict in (
        ("(0)", "proved"),
        ("(1)", "refuted"),
        ("(0, 0)", "unknown"),
        ("(0, 5)", "unknown"),
        ("()", "unknown"),
    )
]
FAR = EACH.replace("(d0)[s0] -> (s0)", "(d0)[s0] -> (s0{})")
DEVICES += [
    # A position that no device of the group has is read by nobody.
    ("replica_count=2", REDUCE, FAR.format(""), "proved"),
    ("replica_count=2", REDUCE, FAR.format(" - 1"), "refuted"),
    ("replica_count=2", REDUCE, FAR.format(" + 1"), "refuted"),
    ("replica_count=2", REDUCE, EACH.replace("s0 in [0, 1]", "s0 in [0, 2]"), "refuted"),
    ("replica_count=2", REDUCE, EACH.replace("s0 in [0, 1]", "s0 in [0, 0]"), "refuted"),
    # Two maps share no pair where they read one element of two devices.
    ("replica_count=2", REDUCE, f"{FIRST}\n  {FIRST.replace('(0)', '(1)')}", "proved"),
    ("replica_count=2", REDUCE, f"{FIRST}\n  {FIRST}", "refuted"),
    ("replica_count=2", REDUCE, f"{EACH}\n  {FIRST.replace('(0)', '(1)')}", "refuted"),
]


@pytest.mark.parametrize(("devices", "operation", "said", "verdict"), DEVICES)
def test_a_group_of_all_holds_the_devices_of_the_module(devices: str, operation: str, said: str, verdict: str) -> None:
    found = checked(
        f"x = f32[2] parameter(0)\nROOT r = f32[2] {operation}", said, header=f"HloModule m, {devices}", bodies=ADD
    )
    assert found.verdict.value == verdict


EXCHANGED = """HloModule m, replica_count=2
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  ROOT r = (f32[2], f32[2]) all-to-all(x, y), replica_groups={{0,1}}
}"""
FROM_FIRST = """map a
  hlo
%s
  output 0
  output-to-input 0 (d0){rt0} -> (d0), domain: d0 in [0, 1], rt0 in [%s], rt0 in [0, 0]
    runtime variables:
    rt0: reader
    replica id:
    (d0){rt0} -> (0), domain: d0 in [0, 1], rt0 in [0, 1]
"""


@pytest.mark.parametrize(("interval", "verdict"), [("0, 1", "proved"), ("0, 0", "refuted"), ("-1, 0", "refuted")])
def test_the_readers_own_position_is_cut_to_its_interval_as_any_value_is(interval: str, verdict: str) -> None:
    """At position 1 a variable in [0, 0] holds 0, so that the map speaks of that device too."""
    module = "\n".join(f"    {line}" for line in EXCHANGED.split("\n"))
    (found,) = check_maps_text(FROM_FIRST % (module, interval), "x.map")
    assert found.verdict.value == verdict
    (found,) = check_maps_text(FROM_FIRST % (module, interval), "x.map", How(cross=True))
    assert found.verdict.value == verdict


ONE_VALUE = (
    "output-to-input 0 (d0){{rt0}} -> (d0), domain: d0 in [0, 1], rt0 in [{0}, {0}]\n    runtime variables:\n"
    "    rt0: operand(0); (d0) -> (d0), domain: d0 in [0, 1]\n"
    "    replica id:\n    (d0){{rt0}} -> ({1}), domain: d0 in [0, 1], rt0 in [{0}, {0}]"
)


@pytest.mark.parametrize(
    ("value", "position", "verdict"), [(0, "rt0", "proved"), (1, "rt0", "refuted"), (1, "rt0 - 1", "proved")]
)
def test_a_position_may_be_a_variable_of_one_value(value: int, position: str, verdict: str) -> None:
    text = f"x = f32[2] parameter(0)\nROOT r = f32[2] {BROADCAST}"
    found = checked(text, ONE_VALUE.format(value, position), header="HloModule m, replica_count=2", bodies=ADD)
    assert found.verdict.value == verdict, found.found.reason


FROM_PART = (
    "output-to-input 0 (d0){{rt0}} -> (d0 mod 2 + rt0 * 2), domain: d0 in [0, 7], rt0 in [0, 3]\n"
    "    runtime variables:\n    rt0: reader{}\n"
    "    replica id:\n    (d0){{rt0}} -> (d0 / 2), domain: d0 in [0, 7], rt0 in [0, 3]"
)


@pytest.mark.parametrize(
    ("which", "verdict"),
    [
        ("", "proved"),
        ("; (d0) -> (), domain: d0 in [0, 7]", "proved"),
        ("; (d0) -> (), domain: d0 in [0, 7]; replica id: (d0) -> (3), domain: d0 in [0, 7]", "unknown"),
        ("; (d0) -> (), domain: d0 in [0, 7]; replica id: (d0) -> (d0 / 2), domain: d0 in [0, 7]", "unknown"),
    ],
)
def test_the_place_of_another_device_is_not_the_readers_own(which: str, verdict: str) -> None:
    """Which device it was, nobody looked at: elements that the first device never reads were proved to be its own."""
    text = "x = f32[8] parameter(0)\nROOT r = f32[8] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={0}"
    for how in (HOW, How(cross=True)):
        found = checked(text, FROM_PART.format(which), header="HloModule m, replica_count=4", how=how)
        assert found.verdict.value == verdict, found.found


PERMUTED = """x = f32[8] parameter(0)
a = f32[8] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={0}
ROOT r = f32[8] collective-permute(a), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"""
FROM_BEFORE = [
    f"""output-to-input 0 (d0){{rt0}} -> (d0 mod 2 + {chunk}), domain: d0 in [0, 7], rt0 in [0, 3], rt0 in [{box}]
    runtime variables:
    rt0: reader
    replica id:
    (d0){{rt0}} -> ({place}, d0 / 2), domain: d0 in [0, 7], rt0 in [0, 3], rt0 in [{box}]"""
    for chunk, box, place in (("6", "0, 0", "3"), ("rt0 * 2 - 2", "1, 3", "rt0 - 1"))
]


def test_the_place_of_the_device_that_is_read_is_not_any_number() -> None:
    """Device 0 reads device 3, which has its fourth part: refuted by a device 3 at place 0."""
    found = checked(PERMUTED, "follow", *FROM_BEFORE, header="HloModule m, replica_count=4")
    assert found.verdict.value == "unknown", found.found


SWAPPED = (
    "x = f32[4] parameter(0)\ny = f32[4] all-to-all(x), replica_groups={{0,1}}, dimensions={0}\n"
    "ROOT r = f32[2] slice(y), slice={[1:3]}"
)
SENT = (
    "output-to-input 0 (d0){{rt0}} -> ((d0 + 1) mod 2 + rt0 * 2), domain: d0 in [0, 1], rt0 in [{0}]\n"
    "    runtime variables:\n    rt0: reader\n    replica id:\n"
    "    (d0){{rt0}} -> ((d0 + 1) / 2), domain: d0 in [0, 1], rt0 in [{0}]"
)


@pytest.mark.parametrize(("interval", "verdict"), [("0, 1", "proved"), ("-1, 2", "proved"), ("0, 0", "refuted")])
def test_nobody_reads_from_a_position_that_there_is_not(interval: str, verdict: str) -> None:
    found = checked(SWAPPED, "follow", SENT.format(interval), header="HloModule m, replica_count=2")
    assert found.verdict.value == verdict


STEPPING = (
    "output-to-input 0 (d0){0} -> (d0), domain: d0 in [0, 1]{1}{2}\n    replica id:\n    (d0){0} -> ({3}), domain: "
)
STEPPING += "d0 in {4}{1}"


@pytest.mark.parametrize(
    ("devices", "step", "within", "verdict"),
    [
        (2, "0", "[0, 1]", "refuted"),
        (2, "0", "[1, 0]", "proved"),
        (2, "0", "[5, 6]", "unknown"),
        (2, "0", "[0, 1], d0 * 2 in [1, 1]", "unknown"),
        (2, "0", "[0, 1], d0 * 2 in [1, 2]", "refuted"),
        (1, "0", "[0, 1]", "unknown"),
        (1, "0", "[1, 0]", "proved"),
        (2, "rt0", "[0, 1]", "unknown"),
    ],
)
def test_steps_that_lead_nowhere_or_to_its_own_place_do_not_leave_a_device(
    devices: int, step: str, within: str, verdict: str
) -> None:
    variable = ("{rt0}", ", rt0 in [0, 1]", "\n    runtime variables:\n    rt0: reader") if step == "rt0" else ("",) * 3
    own = "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 1]"
    found = checked(
        "x = f32[2] parameter(0)\nROOT r = f32[2] negate(x)",
        own,
        STEPPING.format(*variable, step, within),
        header=f"HloModule m, replica_count={devices}",
    )
    assert found.verdict.value == verdict, found.found


@pytest.mark.parametrize("follow", [(), ("follow",)])
@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        (
            "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 1]\n    runtime variables:\n    rt0: reader",
            "unknown",
        ),
        ("(d0) -> (d0 + 1), domain: d0 in [0, 1]", "refuted"),
    ],
)
def test_the_reader_has_no_position_where_nothing_says_how_many_there_are(
    follow: tuple[str, ...], said: str, verdict: str
) -> None:
    text = "x = f32[2] parameter(0)\nROOT r = f32[2] negate(x)"
    assert checked(text, *follow, f"output-to-input 0 {said}").verdict.value == verdict


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ("\n    replica id:\n    (d0, d1) -> (0), domain: d0 in [1, 0], d1 in [0, 1]", "proved"),
        (", d0 * 2 in [1, 1]", "unknown"),
        ("", "refuted"),
    ],
)
def test_maps_of_other_coordinates_have_points_where_they_differ(steps: str, verdict: str) -> None:
    text = "x = f32[2] parameter(0)\nROOT r = f32[2] negate(x)"
    own = "output-to-input 0 (d0) -> (d0), domain: d0 in [0, 1]"
    other = f"output-to-input 0 (d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 1]{steps}"
    for clauses in ((), ("follow",)):
        found = checked(text, *clauses, own, other, header="HloModule m, replica_count=2")
        assert found.verdict.value == verdict, found.found


@pytest.mark.parametrize(("within", "verdict"), [("[1, 1]", "unknown"), ("[0, 1]", "refuted")])
def test_nor_where_they_lead_the_other_way(within: str, verdict: str) -> None:
    text = "x = f32[4] parameter(0)\nROOT r = f32[4,3] broadcast(x), dimensions={0}"
    own = "input-to-output 0 (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 2]"
    assert checked(text, own).verdict.value == "proved"
    other = f"input-to-output 0 (d0) -> (d0), domain: d0 in [0, 3], d0 floordiv 4 in {within}"
    assert checked(text, own, other).verdict.value == verdict


def test_a_map_of_one_operation_takes_one_step() -> None:
    found = checked(
        f"x = f32[2] parameter(0)\nROOT r = f32[2] {BROADCAST}",
        FIRST.replace("(0)", "()"),
        header="HloModule m, replica_count=2",
    )
    assert "does not take one step" in (found.found.reason or "")
