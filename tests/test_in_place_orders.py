"""What two steps of a fusion do in either order, by letters, is what the claims say of it.

Values are written out as what they are made of: a letter of p, or an operation on others. A step that reads what
another one has overwritten with something else is a conflict: surely where the other one computes, perhaps where it
chooses, and not where it hands on what lies there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import pytest
from in_place_modules import INTO, both_say, fused_module

Letters = list[Any]
"""Of each element what it is made of: (name, number) of a parameter, or (operation, more such...)."""
_SIZE: Final = 8
_MOST: Final = 16
LINE: Final = f"f32[{_SIZE}]{{0}}"
_CHOOSES: Final = "?"
_KINDS: Final = (
    "slice concatenate reverse copy negate add maximum update select pad turn broadcast reduce windows clamp".split()
)
_COMBINERS: Final = {"sum": "add", "larger": _CHOOSES, "second": _CHOOSES}


@dataclass
class _Body:
    """A fused computation of p and q, and what its arrays are made of."""

    r: Random
    lines: list[str] = field(default_factory=list)
    made: dict[str, Letters] = field(default_factory=lambda: {n: [(n, k) for k in range(_SIZE)] for n in "pq"})

    def add(self, letters: Letters, text: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"%{name} = f32[{len(letters)}]{{0}} {text}")
        self.made[name] = letters
        return name

    def one(self, name: str, k: int) -> str:
        """Element k, as an array of no dimensions."""
        part = self.add([self.made[name][k]], f"slice(%{name}), slice={{[{k}:{k + 1}]}}")
        self.lines.append(f"%{part}.e = f32[] reshape(%{part})")
        del self.made[part]
        return f"{part}.e"

    def step(self) -> None:
        """One more array, where what is drawn can be."""
        r, kind = self.r, self.r.choice(_KINDS)
        name = r.choice([n for n in self.made if n != "q"])
        x = self.made[name]
        size = len(x)
        alike = r.choice([n for n, y in self.made.items() if len(y) == size])
        j, low, high = r.randrange(size), r.randrange(3), r.randrange(3)
        match kind:
            case "slice":
                end, stride = r.randint(j + 1, size), r.choice((1, 1, 2))
                self.add(x[j:end:stride], f"slice(%{name}), slice={{[{j}:{end}:{stride}]}}")
            case "concatenate":
                other = r.choice([*self.made])
                if size + len(self.made[other]) <= _MOST:
                    self.add(x + self.made[other], f"concatenate(%{name}, %{other}), dimensions={{0}}")
            case "reverse":
                self.add(x[::-1], f"reverse(%{name}), dimensions={{0}}")
            case "copy":
                self.add(x, f"copy(%{name})")
            case "negate":
                self.add([(kind, v) for v in x], f"negate(%{name})")
            case "add" | "maximum":
                made = kind if kind == "add" else _CHOOSES
                self.add(
                    [(made, *both) for both in zip(x, self.made[alike], strict=True)], f"{kind}(%{name}, %{alike})"
                )
            case "clamp":
                y = [(_CHOOSES, *both) for both in zip(x, self.made[alike], strict=True)]
                self.add(y, f"clamp(%{name}, %{alike}, %{name})")
            case "update":
                other = r.choice([n for n, y in self.made.items() if len(y) <= size])
                start = r.randint(0, size - len(self.made[other]))
                self.lines.append(f"%s{len(self.lines)} = s32[] constant({start})")
                y = x[:start] + self.made[other] + x[start + len(self.made[other]) :]
                self.add(y, f"dynamic-update-slice(%{name}, %{other}, %s{len(self.lines) - 1})")
            case "select":
                bits = ", ".join(r.choice(("true", "false")) for _ in x)
                self.lines.append(f"%s{len(self.lines)} = pred[{size}]{{0}} constant({{{bits}}})")
                y = [(_CHOOSES, *both) for both in zip(x, self.made[alike], strict=True)]
                self.add(y, f"select(%s{len(self.lines) - 1}, %{name}, %{alike})")
            case "pad" if size + low + high <= _MOST:
                around = self.one(name, j)
                self.add([x[j]] * low + x + [x[j]] * high, f"pad(%{name}, %{around}), padding={low}_{high}")
            case "turn" if j:
                first = self.add(x[j:], f"slice(%{name}), slice={{[{j}:{size}]}}")
                second = self.add(x[:j], f"slice(%{name}), slice={{[0:{j}]}}")
                self.add(x[j:] + x[:j], f"concatenate(%{first}, %{second}), dimensions={{0}}")
            case "broadcast":
                self.add([x[j]] * _SIZE, f"broadcast(%{self.one(name, j)}), dimensions={{}}")
            case "reduce" if size % 2 == 0:
                by, first = r.choice([*_COMBINERS]), self.one(name, j)
                self.lines.append(f"%h{len(self.lines)} = f32[{size // 2},2]{{1,0}} reshape(%{name})")
                y = [(_COMBINERS[by], x[j], *x[k : k + 2]) for k in range(0, size, 2)]
                self.add(y, f"reduce(%h{len(self.lines) - 1}, %{first}), dimensions={{1}}, to_apply=%{by}")
            case "windows" if 0 < (count := size + low + high - (wide := r.randint(1, 3)) + 1) <= _MOST:
                by, first = r.choice([*_COMBINERS]), self.one(name, j)
                found = [[x[k] for k in range(n - low, n - low + wide) if 0 <= k < size] for n in range(count)]
                y = [(_COMBINERS[by], x[j], *cells) if cells else x[j] for cells in found]
                window = f"window={{size={wide} pad={low}_{high}}}"
                self.add(y, f"reduce-window(%{name}, %{first}), {window}, to_apply=%{by}")

    def result(self) -> tuple[Letters, range]:
        """The result, over p, and its steps, of the last array: of its size, or cut, or put into p."""
        name = [*self.made][-1]
        x = self.made[name]
        start = self.r.randint(0, abs(len(x) - _SIZE))
        if len(x) >= _SIZE:
            self.lines.append(f"%d = {LINE} slice(%{name}), slice={{[{start}:{start + _SIZE}]}}")
            return x[start : start + _SIZE], range(_SIZE)
        self.lines.append(f"%start = s32[] constant({start})")
        self.lines.append(f"%d = {LINE} dynamic-update-slice(%p, %{name}, %start)")
        p = self.made["p"]
        return p[:start] + x + p[start + len(x) :], range(start, start + len(x))

    def scattered(self) -> list[tuple[int, Any, Any]]:
        """The last array is scattered into p, the result: for each update that is not dropped where it goes, what it
        is, and what is written there."""
        name, by = [*self.made][-1], self.r.choice([*_COMBINERS])
        size, into = len(self.made[name]), INTO.replace("%sum", f"%{by}")
        way = self.r.choice(("line", "window") if size <= _SIZE else ("line", "places"))
        way = self.r.choice((way, "places", "places"))
        places = [self.r.randint(-2, _SIZE + 3) for _ in range(size)]
        if way == "line":
            step, start = self.r.choice((-1, 1, 2)), places[0]
            places = [start + step * k for k in range(size)]
            self.lines += [f"%at{n} = s32[] constant({number})" for n, number in enumerate((step, start))]
            self.lines += [f"%along{n} = s32[{size},1]{{1,0}} broadcast(%at{n}), dimensions={{}}" for n in (0, 1)]
            self.lines.append(f"%iota = s32[{size},1]{{1,0}} iota(), iota_dimension=0")
            self.lines.append(f"%times = s32[{size},1]{{1,0}} multiply(%iota, %along0)")
            self.lines.append(f"%places = s32[{size},1]{{1,0}} add(%times, %along1)")
        elif way == "window":
            start = self.r.randint(-1, _SIZE - size + 1)
            # All of a window is dropped where a part of it is.
            places = [start + k if 0 <= start <= _SIZE - size else -1 for k in range(size)]
            self.lines.append(f"%places = s32[1]{{0}} constant({{{start}}})")
            into = into.replace("update_window_dims={}, inserted_window_dims={0}", "update_window_dims={0}")
            into = into.replace("index_vector_dim=1", "inserted_window_dims={}, index_vector_dim=0")
        else:
            if self.r.random() < 0.5:
                places = [p if self.r.random() < 0.5 else k % _SIZE for k, p in enumerate(places)]
            numbers = ", ".join(f"{{{p}}}" for p in places)
            self.lines.append(f"%places = s32[{size},1]{{1,0}} constant({{{numbers}}})")
        self.lines.append(f"%d = {LINE} scatter(%p, %places, %{name}), {into}")
        kept = [(p, v) for p, v in zip(places, self.made[name], strict=True) if 0 <= p < _SIZE]
        return [(p, v, v if by == "second" else (_COMBINERS[by], ("p", p), v)) for p, v in kept]

    def sorted(self) -> Letters | None:
        """What is sorted, where it can be: the last array of the result's size, or a part of it."""
        result, steps = self.result()
        if len(steps) != _SIZE:
            return None
        self.lines[-1] = self.lines[-1].replace("%d =", "%before =")
        self.lines.append(f"%d = {LINE} sort(%before), dimensions={{0}}, to_apply=%ge")
        return result


def _read(value: Any) -> Iterator[int]:
    """The elements of p that the value is made of."""
    if value[0] == "p":
        yield value[1]
    elif value[0] != "q":
        for part in value[1:]:
            yield from _read(part)


def _conflicts(result: Letters, steps: Sequence[int], beside: Letters) -> tuple[bool, bool]:
    """Whether there surely is one, and whether there may be; of the steps that write the result over p, and make at the
    same time what is beside it."""
    pairs = [(w, d) for d in steps for w in {*_read(result[d]), *_read(beside[d])} if w != d and w in steps]
    written = [result[w] for w, _ in pairs if result[w] != ("p", w)]
    return any(v[0] != _CHOOSES for v in written), bool(written)


def _fits(found: str, surely: bool, perhaps: bool) -> bool:
    return found in ("unknown", *(["refuted"] if perhaps else []), *([] if surely else ["proved"]))


_SEEDS: Final = 25
"""Modules of one test."""


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("number", range(8))
def test_the_claims_say_what_the_orders_do(number: int, several: bool) -> None:
    decided = 0
    for seed in range(number * _SEEDS, (number + 1) * _SEEDS):
        body = _body(seed)
        beside, steps = body.made["q"], range(0)
        over, steps = body.result()
        if several and len(steps) == _SIZE:
            other = body.r.choice([n for n, y in body.made.items() if len(y) == _SIZE])
            beside = [("negate", v) for v in body.made[other]]
            body.lines.append(f"%o = {LINE} negate(%{other})")
        two = beside[0][0] == "negate"
        module = fused_module(body.lines, [("d", LINE), *([("o", LINE)] if two else [])], (LINE, LINE), "%x, %w, %j")
        surely, perhaps = _conflicts(over, steps, beside)
        verdicts = both_say(module, two)
        assert all(_fits(v, surely, perhaps) for v in verdicts), (seed, verdicts, surely, perhaps, body.lines)
        decided += sum(v != "unknown" for v in verdicts)
    assert decided > _SEEDS


def _body(seed: int) -> _Body:
    body = _Body(Random(seed))
    for _ in range(body.r.randint(1, 5)):
        body.step()
    return body


@pytest.mark.parametrize("number", range(8))
def test_what_is_scattered_in_place(number: int) -> None:
    """An update that is dropped reads for nothing. One reads what it is combined into where it writes."""
    decided = 0
    for seed in range(number * _SEEDS, (number + 1) * _SEEDS):
        body = _body(seed)
        updates = body.scattered()
        pairs = [
            (w, one)
            for i, (w, _, one) in enumerate(updates)
            for j, u in enumerate(updates)
            if i != j and w in _read(u[1])
        ]
        written = [one for w, one in pairs if one != ("p", w)]
        found = both_say(fused_module(body.lines, [("d", LINE)], (LINE, LINE), "%x, %w, %j"), False)
        surely = any(v[0] != _CHOOSES for v in written)
        assert all(_fits(v, surely, bool(written)) for v in found), (seed, found, surely, written, body.lines)
        decided += found[0] != "unknown"
    assert decided > _SEEDS // 3


@pytest.mark.parametrize("number", range(8))
def test_what_is_sorted_in_place(number: int) -> None:
    """It may be made element by element where it lies, and then be sorted."""
    decided = 0
    for seed in range(number * _SEEDS, (number + 1) * _SEEDS):
        body = _body(seed)
        before = body.sorted()
        if before is not None:
            surely, perhaps = _conflicts(before, range(_SIZE), body.made["q"])
            found = both_say(fused_module(body.lines, [("d", LINE)], (LINE, LINE), "%x, %w, %j"), False)
            assert all(_fits(v, surely, perhaps) for v in found), (seed, found, surely, perhaps, body.lines)
            decided += found[1] != "unknown"
    assert decided > 0


def test_a_letter_that_is_handed_on_is_no_conflict() -> None:
    p: Letters = [("p", k) for k in range(_SIZE)]
    every = range(_SIZE)
    assert _conflicts(p, every, p[::-1]) == (False, False)
    assert _conflicts(p[::-1], every, p) == (True, True)
    assert _conflicts([("negate", v) for v in p], every, p) == (False, False)
    assert _conflicts([(_CHOOSES, v, p[0]) for v in p], every, p) == (False, True)
