"""Strategies for modules on several devices: collectives in chains, in calls, in branches and in the bodies of loops.

Every value is one array of eight elements, so that anything can follow anything. Groups are of even size, pairs of a
permutation may leave devices out, and names occur again in other computations.
"""

from __future__ import annotations

from itertools import permutations
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw

DEVICES: Final = 4
_X: Final = "f32[8]{0}"
_GROUPS: Final = (
    "replica_groups={{0,1,2,3}}",
    "replica_groups={{0,1},{2,3}}",
    "replica_groups={{0,2},{3,1}}",
    "replica_groups=[1,4]<=[4]",
    "replica_groups=[2,2]<=[2,2]T(1,0)",
)
_WHOLE: Final = (0, 3)
"""Groups that hold every device."""
_SUM: Final = """sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
"""


@st.composite
def device_modules(draw: Draw) -> str:
    """Up to three computations, each used by those after it and by the entry."""
    writer = _Writer(draw)
    for n in range(draw(st.integers(0, 3))):
        writer.computation(f"f{n}", draw(st.integers(1, 3)))
    writer.computation("e", draw(st.integers(1, 4)), entry=True)
    return f"HloModule devices, num_partitions={DEVICES}\n{_SUM}" + "".join(writer.done)


class _Writer:
    """Writes computations of an array and a number, one after the other; each may use those before it."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.done: list[str] = []
        self._made: list[str] = []
        self._channel = 0
        self._count = 0
        self._lines: list[str] = []

    def computation(self, name: str, length: int, entry: bool = False) -> None:
        self._lines = [f"x = {_X} parameter(0)", "i = s32[] parameter(1)"]
        own = self._draw(st.booleans())
        self._prefix = name if own else ""
        now = "x"
        for _ in range(length):
            now = self._step(now)
        self._lines.append(f"ROOT r = {_X} negate({now})")
        body = "".join(f"  {line}\n" for line in self._lines)
        self.done.append(f"{'ENTRY ' if entry else ''}{name} {{\n{body}}}\n")
        if not entry:
            self._made.append(name)

    def _new(self) -> str:
        self._count += 1
        return f"{self._prefix}v{self._count}"

    def _add(self, name: str, shape: str, text: str) -> str:
        self._lines.append(f"{name} = {shape} {text}")
        return name

    def _attributes(self) -> str:
        self._channel += 1
        return f"channel_id={self._channel}, {self._draw(st.sampled_from(_GROUPS))}, use_global_device_ids=true"

    def _step(self, x: str) -> str:
        kinds = ["permute", "permute", "permute", "gather", "reduce", "scatter", "to-all", "move", "move", "select"]
        if self._made:
            kinds += ["call", "call", "branch", "loop"]
        v = self._new()
        match self._draw(st.sampled_from(kinds)):
            case "permute":
                return self._permuted(x, v)
            case "gather":
                groups = self._attributes()
                size = DEVICES if _is_whole(groups) else 2
                part = self._add(f"{v}a", f"f32[{8 // size}]{{0}}", f"slice({x}), slice={{[0:{8 // size}]}}")
                return self._add(v, _X, f"all-gather({part}), {groups}, dimensions={{0}}")
            case "reduce":
                return self._add(v, _X, f"all-reduce({x}), {self._attributes()}, to_apply=sum")
            case "scatter":
                groups = self._attributes()
                size = 8 // (DEVICES if _is_whole(groups) else 2)
                text = f"reduce-scatter({x}), {groups}, dimensions={{0}}, to_apply=sum"
                part = self._add(f"{v}a", f"f32[{size}]{{0}}", text)
                zero = self._add(f"{v}z", "f32[]", "constant(0)")
                return self._add(v, _X, f"pad({part}, {zero}), padding=1_{7 - size}")
            case "to-all":
                self._channel += 1
                groups = _GROUPS[self._draw(st.sampled_from(range(len(_GROUPS))))]
                return self._add(v, _X, f"all-to-all({x}), channel_id={self._channel}, {groups}, dimensions={{0}}")
            case "select":
                here = self._add(f"{v}p", "u32[]", "partition-id()")
                which = self._add(f"{v}u", "u32[]", f"constant({self._draw(st.integers(0, 3))})")
                taken = self._add(f"{v}b", "pred[]", f"compare({here}, {which}), direction=EQ")
                other = self._permuted(x, f"{v}c")
                return self._add(v, _X, f"select({taken}, {x}, {other})")
            case "call":
                callee = self._draw(st.sampled_from(self._made))
                return self._add(v, _X, f"call({x}, i), to_apply={callee}")
            case "branch":
                return self._branched(x, v)
            case "loop":
                return self._loop(x, v)
        return self._moved(x, v)

    def _permuted(self, x: str, v: str) -> str:
        order = self._draw(st.sampled_from(tuple(permutations(range(DEVICES)))))
        kept = self._draw(st.integers(1, DEVICES))
        pairs = ",".join(f"{{{a},{b}}}" for a, b in list(enumerate(order))[:kept])
        self._channel += 1
        text = f"collective-permute({x}), channel_id={self._channel}, source_target_pairs={{{pairs}}}"
        return self._add(v, _X, text)

    def _moved(self, x: str, v: str) -> str:
        match self._draw(st.sampled_from(("reverse", "slices", "lookup", "update", "sum", "place"))):
            case "reverse":
                return self._add(v, _X, f"reverse({x}), dimensions={{0}}")
            case "slices":
                part = self._add(f"{v}a", "f32[4]{0}", f"slice({x}), slice={{[2:6]}}")
                return self._add(v, _X, f"concatenate({part}, {part}), dimensions={{0}}")
            case "lookup":
                part = self._add(f"{v}a", "f32[4]{0}", f"dynamic-slice({x}, i), dynamic_slice_sizes={{4}}")
                return self._add(v, _X, f"concatenate({part}, {part}), dimensions={{0}}")
            case "update":
                part = self._add(f"{v}a", "f32[3]{0}", f"slice({x}), slice={{[2:5]}}")
                return self._add(v, _X, f"dynamic-update-slice({x}, {part}, i)")
            case "place":
                here = self._add(f"{v}p", "u32[]", "partition-id()")
                table = self._add(f"{v}k", "s32[4]{0}", "constant({0,3,1,2})")
                found = self._add(f"{v}d", "s32[1]{0}", f"dynamic-slice({table}, {here}), dynamic_slice_sizes={{1}}")
                start = self._add(f"{v}r", "s32[]", f"reshape({found})")
                part = self._add(f"{v}a", "f32[4]{0}", f"dynamic-slice({x}, {start}), dynamic_slice_sizes={{4}}")
                return self._add(v, _X, f"concatenate({part}, {part}), dimensions={{0}}")
        back = self._add(f"{v}a", _X, f"reverse({x}), dimensions={{0}}")
        return self._add(v, _X, f"add({x}, {back})")

    def _branched(self, x: str, v: str) -> str:
        names = [self._draw(st.sampled_from(self._made)) for _ in range(2)]
        wrapped = [self._taking_a_pair(name, f"{v}w{k}") for k, name in enumerate(names)]
        pair = self._add(f"{v}t", f"({_X}, s32[])", f"tuple({x}, i)")
        return self._add(v, _X, f"conditional(i, {pair}, {pair}), branch_computations={{{', '.join(wrapped)}}}")

    def _taking_a_pair(self, callee: str, name: str) -> str:
        self.done.append(
            f"{name} {{\n  s = ({_X}, s32[]) parameter(0)\n  x = {_X} get-tuple-element(s), index=0\n"
            f"  i = s32[] get-tuple-element(s), index=1\n  ROOT y = {_X} call(x, i), to_apply={callee}\n}}\n"
        )
        return name

    def _loop(self, x: str, v: str) -> str:
        callee, most = self._draw(st.sampled_from(self._made)), self._draw(st.sampled_from(("constant(2)", "given")))
        state = f"(s32[], {_X}, s32[])"
        limit = "n = s32[] constant(2)" if most != "given" else "n = s32[] get-tuple-element(s), index=2"
        self.done.append(
            f"{v}t {{\n  s = {state} parameter(0)\n  k = s32[] get-tuple-element(s), index=0\n  {limit}\n"
            f"  ROOT l = pred[] compare(k, n), direction=LT\n}}\n"
            f"{v}b {{\n  s = {state} parameter(0)\n  k = s32[] get-tuple-element(s), index=0\n"
            f"  x = {_X} get-tuple-element(s), index=1\n  n = s32[] get-tuple-element(s), index=2\n"
            f"  o = s32[] constant(1)\n  j = s32[] add(k, o)\n  y = {_X} call(x, k), to_apply={callee}\n"
            f"  ROOT t = {state} tuple(j, y, n)\n}}\n"
        )
        zero = self._add(f"{v}z", "s32[]", "constant(0)")
        start = self._add(f"{v}s", state, f"tuple({zero}, {x}, i)")
        after = self._add(f"{v}w", state, f"while({start}), condition={v}t, body={v}b")
        return self._add(v, _X, f"get-tuple-element({after}), index=1")


def _is_whole(attributes: str) -> bool:
    return any(_GROUPS[n] in attributes for n in _WHOLE)
