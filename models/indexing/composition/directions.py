"""The two directions of indexing maps, as users name them."""

from __future__ import annotations

from typing import Final

OUTPUT_TO_INPUT: Final = "output-to-input"
INPUT_TO_OUTPUT: Final = "input-to-output"
DIRECTIONS: Final = (OUTPUT_TO_INPUT, INPUT_TO_OUTPUT)
