#!/usr/bin/env python3
"""Breaks the calls by which `bower` writes its files, one at a time, and looks for anything acknowledged that is silently gone.

    tools/faults.py --bower target/debug/bower [--schedules 60] [--seed 1] [--state DIR] [--seconds S]

Between the program and its files stands a preloaded library (`tools/faults/shim.c`, built with `cc`). A schedule is a command (curate,
index, compact, forget, backup, restore), a fault, and the number of the call at which it happens, all by its seed:
  error full   the call fails: EIO, ENOSPC          short half   a write writes half and says so, or fails
  die torn     the process dies before the call,    lost         a sync fails
               or after whole sectors of a write    power        the power goes, at a call or after the command's end
  lie          one file's syncs do nothing, then the power goes
A power cut keeps what was synced. Of every other write it keeps all, nothing, or sectors of 512 bytes by chance; of names that were
made, changed or removed and not synced it keeps the first ones. Power cuts run with `sync = full`, which promises to outlive them.

After each the store must hold what was acknowledged, or say that it is missing (`degraded`, `doctor`); what was not acknowledged is there
whole or not at all; a backup or a restored store is whole; what was forgotten stands in no file; writes and questions work. A file's
lying disk may lose anything, but not in silence.

`--state DIR` keeps how far it came: stopped, it goes on there. Exit 0 when nothing was lost in silence, 1 otherwise.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTOR = 512
PATIENCE_S = 60
COMMANDS = ('curate', 'index', 'compact', 'forget', 'backup', 'restore')
FAULTS = ('error', 'full', 'short', 'half', 'die', 'torn', 'lost', 'power', 'power', 'lie')
TOLD = ['The quagga grazes behind the observatory.', 'Deploys of the gateway happen on Fridays at noon.',
        'The cellar key hangs beside the boiler.', 'Invoices are archived by the harbour office.',
        'The lighthouse log is kept in green ink.']
NEW = 'The zeppelin hangar opens at dawn in winter.'
GONE = 'quagga'  # a word of the memory that is forgotten
PROBE = 'The marmalade shelf stands in the pantry.'


class Wrong(Exception):
    """Something acknowledged is silently gone, or the store does not work afterwards."""


class Bower:
    """The program under test in one home."""

    def __init__(self, path, home, shim, full):
        self.path, self.home, self.shim = str(path), pathlib.Path(home), str(shim)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(('BOWER_', 'FAULT_'))}
        self.environment |= {'BOWER_HOME': str(home), 'BOWER_MODEL': 'none', 'NO_COLOR': '1', 'BOWER_BUSY_TIMEOUT_MS': '2000',
                             'BOWER_SYNC': 'full' if full else 'normal', 'BOWER_COMPACT_AFTER': '3'}

    def run(self, *words, faults=None):
        """Exit code, the answer's data (of a failure too), and standard error."""
        environment = dict(self.environment)
        if faults is not None:
            environment |= faults | {'LD_PRELOAD': self.shim, 'FAULT_DIR': str(self.home)}
        try:
            done = subprocess.run([self.path, '--format', 'json', *words], env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            raise Wrong(f'bower {" ".join(words)[:60]} hangs') from None
        try:
            envelope = json.loads(done.stdout)
        except ValueError:
            envelope = {}
        return done.returncode, envelope, done.stderr.decode('utf8', 'replace').strip()

    def must(self, *words):
        code, envelope, error = self.run(*words)
        if not envelope.get('success'):
            raise Wrong(f'bower {" ".join(words)[:60]} failed with {code}: {envelope.get("data") or error[-300:]}')
        return envelope['data']


def template(bower, folder, docs):
    """A home with memories, documents and compacted indexes, and some changes that wait."""
    docs.mkdir()
    for number in range(3):
        (docs / f'{number}.md').write_text(f'# Valve {number}\n\nThe spare valve number {number} lies in drawer {number + 4}.\n')
    ids = [bower.must('curate', text)['id'] for text in TOLD[:3]]
    bower.must('index', str(docs))
    ids += [bower.must('curate', text)['id'] for text in TOLD[3:]]
    bower.must('backup', str(folder / 'old.db'))
    return dict(zip(ids, TOLD))


def words_of(command, folder, docs, ids):
    forgotten = next(key for key, text in ids.items() if GONE in text)
    return {'curate': ['curate', NEW], 'index': ['index', str(docs)], 'compact': ['index', str(docs / '0.md')],
            'forget': ['forget', '-y', forgotten], 'backup': ['backup', str(folder / 'home' / 'new.db')],
            'restore': ['restore', '-y', str(folder / 'old.db')]}[command]


def prepare(command, home, docs):
    """What the command needs to have something to do."""
    if command == 'index':
        (docs / '1.md').write_text('# Valve 1\n\nThe spare valve number 1 was lent to the mill.\n')
        (docs / '3.md').write_text('# Pump\n\nThe pump of the fountain is primed by hand.\n')


def read_log(path):
    """The calls of a run: letter, path, other path, offset, bytes (or length)."""
    data, at = path.read_bytes() if path.exists() else b'', 0
    while at + 5 <= len(data):
        call = chr(data[at])
        one, = struct.unpack_from('<I', data, at + 1)
        path_ = data[at + 5:at + 5 + one].decode()
        at += 5 + one
        two, = struct.unpack_from('<I', data, at)
        other = data[at + 4:at + 4 + two].decode()
        at += 4 + two
        offset, length = struct.unpack_from('<QQ', data, at)
        at += 16
        yield call, path_, other, offset, data[at:at + length] if call == 'w' else b''
        at += length if call == 'w' else 0


class Disk:
    """What a power cut leaves of a folder: names and contents that were synced, and some of the rest."""

    def __init__(self, home):
        self.home = str(home)
        self.files = []    # contents: what is on the disk, and the writes that wait
        self.names = {}    # as the program sees them
        self.durable = {}  # as they are on the disk
        self.waiting = []  # changes of names that are not synced
        for path in pathlib.Path(home).rglob('*'):
            if path.is_file():
                self.files.append([bytearray(path.read_bytes()), []])
                self.names[str(path)] = self.durable[str(path)] = len(self.files) - 1

    def play(self, calls):
        for call, path, other, offset, data in calls:
            if call == 'c':
                self.files.append([bytearray(), []])
                self.names[path] = len(self.files) - 1
                self.waiting.append(('set', path, self.names[path]))
            elif call in 'wt' and path in self.names:
                self.files[self.names[path]][1].append((call, offset, data))
            elif call == 'r' and path in self.names:
                self.names[other] = self.names.pop(path)
                self.waiting.append(('move', path, other))
            elif call == 'u':
                self.names.pop(path, None)
                self.waiting.append(('drop', path, None))
            elif call == 's':
                self.sync(path)

    def sync(self, path):
        if path in self.names:
            file = self.files[self.names[path]]
            for write in file[1]:
                apply(file[0], write)
            file[1] = []
            made = [at for at, (what, name, number) in enumerate(self.waiting)
                    if what == 'set' and number == self.names[path]]
            self.settle(made[-1] + 1 if made else 0)
        elif os.path.isdir(path):
            here = [at for at, change in enumerate(self.waiting)
                    if path in (os.path.dirname(change[1]), os.path.dirname(str(change[2])))]
            self.settle(here[-1] + 1 if here else 0)

    def settle(self, count):
        """The first changes of names are on the disk: a journal keeps their order."""
        for what, path, other in self.waiting[:count]:
            if what == 'set':
                self.durable[path] = other
            elif what == 'move' and path in self.durable:
                self.durable[other] = self.durable.pop(path)
            elif what == 'drop':
                self.durable.pop(path, None)
        del self.waiting[:count]

    def cut(self, chance):
        """Puts what is left in the home's place."""
        self.settle(chance.randint(0, len(self.waiting)))
        left = {}
        for path, number in self.durable.items():
            content, writes = bytearray(self.files[number][0]), self.files[number][1]
            how = chance.choice(('none', 'all', 'some', 'torn'))
            for write in writes:
                if how == 'all' or (how == 'some' and chance.random() < 0.5):
                    apply(content, write)
                elif how == 'torn':
                    tear(content, write, chance)
            left[path] = bytes(content)
        shutil.rmtree(self.home)
        pathlib.Path(self.home).mkdir(mode=0o700)
        for path, content in left.items():
            pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(path).write_bytes(content)


def apply(content, write):
    call, offset, data = write
    if call == 't':
        if offset < len(content):
            del content[offset:]
        else:
            content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


def tear(content, write, chance):
    """Some sectors of a write reach the disk."""
    call, offset, data = write
    if call == 't':
        if chance.random() < 0.5:
            apply(content, write)
        return
    at = 0
    while at < len(data):
        end = min(len(data), at + SECTOR - (offset + at) % SECTOR)
        if chance.random() < 0.5:
            apply(content, ('w', offset + at, data[at:end]))
        at = end


def renamed_unseen(disk, home):
    """Names that the program gave by calls that go past the library: a library of its own makes a file and renames it. It is the file
    whose bytes they are."""
    for path in pathlib.Path(home).rglob('*'):
        if not path.is_file() or str(path).endswith('-shm'):
            continue
        now = path.read_bytes()
        there = disk.names.get(str(path))
        if there is not None and whole(disk.files[there]) == now:
            continue
        for name, number in list(disk.names.items()):
            if os.path.dirname(name) == str(path.parent) and not os.path.exists(name) and whole(disk.files[number]) == now:
                disk.names[str(path)] = disk.names.pop(name)
                disk.waiting.append(('move', name, str(path)))
                break


def whole(file):
    content = bytearray(file[0])
    for write in file[1]:
        apply(content, write)
    return bytes(content)


def check(bower, folder, docs, command, kind, acknowledged, ids):
    """Raises where something is wrong that nobody says."""
    forgotten = next(key for key, text in ids.items() if GONE in text)
    code, envelope, error = bower.run('list', '--limit', '1000')
    code_doctor, examined, _ = bower.run('doctor')
    says = json.dumps(examined.get('data', {}))
    if not envelope.get('success'):
        # A disk that lies may leave a file that is no store any more, which is said.
        if kind == 'lie' and code == 3 and code_doctor == 3:
            return
        raise Wrong(f'list failed with {code}: {envelope.get("data") or error[-300:]}')
    page = envelope['data']
    is_told = bool(page.get('degraded')) or (kind == 'lie' and code_doctor == 3)
    found = {item['id']: item['content'] for item in page['memories'] if item['kind'] == 'memory' and not item.get('damaged')}
    expected = dict(ids)
    if command == 'forget':
        if acknowledged and forgotten in found and not is_told:
            raise Wrong('what was forgotten is still there')
        expected.pop(forgotten)
    missing = [text for key, text in expected.items() if found.get(key) != text]
    if command == 'curate':
        has_new = NEW in found.values()
        if acknowledged and not has_new:
            missing.append(NEW)
    if missing and not is_told:
        raise Wrong(f'silently gone: {missing}')
    stray = [text for key, text in found.items() if text not in (*TOLD, NEW)]
    if stray:
        raise Wrong(f'nobody told {stray}')
    chunks = [item['content'] for item in page['memories'] if item['kind'] == 'chunk']
    if command in ('index', 'compact') and acknowledged and not is_told:
        wanted = {path.read_text().split('\n\n')[1].strip() for path in docs.glob('*.md')}
        lacking = [text for text in wanted if not any(text in chunk for chunk in chunks)]
        if lacking:
            raise Wrong(f'indexed and silently gone: {lacking}')
    if code_doctor == 3 and not page.get('degraded') and kind != 'lie':
        raise Wrong(f'doctor finds the store broken: {says[:500]}')
    backup = bower.home / 'new.db'
    if command == 'backup' and (acknowledged or backup.exists()) and kind not in ('power', 'lie'):
        verify_backup(bower, folder, backup, ids)
    if page.get('degraded') or kind == 'lie' and code_doctor == 3:
        return
    bower.must('curate', PROBE)
    answer = bower.must('query', '--fast', 'marmalade shelf')
    if PROBE not in [hit['memory']['content'] for hit in answer['results']]:
        raise Wrong('a memory is not found after it was kept')
    bower.must('index', str(docs))
    if command == 'forget' and forgotten not in found:
        code, envelope, error = bower.run('doctor', '--residue', GONE)
        # What was cut short is done by whoever has time: the index above.
        if code != 0:
            raise Wrong(f'what was forgotten stands in a file: {envelope.get("data")}')
    code, envelope, _ = bower.run('doctor')
    if code != 0:
        raise Wrong(f'doctor is not content at the end: {json.dumps(envelope.get("data"))[:500]}')


def verify_backup(bower, folder, backup, ids):
    other = folder / 'restored'
    shutil.rmtree(other, ignore_errors=True)
    restored = Bower(bower.path, other, bower.shim, False)
    restored.must('restore', '-y', str(backup))
    texts = {item['content'] for item in restored.must('list', '--limit', '1000')['memories']}
    if not set(ids.values()) <= texts:
        raise Wrong('a backup lacks what its store has')


class Runner:
    def __init__(self, arguments):
        self.bower, self.seed = pathlib.Path(arguments.bower).resolve(), arguments.seed
        self.work = pathlib.Path(tempfile.mkdtemp(prefix='faults-'))
        self.shim = self.work / 'shim.so'
        subprocess.run(['cc', '-O2', '-Wall', '-shared', '-fPIC', '-o', str(self.shim), str(ROOT / 'tools/faults/shim.c'), '-ldl',
                        '-lpthread'], check=True)
        self.counts = {}
        self.base = self.work / 'base'
        self.base.mkdir()
        bower = Bower(self.bower, self.base / 'home', self.shim, False)
        # The same place for every schedule: what is indexed is known by its path.
        self.docs = self.work / 'docs'
        self.ids = template(bower, self.base, self.docs)
        shutil.copytree(self.docs, self.base / 'docs')

    def fresh(self, full):
        """The home of a schedule, in its own place."""
        place = self.work / 'place'
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(self.docs, ignore_errors=True)
        shutil.copytree(self.base, place)
        shutil.copytree(self.base / 'docs', self.docs)
        return place, Bower(self.bower, place / 'home', self.shim, full)

    def count(self, command, full):
        """How many calls a command makes when nothing goes wrong."""
        key = (command, full)
        if key not in self.counts:
            place, bower = self.fresh(full)
            prepare(command, bower.home, self.docs)
            told = place / 'count'
            code, envelope, error = bower.run(*words_of(command, place, self.docs, self.ids), faults={'FAULT_COUNT': str(told)})
            if code != 0:
                raise SystemExit(f'{command} fails by itself: {envelope.get("data") or error}')
            self.counts[key] = int(told.read_text().split()[0])
        return self.counts[key]

    def schedule(self, number):
        """Runs one; gives what it was."""
        chance = random.Random(f'{self.seed}/{number}')
        command, kind = chance.choice(COMMANDS), chance.choice(FAULTS)
        is_cut = kind in ('power', 'lie')
        calls = self.count(command, is_cut)
        # Now and then the power goes after the end.
        at = chance.randint(1, calls) if kind != 'power' or chance.random() < 0.6 else 0
        place, bower = self.fresh(is_cut)
        prepare(command, bower.home, self.docs)
        faults = {'FAULT_AT': str(at), 'FAULT_KIND': 'die' if kind == 'power' else kind, 'FAULT_COUNT': str(place / 'count')}
        log = place / 'log'
        if is_cut:
            faults['FAULT_LOG'] = str(log)
            disk = Disk(bower.home)
        code, envelope, error = bower.run(*words_of(command, place, self.docs, self.ids), faults=faults)
        acknowledged = envelope.get('success') is True
        what = f'{number}: {command}, {kind} at call {at} of {calls}, exit {code}'
        if code == 4 or 'panicked' in error:
            raise Wrong(f'{what}: it panicked: {error[-300:]}')
        if is_cut:
            disk.play(read_log(log))
            renamed_unseen(disk, bower.home)
            disk.cut(chance)
        try:
            if command == 'restore':
                # Either store is whole: both hold the same memories here.
                acknowledged = False
            check(bower, place, self.docs, command, kind, acknowledged, self.ids)
        except Wrong as wrong:
            raise Wrong(f'{what}: {wrong}') from None
        return what


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bower', required=True)
    parser.add_argument('--schedules', type=int, default=60, help='how many in all, those of earlier runs counted')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--state', type=pathlib.Path, help='a folder that keeps how far it came')
    parser.add_argument('--seconds', type=float, default=float('inf'), help='stop after so long; --state goes on from there')
    parser.add_argument('--only', type=int, help='this schedule alone')
    parser.add_argument('--verbose', action='store_true')
    arguments = parser.parse_args()
    state = arguments.state / f'faults-{arguments.seed}' if arguments.state else None
    first = int(state.read_text()) if state and state.exists() else 0
    runner, start, failed = Runner(arguments), time.monotonic(), 0
    numbers = [arguments.only] if arguments.only is not None else range(first, arguments.schedules)
    done = first
    try:
        for number in numbers:
            if time.monotonic() - start > arguments.seconds:
                break
            try:
                what = runner.schedule(number)
                if arguments.verbose:
                    print(what, flush=True)
            except Wrong as wrong:
                failed += 1
                print(f'WRONG {wrong}', flush=True)
            done = number + 1
            if state:
                state.parent.mkdir(parents=True, exist_ok=True)
                state.write_text(str(done))
    except KeyboardInterrupt:
        pass
    finally:
        shutil.rmtree(runner.work, ignore_errors=True)
    print(f'{done} of {arguments.schedules} schedules (seed {arguments.seed}), {failed} wrong, '
          f'{time.monotonic() - start:.0f} s')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
