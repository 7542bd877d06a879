"""Drives the programs that people run, each in a home of its own, and looks at what their model was sent.

Run by `scripts/hosts.sh`, which installs them: BOWER names the program, BOWER_MODELS_FOLDER its models, HOSTS the folder of the
programs. One host alone: `scripts/hosts.sh BOWER -k Codex`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import programs
from model import SAID, Model

BOWER = Path(os.environ["BOWER"]).resolve()
MODELS = Path(os.environ["BOWER_MODELS_FOLDER"]).resolve()

RULE = "Every commit message names the area it touches first."
FACT = "The staging database listens on port 6543."
ASKS = "Which port does the staging database listen on?"
ASKS_AGAIN = "Tell me once more which port the staging database listens on."
ASKS_NOTHING = "Please sort the colours of the rainbow alphabetically."
KNOWN_OF_FILE = "The file ledger.py rounds down on purpose."
LOOKS = "Please work on that file."
USES_TOOLS = "Use your memory now."
STORED = "The release train leaves at 14:30."
DECIDES = "From now on we deploy on Tuesdays, not on Fridays."
DECIDES_LATE = "From now on we write the changelog in German, not in English."
DECIDES_UNHEARD = "From now on we archive the logs on Mondays, not on Sundays."


class Drive:
    """What is the same of every host. Tests take no order: each begins sessions of its own."""

    kind: type[programs.Program]

    @classmethod
    def setUpClass(cls) -> None:
        if shutil.which(cls.kind.command, path=f"{os.environ['HOSTS']}") is None:
            raise unittest.SkipTest(f"{cls.kind.command} is not installed")
        folder = Path(tempfile.mkdtemp(prefix="hosts-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.model = Model()
        cls.addClassCleanup(cls.model.close)
        cls.host = cls.kind(folder, BOWER, cls.model)
        cls.addClassCleanup(cls.host.close)
        cls.store = folder / ".bowerbird"
        cls.store.mkdir()
        # A host may clear the environment of what it starts: the model lies where it is found without.
        (cls.store / "models").symlink_to(MODELS)
        cls.host.bower("curate", "--type", "convention", RULE)
        cls.host.bower("curate", FACT)
        cls.before = cls.host.files()
        cls.host.set_up()
        cls.after = cls.host.files()
        cls.host.agree()
        cls.model.calls[USES_TOOLS] = [
            *cls.host.before_tools,
            ("memory_search", {"query": "the port of the staging database"}),
            ("memory_store", {"content": STORED}),
        ]

    def ask(self, prompt: str, again: bool = False) -> list:
        """The agent's requests of one run; the host has answered and said nothing of trouble."""
        said = self.host.ask(prompt, again)
        self.assertEqual(said.status, 0, f"{said.out}\n{said.err}")
        self.assertIn(SAID, said.out)
        asked = self.model.turns_asked()
        self.assertTrue(asked, f"{self.kind.command} asked its model nothing\n{said.err}")
        return asked

    def candidates(self) -> list[str]:
        return [memory["content"] for memory in self.host.bower("list", "--status", "candidate")["memories"]]

    def test_a_session_is_told_once_what_it_needs(self) -> None:
        first = self.ask(ASKS)[-1].whole
        self.assertEqual((first.count(RULE), first.count(FACT)), (1, 1), first)
        self.assertTrue(self.host.ran.exists(), "the hook that was there before did not run")
        # Its history has both still, and the same prompt brings neither again.
        second = self.ask(ASKS_AGAIN, again=True)[-1].whole
        self.assertIn(ASKS, second)
        self.assertEqual((second.count(RULE), second.count(FACT)), (1, 1), second)

    def test_a_prompt_about_nothing_known_brings_nothing(self) -> None:
        asked = self.ask(ASKS_NOTHING)[-1].whole
        self.assertEqual((asked.count(RULE), asked.count(FACT)), (1, 0), asked)
        self.assertNotIn("Relevant Knowledge", asked)

    def test_its_own_list_has_the_server(self) -> None:
        said = self.host.run([self.host.command, "mcp", "list"])
        lines = [line for line in re.split(r"\n(?!\W*/)", said.out + said.err) if "bower" in line]
        self.assertTrue(any(self.host.listed in line for line in lines), said.out + said.err)

    def test_its_model_uses_the_tools(self) -> None:
        last = self.ask(USES_TOOLS)[-1]
        self.assertEqual(self.model.trouble, [])
        self.assertTrue(any(tool.endswith("other_ping") for tool in last.tools + self.host.known(last)), last.tools)
        self.assertEqual(len(last.results), len(self.model.calls[USES_TOOLS]), last.results)
        self.assertIn(FACT, last.results[-2])
        found = self.host.bower("query", "when does the release train leave?")["results"]
        self.assertEqual(found[0]["memory"]["content"], STORED, last.results[-1])

    def test_a_tool_used_on_a_file_brings_what_is_known_of_it(self) -> None:
        file = self.host.work / "ledger.py"
        file.write_text("total = 0\n", encoding="utf-8")
        # A fact is in no briefing, so that only the hook of tools tells it.
        self.host.bower("curate", KNOWN_OF_FILE, "--type", "fact")
        self.model.calls[LOOKS] = [self.host.using(file)]
        self.addCleanup(self.model.calls.pop, LOOKS)
        with self.instead("--tools"):
            self.host.agree(hooks=1)
            self.model.forget()
            said = self.host.run(self.host.asking_to_use(LOOKS))
            asked = self.model.turns_asked()
            self.assertEqual((said.status, self.model.trouble), (0, []), said.err)
            self.assertEqual([request.whole.count(KNOWN_OF_FILE) for request in (asked[0], asked[-1])], [0, 1], said.err)

    def test_a_project_brings_the_server_and_the_hooks(self) -> None:
        before = {path: text.encode() for path, text in self.host.project().items()}
        for path, text in before.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            self.addCleanup(path.unlink)
        self.host.trust()
        with self.instead("--project", str(self.host.work)):
            self.host.agree(hooks=4)
            last = self.ask(ASKS)[-1]
            self.assertEqual((last.whole.count(RULE), last.whole.count(FACT)), (1, 1), last.whole)
            self.assertTrue(any("bower" in tool for tool in last.tools + self.host.known(last)), last.tools)
        left = {path: path.read_bytes() for path in self.host.work.rglob("*") if path.is_file()}
        self.assertEqual({path: left[path] for path in before}, before)
        self.assertEqual({path for path, text in left.items() if b"bower" in text}, set())

    @contextmanager
    def instead(self, *options: str) -> Iterator[None]:
        """Set up in another way meanwhile; what its user had is as it was, but for what the host itself wrote."""
        self.host.remove()
        try:
            before = self.host.files()
            self.host.set_up(*options)
            after = self.host.files()
            try:
                yield
                now = self.host.files()
            finally:
                self.host.remove(*options)
            left = self.host.files()
            same = [path for path in before if now[path] == after[path]]
            self.assertEqual({path: left[path] for path in same}, {path: before[path] for path in same})
            self.assertEqual({path for path in left if b"bower" in left[path]}, set())
        finally:
            self.host.set_up()

    def test_what_is_decided_becomes_a_candidate(self) -> None:
        self.ask(DECIDES)
        self.assertEqual(self.candidates().count(DECIDES), 1, self.candidates())

    def test_what_was_decided_is_kept_before_a_compaction(self) -> None:
        # Without what it keeps after an answer: only the hook for the compaction is left to keep it.
        with self.host.deaf_to("stop") as heard:
            self.ask(DECIDES_LATE)
            self.assertNotIn(DECIDES_LATE, self.candidates())
            self.host.compact(ASKS_NOTHING)
            self.assertIn("hook pre-compact", heard.read_text(encoding="utf-8"))
        self.assertEqual(self.candidates().count(DECIDES_LATE), 1, self.candidates())

    def test_a_session_is_told_again_after_a_compaction(self) -> None:
        self.ask(ASKS)
        self.host.compact(ASKS_AGAIN)
        asked = self.model.turns_asked()[-1].whole
        self.assertEqual((asked.count(RULE), asked.count(FACT)), (1, 1), asked)

    def test_keeps_nothing_where_that_is_off(self) -> None:
        self.host.bower("config", "set", "keep_sessions", "off")
        self.addCleanup(self.host.bower, "config", "set", "keep_sessions", "on")
        self.ask(DECIDES_UNHEARD)
        self.assertNotIn(DECIDES_UNHEARD, self.candidates())

    def test_a_broken_store_costs_the_context_alone(self) -> None:
        place = self.store / "memory.db"
        aside = self.store / "aside"
        aside.mkdir()
        for file in self.store.glob("memory.db*"):
            file.rename(aside / file.name)
        try:
            place.write_bytes(b"no store " * 1000)
            asked = self.ask(ASKS)[-1].whole
            self.assertNotIn(FACT, asked)
        finally:
            for file in self.store.glob("memory.db*"):
                file.unlink()
            for file in aside.iterdir():
                file.rename(self.store / file.name)
            aside.rmdir()

    def test_goes_on_where_the_program_is_gone(self) -> None:
        aside = self.host.bower_path.with_name("aside")
        self.host.bower_path.rename(aside)
        self.addCleanup(aside.rename, self.host.bower_path)
        self.assertNotIn(FACT, self.ask(ASKS)[-1].whole)

    def test_removal_leaves_what_was_there(self) -> None:
        # What has run since, and what its host wrote meanwhile, is in the files by now.
        now = self.host.files()
        self.host.remove()
        self.addCleanup(self.host.set_up)
        left = self.host.files()
        for path, text in self.before.items():
            with self.subTest(file=str(path.relative_to(self.host.home))):
                if now.get(path) == self.after.get(path):
                    self.assertEqual(left.get(path), text)
                else:
                    self.assertTrue(self.host.is_theirs(left[path].decode()), left[path].decode())
        self.assertEqual({path for path in left if b"bower" in left[path]}, set())


class ClaudeCode(Drive, unittest.TestCase):
    kind = programs.ClaudeCode


class Codex(Drive, unittest.TestCase):
    kind = programs.Codex


class Gemini(Drive, unittest.TestCase):
    kind = programs.Gemini


class Opencode(Drive, unittest.TestCase):
    kind = programs.Opencode


class Copilot(Drive, unittest.TestCase):
    kind = programs.Copilot
