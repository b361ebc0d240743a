"""Small programs of three devices that send, receive and meet, in loops, branches, calls and flight: made at random,
printed as HLO, and run by hand for given inputs until nobody moves. Nothing here looks at how deadlocks are checked."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

Pairs = tuple[tuple[int, int], ...]
Steps = list["Step"]
Test = tuple[str, int]
Choice = tuple[tuple[int, int], tuple[bool, bool]]
"""What a program is given: two numbers, and two predicates, the same for all devices."""

_Key = tuple[int, int, int]
"""From where to where, and the channel."""
Handed = tuple[int, int, "int | str"]
"""A name outside, the name inside, and the channel, or the groups."""

DEVICES: Final = 3
_PAIRS: Final[dict[int, Pairs]] = {
    1: ((0, 1),),
    2: ((1, 0),),
    3: ((1, 2),),
    4: ((2, 1),),
    5: ((2, 0),),
    6: ((0, 2),),
    7: ((0, 1), (1, 2)),
    8: ((2, 1), (1, 0)),
}
"""What each channel connects."""
_GROUPS: Final[dict[str, list[set[int]]]] = {
    "{}": [{0, 1, 2}],
    "{{0,1},{2}}": [{0, 1}, {2}],
    "{{0},{1,2}}": [{0}, {1, 2}],
    "{{0,2},{1}}": [{0, 2}, {1}],
}
_MOVES: Final[dict[str, Pairs]] = {
    "{{0,1}}": ((0, 1),),
    "{{1,2}}": ((1, 2),),
    "{{2,0}}": ((2, 0),),
    "{{1,0},{2,1}}": ((1, 0), (2, 1)),
    "{{0,0},{1,2}}": ((0, 0), (1, 2)),
}
_CASTS: Final = ("to {{0,1,2}}", "to {{2,0,1}}")
"""Groups in which one sends to all."""
_ALONE: Final = "alone"
_MEETINGS: Final = [*_GROUPS, *_MOVES]


@dataclass(frozen=True, eq=False)
class Step:
    """One step, known by itself: `send`, `recv` and `recv-done` on a channel; `meet` in groups, or `start` and `done`;
    `fly` and `land`; `call`; `if`; `while`. Of what a loop carries `begin` is the first, `next` that of the turn after,
    and `end` ends what is carried."""

    what: str
    on: int | str = 0
    """The channel, or the groups."""
    name: int = 0
    """Of what is begun and ended."""
    bodies: tuple[Steps, ...] = ()
    by: Test = ("", 0)
    """What chooses a branch, or how often a loop turns."""
    carried: tuple[int, ...] = ()
    handed: tuple[int, ...] = ()
    """What the next turn is given in their places: the name of one that is carried, or minus that of a `next`."""
    takes: tuple[Handed, ...] = ()
    gives: tuple[Handed, ...] = ()
    """What calls and branches are handed of what is carried, and hand back."""


# -- running ----------------------------------------------------------------------------------------------------------

Wait = Callable[[], bool]


@dataclass
class _World:
    given: Choice
    in_order: bool
    """What is sent goes to recvs in the order in which they began, one transfer of a stream after the other, what
    flies or starts is over when it has, and all devices wait for one another in permutations; else sends go to whoever
    waits, and who sends waits for nobody."""
    second: frozenset[int] = frozenset()
    """The channels on the second stream."""
    beside: bool = False
    """What flies runs beside what comes behind it, though all else is in order."""
    sent: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    begun: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    taken: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    arrived: Counter[tuple[int, Step]] = field(default_factory=Counter)
    queues: dict[tuple[int, int, bool], list[int]] = field(default_factory=dict)
    """The channels of what one device sent another on a stream and that is not received."""
    threads: list[Iterator[Wait]] = field(default_factory=list)
    last: dict[tuple[int, bool], list[bool]] = field(default_factory=dict)
    """Whether what began last on a stream of a device is over."""
    steps: int = 0


class TooLong(Exception):
    """A run takes too many steps."""


@dataclass
class _Runner:
    """One thread of a device."""

    world: _World
    device: int
    is_in_flight: bool = False

    def run(
        self,
        steps: Sequence[Step],
        turn: int,
        outer: int,
        carried: dict[int, Iterator[Wait]],
        open_ones: dict[int, Iterator[Wait]] | None = None,
    ) -> Iterator[Wait]:
        """Each thing that is waited for, in order; what is begun and not ended is left in `open_ones`."""
        w, d = self.world, self.device
        open_ones = {} if open_ones is None else open_ones
        for s in steps:
            w.steps += 1
            if w.steps > 20_000:
                raise TooLong
            match s.what:
                case "send":
                    sent = self._send(s)
                    if s.name:
                        open_ones[s.name] = sent
                    else:
                        yield from sent
                case "recv" | "start":
                    open_ones[s.name] = yield from self._started(s)
                case "begin":
                    carried[s.name] = yield from self._started(s)
                case "next":
                    carried[-s.name] = yield from self._started(s)
                case "recv-done" | "send-done" | "done" | "land":
                    yield from open_ones.pop(s.name)
                case "end":
                    yield from carried[s.name]
                case "meet":
                    if self.is_in_flight:
                        yield from self._cleared()
                    yield from self._begin(s)
                case "fly" if w.in_order and not w.beside:
                    left = dict[int, Iterator[Wait]]()
                    yield from _Runner(w, d, is_in_flight=True).run(s.bodies[0], turn, outer, {}, left)
                    open_ones[s.name] = chain.from_iterable(left.values())
                case "fly":
                    open_ones[s.name] = self._fly(s, turn, outer)
                case "call" | "if":
                    inner = {formal: carried.pop(name) for name, formal, _ in s.takes}
                    way = s.bodies[0 if s.what == "call" or self._holds(s.by, turn) else 1]
                    yield from self.run(way, turn, outer, inner)
                    carried.update({name: inner[formal] for name, formal, _ in s.gives})
                case "while":
                    turns = 0
                    while True:
                        yield from self.run(s.bodies[1], turns, turn, {})
                        if turns >= self._turns(s.by, turn):
                            break
                        yield from self.run(s.bodies[0], turns, turn, carried)
                        carried.update(zip(s.carried, [carried[h] for h in s.handed], strict=True))
                        turns += 1

    def _started(self, s: Step) -> Generator[Wait, None, Iterator[Wait]]:
        """The same as what begins, and waits for others as it does."""
        begun = self._begin(s)
        if isinstance(s.on, int) or not self.world.in_order:
            return begun
        yield from self._cleared()
        yield from begun
        return iter(())

    def _cleared(self) -> Iterator[Wait]:
        """What is sent and received is over: what is in flight may share its streams."""
        mine = [over for (d, _), over in self.world.last.items() if d == self.device]
        yield lambda: all(mine)

    def _send(self, s: Step) -> Iterator[Wait]:
        w, on = self.world, int(s.on)
        mine = [(a, b, on) for a, b in _PAIRS[on] if a == self.device]
        if w.in_order and mine:
            return self._streamed(on, (), mine)
        w.sent.update(mine)
        return iter(())

    def _streamed(self, on: int, received: Sequence[_Key], sent: Sequence[_Key]) -> Iterator[Wait]:
        """A transfer that begins when the one before it on its stream is over."""
        w, stream, over = self.world, (self.device, on in self.world.second), list[bool]()
        before = w.last.get(stream)
        w.last[stream] = over

        def go() -> Iterator[Wait]:
            if before is not None:
                yield lambda: bool(before)
            w.sent.update(sent)
            for a, b, _ in sent:
                w.queues.setdefault((a, b, stream[1]), []).append(on)
            for a, b, _ in received:
                yield lambda a=a, b=b: w.queues.get((a, b, stream[1]), [])[:1] == [on]  # type: ignore[misc]
                w.queues[a, b, stream[1]].pop(0)
            over.append(True)

        w.threads.append(go())
        return iter([lambda: bool(over)])

    def _begin(self, s: Step) -> Iterator[Wait]:
        """Something that begins now, and what its end waits for."""
        w, d = self.world, self.device
        if isinstance(s.on, int):
            mine = [(a, b, s.on) for a, b in _PAIRS[s.on] if b == d]
            w.begun.update(mine)
            if w.in_order and mine:
                return self._streamed(s.on, mine, ())
            return self._received([(key, w.begun[key]) for key in mine])
        w.arrived[d, s] += 1
        return self._met(s, w.arrived[d, s])

    def _received(self, wanted: Sequence[tuple[tuple[int, int, int], int]]) -> Iterator[Wait]:
        w = self.world
        for key, number in wanted:
            yield lambda key=key, number=number: (  # type: ignore[misc]
                w.sent[key] >= number if w.in_order else w.sent[key] > w.taken[key]
            )
            w.taken[key] += 1

    def _met(self, s: Step, often: int) -> Iterator[Wait]:
        if s.on in (*_MOVES, *_CASTS) and self.world.in_order:
            others = set(range(DEVICES))
        elif s.on == _ALONE or s.on in _CASTS:
            others = set()
        elif s.on in _MOVES:
            others = {a for a, b in _MOVES[str(s.on)] if b == self.device}
        else:
            others = next(group for group in _GROUPS[str(s.on)] if self.device in group)
        yield lambda: all(self.world.arrived[other, s] >= often for other in others)

    def _fly(self, s: Step, turn: int, outer: int) -> Iterator[Wait]:
        over = list[bool]()

        def go() -> Iterator[Wait]:
            left = dict[int, Iterator[Wait]]()
            yield from _Runner(self.world, self.device).run(s.bodies[0], turn, outer, {}, left)
            yield from chain.from_iterable(left.values())
            over.append(True)

        self.world.threads.append(go())
        return iter([lambda: bool(over)])

    def _holds(self, by: Test, turn: int) -> bool:
        (numbers, predicates), (how, n) = self.world.given, by
        match how:
            case "given":
                return predicates[n]
            case "not":
                return not predicates[n]
            case "own":
                return self.device == n
            case "turn":
                return turn == numbers[n]
            case "const":
                return n == 1
        return turn < n

    def _turns(self, by: Test, around: int) -> int:
        how, n = by
        return {"const": n, "given": self.world.given[0][n % 2], "own": self.device, "around": around + n}[how]


def waits_for_ever(
    program: Steps,
    given: Choice,
    in_order: bool,
    seed: int = 0,
    second: frozenset[int] = frozenset(),
    beside: bool = False,
) -> bool:
    """Somebody does when all devices run the program."""
    world, order = _World(given, in_order, second, beside), random.Random(seed)
    world.threads = [_Runner(world, d).run(program, 0, 0, {}) for d in range(DEVICES)]
    waiting: dict[Iterator[Wait], Wait] = {}
    moved = True
    while moved and world.threads:
        moved = False
        for thread in order.sample(world.threads, len(world.threads)):
            while thread not in waiting or waiting[thread]():
                moved = True
                try:
                    waiting[thread] = next(thread)
                except StopIteration:
                    world.threads.remove(thread)
                    break
    return bool(world.threads)


# -- printing ---------------------------------------------------------------------------------------------------------

_RECV: Final = "(f32[8], u32[], token[])"
_HELD: Final = {
    "k": "s32[]",
    "ko": "s32[]",
    "p": "f32[8]",
    "n0": "s32[]",
    "n1": "s32[]",
    "q0": "pred[]",
    "q1": "pred[]",
}
_STATE: Final = ", ".join(_HELD.values())
"""The turn, that of the loop around, data, and what the program is given."""
_ALL: Final = ", ".join(_HELD)


class _Printer:
    """Devices are replicas, or partitions, whose collective operations have channels."""

    def __init__(self, are_partitions: bool, second: frozenset[int]) -> None:
        self._are_partitions, self._second = are_partitions, second
        self.computations: list[str] = []
        self._names: dict[tuple[int, str], str] = {}
        self._count = 0

    def module(self, program: Steps) -> str:
        given = ["p", "n0", "n1", "q0", "q1"]
        lines = [f"{name} = {_HELD[name]} parameter({n})" for n, name in enumerate(given)]
        lines += ["k = s32[] constant(0)", "ko = s32[] constant(0)", f"stt = ({_STATE}) tuple({_ALL})"]
        self._lines(program, lines, {}, {})
        add = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
        entry = "".join(f"  {line}\n" for line in lines)
        count = "num_partitions" if self._are_partitions else "replica_count"
        head = f"HloModule m, is_scheduled=true, {count}={DEVICES}\n{add}"
        return f"{head}{''.join(self.computations)}ENTRY e {{\n{entry}  ROOT end = f32[8] negate(p)\n}}\n"

    def _new(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def _computation(
        self, kind: str, steps: Steps, around: dict[int, Step], by: Step | None = None, thread: str = ""
    ) -> str:
        known = (id(steps), kind)
        if known in self._names:
            return self._names[known]
        name = self._names[known] = self._new(kind)
        loop = by if kind in ("more", "turn") else None
        around = (
            around if by is None else {**around, **{n: Step("begin", on, n) for _, n, on in (*by.takes, *by.gives)}}
        )
        carried = () if by is None else by.carried if loop is not None else tuple(n for _, n, _ in by.takes)
        shape = self._shape(carried, around)
        lines = [f"st = ({shape}) parameter(0)"]
        lines += [f"{held} = {of} get-tuple-element(st), index={n}" for n, (held, of) in enumerate(_HELD.items())]
        now: dict[int, str] = {}
        for n, h in enumerate(carried):
            now[h] = self._new("h")
            lines.append(f"{now[h]} = {_type(around[h])} get-tuple-element(st), index={len(_HELD) + n}")
        lines.append(f"stt = ({_STATE}) tuple({_ALL})")
        later = self._lines(steps, lines, now, dict(around))
        if kind == "more" and loop is not None:
            lines += {
                "const": [f"m = s32[] constant({loop.by[1]})"],
                "given": [f"m = s32[] copy(n{loop.by[1]})"],
                "own": [f"ow = u32[] {self._own()}()", "m = s32[] convert(ow)"],
                "around": [f"mc = s32[] constant({loop.by[1]})", "m = s32[] add(ko, mc)"],
            }[loop.by[0]]
            root = "pred[] compare(k, m), direction=LT"
        elif kind == "turn":
            lines += ["one = s32[] constant(1)", "j = s32[] add(k, one)"]
            left = [later[h] for h in (() if loop is None else loop.handed)]
            root = f"({shape}) tuple({', '.join(['j', *list(_HELD)[1:], *left])})"
        else:
            given = [n for _, n, _ in by.gives] if by is not None else []
            root = f"({self._shape(given, around)}) tuple({', '.join([_ALL, *(later[h] for h in given)])})"
        body = "".join(f"  {line}\n" for line in lines)
        runs_on = f', execution_thread="{thread}"' if thread else ""
        self.computations.append(f"{name} {{\n{body}  ROOT r = {root}\n}}{runs_on}\n")
        return name

    def _shape(self, carried: Sequence[int], around: dict[int, Step]) -> str:
        return ", ".join([_STATE, *(_type(around[h]) for h in carried)])

    def _lines(self, steps: Steps, lines: list[str], now: dict[int, str], around: dict[int, Step]) -> dict[int, str]:
        """The lines of steps; what the next turn is given, by what is carried."""
        token = self._new("t")
        lines.append(f"{token} = token[] after-all()")
        begun: dict[int, tuple[str, Step]] = {}
        later: dict[int, str] = {}
        for s in steps:
            x = self._new("x")
            match s.what:
                case "send":
                    lines.append(f"{x} = {_RECV} send(p, {token}), {self._said(s)}")
                    if s.name:
                        now[s.name] = x
                    else:
                        lines.append(f"{x}d = token[] send-done({x}), channel_id={s.on}")
                case "send-done":
                    lines.append(f"{x} = token[] send-done({now[s.name]}), channel_id={s.on}")
                case "recv" | "start" | "begin" | "next" | "meet":
                    lines.append(f"{x} = {self._begun(s, token)}")
                    if s.what == "begin":
                        now[s.name], around[s.name] = x, s
                    elif s.what == "next":
                        later[-s.name] = x
                    else:
                        begun[s.name] = (x, s)
                case "recv-done" | "done":
                    lines.append(f"{x} = {_ended(*begun[s.name])}")
                case "end":
                    lines.append(f"{x} = {_ended(now[s.name], around[s.name])}")
                case "fly":
                    run = self._computation("fun", s.bodies[0], around, thread=str(s.on))
                    shape = f"((({_STATE})), ({_STATE}), u32[])"
                    thread = f', async_execution_thread="{s.on}"' if s.on else ""
                    lines.append(f"{x} = {shape} async-start(stt), calls={run}{thread}")
                    if s.name % 2:
                        lines.append(f"{x}u = {shape} async-update({x})")
                        x = f"{x}u"
                    begun[s.name] = (x, s)
                case "land":
                    lines.append(f"{x} = ({_STATE}) async-done({begun[s.name][0]})")
                case "call" | "if":
                    self._handed(s, x, lines, now, around)
                case "while":
                    self._loop(s, x, lines, now, around)
        return {**now, **later}

    def _handed(self, s: Step, x: str, lines: list[str], now: dict[int, str], around: dict[int, Step]) -> None:
        """A call or a branch, and what it is handed and hands back."""
        around.update({name: Step("begin", on, name) for name, _, on in (*s.takes, *s.gives)})
        given, shape = "stt", self._shape([name for name, _, _ in s.gives], around)
        if s.takes:
            given, names = f"{x}i", [name for name, _, _ in s.takes]
            held = ", ".join([_ALL, *(now[name] for name in names)])
            lines.append(f"{given} = ({self._shape(names, around)}) tuple({held})")
        if s.what == "call":
            run = self._computation("fun", s.bodies[0], around, s)
            lines.append(f"{x} = ({shape}) call({given}), to_apply={run}")
        else:
            test = self._tested(s.by, lines)
            yes, no = (self._computation("br", body, around, s) for body in s.bodies)
            ways = f"true_computation={yes}, false_computation={no}"
            lines.append(f"{x} = ({shape}) conditional({test}, {given}, {given}), {ways}")
        for n, (name, _, _) in enumerate(s.gives):
            now[name] = self._new("g")
            lines.append(f"{now[name]} = {_type(around[name])} get-tuple-element({x}), index={len(_HELD) + n}")

    def _loop(self, s: Step, x: str, lines: list[str], now: dict[int, str], around: dict[int, Step]) -> None:
        shape = self._shape(s.carried, around)
        more = self._computation("more", s.bodies[1], around, s)
        turn = self._computation("turn", s.bodies[0], around, s)
        first = ", ".join([f"{x}z", "k", *list(_HELD)[2:], *(now[h] for h in s.carried)])
        lines.append(f"{x}z = s32[] constant(0)")
        lines.append(f"{x}i = ({shape}) tuple({first})")
        lines.append(f"{x} = ({shape}) while({x}i), condition={more}, body={turn}")
        for n, h in enumerate(s.carried):
            now[h] = self._new("g")
            lines.append(f"{now[h]} = {_type(around[h])} get-tuple-element({x}), index={len(_HELD) + n}")

    def _own(self) -> str:
        return "partition-id" if self._are_partitions else "replica-id"

    def _begun(self, s: Step, token: str) -> str:
        if isinstance(s.on, int):
            return f"{_RECV} recv({token}), {self._said(s)}"
        start = "" if s.what == "meet" else "-start"
        shape = "f32[8]" if s.what == "meet" else _type(s)
        channel = f", channel_id={s.name + 100}" if self._are_partitions else ""
        if s.on in _MOVES:
            return f"{shape} collective-permute{start}(p), source_target_pairs={s.on}{channel}"
        if s.on in _CASTS:
            return f"{shape} collective-broadcast(p), replica_groups={str(s.on)[3:]}{channel}"
        groups = s.on
        if s.on == _ALONE:
            groups, channel = ("{{0}}", "") if self._are_partitions else ("[3,1]<=[3]", "")
        elif channel and s.on == "{}" and s.name % 2:
            groups = "{{0}}"  # of replicas, with all their partitions
        elif channel:
            groups, channel = "[1,3]<=[3]" if s.on == "{}" else s.on, f"{channel}, use_global_device_ids=true"
        return f"{shape} all-reduce{start}(p), replica_groups={groups}, to_apply=add{channel}"

    def _said(self, s: Step) -> str:
        pairs = ",".join(f"{{{a},{b}}}" for a, b in _PAIRS[int(s.on)])
        stream = ',_xla_send_recv_pipeline="1"' if s.on in self._second else ""
        return f'channel_id={s.on}, frontend_attributes={{_xla_send_recv_source_target_pairs="{{{pairs}}}"{stream}}}'

    def _tested(self, by: Test, lines: list[str]) -> str:
        (how, n), x = by, self._new("q")
        lines += {
            "given": [f"{x} = pred[] copy(q{n})"],
            "not": [f"{x} = pred[] not(q{n})"],
            "const": [f"{x} = pred[] constant({'true' if n else 'false'})"],
            "own": [
                f"{x}a = u32[] {self._own()}()",
                f"{x}b = u32[] constant({n})",
                f"{x} = pred[] compare({x}a, {x}b), direction=EQ",
            ],
            "turn": [f"{x} = pred[] compare(k, n{n % 2}), direction=EQ"],
            "before": [f"{x}b = s32[] constant({n})", f"{x} = pred[] compare(k, {x}b), direction=LT"],
        }[how]
        return x


def _type(s: Step) -> str:
    if isinstance(s.on, int):
        return _RECV
    return "(f32[8], f32[8])" if s.on in _MOVES else "f32[8]"


def _ended(x: str, s: Step) -> str:
    if isinstance(s.on, int):
        return f"(f32[8], token[]) recv-done({x}), channel_id={s.on}"
    return f"f32[8] {'collective-permute' if s.on in _MOVES else 'all-reduce'}-done({x})"


def printed(program: Steps, are_partitions: bool = False, second: frozenset[int] = frozenset()) -> str:
    """The program as a scheduled module, some of its channels on the second stream."""
    return _Printer(are_partitions, second).module(program)


# -- making -----------------------------------------------------------------------------------------------------------


class _Maker:
    """Programs in which most of what is sent is received nearby, so that many get to their end."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._count, self._functions = rng, 0, list[Steps]()
        self._channels = rng.sample(list(_PAIRS), rng.choice([2, 3, 3, 4]))
        self._early = rng.choice([0.5, 0.7, 0.9, 1.0, 1.0])
        self._own, self._flying, self._spanning = rng.random() < 0.1, rng.random() < 0.4, rng.random() < 0.6
        self._handing, self._with_handed = rng.random() < 0.5, list[tuple[int | str, Steps, Step]]()

    def _name(self) -> int:
        self._count += 1
        return self._count

    def _mixed(self, parts: Sequence[Steps]) -> Steps:
        """The steps of all parts, those of each in order."""
        left, out = [list(part) for part in parts if part], Steps()
        while left:
            part = self._rng.choice(left)
            out.append(part.pop(0))
            left = [p for p in left if p]
        return out

    def _exchange(self) -> list[Steps]:
        on, name = self._rng.choice(self._channels), self._name()
        recv, send, done = Step("recv", on, name), [Step("send", on)], Step("recv-done", on, name)
        if self._rng.random() < 0.5:
            send = [Step("send", on, self._name())]
            send.append(Step("send-done", on, send[0].name))
        if self._rng.random() >= self._early:
            return [[recv, done], send]
        if self._rng.random() < 0.5:
            return [[*self._mixed([[recv], send[:1]]), *self._mixed([[done], send[1:]])]]
        return [[*self._mixed([[recv], send]), done]]

    def _test(self, in_loop: bool) -> Test:
        ways: list[Test] = [("given", 0), ("not", 0), ("given", 1)]
        ways += [("turn", 0), ("before", 1)] if in_loop else []
        ways += [("own", self._rng.randrange(DEVICES))] if self._own else []
        return self._rng.choice(ways)

    def _turns(self, in_loop: bool) -> Test:
        ways: list[Test] = [("given", 0), ("given", 0), ("given", 1), ("const", self._rng.randrange(4))]
        ways += [("around", 0), ("around", 1)] if in_loop else []
        ways += [("own", 0)] if self._own else []
        return self._rng.choice(ways)

    def block(self, depth: int, in_loop: bool = False, size: int = 0) -> Steps:
        """Steps with blocks in blocks so deep."""
        rng, parts = self._rng, list[Steps]()
        for _ in range(size or rng.choice([1, 1, 2, 2, 3])):
            x, name = rng.random(), self._name()
            if self._handing and depth > 0 and rng.random() < 0.4:
                parts += self._handed_on(depth, in_loop)
            elif x < 0.5 or depth <= 0:
                parts += self._exchange()
            elif x < 0.58:
                parts.append([Step("meet", rng.choice([*_MEETINGS, *_CASTS, _ALONE]), name)])
            elif x < 0.64:
                on = rng.choice([*_MEETINGS, _ALONE])
                parts.append([Step("start", on, name), Step("done", on, name)])
            elif x < 0.70 and self._flying:
                thread = rng.choice(["", "", "x"])
                parts.append([Step("fly", thread, name, (self._flight(depth, in_loop),)), Step("land", thread, name)])
            elif x < 0.74:
                parts.append([Step("call", bodies=(self._function(depth - 1, in_loop),))])
            elif x < 0.84:
                other = self.block(depth - 1, in_loop) if rng.random() < 0.6 else []
                bodies = (self.block(depth - 1, in_loop), other)
                parts.append([Step("if", bodies=bodies, by=self._test(in_loop))])
            else:
                parts.append(self._loop(depth, in_loop))
        return self._around(parts)

    def _flight(self, depth: int, in_loop: bool) -> Steps:
        """Sends and recvs, which are ended behind it, or collective operations, or now and then anything."""
        rng, x = self._rng, self._rng.random()
        if x < 0.1:
            return self._function(depth - 1, in_loop)
        if x < 0.4:
            return [
                Step("meet", rng.choice([*_MEETINGS, *_CASTS, _ALONE]), self._name())
                for _ in range(1, rng.choice([2, 3]))
            ]
        channels = rng.sample(self._channels, rng.choice([1, 1, 2]))
        parts = [[Step(what, on, self._name())] for on in channels for what in ("recv", "send")]
        return self._mixed(parts if rng.random() < 0.8 else parts[1:])

    def _around(self, parts: Sequence[Steps]) -> Steps:
        """The parts in some order, now and then inside of a wait that spans them, or with much sent ahead."""
        rng, on, x = self._rng, self._rng.choice(self._channels), self._rng.random()
        names = [self._name() for _ in range(rng.choice([1, 2, 3]))]
        recvs = [Step(what, on, name) for name in names for what in ("recv", "recv-done")]
        if self._spanning and x < 0.5:
            return [*recvs[:2], *self._mixed(parts), Step("send", on)]
        if x > 0.85:
            return [*(Step("send", on) for _ in names), *self._mixed(parts), *recvs]
        if x > 0.8:  # a recv that is open across all
            return [recvs[0], *self._mixed([*parts, [Step("send", on)]]), recvs[1]]
        return self._mixed(parts)

    def _function(self, depth: int, in_loop: bool) -> Steps:
        if not self._functions or self._rng.random() > 0.25:
            self._functions.append(self.block(depth, in_loop))
            return self._functions[-1]
        return self._rng.choice(self._functions)

    def _loop(self, depth: int, in_loop: bool) -> Steps:
        """A loop, which may carry what the turn before began."""
        rng = self._rng
        asked = self.block(0, True, size=1) if rng.random() < 0.1 else []
        body, before, after, parts = self.block(depth - 1, True), Steps(), Steps(), list[Steps]()
        names = [self._name() for _ in range(rng.choice([1, 1, 2]) if rng.random() < 0.25 else 0)]
        if self._handing and rng.random() < 0.5:
            names = [self._name() for _ in range(rng.choice([2, 2, 3]))]
        handed, one = list[int](), self._on()
        for name in names:
            on = one if self._handing else self._on()
            before.append(Step("begin", on, name))
            after.append(Step("end", on, name))
            turn = [Step("end", on, name), Step("next", on, name)]
            if self._handing and rng.random() < 0.3:
                handed.append(name)  # through the turn
            else:
                parts += [turn] if rng.random() < 0.5 else [turn[:1], turn[1:]]
                handed.append(-name)
            if isinstance(on, int):
                rng.choice([before, before, after]).append(Step("send", on))
                parts.append([Step("send", on)])
        if self._handing:
            rng.shuffle(handed)
        loop = Step(
            "while",
            bodies=(self._mixed([body, *parts]), asked),
            by=self._turns(in_loop),
            carried=tuple(names),
            handed=tuple(handed),
        )
        return [*before, loop, *after]

    def _on(self) -> int | str:
        return self._rng.choice(self._channels) if self._rng.random() < 0.67 else self._rng.choice(_MEETINGS)

    def _handed_on(self, depth: int, in_loop: bool) -> list[Steps]:
        """What is begun, handed into calls and branches and back, in another order perhaps, and ended."""
        rng, on = self._rng, self._on()
        names = [self._name() for _ in range(rng.choice([1, 1, 2]))]
        part = Steps()
        if begins := rng.random() < 0.6:
            part += [Step("begin", on, name) for name in names]
        for _ in range(rng.choice([1, 1, 2])):
            known = [s for _, _, s in self._with_handed if (len(s.takes), len(s.gives)) == (len(names),) * 2]
            known = [s for s in known if s.takes[0][2] == on]
            if begins and known and rng.random() < 0.4:  # once more, with others
                old = rng.choice(known)
                takes = tuple((name, n, on) for name, (_, n, _) in zip(names, old.takes, strict=True))
                gives = tuple((name, n, on) for name, (_, n, _) in zip(names, old.gives, strict=True))
                part.append(Step("call", bodies=old.bodies[:1], takes=takes, gives=gives))
                continue
            part.append(self._handing_step(depth, in_loop, on, names, begins, gives=True))
            begins = True
        if rng.random() < 0.4:
            part.append(self._handing_step(depth, in_loop, on, names, True, gives=False))
        else:
            part += [Step("end", on, name) for name in rng.sample(names, len(names))]
        if not isinstance(on, int):
            return [part]
        sends = [Step("send", on) for _ in names]
        return [[*sends, *part]] if rng.random() < 0.5 else [part, sends]

    def _handing_step(
        self, depth: int, in_loop: bool, on: int | str, names: Sequence[int], takes: bool, gives: bool
    ) -> Step:
        rng, formal = self._rng, [self._name() for _ in names]
        what = rng.choice(["call", "call", "if"])
        handed = formal if what == "if" else rng.sample(formal, len(formal))
        bodies = list[Steps]()
        for _ in range(2):
            parts = [self.block(depth - 1, in_loop, size=1)] if rng.random() < 0.6 else []
            for n in rng.sample(formal, len(formal)):
                new = [Step("end", on, n)] if takes else []
                new += [Step("begin", on, n)] if gives else []
                if not (takes and gives and rng.random() < 0.5):
                    parts.append(new)
                if gives and isinstance(on, int) and takes and parts and parts[-1] is new:
                    rng.choice(parts).append(Step("send", on))
            bodies.append(self._mixed(parts))
        step = Step(
            what,
            bodies=tuple(bodies[: 1 if what == "call" else 2]),
            by=self._test(in_loop) if rng.random() < 0.5 else ("const", rng.randrange(2)),
            takes=tuple((name, n, on) for name, n in zip(names, formal, strict=True)) if takes else (),
            gives=tuple((name, n, on) for name, n in zip(names, handed, strict=True)) if gives else (),
        )
        if what == "call":
            self._with_handed.append((on, bodies[0], step))
        return step


def made(seed: int) -> Steps:
    """A program."""
    rng = random.Random(seed)
    return _Maker(rng).block(rng.choice([1, 2, 2, 3]), size=rng.choice([1, 2, 2, 3, 4]))


def choices(program: Steps, numbers: Sequence[int] = (0, 1, 2, 3, 4, 7)) -> Iterator[Choice]:
    """What a program may be given, where it looks at it."""
    asked = set(_asked(program))
    for n0 in numbers if ("n", 0) in asked else numbers[:1]:
        for n1 in numbers if ("n", 1) in asked else numbers[:1]:
            for q0 in (False, True) if ("q", 0) in asked else (False,):
                for q1 in (False, True) if ("q", 1) in asked else (False,):
                    yield (n0, n1), (q0, q1)


def _asked(steps: Steps) -> Iterator[tuple[str, int]]:
    for s in steps:
        if s.what == "while" and s.by[0] == "given":
            yield "n", s.by[1]
        elif s.what == "if" and s.by[0] in ("given", "not", "turn"):
            yield "n" if s.by[0] == "turn" else "q", s.by[1]
        for body in s.bodies:
            yield from _asked(body)
