"""The hosts as programs: which settings their user has already, how each is asked without a terminal, and how its session goes on.

Each has a home of its own; its model is the scripted one, and so is its proxy.
"""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model import SAID, Model, Request

HERE = Path(__file__).resolve().parent
# A host that says nothing for so long hangs.
PATIENCE = 150


@dataclass
class Said:
    """What became of a run."""

    status: int
    out: str
    err: str


class Program:
    """One host in a scratch home."""

    # The word of `bower setup`, and the command.
    word = ""
    command = ""

    def __init__(self, home: Path, bower: Path, model: Model) -> None:
        self.home = home
        self.model = model
        self.work = home / "shop"
        self.ran = home / "other-hook"
        self.bower_path = home / "bin" / "bower"
        self.bower_path.parent.mkdir()
        self.bower_path.symlink_to(bower)
        self.work.mkdir()
        self.other = {"command": sys.executable, "args": [str(HERE / "other.py")]}
        self.other_hook = f"touch {self.ran}"
        self.other_group = {"hooks": [{"type": "command", "command": self.other_hook}]}
        for path, text in self.settings().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.written = set(self.settings())

    # Tools that its model calls before it has those of a server.
    before_tools: tuple[tuple[str, dict], ...] = ()
    # What stands beside our server in its own list of servers.
    listed = ""

    def set_up(self, *options: str) -> None:
        self.written |= {Path(file["path"]) for file in self.bower("setup", self.word, *options, "--yes")["files"]}

    def remove(self, *options: str) -> None:
        self.bower("setup", self.word, *options, "--remove", "--yes")

    def files(self) -> dict[Path, bytes]:
        """What there is of its user's files and ours."""
        return {path: path.read_bytes() for path in self.written if path.exists()}

    def agree(self, hooks: int = 5) -> None:
        """What its user does once on its screen, before it does what its files say: so many hooks are new to it."""

    def trust(self) -> None:
        """What its user has said of the project before."""

    # Its own tool that is used on a file, and what that takes.
    def using(self, file: Path) -> tuple[str, dict | str]:
        raise NotImplementedError

    # A prompt for which it uses that tool.
    def asking_to_use(self, prompt: str) -> list[str]:
        return self.asking(prompt, again=False)

    # What those who work on the project have in it already.
    def project(self) -> dict[Path, str]:
        raise NotImplementedError

    # Names of tools that a request speaks of without offering them.
    def known(self, request: Request) -> list[str]:
        return []

    # Ends what a run may have left behind.
    def close(self) -> None:
        pass

    # What its user has before; written as people write it.
    def settings(self) -> dict[Path, str]:
        raise NotImplementedError

    # What else of the environment it needs.
    def variables(self) -> dict[str, str]:
        return {}

    def asking(self, prompt: str, again: bool) -> list[str]:
        raise NotImplementedError

    # Whether its file still has what its user had, and nothing of ours.
    def is_theirs(self, text: str) -> bool:
        return "other" in text and "bower" not in text

    @property
    def environment(self) -> dict[str, str]:
        proxy = self.model.address
        return {
            "PATH": f"{self.bower_path.parent}:{os.environ['HOSTS']}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "CI": "true",
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
            **self.variables(),
        }

    def start(self, command: list[str]) -> subprocess.Popen:
        """In a group of its own, which `stop` ends."""
        return subprocess.Popen(
            command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, command: list[str], seconds: int = PATIENCE) -> Said:
        """Runs it to its end, and whatever it started with it."""
        process = self.start(command)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            stop(process)
            out, err = process.communicate()
            raise AssertionError(f"{command}: no end after {seconds} s\n{out[-2000:]}\n{err[-2000:]}") from None
        finally:
            stop(process)
        return Said(process.returncode, out, err)

    def compact_on_screen(self, command: list[str], ready: str, order: str, done: str, then: str) -> None:
        """Compacts a session on its screen, which says that it is ready, and that it is done, and asks on in it."""
        # Some show no screen where they are told that they are tested.
        environment = {name: value for name, value in self.environment.items() if name != "CI"}
        with Screen(command, self.work, environment) as screen:
            screen.wait(ready)
            screen.type(order)
            screen.wait(done)
            self.model.forget()
            screen.type(then)
            screen.wait_for(lambda: bool(self.model.turns_asked()) and SAID in screen.seen)

    def ask(self, prompt: str, again: bool = False) -> Said:
        """One prompt, in a new session or in the last."""
        self.model.forget()
        return self.run(self.asking(prompt, again))

    def compact(self, then: str) -> None:
        """Compacts the last session, as its user asks for it, and asks on in it."""
        said = self.run(self.asking("/compact", True))
        if said.status != 0:
            raise AssertionError(f"{self.command}: {said.out}{said.err}")
        self.ask(then, again=True)

    @contextmanager
    def deaf_to(self, event: str) -> Iterator[Path]:
        """Its hooks for one event do nothing meanwhile; the others, and what they were told, are lines of a file."""
        heard = self.home / "heard"
        heard.write_text("", encoding="utf-8")
        aside = self.bower_path.with_name("aside")
        self.bower_path.rename(aside)
        self.bower_path.write_text(
            f"""#!/bin/sh
case "$*" in
*"hook {event}"*) exit 0 ;;
*"hook "*) told=$(cat) && echo "$* $told" >>{heard} && printf %s "$told" | {aside} "$@" ;;
*) exec {aside} "$@" ;;
esac
""",
            encoding="utf-8",
        )
        self.bower_path.chmod(0o755)
        try:
            yield heard
        finally:
            aside.rename(self.bower_path)

    def bower(self, *arguments: str) -> dict:
        """A command of Bowerbird's, as its user gives it."""
        said = self.run(["bower", "--format", "json", *arguments])
        if said.status != 0:
            raise AssertionError(f"bower {' '.join(arguments)}: {said.out}{said.err}")
        return json.loads(said.out)["data"]


def stop(process: subprocess.Popen) -> None:
    """Ends a process and its group; one that has left the group is its own master."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


DOWN, ENTER, CLEAR = b"\x1b[B", b"\r", b"\x15"


class Screen:
    """A program on a terminal."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.seen = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        # `pty.fork` made it the leader of a group.
        os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def press(self, keys: bytes) -> None:
        self.seen = ""
        os.write(self.terminal, keys)

    def type(self, line: str) -> None:
        """A line, and its end when it stands there: what comes as fast as a paste is one. Who still begins may drop keys."""
        for _ in range(PATIENCE // 5):
            self.press(CLEAR + line.encode())
            if self.comes(lambda: line in self.seen, 5):
                return self.press(ENTER)
        raise AssertionError(f"the screen takes no line: {self.seen[-2000:]}")

    def wait(self, word: str) -> None:
        self.wait_for(lambda: word in self.seen)

    def wait_for(self, done: Callable[[], bool]) -> None:
        """It must be so within the patience that a run has."""
        if not self.comes(done, PATIENCE):
            raise AssertionError(f"the screen has not come to it: {self.seen[-2000:]}")

    def comes(self, done: Callable[[], bool], seconds: float) -> bool:
        """Reads until it is so, and a moment longer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            more = self.read(0.3)
            if not more and done():
                return True
        return False

    def read(self, seconds: float) -> bool:
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            got = os.read(self.terminal, 65536)
        except OSError as error:
            raise AssertionError(f"the program has ended: {self.seen[-2000:]}") from error
        # Some ask the terminal where its cursor is, and what it can, and wait for that.
        if b"\x1b[6n" in got:
            os.write(self.terminal, b"\x1b[1;1R")
        if b"\x1b[c" in got:
            os.write(self.terminal, b"\x1b[?62;c")
        self.seen += re.sub(r"\x1b\[[0-9;?<>=]*[ -/]*[@-~]", " ", got.decode("utf-8", "replace"))
        return True


class ClaudeCode(Program):
    word = "claude-code"
    command = "claude"
    listed = "Connected"
    # It tells its model names of tools; what they take is asked for.
    before_tools = (("ToolSearch", {"query": "select:mcp__bower__memory_search,mcp__bower__memory_store", "max_results": 5}),)

    def known(self, request: Request) -> list[str]:
        return [word for word in request.whole.split() if word.startswith("mcp__")]

    def settings(self) -> dict[Path, str]:
        server = {"type": "stdio", **self.other}
        return {
            self.home / ".claude.json": json.dumps({"numStartups": 7, "mcpServers": {"other": server}}),
            self.home / ".claude" / "settings.json": json.dumps(
                {"cleanupPeriodDays": 20, "hooks": {"SessionStart": [self.other_group]}}, indent=4
            ),
        }

    def using(self, file: Path) -> tuple[str, dict | str]:
        return "Read", {"file_path": str(file)}

    def project(self) -> dict[Path, str]:
        return {
            self.work / ".mcp.json": json.dumps({"mcpServers": {"another": self.other}}, indent=3),
            self.work / ".claude" / "settings.json": json.dumps({"hooks": {"Stop": [self.other_group]}}, indent="\t"),
        }

    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.model.address,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def asking(self, prompt: str, again: bool) -> list[str]:
        return ["claude", *(["--continue"] if again else []), "--allowedTools", "mcp__bower", "--print", "--", prompt]


class Codex(Program):
    word = "codex"
    command = "codex"
    listed = "enabled"
    # Its server in the background would outlive the screen, and hold its session.
    screen = ("codex", "--no-daemon")

    def settings(self) -> dict[Path, str]:
        return {
            self.home / ".codex" / "config.toml": f"""model = "scripted"  # mine
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{self.model.address}/v1"
wire_api = "responses"

[mcp_servers.other]  # from before
command = '{self.other["command"]}'
args = ['{self.other["args"][0]}']
""",
            self.home / ".codex" / "hooks.json": json.dumps({"hooks": {"SessionStart": [self.other_group]}}, indent="\t"),
        }

    def asking(self, prompt: str, again: bool) -> list[str]:
        return ["codex", "exec", "--skip-git-repo-check", *(["resume", "--last"] if again else []), prompt]

    def using(self, file: Path) -> tuple[str, dict | str]:
        lines = ["*** Begin Patch", f"*** Update File: {file.name}", "@@", "+# Reviewed.", "*** End Patch", ""]
        return "apply_patch", "\n".join(lines)

    def asking_to_use(self, prompt: str) -> list[str]:
        # A model that it knows to take that tool.
        return ["codex", "exec", "--skip-git-repo-check", "--sandbox", "workspace-write", "--model", "gpt-5.5", prompt]

    def project(self) -> dict[Path, str]:
        return {
            self.work / ".codex" / "config.toml": """# ours
[mcp_servers.another]
command = 'true'  # does nothing
enabled = false
"""
        }

    def trust(self) -> None:
        with (self.home / ".codex" / "config.toml").open("a", encoding="utf-8") as settings:
            settings.write(f'\n[projects."{self.work}"]\ntrust_level = "trusted"\n')

    def agree(self, hooks: int = 5) -> None:
        """It begins with a question about the hooks; the second answer is to trust all."""
        settings = self.home / ".codex" / "config.toml"
        trusted = settings.read_text(encoding="utf-8").count("trusted_hash") + hooks
        with Screen([*self.screen], self.work, self.environment) as screen:
            screen.wait("continue")
            screen.press(DOWN)
            screen.wait_for(lambda: "›" in screen.seen)
            screen.press(ENTER)
            screen.wait_for(lambda: settings.read_text(encoding="utf-8").count("trusted_hash") >= trusted)

    def compact(self, then: str) -> None:
        last = ["resume", "--last", "--include-non-interactive"]
        self.compact_on_screen([*self.screen, *last], "for shortcuts", "/compact", "Context compacted", then)


class Gemini(Program):
    word = "gemini"
    command = "gemini"
    listed = "Connected"

    def settings(self) -> dict[Path, str]:
        return {
            # It starts a server in a folder alone that its user trusts.
            self.home / ".gemini" / "trustedFolders.json": json.dumps({str(self.work): "TRUST_FOLDER"}),
            self.home / ".gemini" / "settings.json": f"""// mine
{{
  "security": {{ "auth": {{ "selectedType": "gemini-api-key" }} }},
  "privacy": {{ "usageStatisticsEnabled": false }},
  "general": {{ "enableAutoUpdate": false }}, /* no surprises */
  "mcpServers": {{
    "other": {json.dumps(self.other)} // from before
  }},
  "hooks": {{
    "SessionStart": [{{ "hooks": [{{ "type": "command", "command": "{self.other_hook}" }}] }}]
  }}
}}
"""
        }

    def variables(self) -> dict[str, str]:
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": self.model.address}

    def using(self, file: Path) -> tuple[str, dict | str]:
        return "read_file", {"file_path": str(file)}

    def project(self) -> dict[Path, str]:
        another = {"command": "true"}
        return {
            self.work / ".gemini" / "settings.json": f"""{{
  // ours
  "mcpServers": {{ "another": {json.dumps(another)} }}
}}
"""
        }

    flags = ("--approval-mode", "yolo", "--model", "gemini-2.5-flash")

    def asking(self, prompt: str, again: bool) -> list[str]:
        return ["gemini", *self.flags, *(["--resume", "latest"] if again else []), "--prompt", prompt]

    def compact(self, then: str) -> None:
        command = ["gemini", *self.flags, "--resume", "latest"]
        self.compact_on_screen(command, "Type your message", "/compress", "Chat history compressed", then)


class Opencode(Program):
    word = "opencode"
    command = "opencode"
    listed = "connected"

    def settings(self) -> dict[Path, str]:
        folder = self.home / ".config" / "opencode"
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": f"{self.model.address}/v1"},
            "models": {"scripted": {"name": "Scripted"}},
        }
        other = {"type": "local", "command": [self.other["command"], *self.other["args"]], "enabled": True}
        return {
            folder / "opencode.jsonc": f"""{{
  // mine
  "$schema": "https://opencode.ai/config.json",
  "model": "scripted/scripted",
  "small_model": "scripted/scripted",
  "autoupdate": false,
  "share": "disabled",
  "provider": {{ "scripted": {json.dumps(provider)} }},
  "mcp": {{
    "other": {json.dumps(other)}, // from before
  }},
}}
""",
            folder / "plugins" / "other.js": f"""import {{ writeFileSync }} from "node:fs";
export const Other = async () => {{
  writeFileSync({json.dumps(str(self.ran))}, "");
  return {{}};
}};
""",
        }

    def using(self, file: Path) -> tuple[str, dict | str]:
        return "read", {"filePath": str(file)}

    def project(self) -> dict[Path, str]:
        return {self.work / "opencode.json": '{\n  "$schema": "https://opencode.ai/config.json",\n  "instructions": []\n}\n'}

    def variables(self) -> dict[str, str]:
        # It looks for types of plugins at npm, which it does not need.
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "npm_config_fetch_retries": "0"}

    def asking(self, prompt: str, again: bool) -> list[str]:
        return ["opencode", "run", *(["--continue"] if again else []), prompt]

    def compact(self, then: str) -> None:
        """What its screen asks its server for at `/compact`; then it goes on in another process."""
        server = self.start(["opencode", "serve", "--port", "0"])
        try:
            # What it is asked before it says where it listens it may never answer.
            said = iter(server.stdout.readline, "")
            port = int(next(line for line in said if "listening" in line).strip().rpartition(":")[2])
            session = self.served(port, "GET", "/session")[0]["id"]
            self.served(port, "POST", f"/session/{session}/summarize", {"providerID": "scripted", "modelID": "scripted"})
        finally:
            stop(server)
            server.communicate()
        self.ask(then, again=True)

    def served(self, port: int, method: str, path: str, body: dict | None = None) -> list | dict:
        """What its server answers."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"content-type": "application/json"})
            answer = connection.getresponse()
            said = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise AssertionError(f"{method} {path}: {answer.status} {said}")
        return json.loads(said)


class Copilot(Program):
    word = "copilot"
    command = "copilot"
    listed = "local"

    def settings(self) -> dict[Path, str]:
        folder = self.home / ".copilot"
        server = {"type": "local", **self.other, "tools": ["*"]}
        hook = {"type": "command", "bash": self.other_hook}
        return {
            folder / "mcp-config.json": json.dumps({"mcpServers": {"other": server}}, indent=3),
            folder / "hooks" / "other.json": json.dumps({"version": 1, "hooks": {"sessionStart": [hook]}}),
        }

    def using(self, file: Path) -> tuple[str, dict | str]:
        return "view", {"path": str(file)}

    def project(self) -> dict[Path, str]:
        another = {"type": "local", **self.other, "tools": ["*"]}
        return {self.work / ".github" / "mcp.json": json.dumps({"mcpServers": {"another": another}})}

    def trust(self) -> None:
        place = self.home / ".copilot" / "config.json"
        place.write_text(json.dumps({"trusted_folders": [str(self.work)]}), encoding="utf-8")

    def variables(self) -> dict[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{self.model.address}/v1",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def asking(self, prompt: str, again: bool) -> list[str]:
        return ["copilot", *(["--continue"] if again else []), "--allow-tool=bower", "--prompt", prompt]
