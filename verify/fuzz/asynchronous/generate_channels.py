"""Strategies for sends and recvs between devices, values of buffer type, and fused updates in place, as text."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import ADD, Draw

CHANNELS: Final = "channels"
BUFFERS: Final = "buffers"
IN_PLACE: Final = "in_place"
"""What the modules of each strategy are called."""

_DEVICES: Final = 4


def _pairs(pairs: list[tuple[int, int]]) -> str:
    inside = ",".join(f"{{{a},{b}}}" for a, b in pairs)
    return f'frontend_attributes={{_xla_send_recv_source_target_pairs="{{{inside}}}"}}'


@st.composite
def device_pairs(draw: Draw) -> list[tuple[int, int]]:
    """Mostly a chain of devices; now and then what goes round, or names a device twice."""
    found: list[tuple[int, int]] = draw(
        st.lists(st.tuples(st.integers(0, _DEVICES - 1), st.integers(0, _DEVICES - 1)), min_size=1, max_size=3)
    )
    if draw(st.integers(0, 3)):
        low = draw(st.integers(0, _DEVICES - 2))
        found = [(k, k + 1) for k in range(low, draw(st.integers(low + 1, _DEVICES - 1)))]
    return found


@st.composite
def channel_modules(draw: Draw) -> str:
    """Up to three exchanges in a scheduled module, their four parts in any order that operands allow; host transfers;
    a channel or a pair of devices that differs here and there, a done too many."""
    count = draw(st.integers(1, 3))
    waiting: list[list[str]] = []
    for k in range(count):
        pairs, channel = draw(device_pairs()), draw(st.integers(1, 2))
        other = draw(device_pairs()) if draw(st.integers(0, 9)) == 0 else pairs
        host = draw(st.integers(0, 7)) == 0
        tail = f"channel_id={channel}" + (", is_host_transfer=true" if host else "")
        spoken = f", {_pairs(pairs)}" if not host else draw(st.sampled_from(("", ", " + _pairs([(0, 1)]))))
        heard = f", {_pairs(other)}" if not host else ""

        def ended(k: int = k, tail: str = tail) -> str:
            """The attributes of a done."""
            slip = draw(st.integers(0, 14))
            return "channel_id=3" if slip == 0 else "" if slip == 1 else tail

        def done(opcode: str, shape: str, operand: str) -> str:
            attributes = ended()
            return f"{shape} {opcode}({operand})" + (f", {attributes}" if attributes else "")

        sends = [
            f"  s{k} = (f32[4], u32[], token[]) send(p, t), {tail}{spoken}\n",
            f"  sd{k} = {done('send-done', 'token[]', f's{k}')}\n",
        ]
        recvs = [
            f"  r{k} = (f32[4], u32[], token[]) recv(t), {tail}{heard}\n",
            f"  rd{k} = {done('recv-done', '(f32[4], token[])', f'r{k}')}\n",
        ]
        if draw(st.integers(0, 11)) == 0:
            sends.append(f"  se{k} = token[] send-done(s{k}), {tail}\n")
        kept = draw(st.integers(0, 11))
        waiting += [x for x in ((sends if kept != 1 else []), (recvs if kept != 2 else [])) if x]
    lines: list[str] = []
    while any(waiting):
        queue = draw(st.sampled_from([w for w in waiting if w]))
        lines.append(queue.pop(0))
    first = "  p = f32[4] parameter(0)\n  t = token[] after-all()\n"
    entry = f"ENTRY e {{\n{first}{''.join(lines)}  ROOT root = f32[4] negate(p)\n}}\n"
    return f"HloModule {CHANNELS}, is_scheduled=true\n\n{entry}"


@st.composite
def buffer_modules(draw: Draw) -> str:
    """Pins, writers, tuples and unpins of two arrays; an alias forgotten, doubled or of another shape now and then."""
    alias = "output_to_operand_aliasing={{}: (0, {})}"
    lines, buffers, plain = list[str](), list[str](), ["p", "q"]
    pairs: list[str] = []
    count = draw(st.integers(1, 6))
    for n in range(count):
        kind = draw(st.sampled_from(("pin", "pin", "write", "write", "unpin", "pair", "first", "two")))
        declared = draw(
            st.sampled_from(
                (alias,) * 8
                + ("", "output_to_operand_aliasing={{}: (1, {})}", "output_to_operand_aliasing={{0}: (0, {})}")
            )
        )
        tail = f", {declared}" if declared else ""
        fresh = draw(st.integers(0, 5)) == 0
        if kind == "pin":
            x = draw(st.sampled_from(plain))
            lines.append(f'  b{n} = b(f32[4]) custom-call({x}), custom_call_target="Pin"{tail}\n')
            buffers.append(f"b{n}")
        elif kind == "pair" and buffers:
            lines.append(f"  t{n} = (b(f32[4]), f32[4]) tuple({draw(st.sampled_from(buffers))}, p)\n")
            pairs.append(f"t{n}")
        elif kind == "first" and pairs:
            lines.append(f"  g{n} = b(f32[4]) get-tuple-element({draw(st.sampled_from(pairs))}), index=0\n")
            buffers.append(f"g{n}")
        elif buffers:
            b = buffers[-1] if not fresh else draw(st.sampled_from(buffers))
            if kind == "unpin":
                lines.append(f'  u{n} = f32[4] custom-call({b}), custom_call_target="Unpin"{tail}\n')
                plain.append(f"u{n}")
            elif kind == "two" and len(buffers) > 1:
                both = "output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {})}"
                written = draw(st.sampled_from((both, both, both, both.replace("(1,", "(0,"), alias)))
                other = draw(st.sampled_from(buffers))
                inside = f'{b}, {other}), custom_call_target="w", {written}'
                lines.append(f"  w{n} = (b(f32[4]), b(f32[4])) custom-call({inside}\n")
                for k in range(2):
                    lines.append(f"  w{n}{k} = b(f32[4]) get-tuple-element(w{n}), index={k}\n")
                    buffers.append(f"w{n}{k}")
            else:
                size = 8 if draw(st.integers(0, 11)) == 0 else 4
                shape = f"b(f32[{size}])"
                lines.append(f'  w{n} = {shape} custom-call({b}), custom_call_target="w"{tail}\n')
                if size == 4:
                    buffers.append(f"w{n}")
    first = "  p = f32[4] parameter(0)\n  q = f32[4] parameter(1)\n"
    root = draw(st.sampled_from([*plain, *buffers[-1:]]))
    shape = "b(f32[4])" if root in buffers else "f32[4]"
    ending = f"  ROOT root = ({shape}) tuple({root})\n"
    return f"HloModule {BUFFERS}\n\nENTRY e {{\n{first}{''.join(lines)}{ending}}}\n"


@st.composite
def in_place_modules(draw: Draw) -> str:
    """A fusion that updates a window of a vector with what it computes from the vector itself."""
    size, window = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    window = min(window, size)
    whole, part = f"f32[{size}]", f"f32[{window}]"
    lines = [f"  v = {whole} parameter(0)\n", "  i = s32[] parameter(1)\n", "  j = s32[] parameter(2)\n"]
    start = draw(st.sampled_from(("i", "i", "c")))
    lines.append(f"  c = s32[] constant({draw(st.integers(-1, size))})\n")
    arrays: list[str] = []
    for n in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("slice", "at", "at", "reverse", "sum", "add", "turn", "other")))
        if kind == "slice":
            low = draw(st.integers(0, size - window))
            text = f"slice(v), slice={{[{low}:{low + window}]}}"
        elif kind == "at":
            where = draw(st.sampled_from(("i", "i", "j", "c")))
            text = f"dynamic-slice(v, {where}), dynamic_slice_sizes={{{window}}}"
        elif kind == "reverse":
            lines.append(f"  w{n} = {whole} reverse(v), dimensions={{0}}\n")
            low = draw(st.integers(0, size - window))
            text = f"slice(w{n}), slice={{[{low}:{low + window}]}}"
        elif kind == "sum":
            lines.append(f"  w{n} = f32[] reduce(v, zero), dimensions={{0}}, to_apply=add\n")
            text = f"broadcast(w{n}), dimensions={{}}"
        elif kind == "turn" and arrays:
            text = f"reverse({draw(st.sampled_from(arrays))}), dimensions={{0}}"
        elif kind == "add" and arrays:
            text = f"add({draw(st.sampled_from(arrays))}, {draw(st.sampled_from(arrays))})"
        else:
            text = "broadcast(zero), dimensions={}"
        lines.append(f"  a{n} = {part} {text}\n")
        arrays.append(f"a{n}")
    lines.append(f"  ROOT u = {whole} dynamic-update-slice(v, {arrays[-1]}, {start})\n")
    lines.insert(3, "  zero = f32[] constant(0)\n")
    body = f"fused {{\n{''.join(lines)}}}\n\n"
    entry = f"  v = {whole} parameter(0)\n  i = s32[] parameter(1)\n  j = s32[] parameter(2)\n"
    root = f"  ROOT f = {whole} fusion(v, i, j), kind=kLoop, calls=fused\n"
    return f"HloModule {IN_PLACE}, is_scheduled=true\n\n{ADD}\n{body}ENTRY e {{\n{entry}{root}}}\n"
