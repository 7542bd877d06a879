//! Extracts the features of a sentence (its "signs") that `scorer.rs` weighs: small numbers in a fixed order.
//! They are what can be seen without knowing what the sentence means. Linear in the sentence's length. Another sign, or another
//! order, needs other weights.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::cues::Cues;
use super::rules::{self, Read, begins_with, is_specific, looks_back};
use super::{Cue, Voice};

/// Words that say how a sentence is meant rather than what it is of: pronouns, articles, auxiliaries, prepositions, conjunctions,
/// adverbs of time and degree, and the verbs of working, telling and wanting.
const WORDS: &str = "i me my mine we us our ours you your he she they his her their it its this that these those who which \
    there here a an the all every each both any some no none only most half everyone nobody everything nothing something \
    another other anyone anything everybody somebody someone is are was were be been being am has have had do does did will \
    would can cannot can't could should must may might shall need needs won't don't doesn't isn't aren't wasn't weren't didn't \
    hasn't haven't couldn't shouldn't wouldn't dont doesnt cant isnt wont i'm i've i'll i'd im ive we're we've we'll it's that's \
    there's let's lets you're they're and or but so because since if when unless until till while although though as than whether \
    before after once instead except for from to in on at by with without within into onto over under above below between \
    during per via of off out up through against always never usually often sometimes again already still yet now today \
    tomorrow yesterday tonight just also too even really actually probably maybe perhaps currently soon later first then next \
    finally twice directly automatically silently anywhere ever use uses used using prefer prefers want wants like likes hate \
    hates keep keeps kept stay stays run runs go goes going come comes make makes made take takes took give gets get got put \
    puts know knows think guess see look looks looked seem seems mean means say says said tell told ask asked try tried find \
    found fix fixed add added change changed changes move moved remove removed rename renamed check checked test tested tests \
    read reads write writes wrote show shows work works fail fails failed break breaks happen happens require requires support \
    supports return returns returned ignore ignores drop drops contain contains store stored expect expects allow allowed accept \
    accepts reject rejects own owns handle handles live lives belong belongs please pls plz thanks thank thx sorry ok okay yes \
    yeah no nope hi hello hey great perfect good nice done sure hmm hm lol haha btw fyi what why how where not more less least \
    max min maximum minimum limit default new old same different wrong right time times day days week weeks month months year \
    years hour hours minutes seconds monday friday morning night rule policy convention reason cause problem issue bug error \
    remember note turns decided agreed back until let call called instead sets set same whole team company everybody ones one \
    two three another own last left ago later early late slow fast better best mine suggest suggested like idea plan summary step \
    could've should've attached above below draft version here's what's who's where's you'd you'll they'll it'll";

/// Words that count at the beginning of a sentence.
const FIRST: &str = "i i've i'll i'm i'd we we've we'll my our you your the a an it it's this that that's these those there here \
    here's if when while what why how who where which let let's lets please pls can could would should do does did is are not no \
    so but or and now next then first done after before all both each every everything never always don't dont for in on with to \
    by as at since because only nothing nobody anything any some most one two three also still just maybe perhaps probably yes \
    yeah ok okay sure great good thanks thank sorry hmm hm btw found after looking turns root cause without use using from until \
    they he she his her their its never both two another got did make made your";

/// Lists of phrases, each one number.
const LISTS: &[(&str, &str)] = &[
    ("decides", rules::DECIDES),
    ("rules", rules::RULES),
    ("found", rules::FOUND),
    ("own", rules::OWN),
    ("hedges", rules::HEDGES),
    (
        "passing",
        "right now|at the moment|today|this morning|this afternoon|this evening|tonight|yesterday|so far|for now|this time|\
         currently|tomorrow|just now|ago|next week|last week|in a minute|in the meantime|meanwhile|still running|by noon|\
         later today|back in|one moment",
    ),
    (
        "asks",
        "please|pls|plz|can you|could you|can u|could u|would you|will you|let me know|i need you to|i'd like you to|go ahead|\
         you can|want me to|shall i|should i|do you want|would you like|tell me|give me|show me|send me|help me",
    ),
    (
        "hearsay",
        "says|said|swears|claims|according to|i read|i heard|they say|people say|wrote|it says|the docs say",
    ),
    (
        "did",
        "i added|i've added|i removed|i've removed|i changed|i've changed|i moved|i've moved|i renamed|i've renamed|i fixed|\
         i've fixed|i updated|i've updated|i wrote|i've written|i made|i ran|i put|i've put|i set|i've set|i checked|i've checked|\
         i replaced|i've replaced|i tested|i tried|i looked|i went|i read|i compared|i left|i measured|i verified|i switched|\
         i restarted|i deleted|i restored|i kept|i searched|i converted|i swapped|i drafted|i've drafted|i counted|i opened",
    ),
    (
        "will",
        "i'll|i will|i'm going to|i am going to|let me|next i|i'd|i would|i can|i could|i'm now|i'm looking|we could|we can|\
         you could|you can|my plan|the plan is|i suggest|i recommend|i'd suggest|i'd recommend",
    ),
    (
        "supposes",
        "if you|if we|if i|suppose|imagine|what if|would be|would have|could be|were to|let's say|in theory",
    ),
    (
        "reason",
        "because|since|so that|due to|because of|that's why|which is why|therefore|hence|otherwise|the reason|thanks to",
    ),
    (
        "general",
        "in general|generally|usually|typically|many people|most people|a common|for example|for instance|in python|in rust|\
         in javascript|in react|means that|refers to|it depends|there are several|there are a few|as a rule of thumb",
    ),
    (
        "forbids",
        "must not|may not|mustn't|can't be|cannot be|not allowed|is forbidden|are forbidden|banned|off limits|no longer|don't ever|\
         is not supported|refuses to|does not|doesn't|never|is frozen|not permitted|out of bounds|is out|are out",
    ),
    (
        "holds",
        "from now on|going forward|in future|for future reference|as a rule|by default|on purpose|by design|at all times|\
         in this house|with us|for us|in our|at our|house rule|house style|in all|no matter what|whatever happens|without exception",
    ),
];

/// What is seen of every sentence, besides words and lists.
const SHAPE: &[&str] = &[
    "told",
    "decided",
    "ruled",
    "corrected",
    "stated",
    "found-by-rule",
    "led",
    "request",
    "plan",
    "back",
    "specific",
    "words-6",
    "words-9",
    "words-14",
    "words-22",
    "words-35",
    "digit",
    "code",
    "path",
    "name",
    "quote",
    "commas",
    "colon",
    "dash",
    "semicolon",
    "paren",
    "exclaims",
    "unended",
    "small",
    "item",
    "i-past",
    "past",
    "present",
    "unit",
    "capitals",
    "smile",
    "contrast",
];

/// The names of all signs, in their order.
pub(super) static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let shape = SHAPE.iter().map(|name| (*name).to_owned());
    let lists = LISTS.iter().map(|(name, _)| format!("list:{name}"));
    let words = split(WORDS).map(|word| format!("has:{word}"));
    let first = split(FIRST).map(|word| format!("begins:{word}"));
    shape.chain(lists).chain(words).chain(first).collect()
});

static WORD_AT: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| places(WORDS));
static FIRST_AT: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| places(FIRST));

/// The words of a list, each once.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut seen = std::collections::HashSet::new();
    list.split_ascii_whitespace().filter(move |word| seen.insert(*word))
}

fn places(list: &'static str) -> HashMap<&'static str, usize> {
    split(list).enumerate().map(|(at, word)| (word, at)).collect()
}

/// The signs of a sentence, in the order of [`NAMES`]; most are 0 or 1.
pub(super) fn signs(sentence: &str, read: &Read, voice: Voice, is_item: bool) -> Vec<f32> {
    let cues = Cues::of(sentence);
    let mut all = shape(sentence, &cues, read, voice, is_item);
    debug_assert_eq!(all.len(), SHAPE.len());
    all.extend(LISTS.iter().map(|(_, list)| f32::from(u8::from(cues.any_of(list)))));
    let words = all.len();
    all.resize(words + WORD_AT.len() + FIRST_AT.len(), 0.0);
    for word in cues.each() {
        if let Some(at) = WORD_AT.get(word) {
            all[words + at] = 1.0;
        }
    }
    if let Some(at) = rules::words(&cues).next().and_then(|first| FIRST_AT.get(first)) {
        all[words + WORD_AT.len() + at] = 1.0;
    }
    all
}

fn shape(sentence: &str, cues: &Cues, read: &Read, voice: Voice, is_item: bool) -> Vec<f32> {
    let is = |cue: Cue| read.cue == Some(cue);
    let more = |count: usize| cues.words() > count;
    let has = |what: &[char]| sentence.contains(what);
    let words: Vec<&str> = rules::words(cues).collect();
    let is_past = |word: &&str| word.len() > 4 && word.ends_with("ed");
    let inner = || sentence.split_whitespace().skip(1);
    let is_name = |word: &str| {
        word.trim_start_matches(['"', '(', '`']).starts_with(char::is_uppercase)
            && !matches!(word, "I" | "I'm" | "I've" | "I'd" | "I'll")
    };
    let facts = [
        is(Cue::Told),
        is(Cue::Decided),
        is(Cue::Ruled),
        is(Cue::Corrected),
        is(Cue::Stated),
        is(Cue::Found),
        read.is_led,
        begins_with(cues, rules::REQUESTS),
        voice == Voice::Assistant && begins_with(cues, rules::PLANS),
        looks_back(&read.text),
        is_specific(&read.text),
        more(5),
        more(8),
        more(13),
        more(21),
        more(34),
        sentence.contains(|c: char| c.is_ascii_digit()),
        has(&['`']),
        inner().any(|word| {
            word.trim_end_matches(['.', ',']).contains(['/', '_']) || word.trim_end_matches('.').contains('.')
        }),
        inner().any(is_name),
        has(&['"', '“', '”', '«']),
        sentence.matches(',').count() > 1,
        has(&[':']),
        sentence.contains(" - ") || has(&['—', '–']),
        has(&[';']),
        has(&['(']),
        sentence.ends_with('!'),
        !sentence.ends_with(['.', '!', '?', ')', '"']),
        sentence.starts_with(char::is_lowercase),
        is_item,
        words.windows(2).any(|pair| matches!(pair[0], "i" | "i've" | "we") && is_past(&pair[1])),
        words.iter().any(is_past),
        words.iter().any(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss")),
        inner().any(|word| {
            word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(char::is_alphabetic)
        }),
        inner().filter(|word| is_name(word)).count() > 1,
        sentence.contains([':', ';']) && (sentence.contains(":)") || sentence.contains(";)"))
            || sentence.contains(|c: char| c as u32 > 0x1f000),
        cues.any(&[" instead of ", " , not ", " rather than ", " but not ", " only "]),
    ];
    facts.iter().map(|fact| f32::from(u8::from(*fact))).collect()
}
