"""What docs/protocol.md promises: each method's parameters and results, limits, cancelling, progress, two clients."""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from hloproof.processes.process import Process, tree_megabytes
from hloproof.server import answering, serve
from hloproof.server.methods import METHODS
from hloproof.server.schema import RESULTS, whole

jsonschema = pytest.importorskip("jsonschema")

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
CLIENTS: Final = ROOT / "docs" / "clients"
REQUESTS: Final = [json.loads(t) for t in re.findall(r"<!-- request -->\n```json\n(.*?)\n```", PAGE, re.DOTALL)]
EXAMPLES: Final[dict[str, dict[str, Any]]] = {r["method"]: r for r in REQUESTS}
SCHEMA: Final = whole()
CALL: Final = 'HloModule m\nENTRY e {\n  ROOT r = f32[] custom-call(), custom_call_target="x"\n}\n'
PLAN: Final = next(p for p in sorted((ROOT / "tests" / "data" / "plans").rglob("assignment.txt")))
SLOW: Final = "(d0) -> (" + " + ".join(f"(d0 floordiv {k}) * {k}" for k in range(2, 900)) + "), domain: d0 in [0, 9999]"
"""A map that takes seconds to simplify."""


def holds(method: str, answer: Any) -> None:
    jsonschema.validate(answer, {**SCHEMA["methods"][method]["answer"], "$defs": SCHEMA["$defs"]})


def asked(*requests: dict[str, Any], **limits: Any) -> list[Any]:
    """All lines that a server writes."""
    lines = "".join(json.dumps({"jsonrpc": "2.0", **r}) + "\n" for r in requests)
    answers = io.BytesIO()
    serve.serve(io.BytesIO(lines.encode()), answers, serve.Limits(**limits))
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def by_id(*requests: dict[str, Any], **limits: Any) -> dict[Any, Any]:
    return {a["id"]: a for a in asked(*requests, **limits) if "id" in a}


def test_each_method_is_on_the_page_with_its_parameters() -> None:
    sections = dict(re.findall(r"^### (\w+)\n\n.*?^Parameters: (.*?)\.$", PAGE, re.MULTILINE | re.DOTALL))
    assert sections == {
        name: ", ".join(f"`{p}` {sort}" for p, sort in method.parameters.items()) or "none"
        for name, method in METHODS.items()
    }
    assert RESULTS.keys() == METHODS.keys() == SCHEMA["methods"].keys()
    assert EXAMPLES.keys() == METHODS.keys() - {"recheck", "memory"}


def test_codes_and_limits_of_the_page_are_those_of_the_server() -> None:
    from hloproof.server.protocol import KINDS

    rows = re.findall(r"^\| (-\d+) \| ([\w, ]+) \|", PAGE, re.MULTILINE)
    assert {int(code): kind.partition(",")[0] for code, kind in rows} == dict(KINDS)
    limits = serve.Limits()
    for said in (f"`--request-megabytes` | {limits.request_megabytes:g} ", f"`--seconds` | {limits.seconds:g} "):
        assert said in PAGE
    assert f"`--megabytes` | {limits.megabytes} " in PAGE and f"| {limits.waiting_megabytes:g} megabytes |" in PAGE


def test_each_example_is_answered_as_the_schema_says() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA["methods"]["check"]["answer"])
    examples = [{**e, "id": name} for name, e in EXAMPLES.items() if name != "shutdown"]
    texts = {"hlo": PLAN.with_name("module.hlo").read_text(), "assignment": PLAN.read_text()}
    examples.append({"id": "memory", "method": "memory", "params": texts})
    params = {**EXAMPLES["equiv"]["params"], "certificate": True}
    examples.append({"id": "certified", "method": "equiv", "params": params})
    for example in examples:
        jsonschema.validate(example.get("params", {}), SCHEMA["methods"][example["method"]]["params"])
    answers = by_id(*examples, jobs=2)
    assert len(answers) == len(examples)
    for example in examples:
        assert "result" in answers[example["id"]], answers[example["id"]]
        holds(example["method"], answers[example["id"]])
    proof = answers["certified"]["result"]["certificate"]
    rechecked = asked({"id": 1, "method": "recheck", "params": {"certificate": proof}})[0]
    holds("recheck", rechecked)
    assert rechecked["result"]["verdict"] == "proved"
    assert answers["run"]["result"]["result"][0] == [1, 1, 1, 1]
    assert answers["simplify"]["result"]["verdict"] == "proved"


def test_the_schema_notices_another_answer() -> None:
    right = asked(EXAMPLES["simplify"])[0]
    for wrong in (
        {**right, "result": {"map": 3, "derivation": [], "verdict": "proved"}},
        {**right, "result": {**right["result"], "verdict": "perhaps"}},
        {**right, "error": {"code": -32602, "message": "", "data": {"kind": "input"}}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 5, "message": "", "data": {"kind": "input"}}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            holds("simplify", wrong)


@pytest.mark.parametrize(
    ("method", "params", "code", "data"),
    [
        ("parse_map", {"map": "(d0) -> (d1), domain: d0 in [0, 3]"}, -32602, {"kind": "input", "column": 10}),
        ("check", {"hlo": "HloModule m\nENTRY e {"}, -32602, {"kind": "input", "line": 2, "column": 10}),
        ("equiv", {"before": "x", "after": "x"}, -32602, {"kind": "input", "file": "before", "line": 1, "column": 1}),
        ("rules", {"text": "rule a\n  x => => x\n"}, -32602, {"kind": "input", "line": 2}),
        ("maps", {"text": "nonsense"}, -32602, {"kind": "input", "line": 1, "column": 1}),
        ("layout", {"shape": "f32[2", "index": [0]}, -32602, {"kind": "input", "line": 1}),
        ("layout", {"shape": "f32[2]", "index": [7]}, -32602, {"kind": "parameters"}),
        ("layout", {"shape": 3}, -32602, {"kind": "parameters", "parameter": "shape"}),
        ("check", {"hlo": "", "budget": 0}, -32602, {"kind": "parameters", "parameter": "budget"}),
        ("explain", {"claim": "definitoin"}, -32602, {"kind": "parameters"}),
        ("chekc", {}, -32601, {"kind": "method"}),
        ("run", {"hlo": CALL}, -32000, {"kind": "not modelled"}),
        ("passes", {"modules": []}, -32602, {"kind": "parameters"}),
        ("recheck", {"certificate": "{}"}, -32602, {"kind": "parameters"}),
    ],
)  # fmt: skip
def test_errors_say_where_and_of_which_kind(
    method: str, params: dict[str, Any], code: int, data: dict[str, Any]
) -> None:
    [answer] = asked({"id": 1, "method": method, "params": params})
    if method in METHODS:
        holds(method, answer)
    assert answer["error"]["code"] == code
    assert data.items() <= answer["error"]["data"].items()


# --- side by side


@contextmanager
def server(*options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "hloproof", "serve", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[str], **request: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_a_request_that_is_cancelled_is_answered_and_the_others_are_not_concerned() -> None:
    with server("--jobs", "1") as process:
        send(process, id="slow", method="simplify", params={"map": SLOW})
        send(process, id="next", method="parse_map", params=EXAMPLES["parse_map"]["params"])
        send(process, id="never", method="simplify", params={"map": SLOW})
        send(process, method="$/cancel", params={"id": "never"})
        send(process, method="$/cancel", params={"id": "unknown"})
        send(process, id="said", method="$/cancel", params={"id": "slow"})
        answers = {a["id"]: a for a in (heard(process) for _ in range(4))}
        assert {n: a["error"]["code"] for n, a in answers.items() if "error" in a} == {"slow": -32800, "never": -32800}
        assert answers["said"]["result"] is None and "map" in answers["next"]["result"]
        send(process, id="end", method="shutdown")
        assert heard(process) == {"jsonrpc": "2.0", "id": "end", "result": None} and process.wait() == 0


def test_what_is_cancelled_counts_no_more_among_what_waits() -> None:
    """Else nothing is read any more after some requests that were cancelled while they waited."""
    ask = {"jsonrpc": "2.0", "method": "parse_map", "params": EXAMPLES["parse_map"]["params"]}
    cancel = {"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": "never"}}
    lines = "".join(json.dumps(r) + "\n" for r in ({**ask, "id": "first"}, {**ask, "id": "never"}, cancel))
    server = serve._Server(io.BytesIO(lines.encode()), answers := io.BytesIO(), serve.Limits(jobs=1))
    server.run()
    assert server.waiting_bytes == 0
    codes = {a["id"]: a.get("error", {}).get("code") for a in map(json.loads, answers.getvalue().splitlines())}
    assert codes == {"first": None, "never": -32800}


def test_a_request_that_is_cancelled_while_it_is_carried_out_ends_its_worker() -> None:
    """Whether it is done by then is told by no clock: nothing hears its worker."""
    from hloproof.server.protocol import request_of

    server = serve._Server(io.BytesIO(), io.BytesIO(), serve.Limits(jobs=1))
    request = request_of({"jsonrpc": "2.0", "id": 7, "method": "parse_map", "params": {"map": "() -> ()"}})
    server.waiting.append(serve._Job(request, serve._Batch([None], 1, True), 0, 0))
    server._hand_out()
    [worker] = server.workers
    server._cancel(8)
    assert server.workers == [worker]
    server._cancel(7)
    assert not server.workers and worker.process.end() != 0
    assert json.loads(bytes(server.outgoing))["error"]["code"] == -32800


def test_a_quick_request_overtakes_a_slow_one() -> None:
    with server("--jobs", "2") as process:
        send(process, id="slow", method="simplify", params={"map": SLOW})
        send(process, id="quick", method="parse_map", params=EXAMPLES["parse_map"]["params"])
        assert heard(process)["id"] == "quick"


def test_what_was_asked_before_shutdown_is_answered_before() -> None:
    example = EXAMPLES["parse_map"]
    answers = asked({**example, "id": 1}, {"id": 2, "method": "shutdown"}, {**example, "id": 3})
    assert [a["id"] for a in answers] == [1, 2]


def test_progress_is_told_where_it_is_asked_for() -> None:
    request = {**EXAMPLES["check"], "params": {**EXAMPLES["check"]["params"], "progress": True}}
    *notes, answer = asked(request)
    assert notes and "result" in answer
    for note in notes:
        jsonschema.validate(note, SCHEMA["progress"])
        assert note["params"]["id"] == 1
    assert len(asked(EXAMPLES["check"])) == 1


def test_a_budget_ends_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that minds its time by itself, and one that has to be killed."""
    monkeypatch.setattr(serve, "_MORE", 0.0)
    for budget in (0.3, 1e-6):
        [answer] = asked({"id": 1, "method": "simplify", "params": {"map": SLOW, "budget": budget}})
        holds("simplify", answer)
        assert answer["error"]["code"] == -32001 and answer["error"]["data"] == {"kind": "time"}


def test_a_check_that_has_no_time_says_what_is_unknown() -> None:
    [answer] = asked({"id": 1, "method": "check", "params": {**EXAMPLES["check"]["params"], "budget": 1e-9}})
    assert answer.get("error", {}).get("code") == -32001 or answer["result"]["verdict"] == "unknown"


# --- limits


def test_a_line_that_is_too_long_is_refused_and_not_kept() -> None:
    long = {"id": 1, "method": "parse_map", "params": {"map": "x" * 300_000}}
    first, second = asked(long, {"id": 2, "method": "version"}, request_megabytes=0.1)
    assert first["id"] is None and first["error"]["code"] == -32004 and second["id"] == 2
    lines = serve._Lines(10)
    assert lines.of(b"x" * 50) == [] and not lines.pieces
    assert lines.of(b"x\nab") == [None] and lines.of(b"c\n") == [b"abc"] and lines.of(b"") == [b""]


def test_a_request_that_takes_too_much_memory_costs_itself() -> None:
    many = "(d0) -> (" + " + ".join(["d0 * 2"] * 300_000) + "), domain: d0 in [0, 9]"
    answers = by_id(
        {"id": 1, "method": "parse_map", "params": {"map": many}}, {**EXAMPLES["parse_map"], "id": 2}, megabytes=96
    )
    assert answers[1]["error"]["code"] == -32002 and "out of memory (96 MB" in answers[1]["error"]["message"]
    assert "result" in answers[2]


def test_a_worker_that_dies_costs_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Process.ask

    def fatal(self: Process, number: int, what: answering.Asked) -> None:
        if what.id == 2:
            self.process.send_signal(signal.SIGKILL)
        ask(self, number, what)

    monkeypatch.setattr(Process, "ask", fatal)
    answers = by_id(*({**EXAMPLES["parse_map"], "id": n} for n in range(1, 4)), jobs=1)
    assert answers[2]["error"]["code"] == -32003 and answers[2]["error"]["data"]["kind"] == "died"
    assert "result" in answers[1] and "result" in answers[3]


@pytest.mark.parametrize("limits", [{"worker_requests": 3}, {"worker_megabytes": 1.0}])
def test_workers_are_renewed(limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Process] = []
    init = Process.__init__

    def counted(self: Process, work: Any) -> None:
        init(self, work)
        begun.append(self)

    monkeypatch.setattr(Process, "__init__", counted)
    answers = by_id(*({**EXAMPLES["parse_map"], "id": n} for n in range(6)), jobs=1, **limits)
    assert all("result" in a for a in answers.values()) and len(answers) == 6
    assert len(begun) == (2 if "worker_requests" in limits else 6)
    assert all(p.process.poll() is not None for p in begun)


def test_memory_does_not_grow_with_the_number_of_requests() -> None:
    """tests/campaigns/served_requests.py does so for 50,000; here workers are renewed early, for the same to show."""
    example = {**EXAMPLES["layout"], "id": 1}
    held = []
    with server("--jobs", "1", "--worker-megabytes", "66") as process:
        for number in range(60):
            send(process, **example)
            assert "result" in heard(process)
            if number % 10 == 9:
                held.append(tree_megabytes(process.pid))
    assert max(held) < 100, held


# --- clients


def output_of(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


SERVE: Final = [sys.executable, "-m", "hloproof", "serve"]


def test_the_client_in_python() -> None:
    lines = output_of([sys.executable, str(CLIENTS / "client.py"), *SERVE])
    assert lines == [
        "protocol hloproof-serve/1",
        "simplified (d0) -> (d0), domain: d0 in [0, 3]",
        lines[2],
        "wrong at column 10",
        "status 0",
    ]
    assert lines[2] in ("the other cancelled", "the other proved")


def test_the_client_in_cpp(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path / "client"
    built = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(CLIENTS / "client.cpp")]
    subprocess.run(built, check=True, timeout=120)
    lines = output_of([str(program), *SERVE])
    assert lines == ["protocol hloproof-serve/1", "verdict proved", lines[2], "wrong at column 10", "status 0"]
    assert lines[2] in ("the other cancelled", "the other proved")


def test_a_worker_that_does_not_mind_its_time_is_killed() -> None:
    """Most end by themselves; what a solver does not end in time is ended."""
    from hloproof.server import serve as serving
    from hloproof.server.protocol import request_of

    server = serving._Server(io.BytesIO(), io.BytesIO(), serving.Limits(jobs=1))
    request = request_of({"jsonrpc": "2.0", "id": 7, "method": "parse_map", "params": {"map": "() -> ()"}})
    batch = serving._Batch([None], 1, True)
    server.waiting.append(serving._Job(request, batch, 0, 0))
    server._hand_out()
    [worker] = server.workers
    assert worker.job is not None
    server._end_late()
    assert server.workers == [worker]
    worker.job.ends = 0.0
    server._end_late()
    assert not server.workers and worker.process.end() != 0
    answer = json.loads(bytes(server.outgoing))
    assert answer["id"] == 7 and answer["error"]["code"] == -32001
