"""JSON-RPC 2.0, and what `hloproof serve` adds to it: the shape of requests, of answers, and every error.

What is written here holds for all methods; docs/protocol.md says the same in prose.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from hloproof.server.method import Method
from hloproof.server.methods import METHODS

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_MODELLED: Final = -32000
OUT_OF_TIME: Final = -32001
OUT_OF_MEMORY: Final = -32002
WORKER_DIED: Final = -32003
TOO_LARGE: Final = -32004
CANCELLED: Final = -32800

KINDS: Final[Mapping[int, str]] = {
    PARSE_ERROR: "json",
    INVALID_REQUEST: "request",
    METHOD_NOT_FOUND: "method",
    INVALID_PARAMS: "parameters",
    INTERNAL_ERROR: "internal",
    NOT_MODELLED: "not modelled",
    OUT_OF_TIME: "time",
    OUT_OF_MEMORY: "memory",
    WORKER_DIED: "died",
    TOO_LARGE: "size",
    CANCELLED: "cancelled",
}
"""The field `kind` of an error's `data`, by its code; that of a text that is wrong at a place is "input"."""

COMMON: Final[Mapping[str, str]] = {"budget?": "number", "progress?": "boolean"}
"""Parameters that every method takes: seconds after which there is an answer or an error, and whether to tell how the
work goes on."""

LONGEST_BUDGET: Final = 86_400.0

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "list": (list,),
}


class RequestError(Exception):
    """A request that is not carried out; `data` are the fields of the error besides its kind."""

    def __init__(self, code: int, message: str, **data: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass(frozen=True)
class ProtocolRequest:
    """A well-formed request. `silent`: a notification, which is not answered."""

    id: Any
    silent: bool
    method: str
    parameters: dict[str, Any]


def read_line(line: bytes) -> Any:
    """The JSON of a line. Raises RequestError."""
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RequestError(PARSE_ERROR, f"not JSON: {reason}") from error


def dump(value: Any) -> bytes:
    """The value as one line of JSON in ASCII, without the line end."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def result_answer(request_id: Any, result: Any) -> dict[str, Any]:
    """The JSON-RPC answer to a request that went well."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_answer(request_id: Any, code: int, message: str, **data: Any) -> dict[str, Any]:
    """Fields of `data` that say nothing are left out."""
    given = {name: value for name, value in data.items() if value not in (None, "")}
    told = {"code": code, "message": message, "data": {"kind": KINDS[code], **given}}
    return {"jsonrpc": "2.0", "id": request_id, "error": told}


def progress_note(request_id: Any, what: Mapping[str, Any]) -> dict[str, Any]:
    """The notification `$/progress` about a request."""
    return {"jsonrpc": "2.0", "method": "$/progress", "params": {"id": request_id, **what}}


def request_of(request: Any) -> ProtocolRequest:
    """Raises RequestError for what is no request; its parameters are not looked at yet."""
    if not isinstance(request, dict):
        raise RequestError(INVALID_REQUEST, "a request is a JSON object")
    if request.get("jsonrpc") != "2.0":
        raise RequestError(INVALID_REQUEST, 'a request says "jsonrpc": "2.0"')
    request_id = request.get("id")
    if request_id is not None and not is_id(request_id):
        raise RequestError(INVALID_REQUEST, "an id is a string, a number or null")
    name = request.get("method")
    if not isinstance(name, str):
        raise RequestError(INVALID_REQUEST, "a method is named by a string")
    parameters = request.get("params")
    if parameters is not None and not isinstance(parameters, dict | list):
        raise RequestError(INVALID_REQUEST, "params is an object")
    if isinstance(parameters, list) and parameters:
        raise RequestError(INVALID_PARAMS, "parameters are given by name, in an object")
    return ProtocolRequest(request_id, "id" not in request, name, dict(parameters or {}))


def known_id(request: Any) -> Any:
    """The id of what may be no request; null where it has none."""
    found = request.get("id") if isinstance(request, dict) else None
    return found if is_id(found) else None


def is_id(value: Any) -> bool:
    """A string or a number that JSON can hold: 1e400 is read as infinite."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value not in (math.inf, -math.inf)


def method_of(name: str) -> Method:
    """Raises RequestError, with a suggestion."""
    method = METHODS.get(name)
    if method is None:
        near = get_close_matches(name, METHODS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(METHODS))}"
        raise RequestError(METHOD_NOT_FOUND, f"no method {name!r}{hint}")
    return method


def checked_parameters(method: Method, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters by name, of the types declared; `null` means absent. Raises RequestError."""
    declared = {**COMMON, **method.parameters}
    known = {name.removesuffix("?"): kind for name, kind in declared.items()}
    present = {name: value for name, value in given.items() if value is not None}
    for name, value in present.items():
        kind = known.get(name)
        if kind is None:
            raise RequestError(INVALID_PARAMS, f"no parameter {name!r}; there are {', '.join(known)}", parameter=name)
        if not _fits(value, kind):
            message = f"parameter {name!r} is a {kind}, not {json.dumps(value)[:40]}"
            raise RequestError(INVALID_PARAMS, message, parameter=name)
    for name in declared:
        if not name.endswith("?") and name not in present:
            raise RequestError(INVALID_PARAMS, f"parameter {name!r} is missing", parameter=name)
    budget = present.get("budget")
    if budget is not None and not 0 < budget <= LONGEST_BUDGET:
        said = f"budget is a positive number of seconds, at most {LONGEST_BUDGET:g}, not {budget}"
        raise RequestError(INVALID_PARAMS, said, parameter="budget")
    return present


def _fits(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, _TYPES[kind]) and not isinstance(value, bool)
    if kind.startswith("list of "):
        inner = kind.removeprefix("list of ").removesuffix("s")
        return isinstance(value, list) and all(_fits(v, inner) for v in value)
    return isinstance(value, _TYPES[kind])


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
