#!/usr/bin/env python3
"""Fits the adapter that lets MiniLM classify statements: `crates/bower-core/src/embed/statements.adapter`. Needs torch,
safetensors and tokenizers.

    tools/fit_statements.py MODEL OUT.safetensors                      (a GPU: 3 minutes; two CPU cores: an hour)
    tools/fit_statements.py MODEL OUT.safetensors --from OLD.safetensors   (goes on from what an earlier run fitted)
    bower-bench adapter --data OUT.safetensors --out crates/bower-core/src/embed/statements.adapter
    tools/fit_statements.py --check                                    (needs nothing)

MODEL is the folder with all-MiniLM-L6-v2's `model.safetensors` and `vocab.txt`. The weights of the model stay; terms of rank 64
beside the products of the first four layers are fitted (LoRA, Hu et al. 2021), with linear classifiers over the states.

It learns from `crates/bower-bench/data/memory`. Most pairs of statements come from one group; the others cross groups, so that the
later text alone tells nothing. Then a logistic regression over the states learns which of two statements that differ in one
number alone is an update. Nothing is fitted to the files whose names begin with `out-`, which have authors of their own, nor to
every fourth file of each kind with `--fold`. At the end it prints what the adapter says of them, and writes it to
OUT.left-out.jsonl.
It also writes OUT.order.tsv of those files, for tools/fit_order.py.
`--check` fails where the data is not that which the committed adapter was fitted to.
"""
import argparse
import hashlib
import json
import math
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / 'crates/bower-bench/data/memory'
ADAPTER = ROOT / 'crates/bower-core/src/embed/statements.adapter'
RELATIONS = ['same', 'more', 'update', 'contradiction', 'different']
PIECES = ['keep', 'part', 'drop', 'foreign', 'inject']
TYPES = ['fact', 'preference', 'decision', 'convention', 'procedure', 'gotcha', 'plan', 'event', 'person', 'project']
FOLDERS = ('statements', 'admission', 'sessions', 'numbers')
CLASSES = {'pair': len(RELATIONS), 'piece': len(PIECES), 'adm': 2, 'type': len(TYPES), 'dated': 2}
HIDDEN, HEADS, LAYERS, RANK = 384, 12, 4, 64
# A term's scale (LoRA's alpha over its rank).
SCALE = 2.
# Most tokens, as in `embed/adapter.rs`.
PAIR, TEXT, PIECE, BEFORE, BEFORE_START, AFTER = 62, 126, 64, 50, 8, 14
# Examples, of which each task has a share; those of small tasks come several times.
EXAMPLES, SHARES = 450_000, {'pair': .64, 'piece': .13, 'adm': .12, 'type': .05, 'dated': .06}
# Share of the pairs that cross groups. Half of them are among the nearest of a group. Those nearer than the nearest of a tenth of the
# groups of their language are left out, because they may tell the same attribute, and nobody looked whether both can hold.
ACROSS, NEIGHBOURS, TOO_NEAR = .4, 6, .9
# Rates of a first fit and of one that goes on; share of the steps until the rate is reached; share of hidden tokens. Dropping
# states as well takes a CPU half as long again.
BATCH, RATE, RATE_ON, WARM, HIDE = 128, 1e-3, 6e-4, .05, .05
FOLDS = 4
# The logistic regression of numbers: what the squares of its weights cost, 1 / (2 C).
PENALTY = 1 / (2 * .3)


def files(folder):
    return sorted((DATA / folder).glob('*.jsonl'))


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()]


def checksum():
    """SHA-256 over the data that the adapter is fitted to."""
    digest, out = hashlib.sha256(), left_out(None)
    for folder in FOLDERS:
        for path in files(folder):
            if path in out:
                continue
            digest.update(path.name.encode() + b'\0' + path.read_bytes())
    return digest.hexdigest()


def left_out(fold):
    """The files that nothing is fitted to: those that are always left out, and every fourth of each kind with a fold."""
    out = {path for folder in FOLDERS for path in files(folder) if path.name.startswith('out-')}
    kinds = [[p for p in files('statements') if p.name.startswith(kind)] for kind in ('en-', 'many-')]
    kinds += [[p for p in files(folder) if p not in out] for folder in ('admission', 'sessions')]
    return out | {path for kind in kinds for at, path in enumerate(kind) if fold is not None and at % FOLDS == fold}


def statements(group):
    """All statements of a group."""
    texts = [group['s'], *group['same'], *group['update'], group['rewrite'], group['more']]
    texts += [text for _, text in group['twin'] + group['deny']]
    return texts + [group['partial']] if group.get('partial') else texts


def pairs(group, rng):
    """The pairs of a group, as (earlier, later, relation, kind)."""
    s, same, update = group['s'], group['same'], group['update']
    found = [pair for x in same for pair in ((s, x, 'same', 'same'), (x, s, 'same', 'same'))]
    for at, x in enumerate(same):
        found += [((x, y) if rng.random() < .5 else (y, x)) + ('same', 'same') for y in same[at + 1:]]
    for x in update:
        found += [(s, x, 'update', 'update')] + [(y, x, 'update', 'update_same') for y in same]
        if rng.random() < .5:
            found.append((x, s, 'update', 'update_back'))
    found += [(s, group['rewrite'], 'update', 'rewrite')] + [(y, group['rewrite'], 'update', 'rewrite_same') for y in same]
    if group.get('partial'):
        found.append((s, group['partial'], 'update', 'partial'))
    found += [(s, group['more'], 'more', 'more')] + [(y, group['more'], 'more', 'more_same') for y in same]
    for kind, x in group['deny']:
        found += [(s, x, 'contradiction', 'deny_' + kind), (x, s, 'contradiction', 'deny_back')]
        found += [(y, x, 'contradiction', 'deny_same') for y in same]
    for kind, x in group['twin']:
        found += [(s, x, 'different', 'twin_' + kind), (x, s, 'different', 'twin_back')]
        found.append((rng.choice(same), x, 'different', 'twin_same'))
        y = rng.choice(update)
        found.append((x, y, 'different', 'twin_update') if rng.random() < .5 else (y, x, 'different', 'twin_update'))
    return found


def pieces(session):
    """The pieces of a session that somebody said, as (role, before, piece, after, label)."""
    for turn in session['turns']:
        role, texts = turn['role'].split(':')[0], [text for _, text in turn['pieces']]
        for at, (label, text) in enumerate(turn['pieces']):
            what = label.split(':')[0]
            if what in PIECES and role != 'tool':
                yield role, ''.join(texts[:at]), text, ''.join(texts[at + 1:]), what


def check():
    about = json.loads(ADAPTER.read_bytes().rsplit(b'{"layers"', 1)[1].join([b'{"layers"', b'']).rstrip(b'\0'))
    if about['data'] != checksum():
        sys.exit(f'{ADAPTER.name} was fitted to other data than {DATA}: fit it anew, or take the change back')


class Inputs:
    """Turns texts into tokens, as `embed/adapter.rs` does: ids, and which of them belong to the second text."""

    def __init__(self, vocabulary):
        from tokenizers import BertWordPieceTokenizer
        self.tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self.first, self.last, self.mask = (self.tokenizer.token_to_id(piece) for piece in ('[CLS]', '[SEP]', '[MASK]'))
        self.known = {}

    def tokens(self, text):
        if text not in self.known:
            self.known[text] = self.tokenizer.encode(text.replace('\n', ' ¶ '), add_special_tokens=False).ids
        return self.known[text]

    @staticmethod
    def cut(tokens, most, start):
        return tokens if len(tokens) <= most else tokens[:start] + tokens[len(tokens) - (most - start):]

    def pair(self, earlier, later):
        one, two = self.tokens(earlier)[:PAIR], self.tokens(later)[:PAIR]
        return [self.first, *one, self.last, *two, self.last], [0] * (len(one) + 2) + [1] * (len(two) + 1)

    def text(self, text):
        tokens = self.cut(self.tokens(text), TEXT, TEXT // 2)
        return [self.first, *tokens, self.last], [0] + [1] * (len(tokens) + 1)

    def piece(self, role, before, piece, after):
        before = self.cut(self.tokens(f'{role} : {before}'), BEFORE, BEFORE_START)
        piece, after = self.tokens(piece)[:PIECE], self.tokens(after)[:AFTER]
        ids = [self.first, *before, self.last, *piece, self.last, *after]
        return ids, [0] * (len(before) + 2) + [1] * (len(piece) + 1) + [0] * len(after)


def examples(inputs, paths, rng):
    """The examples of some files, by task: (ids, second, class, what it is). No pair of them crosses groups."""
    found = {task: [] for task in CLASSES}
    for path in files('statements'):
        for group in lines(path) if path in paths else ():
            for one, two, relation, kind in pairs(group, rng):
                found['pair'].append((*inputs.pair(one, two), RELATIONS.index(relation), [one, two, kind, group['lang']]))
            for x in [group['s'], *group['same'], group['update'][0]]:
                found['type'].append((*inputs.text(x), TYPES.index(group['type']), [x]))
                found['dated'].append((*inputs.text(x), int(group['dated']), [x]))
            for x in [group['s'], rng.choice(group['same']), group['more']]:
                found['adm'].append((*inputs.text(x), 1, [x, 'statement', group['lang']]))
    for path in files('admission'):
        for one in lines(path) if path in paths else ():
            label = int(one['label'] == 'genuine')
            found['adm'].append((*inputs.text(one['text']), label, [one['text'], one['kind'], one['lang']]))
            if label and one['kind'] in TYPES:
                found['type'].append((*inputs.text(one['text']), TYPES.index(one['kind']), [one['text']]))
    for path in files('sessions'):
        for session in lines(path) if path in paths else ():
            for *piece, what in pieces(session):
                found['piece'].append((*inputs.piece(*piece), PIECES.index(what), [*piece, session['lang']]))
    return found


def across(inputs, groups, found, count, rng):
    """So many pairs that cross groups, some of them neighbours by the vectors in `found`."""
    import torch
    cosines, nearest = (found @ found.T).topk(NEIGHBOURS + 1, dim=1)
    languages = [group['lang'] for group in groups]
    most = {language: torch.quantile(cosines[[one == language for one in languages], 1], TOO_NEAR).item() for language in set(languages)}
    near = [[at for cosine, at in zip(*row) if cosine <= most[language] and at != one]
            for one, (language, *row) in enumerate(zip(languages, cosines.tolist(), nearest.tolist()))]
    for nth in range(count):
        one = rng.randrange(len(groups))
        others = near[one] if nth % 2 else None
        two = rng.choice(others) if others else rng.randrange(len(groups))
        if one != two:
            texts = rng.choice(statements(groups[one])), rng.choice(statements(groups[two]))
            yield (*inputs.pair(*texts), RELATIONS.index('different'), [*texts, 'across', groups[one]['lang']])


def drawn(rows, count, rng):
    """So many examples: each equally often, but for a rest by chance."""
    whole, rest = divmod(count, len(rows))
    return rows * whole + rng.sample(rows, rest)


def build(model, device, layers=LAYERS):
    """The network: the first layers of MiniLM with terms of low rank, and the classifiers."""
    import torch
    from safetensors.torch import load_file
    from torch import nn
    from torch.nn import functional as F
    weights = {name: tensor.float() for name, tensor in load_file(str(model / 'model.safetensors')).items()}

    class Product(nn.Module):
        def __init__(self, names, has_term):
            super().__init__()
            joined = lambda part: nn.Parameter(torch.cat([weights[f'{name}.{part}'] for name in names]), requires_grad=False)
            self.w, self.b, self.has_term = joined('weight'), joined('bias'), has_term
            if has_term:
                self.A = nn.Parameter(torch.randn(RANK, self.w.shape[1]) / math.sqrt(self.w.shape[1]))
                self.B = nn.Parameter(torch.zeros(self.w.shape[0], RANK))

        def forward(self, x):
            y = F.linear(x, self.w, self.b)
            return y + F.linear(F.linear(x, self.A), self.B) * SCALE if self.has_term else y

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            # Rows of bytes, as the packed model has them.
            words = weights['embeddings.word_embeddings.weight']
            step = (words.abs().amax(1, keepdim=True) / 127).clamp(min=1e-9)
            types = weights['embeddings.token_type_embeddings.weight']
            keep = lambda tensor: nn.Parameter(tensor, requires_grad=False)
            self.words = keep((words / step).round() * step)
            self.positions = keep(weights['embeddings.position_embeddings.weight'] + types[0])
            self.shift = nn.Parameter(types[1] - types[0])
            norm = lambda name: nn.ParameterList([keep(weights[f'{name}.weight']), keep(weights[f'{name}.bias'])])
            self.norm = norm('embeddings.LayerNorm')
            self.layers, self.norms = nn.ModuleList(), nn.ModuleList()
            for layer in range(layers):
                name = f'encoder.layer.{layer}.'
                own = [f'{name}attention.self.{part}' for part in ('query', 'key', 'value')]
                self.layers.append(nn.ModuleDict({
                    'qkv': Product(own, True), 'out': Product([name + 'attention.output.dense'], True),
                    'up': Product([name + 'intermediate.dense'], False), 'down': Product([name + 'output.dense'], True)}))
                self.norms.append(nn.ModuleList([norm(name + 'attention.output.LayerNorm'), norm(name + 'output.LayerNorm')]))
            self.heads = nn.ModuleDict({'h_' + task: nn.Linear(5 * HIDDEN, count) for task, count in CLASSES.items()})

        def states(self, ids, mask, second):
            rows, length = ids.shape
            normed = lambda x, norm: F.layer_norm(x, (HIDDEN,), norm[0], norm[1], 1e-12)
            x = normed(F.embedding(ids, self.words) + self.positions[:length] + second[..., None] * self.shift, self.norm)
            for layer, norms in zip(self.layers, self.norms):
                q, k, v = layer['qkv'](x).view(rows, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
                context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
                context = context.transpose(1, 2).reshape(rows, length, HIDDEN)
                x = normed(x + layer['out'](context), norms[0])
                x = normed(x + layer['down'](F.gelu(layer['up'](x))), norms[1])
            return x.float()

        def features(self, ids, mask, second):
            x, inside = self.states(ids, mask, second), second * mask
            outside = mask.float() * (1 - second)
            outside[:, 0] = 0
            mean = lambda which: (x * which[..., None]).sum(1) / which.sum(1, keepdim=True).clamp(min=1)
            one, two = mean(outside), mean(inside)
            return torch.cat([x[:, 0], one, two, (one - two).abs(), one * two], 1)

        def forward(self, ids, mask, second, task):
            return self.heads['h_' + task](self.features(ids, mask, second))

    return Network().to(device)


def batches(found, size, rng, device):
    """Batches of examples of like length, in any order."""
    import torch
    order = sorted(range(len(found)), key=lambda at: len(found[at][0]) + rng.uniform(0, 8))
    groups = [order[at:at + size] for at in range(0, len(order), size)]
    rng.shuffle(groups)
    for group in groups:
        length = max(len(found[at][0]) for at in group)
        pad = lambda row: row + [0] * (length - len(row))
        tensor = lambda rows: torch.tensor(rows, device=device)
        ids, second = tensor([pad(found[at][0]) for at in group]), tensor([pad(found[at][1]) for at in group]).float()
        mask = torch.arange(length, device=device)[None] < tensor([len(found[at][0]) for at in group])[:, None]
        yield group, ids, mask, second, tensor([found[at][2] for at in group])


def train(network, found, inputs, rate, rng, device):
    import torch
    from torch.nn import functional as F
    fitted = [p for p in network.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(fitted, lr=rate, weight_decay=.01)
    plan = [(task, batch) for task, rows in found.items() for batch in batches(rows, BATCH, rng, device)]
    rng.shuffle(plan)
    for step, (task, (_, ids, mask, second, y)) in enumerate(plan):
        share = min(1, (step + 1) / (len(plan) * WARM)) * max(.02, .5 * (1 + math.cos(math.pi * step / len(plan))))
        optimizer.param_groups[0]['lr'] = rate * share
        hidden = torch.rand(ids.shape, device=device) < HIDE * 2 * torch.rand(len(ids), 1, device=device)
        ids = torch.where(hidden & mask & (ids != inputs.first) & (ids != inputs.last), inputs.mask, ids)
        with torch.autocast(device, torch.bfloat16):
            logits = network(ids, mask, second, task)
        loss = F.cross_entropy(logits.float(), y, label_smoothing=.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(fitted, 1.)
        optimizer.step()
        if step % 100 == 0:
            print(f'{step} of {len(plan)}: {task} {loss.item():.3f}', file=sys.stderr, flush=True)


def numbers(network, inputs, device):
    """The features of the pairs that differ in one number, whether each is an update, and the file of each."""
    import torch
    rows = [(path.name, one) for path in files('numbers') for one in lines(path)]
    pairs = [(*inputs.pair(one['earlier'], one['later']), int(one['label'] == 'update')) for _, one in rows]
    found, y = torch.zeros(len(rows), 5 * HIDDEN), torch.tensor([float(label) for *_, label in pairs])
    with torch.no_grad():
        for group, ids, mask, second, _ in batches(pairs, BATCH, random.Random(0), device):
            found[group] = network.features(ids, mask, second).cpu()
    return found, y, [name for name, _ in rows]


def regression(x, y):
    """Weights and bias of a logistic regression (L2, the bias free), by L-BFGS."""
    import torch
    from torch.nn import functional as F
    w, b = torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([w, b], max_iter=500, history_size=20, line_search_fn='strong_wolfe')

    def loss():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(x @ w + b, y, reduction='sum') + PENALTY * w.square().sum()
        loss.backward()
        return loss

    optimizer.step(loss)
    return w.detach(), b.detach()


def number_head(network, inputs, device):
    """The classifier of pairs that differ in one number; prints how it does on each file that it was not fitted to."""
    import torch
    x, y, names = numbers(network, inputs, device)
    likelihoods = torch.zeros(len(y))
    for name in sorted(set(names)):
        out = torch.tensor([one == name for one in names])
        w, b = regression(x[~out], y[~out])
        likelihoods[out] = torch.sigmoid(x[out] @ w + b)
    for bar in (.5, .6, .7, .8, .9):
        passed = [int((likelihoods[y == label] >= bar).sum()) for label in (1, 0)]
        print(f'numbers, bar {bar}: {passed[0]} of {int(y.sum())} updates, {passed[1]} of {int((1 - y).sum())} others', file=sys.stderr)
    w, b = regression(x, y)
    return {'number.weight': torch.stack([torch.zeros_like(w), w]), 'number.bias': torch.cat([torch.zeros(1), b])}


def vectors(model, inputs, texts, device):
    """The vectors of the unchanged model: its terms are zero before the fit."""
    import torch
    network, found = build(model, device, layers=6), torch.zeros(len(texts), HIDDEN)
    rows = [(*inputs.text(text), 0) for text in texts]
    with torch.no_grad():
        for group, ids, mask, second, _ in batches(rows, BATCH, random.Random(0), device):
            states = network.states(ids, mask, second * 0)
            found[group] = torch.nn.functional.normalize((states * mask[..., None]).sum(1), dim=1).cpu()
    return found


def load(network, path):
    """Gives a network the tensors that an earlier run wrote."""
    import torch
    from safetensors.torch import load_file
    tensors = load_file(str(path))
    with torch.no_grad():
        network.shift.copy_(tensors['shift'])
        for layer, products in enumerate(network.layers):
            for name in ('qkv', 'out', 'down'):
                products[name].A.copy_(tensors[f'{layer}.{name}.A'])
                products[name].B.copy_(tensors[f'{layer}.{name}.B'] / SCALE)
        for task in CLASSES:
            network.heads['h_' + task].weight.copy_(tensors[f'{task}.weight'])
            network.heads['h_' + task].bias.copy_(tensors[f'{task}.bias'])


def judge(network, model, inputs, out, path, rng, device):
    """Writes what the network says of the files that it was not fitted to, and prints how often it passes which bar."""
    import torch
    found = examples(inputs, out, rng)
    groups = [group for path in files('statements') if path in out for group in lines(path)]
    by_meaning = vectors(model, inputs, [group['s'] for group in groups], device)
    found['pair'] += across(inputs, groups, by_meaning, 4 * len(groups), rng)
    said = []
    with torch.no_grad():
        for task, rows in found.items():
            for group, ids, mask, second, _ in batches(rows, BATCH, rng, device):
                likelihoods = network(ids, mask, second, task).softmax(-1).tolist()
                said += [(task, rows[at][3], rows[at][2], by_class) for at, by_class in zip(group, likelihoods)]
    with path.open('w', encoding='utf-8') as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + '\n' for one in said)
    order(model, inputs, groups, said, path.with_suffix('').with_suffix('.order.tsv'), device)
    kinds = {}
    for task, about, label, by_class in said:
        if task == 'pair':
            kinds.setdefault((about[2], about[3] == 'en'), []).append(by_class)
        elif task == 'adm':
            kinds.setdefault(('genuine' if label else 'junk', about[2] == 'en'), []).append(by_class)
    def share(rows, passes):
        return f'{sum(map(passes, rows)) / len(rows):.3f}'
    for (kind, is_english), rows in sorted(kinds.items()):
        line = f'{kind}, {"English" if is_english else "other languages"}, {len(rows)}:'
        if len(rows[0]) == len(RELATIONS):
            bars = [('same', bar, lambda p, bar=bar: p[0] >= bar) for bar in (.6, .7, .8)]
            bars += [('update or contradiction', bar, lambda p, bar=bar: p[2] + p[3] >= bar) for bar in (.3, .5, .6, .7, .8)]
            bars += [('contradiction', bar, lambda p, bar=bar: p[3] >= bar) for bar in (.5, .6, .7)]
            bars += [('asked', bar, lambda p, bar=bar: p[0] + p[2] + p[3] >= bar) for bar in (.2, .3, .4)]
        else:
            bars = [('genuine', bar, lambda p, bar=bar: p[1] >= bar) for bar in (.02, .05, .1, .2, .5)]
        print(line, ', '.join(f'{name} {bar}: {share(rows, passes)}' for name, bar, passes in bars), file=sys.stderr)


def order(model, inputs, groups, said, path, device):
    """Writes what tools/fit_order.py reads: pairs of English statements with a question about the earlier one's subject."""
    asked = {group['s']: (('close', group['close']), ('far', group['far'][0])) for group in groups if group.get('close')}
    rows = []
    for task, about, _, by_class in said:
        if task == 'pair' and about[3] == 'en' and about[0] in asked:
            kind = about[2]
            if kind in ('update', 'rewrite') or kind.startswith('twin_') and kind not in ('twin_same', 'twin_update', 'twin_back'):
                rows += [(kind.split('_')[0], what, question, about[0], about[1], by_class[2] + by_class[3]) for what, question in asked[about[0]]]
    texts = sorted({text for row in rows for text in row[2:5]})
    found = dict(zip(texts, vectors(model, inputs, texts, device)))
    with path.open('w', encoding='utf-8') as file:
        file.write('# kind\tquestion\tcosine of the earlier less that of the later, in thousandths\tlikelihood of another value, in thousandths\n')
        for kind, what, question, earlier, later, likelihood in rows:
            difference = float(found[question] @ (found[earlier] - found[later]))
            file.write(f'{kind}\t{what}\t{round(1000 * difference)}\t{round(1000 * likelihood)}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('model', nargs='?', type=pathlib.Path)
    parser.add_argument('out', nargs='?', type=pathlib.Path)
    parser.add_argument('--from', dest='before', type=pathlib.Path)
    parser.add_argument('--fold', type=int)
    parser.add_argument('--examples', type=int, default=EXAMPLES)
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args()
    if options.check:
        return check()
    import torch
    from safetensors.torch import save_file
    torch.manual_seed(0)
    rng, device = random.Random(0), 'cuda' if torch.cuda.is_available() else 'cpu'
    out = left_out(options.fold)
    paths = {path for folder in FOLDERS for path in files(folder)} - out
    groups = [group for path in files('statements') if path in paths for group in lines(path)]
    inputs = Inputs(options.model / 'vocab.txt')
    count = {task: int(options.examples * share) for task, share in SHARES.items()}
    crossing = int(count['pair'] * ACROSS)
    count['pair'] -= crossing
    found = {task: drawn(rows, count[task], rng) for task, rows in examples(inputs, paths, rng).items()}
    by_meaning = vectors(options.model, inputs, [group['s'] for group in groups], device)
    found['pair'] += across(inputs, groups, by_meaning, crossing, rng)
    network = build(options.model, device)
    if options.before:
        load(network, options.before)
    train(network, found, inputs, RATE_ON if options.before else RATE, rng, device)
    tensors = {'shift': network.shift}
    for layer, products in enumerate(network.layers):
        for name in ('qkv', 'out', 'down'):
            tensors |= {f'{layer}.{name}.A': products[name].A, f'{layer}.{name}.B': products[name].B * SCALE}
    for task in CLASSES:
        head = network.heads['h_' + task]
        tensors |= {f'{task}.weight': head.weight, f'{task}.bias': head.bias}
    tensors |= number_head(network, inputs, device)
    tensors = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(tensors, str(options.out), metadata={'data': checksum()})
    judge(network, options.model, inputs, out, options.out.with_suffix('.left-out.jsonl'), rng, device)


if __name__ == '__main__':
    main()
