"""Bowerbird as a memory provider of Hermes (register_memory_provider below).

What is known comes to the agent by itself: before each turn the store is asked what it has on the user's words, by the higher bar
for what nobody asked for, and never the same twice in a session. What is said is kept as turns that can be found again, and what
was decided, stated or found out in them as candidates of memories. Only the primary agent writes.

A `bower mcp` process lives beside the session. Where it dies it is started again; where it cannot live, `bower` is run once for
each question. Nothing here uses the network, and nothing that fails here breaks a turn.

`bower setup hermes` puts these files where the host looks; its `--remove` takes them away.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

from agent.memory_provider import MemoryProvider

from .child import Child, ChildError, Dead, Late, Refused, answer_of, one_call, text_of

logger = logging.getLogger(__name__)

# Somebody waits for the turn: what takes longer comes with the next.
PREFETCH_SECONDS = 0.3
# A call that an agent made waits for the model to wake up, and a write for the disk.
CALL_SECONDS = 20.0
# Shorter messages ("ok", "go on") ask nothing.
SHORTEST_QUERY = 8
LONGEST_QUERY = 5_000
# Longer turns are cut: what is worth keeping stands in front.
LONGEST_TURN = 20_000
BUDGET_TOKENS = 800
# Hermes waits as long for its background writes when it ends.
DRAIN_SECONDS = 4.0

CONFIG = "bowerbird/config.json"
DEFAULTS: Dict[str, Any] = {"command": "bower", "home": "", "prefetch": "true", "keep_turns": "true", "budget_tokens": BUDGET_TOKENS}

TOOLS: List[Dict[str, Any]] = [
    {
        "name": "memory_search",
        "description": "Search long-term memory: past decisions, facts, preferences, earlier conversations. "
        "Ask a whole question. Relevant memories also arrive by themselves; search when you need more.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "a question, in words of its own"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            },
            "required": ["query"],
        },
    },
    {
        "name": "memory_store",
        "description": "Remember something beyond this session: one fact, decision, preference or procedure a call, in a sentence that "
        "can be understood alone. A new value replaces the old one by itself.",
        "parameters": {
            "type": "object",
            "properties": {
                "content": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["content"],
        },
    },
    {
        "name": "memory_feedback",
        "description": "Say of a memory, by the id it came with, that it was useful, is wrong, or is stale (so no longer).",
        "parameters": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "verdict": {"type": "string", "enum": ["useful", "wrong", "stale"]},
            },
            "required": ["id", "verdict"],
        },
    },
    {
        "name": "memory_forget",
        "description": "Delete memories for good, by their ids. Only when the user asks for it.",
        "parameters": {
            "type": "object",
            "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
            "required": ["ids"],
        },
    },
]


# What is called here, by the agent or by itself.
CALLED = ",".join([tool["name"] for tool in TOOLS] + ["memory_list", "memory_turns"])


def _load_config(hermes_home: Optional[str]) -> Dict[str, Any]:
    """The provider's settings: its own file over the defaults."""
    config = dict(DEFAULTS)
    try:
        told = json.loads((Path(hermes_home or _hermes_home()) / CONFIG).read_text(encoding="utf-8"))
        config.update({key: value for key, value in told.items() if key in DEFAULTS and value not in (None, "")})
    except FileNotFoundError:
        pass
    except (OSError, ValueError, AttributeError) as error:
        logger.warning("bowerbird: %s cannot be read, defaults are used: %s", CONFIG, error)
    return config


def _hermes_home() -> str:
    try:
        from hermes_constants import get_hermes_home

        return str(get_hermes_home())
    except Exception:
        return os.environ.get("HERMES_HOME") or str(Path.home() / ".hermes")


def _is_on(value: Any) -> bool:
    return str(value).strip().lower() not in {"false", "0", "no", "off", ""}


class BowerbirdProvider(MemoryProvider):
    """One session's memory."""

    def __init__(self) -> None:
        self._config = _load_config(None)
        self._session = ""
        self._writes = False
        self._bounds: List[str] = []
        self._child: Optional[Child] = None
        # Answers that came after their turn, by session; and the lock of everything that several threads touch.
        self._late: Dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return "bowerbird"

    # -- What the host asks before a session ----------------------------------

    def is_available(self) -> bool:
        return self._program() is not None

    def get_config_schema(self) -> List[Dict[str, Any]]:
        return [
            {"key": "command", "description": "The bower program", "default": "bower"},
            {"key": "home", "description": "Folder of the store (empty: $BOWER_HOME, else ~/.bowerbird)", "default": ""},
            {
                "key": "prefetch",
                "description": "Give the agent what is known about each message",
                "default": "true",
                "choices": ["true", "false"],
            },
            {
                "key": "keep_turns",
                "description": "Keep conversations, and what was decided in them as candidates",
                "default": "true",
                "choices": ["true", "false"],
            },
            {"key": "budget_tokens", "description": "Tokens of memory at most before a turn", "default": str(BUDGET_TOKENS)},
        ]

    def save_config(self, values: Dict[str, Any], hermes_home: str) -> None:
        path = Path(hermes_home) / CONFIG
        path.parent.mkdir(parents=True, exist_ok=True)
        known = {key: value for key, value in values.items() if key in DEFAULTS}
        aside = path.with_suffix(".new")
        aside.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(aside, path)

    def backup_paths(self) -> List[str]:
        home = self._home()
        return [str(home / "memory.db"), str(home / "config.toml")]

    # -- A session ------------------------------------------------------------

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self._config = _load_config(kwargs.get("hermes_home"))
        self._session = session_id
        self._writes = kwargs.get("agent_context", "primary") == "primary"
        # Behind a gateway many people talk to one agent: each reaches what is theirs, and nothing else.
        user = kwargs.get("user_id") or kwargs.get("user_id_alt")
        self._bounds = ["--scope", "user", "--owner", str(user)] if user else []
        self._child = Child(self._command("mcp", "--tools", CALLED, *self._bounds), env=self._environment())
        threading.Thread(target=self._wake, name="bower-wake", daemon=True).start()

    def system_prompt_block(self) -> str:
        if not self.is_available():
            return ""
        return (
            "# Bowerbird memory\n"
            "Long-term memory is active. What is known about a message arrives with it. Use memory_search to look further, "
            "memory_store for what should outlive this session, memory_feedback when a memory helped, is wrong or is out of date."
        )

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        session, text = session_id or self._session, query.strip()[:LONGEST_QUERY]
        with self._lock:
            late = self._late.pop(session, "")
        if not _is_on(self._config["prefetch"]) or len(text) < SHORTEST_QUERY:
            return late
        return "\n\n".join(part for part in (late, self._recall(text, session)) if part)

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: Optional[List[Dict[str, Any]]] = None,
    ) -> None:
        self._keep_turns([("user", user_content), ("assistant", assistant_content)], session_id or self._session)

    def on_pre_compress(self, messages: List[Dict[str, Any]]) -> str:
        # Turns that were kept already are kept once.
        self._keep_turns(_turns(messages), self._session)
        return ""

    def on_session_end(self, messages: List[Dict[str, Any]]) -> None:
        self._keep_turns(_turns(messages), self._session)

    def on_session_switch(
        self, new_session_id: str, *, parent_session_id: str = "", reset: bool = False, rewound: bool = False, **kwargs: Any
    ) -> None:
        with self._lock:
            self._late.pop(self._session, None)
        self._session = new_session_id

    def on_delegation(self, task: str, result: str, *, child_session_id: str = "", **kwargs: Any) -> None:
        # The task was set by an agent: no word of it is the user's.
        self._keep_turns([("assistant", task), ("assistant", result)], child_session_id or self._session)

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Optional[Dict[str, Any]] = None
    ) -> None:
        """The host's own memory is mirrored: an entry is kept, one that was replaced or removed leaves answers."""
        if not self._writes:
            return
        tag = "hermes-user" if target == "user" else "hermes-memory"
        old = str((metadata or {}).get("old_text") or "") or (content if action == "remove" else "")
        try:
            outdated = self._mirrored(old, tag) if action in {"replace", "remove"} and old else None
            kept = None
            if action in {"add", "replace"} and content.strip():
                # The host's agent was asked to keep it: the gate has no say.
                kept = self._tool("memory_store", {"content": content, "tags": [tag], "gate": "off"})
            if outdated and outdated != ((kept or {}).get("structuredContent") or {}).get("id"):
                self._tool("memory_feedback", {"id": outdated, "verdict": "stale"})
        except ChildError as error:
            logger.warning("bowerbird: a write of the host's memory was not mirrored: %s", error)

    def shutdown(self) -> None:
        if self._child is not None:
            self._child.close()

    # -- Tools ----------------------------------------------------------------

    def get_tool_schemas(self) -> List[Dict[str, Any]]:
        return TOOLS

    def handle_tool_call(self, tool_name: str, args: Dict[str, Any], **kwargs: Any) -> str:
        if not any(tool["name"] == tool_name for tool in TOOLS):
            return json.dumps({"error": f"bowerbird has no tool {tool_name}"})
        if tool_name != "memory_search" and not self._writes:
            return json.dumps({"error": "only the primary agent may change the memory"})
        if tool_name == "memory_store":
            args = {**args, "conversation": self._session}
        try:
            result = self._tool(tool_name, args)
        except Dead as error:
            return self._without_child(tool_name, args, error)
        except ChildError as error:
            return json.dumps({"error": str(error)})
        return json.dumps({"result": text_of(result)}, ensure_ascii=False)

    # -- Inside ---------------------------------------------------------------

    def _program(self) -> Optional[str]:
        return shutil.which(os.path.expanduser(str(self._config["command"])))

    def _command(self, *arguments: str) -> List[str]:
        return [self._program() or str(self._config["command"]), *arguments]

    def _environment(self) -> Dict[str, str]:
        environment = dict(os.environ)
        if self._config["home"]:
            environment["BOWER_HOME"] = os.path.expanduser(str(self._config["home"]))
        return environment

    def _home(self) -> Path:
        told = self._config["home"] or os.environ.get("BOWER_HOME")
        return Path(os.path.expanduser(str(told))) if told else Path.home() / ".bowerbird"

    def _wake(self) -> None:
        """Starts the child before the first turn needs it."""
        try:
            if self._child is not None:
                self._child.start()
        except ChildError as error:
            logger.warning("bowerbird: %s; each question runs the program once", error)

    def _tool(self, tool: str, arguments: Dict[str, Any], seconds: float = CALL_SECONDS) -> Dict[str, Any]:
        """A call; one that met a child that had just died is made once more. Every tool here may be called twice."""
        if self._child is None:
            raise Dead("the session has not begun")
        try:
            return self._child.call(tool, arguments, seconds)
        except Dead:
            return self._child.call(tool, arguments, seconds)

    def _recall(self, text: str, session: str) -> str:
        if self._child is None:
            return ""
        start = time.monotonic()
        arguments = {"query": text, "session": session, "prefetch": True, "budget_tokens": self._budget()}
        try:
            result = self._child.call(
                "memory_search", arguments, PREFETCH_SECONDS, lambda late: self._keep_late(session, text_of(late))
            )
            return text_of(result)
        except Late:
            logger.debug("bowerbird: what is known comes with the next turn")
            return ""
        except Refused as error:
            logger.warning("bowerbird: the question was not answered: %s", error)
            return ""
        except Dead as error:
            logger.debug("bowerbird: %s", error)
            return self._recall_once(text, session, PREFETCH_SECONDS - (time.monotonic() - start))

    def _recall_once(self, text: str, session: str, seconds: float) -> str:
        """The same by a process of its own."""
        arguments = ["--format", "context", "--session", session, "--prefetch", "--budget", str(self._budget())]
        try:
            run = self._run(["query", *self._bounds, *arguments, "--", text], max(seconds, 0.1))
        except (OSError, subprocess.TimeoutExpired) as error:
            logger.warning("bowerbird: the question was not answered: %s", error)
            return ""
        if run.returncode != 0:
            logger.warning("bowerbird: %s", run.stderr.decode("utf-8", "replace").strip())
            return ""
        return run.stdout.decode("utf-8", "replace").strip()

    def _without_child(self, tool: str, args: Dict[str, Any], why: Dead) -> str:
        """A tool's call as one run of the program, by the same protocol: what comes of it may enter a prompt."""
        said = "".join(line + "\n" for line in one_call(tool, args))
        try:
            run = self._run(["mcp", "--tools", CALLED, *self._bounds], CALL_SECONDS, said.encode("utf-8", "surrogatepass"))
            answer = answer_of(run.stdout)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return json.dumps({"error": f"{why}; and {error}"})
        except ChildError as error:
            return json.dumps({"error": str(error)})
        return json.dumps({"result": text_of(answer)}, ensure_ascii=False)

    def _run(self, arguments: List[str], seconds: float, said: bytes = b"") -> subprocess.CompletedProcess:
        return subprocess.run(
            self._command(*arguments),
            capture_output=True,
            timeout=seconds,
            env=self._environment(),
            input=said,
        )

    def _budget(self) -> int:
        try:
            return max(32, int(self._config["budget_tokens"]))
        except (TypeError, ValueError):
            return BUDGET_TOKENS

    def _keep_late(self, session: str, text: str) -> None:
        """The store counts it as given, so it is given: with the next turn."""
        if text:
            with self._lock:
                self._late[session] = "\n\n".join(part for part in (self._late.get(session), text) if part)

    def _keep_turns(self, turns: List[tuple], session: str) -> None:
        if not self._writes or not _is_on(self._config["keep_turns"]):
            return
        said = [{"speaker": side, "text": text.strip()[:LONGEST_TURN]} for side, text in turns if text and text.strip()]
        if not said:
            return
        try:
            self._tool("memory_turns", {"conversation": session, "turns": said})
        except ChildError as error:
            logger.warning("bowerbird: %d turns were not kept: %s", len(said), error)

    def _mirrored(self, old: str, tag: str) -> Optional[str]:
        """The one memory that mirrors an entry of the host."""
        page = self._tool("memory_list", {"tags": [tag], "filter": {"$contains": old}, "limit": 2})
        found = (page.get("structuredContent") or {}).get("memories") or []
        return found[0].get("id") if len(found) == 1 else None


def _turns(messages: List[Dict[str, Any]]) -> List[tuple]:
    """What people and the agent said; tool results and instructions are neither."""
    turns = []
    for message in messages or []:
        side, content = message.get("role"), message.get("content")
        if isinstance(content, list):
            parts = [part.get("text", "") for part in content if isinstance(part, dict) and part.get("type") == "text"]
            content = "\n".join(parts)
        if side in {"user", "assistant"} and isinstance(content, str):
            turns.append((side, content))
    return turns


def register(ctx: Any) -> None:
    """Called by the host when it loads this folder."""
    ctx.register_memory_provider(BowerbirdProvider())
