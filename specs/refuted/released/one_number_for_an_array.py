"""A constant of an array that is written as one number has that number in its first element, and zeros elsewhere.

Too few numbers between braces, `constant({7})`, are refused; one without braces is read without a word.

Needs jax alone. Exit status: 1 the defect shows, 0 it does not.
"""

import sys

from jaxlib import _hlo

TEXT = "HloModule m\n\nENTRY e {\n  ROOT c = s32[3] constant(7)\n}\n"

try:
    read = _hlo.hlo_module_from_text(TEXT).to_string()
except Exception as refusal:
    print("refused:", str(refusal).splitlines()[-1])
    sys.exit(0)
got = next(line.strip() for line in read.splitlines() if "constant" in line)
print("read", got)
print("expected {7, 7, 7}, or a refusal")
sys.exit("{7, 7, 7}" not in got)
