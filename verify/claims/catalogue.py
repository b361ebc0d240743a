"""The claims by name: what each says, and an example that holds and one that does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from hloproof.results.verdict import family


@dataclass(frozen=True)
class ClaimEntry:
    """One claim. `sentence` is for lists; `meaning`, `holds` and `fails` are for who asks for more."""

    name: str
    about: str
    """What owes it: instruction, fusion, rule, layout, module."""
    sentence: str
    meaning: str
    holds: str
    fails: str
    on_request: bool = False
    """Checked only when `--only` names it."""


_ENTRIES: Final = (
    ClaimEntry(
        "in-bounds",
        "instruction",
        "Every index that a map gives lies inside the operand's shape.",
        "For every point of the map's domain, each result is at least 0 and less than the operand's size in that "
        "dimension. An index outside means that the map reads memory that is not the operand's.",
        "slice of f32[10] with [2:8] maps (d0) -> (d0 + 2), d0 in [0, 5]: at most 7, and there are 10.",
        "(d0) -> (d0 + 5), d0 in [0, 5] into f32[10]: d0 = 5 reads index 10.",
    ),
    ClaimEntry(
        "definition",
        "instruction",
        "The maps say exactly what the operation reads, in both directions.",
        "The maps of an instruction, taken together per output and operand, are compared with a formula that is "
        "written from the operation's meaning by other code. A set marked `moves` or `reads` has to agree point for "
        "point, with how often each element is read; one marked `bound` has to cover.",
        "transpose of f32[2,3] with dimensions={1,0}: (d0, d1) -> (d1, d0).",
        "the same with (d0, d1) -> (d0, d1): output[0, 1] is operand[1, 0], and the map says operand[0, 1].",
    ),
    ClaimEntry(
        "coverage",
        "instruction",
        "Whatever an opaque operation may read, its maps cover.",
        "Owed in place of `definition` by operations of which only a bound is known: custom-call, infeed, random numbers, "
        "cholesky. The maps hold every pair of elements that may depend on each other; that they hold no other is not said.",
        "custom-call on f32[4]: every output element may read all of the operand, (d0)[s0] -> (s0).",
        "the same with (d0) -> (d0): output[0] may read operand[1], and no map says so.",
    ),
    ClaimEntry(
        "converse",
        "instruction",
        "Output-to-input and input-to-output maps are converse relations.",
        "Output element o reads operand element i by the one exactly when i feeds o by the other. The two are built "
        "by different code, so an error in either shows.",
        "reverse of f32[4]: (d0) -> (3 - d0) in both directions.",
        "broadcast of f32[4] to f32[2,4] with input-to-output (d0) -> (d0, s0): it should be (d0)[s0] -> (s0, d0).",
    ),
    ClaimEntry(
        "partition",
        "instruction",
        "Every output element comes from exactly one source.",
        "Owed by concatenate, pad and dynamic-update-slice: the domains of their maps do not overlap, and together "
        "they cover the output.",
        "concatenate of f32[2] and f32[3]: [0, 1] and [2, 4] of five elements.",
        "the same with [0, 2] and [2, 4]: output[2] would come from both.",
    ),
    ClaimEntry(
        "bijective",
        "instruction",
        "Each operand element goes to exactly one output element, and back.",
        "Owed by reshape, transpose, reverse, copy, and bitcasts of equal element counts.",
        "reshape of f32[6] to f32[2,3]: (d0, d1) -> (d0 * 3 + d1).",
        "(d0, d1) -> (d0 * 2 + d1): output[0, 2] and output[1, 0] both read operand[2], and operand[5] is never read.",
    ),
    ClaimEntry(
        "index-range",
        "instruction",
        "No intermediate value of an index computation overflows.",
        "Every subexpression of a map, at every point of its domain, fits in a signed integer of the index width: 64 "
        "bits, or 32 with `--index-width 32`.",
        "(d0, d1) -> (d0 * 1024 + d1) for f32[1024,1024]: at most 1048575.",
        "the linear index of f32[65536,65536] in 32 bits: 4294967295 does not fit.",
    ),
    ClaimEntry(
        "dedup",
        "fusion",
        "A map that was dropped as a duplicate equals one that was kept.",
        "The maps of a fusion to one operand are compared as relations, runtime variables and replicas included. Each "
        "one dropped is proved equal to one kept, and those kept are pairwise different, each pair with a witness. Of "
        "calls, loops and conditionals only with --only dedup.",
        "p0 + transpose(transpose(p0)): two paths, one map.",
        "p0 + transpose(p0) with one map: output[0, 1] also reads p0[1, 0].",
    ),
    ClaimEntry(
        "simplify",
        "fusion",
        "A simplified map means what it meant before.",
        "At every point the map before and the map after have the same domain and the same results, and read each "
        "element as often.",
        "(d0) -> ((d0 * 4) floordiv 4), d0 in [0, 9] becomes (d0) -> (d0).",
        "(d0) -> ((d0 floordiv 4) * 4) becomes (d0) -> (d0): d0 = 1 gave 0 and now gives 1.",
    ),
    ClaimEntry(
        "layout",
        "instruction",
        "A tiled layout puts each element at a place of its own, inside the padded size.",
        "The position in memory is computed from the index by minor-to-major order and tiles. It is one to one, inside "
        "the padded size, onto exactly when nothing is padded, and agrees with pad, reshape and transpose.",
        "f32[3,5]{1,0:T(2,2)}: element (2, 3) lies at 17 of 24.",
        "the same with floor for ceil in the number of tiles: (0, 4) and (2, 0) would both lie at 8.",
    ),
    ClaimEntry(
        "bitcast",
        "instruction",
        "A bitcast leaves memory as it is, and no element is torn apart.",
        "Both sides take equally many bits of memory, padding included, and each element of the result lies where the "
        "element of the operand that it is said to be lies. Where both have equally many bits of data, each bit of one "
        "is one of the other. Else the side with more has all of the other's, and what it has beyond is whole elements "
        "on padding there: a bitcast to less leaves elements out, and what one to more has beyond holds whatever the "
        "padding does. Counts and types of elements may differ, as in XLA, which asks for equal sizes alone.",
        "bitcast of f32[2,3]{1,0} to f32[3,2]{0,1}: a transpose of the index, nothing moves.",
        "bitcast of f32[2,3]{1,0} to f32[3,2]{1,0} said to be a transpose: result (0, 1) lies at 1, operand (1, 0) at 3.",
    ),
    ClaimEntry(
        "tensor-rule",
        "rule",
        "A rewrite of operations on tensors keeps every element, at every size.",
        "Where the conditions hold and the left side is well formed, the right side is well formed, has the same sizes, "
        "and the same elements. Sizes, starts, strides and paddings are any integers that the operations allow; starts "
        "of dynamic operations are clamped; a group `k...` stands for any number of dimensions.",
        "slice(concatenate(A, B, dim=0), start=[n], limit=[n + m]) => B, with A: [n] and B: [m].",
        "the same with start=[n - 1], limit=[n + m - 1]: the first element is one of A.",
    ),
    ClaimEntry(
        "pair",
        "module",
        "Two modules compute the same from the same inputs.",
        "For all inputs each element of the results is equal, by the identities of exact arithmetic, of the real "
        "numbers, or of left-out roundings; those that are not exact are told as assumptions. A refutation is a run of "
        "both on given inputs that rounding does not explain.",
        "slice(concatenate(p, q)) of the part that q fills, and copy(q).",
        "the same with a slice that starts one too far: element [0] is q[1] in one of them.",
    ),
    ClaimEntry(
        "rule",
        "rule",
        "A rewrite rule is right for all values that meet its conditions.",
        "Whenever the conditions hold and the left side is defined, the right side is defined and equal. The "
        "conditions can be met (else the rule is vacuous), and the sides differ (else it is trivial).",
        "(x floordiv a) floordiv b => x floordiv (a * b) when a != 0, b > 0.",
        "the same for b < 0: x = 1, a = 2, b = -7 gives 0 on the left and -1 on the right.",
    ),
    ClaimEntry(
        "async-chain",
        "async",
        "Every start is finished once, and every done finishes a start.",
        "A start reaches one done on every path, through tuples, loops, branches and calls; only a while loop may carry "
        "a chain on without one. Every update and done continues a chain of its own kind.",
        "async-start, async-update, async-done, one after the other.",
        "one async-start whose value goes to two async-done.",
    ),
    ClaimEntry(
        "async-done",
        "async",
        "What a done returns is the result of the chain that it ends.",
        "The shape of a done equals the result bound by the chain: the second position of the start's tuple, or the one "
        "that the opcode's own form uses (copy-start keeps its destination at {0}).",
        "async-done of ((f32[8]), f32[4], u32[]) returning f32[4].",
        "the same returning f32[8].",
    ),
    ClaimEntry(
        "async-linear",
        "async",
        "Every start and update has one user, the next link of its chain.",
        "The stricter sentence of XLA's documents. Compilers carry starts through tuples and loops, so it is checked "
        "only when it is named.",
        "start used by done alone.",
        "start in a tuple that is carried round a loop.",
        on_request=True,
    ),
    ClaimEntry(
        "async-shape",
        "async",
        "A start returns its operands, and its result as far as it is bound.",
        "The tuple of a start or update holds the operands' shapes, the result's and contexts, at the positions of its "
        "form; flat and nested tuples are both read. The context of a send, recv or copy-start is u32[].",
        "async-start of f32[8] returning ((f32[8]), f32[4], u32[]).",
        "the same returning ((f32[9]), f32[4], u32[]).",
    ),
    ClaimEntry(
        "async-computation",
        "async",
        "A chain's computation holds one operation and is called by chains only.",
        "On the main thread the called computation holds parameters and a root. Only asynchronous instructions call it, "
        "and all links that name a computation name the same one.",
        "%wrapped holding two parameters and an all-gather.",
        "an async-start and a call of the same computation.",
    ),
    ClaimEntry(
        "async-thread",
        "async",
        "All links of a chain agree on the execution thread.",
        "The links of a chain, the computation it calls and the other callers of that name one execution thread.",
        'async_execution_thread="parallel" on start and done.',
        'start on "parallel", its computation on "main".',
    ),
    ClaimEntry(
        "async-alias",
        "async",
        "Declared aliasing names operands and results that exist and have equal shapes.",
        "Each entry of output_to_operand_aliasing of a start or update pairs a position of the result with a position "
        "of an operand of the same shape.",
        "{0}: (0, {}) with f32[8] on both sides.",
        "{0}: (0, {}) with f32[4] and f32[8].",
    ),
    ClaimEntry(
        "async-binding",
        "async",
        "At the end of a chain everything is bound, and what is bound stays.",
        "Operands and results may be given at a start, at an update or at the done. At the end all parameters of the "
        "computation are bound, and from link to link what is bound only grows.",
        "start with the first operand, update with the second, done.",
        "start, done, and the second operand nowhere.",
    ),
    ClaimEntry(
        "async-channel",
        "async",
        "A send or recv has one consumer, on its own channel.",
        "A send or recv is consumed once, by its done, which names the same channel; host transfers that share a "
        "channel have the same attributes.",
        "send channel_id=1, send-done channel_id=1.",
        "recv channel_id=1, recv-done channel_id=2.",
    ),
    ClaimEntry(
        "collective-deadlock",
        "module",
        "No devices wait for each other in a circle.",
        "Source and target pairs of sends and recvs agree and are unique, and along the schedule every device gets to "
        "the end: none stands before a recv or a collective operation for ever. A loop turns as often as constants say; "
        "where they do not, and in branches, nothing may be open before and behind each turn or branch, and all that was "
        "sent is received there, or it is unknown. One without an end counts once. Branches and loops that devices may "
        "take differently are unknown, as are transfers of which the text does not say whole between which devices they "
        "are, dones of what is not seen to begin, and all that says more of itself than is known. Nobody waits for a "
        "recv, neither a send nor its done. A done ends what its operand holds, through tuples, calls and turns; "
        "it may wait, too, for what else is open that its start began, or that it may end in another turn. Sends "
        "and recvs of one stream (`_xla_send_recv_pipeline`) come one after the other, so that a recv holds what is "
        "behind it, and what one device sends another there is received in that order, whatever the channel. A start may "
        "run sends and recvs, which its done ends, or collective operations, which may wait for their group where they "
        "begin, and for what was received before; what runs anything else in flight is unknown. So is what begins beside "
        "sends and recvs in flight on their stream, or meets there, and all that begins beside what flies on a thread of "
        "its own; collective operations that are in flight on the main thread hold no transfer back that begins later. "
        "In a permutation all may wait for all. That a device waits for ever is said where nothing is needed for it that "
        "need not happen. Custom calls of libraries that compute on one device wait for no other, and of others it is "
        "unknown.",
        "device 0 sends to 1 and then receives; device 1 receives and then sends.",
        "both receive first.",
    ),
    ClaimEntry(
        "buffer-alias",
        "module",
        "A value of buffer type that an opaque call takes comes out, or is declared consumed.",
        "Every such operand is aliased by exactly one result, and no buffer is taken by two writers, whatever they are, or twice "
        "by one. What an opaque call or a fusion declares as aliased exists and has one shape.",
        "custom-call of b(f32[4]) with output_to_operand_aliasing={{}: (0, {})}.",
        "the same without the aliasing.",
    ),
    ClaimEntry(
        "hazard-order",
        "hazard",
        "A schedule keeps what its instructions wait for.",
        "In a scheduled module every instruction stands after its operands and its control predecessors.",
        "a, then b with control-predecessors={a}.",
        "b with control-predecessors={a}, then a.",
    ),
    ClaimEntry(
        "hazard-operand",
        "hazard",
        "What an operation in flight reads is not written before it is done.",
        "From a start to its done, also through loops and calls, no instruction writes a buffer that the operation "
        "reads. In a scheduled module the given order counts and updates in place write their operands' buffers; in "
        "others every order that dependencies allow counts, and only writes that no copy can keep apart: what copy "
        "insertion would mend is noted as needs-copy.",
        "copy-start of p, copy-done, then an update of p in place.",
        "copy-start of p, an update of p in place, copy-done.",
    ),
    ClaimEntry(
        "hazard-output",
        "hazard",
        "What an operation in flight writes is touched by nobody before it is done.",
        "From a start to its done no other instruction reads or writes the buffer of the result, in the given order of "
        "a scheduled module, or in any order that dependencies allow. What nobody finishes is in flight to the end; but "
        "where a loop without end carries on what says what it runs, and is no pair of its own, the next turn may begin "
        "with it, as XLA lets it. Before copies are inserted nothing is proved of "
        "buffers where an operation writes what it is given and that is taken out of its state.",
        "copy-start, copy-done, and a read of what copy-done returns.",
        "copy-start, a read of its element {0}, copy-done.",
    ),
    ClaimEntry(
        "hazard-overwrite",
        "hazard",
        "Once copies are inserted, nothing is read after its buffer was overwritten.",
        "Updates in place, loops, branches and declared aliases reuse buffers. Whoever reads a value does so before "
        "another value is written where it lies: in the order of the text of a scheduled module, and in every order "
        "that dependencies allow of one that is checked with --after-copy-insertion and is not scheduled. A computation "
        "that several call is one for each of them, with buffers of its own, as where calls are flattened first. Where an "
        "operation works in the buffers of what it is given, or hands them back, or is bound by updates, and flies from "
        "one computation into another, no claim about buffers is proved of the module (without a schedule: if anything "
        "that is declared is written in place, or something looks into its state), nor where several call what an "
        "operation in flight enters or leaves, or, without a schedule, a loop or branch leaves open which of two starts "
        "it is. Pairs of copies, sums and transfers are followed where their state holds all that they are given.",
        "p is read, then updated in place.",
        "p is updated in place, then read.",
    ),
    ClaimEntry(
        "hazard-donation",
        "hazard",
        "A donated parameter is not read after its buffer was reused.",
        "As hazard-overwrite, for buffers that a module's input_output_alias makes a result share with a parameter, "
        "must-alias or may-alias: compilers assign one buffer to both. Two parameters are never in one buffer.",
        "the result is made after the last read of the parameter.",
        "the result is made, then the parameter is read.",
    ),
    ClaimEntry(
        "hazard-constant",
        "hazard",
        "Constants and parameters that are not donated are never written.",
        "Once copies are inserted, no instruction writes its result into the buffer of a constant, or of a parameter of "
        "the program that the module's header does not name in input_output_alias or buffer_donor: as an update in "
        "place, as a loop that replaces its state, by a declared alias, or within a computation that it runs. A "
        "constant that a loop is given as its first state is noted as needs-copy. Nor is such an array what the module's "
        "input_output_alias puts into the buffer of a parameter. Where a turn or branch returns a constant is unknown.",
        "an update in place of a copy of p.",
        "an update in place of parameter p, which is not donated.",
    ),
    ClaimEntry(
        "hazard-in-place",
        "hazard",
        "A fused update in place reads no element that it has overwritten.",
        "A fusion that ends in a dynamic-update-slice of a parameter may be computed in that parameter's buffer. Every "
        "element of the window is then written while others are still being computed, so what the update reads of the "
        "parameter lies outside the window or at the very element that is written. The same is owed by whatever makes its "
        "result where it reads, once loops, branches and the module's aliases share buffers: element by element it may; "
        "of fusions the maps decide, and of other instructions it is unknown. Where it only may lie there, by what is "
        "called or who calls, nothing is refuted. What may be written over itself, as by a "
        "copy, refutes nothing; elements of two places are two, whatever they hold. What is in flight owes it as the plain operation does. Of several results each may lie "
        "over the operand of its own number alone.",
        "base + 1 written over base at the same place.",
        "base[0:3] written over base[1:4]: element 2 is read after it was overwritten by element 1.",
    ),
    ClaimEntry(
        "plan-complete",
        "memory plan",
        "Every value that needs memory has one slice.",
        "The values of a scheduled module are found by following data through tuples, loops, branches, calls and "
        "asynchronous operations. Each array and each tuple table that an instruction makes has one slice of the plan, "
        "of its shape; whatever is only another name of a value lies where that value lies; parameters and constants lie "
        "where the caller puts them.",
        "copy.1 has the slice (size=400,offset=0), and bitcast.2 of it has none of its own.",
        "the line of copy.1 is gone: nothing says where its 400 bytes lie.",
    ),
    ClaimEntry(
        "plan-size",
        "memory plan",
        "Every slice is large enough, inside its allocation, aligned, and in the right memory.",
        "The bytes of the layout, tiles and padding and sub-byte elements included, fit into the slice; the slice ends "
        "inside its allocation, begins at a multiple of 64 bytes, and the memory space of the layout, of the value and "
        "of the allocation is one. What lies where a parameter does ends where the parameter ends: the caller hands "
        "over no more.",
        "f32[10,10]{1,0} with (size=400,offset=128) in an allocation of 528 bytes.",
        "the same in an allocation of 500 bytes.",
    ),
    ClaimEntry(
        "plan-interference",
        "memory plan",
        "What is written destroys no byte that another value still needs.",
        "Over the flattened order of the schedule, through calls, loops and branches, each value is needed from its write "
        "to its last read; the operands and results of an operation in flight until its done, which every path has to "
        "reach. No instruction writes a byte of a value while that value is needed.",
        "b is written over a after the last read of a.",
        "b is written over a, and then c reads a.",
    ),
    ClaimEntry(
        "plan-in-place",
        "memory plan",
        "An output that lies over an operand destroys no element that another element still reads.",
        "Where an output of an instruction shares bytes with one of its operands, the indexing maps and layouts say which "
        "bits each element reads and writes. No element is read after the write of another element, whatever order the "
        "elements are made in; outputs of one size are made together. What may be written over itself, as by a copy, "
        "refutes nothing; elements of two places are two, whatever they hold. Updates in place write their window only; sort, scatter, collectives and custom calls share by "
        "what is declared of them.",
        "a fused a + 1 written over a.",
        "a fused reverse(a) written over a: element 0 is written over element 0, which element n-1 reads.",
    ),
    ClaimEntry(
        "plan-alias",
        "memory plan",
        "What must share a slice does.",
        "The state of a loop, what branches return, operands and results of updates and all-reduces in place, declared "
        "aliases and donated parameters have one place each, since nothing copies between them, and one layout: another "
        "name of a value is read as the value was written. What the program returns lies at the beginning of an "
        "allocation that outlives it.",
        "while.1{0}, the parameter of its body {0} and what the body returns there: all at offset 128.",
        "the parameter of the body at offset 256: it would read what nobody has written.",
    ),
    ClaimEntry(
        "plan-constant",
        "memory plan",
        "Constants and parameters that are not donated are never written.",
        "No other value is ever written into the allocation of a constant, or of a parameter that the module's header does "
        "not name in input_output_alias or buffer_donor.",
        "parameter 0 has an allocation of its own.",
        "add.1 lies in the allocation of parameter 0, which is not donated.",
    ),
)

CATALOGUE: Final[Mapping[str, ClaimEntry]] = {e.name: e for e in _ENTRIES}


def families() -> tuple[str, ...]:
    """The names that stand for several claims."""
    return tuple(dict.fromkeys((*(family(name) for name in CATALOGUE), "hazard")))


def unknown_name(name: str) -> str | None:
    """A sentence about a name that is neither a claim nor a family, with a suggestion; None for a known one."""
    known = (*CATALOGUE, *families())
    if name in known:
        return None
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`hloproof claims` lists them"
    return f"no claim or family {name!r}; {hint}"
