"""Modules with one fusion, whose result may lie over what it is given, and what two claims say of them: that it is
declared to, and a memory plan that puts it there."""

from __future__ import annotations

from typing import Final

from memory_cases import judged, roomy_plan

from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options, Selection

APPLIED: Final = """%sum (vx0: f32[], wx0: f32[]) -> f32[] {
  %vx0 = f32[] parameter(0)
  %wx0 = f32[] parameter(1)
  ROOT %sx0 = f32[] add(%vx0, %wx0)
}

%second (vx4: f32[], wx4: f32[]) -> f32[] {
  %vx4 = f32[] parameter(0)
  ROOT %wx4 = f32[] parameter(1)
}

%larger (vx5: f32[], wx5: f32[]) -> f32[] {
  %vx5 = f32[] parameter(0)
  %wx5 = f32[] parameter(1)
  ROOT %ox5 = f32[] maximum(%vx5, %wx5)
}

%ge (vx1: f32[], wx1: f32[]) -> pred[] {
  %vx1 = f32[] parameter(0)
  %wx1 = f32[] parameter(1)
  ROOT %ox1 = pred[] compare(%vx1, %wx1), direction=GE
}

%first (vx2: f32[], wx2: f32[], vx3: f32[], wx3: f32[]) -> pred[] {
  %vx2 = f32[] parameter(0)
  %wx2 = f32[] parameter(1)
  %vx3 = f32[] parameter(2)
  %wx3 = f32[] parameter(3)
  ROOT %ox2 = pred[] compare(%vx2, %wx2), direction=GE
}
"""


INTO: Final = (
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
    "to_apply=%sum"
)


def fused_module(lines: list[str], results: list[tuple[str, str]], shapes: tuple[str, str], given: str) -> str:
    """A fusion of p, q and a number k; its result, or the first of several (name and shape), may lie over x, which is
    p. `given` are its operands. ALIAS stands where it is declared."""
    shape = results[0][1] if len(results) == 1 else "(" + ", ".join(s for _, s in results) + ")"
    parts = " ROOT %r = S negate(%y)"
    if len(results) == 1:
        lines = [line.replace(f"%{results[0][0]} =", f"ROOT %{results[0][0]} =") for line in lines]
    else:
        names = ", ".join(f"%{n}" for n, _ in results)
        lines = [*lines, f"ROOT %all = {shape} tuple({names})"]
        parts = "".join(
            f" %y{n} = {s} get-tuple-element(%y), index={n}\n %o{n} = {s} negate(%y{n})\n"
            for n, (_, s) in enumerate(results)
        )
        parts += f" ROOT %r = S tuple({', '.join(f'%o{n}' for n in range(len(results)))})"
    inside = "".join(f"  {line}\n" for line in lines)
    return (
        f"HloModule m, is_scheduled=true\n\n{APPLIED}\n%fused {{\n"
        f"  %p = {shapes[0]} parameter(0)\n  %q = {shapes[1]} parameter(1)\n  %k = s32[] parameter(2)\n"
        f"  %z = f32[] constant(0)\n  %n = s32[] constant(0)\n{inside}}}\n\n"
        f"ENTRY %main {{\n %a = {shapes[0]} parameter(0)\n %b = {shapes[1]} parameter(1)\n"
        " %j = s32[] parameter(2)\n"
        f" %x = {shapes[0]} negate(%a)\n %w = {shapes[1]} negate(%b)\n"
        f" %y = S fusion({given}), kind=kLoop, calls=%fusedALIAS\n{parts}\n}}\n"
    ).replace(" S ", f" {shape} ")


def both_say(module: str, several: bool, over: tuple[str, ...] = ()) -> tuple[str, str]:
    """Of hazard-in-place, and of a plan that puts the result over x."""
    declared = (
        ", output_to_operand_aliasing={{0}: (0, {})}" if several else ", output_to_operand_aliasing={{}: (0, {})}"
    )
    only = Options(jobs=1, selection=Selection(only=("hazard-in-place",)))
    hazards = [str(r.verdict) for r in check_hlo(module.replace("ALIAS", declared), only).records()]
    plain = module.replace("ALIAS", "")
    pairs = [("y{0}" if several else "y", "x"), *([over] if over else [])]
    plan = [str(r.verdict) for r in judged(plain, roomy_plan(plain, tuple(pairs))) if r.claim.endswith("in-place")]
    return worst_of(hazards), worst_of(plan)


def plan_says(module: str, place: str = "y", by: str = "x", at: tuple[int, int] = (0, 0)) -> list[str]:
    """Of plan-in-place, where the plan puts a result over a value: of so many bytes, that many behind it."""
    module = module.replace("ALIAS", "")
    plan, (size, offset) = roomy_plan(module, ((place, by),)), at
    if size:
        lies = f"{place} @0> (size={size},offset="
        assert f"{lies}0)" in plan
        plan = plan.replace(f"{lies}0)", f"{lies}{offset})")
    return [str(r.verdict) for r in judged(module, plan) if r.claim == "plan-in-place"]


def worst_of(verdicts: list[str]) -> str:
    return next((v for v in ("refuted", "unknown", "internal") if v in verdicts), "proved" if verdicts else "")


LINE: Final = "f32[8]{0}"


TURNED: Final = f"%t = {LINE} reverse(%p), dimensions={{0}}"


SORTED: Final = f"%d = {LINE} sort(%e), dimensions={{0}}, to_apply=%ge"
