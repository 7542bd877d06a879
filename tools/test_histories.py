"""The checker of histories: hand-written bad ones are found, good ones pass, and a slow twin that tries every order agrees."""
import argparse
import contextlib
import io
import itertools
import pathlib
import random
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import histories  # noqa: E402
from histories import Op, explain, linearize  # noqa: E402


def keep(start, end, update=None, sure=True):
    return Op(start, end, update, True, sure, 'keep')


def forget(start, end, gone=None, sure=True):
    return Op(start, end, gone, False, sure, 'forget')


def there(start, end):
    return Op(start, end, True, None, True, 'there')


def absent(start, end):
    return Op(start, end, False, None, True, 'absent')


GOOD = {
    'nothing happened': [],
    'kept, read, forgotten, not read': [keep(0, 1, False), there(2, 3), forget(4, 5, True), absent(6, 7)],
    'a read beside a write is either': [keep(0, 9), absent(1, 2), there(3, 4)],
    'a read beside a forget is either': [keep(0, 1), forget(2, 9), there(3, 4), absent(5, 6)],
    'a killed write that was done': [keep(0, 5, sure=False), absent(1, 2), there(6, 7), there(8, 9)],
    'a killed write that was not': [keep(0, 5, sure=False), absent(6, 7), absent(8, 9)],
    'a killed forget that was done': [keep(0, 1), forget(2, 3, sure=False), absent(4, 5), keep(6, 7, False)],
    'two keep at once, one confirms': [keep(0, 3, False), keep(1, 4, True)],
    'two forget at once, one finds nothing': [keep(0, 1), forget(2, 5, True), forget(3, 6, False)],
    'kept again': [keep(0, 1, False), forget(2, 3, True), keep(4, 5, False), there(6, 7)],
}

BAD = {
    'an acknowledged write is lost': [keep(0, 1), absent(2, 3)],
    'an acknowledged write is lost later': [keep(0, 1), there(2, 3), absent(4, 5)],
    'a forgotten one is read': [keep(0, 1), forget(2, 3), there(4, 5)],
    'one that nobody kept is read': [there(0, 1)],
    'a killed write comes and goes': [keep(0, 2, sure=False), there(3, 4), absent(5, 6)],
    'a killed write goes and comes': [keep(0, 2, sure=False), absent(3, 4), there(5, 6)],
    'a killed forget goes and comes': [keep(0, 1), forget(2, 3, sure=False), absent(4, 5), there(6, 7)],
    'a killed write is done twice': [keep(0, 9, sure=False), there(1, 2), forget(3, 4), there(5, 6)],
    'readers disagree on the order': [keep(0, 9), there(1, 2), absent(3, 4)],
    'both of two create': [keep(0, 3, False), keep(1, 4, False)],
    'both of two find it to forget': [keep(0, 1), forget(2, 5, True), forget(3, 6, True)],
    'confirmed, and nobody kept it': [keep(0, 1, True)],
    'forgotten before it was kept': [forget(0, 1, True), keep(2, 3)],
}


def every_order(ops, present=False):
    """The slow twin: whether some order of the sure operations and some of the others is a history."""
    sure = [op for op in ops if op.sure]
    unsure = [op for op in ops if not op.sure]
    for count in range(len(unsure) + 1):
        for some in itertools.combinations(unsure, count):
            for order in itertools.permutations(sure + list(some)):
                state, fits = present, True
                for at, op in enumerate(order):
                    fits = fits and op.needs in (None, state) and all(other.start <= op.end for other in order[:at])
                    state = state if op.leaves is None else op.leaves
                if fits:
                    return True
    return False


def happened(chance, count):
    """Operations as they truly happened at one moment each, seen through intervals around it; some are killed."""
    ops, state = [], False
    for moment in range(count):
        start, end = moment - chance.random() * 3, moment + chance.random() * 3
        kind = chance.choice(['keep', 'forget', 'read'])
        if kind == 'read':
            ops.append(Op(start, end, state, None, True, kind))
            continue
        leaves = kind == 'keep'
        if chance.random() < 0.3:
            ops.append(Op(start, end, None, leaves, False, kind))
            state = leaves if chance.random() < 0.5 else state
        else:
            ops.append(Op(start, end, chance.choice([None, state]), leaves, True, kind))
            state = leaves
    chance.shuffle(ops)
    return ops


class Checker(unittest.TestCase):
    def test_good_histories_pass(self):
        for name, ops in GOOD.items():
            with self.subTest(name):
                order = linearize(ops)
                self.assertIsNotNone(order)
                self.assertTrue(every_order(ops))

    def test_bad_histories_are_found(self):
        for name, ops in BAD.items():
            with self.subTest(name):
                self.assertIsNone(linearize(ops), ops)
                self.assertFalse(every_order(ops))
                self.assertIn(explain(ops).split()[-1], [op.what for op in ops] + ['(killed)'])

    def test_an_order_explains_every_answer(self):
        chance = random.Random(1)
        for _ in range(300):
            ops = happened(chance, 60)
            order, state = linearize(ops), False
            self.assertIsNotNone(order, ops)
            for place, at in enumerate(order):
                self.assertIn(ops[at].needs, (None, state))
                self.assertTrue(all(ops[before].start <= ops[at].end for before in order[:place]))
                state = state if ops[at].leaves is None else ops[at].leaves
            self.assertTrue(all(at in order for at, op in enumerate(ops) if op.sure))

    def test_the_slow_twin_agrees(self):
        chance, found = random.Random(2), [0, 0]
        for _ in range(2_000):
            ops = happened(chance, chance.randint(1, 5))
            if chance.random() < 0.7:
                # One answer is another.
                at = chance.randrange(len(ops))
                op = ops[at]
                ops[at] = Op(op.start, op.end, not op.needs, op.leaves, op.sure, op.what)
            fits = linearize(ops) is not None
            self.assertEqual(fits, every_order(ops), ops)
            found[fits] += 1
        self.assertGreater(min(found), 200, found)

    def test_only_what_nobody_keeps_again_is_forgotten(self):
        self.assertTrue(histories.is_forgotten([keep(0, 1), there(1, 2), forget(3, 4), absent(5, 6)]))
        for ops in ([keep(0, 1)], [absent(0, 1)], [forget(3, 4), keep(5, 6, sure=False)], [keep(0, 4), forget(3, 5)],
                    [keep(0, 1), forget(2, 3, sure=False)]):
            self.assertFalse(histories.is_forgotten(ops), ops)

    def test_the_state_before_counts(self):
        self.assertIsNotNone(linearize([there(0, 1)], present=True))
        self.assertIsNone(linearize([absent(0, 1)], present=True))


# A stand-in for bower with the same routes and commands: one JSON file, written aside and renamed, under one lock. FLAW breaks
# one promise.
STAND_IN = '''#!{python} -SE
import fcntl, hashlib, http.server, itertools, json, os, pathlib, sys, time
FLAW = {flaw!r}
home = pathlib.Path(os.environ['BOWER_HOME'])
class Locked:
    def __enter__(self):
        self.file = open(home / 'lock', 'w')
        fcntl.flock(self.file, fcntl.LOCK_EX)
        try:
            self.items = json.loads((home / 'store.json').read_text())
        except FileNotFoundError:
            self.items = {{}}
        return self.items
    def __exit__(self, *_):
        aside = home / 'aside'
        aside.write_text(json.dumps(self.items))
        os.replace(aside, home / 'store.json')
        self.file.close()
kept = {{}}
def curate(text, tags):
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    with Locked() as items:
        there = key in items
        if FLAW != 'loses' or hash(key) % 7:
            items[key] = {{'id': key, 'content': text, 'tags': tags, 'status': 'active'}}
            kept[key] = items[key]
    return {{'id': key, 'is_update': there, 'outcome': 'confirm' if there else 'create'}}
def forget(key):
    with Locked() as items:
        gone = items.get(key) if FLAW == 'keeps' else items.pop(key, None)
    return gone and {{'forgotten': [key], 'receipt': {{'items': 1}}, 'erased': {{'complete': True}}}}
def get(key):
    with Locked() as items:
        if FLAW == 'stale' and key in kept:
            return {{'memory': kept[key]}}
        if key in items:
            kept[key] = items[key]
        return items.get(key) and {{'memory': items[key]}}
def query(word):
    with Locked() as items:
        return {{'results': [{{'memory': item}} for item in items.values() if word in item['content']]}}
def listed(tag):
    with Locked() as items:
        return {{'memories': [item for item in items.values() if tag in item['tags']]}}
def say(data, command='x'):
    ok = data is not None
    print(json.dumps({{'command': command, 'success': ok, 'data': data or {{'error': 'no item'}}}}), flush=True)
    return 0 if ok else 1
ANSWERS = itertools.count(1)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def answer(self, data):
        if FLAW == 'dies' and next(ANSWERS) == 10:
            os._exit(134)
        body = json.dumps(data or {{'error': 'no item'}}).encode()
        self.send_response(200 if data is not None else 404)
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(get(self.path.rsplit('/', 1)[1]))
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        route = self.path.rsplit('/', 1)[1]
        self.answer({{'curate': lambda: curate(body['content'], body['tags']), 'forget': lambda: forget(body['ids'][0]),
                     'query': lambda: query(body['query']), 'list': lambda: listed(body['tags'][0])}}[route]())
command, words = sys.argv[1], sys.argv[2:]
if command == 'serve':
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    say({{'address': f'http://127.0.0.1:{{server.server_port}}'}}, 'serve')
    server.serve_forever()
sys.exit(say({{'curate': lambda: curate(words[-1], [words[3]]), 'forget': lambda: forget(words[0]),
              'get': lambda: get(words[0]), 'query': lambda: query(words[-1]), 'list': lambda: listed(words[1]),
              'doctor': lambda: {{'checks': []}}}}[command](), command))
'''


class Runner(unittest.TestCase):
    def trial(self, flaw, operations=200, state=None):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / 'bower'
            program.write_text(STAND_IN.format(python=sys.executable, flaw=flaw))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            told, out = [], io.StringIO()
            state = state or pathlib.Path(folder) / 'state'
            arguments = argparse.Namespace(bower=program, operations=operations, seed=3, models=None, state=state)
            with contextlib.redirect_stdout(out):
                code = histories.run(arguments, told.append)
            return code, '\n'.join(told) + out.getvalue()

    def test_a_program_that_keeps_its_promises_passes(self):
        code, told = self.trial('')
        self.assertEqual(code, 0, told)
        self.assertIn('0 violations', told)

    def test_each_broken_promise_is_found(self):
        for flaw, expected in [('loses', 'no order'), ('keeps', 'no order'), ('stale', 'no order'), ('dies', 'ended by itself')]:
            with self.subTest(flaw):
                code, told = self.trial(flaw, 250)
                if code == 0:
                    # Some meet the flaw only where operations overlap, of which a busy machine has fewer.
                    code, told = self.trial(flaw, 2000)
                self.assertEqual(code, 1, told)
                self.assertIn(expected, told)

    def test_no_two_rounds_share_a_number_however_soon_they_follow(self):
        with tempfile.TemporaryDirectory() as folder:
            # The second is of a run that goes on after one that was stopped.
            firsts = [histories.State(pathlib.Path(folder)).numbers(64) for _ in range(2)]
            self.assertGreaterEqual(firsts[1], firsts[0] + 64)

    def test_a_run_that_was_stopped_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            state = pathlib.Path(folder) / 'state'
            code, told = self.trial('', 100, state)
            self.assertEqual(code, 0, told)
            # What was being written when it was stopped is no round.
            (state / 'passed.new').write_text('{"round": 1, "oper', encoding='utf8')
            code, told = self.trial('', 200, state)
            self.assertEqual(code, 0, told)
            self.assertIn('goes on after 1 rounds', told)
            self.assertEqual(len(histories.State(state).rounds), 2)


if __name__ == '__main__':
    unittest.main()
