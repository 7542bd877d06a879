#!/usr/bin/env python3
"""Expected values for the metrics of `bower eval`, computed by trec_eval itself.

    pip install pytrec_eval-terrier
    tools/golden_eval.py            writes crates/bower/tests/golden/eval.json

Each case is one query: its judgements, the ranking that was handed in (best first) and what trec_eval says of it.
trec_eval sorts by score and breaks ties by document id, descending; a case that has ties therefore holds the order that
trec_eval makes of them. nDCG has linear gain (`ndcg_cut`). MRR@10 is `recip_rank` of the first ten.
"""
import json
import pathlib
import random

import pytrec_eval

OUT = pathlib.Path(__file__).resolve().parent.parent / 'crates/bower/tests/golden/eval.json'
CUTS = [1, 3, 5, 10, 20]


def order(scored):
    """Best first as trec_eval sees it: by score, then by document id, both descending."""
    return sorted(scored, key=lambda document: (scored[document], document), reverse=True)


def judge(grades, scored):
    """What trec_eval says of one ranking, at each cut."""
    ask = {f'ndcg_cut.{k}' for k in CUTS} | {f'recall.{k}' for k in CUTS} | {'recall.100'}
    whole = pytrec_eval.RelevanceEvaluator({'q': grades}, ask).evaluate({'q': scored})['q']
    expected = {}
    for k in CUTS:
        head = {document: scored[document] for document in order(scored)[:k]}
        first = pytrec_eval.RelevanceEvaluator({'q': grades}, {'recip_rank'}).evaluate({'q': head})['q']
        expected[str(k)] = {
            'ndcg': whole[f'ndcg_cut_{k}'],
            'recall': whole[f'recall_{k}'],
            'recall_100': whole['recall_100'],
            'mrr': first['recip_rank'],
        }
    return expected


def case(name, grades, scored):
    return {'name': name, 'grades': grades, 'ranking': order(scored), 'expected': judge(grades, scored)}


def ranked(*documents):
    """Scores that put the documents in this order."""
    return {document: float(len(documents) - at) for at, document in enumerate(documents)}


def cases():
    letters = [chr(ord('a') + at) for at in range(26)]
    yield case('the best document first', {'a': 1}, ranked(*letters[:12]))
    yield case('the best document last', {'l': 1}, ranked(*letters[:12]))
    yield case('just inside and just outside ten', {'j': 1, 'k': 1}, ranked(*letters[:12]))
    yield case('graded', {'a': 1, 'b': 3, 'c': 0, 'd': 2, 'z': 3}, ranked(*letters[:8]))
    yield case('graded, more relevant than the cut', {d: 1 + at % 4 for at, d in enumerate(letters)}, ranked(*reversed(letters)))
    yield case('a judged document that was not found', {'a': 2, 'nowhere': 4}, ranked('b', 'a', 'c'))
    yield case('nothing relevant was found', {'x': 1}, ranked('a', 'b', 'c'))
    yield case('only zero judgements', {'a': 0, 'b': 0}, ranked('a', 'b', 'c'))
    yield case('a negative judgement', {'a': -1, 'b': 2}, ranked('a', 'b', 'c'))
    yield case('ties', {'b': 1, 'd': 2}, {'a': 1.0, 'b': 1.0, 'c': 1.0, 'd': 0.5, 'e': 0.5})
    yield case('shorter than the cut', {'a': 1, 'b': 1}, ranked('b'))
    source = random.Random(20260314)
    for at in range(40):
        documents = [f'd{number}' for number in range(source.choice([5, 30, 150]))]
        judged = source.sample(documents + ['gone1', 'gone2'], source.randint(1, min(25, len(documents))))
        grades = {document: source.choice([0, 0, 1, 1, 2, 3, 4]) for document in judged}
        found = source.sample(documents, source.randint(1, len(documents)))
        scored = {document: source.randint(0, 40) / 8 for document in found}
        yield case(f'random {at}', grades, scored)


if __name__ == '__main__':
    OUT.parent.mkdir(parents=True, exist_ok=True)
    lines = ',\n'.join(json.dumps(one, sort_keys=True) for one in cases())
    OUT.write_text(f'[\n{lines}\n]\n', encoding='utf8')
    print(f'wrote {OUT}')
