"""A scripted model on the loopback, for hosts that were told to ask it: Anthropic's messages, OpenAI's responses and chat
completions, Gemini's generateContent, each streamed or whole. It keeps what it was sent, answers a word, and calls tools as told.

It is a proxy too, which lets nobody through: a host whose proxy it is cannot reach the network, and whom it asked for is known.
"""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SAID = "Understood."


@dataclass
class Turn:
    """One message of a conversation, whatever the wire: its words, and how many results of tools it brings."""

    role: str
    text: str
    results: list[str] = field(default_factory=list)


@dataclass
class Request:
    """What a host asked the model."""

    path: str
    body: dict
    system: str
    turns: list[Turn]
    tools: list[str]

    @property
    def whole(self) -> str:
        """All words that the model is given, what tools gave included."""
        return "\n".join([self.system, *(part for turn in self.turns for part in [turn.text, *turn.results])])

    @property
    def results(self) -> list[str]:
        return [result for turn in self.turns for result in turn.results]


def words(value: object) -> str:
    """The text of a content, as each wire has it: a string, a list of parts, a part."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value)))
    if isinstance(value, dict):
        return words(value.get("text") or value.get("content") or value.get("parts") or "")
    return ""


def anthropic(path: str, body: dict) -> Request:
    turns = []
    for message in body.get("messages", []):
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        said = words([part for part in parts if part["type"] == "text"])
        results = [words(part.get("content", "")) for part in parts if part["type"] == "tool_result"]
        turns.append(Turn(message["role"], said, results))
    return Request(path, body, words(body.get("system", "")), turns, [tool["name"] for tool in body.get("tools", [])])


def responses(path: str, body: dict) -> Request:
    turns = []
    given = body.get("input", [])
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind == "message":
            turns.append(Turn(item["role"], words(item["content"])))
        elif kind.endswith("_output"):
            turns.append(Turn("tool", "", [words(item.get("output", ""))]))
    names = []
    for tool in body.get("tools", []):
        # A server's tools may stand in a space of their own.
        inner = tool.get("tools")
        names += [f"{tool['name']}/{one['name']}" for one in inner] if inner else [tool.get("name", tool["type"])]
    return Request(path, body, words(body.get("instructions", "")), turns, names)


def completions(path: str, body: dict) -> Request:
    turns, system = [], []
    for message in body.get("messages", []):
        said = words(message.get("content") or "")
        if message["role"] in ("system", "developer"):
            system.append(said)
        elif message["role"] == "tool":
            turns.append(Turn("tool", "", [said]))
        else:
            turns.append(Turn(message["role"], said))
    return Request(path, body, "\n".join(system), turns, [tool["function"]["name"] for tool in body.get("tools", [])])


def gemini(path: str, body: dict) -> Request:
    turns = []
    for content in body.get("contents", []):
        parts = content.get("parts", [])
        results = [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
        said = words([part for part in parts if "text" in part])
        turns.append(Turn(content.get("role", "user"), said, results))
    tools = [one["name"] for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    return Request(path, body, words(body.get("systemInstruction", "")), turns, tools)


class Model:
    """The server. `calls` says which tools a prompt that holds a text has it call, one after the other."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests: list[Request] = []
        self.refused: list[str] = []
        self.unknown: list[str] = []
        self.calls: dict[str, list[tuple[str, dict | str]]] = {}
        self.trouble: list[str] = []
        handler = type("Handler", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def forget(self) -> None:
        with self.lock:
            self.requests.clear()
            self.refused.clear()
            self.unknown.clear()

    def turns_asked(self) -> list[Request]:
        """The agent's own requests: a host also asks for titles and the like, which offer no tools."""
        with self.lock:
            return [request for request in self.requests if request.tools]

    def next(self, request: Request) -> tuple[str, dict | str] | None:
        """The tool to call now, by what the host calls it; none where the answer is a word."""
        with self.lock:
            self.requests.append(request)
        if not request.tools:
            return None
        for marker, calls in self.calls.items():
            places = [at for at, turn in enumerate(request.turns) if turn.role == "user" and marker in turn.text]
            if not places:
                continue
            done = sum(len(turn.results) for turn in request.turns[places[-1] :])
            if done < len(calls):
                name, arguments = calls[done]
                offered = [tool for tool in request.tools if tool.endswith(name)]
                if offered:
                    return offered[0], arguments
                self.trouble.append(f"{name} is not among {request.tools}")
        return None


class Handler(BaseHTTPRequestHandler):
    """One request."""

    model: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def read(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        coding = self.headers.get("content-encoding", "")
        return gzip.decompress(body) if coding == "gzip" else zlib.decompress(body) if coding == "deflate" else body

    def give(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            # Whoever asked has ended meanwhile.
            self.close_connection = True

    def json(self, value: object, status: int = 200) -> None:
        self.give(status, "application/json", json.dumps(value).encode())

    def events(self, events: list[dict], named: bool) -> None:
        lines = (f"event: {one['type']}\n" if named else "" for one in events)
        body = "".join(f"{name}data: {json.dumps(one)}\n\n" for name, one in zip(lines, events))
        self.give(200, "text/event-stream", body.encode())

    def do_CONNECT(self) -> None:
        self.model.refused.append(self.path)
        self.close_connection = True
        self.give(403, "text/plain", b"")

    def do_GET(self) -> None:
        self.read()
        if not self.path.startswith("/"):
            self.model.refused.append(self.path)
            return self.give(403, "text/plain", b"")
        if self.path.split("?")[0].endswith("/models"):
            return self.json({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []})
        self.model.unknown.append(f"GET {self.path}")
        return self.json({"error": {"message": "not here"}}, 404)

    def do_HEAD(self) -> None:
        self.give(200, "text/plain", b"")

    def do_POST(self) -> None:
        raw = self.read()
        path = self.path.split("?")[0]
        if not path.startswith("/"):
            self.model.refused.append(path)
            return self.give(403, "text/plain", b"")
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self.model.unknown.append(f"POST {path}: no JSON")
            return self.json({"error": {"message": "no JSON"}}, 400)
        if path.endswith(("/count_tokens", ":countTokens")):
            return self.json({"input_tokens": 100, "totalTokens": 100})
        if path.endswith("/messages"):
            return self.as_anthropic(anthropic(path, body))
        if path.endswith("/responses"):
            return self.as_responses(responses(path, body))
        if path.endswith("/chat/completions"):
            return self.as_completions(completions(path, body))
        if path.endswith((":streamGenerateContent", ":generateContent")):
            return self.as_gemini(gemini(path, body))
        self.model.unknown.append(f"POST {path}")
        return self.json({"error": {"message": "not here"}}, 404)

    def as_anthropic(self, request: Request) -> None:
        call = self.model.next(request)
        usage = {"input_tokens": 10, "output_tokens": 5}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": request.body.get("model", "scripted")}
        ends = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        if call:
            at = len(request.results)
            block = {"type": "tool_use", "id": f"toolu_{at}", "name": call[0], "input": call[1]}
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block = {"type": "text", "text": SAID}
            begun = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": SAID}
        if not request.body.get("stream"):
            return self.json({**message, "content": [block], **ends, "usage": usage})
        return self.events(
            [
                {
                    "type": "message_start",
                    "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage},
                },
                {"type": "content_block_start", "index": 0, "content_block": begun},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": ends, "usage": usage},
                {"type": "message_stop"},
            ],
            named=True,
        )

    def as_responses(self, request: Request) -> None:
        call = self.model.next(request)
        at = len(request.turns)
        if call:
            space, _, name = call[0].rpartition("/")
            # What takes a text as it is, and no object, is a custom tool.
            kind, key, given = (
                ("custom_tool_call", "input", call[1])
                if isinstance(call[1], str)
                else ("function_call", "arguments", json.dumps(call[1]))
            )
            item = {
                "type": kind,
                "id": f"fc_{at}",
                "call_id": f"call_{at}",
                "name": name,
                key: given,
                "status": "completed",
                **({"namespace": space} if space else {}),
            }
        else:
            part = {"type": "output_text", "text": SAID, "annotations": []}
            item = {"type": "message", "id": f"msg_{at}", "role": "assistant", "status": "completed", "content": [part]}
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        }
        model = request.body.get("model", "scripted")
        answer = {"id": f"resp_{at}", "object": "response", "created_at": 1, "model": model, "output": []}
        done = {**answer, "status": "completed", "output": [item], "usage": usage}
        if not request.body.get("stream"):
            return self.json(done)
        events = [{"type": "response.created", "response": {**answer, "status": "in_progress"}}]
        place = {"output_index": 0, "item_id": item["id"]}
        if call:
            events += [
                {"type": "response.output_item.added", "output_index": 0, "item": {**item, key: ""}},
                {"type": f"response.{kind}_{key}.delta", **place, "delta": given},
                {"type": f"response.{kind}_{key}.done", **place, key: given},
            ]
        else:
            place["content_index"] = 0
            events += [
                {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
                {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
                {"type": "response.output_text.delta", **place, "delta": SAID},
                {"type": "response.output_text.done", **place, "text": SAID},
                {"type": "response.content_part.done", **place, "part": part},
            ]
        events += [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]
        return self.events([{**one, "sequence_number": at} for at, one in enumerate(events)], named=True)

    def as_completions(self, request: Request) -> None:
        call = self.model.next(request)
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            said = {"tool_calls": [{"id": f"call_{len(request.turns)}", "type": "function", "function": function}]}
        else:
            said = {"content": SAID}
        ends = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        answer = {"id": "chatcmpl_1", "created": 1, "model": request.body.get("model", "scripted")}
        if not request.body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": None, **said}, "finish_reason": ends}
            return self.json({**answer, "object": "chat.completion", "choices": [choice], "usage": usage})
        if call:
            said["tool_calls"][0]["index"] = 0
        chunk = {**answer, "object": "chat.completion.chunk"}
        chunks = [
            {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", **said}, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": ends}]},
            {**chunk, "choices": [], "usage": usage},
        ]
        body = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
        return self.give(200, "text/event-stream", body.encode())

    def as_gemini(self, request: Request) -> None:
        call = self.model.next(request)
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": SAID}
        answer = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
            "modelVersion": "scripted",
        }
        if request.path.endswith(":streamGenerateContent"):
            return self.events([answer], named=False)
        return self.json(answer)
