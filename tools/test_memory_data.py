"""Tests the form of the texts in crates/bower-bench/data/memory: every line has its fields, and no text stands twice."""
import collections
import json
import os
import pathlib
import unittest

DATA = pathlib.Path(__file__).resolve().parent.parent / 'crates/bower-bench/data/memory'
TYPES = {'fact', 'preference', 'decision', 'convention', 'procedure', 'gotcha', 'plan', 'event', 'person', 'project'}
TWINS = {'thing', 'part', 'attribute', 'list', 'person', 'place', 'time', 'cue'}
LABELS = {
    'keep': {'fact', 'decision', 'preference', 'fix', 'correction', 'plan', 'procedure', 'convention', 'person'},
    'part': {'fact', 'decision', 'preference', 'fix', 'correction', 'plan', 'procedure', 'convention', 'person'},
    'drop': {'request', 'question', 'chat', 'step', 'passing', 'hypothetical', 'joke', 'general', 'reversed', 'guess', 'opinion'},
    'foreign': {'mail', 'web', 'doc', 'chat', 'tool', 'log', 'minutes', 'review', 'ticket', 'code', 'lyrics', 'contract'},
    'inject': {'mail', 'web', 'doc', 'chat', 'tool', 'log', 'minutes', 'review', 'ticket', 'code', 'lyrics', 'contract'},
}
BARE = {'glue', 'secret'}


def lines(folder):
    """Each line of a folder's files, with its place."""
    for path in sorted((DATA / folder).glob('*.jsonl')):
        for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
            yield f'{path.name}:{number}', json.loads(line)


def statements(group):
    """All statements of a group; questions are not among them."""
    texts = [group['s'], *group['same'], *group['update'], group['rewrite'], group['more']]
    texts += [text for _, text in group['twin'] + group['deny']]
    return texts + [group['partial']] if group.get('partial') else texts


class Statements(unittest.TestCase):
    def test_each_group_has_its_fields(self):
        for place, group in lines('statements'):
            with self.subTest(place):
                self.assertIn(group['type'], TYPES)
                self.assertIsInstance(group['dated'], bool)
                for field in ('same', 'update', *(['far'] if group.get('close') else [])):
                    self.assertGreaterEqual(len(group[field]), 2, field)
                self.assertTrue(group['lang'] and group['domain'])
                self.assertGreaterEqual(len(group['twin']), 4)
                self.assertTrue({kind for kind, _ in group['twin']} <= TWINS)
                self.assertTrue({kind for kind, _ in group['deny']} <= {'neg', 'opp'} and group['deny'])

    def test_no_statement_stands_twice(self):
        seen = collections.Counter(text for _, group in lines('statements') for text in statements(group))
        self.assertEqual([text for text, times in seen.items() if times > 1], [])


class Numbers(unittest.TestCase):
    def test_each_pair_differs_in_one_number_of_its_second_half(self):
        seen = set()
        for place, one in lines('numbers'):
            with self.subTest(place):
                self.assertIn(one['label'], ('update', 'different'))
                self.assertTrue(one['lang'])
                earlier, later = one['earlier'], one['later']
                self.assertNotIn((earlier, later), seen)
                seen.add((earlier, later))
                before = len(os.path.commonprefix([earlier, later]))
                after = len(os.path.commonprefix([earlier[:before - 1:-1], later[:before - 1:-1]]))
                for text in (earlier, later):
                    changed = text[before:len(text) - after]
                    self.assertNotIn(' ', changed)
                    around = text[:before].split(' ')[-1] + changed + text[len(text) - after:].split(' ')[0]
                    self.assertTrue(any(c.isdigit() for c in around), around)


class Admission(unittest.TestCase):
    def test_each_text_has_its_fields_and_stands_once(self):
        seen = collections.Counter()
        for place, one in lines('admission'):
            self.assertIn(one['label'], ('junk', 'genuine'), place)
            self.assertTrue(one['kind'] and one['lang'], place)
            seen[one['text']] += 1
        self.assertEqual([text for text, times in seen.items() if times > 1], [])


class Sessions(unittest.TestCase):
    def test_each_piece_has_a_known_label(self):
        for place, session in lines('sessions'):
            for turn in session['turns']:
                with self.subTest(place):
                    role, _, name = turn['role'].partition(':')
                    self.assertTrue(role in ('user', 'assistant', 'tool') or role == 'person' and name)
                    for label, text in turn['pieces']:
                        what, _, kind = label.partition(':')
                        self.assertTrue(label in BARE or kind in LABELS.get(what, ()), label)
                        self.assertTrue(text)


if __name__ == '__main__':
    unittest.main()
