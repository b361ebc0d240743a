"""A report made by hand, with every verdict in it, for the tests of the report formats."""

from __future__ import annotations

from hloproof.models.errors import Position
from hloproof.results.results import (
    FileResults,
    InputProblem,
    InstructionResult,
    ModuleResults,
    OperationVerdicts,
    Report,
    Site,
)
from hloproof.results.verdict import ClaimResult, Found, Related, Verdict


def instruction(name: str, opcode: str, line: int) -> Site:
    return Site(name, opcode, Position(line, 3))


def sample() -> Report:
    """Two copies of one operation, a refuted slice, an opaque call, rules of each verdict, and a file not read."""
    copied = OperationVerdicts((Found(Verdict.PROVED, ("isl",), claim="in-bounds", ms=1.5),))
    sliced = OperationVerdicts(
        (
            Found(Verdict.PROVED, ("identical",), claim="in-bounds", ms=0.25),
            Found(
                Verdict.REFUTED,
                ("isl",),
                'output[3] reads "p0"[51] & p0 is <f32[50]>',
                assumptions=("indices are unique",),
                claim="definition",
                ms=2.0,
            ),
        )
    )
    opaque = OperationVerdicts((Found(Verdict.UNKNOWN, reason="no meaning for opcode x\ty", claim="definition"),))
    module = ModuleResults(
        "m",
        [
            InstructionResult("entry", instruction("copy.1", "copy", 4), copied),
            InstructionResult("entry", instruction("copy.2", "copy", 5), copied),
            InstructionResult("entry", instruction("slice", "slice", 6), sliced),
            InstructionResult("entry", instruction("x.1", "x", 7), opaque),
            InstructionResult("entry", instruction("x.2", "x", 8), opaque),
        ],
    )
    rules = [
        rule("sound", 1, Verdict.PROVED),
        rule("wrong", 5, Verdict.REFUTED, counterexample="x = 1: 0 and -1", related=(Related(6, 3, "left side"),)),
        rule("empty", 9, Verdict.VACUOUS, reason="no a with a > 0, a < 0"),
        rule("same", 12, Verdict.TRIVIAL, reason="both sides are x"),
    ]
    problem = InputProblem("bad.hlo", "expected ')'", 3, 9, "bad.hlo:3:9: expected ')'")
    return Report(
        [
            FileResults("dumps/m.hlo", "hlo", modules=[module]),
            FileResults("my rules.rules", "rules", others=rules, entries=len(rules)),
            FileResults("bad.hlo", "hlo", problems=[problem]),
        ]
    )


def rule(
    name: str,
    line: int,
    verdict: Verdict,
    counterexample: str | None = None,
    reason: str | None = None,
    related: tuple[Related, ...] = (),
) -> ClaimResult:
    return ClaimResult(
        f"my rules.rules#{name}/rule",
        "rule",
        "my rules.rules",
        "",
        line,
        1,
        name,
        Found(verdict, ("z3",), counterexample, reason, claim="rule", ms=3.0),
        related,
    )
