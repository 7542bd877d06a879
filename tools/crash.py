#!/usr/bin/env python3
"""Kills `bower` at random moments and looks for anything that it had acknowledged and lost.

    tools/crash.py --bower target/debug/bower [--kills 200] [--seed 1] [--models DIR] [--keep]

Each round does one of these, chosen by the seed, and kills a process in it with SIGKILL at a random moment:
  curate   keeps a memory                          index    adds, changes or removes files and indexes the folder
  compact  keeps a memory and compacts the indexes  two      two writers at once; the other one must succeed
  prune    archives every memory, or none; undone, all of them are there again
Now and then the folder `index/` is deleted as well: it may be, at any time.

A write is acknowledged when its success was printed. After each round the newest items and some others, and
now and then and at the end all of them, are found by `bower query` of a word that occurs nowhere else and by `bower get`;
what was removed is not found, `bower doctor` finds nothing bad, and a write goes through, so no lock remains. At the end
the indexes must compact. Exit 0 when nothing was lost, 1 otherwise.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLE = 4  # of the newest memories, the newest chunks and all others, looked for after each round
FULL_EVERY = 50  # rounds after which everything is looked for
PATIENCE_S = 60  # a command that takes longer hangs
SYLLABLES = [consonant + vowel for consonant in 'bdfgklmnprtvz' for vowel in 'aeiou']
FILLER = ('water the beds at dawn and cover them before the frost comes in may because cold air collects in the hollow near '
          'the gate where the school children grow beans and the compost needs straw when it smells sour').split()


class Lost(Exception):
    """Something that was acknowledged is gone, or the store is not sound."""


def unique_word(number):
    """A pronounceable word for each number; no two share a stem, for all have one length and end in x."""
    word = ''
    for _ in range(4):
        number, at = divmod(number, len(SYLLABLES))
        word += SYLLABLES[at]
    return word + 'x'


class Bower:
    """The program under test, in a home of its own."""

    def __init__(self, path, home, compact_after=20):
        self.path = str(path)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith('BOWER_')}
        self.environment |= {'BOWER_HOME': str(home), 'BOWER_COMPACT_AFTER': str(compact_after), 'NO_COLOR': '1'}

    def start(self, *words, compact_after=None):
        environment = dict(self.environment)
        if compact_after is not None:
            environment['BOWER_COMPACT_AFTER'] = str(compact_after)
        return subprocess.Popen([self.path, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def run(self, *words, compact_after=None):
        """Runs a command to its end; gives its exit code, its answer (None when there is none) and its last error line."""
        process = self.start(*words, compact_after=compact_after)
        try:
            out, error = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Lost(f'bower {" ".join(words)[:60]} hangs: no answer in {PATIENCE_S} s') from None
        return process.returncode, answer(out), last_line(error)

    def must(self, *words, compact_after=None):
        code, data, error = self.run(*words, compact_after=compact_after)
        if code != 0 or data is None:
            raise Lost(f'bower {" ".join(words)[:60]} failed with {code}: {data or error}')
        return data


def answer(out):
    """The `data` of a successful envelope, or None: a half-printed answer acknowledges nothing."""
    try:
        envelope = json.loads(out)
    except ValueError:
        return None
    return envelope.get('data') if isinstance(envelope, dict) and envelope.get('success') is True else None


def last_line(error):
    lines = error.decode('utf8', 'replace').strip().splitlines()
    return lines[-1] if lines else ''


class Library:
    """The folder that is indexed, and what must be found of it: never more than was acknowledged."""

    def __init__(self, folder, chance, fresh_word):
        self.folder, self.chance, self.fresh_word = folder, chance, fresh_word
        self.words = {}     # file name -> its words on disk
        self.certain = {}   # file name -> words that were acknowledged and are still on disk
        self.gone = set()   # words whose removal was acknowledged
        self.leaving = set()  # words taken from the disk since the last acknowledgement
        self.count = 0

    def change(self):
        """Adds some files, changes or removes one now and then."""
        names = sorted(self.words)
        if len(names) > 4 and self.chance.random() < 0.5:
            name = self.chance.choice(names)
            self.leaving.update(self.words.pop(name))
            self.certain.pop(name, None)
            if self.chance.random() < 0.5:
                (self.folder / name).unlink()
            else:
                self.write(name)
        for _ in range(self.chance.randint(1, 4)):
            self.count += 1
            self.write(f'note-{self.count}.md')

    def write(self, name):
        words, parts = [], [f'# Note {name}\n']
        for at in range(self.chance.randint(1, 5)):
            words.append(self.fresh_word())
            filler = ' '.join(self.chance.choice(FILLER) for _ in range(60))
            parts.append(f'## Part {at}\n\n{filler} {words[-1]} {filler}.\n')
        (self.folder / name).write_text('\n'.join(parts), encoding='utf8')
        self.words[name] = words

    def acknowledged(self):
        self.certain = {name: list(words) for name, words in self.words.items()}
        self.gone |= self.leaving
        self.leaving = set()


class Trial:
    """One seeded run."""

    def __init__(self, bower, home, folder, seed):
        self.bower, self.home, self.chance = bower, home, random.Random(seed)
        self.memories = {}  # id -> word
        self.numbers = 0
        self.kills = self.rounds = self.acknowledged = 0
        self.killed_in = {}
        self.spans = {'curate': 0.05, 'compact': 0.1, 'index': 0.3, 'two': 0.1, 'prune': 0.02}  # seconds, learnt as it goes
        self.library = Library(folder, self.chance, self.fresh_word)
        self.pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 2)

    def fresh_word(self):
        self.numbers += 1
        # Far apart, so that neighbours do not look alike; 65^4 is odd and not divisible by 7, so none comes twice.
        return unique_word(self.numbers * 7_654_321 % len(SYLLABLES) ** 4)

    def memory(self):
        word = self.fresh_word()
        return word, f'Remember the {word}: ' + ' '.join(self.chance.choice(FILLER) for _ in range(12))

    # Made-up words may look like junk or like a recovery phrase, so the gate is off for them.
    def prepare(self):
        self.library.change()
        for action in ('curate', 'index'):
            start = time.monotonic()
            if action == 'curate':
                word, text = self.memory()
                self.keep(self.bower.must('curate', text, '--type', 'fact', '--gate', 'off'), word)
            else:
                self.bower.must('index', str(self.library.folder))
                self.library_acknowledged()
            self.spans[action] = time.monotonic() - start

    def keep(self, data, word):
        if data.get('accepted') is False:
            raise Lost(f'a memory was refused: {data}')
        self.memories[data['id']] = word
        self.acknowledged += 1

    def library_acknowledged(self):
        before = sum(map(len, self.library.certain.values()))
        self.library.acknowledged()
        self.acknowledged += max(0, sum(map(len, self.library.certain.values())) - before)

    def round(self):
        self.rounds += 1
        action = self.chance.choices(['curate', 'index', 'compact', 'two', 'prune'], [3, 4, 3, 2, 2])[0]
        if action == 'prune':
            return self.prune()
        processes = []
        if action == 'index':
            self.library.change()
            processes.append((self.bower.start('index', str(self.library.folder)), None))
        else:
            word, text = self.memory()
            compact_after = 1 if action == 'compact' else None
            processes.append((self.bower.start('curate', text, '--type', 'fact', '--gate', 'off', compact_after=compact_after), word))
        if action == 'two':
            if self.chance.random() < 0.5:
                self.library.change()
                processes.append((self.bower.start('index', str(self.library.folder)), None))
            else:
                word, text = self.memory()
                processes.append((self.bower.start('curate', text, '--type', 'fact', '--gate', 'off', compact_after=1), word))
            self.chance.shuffle(processes)
        self.kill(action, processes[0][0])
        for at, (process, word) in enumerate(processes):
            try:
                out, error = process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise Lost(f'a writer hangs after another was killed ({action})') from None
            data = answer(out)
            if data is not None:
                self.keep(data, word) if word else self.library_acknowledged()
            if process.returncode != 0 and (at > 0 or process.returncode != -signal.SIGKILL):
                raise Lost(f'{action}: a writer failed with {process.returncode}: {last_line(error)} {out[:300]!r}')
        if self.chance.random() < 0.04:
            shutil.rmtree(self.home / 'index', ignore_errors=True)

    def prune(self):
        """Whoever is killed in a run over all memories has turned all of them or none, and that can be undone."""
        process = self.bower.start('prune', '--threshold', '1')
        self.kill('prune', process)
        process.communicate()
        archived = self.bower.must('list', '--status', 'archived', '--limit', '1')
        if archived['total'] == 0:
            return
        if self.bower.must('list', '--kind', 'memory', '--limit', '1')['total'] > 0:
            raise Lost(f'{archived["total"]} memories are archived and others are not')
        event = self.bower.must('history', archived['memories'][0]['id'])['history'][-1]['event']
        undone = self.bower.must('undo', str(event))
        if len(undone['items']) != archived['total'] or undone['unmoved']:
            raise Lost(f'{archived["total"]} memories were archived, {len(undone["items"])} came back: {undone["unmoved"][:3]}')

    def kill(self, action, process):
        """Kills after a random part of the usual time, which is learnt from what happens."""
        time.sleep(self.chance.random() * self.spans[action] * 1.1)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            self.killed_in[action] = self.killed_in.get(action, 0) + 1
            self.spans[action] = min(self.spans[action] * 1.04, 20)
        else:
            self.spans[action] *= 0.93

    def check(self, everything=False):
        """What was acknowledged is there, what was removed is not, and a write goes through.

        The newest and some others after each round, everything now and then and at the end: what is lost stays lost.
        """
        words = [(word, id) for id, word in self.memories.items()]
        words += [(word, None) for _, found in sorted(self.library.certain.items()) for word in found]
        if not everything:
            words = words[-SAMPLE:] + [(word, id) for id, word in list(self.memories.items())[-SAMPLE:]] + \
                self.chance.sample(words, min(SAMPLE, len(words)))
        list(self.pool.map(lambda pair: self.find(*pair), words))
        list(self.pool.map(self.absent, self.chance.sample(sorted(self.library.gone), min(5, len(self.library.gone)))))
        if words:
            self.find(*self.chance.choice(words), fast=False)
        code, data, error = self.bower.run('doctor')
        if code != 0 or data is None or '"bad"' in json.dumps(data):
            raise Lost(f'bower doctor is not happy ({code}): {json.dumps(data)} {error}')
        # The same text again: it takes every lock and adds nothing.
        self.bower.must('curate', '--type', 'fact', 'The probe that takes the lock after each kill.')

    def hits(self, word, fast, id=None):
        """The hits with the word, and that with the id: a text may be kept as another wording of that memory."""
        data = self.bower.must('query', word, *(['--fast'] if fast else []))
        return [hit for hit in data['results'] if word in json.dumps(hit) or id and hit['memory']['id'] == id]

    def find(self, word, id, fast=True):
        hits = self.hits(word, fast, id)
        if not hits:
            raise Lost(f'bower query {word} does not find what was acknowledged ({id or "a chunk"})')
        id = id or hits[0]['memory']['id']
        if word not in json.dumps(self.bower.must('get', id)):
            raise Lost(f'bower get {id} does not give back {word}')

    def absent(self, word):
        if self.hits(word, fast=True):
            raise Lost(f'bower query {word} finds what was removed')

    def finish(self):
        """After the last kill: an undisturbed run indexes all there is, and the indexes compact."""
        self.bower.must('index', str(self.library.folder))
        self.library_acknowledged()
        self.bower.must('curate', '--type', 'fact', 'The last write compacts what is left.', compact_after=1)
        self.check(everything=True)
        status = self.bower.must('status')
        if status.get('text_tail', 0) > 20:
            raise Lost(f'the indexes do not compact any more: {status.get("text_tail")} rows wait')


def run(arguments, tell=lambda line: print(line, file=sys.stderr, flush=True), program=Bower):
    base = pathlib.Path(tempfile.mkdtemp(prefix='bower-crash-'))
    home, folder = base / 'home', base / 'notes'
    home.mkdir()
    folder.mkdir()
    if arguments.models and arguments.models.is_dir():
        (home / 'models').symlink_to(arguments.models.resolve())
    trial = Trial(program(arguments.bower.resolve(), home), home, folder, arguments.seed)
    lost, told, start = 0, 0, time.monotonic()
    try:
        trial.prepare()
        while trial.kills < arguments.kills:
            trial.round()
            trial.check(everything=trial.rounds % FULL_EVERY == 0)
            if trial.kills >= told + 20:
                told = trial.kills
                tell(f'{trial.kills} kills in {trial.rounds} rounds, {trial.acknowledged} acknowledged, '
                     f'{time.monotonic() - start:.0f} s')
            if trial.rounds > 20 * arguments.kills + 50:
                raise Lost('the program ends before it can be killed; slow it down or raise the kills')
        trial.finish()
    except Lost as reason:
        lost = 1
        tell(f'round {trial.rounds}, seed {arguments.seed}: {reason}')
    where = ', '.join(f'{action} {count}' for action, count in sorted(trial.killed_in.items()))
    tell(f'killed in: {where}; {time.monotonic() - start:.0f} s')
    print(f'{trial.kills} kills, {trial.acknowledged} acknowledged, {lost} lost')
    if lost or arguments.keep:
        tell(f'the store and the notes are in {base}')
    else:
        shutil.rmtree(base, ignore_errors=True)
    return 1 if lost else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--bower', type=pathlib.Path, required=True, help='the program')
    parser.add_argument('--kills', type=int, default=200, help='how many processes to kill (200)')
    parser.add_argument('--seed', type=int, default=1, help='what is done in which round (1)')
    parser.add_argument('--models', type=pathlib.Path, default=ROOT / 'target/model',
                        help='a folder of models; without one, words alone')
    parser.add_argument('--keep', action='store_true', help='keep the store for a look')
    arguments = parser.parse_args()
    if not arguments.bower.is_file():
        parser.error(f'no program at {arguments.bower}; build it with cargo build -p bower')
    sys.exit(run(arguments))


if __name__ == '__main__':
    main()
