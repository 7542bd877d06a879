"""The crash test's own test: a small stand-in that keeps everything passes, one that forgets is found out."""
import argparse
import contextlib
import io
import json
import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import crash  # noqa: E402

# A stand-in for bower: one JSON file a store, written aside and renamed. FLAW makes it break one promise.
STAND_IN = '''#!{python} -SE
import fcntl, hashlib, json, os, pathlib, sys, time
FLAW = {flaw!r}
home = pathlib.Path(os.environ['BOWER_HOME'])
def load():
    try:
        return json.loads((home / 'store.json').read_text())
    except FileNotFoundError:
        return {{}}
def save(items):
    aside = home / f'store.{{os.getpid()}}'
    aside.write_text(json.dumps(items))
    os.replace(aside, home / 'store.json')
def say(data):
    print(json.dumps({{'command': sys.argv[1], 'success': True, 'data': data}}), flush=True)
def key(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]
command, words = sys.argv[1], sys.argv[2:]
if command in ('curate', 'index'):
    lock = open(home / 'lock', 'w')
    fcntl.flock(lock, fcntl.LOCK_EX)
    items = load()
    time.sleep(.03)
    if command == 'curate':
        if FLAW == 'early':
            say({{'id': key(words[0])}})
            time.sleep(.05)
        items[key(words[0])] = words[0]
        if FLAW == 'forgets' and len(items) > 12:
            del items[sorted(items)[0]]
        save(items)
        if FLAW != 'early':
            say({{'id': key(words[0])}})
    else:
        notes = [path.read_text() for path in sorted(pathlib.Path(words[0]).iterdir())]
        items = {{id: text for id, text in items.items() if not text.startswith('# Note')}} if FLAW != 'keeps' else items
        items |= {{key(text): text for text in notes}}
        save(items)
        say({{'files': len(notes)}})
    time.sleep(.02)
'''


class StandIn(crash.Bower):
    """Its writers are processes that can be killed; what only reads is answered here, to save the time."""

    flaw = ''

    def run(self, command, *words, compact_after=None):
        if command in ('curate', 'index'):
            return super().run(command, *words, compact_after=compact_after)
        items = json.loads((pathlib.Path(self.environment['BOWER_HOME']) / 'store.json').read_text())
        match command:
            case 'query':
                found = [{'id': id, 'content': text} for id, text in items.items() if words[0] in text]
                return 0, {'results': [{'memory': memory} for memory in found]}, ''
            case 'get':
                return 0, {'memory': items[words[0]]}, ''
            case 'list':
                # Of what is archived, and of what is not.
                return 0, {'total': 1 if self.flaw == 'halves' else 0, 'memories': []}, ''
            case 'doctor':
                return 0, {'checks': [{'outcome': 'bad' if self.flaw == 'sick' else 'good'}]}, ''
        return 0, {'text_tail': 500 if self.flaw == 'stuck' else 0}, ''


class CrashTest(unittest.TestCase):
    def trial(self, flaw, kills):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / 'bower'
            program.write_text(STAND_IN.format(python=sys.executable, flaw=flaw))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            told = []
            arguments = argparse.Namespace(bower=program, kills=kills, seed=3, models=None, keep=False)
            StandIn.flaw = flaw
            with contextlib.redirect_stdout(io.StringIO()):
                code = crash.run(arguments, told.append, StandIn)
            return code, '\n'.join(told)

    def test_a_program_that_keeps_everything_passes(self):
        code, told = self.trial('', 5)
        self.assertEqual(code, 0, told)

    def test_each_broken_promise_is_found(self):
        for flaw, expected in [('forgets', 'does not find'), ('early', 'does not find'), ('keeps', 'was removed'),
                               ('sick', 'doctor'), ('stuck', 'do not compact'), ('halves', 'others are not')]:
            with self.subTest(flaw):
                # On a busy machine most processes are killed before they have written anything, so more kills are needed.
                for kills in [2] if flaw == 'stuck' else [40, 80, 160]:
                    code, told = self.trial(flaw, kills)
                    if code == 1:
                        break
                self.assertEqual(code, 1, told)
                self.assertIn(expected, told)

    def test_no_word_comes_twice(self):
        trial = crash.Trial(None, pathlib.Path(), pathlib.Path(), 1)
        words = [trial.fresh_word() for _ in range(20_000)]
        self.assertEqual(len(set(words)), len(words))


if __name__ == '__main__':
    unittest.main()
