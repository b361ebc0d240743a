"""Plans against a run that shares no code with the checks: small programs with a loop and copies in flight, whose
values are put into one place at random. What a slot holds is a number that each write makes anew; whoever finds another
number than the one that was written for it shows that the plan is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

import pytest
from memory_cases import roomy_plan

from hloproof.models.memory.assignment import parse_assignment
from hloproof.pipeline.memory_plans import check_plan

Step = tuple[str, str, tuple[str, ...]]
"""A name, a kind and operands; of an element of a tuple the last one is its number."""
Leaf = tuple[int | None, int]
"""The allocation and the number that was written there."""
_STATE: Final = "(f32[8]{0}, f32[8]{0}, pred[])"
_TEXT: Final = {
    "negate": "f32[8]{0} negate(OPERANDS)",
    "add": "f32[8]{0} add(OPERANDS)",
    "start": "(f32[8]{0}, f32[8]{0}, u32[]) copy-start(OPERANDS)",
    "done": "f32[8]{0} copy-done(OPERANDS)",
    "tuple": f"{_STATE} tuple(OPERANDS)",
    "while": f"{_STATE} while(OPERANDS), condition=%more, body=%turn",
}
_MORE: Final = (
    f"%more (c: STATE) -> pred[] {{\n  %c = {_STATE} parameter(0)\n"
    "  ROOT %m = pred[] get-tuple-element(%c), index=2\n}\n"
)


def _arithmetic(r: Random, name: str, pool: Sequence[str]) -> Step:
    kind = r.choice(("negate", "add"))
    return name, kind, tuple(r.choice(pool) for _ in range(2 if kind == "add" else 1))


def _turn(r: Random) -> list[Step]:
    steps: list[Step] = [("ba", "part", ("b", "0")), ("bb", "part", ("b", "1")), ("bg", "part", ("b", "2"))]
    for n in range(r.randint(1, 3)):
        steps.append(_arithmetic(r, f"w{n}", [s[0] for s in steps if s[0] != "bg"]))
    return [*steps, ("bt", "tuple", (r.choice(("ba", steps[-1][0])), r.choice(("bb", "w0")), "bg"))]


def _entry(r: Random) -> list[Step]:
    steps: list[Step] = [("x", "negate", ("p",)), ("y", "negate", ("q",))]
    pool, begun, looped = ["x", "y"], list[str](), False
    for n in range(r.randint(3, 7)):
        kind = r.choice(("arithmetic", "start", "done", "loop"))
        if kind == "start":
            steps.append((f"s{n}", "start", (r.choice(pool),)))
            begun.append(f"s{n}")
        elif kind == "done" and begun:
            steps.append((f"d{n}", "done", (begun.pop(r.randrange(len(begun))),)))
            pool.append(f"d{n}")
        elif kind == "loop" and not looped:
            looped, state = True, (r.choice(pool), r.choice(pool), "g")
            steps += [("t", "tuple", state), ("l", "while", ("t",))]
            steps += [("la", "part", ("l", "0")), ("lb", "part", ("l", "1"))]
            pool += ["la", "lb"]
        else:
            steps.append(_arithmetic(r, f"v{n}", pool))
            pool.append(f"v{n}")
    steps += [(f"e{n}", "done", (name,)) for n, name in enumerate(begun)]
    return [*steps, ("o", "add", (r.choice(pool), pool[-1]))]


def _written(steps: Sequence[Step]) -> str:
    lines = []
    for name, kind, operands in steps:
        shape = "pred[]" if operands[-1] == "2" else "f32[8]{0}"
        text = _TEXT.get(kind, f"{shape} get-tuple-element(%{operands[0]}), index={operands[-1]}")
        lines.append(f"%{name} = " + text.replace("OPERANDS", ", ".join(f"%{o}" for o in operands)))
    return "".join(f"  {'ROOT ' if n == len(lines) - 1 else ''}{line}\n" for n, line in enumerate(lines))


class _Run:
    def __init__(self, slots: Mapping[tuple[str, tuple[int, ...]], int], turn: Sequence[Step], turns: int) -> None:
        self._slots, self._turn, self._turns = slots, turn, turns
        self._held: dict[int | None, int] = {}
        self._last = 0
        self.wrong = False

    def write(self, name: str, *at: int) -> Leaf:
        self._last += 1
        slot = self._slots.get((name, at))
        self._held[slot] = self._last
        return slot, self._last

    def read(self, leaf: Leaf) -> None:
        self.wrong |= leaf[0] is not None and self._held[leaf[0]] != leaf[1]

    def run(self, steps: Sequence[Step], env: dict[str, dict[tuple[int, ...], Leaf]]) -> dict[tuple[int, ...], Leaf]:
        for name, kind, operands in steps:
            first = env[operands[0]]
            if kind in ("negate", "add", "start"):
                for o in operands:
                    self.read(env[o][()])
            if kind in ("negate", "add"):
                env[name] = {(): self.write(name)}
            elif kind == "start":
                env[name] = {
                    (): self.write(name),
                    (0,): self.write(name, 0),
                    (1,): first[()],
                    (2,): self.write(name, 2),
                }
            elif kind == "done":  # until here the source may be read, and the destination written
                for leaf in first.values():
                    self.read(leaf)
                env[name] = {(): first[0,]}
            elif kind == "tuple":
                env[name] = {(): self.write(name)} | {(k,): env[o][()] for k, o in enumerate(operands)}
            elif kind == "part":
                self.read(first[()])
                env[name] = {(): first[int(operands[1]),]}
            else:
                state = first
                for n in range(self._turns + 1):
                    self.read(state[()])
                    self.read(state[2,])
                    if n < self._turns:
                        state = self.run(self._turn, {"b": state})
                env[name] = state
        return env[steps[-1][0]]


def _is_wrong(plan: str, steps: Sequence[Step], turn: Sequence[Step], turns: int) -> bool:
    found = parse_assignment(plan)
    run = _Run({(s.instruction, s.index): s.allocation for s in found.slices}, turn, turns)
    given: dict[str, dict[tuple[int, ...], Leaf]] = {name: {(): run.write(name)} for name in ("p", "q", "g")}
    kept = [leaf[()] for leaf in given.values()]
    for leaf in (*run.run(steps, given).values(), *kept):
        run.read(leaf)
    return run.wrong


@pytest.mark.longer
def test_a_plan_is_refuted_where_a_run_shows_it_to_be_wrong_and_nowhere_else() -> None:
    ends: dict[tuple[str, bool], int] = {}
    for seed in range(24):
        r = Random(seed)
        steps, turn = _entry(r), _turn(r)
        more = f"{_MORE}\n%turn (b: STATE) -> STATE {{\n  %b = {_STATE} parameter(0)\n{_written(turn)}}}\n"
        hlo = f"HloModule m, is_scheduled=true\n\n{more if any(s[0] == 'l' for s in steps) else ''}\n".replace(
            "STATE", "(f32[8], f32[8], pred[])"
        )
        given = "".join(
            f"  %{name} = {shape} parameter({k})\n"
            for k, (name, shape) in enumerate((("p", "f32[8]{0}"), ("q", "f32[8]{0}"), ("g", "pred[]")))
        )
        hlo += f"ENTRY %main (p: f32[8], q: f32[8], g: pred[]) -> f32[8] {{\n{given}{_written(steps)}}}\n"
        names = [n.removesuffix("{}") for n in re.findall(r"value: <\d+ (\S+)", roomy_plan(hlo))]
        for _ in range(3):
            plan = roomy_plan(hlo, (tuple(r.sample([n for n in names if n not in "pqg"], 2)),))
            wrong = any(_is_wrong(plan, steps, turn, turns) for turns in range(4))
            said = str(check_plan(hlo, plan).verdict)
            ends[said, wrong] = ends.get((said, wrong), 0) + 1
            assert said == ("refuted" if wrong else "proved"), (seed, hlo, plan)
    assert min(ends["proved", False], ends["refuted", True]) > 10, ends
