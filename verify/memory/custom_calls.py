"""Custom calls that may write a result over an operand although their text declares no alias.

Libraries of which the documentation allows it, as XLA's alias rules for NVIDIA GPUs list them (nvptx_alias_info.cc).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hloproof.models.dataflow.async_chain import text_of
from hloproof.models.hlo.beside import stated
from hloproof.models.hlo.module import Instruction

_LAST: Final = -1
_OVER_C: Final = "cuBLAS computes alpha * A * B + beta * C in the place of C"


@dataclass(frozen=True, slots=True)
class CallRule:
    """Output `outputs` may lie exactly over operand `operand` (-1: the last) where `scale` below `config` is not
    zero; `why` is what that rests on."""

    operand: int
    outputs: tuple[tuple[int, ...], ...]
    config: str
    scale: str
    why: str


RULES: Final[dict[str, CallRule]] = {
    "__cublas$lt$matmul": CallRule(2, ((), (0,)), "gemm_backend_config", "beta", _OVER_C),
    "__cublas$gemm": CallRule(2, ((), (0,)), "gemm_backend_config", "beta", _OVER_C),
    "__cudnn$convBiasActivationForward": CallRule(
        _LAST, ((0,),), "cudnn_conv_backend_config", "side_input_scale", "cuDNN adds the side input in its place"
    ),
    "__cusolver$cholesky": CallRule(0, ((0,),), "", "", "cuSOLVER factors a matrix in its place"),
}


def stated_of_custom_call(i: Instruction, output: tuple[int, ...], operand: int) -> str | None:
    """What allows the output to lie over the operand; None where nothing does."""
    rule = RULES.get(text_of(i, "custom_call_target") or "")
    if rule is None or output not in rule.outputs:
        return None
    wanted = rule.operand if rule.operand >= 0 else len(i.operands) + rule.operand
    if operand != wanted or i.operands.count(i.operands[operand]) != 1:
        return None
    return rule.why if not rule.scale or _is_scaled(i, rule) else None


def _is_scaled(i: Instruction, rule: CallRule) -> bool:
    """The configuration names a factor that is not zero."""
    settings = stated(i.attributes.get("backend_config"), rule.config)
    factor = settings.get(rule.scale) if isinstance(settings, dict) else None
    return isinstance(factor, int | float) and not isinstance(factor, bool) and factor != 0
