#!/usr/bin/env python3
"""Runs many `bower` processes on one home, kills some, and checks that all saw one order of writes, forgets and reads.

    tools/histories.py --bower target/debug/bower [--operations 100000] [--seed 1] [--state DIR] [--models DIR]

Two servers and one-shot commands share a home. Workers keep, forget and read memories through both; servers and commands are
killed with SIGKILL at random moments, and servers started again. Each operation is recorded with its start, its end and its
answer. The record must be linearizable: some order of all operations on a memory explains every answer, and an operation that
ended before another began comes before it in that order. What is checked of each memory, whose id follows from its text:

  keep     acknowledged: it is there; `is_update` says whether it was there before
  forget   acknowledged: it is not there any more; the receipt, or "no item", says whether it was there before
  get, query, list   it was there, or not
  killed   it was done once before its process ended, or never

A round is a few thousand operations on memories of its own. At its end both servers are killed, every memory is read by new
processes (what was killed stays decided), no file holds a word of what was forgotten, and `bower doctor` must find nothing bad. With --state the home and the rounds that
were passed stay in DIR: a run that was stopped goes on with the next round, and looks at some memories of earlier ones too.
Exit 0 when every round was linearizable, 1 otherwise; the history of the memory that was not is printed.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from crash import ROOT, Bower, Lost, answer, last_line, unique_word  # noqa: E402

PATIENCE_S = 60  # an operation that takes longer hangs
GROUP = 8  # memories that share a tag, so that one list reads all of them
ROUND = 2_000  # operations of a round
HOME_ROUNDS = 10  # rounds after which a new home is begun: how long a write takes grows with the home
FOREVER = float('inf')


# ---- the checker

@dataclass(frozen=True)
class Op:
    """One operation on one memory: what it requires of the state before, and what the state is after it.

    `needs` and `leaves` are True for there, False for not there, None for whatever it was. `sure` is False for what was killed:
    it took effect between `start` and `end`, or never.
    """

    start: float
    end: float
    needs: bool | None
    leaves: bool | None
    sure: bool = True
    what: str = ''


def linearize(ops, present=False):
    """An order of the operations that explains every answer, as a list of their places in `ops`, or None.

    `present` is the state at the beginning. Wing and Gong's search with Lowe's memory of what was tried: an operation may come
    next if no other that remains and is sure ended before it began, and it did not end before one that is placed began.
    """
    everything = sum(1 << at for at, op in enumerate(ops) if op.sure)
    seen = set()
    # What is placed, the state, the latest start of what is placed, and the order.
    stack = [(0, present, -FOREVER, ())]
    while stack:
        placed, state, latest, order = stack.pop()
        if placed & everything == everything:
            return list(order)
        if (placed, state) in seen:
            continue
        seen.add((placed, state))
        remaining = [(at, op) for at, op in enumerate(ops) if not placed >> at & 1]
        soonest = min(op.end for _, op in remaining if op.sure)
        nexts = []
        for at, op in remaining:
            if op.start > soonest or op.end < latest or (op.needs is not None and op.needs != state):
                continue
            # What was killed and would change nothing is as if it never was.
            after = state if op.leaves is None else op.leaves
            if not op.sure and after == state:
                continue
            nexts.append((op.end, (placed | 1 << at, after, max(latest, op.start), (*order, at))))
        # The one that ended first is tried first: it is on top of the stack.
        nexts.sort(key=lambda each: -each[0])
        stack.extend(state for _, state in nexts)
    return None


def explain(ops, present=False):
    """The operations up to the first after which no order explains them any more, one a line."""
    by_end = sorted(ops, key=lambda op: op.end)
    for count in range(1, len(by_end) + 1):
        last = by_end[count - 1].end
        # What began before that end may have done something already, and what it answered later is not asked of it.
        begun = [op if op.end <= last else Op(op.start, op.end, None, op.leaves, False, op.what)
                 for op in ops if op.start <= last]
        if linearize(begun, present) is None:
            break
    first = min(op.start for op in ops)
    show = lambda op: (f'  {op.start - first:9.4f} {op.end - first:9.4f}  {op.what}' + ('' if op.sure else '  (killed)'))
    return '\n'.join(map(show, sorted(begun, key=lambda op: op.start)))


def is_forgotten(ops):
    """Whether a memory was forgotten with an answer, and nobody tried to keep it since: not even somebody who was killed."""
    last = max((op.start for op in ops if op.sure and op.leaves is False), default=FOREVER)
    return last < FOREVER and all(op.end < last for op in ops if op.leaves is True)


# ---- what is run

class Server:
    """One life of `bower serve`."""

    def __init__(self, program):
        self.started = time.monotonic()
        self.process = program.start('serve', '--port', '0', '--rate', '0', '--grace', '1s')
        self.dead_at = None
        self.is_killed = False
        self.lock = threading.Lock()
        line = self.process.stdout.readline()
        try:
            self.port = int(json.loads(line)['data']['address'].rsplit(':', 1)[1])
        except (ValueError, KeyError):
            self.process.kill()
            raise Lost(f'a server does not start: {line[:200]!r} {last_line(self.process.stderr.read())}') from None
        self.said = []
        for stream in (self.process.stdout, self.process.stderr):
            threading.Thread(target=self.drain, args=(stream,), daemon=True).start()

    def drain(self, stream):
        with stream:
            for line in stream:
                self.said = [*self.said[-5:], line.decode('utf8', 'replace').strip()]

    def kill(self):
        with self.lock:
            self.is_killed = True
            self.process.kill()
            self.process.wait()
            self.dead_at = self.dead_at or time.monotonic()

    def ended(self):
        """When this life ended, for somebody whose connection broke; None where it goes on. Nobody but us may end it."""
        for _ in range(200):
            if self.process.poll() is not None or self.is_killed:
                break
            time.sleep(0.005)
        else:
            return None
        with self.lock:
            self.dead_at = self.dead_at or time.monotonic()
        if not self.is_killed:
            raise Lost(f'a server ended by itself with {self.process.returncode}: {" | ".join(self.said)}')
        return self.dead_at


class Record:
    """Operations of a round, by memory."""

    def __init__(self):
        self.ops, self.lock, self.count, self.killed = {}, threading.Lock(), 0, 0

    def add(self, key, op):
        with self.lock:
            self.ops.setdefault(key, []).append(op)

    def done(self, killed=False):
        with self.lock:
            self.count += 1
            self.killed += killed


class Memory:
    """A text that is kept and forgotten again and again."""

    def __init__(self, number, group):
        word = lambda at: unique_word((number * 4 + at) * 7_654_321 % 65 ** 4)
        self.word, self.group, self.id = word(0), group, None
        # Of words that no other memory has, so that none is taken for another.
        self.text = f'Remember the {self.word}: {word(1)} {word(2)} {word(3)}'


class Round:
    """One seeded round on a home."""

    def __init__(self, program, seed, first_number, operations, workers=6, servers=2, kill_every_s=0.8):
        self.program, self.chance = program, random.Random(seed)
        self.operations, self.workers, self.kill_every_s = operations, workers, kill_every_s
        self.record = Record()
        groups = [f'g{first_number}-{at}' for at in range(max(2, operations // 250))]
        self.groups = {group: [] for group in groups}
        for at in range(len(groups) * GROUP):
            memory = Memory(first_number + at, groups[at // GROUP])
            self.groups[memory.group].append(memory)
        self.memories = [memory for group in self.groups.values() for memory in group]
        self.servers = [Server(program) for _ in range(servers)]
        self.failure, self.over, self.local = None, threading.Event(), threading.local()
        self.span = 0.05
        self.kills = {'servers': 0, 'commands': 0}

    # -- one operation

    def http(self, method, path, body, server=None, patience=PATIENCE_S):
        """(status, answer, None) of a server, or (None, None, when it ended) where it was killed meanwhile."""
        server = server or self.servers[self.chance.randrange(len(self.servers))]
        connections = self.local.__dict__.setdefault('connections', {})
        for other in [other for other in connections if other.dead_at]:
            connections.pop(other).close()
        kept = connections.get(server)
        for attempt in (1, 2):
            connection = kept or http.client.HTTPConnection('127.0.0.1', server.port, timeout=patience)
            try:
                data = json.dumps(body) if body is not None else None
                connection.request(method, path, data, {'content-type': 'application/json'} if data else {})
                response = connection.getresponse()
                text = response.read()
                connections[server] = connection
                return response.status, json.loads(text), None
            except (OSError, http.client.HTTPException, ValueError) as error:
                connection.close()
                connections.pop(server, None)
                if isinstance(error, TimeoutError):
                    raise Lost(f'{method} {path} hangs: no answer in {patience} s') from None
                ended = server.ended()
                if ended is not None:
                    return None, None, ended
                # A connection at rest may be closed by the server; a fresh one that breaks is a fault.
                if kept is None or attempt == 2:
                    raise Lost(f'{method} {path}: the connection broke and the server lives: {error!r}') from None
                kept = None
        raise AssertionError

    def command(self, *words, may_kill=True):
        """(exit code, answer, None) of a command, or (None, None, when it ended) where it was killed."""
        process = self.program.start(*words)
        kills = may_kill and self.chance.random() < 0.25
        killed = False
        if kills:
            time.sleep(self.chance.random() * self.span * 1.1)
            if process.poll() is None:
                process.kill()
                killed = True
        start = time.monotonic()
        try:
            out, error = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Lost(f'bower {" ".join(words)[:60]} hangs: no answer in {PATIENCE_S} s') from None
        if not kills:
            self.span += ((time.monotonic() - start) - self.span) / 20
        data = answer(out)
        if data is None and killed:
            self.kills['commands'] += 1
            return None, None, time.monotonic()
        if data is None and process.returncode != 1:
            raise Lost(f'bower {" ".join(words)[:60]} failed with {process.returncode}: {last_line(error)} {out[:300]!r}')
        if data is None and b'no item' not in out:
            raise Lost(f'bower {" ".join(words)[:60]} failed: {out[:300]!r}')
        return process.returncode, data, None

    def keep(self, memory, by_command):
        start = time.monotonic()
        if by_command:
            _, data, ended = self.command('curate', '--gate', 'off', '--tags', memory.group, memory.text)
        else:
            body = {'content': memory.text, 'gate': 'off', 'tags': [memory.group]}
            status, data, ended = self.http('POST', '/api/v1/curate', body)
            if ended is None and status != 200:
                raise Lost(f'curate answers {status}: {data}')
        if ended is not None:
            return self.unsure(memory, start, ended, True, 'keep')
        end = time.monotonic()
        if data.get('outcome') not in ('create', 'confirm', 'link') or not data.get('id'):
            raise Lost(f'{memory.text!r} was not kept: {data}')
        if memory.id not in (None, data['id']):
            raise Lost(f'{memory.text!r} had the id {memory.id} and has {data["id"]}')
        memory.id = data['id']
        self.sure(memory, start, end, data['is_update'], True, f'keep: {"confirm" if data["is_update"] else "create"}', by_command)

    def forget(self, memory, by_command):
        start = time.monotonic()
        if by_command:
            _, data, ended = self.command('forget', memory.id, '-y')
            gone = data is not None
        else:
            status, data, ended = self.http('POST', '/api/v1/forget', {'ids': [memory.id]})
            gone = status == 200
            if ended is None and status not in (200, 404):
                raise Lost(f'forget answers {status}: {data}')
        if ended is not None:
            return self.unsure(memory, start, ended, False, 'forget')
        end = time.monotonic()
        if gone and data['forgotten'] not in ([], [memory.id]):
            raise Lost(f'forget of {memory.id} answers {data}')
        # Two at once may both find the item to forget; the receipt says who did.
        gone = gone and data['receipt']['items'] > 0
        self.sure(memory, start, end, gone, False, 'forget: gone' if gone else 'forget: no item', by_command)

    def get(self, memory, by_command, may_kill=True, server=None):
        start = time.monotonic()
        if by_command:
            _, data, ended = self.command('get', memory.id, may_kill=may_kill)
        else:
            status, data, ended = self.http('GET', f'/api/v1/items/{memory.id}', None, server)
            if ended is None and status not in (200, 404):
                raise Lost(f'get answers {status}: {data}')
            data = data if status == 200 else None
        if ended is None:
            # A superseded or archived memory would be another fault: nothing here replaces anything.
            there = data is not None
            if there and (data['memory']['content'] != memory.text or data['memory']['status'] != 'active'):
                raise Lost(f'get {memory.id} gives {data["memory"]}')
            self.sure(memory, start, time.monotonic(), there, None, f'get: {"there" if there else "no item"}', by_command)

    def query(self, memory, by_command, may_kill=True, server=None):
        start = time.monotonic()
        if by_command:
            _, data, ended = self.command('query', '--fast', memory.word, may_kill=may_kill)
        else:
            status, data, ended = self.http('POST', '/api/v1/query', {'query': memory.word, 'fast': True}, server)
            if ended is None and status != 200:
                raise Lost(f'query answers {status}: {data}')
        if ended is None:
            there = any(hit['memory']['content'] == memory.text for hit in data['results'])
            self.sure(memory, start, time.monotonic(), there, None, f'query: {"found" if there else "not found"}', by_command)

    def list(self, group, by_command):
        start = time.monotonic()
        if by_command:
            _, data, ended = self.command('list', '--tag', group, '--limit', '50')
        else:
            status, data, ended = self.http('POST', '/api/v1/list', {'tags': [group], 'limit': 50})
            if ended is None and status != 200:
                raise Lost(f'list answers {status}: {data}')
        if ended is None:
            end, listed = time.monotonic(), {item['content'] for item in data['memories']}
            for memory in self.groups[group]:
                there = memory.text in listed
                self.sure(memory, start, end, there, None, f'list: {"there" if there else "not there"}', by_command)

    def sure(self, memory, start, end, needs, leaves, what, by_command):
        self.record.add(memory, Op(start, end, needs, leaves, True, what + (' by a command' if by_command else '')))

    def unsure(self, memory, start, ended, leaves, what):
        if start < ended:  # Else it met a server that had ended before.
            self.record.add(memory, Op(start, ended, None, leaves, False, what))
        return True

    # -- all of them

    def step(self):
        by_command = self.chance.random() < 0.1
        memory = self.chance.choice(self.memories)
        action = self.chance.choices(['keep', 'forget', 'get', 'query', 'list'], [5, 3, 4, 4, 1])[0]
        if action == 'list':
            killed = self.list(memory.group, by_command)
        elif action in ('forget', 'get') and memory.id is None:
            killed = self.keep(memory, by_command)
        else:
            killed = getattr(self, action)(memory, by_command)
        self.record.done(bool(killed))

    def work(self):
        try:
            while not self.over.is_set() and self.record.count < self.operations:
                self.step()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the round failed
            self.failure = self.failure or error
            self.over.set()

    def restart(self, at):
        old = self.servers[at]
        old.kill()
        self.kills['servers'] += 1
        self.servers[at] = Server(self.program)

    def run(self):
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                self.over.wait(self.chance.random() * 2 * self.kill_every_s)
                if any(thread.is_alive() for thread in threads) and not self.over.is_set():
                    self.restart(self.chance.randrange(len(self.servers)))
            for thread in threads:
                thread.join(PATIENCE_S)
            if self.failure:
                raise self.failure
            self.end()
        finally:
            for server in self.servers:
                server.kill()
        return self.check()

    def end(self):
        """Everything is read by processes that were not there: what was killed is decided, and stays so."""
        for at in range(len(self.servers)):
            self.restart(at)
        for memory in self.memories:
            for server in self.servers:
                self.query(memory, False, server=server)
                if memory.id is not None:
                    self.get(memory, False, server=server)
        for memory in self.chance.sample(self.memories, 2):
            self.query(memory, True, may_kill=False)
        forgotten = [memory for memory, ops in self.record.ops.items() if is_forgotten(ops)]
        for memory in self.chance.sample(forgotten, min(2, len(forgotten))):
            self.erased(memory)

    def erased(self, memory):
        """No file holds a word of what was forgotten, or will soon: whoever is busy is waited for."""
        for _ in range(20):
            code, data, error = self.program.run('doctor', '--residue', memory.word)
            if code == 0:
                return
            if code != 1:
                raise Lost(f'bower doctor --residue failed with {code}: {error}')
            time.sleep(0.5)
        raise Lost(f'{memory.word} was forgotten and still stands in files: {json.dumps(data)[:600]}')

    def check(self):
        """What each memory is at the end, by word; raises where no order explains its answers."""
        settled = {}
        for memory, ops in self.record.ops.items():
            order = linearize(ops)
            if order is None:
                raise Lost(f'no order of these explains what was answered of {memory.word} ({memory.id}):\n{explain(ops)}')
            state = False
            for at in order:
                state = state if ops[at].leaves is None else ops[at].leaves
            settled[memory.word] = state
        return settled


def doctor(program):
    code, data, error = program.run('doctor')
    if code != 0 or data is None or '"bad"' in json.dumps(data):
        raise Lost(f'bower doctor is not happy ({code}): {json.dumps(data)} {error}')


def recheck(program, settled, chance):
    """Some memories of earlier rounds are as they were left."""
    for word in chance.sample(sorted(settled), min(10, len(settled))):
        data = program.must('query', '--fast', word)
        there = any(word in hit['memory']['content'] for hit in data['results'])
        if there != settled[word]:
            raise Lost(f'{word} was {"there" if settled[word] else "not there"} at the end of its round, and is '
                       f'{"there" if there else "not there"} now')


class State:
    """What a run has passed, in a folder, so that it goes on where it was stopped."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / 'passed.jsonl'
        self.rounds = []
        if self.file.exists():
            self.rounds = [json.loads(line) for line in self.file.read_text(encoding='utf8').splitlines()]
        self.operations = sum(each['operations'] for each in self.rounds)

    def numbers(self, count):
        """The first of so many numbers for memories that no round has had, not even one that was stopped and left its own behind."""
        file = self.folder / 'numbers'
        first = int(file.read_text(encoding='utf8')) if file.exists() else 0
        aside = file.with_suffix('.new')
        aside.write_text(str(first + count), encoding='utf8')
        aside.replace(file)
        return first

    def home(self):
        """The home of the next round, and what earlier rounds left in it."""
        number = len(self.rounds) // HOME_ROUNDS
        rounds = self.rounds[number * HOME_ROUNDS:]
        home = self.folder / f'home-{number}'
        for old in self.folder.glob('home-*'):
            # Of a home whose last round was stopped, what that round left is not known.
            if old != home or not rounds:
                shutil.rmtree(old, ignore_errors=True)
        home.mkdir(exist_ok=True)
        return home, {word: there for each in rounds for word, there in each['settled'].items()}

    def passed(self, done):
        self.rounds.append(done)
        self.operations += done['operations']
        aside = self.file.with_suffix('.new')
        with aside.open('w', encoding='utf8') as out:
            out.writelines(json.dumps(each) + '\n' for each in self.rounds)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(self.file)


def run(arguments, tell=lambda line: print(line, file=sys.stderr, flush=True)):
    folder = arguments.state or pathlib.Path(tempfile.mkdtemp(prefix='bower-histories-'))
    state, start, failed, began = State(folder), time.monotonic(), False, 0
    if state.rounds:
        tell(f'goes on after {len(state.rounds)} rounds, {state.operations} operations')
        began = state.operations
    try:
        while state.operations < arguments.operations:
            number = len(state.rounds)
            home, settled = state.home()
            models = home / 'models'
            if arguments.models and arguments.models.is_dir() and not models.exists():
                models.symlink_to(arguments.models.resolve())
            program = Bower(arguments.bower.resolve(), home)
            program.environment |= {} if arguments.models else {'BOWER_MODEL': 'none'}
            chance = random.Random(arguments.seed * 1_000_003 + number)
            recheck(program, settled, chance)
            operations = min(ROUND, arguments.operations - state.operations)
            once = Round(program, chance.random(), state.numbers(ROUND), operations)
            left = once.run()
            doctor(program)
            state.passed({'round': number, 'operations': once.record.count, 'killed': once.record.killed, **once.kills,
                          'seconds': round(time.monotonic() - start, 1), 'settled': left})
            tell(f'round {number}: {once.record.count} operations, {once.record.killed} cut short, killed {once.kills["servers"]} '
                 f'servers and {once.kills["commands"]} commands; {state.operations} in all, {time.monotonic() - start:.0f} s')
    except Lost as reason:
        failed = True
        tell(f'round {len(state.rounds)}, seed {arguments.seed}: {reason}')
    total = lambda name: sum(each[name] for each in state.rounds)
    print(f'{state.operations} operations in {len(state.rounds)} rounds, {total("killed")} cut short, {total("servers")} servers and '
          f'{total("commands")} commands killed, {int(failed)} violations ({state.operations - began} in this run, '
          f'{time.monotonic() - start:.0f} s)')
    if failed:
        tell(f'the home is in {folder}')
    elif not arguments.state:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--bower', type=pathlib.Path, required=True, help='the program')
    parser.add_argument('--operations', type=int, default=100_000, help='how many operations in all (100,000)')
    parser.add_argument('--seed', type=int, default=1, help='what is done in which round (1)')
    parser.add_argument('--state', type=pathlib.Path, help='a folder for what was passed: a run that was stopped goes on')
    parser.add_argument('--models', type=pathlib.Path, help='a folder of models; without one, words alone')
    arguments = parser.parse_args()
    if not arguments.bower.is_file():
        parser.error(f'no program at {arguments.bower}; build it with cargo build -p bower')
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(run(arguments))


if __name__ == '__main__':
    main()
