#!/usr/bin/env python3
"""Compares what anchors report on the history of a repository with what git and ctags say.

    tools/anchors_history.py REPOSITORY BOWER [--commits 500] [--symbols 150] [--files 50] [--seed 1] [--end COMMIT]

Memories about sampled symbols and files are kept at one commit, and checked that many commits later (along the first parents).
The expected states come from Universal Ctags (definitions, with their first and last lines) and `git diff -M` (renames), without
any code of this program. It prints a table of expected and reported states, and every disagreement.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

# Kinds of definitions with a body, as Universal Ctags names them.
KINDS = {'function', 'method', 'struct', 'class', 'enum', 'interface', 'func', 'member'}
STATES = ['holds', 'moved', 'changed', 'gone']


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def tags(ctags, folder):
    """Returns the definitions in a work tree: (path, scope, name) -> texts without white space."""
    out = run(ctags, '--output-format=json', '--fields=+neKS', '-R', '-f', '-', '.', cwd=folder)
    found = collections.defaultdict(list)
    for line in out.splitlines():
        tag = json.loads(line)
        if tag.get('kind') not in KINDS or 'end' not in tag:
            continue
        path = os.path.normpath(tag['path'])
        lines = text(folder, path).split('\n')
        body = '\n'.join(lines[tag['line'] - 1:tag['end']])
        found[path, scope(tag), tag['name']].append(re.sub(r'\s+', '', body))
    return found


def scope(tag):
    """Returns the innermost scope without its generic parameters."""
    name = re.sub(r'<.*', '', tag.get('scope', ''))
    return re.split(r'::|\.', name)[-1]


def text(folder, path):
    return (pathlib.Path(folder) / path).read_text(encoding='utf8', errors='replace')


def expected_symbol(key, before, after, renames):
    """Returns the state of a definition, by its name, scope and text."""
    path, around, name = key
    body = before[key][0]
    for there in [path, renames.get(path)]:
        bodies = after.get((there, around, name), [])
        if body in bodies:
            return 'holds' if there == path else 'moved'
        if bodies:
            return 'changed'
    elsewhere = [bodies for (_, scope, other), bodies in after.items() if (scope, other) == (around, name)]
    if any(body in bodies for bodies in elsewhere):
        return 'moved'
    # The same name once in another file is the definition, moved and edited; several are other things of that name.
    return 'changed' if len(elsewhere) == 1 else 'gone'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('repository')
    parser.add_argument('bower')
    parser.add_argument('--commits', type=int, default=500)
    parser.add_argument('--symbols', type=int, default=150)
    parser.add_argument('--files', type=int, default=50)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--end', default='HEAD')
    parser.add_argument('--ctags', default='ctags')
    told = parser.parse_args()
    dice = random.Random(told.seed)
    repository = os.path.abspath(told.repository)
    history = run('git', '-C', repository, 'rev-list', '--first-parent', told.end).split()
    end, start = history[0], history[told.commits]
    with tempfile.TemporaryDirectory() as place:
        project, home = os.path.join(place, 'project'), os.path.join(place, 'home')
        run('git', 'clone', '--quiet', '--shared', '--no-checkout', repository, project)
        run('git', 'checkout', '--quiet', start, cwd=project)
        bower = [os.path.abspath(told.bower), '--home', home, '--format', 'json', '--set', 'model=none']
        before = tags(told.ctags, project)
        symbols = dice.sample(sorted(key for key, bodies in before.items() if len(bodies) == 1), told.symbols)
        paths = sorted(path for path in run('git', 'ls-files', cwd=project).splitlines()
                       if os.path.isfile(os.path.join(project, path)))
        files = dice.sample(paths, min(told.files, len(paths)))
        subjects = [(f'The rule about `{around + "::" if around else ""}{name}` is in {path}.', (path, around, name))
                    for path, around, name in symbols]
        subjects += [(f'How it is set up is in {path}.', path) for path in files]
        # A namespace each: the sentences are much alike, and none is to replace another.
        kept = {}
        for number, (sentence, subject) in enumerate(subjects):
            data = json.loads(run(*bower, 'curate', sentence, '--gate', 'off', '--collection', f'c{number}',
                                  cwd=project))['data']
            kept[data['id']] = (subject, data.get('anchors', 0))
        run('git', 'checkout', '--quiet', end, cwd=project)
        begin = time.monotonic()
        checked = subprocess.run([*bower, 'doctor', '--anchors'], cwd=project, capture_output=True, text=True)
        took = time.monotonic() - begin
        report = json.loads(checked.stdout)['data']
        doubtful = {memory['id']: memory['anchors'] for memory in report['memories']}
        after = tags(told.ctags, project)
        renames = {}
        for line in run('git', 'diff', '-M', '--name-status', start, end, cwd=project).splitlines():
            fields = line.split('\t')
            if fields[0].startswith('R'):
                renames[fields[1]] = fields[2]
        tables = {'symbols': collections.Counter(), 'files': collections.Counter()}
        without = 0
        for memory, (subject, anchors) in kept.items():
            if not anchors:
                without += 1
                print('no anchor:', subject)
                continue
            if isinstance(subject, str):
                is_there = os.path.exists(os.path.join(project, subject))
                expected, table = 'holds' if is_there else 'moved' if subject in renames else 'gone', 'files'
            else:
                expected, table = expected_symbol(subject, before, after, renames), 'symbols'
            states = [anchor['state'] for anchor in doubtful.get(memory, [])] or ['holds']
            tables[table][expected, states[0]] += 1
            if states[0] != expected:
                print('expected', expected, 'reported', states[0], subject, doubtful.get(memory))
        print(f'{start[:10]} to {end[:10]}: {len(kept)} memories, {without} without an anchor; '
              f'doctor --anchors took {took * 1000:.0f} ms, {report["took_ms"]:.1f} ms of it in the engine')
        for name, table in tables.items():
            print(f'\n{name}: expected below, reported across')
            print(''.join(f'{word:>10}' for word in ['', *STATES]))
            for row in STATES:
                print(f'{row:>10}' + ''.join(f'{table[row, column]:>10}' for column in STATES))
            right = sum(table[state, state] for state in STATES)
            print(f'right: {right} of {sum(table.values())}')
            for state in STATES:
                reported = sum(table[row, state] for row in STATES)
                expected = sum(table[state, column] for column in STATES)
                if reported or expected:
                    print(f'  {state}: {table[state, state]} right of {reported} reported, of {expected} expected')


if __name__ == '__main__':
    sys.exit(main())
