"""Claims about the course of a chain: every start is followed by one done, every done goes back to a start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.claims.asynchronous.judgement import Context, Judgement, judged
from hloproof.models.dataflow.async_chain import AsyncChains, Link
from hloproof.models.dataflow.value_flow import HloPosition, branches, called
from hloproof.models.hlo.module import Computation, Instruction
from hloproof.results.verdict import Verdict


def async_chain(context: Context) -> Iterator[Judgement]:
    """A start reaches one done on every path, at most one unless a while loop carries it on; every update and done
    continues starts and updates of its own kind, and every update is continued."""
    chains = context.chains
    ends = _Ends(chains)
    for place, link in chains.links.items():
        if link.role == "start":
            yield judged("async-chain", place, _open_or_doubled(chains, ends, place))
            continue
        said = _traced(chains, place, link)
        if link.role == "update" and said.found.verdict is Verdict.PROVED:
            said = judged("async-chain", place, _left_open(chains, ends.after(place), place))
        yield said


def _open_or_doubled(chains: AsyncChains, ends: _Ends, start: HloPosition) -> str | None:
    worst = ends.after(start)
    if len(worst.dones) > 1:
        shown = " and ".join(f"{p.instruction} ({p.computation})" for p in worst.dones[:2])
        return f"{start.instruction} is finished twice on one path: by {shown}"
    return _left_open(chains, worst, start)


def _left_open(chains: AsyncChains, worst: _Worst, place: HloPosition) -> str | None:
    """What is wrong with a start or update that no done finishes on some path. Where nothing finishes it on any, a
    while loop that carries it on is expected to go on for ever."""
    # On some path it is finished: then a path on which it is not is a wrong one, and no loop without an end.
    if worst.dones:
        return None if worst.lost is None else f"{place.instruction} is not finished on every path: {worst.lost}"
    if is_finished_outside(chains, place) or _carried_by_while(chains, place):
        return None
    return f"{place.instruction} has no matching done, and no while loop carries it on"


def is_finished_outside(chains: AsyncChains, place: HloPosition) -> bool:
    """A send or recv that the computation of an asynchronous operation hands back: the done of that one finishes it.
    Whoever else runs the computation has to finish it himself."""
    computation = chains.module.by_name[place.computation]
    callers = chains.flow.callers[computation.name]
    handed_back = {computation.root_name, *(computation.root.operands if computation.root.opcode == "tuple" else ())}
    return (
        chains.links[place].opcode in ("send", "recv")
        and place.instruction in handed_back
        and bool(callers)
        and all(HloPosition(c.name, i.name) in chains.links for c, i in callers)
    )


def _carried_by_while(chains: AsyncChains, link: HloPosition) -> bool:
    """Some while loop is handed what a start or update returns, or an update that goes on from it."""
    seen, stack = {link}, [link]
    # The list grows while it is walked: updates of updates are found in the same pass.
    for made in stack:
        stack += (p for p in chains.of_role("update") if made in chains.previous[p] and p not in stack)
    while stack:
        for target in chains.flow.targets(stack.pop()):
            if chains.flow.instruction(target).opcode == "while":
                return True
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False


def _traced(chains: AsyncChains, place: HloPosition, link: Link) -> Judgement:
    origins = chains.previous[place]
    if not origins:
        return judged("async-chain", place, unknown=f"nothing calls {place.computation}: its operand has no origin")
    for origin in sorted(origins):
        before = chains.links.get(origin) if not origin.index else None
        if before is None or before.role == "done":
            problem = f"{place.instruction} does not go back to a start: its operand may be {origin}"
            return judged("async-chain", place, f"{problem} of {origin.computation}")
        # Explicit opcodes end only what their own start began; generic links end any chain, whose computation says what
        # it is.
        explicit = "explicit" in (link.form, before.form)
        sugared = link.form == before.form == "sugared"
        if (explicit and (link.form, link.opcode) != (before.form, before.opcode)) or (
            sugared and link.opcode != before.opcode
        ):
            problem = f"{place.instruction} finishes a {link.opcode}, but its operand may be {origin}"
            return judged("async-chain", place, f"{problem}, the start of a {before.opcode}")
    return judged("async-chain", place)


_Index = tuple[int, ...]
_Spot = tuple[str, _Index]
_Met = tuple[HloPosition, ...]
_ENOUGH: Final = 2
"""So many dones on one path are too many; further ones are not listed."""


@dataclass(frozen=True, slots=True)
class _Worst:
    """The paths on which most and fewest dones are met."""

    dones: _Met
    """Those of the path with the most of them; at most two are told."""
    lost: str | None
    """Where the operation is dropped, or left in the module's result, on a path without any."""


class _Ends:
    """Which dones one operation can meet on one path of execution.

    The operation is followed from where it is made, as the set of places that hold it at a time: through as many rounds
    of loops as change anything, one branch at a time, and out to the callers.
    """

    def __init__(self, chains: AsyncChains) -> None:
        self.chains, self.flow, self.module = chains, chains.flow, chains.module
        self._number: dict[str, dict[str, int]] = {}
        self._outcomes: dict[tuple[str, frozenset[_Spot]], tuple[tuple[_Met, frozenset[_Index]], ...]] = {}
        self._last: dict[tuple[str, frozenset[_Spot]], str] = {}
        """Who drops an operation that a computation neither finishes nor hands back, where it does so."""

    def after(self, start: HloPosition) -> _Worst:
        """The dones met from a start or update on."""
        best: _Met = ()
        lost: str | None = None
        carried = _carried_by_while(self.chains, start)
        pending: list[tuple[str, frozenset[_Spot], _Met]] = [
            (start.computation, frozenset({(start.instruction, start.index)}), ())
        ]
        seen: set[tuple[str, frozenset[_Spot], int]] = set()
        while pending:
            name, spots, met = pending.pop()
            if (name, spots, len(met)) in seen:
                continue
            seen.add((name, spots, len(met)))
            for more, left in self._within(name, spots):
                total = (met + more)[:_ENOUGH]
                best = max(best, total, key=len)
                if not left:
                    lost = lost or (None if total else f"{self._last[name, spots]} is the last to take it")
                    continue
                if name == self.module.entry_name and not total and not carried:
                    lost = lost or f"{name} returns it"
                for computation, caller in self.flow.callers[name]:
                    for again, out in self._outside(caller, name, left):
                        held = frozenset((caller.name, at) for at in out)
                        if held:
                            pending.append((computation.name, held, (total + again)[:_ENOUGH]))
                        else:
                            best = max(best, (total + again)[:_ENOUGH], key=len)
                            lost = lost or (None if total + again else f"the loop {caller.name} drops it")
        return _Worst(best, lost)

    def _outside(
        self, caller: Instruction, callee: str, left: frozenset[_Index]
    ) -> Iterator[tuple[_Met, frozenset[_Index]]]:
        """What happens before the caller has its result, when its callee hands the operation back so."""
        # Of a loop only the body hands anything back: what a condition gives is one truth value.
        if caller.opcode == "while":
            yield from self._rounds(callee, called(caller, "condition"), left)
        elif caller.opcode in ("call", "fusion", "conditional"):
            yield (), left

    def _rounds(
        self, body: str, condition: str | None, state: frozenset[_Index]
    ) -> Iterator[tuple[_Met, frozenset[_Index]]]:
        """Where the loop's state may hold the operation after any number of rounds, none among them. The condition sees
        the state before each round and after the last."""
        parameters = self.module.by_name[body].parameters
        stack: list[tuple[_Met, frozenset[_Index]]] = [((), state)]
        seen: set[tuple[int, frozenset[_Index]]] = set()
        while stack:
            met, at = stack.pop()
            if (len(met), at) in seen:
                continue
            seen.add((len(met), at))
            for asked in self._asked(condition, at):
                before = (met + asked)[:_ENOUGH]
                yield before, at
                if at and parameters:
                    spots = frozenset((parameters[0].name, index) for index in at)
                    stack += [((before + more)[:_ENOUGH], left) for more, left in self._within(body, spots)]

    def _asked(self, condition: str | None, state: frozenset[_Index]) -> Iterable[_Met]:
        """The dones that a loop's condition may meet in its copy of the state."""
        test = self.module.find(condition)
        if test is None or not test.parameters or not state:
            return ((),)
        spots = frozenset((test.parameters[0].name, index) for index in state)
        return dict.fromkeys(met for met, _ in self._within(test.name, spots)) or ((),)

    def _within(self, name: str, spots: frozenset[_Spot]) -> tuple[tuple[_Met, frozenset[_Index]], ...]:
        """The ways of a computation with an operation that these spots hold: the dones it meets, and the positions of
        the root that hold it in the end."""
        known = self._outcomes.get((name, spots))
        if known is not None:
            return known
        self._outcomes[name, spots] = ()  # a computation does not call itself
        computation = self.module.by_name[name]
        if name not in self._number:
            self._number[name] = {i.name: n for n, i in enumerate(computation.instructions)}
        number = self._number[name]
        users: dict[_Spot, list[int]] = {}
        found: dict[tuple[int, frozenset[_Index]], _Met] = {}
        stack: list[tuple[int, frozenset[_Spot], _Met]] = [(-1, spots, ())]
        seen: set[tuple[int, frozenset[_Spot], int]] = set()
        while stack:
            at, held, met = stack.pop()
            if (at, held, len(met)) in seen:
                continue
            seen.add((at, held, len(met)))
            for spot in held:
                if spot not in users:
                    users[spot] = sorted(number[u.name] for u in computation.users[spot[0]] if _takes(u, spot))
            following = min((n for spot in held for n in users[spot] if n > at), default=None)
            if following is None:
                left = frozenset(index for n, index in held if n == computation.root_name)
                if (len(met), left) not in found and not met and not left:
                    self._last[name, spots] = _told(computation, at)
                found.setdefault((len(met), left), met)
                continue
            user = computation.instructions[following]
            kept = frozenset(s for s in held if s[0] == computation.root_name or users[s][-1:] > [following])
            for more, new in self._step(name, user, held):
                stack.append((following, kept | new, (met + more)[:_ENOUGH]))
        outcomes = tuple((met, left) for (_, left), met in found.items())
        self._outcomes[name, spots] = outcomes
        return outcomes

    def _step(self, name: str, user: Instruction, held: frozenset[_Spot]) -> Iterator[tuple[_Met, frozenset[_Spot]]]:
        """What one user does with the operation: the dones met in it, and the spots of its result that hold it."""
        place = HloPosition(name, user.name)
        link = self.chains.links.get(place)
        if link is not None and link.role != "start":
            if (user.operands[0], ()) not in held:
                yield (), frozenset()
            elif link.role == "done":
                yield (place,), frozenset()
            else:
                yield (), frozenset({(user.name, ())})
            return
        if user.opcode == "while":
            state = frozenset(index for n, index in held if n == user.operands[0])
            body = self.module.find(called(user, "body"))
            for met, at in self._rounds(body.name, called(user, "condition"), state) if body is not None else ():
                yield met, frozenset((user.name, index) for index in at)
        elif user.opcode == "conditional":
            for k, branch in enumerate(branches(user)):
                yield from self._through(user, branch, user.operands[k + 1 : k + 2], held)
        elif user.opcode in ("call", "fusion"):
            yield from self._through(user, called(user, "to_apply") or called(user, "calls"), user.operands, held)
        else:
            forwarded = (
                t for n, index in held if n in user.operands for t in self.flow.targets(HloPosition(name, n, index))
            )
            yield (
                (),
                frozenset(
                    (t.instruction, t.index) for t in forwarded if t.instruction == user.name and t.computation == name
                ),
            )

    def _through(
        self, user: Instruction, callee: str | None, operands: Sequence[str], held: frozenset[_Spot]
    ) -> Iterator[tuple[_Met, frozenset[_Spot]]]:
        body = self.module.find(callee)
        if body is None:
            yield (), frozenset()
            return
        spots = frozenset(
            (p.name, index)
            for p, name in zip(body.parameters, operands, strict=False)
            for n, index in held
            if n == name
        )
        for met, left in self._within(body.name, spots) if spots else (((), frozenset()),):
            yield met, frozenset((user.name, index) for index in left)


def _told(computation: Computation, at: int) -> str:
    """Instruction number `at` in words; -1 is none."""
    if at < 0:
        return f"nobody in {computation.name}"
    i = computation.instructions[at]
    return f"{i.name} (a {i.opcode}, line {i.position.line})"


def _takes(user: Instruction, spot: _Spot) -> bool:
    """The user takes notice of what stands at the spot: the other parts of a tuple do not concern it."""
    return user.opcode != "get-tuple-element" or spot[1][:1] in ((), (user.attributes.integer("index", 0),))


def async_linear(context: Context) -> Iterator[Judgement]:
    """Every start and update has exactly one user, and it is the next link of its chain."""
    chains = context.chains
    for place in chains.of_role("start", "update"):
        users = chains.module.by_name[place.computation].users[place.instruction]
        if len(users) != 1:
            problem: str | None = f"{place.instruction} has {len(users)} users; one is expected"
        else:
            link = chains.links.get(HloPosition(place.computation, users[0].name))
            follows = link is not None and link.role != "start"
            problem = None if follows else f"the user of {place.instruction} is {users[0].name}, a {users[0].opcode}"
        yield judged("async-linear", place, problem)
