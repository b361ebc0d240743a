"""A fixture for pytest, known to it by the entry point `hloproof`.

def test_my_model_is_compiled_right(hloproof_validate):
    hloproof_validate(model, weights, batch)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hloproof.library.jax_programs import Validated


@pytest.fixture
def hloproof_validate() -> Callable[..., Validated]:
    """`hloproof.jax.validate`, failing the test unless all is proved; with `allow_unknown=True` only what is refuted
    fails it. Gives what was found."""

    def validate(f: Any, *args: Any, allow_unknown: bool = False, **options: Any) -> Validated:
        from hloproof.library.jax_programs import validate as validate_program
        from hloproof.results.verdict import Verdict

        found = validate_program(f, *args, **options)
        if not found and not (allow_unknown and found.verdict is Verdict.UNKNOWN):
            pytest.fail(str(found), pytrace=False)
        return found

    return validate
