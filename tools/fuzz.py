#!/usr/bin/env python3
"""Fuzzes the readers of what strangers write, by libFuzzer, and goes on where it was.

    tools/fuzz.py [--seconds 60] [--folder DIR] [TARGET ...]     each target for so long; all of them where none is named (`make fuzz`)
    tools/fuzz.py --state DIR --seconds N --seed N TARGET        one target, for `make soak`
    tools/fuzz.py --build | --list | --table

A target has at most 256 MB, 10 seconds for an input, and inputs of 64 KiB. What was found and the growing corpus are kept outside the
repository, in DIR/fuzz-TARGET (by default $BOWER_CACHE/soak, else ~/.cache/bowerbird/soak), with a line of JSON for each minute in
done.jsonl; its `done` counts seconds of the processor, so a run that shares a core or waits is not counted for more than it did. It may be stopped at any time: at most the minute in work is lost. The inputs to begin with are the crates' own, in
`fuzzing.rs`. Exit 1: something was found.

The build needs a C++ compiler, for libFuzzer, and no nightly Rust; it is that of `make test` but for coverage in our own crates.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get('BOWER_CACHE') or pathlib.Path.home() / '.cache/bowerbird')
# Bytes of memory that a target may have, in MiB: what a reader makes of 64 KiB is far below that.
MEMORY_MB = 256
INPUT_BYTES = 65_536
INPUT_SECONDS = 10
# Seconds between two lines of the record.
BATCH = 60


def target_folder():
    return pathlib.Path(os.environ.get('CARGO_TARGET_DIR') or ROOT / 'target')


def program():
    return target_folder() / 'debug/bower-fuzz'


def build():
    """Builds the fuzzer, once where nothing changed."""
    environment = {**os.environ, 'RUSTC_WRAPPER': str(ROOT / 'scripts/fuzz_rustc.sh'), 'CARGO_TARGET_DIR': str(target_folder())}
    cargo = os.environ.get('CARGO') or 'cargo'
    subprocess.run([cargo, 'build', '--locked', '--manifest-path', str(ROOT / 'fuzz/Cargo.toml')], check=True, env=environment)


def targets():
    run = subprocess.run([program()], env={**os.environ, 'BOWER_FUZZ_TARGET': 'list'}, capture_output=True, text=True, check=True)
    return run.stdout.split()


def record(state):
    """The lines of a target's record; half a line was being written when its run was killed."""
    lines = []
    try:
        text = (state / 'done.jsonl').read_text(encoding='utf8')
    except FileNotFoundError:
        return lines
    for line in text.splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return lines


def what_was_found(log):
    """What a fuzzer's output says of the input that ended it."""
    said = [line for line in log.splitlines() if re.search(r'panicked at|ERROR: libFuzzer|SUMMARY', line)]
    after = [log.splitlines()[nth + 1] for nth, line in enumerate(log.splitlines()[:-1]) if 'panicked at' in line]
    return '; '.join((said[:1] + after[:1] + said[1:2]) or log.splitlines()[-1:])


def child_seconds():
    """Seconds of the processor that the children which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def batch(name, state, seconds, seed):
    """Runs a target for some seconds; the line for the record, and whether it can go on."""
    corpus, found = state / 'corpus', state / 'found'
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    before = set(found.iterdir())
    begun, before_cpu = time.monotonic(), child_seconds()
    with tempfile.TemporaryDirectory() as work:
        seeds = pathlib.Path(work) / 'seeds'
        seeds.mkdir()
        environment = {**os.environ, 'BOWER_FUZZ_TARGET': name, 'BOWER_FUZZ_SEEDS': str(seeds), 'TMPDIR': work}
        command = [program(), corpus, seeds, f'-max_total_time={max(1, int(seconds))}', f'-seed={seed + 1}', f'-rss_limit_mb={MEMORY_MB}',
                   f'-malloc_limit_mb={MEMORY_MB}', f'-max_len={INPUT_BYTES}', f'-timeout={INPUT_SECONDS}',
                   f'-artifact_prefix={found}/', '-print_final_stats=1', '-close_fd_mask=1']
        run = subprocess.run(['nice', '-n', '19', *map(str, command)], env=environment, capture_output=True)
    log = run.stderr.decode('utf8', 'replace')
    stat = {name: int(value) for name, value in re.findall(r'^stat::(\w+):\s+(\d+)', log, re.MULTILINE)}
    done = re.findall(r'^Done (\d+) runs', log, re.MULTILINE)
    took = round(time.monotonic() - begun, 1)
    findings = []
    if run.returncode != 0:
        inputs = sorted(set(found.iterdir()) - before) or sorted(found.iterdir())[-1:]
        again = f'BOWER_FUZZ_TARGET={name} {program()} {inputs[0] if inputs else corpus}'
        findings = [{'seed': seed, 'what': what_was_found(log), 'again': again}]
        (state / 'log').write_text(log, encoding='utf8')
    executions = stat.get('number_of_executed_units') or int(done[-1] if done else 0)
    cpu = round(child_seconds() - before_cpu)
    return {'seed': seed, 'next': seed + 1, 'done': cpu, 'seconds': took, 'findings': findings, 'executions': executions,
            'peak_mb': stat.get('peak_rss_mb', 0)}


def fuzz(name, state, seconds, seed):
    """Runs a target until the time is over or something is found; whether nothing was."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        line = batch(name, state, min(BATCH, end - time.monotonic()), seed)
        with (state / 'done.jsonl').open('a', encoding='utf8') as file:
            file.write(json.dumps(line) + '\n')
        seed = line['next']
        for finding in line['findings']:
            print(f"{name}: seed {finding['seed']}: {finding['what']}\n  {finding['again']}", file=sys.stderr, flush=True)
        if line['findings']:
            return False
    return True


def table(folder):
    """What was run of each target so far."""
    print(f"{'target':<12}{'CPU s':>9}{'executions':>14}{'peak MB':>9}{'findings':>10}")
    for state in sorted(folder.glob('fuzz-*')):
        lines = record(state)
        add = lambda field: sum(line.get(field, 0) for line in lines)
        print(f"{state.name.removeprefix('fuzz-'):<12}{add('done'):>9,}{add('executions'):>14,}"
              f"{max((line.get('peak_mb', 0) for line in lines), default=0):>9}{sum(len(line['findings']) for line in lines):>10}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('targets', nargs='*', metavar='TARGET')
    parser.add_argument('--seconds', type=float, default=60, help='how long each target (60)')
    parser.add_argument('--folder', type=pathlib.Path, default=CACHE / 'soak', help='where corpus, record and findings are kept')
    parser.add_argument('--state', type=pathlib.Path, help='the folder of the one target that is named')
    parser.add_argument('--seed', type=int, help='where to begin (where the record ends)')
    parser.add_argument('--build', action='store_true', help='only build')
    parser.add_argument('--list', action='store_true', help='only name the targets')
    parser.add_argument('--table', action='store_true', help='only say what was run')
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.folder)
    if not arguments.state:
        build()
    if arguments.build:
        return None
    if arguments.list:
        return print('\n'.join(targets()))
    if arguments.state and len(arguments.targets) != 1:
        parser.error('--state is the folder of one target')
    well = True
    for name in arguments.targets or targets():
        state = arguments.state or arguments.folder / f'fuzz-{name}'
        state.mkdir(parents=True, exist_ok=True)
        lines = record(state)
        seed = arguments.seed if arguments.seed is not None else (lines[-1]['next'] if lines else 0)
        well = fuzz(name, state, arguments.seconds, seed) and well
    if not arguments.state:
        table(arguments.folder)
    return None if well else sys.exit(1)


if __name__ == '__main__':
    main()
