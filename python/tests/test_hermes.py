"""The providers in the real host: Hermes' own loader and MemoryManager, a real `bower`, a real store.

Run by `scripts/hermes.sh`, which installs the host. BOWER names the program; BOWER_MODELS_FOLDER its models.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BOWER = os.environ["BOWER"]
SOURCE = Path(__file__).resolve().parents[1] / "bowerbird" / "hermes"

# What the user says in each turn but the third, the fortieth and the one before: a working day, no word of which asks for what the
# third turn told.
CHATTER = [
    "Good morning, let's look at the failing import job today.",
    "The log says the parser stopped at row 4,120 of the customer file.",
    "Can you check whether that row has an unescaped quote?",
    "Right, let's write a test with that row before we touch the parser.",
    "Now make the parser accept doubled quotes as the standard says.",
    "Please run the whole suite once more.",
    "One test is slow, which one is it?",
    "Leave it, we will split it later.",
    "Next: the invoice page shows prices without thousands separators.",
    "Use the locale of the customer, not of the server.",
    "What does the formatter do with negative amounts?",
    "Fine. Add a snapshot of a credit note.",
    "The designer wants the total in bold.",
    "And the due date in red once it has passed.",
    "Is there a helper for dates in the past already?",
    "Good, use that one.",
    "Let me know when the build is through.",
    "While we wait: the onboarding mail has a typo in the second line.",
    "It says recieve, it should say receive.",
    "Also the unsubscribe link lacks the language parameter.",
    "Check the other mails for the same mistake.",
    "How many were wrong?",
    "Then send me the list.",
    "I would like the search box to keep its text when one goes back.",
    "Session storage is enough for that.",
    "Does it work in a private window too?",
    "The accessibility report complains about contrast on the side bar.",
    "Try the darker grey of the palette.",
    "Compare both in a screenshot.",
    "The second one is better.",
    "Merge it when the review is in.",
    "Who could review it apart from Mona?",
    "Ask Priya then.",
    "In the meantime update the changelog.",
    "Put the newest entry on top.",
]


def hermes_home(folder: Path, provider: str) -> Path:
    """A home as `bower setup hermes` leaves it."""
    home = folder / "hermes"
    (home / "plugins").mkdir(parents=True)
    if provider == "bowerbird":
        shutil.copytree(SOURCE, home / "plugins" / "bowerbird", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "config.yaml").write_text(f"memory:\n  provider: {provider}\n", encoding="utf-8")
    return home


class Host(unittest.TestCase):
    """A Hermes home and a Bowerbird home of their own."""

    provider_name = "bowerbird"

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bower-hermes-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = hermes_home(self.folder, self.provider_name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        (self.bin / "bower").symlink_to(BOWER)
        (self.bin / "brv").symlink_to(BOWER)
        changed = {
            "HERMES_HOME": str(self.home),
            "BOWER_HOME": str(self.folder / "bower"),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
        }
        before = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)

        def restore() -> None:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

        self.addCleanup(restore)
        # The host caches modules and paths between sessions; a test is a process of its own as far as they go.
        for name in [name for name in sys.modules if "bowerbird" in name or "byterover" in name]:
            del sys.modules[name]

    def manager(self, **kwargs: object):
        """The host's manager with the provider that its own loader found."""
        from agent.memory_manager import MemoryManager
        from plugins.memory import load_memory_provider

        provider = load_memory_provider(self.provider_name)
        self.assertIsNotNone(provider, "the host's loader does not find the provider")
        manager = MemoryManager()
        manager.add_provider(provider)
        told = {"session_id": "s-1", "hermes_home": str(self.home), "platform": "cli", "agent_context": "primary", **kwargs}
        manager.initialize_all(**told)
        self.addCleanup(manager.shutdown_all)
        return manager, provider

    def bower(self, *arguments: str) -> dict:
        """What the program itself says."""
        run = subprocess.run([BOWER, *arguments, "--format", "json"], capture_output=True, check=True)
        return json.loads(run.stdout)["data"]


class Bowerbird(Host):
    """Our own provider."""

    def test_fifty_turns(self) -> None:
        manager, provider = self.manager()
        wait_for(lambda: provider._child.pid is not None)
        given, slow, empty_after_kill = [], [], None
        chatter = iter(CHATTER * 2)
        for number in range(1, 51):
            if number == 3:
                said = "By the way: the staging database of Falcon listens on port 6543, and Mona owns the nightly export job."
            elif number == 39:
                said = "Let us move on to the staging environment."
            elif number == 40:
                said = "Which port does Falcon's staging database listen on, and who owns the nightly export job?"
            else:
                said = next(chatter)
            if number == 25:
                os.kill(provider._child.pid, signal.SIGKILL)
            manager.on_turn_start(number, said)
            start = time.monotonic()
            context = manager.prefetch_all(said, session_id="s-1")
            slow.append(time.monotonic() - start)
            if number == 26:
                empty_after_kill = provider._child.pid
            if number == 40:
                self.assertIn("6543", context)
                self.assertIn("Mona owns the nightly export job", context)
            self.assertNotIn("memory-context", context)
            given.extend(line for line in context.splitlines() if len(line) > 30 and not line.startswith(("#", "(")))
            manager.sync_all(said, f"Understood, that was step {number}.", session_id="s-1")
            self.assertTrue(manager.flush_pending(timeout=10))
        self.assertEqual(sorted(given), sorted(set(given)), "something was given twice")
        self.assertIsNotNone(empty_after_kill, "a killed child is replaced by the next turn")
        slow.sort()
        print(f"\nprefetch of 50 turns: p50 {slow[25] * 1e3:.0f} ms, worst {slow[-1] * 1e3:.0f} ms", file=sys.stderr)
        self.assertLess(slow[45], 0.5)
        # What was ruled in the conversation became a candidate that a person can look through.
        kept = [item["content"] for item in self.bower("list", "--kind", "memory", "--limit", "50")["memories"]]
        self.assertIn("Use the locale of the customer, not of the server.", kept)

    def test_the_next_session_knows_what_the_last_one_said(self) -> None:
        manager, _ = self.manager()
        manager.sync_all("We decided to release on Thursdays from now on.", "Noted.", session_id="s-1")
        self.assertTrue(manager.flush_pending(timeout=10))
        manager.shutdown_all()
        manager, _ = self.manager(session_id="s-2")
        context = manager.prefetch_all("On which day of the week do we release?", session_id="s-2")
        self.assertIn("release on Thursdays", context)

    def test_tools_do_what_they_say(self) -> None:
        manager, _ = self.manager()
        names = {schema["name"] for schema in manager.get_all_tool_schemas()}
        self.assertEqual(names, {"memory_search", "memory_store", "memory_feedback", "memory_forget"})
        stored = json.loads(manager.handle_tool_call("memory_store", {"content": "The API gateway times out after 30 s"}))
        self.assertIn("result", stored)
        found = json.loads(manager.handle_tool_call("memory_search", {"query": "when does the API gateway time out?"}))
        self.assertIn("30 s", found["result"])
        wrong = json.loads(manager.handle_tool_call("memory_feedback", {"id": "ffffffffffff", "verdict": "wrong"}))
        self.assertIn("ffffffffffff", wrong["error"])
        (item,) = self.bower("list")["memories"]
        json.loads(manager.handle_tool_call("memory_forget", {"ids": [item["id"]]}))
        self.assertEqual(self.bower("list")["total"], 0)

    def test_the_hosts_own_memory_is_mirrored(self) -> None:
        manager, _ = self.manager()
        manager.on_memory_write("add", "user", "Prefers answers in German", {})
        manager.on_memory_write("add", "memory", "The printer is on the second floor", {})
        self.assertEqual(self.bower("list")["total"], 2)
        manager.on_memory_write("replace", "memory", "The printer is in the basement", {"old_text": "second floor"})
        texts = {item["content"] for item in self.bower("list")["memories"]}
        self.assertEqual(texts, {"Prefers answers in German", "The printer is in the basement"})
        manager.on_memory_write("remove", "user", "", {"old_text": "answers in German"})
        self.assertEqual(self.bower("list")["total"], 1)

    def test_only_the_primary_agent_writes(self) -> None:
        manager, _ = self.manager(agent_context="subagent")
        manager.sync_all("We decided to use port 9000 for the proxy.", "Noted.", session_id="s-1")
        manager.flush_pending(timeout=10)
        manager.on_memory_write("add", "memory", "The proxy uses port 9000", {})
        self.assertIn("error", json.loads(manager.handle_tool_call("memory_store", {"content": "The proxy uses port 9000"})))
        self.assertEqual(self.bower("list")["total"], 0)

    def test_two_users_of_a_gateway_know_nothing_of_each_other(self) -> None:
        manager, _ = self.manager(platform="telegram", user_id="ann")
        manager.handle_tool_call("memory_store", {"content": "The shelf of the cellar is number 4471"})
        manager.shutdown_all()
        manager, _ = self.manager(platform="telegram", user_id="bob", session_id="s-2")
        question = "Which shelf is in the cellar?"
        self.assertNotIn("4471", manager.prefetch_all(question, session_id="s-2"))
        self.assertNotIn("4471", manager.handle_tool_call("memory_search", {"query": question}))
        manager.shutdown_all()
        manager, _ = self.manager(platform="telegram", user_id="ann", session_id="s-3")
        self.assertIn("4471", manager.prefetch_all(question, session_id="s-3"))

    def test_without_a_child_each_question_runs_the_program(self) -> None:
        self.bower("curate", "The backup of Falcon runs at two in the morning")
        manager, provider = self.manager()
        provider._child._command = ["/bin/false"]
        provider._child.close()
        from _hermes_user_memory.bowerbird.child import Child

        provider._child = Child(["/bin/false"])
        self.assertIn("two in the morning", manager.prefetch_all("When does the backup of Falcon run?", session_id="s-1"))
        found = json.loads(manager.handle_tool_call("memory_search", {"query": "when does the backup of Falcon run?"}))
        self.assertIn("two in the morning", json.dumps(found["result"]))
        told = {"content": "The restore of Falcon takes one hour", "tags": ["falcon", "ops"]}
        self.assertIn("result", json.loads(manager.handle_tool_call("memory_store", told)))
        (kept,) = self.bower("list", "--tag", "ops")["memories"]
        self.assertEqual((kept["tags"], kept["source_conv_id"]), (["falcon", "ops"], "s-1"))

    def test_a_broken_store_breaks_no_turn(self) -> None:
        home = Path(os.environ["BOWER_HOME"])
        home.mkdir()
        (home / "memory.db").write_text("this is not a database, and it is long enough to be looked at", encoding="utf-8")
        manager, _ = self.manager()
        self.assertEqual(manager.prefetch_all("Which port does the database use?", session_id="s-1"), "")
        manager.sync_all("The database uses port 6543.", "Noted.", session_id="s-1")
        self.assertTrue(manager.flush_pending(timeout=10))
        answer = json.loads(manager.handle_tool_call("memory_store", {"content": "The database uses port 6543"}))
        self.assertIn("memory.db", answer["error"])

    def test_settings_are_kept_where_the_host_looks(self) -> None:
        _, provider = self.manager()
        provider.save_config({"budget_tokens": "400", "unknown": "x"}, str(self.home))
        self.assertEqual(json.loads((self.home / "bowerbird" / "config.json").read_text()), {"budget_tokens": "400"})
        self.assertEqual({field["key"] for field in provider.get_config_schema()} & {"budget_tokens"}, {"budget_tokens"})
        self.assertTrue(all(path.startswith(os.environ["BOWER_HOME"]) for path in provider.backup_paths()))


class Byterover(Host):
    """The host's own plugin for ByteRover, unmodified, with `brv` from the path."""

    provider_name = "byterover"

    def test_the_bundled_plugin_runs_on_bowerbird(self) -> None:
        import plugins.memory.byterover as byterover

        byterover._cached_brv_path = None
        manager, provider = self.manager()
        self.assertTrue(provider.is_available())
        answer = json.loads(manager.handle_tool_call("brv_curate", {"content": "The staging database listens on port 6543"}))
        self.assertEqual(answer, {"result": "Memory curated successfully."})
        self.assertIn("6543", json.loads(manager.handle_tool_call("brv_query", {"query": "staging database port"}))["result"])
        context = manager.prefetch_all("Which port does the staging database listen on?", session_id="s-1")
        self.assertIn("6543", context)
        self.assertEqual(manager.prefetch_all("Who painted the ceiling of the old theatre?", session_id="s-1"), "")
        refused = json.loads(manager.handle_tool_call("brv_curate", {"content": "ok thanks"}))
        self.assertIn("not kept", refused["error"])
        manager.sync_all("From now on we release on Thursdays.", "Understood: Thursdays.", session_id="s-1")
        manager.flush_pending(timeout=10)
        provider.shutdown()
        self.assertIn("Thursdays", manager.prefetch_all("On which day do we release now?", session_id="s-1"))
        status = json.loads(manager.handle_tool_call("brv_status", {}))["status"]
        self.assertIn(str(self.home / "byterover"), status)


def wait_for(ready) -> None:
    """Until something is so, ten seconds at most."""
    end = time.monotonic() + 10
    while not ready():
        if time.monotonic() > end:
            raise AssertionError("it took too long")
        time.sleep(0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
