#!/usr/bin/env python3
"""Indexes mutated copies of real documents, and looks for crashes, hangs and memory (docs/library.md names the formats).

    tools/mutants.py --bower PROGRAM FOLDER...      10,000 mutants of each format that has files below the folders
        --count N       mutants of each format
        --seconds N     most seconds for one format; the table says how many mutants there were
        --only EXT,...  only files with these extensions
        --seed N        the same seed makes the same mutants

No model is needed: texts are parsed and stored, not embedded. A batch that fails is run again file by file, and the files
that fail alone are kept in the folder that is printed. The exit status is 1 if any did.
"""
import argparse
import collections
import gzip
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

# Mutants that one process indexes, and the limits of that process: its memory in bytes, and its time in seconds.
BATCH = 200
MEMORY = 500 << 20
SECONDS = 120
# Larger files are left out: a mutant should cost milliseconds.
LARGEST = 400_000
# Formats that are ZIP files; half of their mutants have one member changed.
ZIPPED = {'docx', 'odt', 'pptx', 'odp', 'xlsx', 'ods', 'epub'}


def sources(folders, only):
    """The files below some folders by their extension. Messages that Python's tests call `msg_NN.txt` are mail."""
    found = collections.defaultdict(list)
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob('*')):
            name = path.name.removesuffix('.gz')
            extension = 'eml' if re.fullmatch(r'msg_\d+\.txt', name) else name.rpartition('.')[2].lower()
            if path.is_file() and not path.is_symlink() and '.' in name and 0 < path.stat().st_size <= LARGEST:
                if not only or extension in only:
                    found[extension].append(path)
    return found


def mutated(data, chance):
    """Changes a few places of some bytes."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 8, 32))):
        if not data:
            break
        at, length = chance.randrange(len(data)), chance.choice((1, 2, 8, 64, 1024))
        kind = chance.randrange(7)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at:at + length]
        elif kind == 2:
            piece = data[at:at + length]
            to = chance.randrange(len(data))
            data[to:to] = piece * chance.choice((1, 2, 50))
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data[at:at + 1] = chance.choice((b'\0', b'\xff\xfe', b'<', b'>', b'{', b'}', b'\\', b'[', b'(', b'&', b'\n', b'"'))
        elif kind == 5:
            numbers = [match.span() for match in re.finditer(rb'\d+', bytes(data[:100_000]))]
            if numbers:
                start, end = chance.choice(numbers)
                data[start:end] = chance.choice((b'0', b'-1', b'4294967296', b'99999999999999999999', b'65536'))
        else:
            lines = bytes(data).splitlines(keepends=True)
            chance.shuffle(lines)
            data = bytearray(b''.join(lines))
    return bytes(data)


def mutated_member(data, chance):
    """Changes one member of a ZIP file, and packs it again, so that its checksum is right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as new:
        members = old.infolist()
        chosen = chance.choice([one for one in members if one.filename.endswith(('xml', 'html', 'rels'))] or members)
        for member in members:
            text = old.read(member)
            new.writestr(member.filename, mutated(text, chance) if member is chosen else text)
    return out.getvalue()


def run(bower, folder):
    """Indexes a folder: what is wrong, or None; with the report, the seconds and the bytes of memory."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as out:
        arguments = [bower, '--home', home, '--format', 'json', '--quiet', 'index', folder]
        environment = {**os.environ, 'BOWER_MODELS_FOLDER': home}
        begin = time.monotonic()
        child = subprocess.Popen(arguments, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        pid = usage = status = 0
        while pid == 0 and time.monotonic() - begin < SECONDS:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        if pid == 0:
            child.send_signal(signal.SIGKILL)
            child.wait()
            return f'it takes more than {SECONDS} s', {}, seconds, 0
        child.returncode = os.waitstatus_to_exitcode(status)
        memory = usage.ru_maxrss << 10
        out.seek(0)
        text = out.read().decode(errors='replace')
        try:
            report = json.loads(text)
        except ValueError:
            report = {}
        if child.returncode != 0 or not report.get('success'):
            return f'exit status {child.returncode}: {text[:300]}', {}, seconds, memory
        if memory > MEMORY:
            return f'{memory >> 20} MB of memory', {}, seconds, memory
        return None, report['data'], seconds, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='+')
    parser.add_argument('--bower', required=True)
    parser.add_argument('--count', type=int, default=10_000)
    parser.add_argument('--seconds', type=float, default=600)
    parser.add_argument('--only', default='')
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    only = set(filter(None, arguments.only.split(',')))
    kept = pathlib.Path(tempfile.mkdtemp(prefix='mutants-'))
    bad = 0
    print(f'{"format":10} {"files":>6} {"mutants":>8} {"indexed":>8} {"skipped":>8} {"ms each":>8} {"most MB":>8}')
    for extension, files in sorted(sources(arguments.folders, only).items()):
        chance = random.Random(f'{arguments.seed} {extension}')
        made = indexed = skipped = 0
        spent = most = 0.0
        while made < arguments.count and spent < arguments.seconds:
            folder = kept / f'{extension}-{made}'
            folder.mkdir()
            for number in range(min(BATCH, arguments.count - made)):
                path = chance.choice(files)
                data = path.read_bytes()
                if path.name.endswith('.gz'):
                    data = gzip.decompress(data)[:LARGEST]
                if extension in ZIPPED and chance.random() < 0.5:
                    data = mutated_member(data, chance)
                else:
                    data = mutated(data, chance)
                (folder / f'{number}.{extension}').write_bytes(data)
                made += 1
            wrong, report, seconds, memory = run(arguments.bower, folder)
            spent, most = spent + seconds, max(most, memory)
            indexed, skipped = indexed + report.get('indexed', 0), skipped + len(report.get('skipped', []))
            if wrong is None:
                shutil.rmtree(folder)
                continue
            print(f'{folder}: {wrong}')
            for file in sorted(folder.iterdir()):
                wrong, *_ = run(arguments.bower, file)
                if wrong is None:
                    file.unlink()
                else:
                    print(f'  {file}: {wrong}')
                    bad += 1
        print(
            f'{extension:10} {len(files):6} {made:8} {indexed:8} {skipped:8} {1000 * spent / made:8.1f} {most / (1 << 20):8.0f}',
            flush=True,
        )
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
