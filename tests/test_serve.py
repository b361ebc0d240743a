"""The JSON-RPC server: one line in, one line out, whatever the line is."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hloproof.server import methods
from hloproof.server.method import BadParameters
from hloproof.server.methods import METHODS
from hloproof.server.serve import serve

ROOT = Path(__file__).parents[1]


def ask(*lines: str | bytes) -> list[Any]:
    """The answers of a fresh server to these lines."""
    requests = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    answers = io.BytesIO()
    serve(io.BytesIO(requests), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def call(method: str, **params: Any) -> dict[str, Any]:
    [answer] = ask(json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
    assert answer["jsonrpc"] == "2.0" and answer["id"] == 7 and ("result" in answer) != ("error" in answer)
    return dict(answer)


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        ("{", -32700, None),
        ("nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        ("[" * 100_000, -32700, None),
        ('{"jsonrpc": "2.0", "id": NaN, "method": "version"}', -32700, None),
        ("1" * 5_000, -32700, None),
        ("[]", -32600, None),
        ("null", -32600, None),
        ("3", -32600, None),
        ('{"id": 1, "method": "version"}', -32600, 1),
        ('{"jsonrpc": "1.0", "id": 1, "method": "version"}', -32600, 1),
        ('{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600, 1),
        ('{"jsonrpc": "2.0", "id": {}, "method": "version"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": true, "method": "version"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": 1, "method": "version", "params": "x"}', -32600, 1),
        ('{"jsonrpc": "2.0", "id": "a", "method": "versoin"}', -32601, "a"),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "parse_map", "params": {}}', -32602, 1.5),
        ('{"jsonrpc": "2.0", "id": 1, "method": "parse_map", "params": ["(d0) -> ()"]}', -32602, 1),
        ('{"jsonrpc": "2.0", "id": 1, "method": "parse_map", "params": {"map": 3}}', -32602, 1),
        ('{"jsonrpc": "2.0", "id": 1, "method": "parse_map", "params": {"map": null}}', -32602, 1),
        ('{"jsonrpc": "2.0", "id": 1, "method": "parse_map", "params": {"map?": "x"}}', -32602, 1),
        ('{"jsonrpc": "2.0", "id": 1, "method": "parse_map", "params": {"mpa": "x"}}', -32602, 1),
        ('{"jsonrpc": "2.0", "id": 1, "method": "layout", "params": {"shape": "f32[2]", "index": [true]}}', -32602, 1),
    ],
)
def test_a_bad_line_has_its_error_and_the_server_goes_on(line: str | bytes, code: int, request_id: Any) -> None:
    first, second = ask(line, '{"jsonrpc": "2.0", "id": 2, "method": "version"}')
    assert first["error"]["code"] == code and first["id"] == request_id
    assert "Traceback" not in first["error"]["message"]
    assert second["id"] == 2 and second["result"]["name"] == "hloproof"


def test_a_notification_is_not_answered() -> None:
    assert ask('{"jsonrpc": "2.0", "method": "version"}', '{"jsonrpc": "2.0", "method": "nothing"}') == []


def test_an_id_of_null_is_answered() -> None:
    [answer] = ask('{"jsonrpc": "2.0", "id": null, "method": "version"}')
    assert answer["id"] is None and "result" in answer


def test_a_batch_is_answered_on_one_line() -> None:
    one = '{"jsonrpc": "2.0", "id": 1, "method": "version"}'
    [answer] = ask(f'[{one}, {{"jsonrpc": "2.0", "method": "version"}}, 5]')
    assert [a["id"] for a in answer] == [1, None]
    assert answer[1]["error"]["code"] == -32600


def test_shutdown_is_answered_and_ends_the_server() -> None:
    later = '{"jsonrpc": "2.0", "id": 2, "method": "version"}'
    answers = ask('{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}', later)
    assert answers == [{"jsonrpc": "2.0", "id": 1, "result": None}]


def test_every_shutdown_of_a_batch_is_answered() -> None:
    """None was, as the first waited for its answer."""
    one = '{"jsonrpc": "2.0", "id": %d, "method": "shutdown"}'
    [answers] = ask(f"[{one % 1}, {one % 2}]")
    assert [a["id"] for a in answers] == [1, 2]


def test_a_map_comes_back_as_it_is_printed() -> None:
    answer = call("parse_map", map="(d0)[s0] -> (d0 floordiv 2 + s0), domain: d0 in [0, 9], s0 in [0, 1]")
    assert answer["result"]["map"].split("\n")[0].startswith("(d0)[s0] -> (d0 / 2 + s0)")


def test_bad_input_says_where() -> None:
    error = call("parse_map", map="(d0) -> (d1), domain: d0 in [0, 9]")["error"]
    assert error["code"] == -32602 and error["message"].startswith("1:10: ")


def test_compose_puts_the_producer_behind_the_consumer() -> None:
    consumer = "(d0) -> (d0 + 1), domain: d0 in [0, 3]"
    producer = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4]"
    answer = call("compose", first=consumer, second=producer)["result"]["map"]
    assert answer.startswith("(d0)[s0] -> (d0 + 1, s0)")
    error = call("compose", first=producer, second=consumer)["error"]
    assert error["code"] == -32602


ONE = "HloModule m\nENTRY e {\n  ROOT p = f32[4]{0} parameter(0)\n}\n"


COPIED = """HloModule m

ENTRY e {
  a = f32[7,6]{1,0} parameter(0)
  s = (f32[7,6]{0,1}, f32[7,6]{1,0}, u32[]) copy-start(a)
  ROOT r = f32[7,6]{1,0} copy-done(s)
}
"""


def test_a_check_is_of_what_is_asked_for() -> None:
    """A filter that is passed over judges what nobody asked for; layouts are held to each other where that is asked."""
    whole = methods.check(COPIED)
    claims = {o["claim"] for o in whole["obligations"]}
    assert whole["verdict"] == "proved" and {"definition", "async-done", "hazard-output"} <= claims
    for only, skip, expected in (
        (["definition"], None, {"definition"}),
        (None, ["async"], {c for c in claims if not c.startswith("async")}),
        (["async", "definition"], ["async-done"], {"async-chain", "async-shape", "definition"}),
    ):
        found = methods.check(COPIED, only, skip)
        assert {o["claim"] for o in found["obligations"]} == expected and found["verdict"] == "proved"
    strict = methods.check(COPIED, layout_sensitive=True)
    assert {o["claim"] for o in strict["obligations"] if o["verdict"] == "refuted"} == {"async-done"}
    for only, skip in ((["definitoin"], None), (None, ["asynch"])):
        with pytest.raises(BadParameters, match="did you mean"):
            methods.check(COPIED, only, skip)


def test_what_was_proved_before_is_no_more_than_is_borne(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, kept in ((1 << 20, True), (1, False)):
        monkeypatch.setattr(methods, "_proved_before", known := {"a": None, "b": None})
        monkeypatch.setattr(methods, "MOST_REMEMBERED", most)
        methods.check(COPIED)
        assert ("a" in known) is kept and len(known) > 2 * kept


def test_equiv_answers_in_the_form_agreed_on() -> None:
    result = call("equiv", before=ONE, after=ONE.replace("ROOT p", "ROOT q"), budget=5)["result"]
    assert {"verdict", "reason", "axioms", "counterexample"} <= result.keys()
    assert result["verdict"] in ("proved", "unknown") and all(a.keys() == {"name", "tier"} for a in result["axioms"])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"after": ONE.replace("f32", "f64")}, "after:3:3: parameter 0 is f64[4]"),
        ({"after": ONE.replace("4]", "5]")}, "after:3:3: parameter 0 is f32[5]"),
        ({"before": "HloModule m\nENTRY e {"}, "before:2:10: "),
        ({"tier": "loose"}, "tier is exact, real or rounding"),
        ({"budget": 0}, "budget is a positive number of seconds"),
    ],
)
def test_equiv_refuses_modules_that_do_not_fit_each_other(changed: dict[str, Any], said: str) -> None:
    error = call("equiv", **{"before": ONE, "after": ONE, **changed})["error"]
    assert error["code"] == -32602 and error["message"].startswith(said)


def test_every_method_is_documented_in_the_help() -> None:
    from hloproof.commands.serve import command

    assert command.help is not None
    assert all(name in command.help for name in METHODS)


def test_the_process_answers_on_standard_output_alone_and_ends_with_0() -> None:
    lines = b'{"jsonrpc":"2.0","id":1,"method":"version"}\n{bad\n'
    done = subprocess.run(
        [sys.executable, "-m", "hloproof", "serve"], input=lines, capture_output=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0 and done.stderr == b""
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == [1, None]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no /proc here")
def test_a_worker_that_does_not_answer_is_ended_and_another_goes_on() -> None:
    """It minds its time by itself, but for one that hangs: its request was never answered, nor any behind it."""
    command = [sys.executable, "-m", "hloproof", "serve", "--jobs", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None

        def send(number: int, **more: Any) -> None:
            parameters = {"map": "(d0) -> (d0), domain: d0 in [0, 3]", **more}
            asked = {"jsonrpc": "2.0", "id": number, "method": "parse_map", "params": parameters}
            assert server.stdin is not None
            server.stdin.write(json.dumps(asked).encode() + b"\n")
            server.stdin.flush()

        send(1)
        assert "result" in json.loads(server.stdout.readline())
        [worker] = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        os.kill(int(worker), signal.SIGSTOP)
        for number, more in ((2, {"budget": 0.1}), (3, {})):
            send(number, **more)
        try:
            answers = [json.loads(line) for line in server.communicate(timeout=60)[0].splitlines()]
        finally:
            server.kill()
    assert [a["id"] for a in answers] == [2, 3]
    assert answers[0]["error"]["data"]["kind"] == "time" and "result" in answers[1]
