"""Sends and recvs between devices, drawn, and tried in every order in which devices can run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.asynchronous.forms import TOKEN, F, U
from hloproof.fuzz.asynchronous.slips import CHANNEL_SLIPS, Link
from hloproof.fuzz.asynchronous.structure import Body, Drawn
from hloproof.fuzz.drawing import Draw
from hloproof.models.hlo.module import Instruction, Module

Routes = tuple[tuple[int, int], ...]

_DEVICES: Final = 4


def _routes(m: Drawn, straight: bool = True) -> str:
    """The attribute for a chain of devices, or for any pairs, which may go round or name a device twice."""
    low = m.number(0, _DEVICES - 2)
    pairs = [(k, k + 1) for k in range(low, m.number(low + 1, _DEVICES - 1))]
    if not straight:
        pairs = [(m.number(0, _DEVICES - 1), m.number(0, _DEVICES - 1)) for _ in range(m.number(1, 3))]
    inside = ",".join(f"{{{a},{b}}}" for a, b in pairs)
    return f'frontend_attributes={{_xla_send_recv_source_target_pairs="{{{inside}}}"}}'


@st.composite
def channel_modules(draw: Draw) -> str:
    """Up to three exchanges in a scheduled module, their parts in any order that operands allow."""
    m = Drawn(draw)
    b = Body(m, "e")
    b.add(F, "parameter(0)", "p")
    b.add(TOKEN, "after-all()", "t")
    waiting = [queue for k in range(m.one_of((1, 2, 3, 3))) for queue in _exchange(m, k)]
    while any(waiting):
        name, link = m.one_of([queue for queue in waiting if queue]).pop(0)
        said = f", {link.said}" if link.said else ""
        b.add(link.shape, f"{link.opcode}({', '.join(link.operands)}){said}", name)
    return m.text("channels", b, b.add(F, "negate(p)"), ", is_scheduled=true")


def _exchange(m: Drawn, k: int) -> list[list[tuple[str, Link]]]:
    """What sends and what receives, each in its order, with their names."""
    name: str = m.one_of(("",) * 4 + ("round about",) * 3 + tuple(CHANNEL_SLIPS))
    slip, state = CHANNEL_SLIPS.get(name), (F, U, TOKEN)
    channel = f"channel_id={m.number(1, 2)}" + (", is_host_transfer=true" if name == "to the host" else "")
    said, other = f"{channel}, {_routes(m, name != 'round about')}", f"{channel}, {_routes(m, m.chance(2))}"
    if name == "to the host":
        said = m.one_of((said, channel))
    queues = [
        [
            Link("send", "send", "", ("p", "t"), state, said),
            Link("done", "send-done", "", (f"send{k}",), TOKEN, channel),
        ],
        [
            Link("recv", "recv", other, ("t",), state, said),
            Link("done", "recv-done", "", (f"recv{k}",), (F, TOKEN), channel),
        ],
    ]
    if name == "sent twice":
        queues[0].append(queues[0][1])
    if name in ("not sent", "not received"):
        del queues[name == "not received"]
    if slip is not None:
        queues = [[slip.spoil(x, m) if slip.fits(x) and m.chance(2) else x for x in queue] for queue in queues]
    return [[(f"{x.opcode}{k}" if n < 2 else f"again{k}", x) for n, x in enumerate(queue)] for queue in queues]


# -- every order of the devices ---------------------------------------------------------------------------------------


def pairs_of(i: Instruction) -> Routes:
    """The device pairs in the text of the frontend attributes."""
    value = i.attributes.get("frontend_attributes")
    numbers = [int(n) for n in re.findall(r"\d+", str(getattr(value, "text", "")).partition("target_pairs")[2])]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def broken_channels(module: Module) -> set[tuple[str, str]]:
    """(claim, instruction) of what a module of sends and recvs breaks."""
    entry = module.entry
    broken: set[tuple[str, str]] = set()
    for i in entry.instructions:
        if i.opcode in ("send", "recv"):
            users = {u.name for u in entry.instructions if i.name in u.operands}
            if len(users) != 1:
                broken.add(("async-channel", i.name))
        elif i.opcode in ("send-done", "recv-done"):
            begun = entry.by_name[i.operands[0]]
            for key in ("channel_id", "is_host_transfer"):
                mine, theirs = i.attributes.get(key), begun.attributes.get(key)
                if mine is not None and theirs is not None and mine != theirs:
                    broken.add(("async-channel", i.name))
    hosts = [i for i in entry.instructions if i.opcode in ("send", "recv") and i.attributes.flag("is_host_transfer")]
    for n, i in enumerate(hosts):
        first = next(h for h in hosts if (h.opcode, _channel(h)) == (i.opcode, _channel(i)))
        if n and pairs_of(first) != pairs_of(i):
            broken.add(("async-channel", i.name))
    return broken | {("collective-deadlock", name) for name in _deadlocks(module)}


def _channel(i: Instruction) -> str:
    return str(i.attributes.get("channel_id"))


def _deadlocks(module: Module) -> set[str]:
    """Transfers whose pairs are wrong in themselves, have no partner, or that some device waits for without end."""
    steps = [i for i in module.entry.instructions if i.opcode in ("send", "recv", "recv-done")]
    transfers = [i for i in steps if i.opcode != "recv-done" and pairs_of(i)]
    found: set[str] = set()
    for i in transfers:
        pairs = pairs_of(i)
        if len({a for a, _ in pairs}) < len(pairs) or len({b for _, b in pairs}) < len(pairs) or _circular(pairs):
            found.add(i.name)
        other = "recv" if i.opcode == "send" else "send"
        own = [x for x in transfers if (x.opcode, _channel(x), pairs_of(x)) == (i.opcode, _channel(i), pairs)]
        partners = [x for x in transfers if (x.opcode, _channel(x), pairs_of(x)) == (other, _channel(i), pairs)]
        if len(partners) < len(own):
            found.add(i.name)
    return found | _stuck(module, steps)


def _circular(pairs: Routes) -> bool:
    reached = set(pairs)
    while True:
        more = {(a, d) for a, b in reached for c, d in pairs if b == c} - reached
        if not more:
            return any(a == b for a, b in reached)
        reached |= more


def _stuck(module: Module, steps: Sequence[Instruction]) -> set[str]:
    """The recvs at whose done some device stands when nobody can go on. Who can go on still can when others have, so
    that all orders end alike."""
    at = {d: 0 for i in steps for pair in pairs_of(i) for d in pair}
    moved = True
    while moved:
        moved = False
        for d in sorted(at):
            while at[d] < len(steps) and _can_go(module, steps, at, d):
                at[d], moved = at[d] + 1, True
    return {steps[n].operands[0] for n in at.values() if n < len(steps)}


def _can_go(module: Module, steps: Sequence[Instruction], at: Mapping[int, int], device: int) -> bool:
    """A recv-done needs, of each source, one more send on its channel than was taken of it before; all else goes on at
    once."""

    def way(step: Instruction) -> tuple[str, Routes]:
        begun = module.entry.by_name[step.operands[0]] if step.opcode == "recv-done" else step
        return _channel(begun), pairs_of(begun)

    step = steps[at[device]]
    own, before = way(step), steps[: at[device]]
    taken = sum(s.opcode == "recv-done" and way(s) == own for s in before)
    sources = [a for a, b in own[1] if b == device] if step.opcode == "recv-done" else []
    return all(sum(s.opcode == "send" and way(s) == own for s in steps[: at[a]]) > taken for a in sources)
