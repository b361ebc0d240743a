"""What a worker of the server does: it carries out one request after another and says how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from hloproof.models.errors import InputError, NotModelled
from hloproof.models.stages import OutOfTime, Run, running
from hloproof.processes.process import tell
from hloproof.results.errors import BadInput
from hloproof.server.method import BadParameters, reporting
from hloproof.server.methods import METHODS
from hloproof.server.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    NOT_MODELLED,
    OUT_OF_MEMORY,
    OUT_OF_TIME,
    WORKER_DIED,
    RequestError,
    checked_parameters,
    error_answer,
    method_of,
    result_answer,
)

BETWEEN: Final = 0.1
"""Seconds that lie at least between two notes of progress."""

_SLACK: Final = 1.25
"""A method that minds its budget by itself is interrupted this much later."""


@dataclass(frozen=True)
class Asked:
    """A request as it is handed to a worker."""

    id: Any
    method: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Answering:
    """Seconds of a request that names no budget, and megabytes of a worker's address space."""

    seconds: float
    megabytes: int

    @property
    def late(self) -> str:
        return f"no answer within {self.seconds:g} seconds"

    def begin(self) -> Callable[[Asked], dict[str, Any]]:
        return self.answer

    def answer(self, asked: Asked) -> dict[str, Any]:
        """The answer to a request, whatever happens."""
        try:
            method = method_of(asked.method)
            parameters = checked_parameters(method, asked.parameters)
            progress, budget = parameters.pop("progress", False), parameters.get("budget")
            if "budget?" not in method.parameters:
                parameters.pop("budget", None)
            seconds = self.seconds if budget is None else budget * (_SLACK if "budget?" in method.parameters else 1)
            with running(Run(seconds, limit="budget")), reporting(listener() if progress else None):
                return result_answer(asked.id, method.run(**parameters))
        except RequestError as error:
            return error_answer(asked.id, error.code, error.message, **error.data)
        except InputError as error:
            place = {"file": error.file, "line": error.line, "column": error.column, "text": error.message}
            return error_answer(asked.id, INVALID_PARAMS, error.render(), kind="input", **place)
        except (BadParameters, BadInput) as error:
            return error_answer(asked.id, INVALID_PARAMS, str(error))
        except NotModelled as error:
            return error_answer(asked.id, NOT_MODELLED, f"not modelled: {error}")
        except OutOfTime as error:
            return error_answer(asked.id, OUT_OF_TIME, str(error))
        except RecursionError:
            return error_answer(asked.id, INVALID_PARAMS, "nested too deeply")

    def lost(self, asked: Asked, reason: str) -> dict[str, Any]:
        """`reason` speaks of memory or of a process that died; of time the server speaks."""
        code = OUT_OF_MEMORY if "memory" in reason else WORKER_DIED
        return error_answer(asked.id, code, reason)

    def failed(self, asked: Asked, error: Exception) -> dict[str, Any]:
        return error_answer(asked.id, INTERNAL_ERROR, f"internal error: {type(error).__name__}: {error}")


def listener() -> Callable[[int, int, str], None]:
    """Tells the client how far a request has come, at most once every BETWEEN seconds."""
    last = 0.0

    def report(done: int, total: int, what: str) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= BETWEEN:
            last = now
            tell({"done": done, "total": total, "what": what})

    return report


__all__ = ["METHODS", "Answering", "Asked"]
