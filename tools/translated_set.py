#!/usr/bin/env python3
"""Makes labelled sets for `bower eval` from translated manual pages and program messages in Debian's packages.

    apt-get update                                          # once; the sets follow from the packages' versions
    tools/translated_set.py OUT [--packages DIR] [--pages 600] [--messages 1000] [--seed 1] [--show 5]
    for set in OUT/*-*/; do bower eval "$set"; done                   # the default model; or one set with another model:
    bower eval OUT/pages-de-de --set model=multilingual-e5-small
    tools/translated_set.py OUT --table bower [--home DIR]            # a table of all sets: words alone and two models

OUT is a folder outside of the repository. No label is made by hand; Q is the language of the questions, D that of the documents:

  pages-Q-D            the description in a page's NAME section is the question, the rest of the page the document
  pages-en-en-of-L     the English reference of a language: exactly the pages and questions of pages-L-L
  messages-Q-D         a program's message is the question, its translation the document
  mixed-within         pages in seven languages, each in one only; the question is in the language of its page
  mixed-across         the same documents; English questions whose page exists in another language only

NAME, SYNOPSIS, and paragraphs that stand in five pages or more are removed, and both versions of a page are cut at the same share
of their length, so that the English one has about 1,200 characters. A page takes part if it is in English and in the other language,
and at least 80 % of its prose and the first paragraph are in that language. The names before a description are removed. These
descriptions are no questions, and their pages stay as documents: those that repeat such a name, those that resemble another one and
may have two answers, those that are too short, and translations with more than a third of the English words. Messages take part if
they are prose without placeholders, options, names and numbers, unlike all others, and translated as much. It needs apt-get, dpkg-deb
and groff.
"""

import argparse
import collections
import concurrent.futures
import gzip
import json
import lzma
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
from pathlib import Path

# Packages with English manual pages, translated ones, or both. The first package that has a page wins.
PAGES = """manpages manpages-dev manpages-de manpages-de-dev manpages-es manpages-es-dev manpages-fr manpages-fr-dev manpages-ru
    manpages-ru-dev manpages-ja manpages-ja-dev manpages-pt-br manpages-pt-br-dev man-db apt apt-utils dpkg dpkg-dev debconf debconf-utils
    debhelper adduser passwd login coreutils util-linux util-linux-locales bsdutils mount fdisk eject bsdextrautils bash tar grep sed
    gzip bzip2 xz-utils findutils diffutils patch procps psmisc e2fsprogs e2fsprogs-l10n systemd systemd-sysv udev gnupg gpg gpgv
    less file wget curl cpio groff groff-base gawk mawk cron at quota acl attr rsync iproute2 iputils-ping net-tools nfs-common
    openssh-client binutils-common gettext gettext-base make m4 bison flex hostname kmod ncurses-bin sysstat time logrotate dash ed
    dosfstools mtools devscripts lilypond cups-client cups-daemon cups-bsd sudo ncal bc dc screen vim-common vim-runtime nano
    unzip zip info texinfo cdebconf iptables alien fakeroot apt-file popularity-contest reportbug synaptic aptitude aptitude-doc-ja
    whiptail deborphan localepurge sysvinit-utils initscripts rdate hdparm smartmontools netcat-openbsd lsof strace tcpdump
    x11-utils xterm pppoeconf ppp nmap mutt""".split()
# Packages with catalogues of translated messages (usr/share/locale/*/LC_MESSAGES/*.mo).
MESSAGES = """apt dpkg git man-db coreutils util-linux-locales bash tar grep sed findutils diffutils wget gnupg-l10n e2fsprogs-l10n
    libc-l10n gcc-12-locales binutils-common gettext debconf adduser passwd login aptitude synaptic nano psmisc procps make bison
    parted cryptsetup-bin sudo xz-utils nautilus-data gedit-common evince-common libgtk-3-common libglib2.0-data evolution-common
    gnome-control-center-data network-manager packagekit pulseaudio-utils""".split()

ROOT = Path(__file__).resolve().parent.parent
# Our name of a language: its names below share/man and share/locale, the better first.
LANGUAGES = {
    "de": ["de"],
    "es": ["es"],
    "fr": ["fr"],
    "ru": ["ru"],
    "ja": ["ja"],
    "pt": ["pt_BR", "pt"],
}
# Function words that no other language of this table but those beside it has, to tell a translated paragraph from an English one.
COMMON = {
    "en": "the of and to is for that be with are this from which not by or can will it when if".split(),
    "de": "der die das und ist nicht ein eine mit für den wird von zu werden dem auf oder sie im wenn kann".split(),
    "es": "el la los las de que y en un una para con por se del es no al este si puede como".split(),
    "fr": "le la les de des et est un une pour dans que ne pas du par sur ce si peut être en".split(),
    "pt": "o a os as de que e em um uma para com por se do da é não este ou pode como".split(),
}
LETTERS = {"ru": re.compile(r"[а-яё]", re.I), "ja": re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")}
# Headings of the sections before the description: how it is called, and the library that has it. They are not translated.
SYNOPSIS = set(
    """SYNOPSIS SYNTAX LIBRARY USAGE ÜBERSICHT BIBLIOTHEK SINOPSIS SINTAXIS BIBLIOTECA SYNTAXE BIBLIOTHÈQUE СИНТАКСИС ОБЗОР
    БИБЛИОТЕКА ИСПОЛЬЗОВАНИЕ 書式 概要 形式 ライブラリ SINOPSE SINTAXE RESUMO""".split()
)
# Two questions may have one answer if they share this much of the words of both. Of messages the document is as short as the question.
SIMILAR = 0.6
SIMILAR_MESSAGE = 0.4
# Between names and description of a page's NAME section.
DASH = re.compile(r"(?<=\S)\s+[-‐‑–—−]+\s+")
# What groff writes to a terminal for bold and underlined text.
FACE = re.compile(r"\x1b\[[0-9;]*m|.\x08")
WORD = re.compile(r"[^\W_]+")
# What is no prose: placeholders, and literals, which stay as they are in a translation and would give the answer away.
LITERAL = re.compile(r"--?[A-Za-z]|[%$_<>=/\\{}\[\]|@#~^*+&]|[A-Z]{2,}|[A-Za-z]\.[A-Za-z]|[a-z][A-Z]|\d{3}|[`'\"«»„“”‘’「]\S*[`'\"«»„“”‘’」]")


# ---- packages


def fetch(packages, folder):
    """Downloads and unpacks packages; returns the folders of those that this release has."""
    roots = []
    folder.mkdir(parents=True, exist_ok=True)
    for package in dict.fromkeys(packages):
        root = folder / package
        if not root.is_dir():
            done = subprocess.run(["apt-get", "download", package], cwd=folder, capture_output=True, text=True)
            archive = next(iter(sorted(folder.glob(f"{package}_*.deb"))), None)
            if done.returncode or archive is None:
                print(f"left out: {package}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                continue
            subprocess.run(["dpkg-deb", "-x", archive.name, package + ".part"], cwd=folder, check=True)
            (folder / (package + ".part")).rename(root)
        roots.append(root)
    return roots


def version(folder, package):
    """The version in the name of a downloaded package."""
    archive = next(iter(sorted(folder.glob(f"{package}_*.deb"))), None)
    return archive.name.split("_")[1].replace("%3a", ":") if archive else "?"


def files_of(roots, languages, below, pattern):
    """The first regular file of each name, over `languages` in their order and then over packages."""
    found = {}
    for language in languages:
        for root in roots:
            for path in sorted((root / below / language).glob(pattern)):
                if path.is_file() and not path.is_symlink():
                    found.setdefault(re.sub(r"\.(gz|xz)$", "", path.name), path)
    return found


# ---- manual pages


def source(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opener(path, "rb") as file:
        return file.read()


def roff_text(path, cache):
    """The page as groff writes it, a paragraph a line, or nothing if it only points to another page."""
    raw = source(path)
    if len(raw) < 400 and re.search(rb"(?m)^\.so ", raw):
        return ""
    kept = cache / (str(path.parts[-3]) + "-" + path.name + ".txt")
    if not kept.exists():
        japanese = ["-mja"] if "ja" in path.parts else []
        done = subprocess.run(
            ["groff", "-Kutf8", "-Tutf8", "-t", "-e", "-mandoc", *japanese, "-P-c", "-rLL=9000n", "-rHY=0", "-rcR=1"],
            input=raw, capture_output=True,
        )  # fmt: skip
        kept.write_text(FACE.sub("", done.stdout.decode("utf-8", "replace")), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def fold(text):
    return re.sub(r"\s+", " ", text.replace("\u00ad", "").replace("‐", "-").replace("−", "-")).strip()


def sections(text):
    """The sections of a page: heading and paragraphs. Headings begin in the first column, text does not."""
    parts = []
    for line in text.splitlines()[1:]:
        if line[:1].strip():
            parts.append((fold(line), []))
        elif parts and re.search(r"[^\W_]", line):
            parts[-1][1].append(fold(re.sub("[\u2500-\u257f]", " ", line)))
    # The last line is the page's footer.
    return [part for part in parts if part[1]]


def described(name, text):
    """The description in a page's NAME section, and the page's other paragraphs; nothing if it has no such section.

    A description that repeats one of the names before it comes back empty: the name would give the page away.
    """
    parts = sections(text)
    if len(parts) < 2:
        return None
    line = " ".join(parts[0][1])
    cut = DASH.search(line)
    if cut is None or cut.start() > 200 or len(parts[0][1]) > 1:
        return None
    names = {word.lower() for word in re.split(r"[\s,]+", line[: cut.start()])} | {name.rsplit(".", 1)[0].lower()}
    question = fold(line[cut.end() :]).strip(" -:,;.")
    if any(name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question.lower()) for name in names):
        question = ""
    body = [line for heading, lines in parts[1:] if heading.upper() not in SYNOPSIS for line in (heading, *lines)]
    return question, body


def in_language(text, language):
    """Whether prose is in a language and not in English; None if there is too little to tell."""
    words = text.lower().split()
    letters = LETTERS.get(language)
    if letters:
        # One character of Japanese says as much as three letters.
        own = len(letters.findall(text)) * (3 if language == "ja" else 1)
        if own > sum(len(word) for word in re.findall(r"[A-Za-z]+", text)):
            return True
        return False if sum(word in COMMON["en"] for word in words) > 1 else None
    own, english = (sum(word in COMMON[one] for word in words) for one in (language, "en"))
    return None if own == english else own > english


def is_prose(line, language):
    return len(line) >= (20 if language == "ja" else 60)


def share_in(language, body):
    """The share of a page's prose, in characters, that is in the language."""
    told = [(len(line), in_language(line, language)) for line in body if is_prose(line, language)]
    total = sum(size for size, is_own in told if is_own is not None)
    return sum(size for size, is_own in told if is_own) / total if total else 0.0


def without_boilerplate(pages):
    """Removes paragraphs that stand in five pages or more: licences, addresses, notes of translators. Short ones are headings."""
    count = collections.Counter(line for _, body in pages.values() for line in set(body) if len(line) >= 25)
    return {name: (question, [line for line in body if count[line] < 5]) for name, (question, body) in pages.items()}


def cut(body, share):
    """The first paragraphs of a page, up to a share of its characters."""
    limit, kept, size = share * sum(map(len, body)), [], 0
    for line in body:
        if kept and size + len(line) / 2 > limit:
            break
        kept.append(line)
        size += len(line)
    while len(kept) > 1 and len(kept[-1]) < 25:
        kept.pop()
    return "\n\n".join(kept)


def terms(text):
    """What a text is compared by: its words, or pairs of characters where words are not separated."""
    found = set()
    for word in WORD.findall(text.lower()):
        if LETTERS["ja"].search(word):
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        elif len(word) > 2:
            found.add(word)
    return found


def distinct(texts, limit):
    """The keys of the texts whose terms overlap with no other text's by `limit` (of the union) or more."""
    sets = {key: terms(text) for key, text in texts.items()}
    holders = collections.defaultdict(list)
    for key, words in sets.items():
        for word in words:
            holders[word].append(key)
    good = set()
    for key, words in sets.items():
        shared = collections.Counter(other for word in words for other in holders[word] if other != key)
        if words and all(both / (len(words) + len(sets[other]) - both) < limit for other, both in shared.items()):
            good.add(key)
    return good


def is_leak(own, english):
    """Whether a translation has more than a third of the English words: words alone would find one with the other."""
    words = terms(english)
    return len(words & terms(own)) * 3 > len(words)


def is_question(text, language):
    return len(text) >= 8 if language == "ja" else len(text) >= 15 and len(text.split()) >= 3


def read_pages(roots, folder):
    """All pages that are in English and at least one other language, by language and name."""
    cache = folder / "text"
    cache.mkdir(exist_ok=True)
    found = {code: files_of(roots, names, "usr/share/man", "man[1-9]/*") for code, names in LANGUAGES.items()}
    english = files_of(roots, ["."], "usr/share/man", "man[1-9]/*")
    found["en"] = {name: path for name, path in english.items() if any(name in found[code] for code in LANGUAGES)}
    pages = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for code, paths in found.items():
            names = sorted(name for name in paths if name in found["en"])
            texts = pool.map(lambda name: roff_text(paths[name], cache), names)
            read = {name: described(name, text) for name, text in zip(names, texts)}
            pages[code] = without_boilerplate({name: page for name, page in read.items() if page})
            print(f"{code}: {len(paths)} files, {len(names)} in English too, {len(pages[code])} with a NAME section", file=sys.stderr)
    return pages


def pairs_of(pages, code, length):
    """Pages that both languages have: name to the question and document of each language."""
    own, english = pages[code], pages["en"]
    names = [name for name in sorted(own) if name in english]
    sizes = {name: (sum(map(len, own[name][1])), sum(map(len, english[name][1]))) for name in names}
    names = [name for name in names if min(sizes[name]) >= 100]
    usual = statistics.median(sizes[name][0] / sizes[name][1] for name in names)
    pairs = {}
    left = collections.Counter()
    for name in names:
        size, size_english = sizes[name]
        if not 0.5 < size / size_english / usual < 2:
            left["of another length"] += 1
            continue
        share = min(1.0, length / size_english)
        texts = cut(own[name][1], share), cut(english[name][1], share)
        lines = texts[0].split("\n\n")
        if share_in(code, lines) < 0.8 or not in_language(next(line for line in lines if is_prose(line, code)), code):
            left["not translated"] += 1
        else:
            pairs[name] = (own[name][0], texts[0]), (english[name][0], texts[1])
    print(f"{code}: {len(pairs)} pairs of pages; left out: {dict(left)}", file=sys.stderr)
    return pairs


def unique_pairs(pairs):
    """Drops pages whose text another page has too."""
    for side in (0, 1):
        count = collections.Counter(pair[side][1][:300] for pair in pairs.values())
        pairs = {name: pair for name, pair in pairs.items() if count[pair[side][1][:300]] == 1}
    return pairs


def askable(pairs, code):
    """The names of the pages that may be asked for, in both languages."""
    good = {
        name
        for name, ((question, _), (english, _)) in pairs.items()
        if is_question(question, code) and is_question(english, "en")
        and not is_leak(question, english) and in_language(question, code) is not False
    }  # fmt: skip
    for side in (0, 1):
        good &= distinct({name: pair[side][0] for name, pair in pairs.items()}, SIMILAR)
    return good


# ---- messages


def catalogue(path):
    """The messages of a .mo file without context and plural: English to translated."""
    raw = path.read_bytes()
    order = "<" if raw[:4] == b"\xde\x12\x04\x95" else ">"
    count, originals, translations = struct.unpack(order + "3I", raw[8:20])

    def text(table, at):
        size, start = struct.unpack(order + "2I", raw[table + 8 * at : table + 8 * at + 8])
        return raw[start : start + size]

    pairs = [(text(originals, at), text(translations, at)) for at in range(count)]
    charset = next((re.search(rb"charset=([\w-]+)", two) for one, two in pairs if not one), None)
    encoding = charset.group(1).decode() if charset else "utf-8"
    return {
        one.decode("utf-8", "replace"): two.decode(encoding, "replace")
        for one, two in pairs
        if one and two and b"\0" not in one and b"\4" not in one
    }


def plain(message):
    """A message on one line, without punctuation around it."""
    return fold(message).strip(" -:,;*")


def messages_of(roots, code):
    """Pairs of messages: a translated one and its English one. Only prose that is unique in both languages."""
    paths = files_of(roots, LANGUAGES[code], "usr/share/locale", "LC_MESSAGES/*.mo")
    pairs = {}
    for name, path in sorted(paths.items()):
        for at, (english, own) in enumerate(sorted(catalogue(path).items())):
            english, own = plain(english), plain(own)
            if not 40 <= len(english) <= 600 or len(english.split()) < 7 or LITERAL.search(english) or LITERAL.search(own):
                continue
            if in_language(own, code) is True and not is_leak(own, english):
                pairs[f"{name[:-3]}-{at}"] = (own, own), (english, english)
    good = distinct({key: pair[1][0] for key, pair in pairs.items()}, SIMILAR_MESSAGE)
    good &= distinct({key: pair[0][0] for key, pair in pairs.items()}, SIMILAR_MESSAGE)
    print(f"{code}: {len(pairs)} messages of {len(paths)} programs, {len(good)} unlike all others", file=sys.stderr)
    return {key: pair for key, pair in pairs.items() if key in good}


# ---- sets


def write(out, name, documents, questions):
    """Writes a set: documents by id, and questions by id with their text, answer and category."""
    line = lambda **fields: json.dumps(fields, ensure_ascii=False) + "\n"
    for file, parts in {
        "corpus.jsonl": [line(_id=key, title="", text=text) for key, text in documents.items()],
        "queries.jsonl": [line(_id=key, text=text, category=group) for key, (text, _, group) in questions.items()],
        "qrels/test.tsv": ["query-id\tcorpus-id\tscore\n", *(f"{key}\t{answer}\t1\n" for key, (_, answer, _) in questions.items())],
    }.items():
        path = out / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file that stays as it was keeps its time, and so its reports.
        if not path.exists() or path.read_text(encoding="utf-8") != "".join(parts):
            path.write_text("".join(parts), encoding="utf-8")
    size = statistics.median(map(len, documents.values()))
    return f"| {name} | {len(documents):,} | {len(questions):,} | {size:,.0f} |"


def write_pair(out, kind, code, pairs, asked, reference):
    """Writes the sets of a language: within, to English, from English, and the English reference where the text is not the question."""
    rows = []
    for question, document in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        if question == document and not reference:
            continue
        name = f"{kind}-{(code, 'en')[question]}-{(code, 'en')[document]}" + (f"-of-{code}" if question and document else "")
        documents = {key: pair[document][1] for key, pair in pairs.items()}
        questions = {f"q-{key}": (pairs[key][question][0], key, code) for key in pairs if key in asked}
        rows.append(write(out, name, documents, questions))
    return rows


def sample(items, count, seed):
    """At most `count` of the items, drawn by the seed, in their old order."""
    keys = sorted(items)
    drawn = set(random.Random(seed).sample(keys, min(count, len(keys))))
    return {key: items[key] for key in items if key in drawn}


def write_mixed(out, all_pairs, seed, count=150):
    """Gives each page to one language, the language with the fewest pages first, so that a page is there in one language only."""
    taken, documents, within, across = set(), {}, {}, {}
    shares = [(code, 0, pairs, asked) for code, (pairs, asked) in sorted(all_pairs.items(), key=lambda item: len(item[1][0]))]
    merged = {name: pair for _, (pairs, _) in all_pairs.items() for name, pair in pairs.items()}
    everywhere = set.union(*(asked for _, asked in all_pairs.values()))
    unlike = distinct({name: pair[1][0] for name, pair in merged.items()}, SIMILAR)
    for code, side, pairs, asked in [*shares, ("en", 1, merged, everywhere)]:
        free = {name: pair for name, pair in pairs.items() if name not in taken}
        for name, pair in sample(free, count, f"{seed} mixed {code}").items():
            taken.add(name)
            key = f"{code}-{name}"
            documents[key] = pair[side][1]
            if name in asked and name in unlike:
                within[f"q-{key}"] = (pair[side][0], key, code)
                if side == 0:
                    across[f"q-{key}"] = (pair[1][0], key, code)
    return [write(out, "mixed-within", documents, within), write(out, "mixed-across", documents, across)]


def licences(root):
    """The licences that a package's copyright file names, if it is written in Debian's form."""
    path = root / "usr" / "share" / "doc" / root.name / "copyright"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    names = sorted(set(re.findall(r"(?m)^License:\s*(\S.*)$", text)))
    return "; ".join(names) if names else f"see usr/share/doc/{root.name}/copyright in the package"


def notice(folder, roots, rows):
    """The README of the sets: what they are, from which packages, under which licences."""
    packages = "\n".join(f"- {root.name} {version(folder, root.name)}: {licences(root)}" for root in roots)
    return f"""# Sets from translated manual pages and messages

Bowerbird's `tools/translated_set.py` made these sets by rule from Debian packages; its head has the rules. They are for measuring.
Each page and each catalogue of messages stays under its own licence, which `usr/share/doc/PACKAGE/copyright` in its package has in
full. The list of packages below names them. Texts were shortened, and joined from lines: whoever passes them on must say so, and
must pass on the licences.

| set | documents | questions | median length of a document |
|---|---|---|---|
{chr(10).join(rows)}

## Packages and the licences that their copyright files name

{packages}
"""


def make(options):
    if ROOT in [options.out.resolve(), *options.out.resolve().parents]:
        sys.exit(f"{options.out} is in the repository: others' texts stay outside of it; name another folder")
    options.out.mkdir(parents=True, exist_ok=True)
    folder = options.packages or options.out / "packages"
    page_roots = fetch(PAGES, folder)
    message_roots = fetch(MESSAGES, folder)
    pages = read_pages(page_roots, folder)
    rows, all_pairs = [], {}
    for code in LANGUAGES:
        pairs = unique_pairs(pairs_of(pages, code, options.length))
        asked = askable(pairs, code)
        all_pairs[code] = pairs, asked
        pairs = sample(pairs, options.pages, f"{options.seed} pages {code}")
        rows += write_pair(options.out, "pages", code, pairs, asked, True)
    rows += write_mixed(options.out, all_pairs, options.seed)
    for code in LANGUAGES:
        pairs = sample(messages_of(message_roots, code), options.messages, f"{options.seed} messages {code}")
        rows += write_pair(options.out, "messages", code, pairs, set(pairs), False)
    print("\n".join(rows))
    (options.out / "README.md").write_text(notice(folder, list(dict.fromkeys(page_roots + message_roots)), rows), encoding="utf-8")


def lines(path):
    """The objects of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def show(out, count, seed):
    """Prints some questions of each set with the beginnings of their documents, to be read by a person."""
    for folder in sorted(path.parent for path in out.glob("*/corpus.jsonl")):
        documents = {each["_id"]: each["text"] for each in lines(folder / "corpus.jsonl")}
        judged = (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()
        answers = dict(line.split("\t")[:2] for line in judged)
        print(f"\n==== {folder.name}")
        for each in random.Random(seed).sample(lines(folder / "queries.jsonl"), count):
            answer = answers[each["_id"]]
            print(f"-- {each['text']}\n   {answer}: {documents[answer][:400]!r}")


def report_of(folder, bower, home, model):
    """What `bower eval` reports about a set; it runs unless its report is there already, newer than the set and the program."""
    report = folder / f"{model.replace('/', '-')}.json"
    program = shutil.which(bower) or sys.exit(f"there is no program {bower}")
    newest = max(path.stat().st_mtime for path in [Path(program), *folder.glob("*.jsonl")])
    if not report.exists() or report.stat().st_mtime < newest:
        command = [program, "eval", str(folder), "--format", "json", "--quiet", "--set", f"model={model}"]
        done = subprocess.run(command + (["--home", home] if home else []), stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"bower eval {folder} with model={model} failed with {done.returncode}: {done.stdout[-500:]}")
        report.write_text(done.stdout, encoding="utf-8")
    return json.loads(report.read_text(encoding="utf-8"))["data"]


def table(out, bower, home, models, only):
    """Evaluates the sets with each model, one run at a time; prints nDCG@10 and its 95 % interval as a table, a row when it is there."""
    digits = lambda number: f"{number:.3f}".removeprefix("0")
    print("| set | documents | questions | " + " | ".join("words alone" if one == "none" else one for one in models) + " |")
    print("|---" + "|---:" * (2 + len(models)) + "|")
    for folder in sorted(path.parent for path in out.glob("*/corpus.jsonl")):
        if not re.fullmatch(only, folder.name):
            continue
        cells = []
        for model in models:
            report = report_of(folder, bower, home, model)
            low, high = report["intervals"]["fused"]["ndcg@10"]
            cells.append(f"{digits(report['figures']['fused']['ndcg@10'])} ({digits(low)}-{digits(high)})")
        print(f"| {folder.name} | {report['documents']:,} | {report['queries']:,} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="the folder of the sets, outside of the repository")
    parser.add_argument("--packages", type=Path, help="where packages are downloaded and unpacked [OUT/packages]")
    parser.add_argument("--pages", type=int, default=600, help="the most pages of a set")
    parser.add_argument("--messages", type=int, default=1000, help="the most messages of a set")
    parser.add_argument("--length", type=int, default=1200, help="characters of an English document")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="print so many questions of each set, with their documents")
    parser.add_argument("--table", metavar="BOWER", help="make no sets; evaluate those of OUT with this program and print a table")
    parser.add_argument("--home", help="with --table: the home that has the models")
    parser.add_argument("--models", default="none,all-MiniLM-L6-v2,multilingual-e5-small", help="with --table: models; none is words alone")
    parser.add_argument("--only", default=".*", help="with --table: a pattern of the sets' names")
    options = parser.parse_args()
    if options.table:
        table(options.out, options.table, options.home, options.models.split(","), options.only)
        return
    make(options)
    if options.show:
        show(options.out, options.show, options.seed)


if __name__ == "__main__":
    main()
