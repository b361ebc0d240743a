"""Modules of computations that call those before them: on tuples on one device, or on one array over several devices.

One computation is called twice, instructions of one name stand in several, start indices are computed where they are
used, tuples are taken apart and put together in another order. On several devices collectives stand in chains, calls,
branches and the bodies of loops; groups are of even size, and pairs of a permutation may leave devices out.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.modules.generate_modules import Chain
from hloproof.fuzz.operations.generators.builder import Array, computation, shape
from hloproof.fuzz.operations.generators.movement import dynamic_slice, dynamic_update_slice

STRUCTURE: Final = "structure"
"""The name of modules on one device."""
DEVICES: Final = 4
_PARTS: Final = ((2, 3), (4,), (2, 3))
_PAIR: Final = "(f32[4], f32[2,3])"
_WHOLE: Final = f"(f32[2,3], {_PAIR})"
_ONE: Final = "f32[8]"
_GROUPS: Final = (
    ("{{0,1,2,3}}", 4),
    ("[1,4]<=[4]", 4),
    ("{{0,1},{2,3}}", 2),
    ("{{0,2},{3,1}}", 2),
    ("[2,2]<=[2,2]T(1,0)", 2),
)
"""Groups of devices, and how many each has."""


_READ_AT_RUN_TIME: Final = (dynamic_slice, dynamic_update_slice)


class _Body(Chain):
    """A computation of a state `w` and a number `i`, which makes another state."""

    def __init__(self, module: _Module, name: str) -> None:
        super().__init__(module.draw, module.bodies, f"{name}_", module.prefixed)
        self.module, self.head, self.w = module, name, self.own("w")
        self.lines = [f"{self.w} = {module.state} parameter(0)", f"{self.i} = s32[] parameter(1)"]

    def called(self) -> None:
        """Another computation makes the next state, called, as a branch, or over and over."""
        m, callee = self.module, self.one_of(self.module.made)
        kinds = ("call", "call", "branch", "loop") if m.on_devices else (*("call", "fusion") * 3, "loop")
        match self.one_of(kinds):
            case "call":
                self.w = self.line(m.state, "call", self.w, self.number_of_start(), letter="w", to_apply=callee)
            case "fusion":
                more = {"kind": "kLoop", "calls": callee}
                self.w = self.line(m.state, "fusion", self.w, self.number_of_start(), letter="w", **more)
            case "branch":
                pair = self.line(f"({m.state}, s32[])", "tuple", self.w, self.i)
                names = [m.taking_a_pair(self.one_of(m.made)) for _ in range(2)]
                branches = "{" + ", ".join(names) + "}"
                self.w = self.line(m.state, "conditional", self.i, pair, pair, letter="w", branch_computations=branches)
            case "loop":
                condition, turn, turns = m.loop(callee, is_given=m.on_devices and self.chance(2))
                zero = self.line("s32[]", "constant", "0")
                start = self.line(turns, "tuple", zero, self.w, self.i)
                after = self.line(turns, "while", start, condition=condition, body=turn)
                self.w = self.line(m.state, "get-tuple-element", after, letter="w", index=1)
        if not m.on_devices and self.chance(4):
            self.w = self.line(m.state, "opt-barrier", self.w, letter="w")

    def changed(self) -> None:
        """One part of the state is made of the others."""
        if self.module.on_devices:
            self.tensors = [Array(self.w, (8,))]
            self.w = (self._step_on(0) if self.chance(5) else self._exchanged(self.tensors[0])).name
            return
        pair = self.line(_PAIR, "get-tuple-element", self.w, index=1)
        parts = [
            Array(self.line(shape(sizes), "get-tuple-element", source, index=k), sizes)
            for sizes, source, k in zip(_PARTS, (self.w, pair, pair), (0, 0, 1), strict=True)
        ]
        self.tensors, n = [*parts], self.number(0, 2)
        parts[n] = self._step_on(n)
        if self.chance(2):
            parts.reverse()
        rest = self.line(_PAIR, "tuple", parts[1].name, parts[2].name)
        self.w = self.line(_WHOLE, "tuple", parts[0].name, rest, letter="w")

    def _step_on(self, n: int) -> Array:
        """A step or two, and back to the sizes of this part."""
        sizes = self.tensors[n].sizes
        self.tensors.append(self.tensors.pop(n))
        for _ in range(self.number(1, 2)):
            # Names of what is read at run time are what calls can mix up.
            self.step(_READ_AT_RUN_TIME if not self.module.on_devices and self.chance(2) else ())
        return self.fitted(self.tensors[-1], sizes)

    def _exchanged(self, x: Array) -> Array:
        """By a collective over all devices."""
        groups, size = self.one_of(_GROUPS)
        more = {"channel_id": self.module.channel(), "replica_groups": groups}
        flagged = {**more, "use_global_device_ids": True}
        match self.one_of(("permute", "permute", "permute", "gather", "reduce", "scatter", "to-all", "select")):
            case "gather":
                part = self.fitted(x, (8 // size,))
                return self.op("all-gather", part, sizes=(8,), **flagged, dimensions=[0])
            case "reduce":
                return self.op("all-reduce", x, sizes=(8,), **flagged, to_apply="add")
            case "scatter":
                part = self.op("reduce-scatter", x, sizes=(8 // size,), **flagged, dimensions=[0], to_apply="add")
                return self.fitted(part, (8,))
            case "to-all":
                return self.op("all-to-all", x, sizes=(8,), **more, dimensions=[0])
            case "select":
                here = self.line("u32[]", "partition-id")
                which = self.line("u32[]", "constant", str(self.number(0, 3)))
                taken = self.line("pred[]", "compare", here, which, direction="EQ")
                return self.op("select", taken, x, self._permuted(x), sizes=(8,))
        return self._permuted(x)

    def _permuted(self, x: Array) -> Array:
        pairs = [*enumerate(self.shuffled(range(DEVICES)))][: self.number(1, DEVICES)]
        channel = self.module.channel()
        return self.op("collective-permute", x, sizes=(8,), channel_id=channel, source_target_pairs=pairs)

    def number_of_start(self) -> str:
        """On several devices also what a table has for each."""
        if not self.module.on_devices or not self.chance(4):
            return super().number_of_start()
        here = self.line("u32[]", "partition-id")
        table = self.line("s32[4]", "constant", "{0,3,1,2}")
        found = self.line("s32[1]", "dynamic-slice", table, here, dynamic_slice_sizes=[1])
        return self.line("s32[]", "reshape", found, letter="j")


class _Module:
    """The computations so far."""

    def __init__(self, draw: Draw, on_devices: bool) -> None:
        self.draw, self.on_devices = draw, on_devices
        self.state = _ONE if on_devices else _WHOLE
        self.bodies: dict[str, str] = {}
        self.made: list[str] = []
        self.done: list[str] = []
        self.prefixed = draw(st.sampled_from(("", "ijkvwz", "ijkvwz", "iw", "ikvwz")))
        """Letters of the names that each computation has for itself."""
        self._channels = 0

    def channel(self) -> int:
        self._channels += 1
        return self._channels

    def computation(self, name: str, is_entry: bool = False) -> None:
        """Calls of computations before it, and changes of its own; the last step is a change."""
        c = _Body(self, name)
        for _ in range(c.number(1, 3) if is_entry else c.number(0, 2)):
            if self.made and (not self.on_devices or c.chance(3)):
                c.called()
            elif self.on_devices:
                c.changed()
        c.changed()
        if self.on_devices:
            c.op("negate", Array(c.w, (8,)), sizes=(8,))
        self.done.append(c.written(f"{'ENTRY ' if is_entry else ''}{name}"))
        self.made.append(name)

    def taking_a_pair(self, callee: str) -> str:
        name, pair = f"pair{len(self.done)}", f"({self.state}, s32[])"
        self.done.append(
            computation(
                name,
                f"s = {pair} parameter(0)",
                f"x = {self.state} get-tuple-element(s), index=0",
                "i = s32[] get-tuple-element(s), index=1",
                f"y = {self.state} call(x, i), to_apply={callee}",
            )
        )
        return name

    def loop(self, callee: str, is_given: bool) -> tuple[str, str, str]:
        """Two turns, or as many as are given: the condition, the body, and the shape of what they take."""
        name, taken = f"loop{len(self.done)}", f"(s32[], {self.state}, s32[])"
        counter = (f"s = {taken} parameter(0)", "k = s32[] get-tuple-element(s), index=0")
        given = "n = s32[] get-tuple-element(s), index=2"
        limit = given if is_given else "n = s32[] constant(2)"
        self.done.append(computation(f"{name}_on", *counter, limit, "l = pred[] compare(k, n), direction=LT"))
        self.done.append(
            computation(
                name,
                *(*counter, given),
                f"x = {self.state} get-tuple-element(s), index=1",
                "o = s32[] constant(1)",
                "j = s32[] add(k, o)",
                f"y = {self.state} call(x, k), to_apply={callee}",
                f"t = {taken} tuple(j, y, n)",
            )
        )
        return f"{name}_on", name, taken

    def text(self, header: str) -> str:
        """Up to three computations, and the entry."""
        for n in range(self.draw(st.integers(0 if self.on_devices else 1, 3))):
            self.computation(f"f{n}")
        self.computation("e", is_entry=True)
        return f"HloModule {header}\n\n{''.join([*self.bodies.values(), *self.done])}"


@st.composite
def structures(draw: Draw) -> str:
    """Modules on one device."""
    return _Module(draw, on_devices=False).text(STRUCTURE)


@st.composite
def device_modules(draw: Draw) -> str:
    return _Module(draw, on_devices=True).text(f"devices, num_partitions={DEVICES}")
