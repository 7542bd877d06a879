#!/usr/bin/env python3
"""Writes the file tables of ARCHITECTURE.md's "Where to go" from the first line of each source file.

    tools/map.py            rewrite the tables in place (`make map`)
    tools/map.py --check    only say whether they are up to date

Each table stands below a heading that names a source folder, and ends before the next heading. Files that share a folder
and say nothing but what their folder says can be told apart by better first lines: this tool invents nothing.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRATES = ['bower', 'bower-core', 'bower-providers', 'bower-kernels', 'bower-grammars']


def first_sentence(path):
    """What the file's `//!` lines say, up to the end of the first sentence."""
    said = []
    for line in path.read_text(encoding='utf8').splitlines():
        if not line.startswith('//!'):
            break
        said.append(line[3:].strip())
    text = ' '.join(said)
    end = re.search(r'\.(?=\s+[A-Z`]|$)', text)
    return (text[:end.start()] if end else text).replace('|', '\\|')


def table(folder):
    """The rows of one source folder: its files, then the folders that have a `mod.rs`. A file covers the folder of its name."""
    rows = [f'| `{path.name}` | {first_sentence(path)} |' for path in sorted(folder.glob('*.rs'))]
    rows += [f'| `{path.parent.name}/` | {first_sentence(path)} |' for path in sorted(folder.glob('*/mod.rs'))]
    return ['| module | what lives there |', '|---|---|', *rows]


def rewritten(text):
    """ARCHITECTURE.md with each file table made anew."""
    for crate in CRATES:
        folder = f'crates/{crate}/src'
        lines = '\n'.join(table(ROOT / folder))
        pattern = re.compile(rf'(^### `{re.escape(folder)}`[^\n]*\n).*?(?=^#|\Z)', re.M | re.S)
        text, found = pattern.subn(lambda match: f'{match.group(1)}\n{lines}\n\n', text)
        if found != 1:
            sys.exit(f'ARCHITECTURE.md: expected one heading for {folder}, found {found}')
    return text.rstrip('\n') + '\n'


def main():
    path = ROOT / 'ARCHITECTURE.md'
    before = path.read_text(encoding='utf8')
    after = rewritten(before)
    if sys.argv[1:] == ['--check']:
        if before != after:
            sys.exit('ARCHITECTURE.md: the file tables are not up to date; run make map')
    else:
        path.write_text(after, encoding='utf8')


if __name__ == '__main__':
    main()
