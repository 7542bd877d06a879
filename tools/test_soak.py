"""The soak's own test: small stand-ins that are run in turn, stopped, found broken and found out."""
import contextlib
import io
import json
import pathlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import soak  # noqa: E402

# Does ten a batch; FLAW says what is wrong with it.
STAND_IN = '''
import json, os, sys, time
FLAW, state, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
assert (os.environ['BOWER_SOAK_STATE'], os.environ['BOWER_SOAK_SEED']) == (state, str(seed))
if FLAW == 'dies':
    print('no such store', file=sys.stderr)
    sys.exit(101)
if FLAW == 'idle':
    sys.exit(0)
line = {'seed': seed, 'next': seed + 10, 'done': 10, 'seconds': 1.5, 'findings': [], 'kills': 3, 'peak_mb': seed}
if FLAW == 'finds' and seed == 20:
    line['findings'] = [{'seed': 23, 'what': 'a memory is gone', 'again': 'x --seed 23'}]
with open(state + '/done.jsonl', 'a') as file:
    file.write(json.dumps(line) + chr(10))
if FLAW == 'hangs':
    print('ready', flush=True)
    time.sleep(600)
if FLAW == 'half':
    open(state + '/done.jsonl', 'a').write('{"seed": 7')
sys.exit(1 if line['findings'] else 0)
'''


class SoakTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'stand_in.py').write_text(STAND_IN)
        (self.folder / 'tests').mkdir()
        for signal_ in (signal.SIGTERM, signal.SIGINT):
            self.addCleanup(signal.signal, signal_, signal.getsignal(signal_))

    def add(self, name, flaw='', goal=30, more=''):
        words = [sys.executable, str(self.folder / 'stand_in.py'), flaw, '{state}', '{seed}']
        (self.folder / f'tests/{name}.toml').write_text(
            f'what = "a stand-in"\nunit = "steps"\ngoal = {goal}\ncommand = {json.dumps(words)}\n{more}')

    def soak(self, *words):
        """The exit code, the table's cells by test, and all that was printed."""
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            code = soak.main(['--state', str(self.folder / 'state'), *words], self.folder / 'tests')
        rows = {line.split()[0]: line.split() for line in out.getvalue().splitlines()[1:]}
        return code, rows, out.getvalue() + error.getvalue()

    def test_each_is_run_in_turn_until_its_goal_and_no_further(self):
        self.add('one')
        self.add('two', goal=20)
        code, rows, text = self.soak()
        self.assertEqual((code, rows['one'][1:3], rows['two'][1:3]), (0, ['30', '30'], ['20', '20']), text)
        turns = [line.split(':')[0] for line in text.splitlines() if 'from seed' in line]
        self.assertEqual(turns, ['one', 'two', 'one', 'two', 'one'])
        # Three batches of three kills; the peak is the last seed.
        self.assertIn('kills 9, peak_mb 20', text)
        self.assertEqual(self.soak()[2].count('from seed'), 0, 'nothing is left to do')
        self.add('one', goal=40)
        self.assertIn('from seed 30', self.soak()[2])

    def test_a_finding_stays_until_it_was_dealt_with(self):
        self.add('one', 'finds', goal=50)
        code, rows, text = self.soak()
        self.assertEqual((code, rows['one'][1], rows['one'][5]), (1, '30', '1'), text)
        self.assertIn('one: {"seed": 23, "what": "a memory is gone", "again": "x --seed 23"}', text)
        self.assertEqual(self.soak('--table')[0], 1)
        self.assertEqual(self.soak()[2].count('from seed'), 0, 'it is not run on over its finding')
        self.assertEqual(self.soak('--mended', 'one')[0], 0)
        code, rows, text = self.soak()
        self.assertEqual((code, rows['one'][1]), (0, '50'), text)
        self.assertIn('1 findings dealt with', text)

    def test_a_test_that_is_broken_fails_the_run(self):
        for flaw, why in [('dies', 'ended with 101 and no finding'), ('idle', 'finished nothing')]:
            self.add('one', flaw)
            code, _, text = self.soak()
            self.assertEqual(code, 1)
            self.assertIn(why, text)
        self.add('one', more='build = ["false"]')
        self.assertIn('cannot be built', self.soak()[2])

    def test_half_a_line_of_a_killed_test_is_passed_over(self):
        self.add('one', 'half', goal=20)
        code, rows, text = self.soak()
        self.assertEqual((code, rows['one'][1]), (0, '20'), text)

    def test_each_runs_for_a_time_whatever_the_goal(self):
        self.add('one', goal=10)
        self.soak()
        code, rows, text = self.soak('--each', '2')
        self.assertEqual((code, rows['one'][1]), (0, '30'), text)
        self.assertIn('from seed 10, 2 s', text)

    def test_one_that_knows_nothing_of_turns_is_run_with_one_seed_after_another(self):
        say = 'import sys; print("seed", sys.argv[1], "of", sys.argv[2]); sys.exit({"7": 1, "3": 3}.get(sys.argv[1], 0))'
        words = json.dumps([sys.executable, '-c', say, '{seed}', '{batch}'])
        path = self.folder / 'tests/one.toml'
        path.write_text(f'what = "x"\nunit = "kills"\ngoal = 1000\nbatch = 20\ncommand = {words}\n')
        code, rows, text = self.soak()
        self.assertEqual(code, 1, text)
        self.assertIn('ended with 3 and no finding', text)
        self.assertIn('seed 3 of 20', text)
        self.assertEqual(rows['one'][1], '60', 'seeds 0, 1 and 2')
        soak.Record(self.folder / 'state/one').append({'seed': 3, 'next': 4, 'done': 0, 'findings': []})
        code, rows, text = self.soak()
        self.assertEqual((code, rows['one'][1], rows['one'][5]), (1, '140', '1'), text)
        self.assertIn('"what": "seed 7 of 20"', text)

    def test_it_is_stopped_with_its_child_and_goes_on(self):
        self.add('one', 'hangs', goal=20)
        run = 'import pathlib, sys, soak; sys.exit(soak.main(sys.argv[2:], pathlib.Path(sys.argv[1])))'
        process = subprocess.Popen(
            [sys.executable, '-c', run, str(self.folder / 'tests'), '--state', str(self.folder / 'state')],
            cwd=pathlib.Path(soak.__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), 'ready\n')
        os.kill(process.pid, signal.SIGTERM)
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, error)
        self.assertIn('stopped by SIGTERM', error)
        self.assertEqual(out.splitlines()[1].split()[:3], ['one', '10', '20'])
        self.add('one', goal=20)
        self.assertIn('from seed 10', self.soak()[2])


if __name__ == '__main__':
    unittest.main()
