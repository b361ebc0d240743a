"""Modules of a few lines that several tests give to commands."""

from __future__ import annotations

from typing import Final

ONE: Final = "HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }\n"
"""Owes little, and all of it holds."""
ADD: Final = "HloModule m\nENTRY e { p = f32[4] parameter(0)\n ROOT r = f32[4] add(p, p) }\n"
TAKE: Final = ADD.replace("add", "subtract")
"""Computes something else."""
BAD: Final = """HloModule b

ENTRY %e (a: f32[7,6]) -> f32[7,6] {
  %a = f32[7,6] parameter(0)
  %s = (f32[7,6], f32[7,6], u32[]) copy-start(%a)
  ROOT %r = f32[7,6] add(%a, %a)
}
"""
"""A copy is begun and not ended: refuted, async-chain."""
OVER_ONE: Final = (
    "hands {\n p = f32[8] parameter(0)\n ROOT r = f32[8] bitcast(p)\n}\n"
    "anew {\n p = f32[8] parameter(0)\n ROOT r = f32[8] negate(p)\n}\n"
    "writes {\n p = f32[8] parameter(0)\n ROOT r = f32[8] custom-call(p), "
    'custom_call_target="w", output_to_operand_aliasing={{}: (0, {})}\n}\n'
)
"""Computations over one array: it is handed back, another is made of it, and it is written."""
