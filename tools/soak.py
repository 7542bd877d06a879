#!/usr/bin/env python3
"""Runs every long test in turn, remembers what has been run, and fails on any finding. Stop it whenever you like.

    tools/soak.py [--state DIR] [--only NAME,NAME] [--each SECONDS] [--total SECONDS] [--table] [--mended NAME]

Each long test is described by a file `tools/soak/NAME.toml`:

    what    = "one line of plain words"
    unit    = "mutations"     what it counts
    goal    = 10000           how many are wanted in all
    seconds = 600             how long it runs before it is another's turn (600 where it is left out)
    build   = ["make", "x"]   run once before the first turn; may be left out
    command = ["tools/x.py", "--state", "{state}", "--seconds", "{seconds}", "--seed", "{seed}"]

or, for a test that does so many for a seed and knows nothing of turns (it ends with 0, or with 1 after a finding):

    batch   = 20              how many it does at once; soak.py runs it with one seed after another and writes the lines
    command = ["tools/x.py", "--count", "{batch}", "--seed", "{seed}"]

Any other test starts at its seed, goes on with the next ones, ends by itself after so many seconds, and appends a line of JSON to
`done.jsonl` in its state folder for each batch: {"seed": 40, "next": 50, "done": 10, "seconds": 12.5, "findings": []}. Other
numbers in a line are added up in the table; of those that begin with `peak_` the greatest is shown. It ends with 0, with 1
after a finding, and with anything else when it is broken itself. The three values are also in its environment, as
BOWER_SOAK_STATE, BOWER_SOAK_SECONDS and BOWER_SOAK_SEED.

Without --each, tests take turns until each has reached its goal; with it, each runs for so many seconds more. A finding stays in the
table, and makes every later run fail, until `--mended NAME` says that it was dealt with. What a test leaves is in its state folder,
below $BOWER_CACHE/soak or ~/.cache/bowerbird/soak.
"""
import argparse
import contextlib
import dataclasses
import datetime
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURN_S = 600
GRACE_S = 120  # how long after its time a test may take to finish its batch
LAST_LINES = 12  # of what a test printed, kept with its finding
PARTS = {'seed', 'next', 'done', 'seconds', 'findings'}  # of a line; other numbers are the test's own


@dataclasses.dataclass
class Harness:
    """A long test as its file describes it."""

    name: str
    what: str
    unit: str
    goal: int
    command: list
    seconds: int = TURN_S
    build: list = None
    batch: int = None

    @classmethod
    def load(cls, path):
        try:
            harness = cls(name=path.stem, **tomllib.loads(path.read_text('utf8')))
        except (tomllib.TOMLDecodeError, TypeError) as error:
            sys.exit(f'{path}: {error}')
        if harness.goal <= 0 or harness.seconds <= 0 or not harness.command:
            sys.exit(f'{path}: goal, seconds and command must say something')
        return harness


class Record:
    """What has been run of one test: the lines of its `done.jsonl`."""

    def __init__(self, folder):
        self.folder, self.path = folder, folder / 'done.jsonl'
        self.read()

    def read(self):
        self.done, self.seconds, self.next, self.turns = 0, 0.0, 0, 0
        self.findings, self.mended, self.figures = [], 0, {}
        text = self.path.read_text('utf8', 'replace') if self.path.exists() else ''
        for line in text.splitlines():
            # The last line of a test that was killed may be half a line: its batch is run again.
            with contextlib.suppress(ValueError):
                self.take(json.loads(line))

    def take(self, line):
        if 'turn' in line:
            self.turns += 1
        if 'mended' in line:
            self.mended += len(self.findings)
            self.findings = []
        if 'done' not in line:
            return
        self.done += line['done']
        self.seconds += line.get('seconds', 0)
        self.next = max(self.next, line.get('next', 0))
        self.findings += line.get('findings', [])
        for name, value in line.items():
            if name in PARTS or isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            before = self.figures.get(name, 0)
            self.figures[name] = max(before, value) if name.startswith('peak_') else before + value

    def append(self, line):
        self.folder.mkdir(parents=True, exist_ok=True)
        half = self.path.exists() and self.path.stat().st_size > 0 and self.path.read_bytes()[-1:] != b'\n'
        with self.path.open('a', encoding='utf8') as file:
            file.write(('\n' if half else '') + json.dumps(line) + '\n')


class Stopped(Exception):
    """Somebody asked for an end."""


class Soak:
    """One run of this program."""

    def __init__(self, harnesses, state, each, total, tell):
        self.harnesses, self.state, self.each, self.tell = harnesses, state, each, tell
        self.ends = time.monotonic() + total if total else None
        self.records = {one.name: Record(state / one.name) for one in harnesses}
        self.spent = dict.fromkeys(self.records, 0.0)
        self.built, self.broken = set(), {}
        self.child = None

    def run(self):
        while (harness := self.choose()) is not None:
            self.turn(harness)

    def choose(self):
        """The test that has done least of what is wanted of it; None when nothing is left to do."""
        if self.ends is not None and time.monotonic() >= self.ends:
            return None
        wanted = {one.name: self.share(one) for one in self.harnesses}
        open_ones = [one for one in self.harnesses if wanted[one.name] < 1 and one.name not in self.broken
                     and not self.records[one.name].findings]
        return min(open_ones, key=lambda one: wanted[one.name], default=None)

    def share(self, harness):
        if self.each:
            return self.spent[harness.name] / self.each
        return self.records[harness.name].done / harness.goal

    def turn(self, harness):
        record = self.records[harness.name]
        if harness.build and harness.name not in self.built:
            self.tell(f'{harness.name}: building')
            if self.call(harness.build, dict(os.environ), None) != 0:
                self.broken[harness.name] = 'cannot be built'
                return
            self.built.add(harness.name)
        seconds = harness.seconds
        if self.each:
            seconds = min(seconds, self.each - self.spent[harness.name])
        if self.ends is not None:
            seconds = min(seconds, self.ends - time.monotonic())
        seconds = max(1, round(seconds))
        record.append({'turn': datetime.datetime.now(datetime.timezone.utc).isoformat(timespec='seconds'),
                       'commit': commit(), 'seed': record.next})
        values = {'state': str(record.folder), 'seconds': str(seconds), 'seed': str(record.next)}
        words = fill(harness.command, values)
        environment = os.environ | {f'BOWER_SOAK_{name.upper()}': value for name, value in values.items()}
        self.tell(f'{harness.name}: {record.done:,} of {harness.goal:,} {harness.unit}, from seed {record.next}, {seconds} s')
        before, start = record.done, time.monotonic()
        if harness.batch:
            code = self.batches(harness, record, environment, start + seconds)
        else:
            code = self.call(words, environment, seconds + GRACE_S)
        self.spent[harness.name] += max(time.monotonic() - start, 1)
        record.read()
        if code is None:
            self.broken[harness.name] = f'did not end {GRACE_S} s after its time'
        elif code not in (0, 1) or (code == 1 and not record.findings):
            self.broken[harness.name] = f'ended with {code} and no finding'
        elif record.done == before and not record.findings:
            self.broken[harness.name] = f'finished nothing in {seconds} s'
        for finding in record.findings:
            self.tell(f'{harness.name}: FINDING {json.dumps(finding)}')

    def batches(self, harness, record, environment, ends):
        """Runs a test that knows nothing of turns, with one seed after another, and writes a line for each."""
        seed, code = record.next, 0
        while code == 0 and time.monotonic() < ends:
            start, log = time.monotonic(), record.folder / 'last.log'
            words = fill(harness.command, {'batch': harness.batch, 'seed': seed, 'state': record.folder})
            with log.open('wb') as out:
                code = self.call(words, environment | {'BOWER_SOAK_SEED': str(seed)}, GRACE_S + TURN_S, out)
            last = log.read_text('utf8', 'replace').strip().splitlines()[-LAST_LINES:]
            if code not in (0, 1):
                self.tell('\n'.join(last))
                return code
            findings = [{'seed': seed, 'what': '\n'.join(last), 'again': ' '.join(words)}] if code == 1 else []
            record.append({'seed': seed, 'next': seed + 1, 'done': harness.batch,
                           'seconds': round(time.monotonic() - start, 1), 'findings': findings})
            seed += 1
        return code

    def call(self, words, environment, limit, out=None):
        """Runs a command in the repository's root; None where it had to be ended after `limit` seconds."""
        try:
            self.child = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          start_new_session=True)
        except OSError as error:
            self.tell(f'{words[0]}: {error}')
            return 127
        try:
            return self.child.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.end_child()

    def end_child(self):
        """Ends what was started, whether it ended by itself, is too late, or somebody asked for an end."""
        for signal_, patience in [(signal.SIGTERM, 10), (signal.SIGKILL, None)]:
            if self.child.poll() is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal_)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(patience)

    def table(self):
        rows = [('test', 'done', 'wanted', '', 'hours', 'findings', 'more')]
        for one in self.harnesses:
            record = self.records[one.name]
            more = [f'{name} {value:,.0f}' for name, value in sorted(record.figures.items())]
            more += [f'{record.mended} findings dealt with'] if record.mended else []
            more += [f'BROKEN: {self.broken[one.name]}'] if one.name in self.broken else []
            rows.append((one.name, f'{record.done:,.0f}', f'{one.goal:,}', one.unit, f'{record.seconds / 3600:.2f}',
                         str(len(record.findings)), ', '.join(more)))
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        numbers = {1, 2, 4, 5}
        lines = ['  '.join(cell.rjust(width) if at in numbers else cell.ljust(width)
                           for at, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]
        for one in self.harnesses:
            lines += [f'{one.name}: {json.dumps(finding)}' for finding in self.records[one.name].findings]
        return '\n'.join(lines)

    def failed(self):
        return bool(self.broken) or any(record.findings for record in self.records.values())


def fill(words, values):
    """The words of a command with the values in the places of their names."""
    for name, value in values.items():
        words = [word.replace(f'{{{name}}}', str(value)) for word in words]
    return words


def commit():
    """The commit that is tested, with a plus where files differ from it; empty without git."""
    def git(*words):
        try:
            return subprocess.run(['git', *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        except OSError:
            return ''
    return git('rev-parse', '--short=12', 'HEAD') + ('+' if git('status', '--porcelain', '--untracked-files=no') else '')


def default_state():
    cache = os.environ.get('BOWER_CACHE')
    return (pathlib.Path(cache) if cache else pathlib.Path.home() / '.cache/bowerbird') / 'soak'


def pick(folder, only):
    found = [Harness.load(path) for path in sorted(folder.glob('*.toml'))]
    if not only:
        return found
    wanted = only.split(',')
    unknown = sorted(set(wanted) - {one.name for one in found})
    if unknown:
        sys.exit(f'no long test {", ".join(unknown)}; there are {", ".join(one.name for one in found)}')
    return [one for one in found if one.name in wanted]


def stop(signal_, _frame):
    raise Stopped(signal.Signals(signal_).name)


def main(arguments=None, tests=ROOT / 'tools/soak'):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--state', type=pathlib.Path, default=default_state(), help='where the record is kept')
    parser.add_argument('--only', help='run these tests, their names with commas between them')
    parser.add_argument('--each', type=int, help='run each for so many seconds, whatever its goal')
    parser.add_argument('--total', type=int, help='end after so many seconds')
    parser.add_argument('--table', action='store_true', help='show what has been run, and run nothing')
    parser.add_argument('--mended', metavar='NAME', help="take the findings of a test off the table: they were dealt with")
    arguments = parser.parse_args(arguments)
    harnesses = pick(tests, arguments.mended or arguments.only)
    arguments.state.mkdir(parents=True, exist_ok=True)
    soak = Soak(harnesses, arguments.state, arguments.each, arguments.total,
                lambda line: print(line, file=sys.stderr, flush=True))
    if arguments.mended:
        for record in soak.records.values():
            record.append({'mended': len(record.findings)})
            record.read()
    elif not arguments.table:
        lock = (arguments.state / 'lock').open('w')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f'another soak runs in {arguments.state}')
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        try:
            soak.run()
        except Stopped as why:
            print(f'stopped by {why}; the next run goes on from here', file=sys.stderr)
            for record in soak.records.values():
                record.read()
    print(soak.table())
    return 1 if soak.failed() else 0


if __name__ == '__main__':
    sys.exit(main())
