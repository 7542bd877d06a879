//! Recognises sentences that only count what a session did, or only say how its work is going.

use super::list::List;
use super::step::{TEXTS, THINGS, VERBS, is_number, is_path};

/// What is counted in a session.
static COUNTED: List = List::of(
    "file|files|rule|rules|memory|memories|entry|entries|tool|tools|token|tokens|match|matches|result|\
     results|line|lines|test|tests|turn|turns|message|messages|task|tasks|step|steps|call|calls|warning|\
     warnings|error|errors|document|documents|chunk|chunks|note|notes|hit|hits|item|items|page|pages|\
     change|changes|insertion|insertions|deletion|deletions|failure|failures|section|sections|\
     instruction|instructions|skill|skills|fact|facts|record|records|occurrence|occurrences|\
     vulnerability|vulnerabilities|package|packages|object|objects|checks|suites|todos|todo|directories|\
     folders|byte|bytes|kb|mb|words|characters|attempt|attempts",
);

/// What is said of what was counted.
static HAPPENED: List = List::of(
    "loaded|read|retrieved|found|matched|changed|exchanged|processed|skipped|used|passed|failed|done|\
     left|remaining|indexed|imported|returned|opened|edited|modified|added|removed|created|updated|\
     deleted|completed|finished|total|scanned|fetched|parsed|ingested|applied|ignored|pending|\
     recalled|restored|injected|passing|failing|touched|searched|listed|written|saved|stored|\
     queued|consumed|received|initialized|initialised|available|synced|checked|executed|ready",
);

/// What may stand around a count.
static AROUND: List = List::of(
    "the|a|an|of|in|from|and|so|far|to|go|all|with|no|for|this|session|context|successfully|now|out|is|\
     are|was|were|have|been|has|at|into|by|as|more|new|relevant|s|ms|seconds|sec|min|minutes|about|each|\
     on|after|before|starting|workspace|project|user|usage|window|i|we|initialized|search|query|time|\
     took|than|less|size|budget|limit|turn|currently|tool|per|or|also|plus|my|memory|system|prompt|\
     startup|boot|start|conversation|first|last|both|still",
);

/// Whether a sentence only counts what a session read, found or did: `Loaded CLAUDE.md: 22 rules`, `12 passed, 1 failed`.
pub(super) fn is_tally(words: &[&str]) -> bool {
    let mut counted = false;
    let mut numbers = 0;
    let mut happened = false;
    for word in words {
        if matches!(*word, "," | ":") {
            continue;
        }
        // Each is looked for: a word may count and happen (`open`, `used`).
        let (is_counted, is_done, is_count) = (COUNTED.has(word), HAPPENED.has(word), is_number(word));
        counted |= is_counted || is_path(word);
        happened |= is_done;
        numbers += usize::from(is_count);
        if !(is_counted || is_done || is_count || AROUND.has(word) || is_path(word)) {
            return false;
        }
    }
    let fails = words.iter().any(|word| matches!(*word, "errors" | "warnings" | "vulnerabilities" | "error"));
    numbers > 0
        && ((counted && happened) || (fails && numbers > 0 && words.len() <= 8) || (happened && numbers >= 2))
}

/// Words without which a sentence of small words says nothing: what work is made of. A sentence of nothing else is about it.
static WORK: List = List::of(
    "list|checklist|pull|requests|request|pass|round|iteration|attempt|variant|variants|option|options|\
     approach|idea|ideas|part|half|halfway|edit|edits|edited|fix|fixes|fixed|refactoring|refactor|\
     cleanup|review|reviewing|rows|row|spec|draft|piece|pieces|bits|loose|ends|requested|converted|\
     compiles|compile|compiling|working|started|ended|finished|finish|complete|completed|committed|\
     pushed|merged|passing|failing|failed|pending|remains|remaining|blocked|stuck|ran|run|rerun|running|\
     checking|check|checked|tried|try|trying|going|come|wrap|wrapped|wrapping|move|moving|moved|returned|\
     nothing|everything|something|things|thing|work|minute|minutes|moment|second|seconds|while|item|\
     items|todo|follow-up|follow-ups|milestone|subtask|subtasks|read|wrote|written|write|writing|reading|\
     look|looking|looked|searched|searching|found|opened|opening|debugging|rewriting|rewrote|verified|\
     verifying|cleaned|cleaning|green|red|clean|feature|made|solution|problem|issue|result|progress|\
     stage|phase|batch|turn|turns|wip|partially|mostly|nearly|almost|fully|open",
);

/// Small words, and those that place work in time.
static SMALL: List = List::of(
    "the|a|an|of|to|in|on|at|for|from|with|and|or|but|by|as|it|its|this|that|these|those|i|we|my|our|me|\
     us|i'm|i've|i'll|we're|we've|is|are|was|were|be|been|am|has|have|had|will|would|can|could|should|do|\
     did|done|not|no|none|all|both|each|more|most|some|any|other|another|one|two|three|four|five|six|\
     seven|eight|nine|ten|first|second|third|last|next|previous|now|then|still|again|so|far|just|yet|\
     already|currently|here|there|up|down|out|back|over|off|through|into|left|after|before|once|later|\
     soon|today|too|also|only|new|same|rest|what|which|well|ok|okay|need|needs|want|get|got|go|goes|onto|\
     about|very|bit|few|many|lot|lots|than|if|when|everything's",
);

/// What places a sentence in the course of the work.
static COURSE: List = List::of(
    "now|still|again|next|left|remaining|remains|far|done|finished|halfway|just|yet|almost|nearly|\
     completed|complete|pending|requested|ran|edited|tried|converted|i'll|will|going|moving|moved|i've|\
     checking|first|then|pushed|committed|merged|progress|wip|wrote|fixed|partially|mostly|moment",
);

/// Whether a sentence is made of nothing but work, its course and small words: `On to the next file`, `5 of 12 files converted`.
pub(super) fn is_of_work(words: &[&str]) -> bool {
    let mut work = 0;
    let mut course = false;
    for word in words {
        if matches!(*word, "," | ":") {
            continue;
        }
        let is_work = THINGS.has(word) || WORK.has(word) || COUNTED.has(word) || TEXTS.has(word);
        if !(is_work || SMALL.has(word) || COURSE.has(word) || is_number(word)) {
            return false;
        }
        work += usize::from(is_work);
        course |= COURSE.has(word);
    }
    // `The build is red`, `the tests pass only with ...`: how a thing stands may matter to somebody.
    let is_state = matches!(
        words,
        ["the" | "all" | "our", _, "is" | "are" | "has" | "have" | "pass" | "fail" | "need" | "run", ..]
    ) && !words.iter().any(|word| {
        matches!(
            *word,
            "made"
                | "finished"
                | "done"
                | "complete"
                | "completed"
                | "requested"
                | "merged"
                | "pushed"
                | "committed"
        )
    });
    let is_rule = words.iter().any(|word| {
        matches!(
            *word,
            "when"
                | "if"
                | "only"
                | "each"
                | "need"
                | "needs"
                | "should"
                | "can"
                | "both"
                | "which"
                | "most"
                | "could"
                | "would"
        )
    });
    let is_order = words
        .first()
        .is_some_and(|first| VERBS.iter().any(|verb| verb.base == *first && verb.past != *first));
    work > 0 && course && !is_state && !is_rule && !is_order && !is_habit(words) && words.len() >= 3
}

/// What somebody does as a rule: `We write tests first`, `Tests are written first`.
fn is_habit(words: &[&str]) -> bool {
    let does = |word: &&str| VERBS.iter().any(|verb| verb.base == *word && verb.past != *word);
    match words {
        ["we" | "i" | "they" | "you", verb, ..] if does(verb) => true,
        [.., "first"] => words.iter().any(|word| matches!(*word, "is" | "are")),
        _ => false,
    }
}
