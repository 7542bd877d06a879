"""A `bower mcp` process that lives as long as its session: calls over its standard input and output, one JSON object a line.

A child that dies is started again at the next call. One that keeps dying is left alone for a while: then `Dead` tells the caller
to do without it. Calls may come from several threads at once. Put here by `bower setup hermes`.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import threading
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional

# What is done with a result that came after its time.
WhenLate = Optional[Callable[[Dict[str, Any]], None]]

GREETING: Dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "hermes-bowerbird", "version": "0.1.0"},
}
GREETED: Dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
# Starting, the handshake included, takes some 10 ms; a machine that is waking up takes longer.
START_SECONDS = 5.0
# A child that was started so often within this time cannot live here, and is left alone for as long.
STARTS, WITHIN_SECONDS = 3, 60.0


class ChildError(Exception):
    """A call that was not answered."""


class Dead(ChildError):
    """There is no child, and none could be started."""


class Late(ChildError):
    """The answer did not come in time."""


class Refused(ChildError):
    """The tool answered that it could not do it; the text says why and what to do."""


class _Call:
    """A call that waits for its answer."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Optional[Dict[str, Any]] = None
        self.when_late: WhenLate = None


class Child:
    """The process and its calls."""

    def __init__(self, command: List[str], env: Optional[Dict[str, str]] = None, cwd: Optional[str] = None) -> None:
        self._command, self._env, self._cwd = command, env, cwd
        # `_state` guards the calls that wait; `_starting` lets one thread at a time start a child, and others wait for it.
        # Writing has a lock of its own: a long line waits for the child to read, which may wait for an answer to be read.
        self._state, self._starting, self._writing = threading.Lock(), threading.Lock(), threading.Lock()
        self._process: Optional[subprocess.Popen] = None
        self._calls: Dict[int, _Call] = {}
        self._ids = itertools.count(1)
        self._starts: Deque[float] = deque(maxlen=STARTS)
        self._closed = False

    @property
    def pid(self) -> Optional[int]:
        """The process, where it lives."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> None:
        """Starts the process where none lives. `Dead` where it cannot be started."""
        with self._starting:
            if self._closed:
                raise Dead("the session has ended")
            if self.pid is not None:
                return
            now = time.monotonic()
            if len(self._starts) == STARTS and now - self._starts[0] < WITHIN_SECONDS:
                raise Dead(f"{self._command[0]} ended {STARTS} times within {WITHIN_SECONDS:.0f} seconds")
            self._starts.append(now)
            try:
                process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=self._env,
                    cwd=self._cwd,
                    # Ctrl-C is for the agent: the child ends when its input does.
                    start_new_session=True,
                )
            except OSError as error:
                raise Dead(f"cannot start {self._command[0]}: {error}") from error
            self._process = process
            threading.Thread(target=self._read, args=(process,), name="bower-mcp", daemon=True).start()
            try:
                self._ask("initialize", GREETING, START_SECONDS)
                self._send(GREETED)
            except ChildError as error:
                self._end(process)
                raise Dead(f"{' '.join(self._command)} does not answer: {error}") from error

    def call(self, tool: str, arguments: Dict[str, Any], seconds: float, when_late: WhenLate = None) -> Dict[str, Any]:
        """The result of a tool. `when_late` is given a result that came after its time, on another thread."""
        self.start()
        return _served(tool, self._ask("tools/call", {"name": tool, "arguments": arguments}, seconds, when_late))

    def close(self) -> None:
        """Ends the process: it ends by itself when its input does."""
        self._closed = True
        process = self._process
        if process is not None:
            self._end(process)

    def _ask(self, method: str, params: Dict[str, Any], seconds: float, when_late: WhenLate = None) -> Dict[str, Any]:
        call = _Call()
        with self._state:
            number = next(self._ids)
            self._calls[number] = call
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if not call.done.wait(seconds):
            with self._state:
                # The answer may have come between the two lines.
                if not call.done.is_set():
                    if when_late is None:
                        self._calls.pop(number, None)
                    else:
                        call.when_late = when_late
                    raise Late(f"no answer within {seconds:.1f} seconds")
        answer = call.answer
        if answer is None:
            raise Dead("the process ended before it answered")
        return _result(answer)

    def _send(self, message: Dict[str, Any]) -> None:
        process = self._process
        line = (json.dumps(message, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
        try:
            if process is None or process.stdin is None:
                raise Dead("there is no process")
            with self._writing:
                process.stdin.write(line)
                process.stdin.flush()
        except (OSError, ValueError) as error:
            raise Dead(f"the process does not read: {error}") from error

    def _read(self, process: subprocess.Popen) -> None:
        """Hands each answer to its call, until the process ends."""
        stdout = process.stdout
        if stdout is not None:
            for line in stdout:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                number = message.get("id") if isinstance(message, dict) else None
                if not isinstance(number, int) or "method" in message:
                    continue
                with self._state:
                    call = self._calls.pop(number, None)
                    if call is None:
                        continue
                    call.answer = message
                    late = call.when_late
                    call.done.set()
                result = message.get("result")
                if late is not None and isinstance(result, dict) and not result.get("isError"):
                    late(result)
        with self._state:
            left, self._calls = list(self._calls.values()), {}
        for call in left:
            call.done.set()
        with self._writing:
            for pipe in (process.stdin, process.stdout):
                try:
                    if pipe is not None:
                        pipe.close()
                except OSError:
                    # What was still to be written to a process that is gone.
                    pass
        process.wait()

    @staticmethod
    def _end(process: subprocess.Popen) -> None:
        try:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(timeout=3)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()


def one_call(tool: str, arguments: Dict[str, Any]) -> List[str]:
    """What a process that is started for one call is told, line by line."""
    call = {"name": tool, "arguments": arguments}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING},
        GREETED,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    return [json.dumps(message, ensure_ascii=False) for message in messages]


def answer_of(said: bytes) -> Dict[str, Any]:
    """The result of that call. `Refused` where it was refused, `Dead` where there is none."""
    for line in said.splitlines():
        message = json.loads(line)
        if message.get("id") == 2:
            return _served("the call", _result(message))
    raise Dead("the program ended before it answered")


def _result(answer: Dict[str, Any]) -> Dict[str, Any]:
    if "error" in answer:
        raise Refused(str(answer["error"].get("message") or answer["error"]))
    return answer.get("result") or {}


def _served(tool: str, result: Dict[str, Any]) -> Dict[str, Any]:
    if result.get("isError"):
        raise Refused(text_of(result) or f"{tool} failed")
    return result


def text_of(result: Dict[str, Any]) -> str:
    """The text of a tool's result."""
    parts = [part.get("text", "") for part in result.get("content") or [] if part.get("type") == "text"]
    return "\n".join(part for part in parts if part)
