#!/usr/bin/env python3
"""Fits the adapter that lets MiniLM classify statements: `crates/bower-core/src/embed/statements.adapter`. Needs torch,
safetensors and tokenizers.

    tools/fit_statements.py MODEL OUT.safetensors              (a GPU: 3 minutes; two CPU cores: most of a day)
    tools/fit_statements.py MODEL OUT.safetensors --fold 0     (leaves a quarter of the authors out; writes OUT.left-out.jsonl)
    bower-bench adapter --data OUT.safetensors --out crates/bower-core/src/embed/statements.adapter
    tools/fit_statements.py --check                            (needs nothing)

MODEL is the folder with all-MiniLM-L6-v2's `model.safetensors` and `vocab.txt`. The weights of the model stay; terms of rank 64
beside the products of the first four layers are fitted (LoRA, Hu et al. 2021), with linear classifiers over the states.

It learns from `crates/bower-bench/data/memory` in two steps. In the first, pairs of statements come from one group or from the
nearest groups. In the second, a third of the pairs cross groups at random, so that the later text alone tells nothing. Then a
logistic regression over the states learns which of two statements that differ in one number alone is an update.
`--fold` leaves out every fourth file of each kind, as `left_out` says.
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
# The first step: epochs, batch, rate, share of hidden tokens, and how often texts and pieces come in an epoch.
EPOCHS, BATCH, RATE, HIDE, REPEAT = 4, 256, 1e-3, .05, {'pair': 1, 'piece': 3, 'adm': 3, 'type': 1, 'dated': 1}
# The second step: examples, of which so many of each kind; batch and rate.
# The logistic regression of numbers: what the squares of its weights cost, 1 / (2 C).
PENALTY = 1 / (2 * .3)
SECOND, MIX, SECOND_BATCH, SECOND_RATE = 26_000, {'pair': .55, 'across': .3, 'adm': .07, 'piece': .06, 'type': .02}, 64, 4e-4
FOLDS = 4


def files(folder):
    return sorted((DATA / folder).glob('*.jsonl'))


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()]


def checksum():
    """SHA-256 over the data that the adapter is fitted to."""
    digest = hashlib.sha256()
    for folder in FOLDERS:
        for path in files(folder):
            digest.update(path.name.encode() + b'\0' + path.read_bytes())
    return digest.hexdigest()


def left_out(fold):
    """The files that a fold leaves out: every fourth of each kind."""
    kinds = [[p for p in files('statements') if p.name.startswith(kind)] for kind in ('en-', 'many-')]
    kinds += [files('admission'), files('sessions')]
    return {path for kind in kinds for at, path in enumerate(kind) if at % FOLDS == fold}


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


def examples(inputs, paths, near, rng):
    """The examples of the first step for some files, by task: (ids, second, class, what it is)."""
    found = {task: [] for task in CLASSES}
    for path in files('statements'):
        for group in lines(path) if path in paths else ():
            all_pairs = pairs(group, rng)
            for other in near.get(group['s'], ()):
                all_pairs.append((other, group['s'], 'different', 'near'))
                all_pairs.append((other, rng.choice(group['same'] + group['update']), 'different', 'near'))
            for one, two, relation, kind in all_pairs:
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


def second_examples(inputs, paths, neighbours, rng):
    """The examples of the second step."""
    groups = [group for path in files('statements') if path in paths for group in lines(path)]
    first = examples(inputs, paths, {}, rng)
    found = {task: [] for task in CLASSES}
    count = {kind: int(SECOND * share) for kind, share in MIX.items()}
    found['pair'] = rng.sample(first['pair'], min(count['pair'], len(first['pair'])))
    for _ in range(count['across']):
        one = rng.randrange(len(groups))
        two = rng.choice(neighbours[one]) if rng.random() < .5 else rng.randrange(len(groups))
        if one != two:
            texts = rng.choice(statements(groups[one])), rng.choice(statements(groups[two]))
            found['pair'].append((*inputs.pair(*texts), RELATIONS.index('different'), None))
    for task, kind in (('adm', 'adm'), ('piece', 'piece'), ('type', 'type'), ('dated', 'type')):
        found[task] = rng.sample(first[task], min(count[kind], len(first[task])))
    return found


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
                self.drop = nn.Dropout(.05)

        def forward(self, x):
            y = F.linear(x, self.w, self.b)
            return y + F.linear(F.linear(self.drop(x), self.A), self.B) * SCALE if self.has_term else y

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
            self.drop, self.head_drop = nn.Dropout(.1), nn.Dropout(.1)
            self.heads = nn.ModuleDict({'h_' + task: nn.Linear(5 * HIDDEN, count) for task, count in CLASSES.items()})

        def states(self, ids, mask, second):
            rows, length = ids.shape
            normed = lambda x, norm: F.layer_norm(x, (HIDDEN,), norm[0], norm[1], 1e-12)
            x = normed(F.embedding(ids, self.words) + self.positions[:length] + second[..., None] * self.shift, self.norm)
            for layer, norms in zip(self.layers, self.norms):
                q, k, v = layer['qkv'](x).view(rows, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
                context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
                context = context.transpose(1, 2).reshape(rows, length, HIDDEN)
                x = normed(x + self.drop(layer['out'](context)), norms[0])
                x = normed(x + self.drop(layer['down'](F.gelu(layer['up'](x)))), norms[1])
            return x.float()

        def features(self, ids, mask, second):
            x, inside = self.states(ids, mask, second), second * mask
            outside = mask.float() * (1 - second)
            outside[:, 0] = 0
            mean = lambda which: (x * which[..., None]).sum(1) / which.sum(1, keepdim=True).clamp(min=1)
            one, two = mean(outside), mean(inside)
            return torch.cat([x[:, 0], one, two, (one - two).abs(), one * two], 1)

        def forward(self, ids, mask, second, task):
            return self.heads['h_' + task](self.head_drop(self.features(ids, mask, second)))

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


def train(network, found, inputs, epochs, size, rate, head_rate, repeat, warm, rng, device):
    import torch
    from torch.nn import functional as F
    body = [p for name, p in network.named_parameters() if p.requires_grad and not name.startswith('heads')]
    heads = list(network.heads.parameters())
    optimizer = torch.optim.AdamW([{'params': body, 'lr': rate}, {'params': heads, 'lr': head_rate}], weight_decay=.01)
    plan = [(task, batch) for _ in range(epochs) for task in found for _ in range(repeat[task])
            for batch in batches(found[task], size, rng, device)]
    rng.shuffle(plan)
    for step, (task, (_, ids, mask, second, y)) in enumerate(plan):
        network.train()
        share = min(1, (step + 1) / (len(plan) * warm)) * max(.02, .5 * (1 + math.cos(math.pi * step / len(plan))))
        for group, most in zip(optimizer.param_groups, (rate, head_rate)):
            group['lr'] = most * share
        hidden = torch.rand(ids.shape, device=device) < HIDE * 2 * torch.rand(len(ids), 1, device=device)
        ids = torch.where(hidden & mask & (ids != inputs.first) & (ids != inputs.last), inputs.mask, ids)
        with torch.autocast(device, torch.bfloat16):
            logits = network(ids, mask, second, task)
        loss = F.cross_entropy(logits.float(), y, label_smoothing=.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(body + heads, 1.)
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
            found[group] = network.eval().features(ids, mask, second).cpu()
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
    network, found = build(model, device, layers=6).eval(), torch.zeros(len(texts), HIDDEN)
    rows = [(*inputs.text(text), 0) for text in texts]
    with torch.no_grad():
        for group, ids, mask, second, _ in batches(rows, BATCH, random.Random(0), device):
            states = network.states(ids, mask, second * 0)
            found[group] = torch.nn.functional.normalize((states * mask[..., None]).sum(1), dim=1).cpu()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('model', nargs='?', type=pathlib.Path)
    parser.add_argument('out', nargs='?', type=pathlib.Path)
    parser.add_argument('--fold', type=int)
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args()
    if options.check:
        return check()
    import torch
    from safetensors.torch import save_file
    torch.manual_seed(0)
    rng, device = random.Random(0), 'cuda' if torch.cuda.is_available() else 'cpu'
    out = left_out(options.fold) if options.fold is not None else set()
    paths = {path for folder in FOLDERS for path in files(folder)} - out
    groups = [group for path in files('statements') if path in paths for group in lines(path)]
    inputs = Inputs(options.model / 'vocab.txt')
    found = vectors(options.model, inputs, [group['s'] for group in groups], device)
    nearest = (-(found @ found.T)).argsort(1)[:, 1:31].tolist()
    near = {}
    for group, others in zip(groups, nearest):
        chosen = [groups[at] for at in rng.sample(others[:6], 3)]
        near[group['s']] = [rng.choice([other['s'], other['same'][0], other['update'][0]]) for other in chosen]
    network = build(options.model, device)
    first = examples(inputs, paths, near, rng)
    train(network, first, inputs, EPOCHS, BATCH, RATE, 1e-3, REPEAT, .06, rng, device)
    second = second_examples(inputs, paths, nearest, rng)
    train(network, second, inputs, 1, SECOND_BATCH, SECOND_RATE, SECOND_RATE, dict.fromkeys(CLASSES, 1), .1, rng, device)
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
    if out:
        network.eval()
        with options.out.with_suffix('.left-out.jsonl').open('w', encoding='utf-8') as file, torch.no_grad():
            for task, rows in examples(inputs, out, {}, rng).items():
                for group, ids, mask, second, y in batches(rows, BATCH, rng, device):
                    likelihoods = network(ids, mask, second, task).softmax(-1).tolist()
                    for at, found in zip(group, likelihoods):
                        print(json.dumps([task, rows[at][3], rows[at][2], found], ensure_ascii=False), file=file)


if __name__ == '__main__':
    main()
