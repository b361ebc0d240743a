"""Strategies for computations with operations in flight, as text: every form of start, readers and writers of buffers.

Two parameters of four floats; what is in flight is finished in the same computation. Scheduled modules also update in
place, run loops, and may donate a parameter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw, Writer

NAME: Final = "flights"
"""What these modules are called."""

_ALIASED: Final = 'custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}'
BODIES: Final = (
    'opaque {\n  q = f32[4] parameter(0)\n  ROOT r = f32[4] custom-call(q), custom_call_target="g"\n}\n\n'
    f"writes {{\n  q = f32[4] parameter(0)\n  ROOT r = f32[4] custom-call(q), {_ALIASED}\n}}\n\n"
    "reads {\n  q = f32[4] parameter(0)\n  ROOT r = f32[4] negate(q)\n}\n\n"
    "passes {\n  q = f32[4] parameter(0)\n  ROOT r = f32[4] opt-barrier(q)\n}\n\n"
    "both {\n  q = f32[4] parameter(0)\n  p = f32[4] parameter(1)\n"
    '  ROOT r = f32[4] custom-call(q, p), custom_call_target="g"\n}\n\n'
    "kept {\n  q = (f32[4], f32[4]) parameter(0)\n  ROOT r = (f32[4], f32[4]) opt-barrier(q)\n}\n\n"
    "first {\n  q = (f32[4], f32[4]) parameter(0)\n  given = f32[4] get-tuple-element(q), index=0\n"
    "  kept1 = f32[4] get-tuple-element(q), index=1\n"
    f"  made = f32[4] custom-call(given), {_ALIASED}\n  ROOT r = (f32[4], f32[4]) tuple(made, kept1)\n}}\n\n"
    "anew {\n  q = (f32[4], f32[4]) parameter(0)\n  one = f32[4] get-tuple-element(q), index=0\n"
    "  two = f32[4] get-tuple-element(q), index=1\n  made = f32[4] negate(one)\n  more = f32[4] negate(two)\n"
    "  ROOT r = (f32[4], f32[4]) tuple(made, more)\n}\n\n"
    "never2 {\n  q = (f32[4], f32[4]) parameter(0)\n  ROOT r = pred[] constant(false)\n}\n\n"
    "never {\n  q = f32[4] parameter(0)\n  ROOT r = pred[] constant(false)\n}\n\n"
    "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n\n"
)


def bodies_of(text: str, bodies: str = BODIES) -> str:
    """The computations among these that the text names."""
    words = set(re.findall(r"\w+", text))
    return "".join(f"{body}\n\n" for body in bodies.split("\n\n") if body.partition(" ")[0] in words)


_PAIR: Final = "(f32[4], f32[4])"
STATE: Final = "((f32[4]), f32[4], s32[])"
_SELF: Final = "replica_groups={{0}}"


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of operation is started and finished. `output`, `operand`: where its buffers are in the state."""

    result: str
    start: str
    done: str
    output: tuple[int, ...] | None = None
    operand: tuple[int, ...] | None = None
    update: str = ""
    bound: str = ""
    """The state once an update has bound what the start leaves out; '' where there is nothing to bind."""
    finished: str = "f32[4]"


FORMS: Final[dict[str, Form]] = {
    "copy": Form("(f32[4], f32[4], u32[])", "copy-start({x})", "copy-done", (0,), (1,)),
    "permute": Form(
        _PAIR, "collective-permute-start({x}), source_target_pairs={{{{0,0}}}}", "collective-permute-done", (1,), (0,)
    ),
    "gather": Form(
        _PAIR, "all-gather-start({x}), dimensions={{0}}, replica_groups={{{{0}}}}", "all-gather-done", (1,), (0,)
    ),
    "reduce": Form("f32[4]", "all-reduce-start({x}), to_apply=add, replica_groups={{{{0}}}}", "all-reduce-done", ()),
    "generic": Form(STATE, "async-start({x}), calls=opaque", "async-done", (1,), (0, 0), "async-update"),
    "aliased": Form(
        STATE,
        "async-start({x}), calls=opaque, output_to_operand_aliasing={{{{1}}: (0, {{}})}}",
        "async-done",
        (1,),
        (0, 0),
        "async-update",
    ),
    "in place": Form(STATE, "async-start({x}), calls=writes", "async-done", (1,), (0, 0), "async-update"),
    "sugar": Form(STATE, "exponential-start({x})", "exponential-done", (1,), (0, 0), "exponential-update"),
    "called": Form(STATE, "call-start({x}), to_apply=reads", "call-done", (1,), (0, 0), "call-update"),
    "pair": Form("((f32[4], f32[4]), f32[4], s32[])", "async-start({x}, {y}), calls=both", "async-done", (1,)),
    "late": Form("((), f32[4], s32[])", "async-start(), calls=opaque", "async-done", (1,), None, "async-update", STATE),
    "half": Form(
        STATE,
        "async-start({x}), calls=both",
        "async-done",
        (1,),
        None,
        "async-update",
        "((f32[4], f32[4]), f32[4], s32[])",
    ),
    "send": Form(
        "(f32[4], u32[], token[])", "send({x}, tok), channel_id=1", "send-done", None, (0,), finished="token[]"
    ),
    "recv": Form(
        "(f32[4], u32[], token[])", "recv(tok), channel_id=2", "recv-done", (0,), None, finished="(f32[4], token[])"
    ),
}
"""Forms by a name of their own; `{x}` stands for the operand."""


@dataclass(slots=True)
class _Flying:
    form: str
    state: str
    """The start, or the latest update."""
    bound: bool = True


class _Writer(Writer):
    def __init__(self, draw: Draw, scheduled: bool) -> None:
        super().__init__(draw)
        self.scheduled = scheduled
        self.lines: list[str] = []
        self.values = ["a", "b", "c0", "c1"] if draw(st.integers(0, 2)) == 0 else ["a", "b"]
        self.flying: list[_Flying] = []
        self.seen: list[str] = []
        """Steps that a control dependency may name."""
        self.read: list[str] = []
        """What operations in flight were given."""
        self.states: set[str] = set()
        """Arrays that are the state of an operation themselves."""

    def add(self, shape: str, text: str, controlled: bool = True) -> str:
        name = f"v{len(self.lines)}"
        control = ""
        if controlled and self.seen and self.draw(st.integers(0, 5)) == 0:
            control = f", control-predecessors={{{self.draw(st.sampled_from(self.seen))}}}"
        self.lines.append(f"  {name} = {shape} {text}{control}\n")
        self.seen.append(name)
        return name

    def pick(self) -> str:
        near = self.values[-3:] if self.draw(st.booleans()) else self.values
        found: str = self.draw(st.sampled_from(near))
        return found

    def element(self, state: str, shape: str, index: tuple[int, ...]) -> str:
        """A part of a state by get-tuple-element; the inner tuple of the generic form holds one array."""
        for depth, k in enumerate(index):
            shape = "f32[4]" if depth + 1 == len(index) else "(f32[4])"
            state = self.add(shape, f"get-tuple-element({state}), index={k}", controlled=False)
        return state

    def start(self) -> None:
        name = self.draw(st.sampled_from((*FORMS, "aliased", "aliased", "in place", "pair")))
        form = FORMS[name]
        x = self.pick()
        started = self.add(form.result, form.start.format(x=x, y=self.pick()))
        self.flying.append(_Flying(name, started, bound=not form.bound))
        if "{x}" in form.start:
            self.read.append(x)

    def update(self, f: _Flying) -> None:
        form = FORMS[f.form]
        if not form.update:
            return
        further = ""
        if not f.bound:
            own = form.output is not None and self.draw(st.integers(0, 2)) == 0
            further = f", {self.element(f.state, '', form.output or ()) if own else self.pick()}"
        f.state, f.bound = self.add(form.bound or STATE, f"{form.update}({f.state}{further})"), True

    def done(self, f: _Flying) -> None:
        if not f.bound:
            self.update(f)
        form = FORMS[f.form]
        state = f.state
        if self.draw(st.integers(0, 4)) == 0 and form.result.startswith("("):
            shape = form.bound or form.result
            state = self.add(shape, f"opt-barrier({state})")
        channel = {"send": ", channel_id=1", "recv": ", channel_id=2"}.get(f.form, "")
        ended = self.add(form.finished, f"{form.done}({state}){channel}")
        self.flying.remove(f)
        if f.form == "recv":
            ended = self.element(ended, "", (0,))
        if f.form != "send":
            self.values.append(ended)

    def peek(self, f: _Flying) -> None:
        form = FORMS[f.form]
        places = [p for p in (form.output, form.operand) if p is not None]
        if places:
            seen = self.element(f.state, form.result, self.draw(st.sampled_from(places)))
            self.values.append(seen)
            if seen == f.state:
                self.states.add(seen)

    def touch(self) -> None:
        x = self.draw(st.sampled_from(self.read[-2:])) if self.read and self.draw(st.booleans()) else self.pick()
        kinds = ["negate", "write", "write", "call", "update", "update", "branch"]
        kinds += ["loop", "loop of two", "write two"] if self.scheduled else ["negate"] * 4 + ["update"] * 3
        kind = self.draw(st.sampled_from(kinds))
        y = self.pick()
        if kind in ("call", "loop", "branch", "loop of two") and not self.states.isdisjoint((x, y)):
            kind = "negate"  # what is handed to a body goes on being in flight there
        match kind:
            case "negate":
                text = f"negate({x})"
            case "write":
                text = f"custom-call({x}), {_ALIASED}"
            case "call":
                text = f"call({x}), to_apply={self.draw(st.sampled_from(('reads', 'writes', 'passes')))}"
            case "update":
                text = f"dynamic-update-slice({x}, {y}, zero)"
            case "branch":
                names = self.draw(
                    st.sampled_from(
                        ("passes, passes", "passes, reads", "reads, reads", "writes, passes", "reads, writes")
                    )
                )
                text = f"conditional(zero, {x}, {y}), branch_computations={{{names}}}"
            case "loop of two" | "write two":
                if kind == "write two":
                    aliases = "{0}: (0, {}), {1}: (0, {})"
                    two = f'custom-call({x}), custom_call_target="f", output_to_operand_aliasing={{{aliases}}}'
                else:
                    body = self.draw(st.sampled_from(("kept", "first", "first", "anew")))
                    given = self.add("(f32[4], f32[4])", f"tuple({x}, {y})", controlled=False)
                    two = f"while({given}), condition=never2, body={body}"
                made = self.add("(f32[4], f32[4])", two)
                for k in self.draw(st.sampled_from(((0,), (1,), (0, 1)))):
                    self.values.append(self.element(made, "", (k,)))
                return
            case _:
                body = self.draw(st.sampled_from(("reads", "writes", "passes")))
                text = f"while({x}), condition=never, body={body}"
        self.values.append(self.add("f32[4]", text))


@st.composite
def flight_modules(draw: Draw) -> str:
    """At most two operations in flight at a time, at most a dozen steps."""
    scheduled = draw(st.booleans())
    w = _Writer(draw, scheduled)
    for _ in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(("start", "start", "done", "update", "peek", "peek", "touch", "touch", "touch")))
        if kind == "start" and len(w.flying) < 2:
            w.start()
        elif kind in ("done", "update", "peek") and w.flying:
            getattr(w, kind)(draw(st.sampled_from(w.flying)))
        elif kind == "touch":
            w.touch()
    while w.flying:
        w.done(w.flying[0])
    first = "  a = f32[4] parameter(0)\n  b = f32[4] parameter(1)\n"
    first += "  c = (f32[4], f32[4]) parameter(2)\n  zero = s32[] constant(0)\n  tok = token[] after-all()\n"
    first += "  c0 = f32[4] get-tuple-element(c), index=0\n  c1 = f32[4] get-tuple-element(c), index=1\n"
    header = ", is_scheduled=true" if scheduled else ""
    whole = [v for v in w.values if v not in w.states]  # what is part of the result as a state stays in flight
    roots = [draw(st.sampled_from(whole[-4:])), draw(st.sampled_from(whole))]
    if scheduled and draw(st.integers(0, 3)) == 0:
        parameter = draw(st.sampled_from(("0, {}", "2, {1}", "2, {0}")))
        kind = draw(st.sampled_from(("must-alias", "must-alias", "may-alias")))
        header += f", input_output_alias={{ {{0}}: ({parameter}, {kind}) }}"
        roots[0] = w.add("f32[4]", f"negate({roots[0]})")
    root = f"  ROOT t = (f32[4], f32[4]) tuple({', '.join(roots)})\n"
    body = f"{first}{''.join(w.lines)}{root}"
    return f"HloModule {NAME}{header}\n\n{bodies_of(body)}ENTRY e {{\n{body}}}\n"
