#!/usr/bin/env python3
"""Tables and a picture of what run.py measured, each figure with its ratio to Bowerbird's.

    tools/peers/report.py WORK [--threads one|all] [--svg FILE]        Markdown on standard output

Reads WORK/*.json; bowerbird.json among them is what the ratios are to, onnx.json is onnx_speed.py's and its table comes last.
README.md describes the shape of these files.
"""
import argparse
import json
import math
import pathlib
from xml.sax.saxutils import escape

import figures
import onnx_speed

OURS = 'bowerbird'
NONE = '–'
SAME_MODEL = 'onnx.json'  # no peer: the same model, measured by onnx_speed.py


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('work', type=pathlib.Path)
    parser.add_argument('--threads', choices=['one', 'all'], default='one')
    parser.add_argument('--svg', type=pathlib.Path)
    given = parser.parse_args()
    runs = read(given.work)
    if given.svg:
        given.svg.write_text(picture(runs, given.threads), encoding='utf8')
    print(markdown(runs, given.threads) + same_model(given.work), end='')


def read(work):
    """All runs of a folder: Bowerbird, then what answers hybrid questions, then the rest, each by its hybrid or vector time."""
    runs = [json.loads(path.read_text(encoding='utf8')) for path in sorted(work.glob('*.json'))
            if path.name != SAME_MODEL]
    return sorted(runs, key=lambda run: (run['peer'] != OURS, order(run), run['peer']))


def same_model(work):
    """The table of onnx_speed.py, below all others; nothing where it has not run."""
    path = work / SAME_MODEL
    return '\n' + onnx_speed.table(json.loads(path.read_text(encoding='utf8')), number) if path.exists() else ''


def order(run):
    for place, kind in enumerate(('hybrid', 'vector', 'text')):
        best = chosen(run, 'one', kind)
        if best:
            return place, best['p50_ms']
    return 9, 0


def chosen(run, threads, kind):
    """The measurement that is shown for a kind of question: the fastest with enough recall, else the one with most."""
    return figures.tuned(run['warm'].get(threads, {}).get(kind))


def value(run, *names):
    """A figure somewhere in a run, or None."""
    for name in names:
        run = (run or {}).get(name)
    return run


def number(amount):
    """Three significant digits, without an exponent: .0123, 1.23, 12.3, 123, 1,234."""
    if amount < .00005:
        return '0'
    if amount >= 99.95:
        return f'{amount:,.0f}'
    digits = max(0, 2 - math.floor(math.log10(amount)))
    text = f'{amount:.{min(digits, 4)}f}'
    return text[1:] if text.startswith('0.') else text


def cell(amount, ours, recall=None):
    """A figure, how much of the truth it found, and how many times Bowerbird's it is."""
    if amount is None:
        return NONE
    text = number(amount)
    if recall is not None:
        text += f' @{number(recall) if recall < .9995 else "1.0"}'
    if ours and amount is not ours:
        text += f' (×{number(amount / ours)})'
    return text


# Columns: heading, and how a run gives (figure, recall).
def questions(threads):
    def column(kind, name):
        def get(run):
            best = chosen(run, threads, kind)
            return (best[name], best['recall'] if name == 'p50_ms' else None) if best else (None, None)
        return get

    return [('hybrid p50', column('hybrid', 'p50_ms')), ('p95', column('hybrid', 'p95_ms')), ('p99', column('hybrid', 'p99_ms')),
            ('CPU', column('hybrid', 'cpu_ms')), ('vector p50', column('vector', 'p50_ms')), ('CPU', column('vector', 'cpu_ms')),
            ('text p50', column('text', 'p50_ms')),
            ('filter 1 % p50', column('filtered', 'p50_ms'))]


def upkeep(threads):
    def whole(run, kind=''):
        build = run.get('build')
        return build and build[f'load_{kind}s'] + build[f'build_{kind}s']

    def scaled(amount, by):
        return None if amount is None else amount / by

    mega = 1e6
    return [('load, s', lambda run: (value(run, 'build', 'load_s'), None)),
            ('build, s', lambda run: (value(run, 'build', 'build_s'), None)),
            ('ready, s', lambda run: (whole(run), None)),
            ('CPU, s', lambda run: (whole(run, 'cpu_'), None)),
            ('disk, MB', lambda run: (scaled(value(run, 'build', 'disk_bytes'), mega), None)),
            ('cold query, ms', lambda run: (value(run, 'cold', 'wall_ms'), None)),
            ('CPU, ms', lambda run: (value(run, 'cold', 'cpu_ms'), None)),
            ('of it the interpreter', lambda run: (value(run, 'cold', 'floor_ms'), None)),
            ('cold memory, MB', lambda run: (scaled(value(run, 'cold', 'peak_rss_bytes'), mega), None)),
            ('warm memory, MB', lambda run: (scaled(value(run, 'warm', threads, 'peak_rss_bytes'), mega), None))]


def table(runs, columns):
    """A Markdown table with a row for each run that has any of the figures."""
    ours = next((run for run in runs if run['peer'] == OURS), None)
    lines = [['', *(heading for heading, _ in columns)]]
    for run in runs:
        cells = []
        for _, get in columns:
            amount, recall = get(run)
            cells.append(cell(amount, get(ours)[0] if ours and run is not ours else None, recall))
        if any(text != NONE for text in cells):
            lines.append([f"**{run['title']}**" if run is ours else run['title'], *cells])
    lines.insert(1, ['---', *('---:' for _ in columns)])
    return ''.join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown(runs, threads):
    items = max((run['items'] or 0 for run in runs), default=0)
    processors = 'one processor and one thread' if threads == 'one' else 'all processors, the threads each library takes'
    parts = [
        f'### Questions in a running process, {items:,} passages, {processors}\n\n',
        'Milliseconds; `@` is recall@10 of the vector part against exact search, × the ratio to Bowerbird. Each with the '
        f'cheapest search setting that reaches {number(figures.ENOUGH)}, or the most it reaches. CPU is processor time of all '
        'threads a question, on average.\n\n',
        table(runs, questions(threads)),
        '\n### Load, disk, a new process\n\n',
        'From nothing to ready for search, vectors given; a new process from spawn to exit, vector given, page cache warm.\n\n',
        table(runs, upkeep(threads)),
        '\n### As they come\n\nThe same questions where nobody chose a search setting.\n\n',
        table(runs, as_they_come(threads)),
        '\n### What was measured\n\n',
        *(told(run, threads) for run in runs),
    ]
    failed = [run for run in runs if run['error']]
    if failed:
        parts += ['\n### What did not run\n\n', *(f"- {run['title']}: {run['error']}\n" for run in failed)]
    return ''.join(parts)


def as_they_come(threads):
    def column(kind):
        def get(run):
            measured = run['warm'].get(threads, {}).get(kind)
            return (measured[0]['p50_ms'], measured[0]['recall']) if measured else (None, None)
        return get

    return [('hybrid p50', column('hybrid')), ('vector p50', column('vector')), ('filter 1 % p50', column('filtered'))]


def told(run, threads):
    """One line a run: versions, what was built, and the search settings that were chosen."""
    if not run.get('versions'):
        return ''
    versions = ', '.join(f'{name} {version}' for name, version in run['versions'].items())
    settings = '; '.join(f'{name}: {text}' for name, text in (run.get('settings') or {}).items())
    best = []
    for kind in ('vector', 'filtered', 'hybrid'):
        one = chosen(run, threads, kind)
        if one:
            asked = ', '.join(f'{name} {amount}' for name, amount in (one['setting'] or {}).items()) or 'its own'
            best.append(f"{kind}: {asked} ({one['queries']} questions)")
    failed = [f'{kind} failed: {text}' for kind, text in (value(run, 'warm', threads, 'failed') or {}).items()]
    return f"- {run['title']} ({versions}). {'. '.join(part for part in (settings, '; '.join(best), *failed) if part)}.\n"


# The picture: recall over time on the left, one row a peer on the right. Colours that stay apart for colour-blind people
# (Okabe and Ito 2008); every line and mark is also named.
COLOURS = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#8c6d31', '#7f7f7f', '#5e3c99',
           '#b2182b')
MARKS = (('hybrid', 'hybrid', 'circle'), ('vector', 'vector', 'square'), ('text', 'text', 'triangle'),
         ('cold', 'new process', 'cross'))
HEIGHT, PANEL, LEFT, GAP, TOP = 460, 430, 56, 340, 56
RECALLS = (0, .5, .8, .9, .95, .98, .99, .995, .998, .999)  # lines of the left panel; the last one stands for all found


def decades(amounts):
    """The powers of ten around all amounts: at least one decade."""
    low, high = math.floor(math.log10(min(amounts))), math.ceil(math.log10(max(amounts)))
    return low, max(high, low + 1)


def picture(runs, threads):
    """An SVG of both panels; an empty one where nothing was measured."""
    parts = []
    width = LEFT + PANEL + GAP + PANEL + 24
    curves = [(run, sorted((one['p50_ms'], one['recall']) for one in run['warm'].get(threads, {}).get('vector', [])
                           if one['recall'] is not None)) for run in runs]
    colour = {run['peer']: COLOURS[at % len(COLOURS)] for at, run in enumerate(runs)}
    if any(points for _, points in curves):
        parts += recall_panel([(run, points) for run, points in curves if points], colour)
    rows = [(run, marks(run, threads)) for run in runs]
    rows = [(run, found) for run, found in rows if found]
    if rows:
        parts += time_panel(rows, colour, LEFT + PANEL + GAP)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>\n' + '\n'.join(parts) + '\n</svg>\n')


def axis(low, high, left, bottom, title):
    """A logarithmic axis of milliseconds, and the function from milliseconds to its place."""
    place = lambda amount: left + PANEL * (math.log10(amount) - low) / (high - low)  # noqa: E731
    parts = []
    for power in range(low, high + 1):
        x = place(10 ** power)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#e0e0e0"/>')
        parts.append(text(x, bottom + 16, f'{10 ** power:,g}', anchor='middle'))
    parts.append(text(left + PANEL / 2, bottom + 34, title, anchor='middle'))
    return place, parts


def text(x, y, words, anchor='start', colour='#333333', weight='normal'):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">{escape(words)}</text>')


def recall_panel(curves, colour):
    bottom = HEIGHT - 56
    place, parts = axis(*decades([time for _, points in curves for time, _ in points]), LEFT, bottom, 'vector search, p50 in ms')
    # What is missed, on a logarithmic scale: .9 to .99 matters as much as 0 to .9.
    least = max([one for one in RECALLS[:-1] if one <= min(recall for _, points in curves for _, recall in points)], default=0)
    missed = lambda recall: -math.log10(max(1 - recall, 1 - RECALLS[-1]))  # noqa: E731
    height = lambda recall: bottom - (bottom - TOP) * (missed(recall) - missed(least)) / (missed(1) - missed(least))  # noqa: E731
    for step in RECALLS:
        if step >= least:
            y = height(step)
            dashes = ' stroke-dasharray="4 3"' if step == figures.ENOUGH else ''
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + PANEL}" y2="{y:.1f}" '
                         f'stroke="{"#777777" if dashes else "#e0e0e0"}"{dashes}/>')
            parts.append(text(LEFT - 6, y + 4, 'all' if step == RECALLS[-1] else f'{step:g}'.lstrip('0') or '0', anchor='end'))
    parts.append(text(LEFT, TOP - 30, 'Recall@10 by time', weight='bold'))
    parts.append(text(LEFT, TOP - 14, f'one point a search setting; dashed: {number(figures.ENOUGH)}'))
    for at, (run, points) in enumerate(curves):
        ours, tint = run['peer'] == OURS, colour[run['peer']]
        path = ' '.join(f'{place(time):.1f},{height(recall):.1f}' for time, recall in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{tint}" stroke-width="{3 if ours else 1.5}"/>')
        parts += [f'<circle cx="{place(time):.1f}" cy="{height(recall):.1f}" r="{5 if ours else 3}" fill="{tint}"/>'
                  for time, recall in points]
        y = TOP + 18 * at
        parts.append(f'<line x1="{LEFT + PANEL + 10}" y1="{y}" x2="{LEFT + PANEL + 26}" y2="{y}" stroke="{tint}" '
                     'stroke-width="3"/>')
        parts.append(text(LEFT + PANEL + 31, y + 4, run['title'], weight='bold' if ours else 'normal'))
    return parts


def marks(run, threads):
    """Milliseconds by mark."""
    found = {kind: chosen(run, threads, kind)['p50_ms'] for kind, _, _ in MARKS[:3] if chosen(run, threads, kind)}
    cold = value(run, 'cold', 'wall_ms')
    return found | ({'cold': cold} if cold else {})


def time_panel(rows, colour, left):
    step = 30
    bottom = TOP + step * len(rows)
    place, parts = axis(*decades([time for _, found in rows for time in found.values()]), left, bottom,
                        f'p50 in ms at recall {number(figures.ENOUGH)}, or the most reached')
    parts.append(text(left, TOP - 30, 'Time of a question', weight='bold'))
    x = left
    for _, name, shape in MARKS:
        parts.append(mark(shape, x + 5, TOP - 18, '#333333'))
        parts.append(text(x + 14, TOP - 14, name))
        x += 26 + 7 * len(name)
    for at, (run, found) in enumerate(rows):
        y = TOP + step * at + step / 2
        parts.append(text(left - 8, y + 4, run['title'], anchor='end', weight='bold' if run['peer'] == OURS else 'normal'))
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + PANEL}" y2="{y:.1f}" stroke="#f0f0f0"/>')
        parts += [mark(shape, place(found[kind]), y, colour[run['peer']]) for kind, _, shape in MARKS if kind in found]
    return parts


def mark(shape, x, y, colour):
    match shape:
        case 'circle':
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
        case 'square':
            return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="none" stroke="{colour}" stroke-width="2"/>'
        case 'triangle':
            return (f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        case 'cross':
            return f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="2"/>'
    raise ValueError(shape)


if __name__ == '__main__':
    main()
