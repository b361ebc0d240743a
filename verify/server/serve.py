"""JSON-RPC 2.0 over lines: one request, or one batch, per line in; one answer per line out.

What the methods do stands in methods.py. A bad line is answered and never ends the server; a notification (a
request without an id) is not answered.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, BinaryIO, Final

from hloproof.models.errors import InputError, NotModelled
from hloproof.results.verdict import Exit
from hloproof.server.methods import METHODS, BadParameters, Method

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NOT_MODELLED: Final = -32000
"""In the range that JSON-RPC leaves to servers: the request is right, its meaning is not modelled."""

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "list of strings": (list,),
    "list of integers": (list,),
}


class _RequestError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def serve_standard_streams() -> int:
    """Serve until end of input or `shutdown`; the exit status.

    Standard output is kept for answers alone: whatever else writes to it, solver libraries included, goes to standard
    error.
    """
    sys.stdout.flush()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:
        # Nobody reads the answers any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), answers.fileno())
    return int(Exit.OK)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each line of `requests` until its end or until `shutdown` has been answered."""
    for line in requests:
        if not line.strip():
            continue
        answer, goes_on = answer_line(line)
        if answer is not None:
            answers.write(answer + b"\n")
            answers.flush()
        if not goes_on:
            return


def answer_line(line: bytes) -> tuple[bytes | None, bool]:
    """The answer to one line (None when it holds notifications only), and whether the server goes on."""
    try:
        request = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return _dump(_error(None, PARSE_ERROR, f"not JSON: {reason}")), True
    if not isinstance(request, list):
        answer, goes_on = _answer(request)
        return (None if answer is None else _dump(answer)), goes_on
    if not request:
        return _dump(_error(None, INVALID_REQUEST, "an empty batch")), True
    pairs = [_answer(r) for r in request]
    given = [answer for answer, _ in pairs if answer is not None]
    return (_dump(given) if given else None), all(goes_on for _, goes_on in pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _error(request_id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def _answer(request: Any) -> tuple[dict[str, Any] | None, bool]:
    try:
        request_id, silent, name, parameters = _request(request)
    except _RequestError as error:
        known = request.get("id") if isinstance(request, dict) else None
        return _error(known if _is_id(known) else None, error.code, error.message), True
    try:
        method = _method(name)
        result = method.run(**_parameters(method, parameters))
    except _RequestError as error:
        answer = _error(request_id, error.code, error.message)
    except (InputError, BadParameters) as error:
        answer = _error(request_id, INVALID_PARAMS, error.render() if isinstance(error, InputError) else str(error))
    except NotModelled as error:
        answer = _error(request_id, NOT_MODELLED, f"not modelled: {error}")
    except Exception as error:  # the server outlives its methods
        answer = _error(request_id, INTERNAL_ERROR, f"internal error: {type(error).__name__}: {error}")
    else:
        answer = {"jsonrpc": "2.0", "id": request_id, "result": result}
    goes_on = not (name == "shutdown" and "result" in answer)
    return (None if silent else answer), goes_on


def _request(request: Any) -> tuple[Any, bool, str, Any]:
    """Id, whether it is a notification, method and parameters of a well-formed request."""
    if not isinstance(request, dict):
        raise _RequestError(INVALID_REQUEST, "a request is a JSON object")
    if request.get("jsonrpc") != "2.0":
        raise _RequestError(INVALID_REQUEST, 'a request says "jsonrpc": "2.0"')
    request_id = request.get("id")
    if request_id is not None and not _is_id(request_id):
        raise _RequestError(INVALID_REQUEST, "an id is a string, a number or null")
    name = request.get("method")
    if not isinstance(name, str):
        raise _RequestError(INVALID_REQUEST, "a method is named by a string")
    parameters = request.get("params")
    if parameters is not None and not isinstance(parameters, dict | list):
        raise _RequestError(INVALID_REQUEST, "params is an object")
    return request_id, "id" not in request, name, parameters or {}


def _is_id(value: Any) -> bool:
    """A string or a number that JSON can hold: 1e400 is read as infinite."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value not in (math.inf, -math.inf)


def _method(name: str) -> Method:
    method = METHODS.get(name)
    if method is None:
        near = get_close_matches(name, METHODS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(METHODS))}"
        raise _RequestError(METHOD_NOT_FOUND, f"no method {name!r}{hint}")
    return method


def _parameters(method: Method, given: Any) -> dict[str, Any]:
    """Parameters by name, of the types declared; `null` means absent."""
    if isinstance(given, list):
        raise _RequestError(INVALID_PARAMS, "parameters are given by name, in an object")
    known = {name.removesuffix("?"): kind for name, kind in method.parameters.items()}
    present = {name: value for name, value in given.items() if value is not None}
    for name, value in present.items():
        kind = known.get(name)
        if kind is None:
            names = ", ".join(known) or "none"
            raise _RequestError(INVALID_PARAMS, f"no parameter {name!r}; there are {names}")
        if not _fits(value, kind):
            raise _RequestError(INVALID_PARAMS, f"parameter {name!r} is a {kind}, not {json.dumps(value)[:40]}")
    for name in method.parameters:
        if not name.endswith("?") and name not in present:
            raise _RequestError(INVALID_PARAMS, f"parameter {name!r} is missing")
    return present


def _fits(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, _TYPES[kind]) and not isinstance(value, bool)
    if kind.startswith("list of "):
        inner = kind.removeprefix("list of ").removesuffix("s")
        return isinstance(value, list) and all(_fits(v, inner) for v in value)
    return isinstance(value, _TYPES[kind])
