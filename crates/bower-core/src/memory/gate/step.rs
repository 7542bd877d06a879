//! Recognises sentences about the work at hand: what an agent does, is about to do, counts or waits for.
//! They are true while they are written and tell nothing of the world; a sentence that goes on to say what was found is kept.
//!
//! The grammar is narrow: the agent itself as subject, or none; a verb of looking, running or editing; and something that a
//! session handles (a file, a test, a tool). Ordinary people read books, run marathons and check prices.

use super::list::List;
use crate::memory::calendar::{DAYS, MONTHS, is_iso, is_year};

/// What a verb does, which decides what it must be done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Takes in: anything that a session looks at.
    Look,
    /// Has a program run.
    Run,
    /// Changes a text. A change of anything but files, tests and documents may be a decision.
    Edit,
    /// Uses a tool.
    Call,
    /// Goes on, waits, tries: about nothing else, or about the task.
    Go,
}

/// A verb as it is, as it goes on, and as it was.
pub(super) struct Verb {
    does: Does,
    pub(super) base: &'static str,
    going: &'static str,
    pub(super) past: &'static str,
}

const fn verb(does: Does, base: &'static str, going: &'static str, past: &'static str) -> Verb {
    Verb { does, base, going, past }
}

pub(super) const VERBS: &[Verb] = &[
    verb(Does::Look, "read", "reading", "read"),
    verb(Does::Look, "reread", "rereading", "reread"),
    verb(Does::Look, "re-read", "re-reading", "re-read"),
    verb(Does::Look, "open", "opening", "opened"),
    verb(Does::Look, "look", "looking", "looked"),
    verb(Does::Look, "check", "checking", "checked"),
    verb(Does::Look, "double-check", "double-checking", "double-checked"),
    verb(Does::Look, "search", "searching", "searched"),
    verb(Does::Look, "scan", "scanning", "scanned"),
    verb(Does::Look, "inspect", "inspecting", "inspected"),
    verb(Does::Look, "review", "reviewing", "reviewed"),
    verb(Does::Look, "view", "viewing", "viewed"),
    verb(Does::Look, "list", "listing", "listed"),
    verb(Does::Look, "grep", "grepping", "grepped"),
    verb(Does::Look, "browse", "browsing", "browsed"),
    verb(Does::Look, "examine", "examining", "examined"),
    verb(Does::Look, "explore", "exploring", "explored"),
    verb(Does::Look, "fetch", "fetching", "fetched"),
    verb(Does::Look, "load", "loading", "loaded"),
    verb(Does::Look, "reload", "reloading", "reloaded"),
    verb(Does::Look, "parse", "parsing", "parsed"),
    verb(Does::Look, "query", "querying", "queried"),
    verb(Does::Look, "analyze", "analyzing", "analyzed"),
    verb(Does::Look, "analyse", "analysing", "analysed"),
    verb(Does::Look, "investigate", "investigating", "investigated"),
    verb(Does::Look, "trace", "tracing", "traced"),
    verb(Does::Look, "skim", "skimming", "skimmed"),
    verb(Does::Look, "scroll", "scrolling", "scrolled"),
    verb(Does::Look, "retrieve", "retrieving", "retrieved"),
    verb(Does::Look, "gather", "gathering", "gathered"),
    verb(Does::Look, "collect", "collecting", "collected"),
    verb(Does::Look, "locate", "locating", "located"),
    verb(Does::Look, "monitor", "monitoring", "monitored"),
    verb(Does::Look, "tail", "tailing", "tailed"),
    verb(Does::Look, "watch", "watching", "watched"),
    verb(Does::Look, "compare", "comparing", "compared"),
    verb(Does::Look, "count", "counting", "counted"),
    verb(Does::Look, "verify", "verifying", "verified"),
    verb(Does::Look, "go", "going", "went"),
    verb(Does::Look, "dig", "digging", "dug"),
    verb(Does::Look, "take", "taking", "took"),
    verb(Does::Look, "find", "", ""),
    verb(Does::Look, "see", "", ""),
    verb(Does::Look, "figure", "figuring", "figured"),
    verb(Does::Look, "pull", "pulling", "pulled"),
    verb(Does::Look, "visit", "visiting", "visited"),
    verb(Does::Look, "crawl", "crawling", "crawled"),
    verb(Does::Look, "download", "downloading", "downloaded"),
    verb(Does::Look, "ingest", "ingesting", "ingested"),
    verb(Does::Look, "consult", "consulting", "consulted"),
    verb(Does::Look, "study", "studying", "studied"),
    verb(Does::Run, "run", "running", "ran"),
    verb(Does::Run, "rerun", "rerunning", "reran"),
    verb(Does::Run, "re-run", "re-running", "re-ran"),
    verb(Does::Run, "execute", "executing", "executed"),
    verb(Does::Run, "compile", "compiling", "compiled"),
    verb(Does::Run, "recompile", "recompiling", "recompiled"),
    verb(Does::Edit, "build", "building", "built"),
    verb(Does::Edit, "rebuild", "rebuilding", "rebuilt"),
    verb(Does::Run, "test", "testing", "tested"),
    verb(Does::Run, "lint", "linting", "linted"),
    verb(Does::Run, "debug", "debugging", "debugged"),
    verb(Does::Run, "launch", "launching", "launched"),
    verb(Does::Run, "kick", "kicking", "kicked"),
    verb(Does::Run, "trigger", "triggering", "triggered"),
    verb(Does::Run, "commit", "committing", "committed"),
    verb(Does::Run, "push", "pushing", "pushed"),
    verb(Does::Run, "stage", "staging", "staged"),
    verb(Does::Run, "rebase", "rebasing", "rebased"),
    verb(Does::Run, "checkout", "checking", "checked"),
    verb(Does::Run, "clone", "cloning", "cloned"),
    verb(Does::Run, "save", "saving", "saved"),
    verb(Does::Edit, "edit", "editing", "edited"),
    verb(Does::Edit, "write", "writing", "wrote"),
    verb(Does::Edit, "rewrite", "rewriting", "rewrote"),
    verb(Does::Edit, "update", "updating", "updated"),
    verb(Does::Edit, "modify", "modifying", "modified"),
    verb(Does::Edit, "change", "changing", "changed"),
    verb(Does::Edit, "patch", "patching", "patched"),
    verb(Does::Edit, "create", "creating", "created"),
    verb(Does::Edit, "add", "adding", "added"),
    verb(Does::Edit, "remove", "removing", "removed"),
    verb(Does::Edit, "delete", "deleting", "deleted"),
    verb(Does::Edit, "rename", "renaming", "renamed"),
    verb(Does::Edit, "fix", "fixing", "fixed"),
    verb(Does::Edit, "refactor", "refactoring", "refactored"),
    verb(Does::Edit, "implement", "implementing", "implemented"),
    verb(Does::Edit, "format", "formatting", "formatted"),
    verb(Does::Edit, "clean", "cleaning", "cleaned"),
    verb(Does::Edit, "wire", "wiring", "wired"),
    verb(Does::Edit, "finish", "finishing", "finished"),
    verb(Does::Edit, "complete", "completing", "completed"),
    verb(Does::Edit, "work", "working", "worked"),
    verb(Does::Edit, "draft", "drafting", "drafted"),
    verb(Does::Edit, "document", "documenting", "documented"),
    verb(Does::Edit, "apply", "applying", "applied"),
    verb(Does::Edit, "touch", "touching", "touched"),
    verb(Does::Edit, "generate", "generating", "generated"),
    verb(Does::Call, "call", "calling", "called"),
    verb(Does::Call, "invoke", "invoking", "invoked"),
    verb(Does::Call, "use", "using", "used"),
    verb(Does::Call, "spawn", "spawning", "spawned"),
    verb(Does::Call, "dispatch", "dispatching", "dispatched"),
    verb(Does::Go, "start", "starting", "started"),
    verb(Does::Go, "retry", "retrying", "retried"),
    verb(Does::Call, "delegate", "delegating", "delegated"),
    verb(Does::Go, "wait", "waiting", "waited"),
    verb(Does::Go, "continue", "continuing", "continued"),
    verb(Does::Go, "proceed", "proceeding", "proceeded"),
    verb(Does::Go, "resume", "resuming", "resumed"),
    verb(Does::Go, "try", "trying", "tried"),
    verb(Does::Go, "attempt", "attempting", "attempted"),
    verb(Does::Go, "think", "thinking", "thought"),
    verb(Does::Go, "switch", "switching", "switched"),
    verb(Does::Go, "move", "moving", "moved"),
    verb(Does::Go, "begin", "beginning", "began"),
    verb(Does::Go, "process", "processing", "processed"),
    verb(Does::Go, "get", "getting", "got"),
    verb(Does::Go, "summarize", "summarizing", "summarized"),
    verb(Does::Go, "summarise", "summarising", "summarised"),
    verb(Does::Go, "pick", "picking", "picked"),
    verb(Does::Go, "hand", "handing", "handed"),
];

/// What a session handles.
pub(super) static THINGS: List = List::of(
    "file|files|code|codebase|repo|repository|test|tests|suite|build|log|logs|config|configuration|\
     directory|folder|folders|module|modules|branch|branches|commit|commits|diff|diffs|pr|patch|output|\
     outputs|result|results|change|changes|script|scripts|command|commands|query|docs|documentation|\
     readme|changelog|linter|dependencies|schema|pipeline|bug|error|errors|failure|failures|traceback|\
     imports|response|page|endpoint|tool|tools|matches|usages|usage|references|callers|prompt|\
     instructions|guidelines|memories|notes|entries|task|tasks|implementation|parser|helper|handler|\
     codepath|trace|stacktrace|workspace|worktree|sandbox|terminal|shell|grep|tree|definition|\
     definitions|lines|todo|todos|ci|migration|subagent|subagents|checks|linting|typecheck|transcript|\
     compiler|snippet|table",
);

/// What `we` look at and run in a session; a team examines functions and compares results.
static OURS: List = List::of(
    "file|files|code|codebase|repo|repository|tests|suite|logs|config|directory|folder|branch|commits|\
     diff|pr|script|docs|readme|changelog|linter|traceback|imports",
);

/// What an editor changes: nobody decides anything by it.
pub(super) static TEXTS: List = List::of(
    "file|files|test|tests|docs|documentation|readme|changelog|imports|import|lines|line|comments|\
     comment|docstring|docstrings|typo|typos|changes|code|bug|helper|todo|todos|task|tasks|function|\
     functions|module|modules|fix|patch|handler|formatting|implementation|snippet|notes|commit|branch|\
     script|edits|refactor|build|feature|step|steps|migration|button|component",
);

/// What is called.
static TOOLS: List = List::of("tool|tools|function|command|subagent|subagents|agent|agents|script");

/// What going on is about.
static GOINGS: List = List::of(
    "task|tasks|step|steps|approach|item|user|confirmation|approval|input|reply|response|output|build|\
     tests|test|command|ci|request|attempt|session|branch|file|implementation|fix|bug|next|left|again|\
     feedback|results|findings|code|changes|agent|instructions|todo|module|subagent|subagents",
);

/// Words that may stand where a verb's object would.
static EMPTY: List = List::of(
    "it|that|this|them|those|these|now|again|first|next|here|there|more|further|on|in|into|up|out|at|\
     over|right|away|still|the|a|an|to|for|with|and|then|too|also|everything|all|both|one|moment|second|\
     minute|bit|deeper|closer|once|quickly|please|you|your|as|discussed|requested|before|another|ahead|\
     back|things|thing|some|ones|what's|happening|going|go|look|just|so|far|rest|of|by",
);

/// What may stand before the subject.
static LEADS: List = List::of(
    "now|then|so|also|ok|okay|alright|right|well|next|first|finally|meanwhile|currently|still|just|again|\
     done|and|but|update|status|note|progress|great|perfect|good|sure|yes|yep|hmm|today|afterwards|\
     second|third|lastly|briefly|busy|started|finished|plan|thought|thinking|action|step|todo|task|here|\
     absolutely|excellent|nice|cool|not|yet|maybe|ah|oh|let's|see|fine|all|no|problem|agent|me|assistant|\
     quick|1|2|3",
);

/// What may stand between the subject and its verb.
static ADVERBS: List = List::of(
    "just|now|already|then|also|currently|still|successfully|quickly|simply|first|finally|next|have|had|\
     has|been|again|briefly|carefully|manually|quietly|only|be|go|ahead|and|fully|probably|actually|\
     immediately|start|by|begin",
);

/// Words of a rule, a reason or a result: with one of them a sentence says more than what was done.
static WHY: List = List::of(
    "because|since|whenever|unless|always|every|each|due|means|meaning|turns|turned|instead|therefore|\
     why|when|if|after|until|never|daily|weekly|nightly|usually|often|sometimes",
);

/// Verbs that have a subject of their own: behind `and`, `that` or a colon, they tell what was found.
static TELLS: List = List::of(
    "is|are|was|were|isn't|aren't|wasn't|weren't|has|have|had|does|doesn't|don't|needs|need|takes|\
     requires|uses|lives|listens|runs|works|breaks|fails|returns|expects|contains|holds|supports|starts|\
     stops|ends|costs|leads|causes|can|cannot|can't|should|must|may|might|expires|belongs|depends|drops|\
     reads|writes|lacks|says|shows|points|sits|goes|comes|gives|gets|makes|wants|prefers|owns|will|would|\
     could|keeps|ignores|accepts|rejects|misses|crashes|leaks|loops|needed|means",
);

/// `src/main.rs`, `main.rs`, `parse_table`: a name that only a machine reads.
pub(super) fn is_path(word: &str) -> bool {
    word.matches('/').count() >= 2
        || word.contains('_')
        || (word.contains('/') && word.contains('.'))
        || matches!(word, "https" | "http")
        || word.rsplit_once('.').is_some_and(|(stem, end)| {
            !stem.is_empty()
                && (1..=5).contains(&end.len())
                && end.bytes().all(|b| b.is_ascii_lowercase())
                && stem.bytes().any(|b| b.is_ascii_alphabetic())
        })
}

/// Whether a sentence names a day: then it tells of an event or a plan.
fn names_day(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        DAYS.contains(&word.trim_end_matches('s'))
            || (MONTHS.contains(word)
                && (*word != "may" || at > 0 && matches!(words[at - 1], "in" | "by" | "until")))
            || is_iso(word)
            || is_year(word, &["19", "20"])
            || matches!(*word, "yesterday" | "tomorrow" | "tonight")
    })
}

/// Whether a clause behind a mark or `and` has a subject and verb of its own.
pub(super) fn tells(words: &[&str]) -> bool {
    let mut is_clause = false;
    words.iter().enumerate().any(|(at, word)| {
        if matches!(*word, "," | ":" | "and" | "but" | "that" | "which" | "where" | "so" | "while") {
            is_clause = true;
            return false;
        }
        // `that` may be the subject, a verb may not come first: `and is now waiting`.
        is_clause && TELLS.has(word) && !matches!(words[at - 1], "," | ":" | "and" | "but" | "i")
    })
}

/// How a verb was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tense {
    Going,
    Past,
    /// `I will`, `let me`, `about to`.
    Intent,
}

/// Whether a sentence, given as plain words and marks, tells what its writer does.
pub(super) fn is_step(words: &[&str]) -> bool {
    let mut at = 0;
    while at < words.len() && (LEADS.has(words[at]) || matches!(words[at], "," | ":")) {
        at += 1;
    }
    // `Step 4 of 9: ...`
    if let ["step" | "task" | "phase" | "part" | "item", n, "of", m, ..] = words
        && is_number(n)
        && is_number(m)
    {
        return true;
    }
    // `..., 3 of 8 done`, `My next action is to ...`
    let is_share = words.windows(4).any(|four| {
        is_number(four[0])
            && four[1] == "of"
            && is_number(four[2])
            && matches!(
                four[3],
                "done"
                    | "left"
                    | "complete"
                    | "completed"
                    | "finished"
                    | "processed"
                    | "converted"
                    | "remaining"
            )
    });
    let is_mine = matches!(
        words,
        [
            "my" | "the",
            "next" | "current" | "last",
            "action" | "step" | "task" | "move" | "plan",
            "is" | "was",
            "to",
            ..
        ]
    );
    if is_share
        || is_mine
        || begins_insight(words)
        || is_waiting(&words[at.min(words.len())..])
        || is_of_session(&words[at.min(words.len())..])
    {
        return true;
    }
    // `Done` and its like alone are talk.
    if at == words.len() {
        return false;
    }
    // A lead may be the subject after all (`Status of the build: ...`): then what follows is no verb.
    find(&words[at..])
        .is_some_and(|(tense, by_agent, verb, rest)| judge(tense, by_agent, verb, rest, &words[at..]))
        || at > 0
            && find(words)
                .is_some_and(|(tense, by_agent, verb, rest)| judge(tense, by_agent, verb, rest, words))
}

/// `I see the problem now`.
fn begins_insight(words: &[&str]) -> bool {
    let words = words.strip_prefix(&["ah"]).or_else(|| words.strip_prefix(&["ok"])).unwrap_or(words);
    words.len() <= 9
        && matches!(
            words,
            ["i", "see" | "found" | "think", "the" | "a" | "what" | "i", ..]
                | ["found" | "got", "the", "problem" | "issue" | "bug" | "culprit" | "cause", ..]
        )
        && words.iter().any(|word| {
            matches!(
                *word,
                "problem" | "issue" | "bug" | "culprit" | "mistake" | "pattern" | "happening" | "wrong"
            )
        })
        && !tells(words)
        && !words.contains(&"with")
}

/// `The user has not answered yet.`, `The user wants me to fix the login page.`
fn is_waiting(words: &[&str]) -> bool {
    let (["the", "user", rest @ ..] | ["user", rest @ ..]) = words else { return false };
    let is_open = matches!(rest, ["has" | "have" | "did", "not", ..] | ["hasn't" | "didn't", ..])
        && matches!(rest.last(), Some(&"yet" | &"far"));
    let is_asking = matches!(
        rest,
        ["wants" | "asks" | "needs" | "told" | "would", "me" | "like", "to" | "me", ..]
            | ["is", "asking" | "waiting", ..]
            | ["requested", "that", "i", ..]
    );
    is_open || is_asking
}

/// `Context usage is at 78 %`, `Tool call 14 returned nothing`, `the command failed`: a session's machinery.
fn is_of_session(words: &[&str]) -> bool {
    let has_head = |head: &[&str]| words.starts_with(head);
    if has_head(&["context", "usage"])
        || has_head(&["token", "usage"])
        || has_head(&["tokens", "used"])
        || has_head(&["context", "window", "is"])
    {
        return true;
    }
    let bare = words.strip_prefix(&["the"]).unwrap_or(words);
    let bare = match bare {
        ["last" | "previous" | "first" | "second" | "next", rest @ ..] => rest,
        _ => bare,
    };
    let (["tool", "call" | "use", behind @ ..]
    | ["tool" | "command" | "script" | "subagent" | "grep" | "search", behind @ ..]
    | ["test" | "tests", "run", behind @ ..]) = bare
    else {
        return false;
    };
    let near = &behind[..behind.len().min(3)];
    near.iter().any(|word| {
        matches!(
            *word,
            "returned"
                | "failed"
                | "succeeded"
                | "printed"
                | "exited"
                | "timed"
                | "finished"
                | "completed"
                | "produced"
                | "gave"
        )
    }) && !near.iter().any(|word| matches!(*word, "has" | "is" | "are" | "that"))
        && !words.iter().any(|word| WHY.has(word))
        && !names_day(words)
}

/// The tense, whether the subject is the agent (or there is none), the verb and what follows it.
fn find<'a, 'b>(words: &'a [&'b str]) -> Option<(Tense, Subject, &'static Verb, &'a [&'b str])> {
    let (first, rest) = words.split_first()?;
    let second = rest.first().copied().unwrap_or("");
    let subject = match *first {
        "i" | "i'm" | "i've" | "i'll" | "i'd" | "agent" | "assistant" | "subagent" => Subject::Agent,
        "we" | "we're" | "we've" | "we'll" => Subject::We,
        "let" | "let's" | "lets" | "lemme" => Subject::Let,
        "the" if matches!(second, "agent" | "assistant" | "subagent") => Subject::Agent,
        _ => Subject::None,
    };
    let mut at = match (*first, second) {
        ("the", _) if subject == Subject::Agent => 2,
        ("let", "me" | "us") => 2,
        ("let", _) => return None,
        _ if subject == Subject::None => 0,
        _ => 1,
    };
    let is_intent_head = matches!(*first, "i'll" | "we'll" | "let" | "let's" | "lets" | "lemme" | "i'd");
    let mut intent = is_intent_head;
    let mut going = matches!(*first, "i'm" | "we're");
    let start = at;
    while let Some(word) = words.get(at) {
        match *word {
            "am" | "are" | "is" | "was" | "were" if subject != Subject::None => going = true,
            "will" | "to" | "need" | "needs" | "want" | "should" | "must" | "can" | "plan" | "planning"
            | "intend" | "going" | "about" | "time" | "ready" | "have" | "gonna"
                if (subject != Subject::None
                    || matches!(*word, "going" | "about" | "time" | "ready" | "need" | "to"))
                    && (*word != "going" || words.get(at + 1) == Some(&"to"))
                    && (*word != "have" || words.get(at + 1) == Some(&"to")) =>
            {
                // `to` alone at the beginning is an instruction: `To read the log, ...`.
                if *word == "to" && at == start && subject == Subject::None {
                    return None;
                }
                intent = true;
            }
            word if ADVERBS.has(word) && (subject != Subject::None || at > start) => {}
            _ => break,
        }
        at += 1;
    }
    let word = words.get(at).copied()?;
    let rest = &words[at + 1..];
    // `I will render the invoice next`: whatever it is, it comes next.
    if intent
        && subject == Subject::Agent
        && matches!(rest.last(), Some(&"next" | &"now" | &"first"))
        && !names_day(rest)
    {
        return Some((Tense::Intent, Subject::Let, &VERBS[0], rest))
            .filter(|_| words.contains(&"me") || !rest.is_empty());
    }
    if intent {
        let verb = VERBS.iter().find(|verb| verb.base == word || verb.going == word)?;
        return Some((Tense::Intent, subject, verb, rest));
    }
    if let Some(verb) = VERBS.iter().find(|verb| verb.going == word)
        && (going || subject == Subject::None || words[start..at].contains(&"been"))
    {
        return Some((Tense::Going, subject, verb, rest));
    }
    if going {
        return None;
    }
    // `Read` without a subject may be anything; what follows decides.
    let past = match word {
        "gone" => "went",
        "written" => "wrote",
        "taken" => "took",
        "begun" => "began",
        "done" => "finished",
        "run"
            if subject != Subject::None
                && words[..at].iter().any(|word| matches!(*word, "have" | "i've" | "we've")) =>
        {
            "ran"
        }
        word => word,
    };
    let verb = VERBS.iter().find(|verb| !verb.past.is_empty() && verb.past == past)?;
    Some((Tense::Past, subject, verb, rest))
}

/// Who does it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Agent,
    We,
    /// `Let me`, `let's`.
    Let,
    None,
}

fn judge(tense: Tense, subject: Subject, verb: &Verb, rest: &[&str], whole: &[&str]) -> bool {
    // `..., this will take a moment`
    let wait = rest.windows(4).position(|four| {
        four[0] == ","
            && matches!(four[1], "this" | "it" | "that")
            && (four[3] == "take" || four[2] == "takes")
    });
    let rest = &rest[..wait.unwrap_or(rest.len())];
    // What `let me` introduces is still to come.
    let is_mine = tense == Tense::Intent && subject == Subject::Let && whole.contains(&"me");
    let says = if is_mine { rest.contains(&":") } else { tells(rest) };
    if rest.iter().any(|word| WHY.has(word)) || names_day(whole) || says {
        return false;
    }
    let bare = rest.iter().all(|word| EMPTY.has(word) || matches!(*word, "," | ":"));
    // `Running the tests takes a minute`: a verb behind the gerund makes it the subject.
    if tense == Tense::Going && subject == Subject::None && has_verb(rest) {
        return false;
    }
    // `Using the index, we found ...`, `Compared with the old one, ...`: what follows is the statement.
    let is_participle = subject == Subject::None
        && (rest.windows(2).any(|two| two[0] == "," && (SUBJECTS.has(two[1]) || two[1].ends_with("ly")))
            || (tense == Tense::Past
                && (matches!(
                    rest.first(),
                    Some(&"with" | &"to" | &"in" | &"by" | &"from" | &"as" | &"on" | &"of")
                ) || has_verb(rest))));
    if is_participle || !has_particle(verb, rest) {
        return false;
    }
    // `Read the table from s3://...` tells somebody what to do.
    if verb.base == verb.past && tense == Tense::Past && subject == Subject::None {
        return false;
    }
    // `Used to be`, `I used to run the tests`.
    if rest.first() == Some(&"to") && verb.does == Does::Call {
        return false;
    }
    // `I have finished to open it`, `finished reading`: whatever it was, it is done.
    let ends_other = matches!(verb.base, "finish" | "complete")
        && rest.first().is_some_and(|next| *next == "to" || (next.ends_with("ing") && next.len() > 4));
    let ponders = verb.base == "think" && subject == Subject::None && rest.first() == Some(&"about");
    if (ponders && tense == Tense::Going) || (ends_other && subject == Subject::Agent) {
        return true;
    }
    let things = match (verb.does, tense) {
        (Does::Look | Does::Run, Tense::Past) if subject == Subject::We => &OURS,
        (Does::Look | Does::Run, _) => &THINGS,
        (Does::Edit, Tense::Going) if subject != Subject::We => &THINGS,
        (Does::Edit, _) => &TEXTS,
        (Does::Call, _) => &TOOLS,
        (Does::Go, _) => &GOINGS,
    };
    let about = rest.iter().any(|word| things.has(word) || (verb.does != Does::Go && is_path(word)));
    // `Update config.yaml to use port 9090` says what holds from now on.
    let sets = verb.does == Does::Edit
        && rest.iter().any(|word| matches!(*word, "from" | "use" | "uses" | "by" | "with" | "for" | "so"));
    match (tense, subject) {
        // Announcements with nothing to announce.
        (Tense::Intent, Subject::Let) => {
            whole.contains(&"me")
                || matches!(rest.last(), Some(&"next" | &"now" | &"first"))
                || whole.contains(&"lemme")
                || bare
                || about
        }
        (Tense::Intent, Subject::We) => false,
        (Tense::Intent, _) => bare && !rest.is_empty() || about,
        (Tense::Going, Subject::None) => bare || about,
        (Tense::Going, _) => (bare && verb.does != Does::Edit) || about,
        (Tense::Past, Subject::We) => about && matches!(verb.does, Does::Look | Does::Run) && !sets,
        (Tense::Past, Subject::Agent | Subject::None | Subject::Let) => about && !sets,
    }
}

/// Who else may do something behind a participle.
static SUBJECTS: List = List::of("we|i|it|they|the|this|that|our|he|she|you|these|those|there|its");

/// `Take a look`, `go through`, `figure out`: verbs that are steps with such a word only.
fn has_particle(verb: &Verb, rest: &[&str]) -> bool {
    let near = &rest[..rest.len().min(5)];
    let any = |list: &[&str]| near.iter().any(|word| list.contains(word));
    match verb.base {
        "take" => any(&["look", "peek", "stock"]),
        "go" => any(&["through", "over", "ahead", "back", "step"]),
        "dig" => any(&["into", "through", "in", "deeper"]),
        "figure" => any(&["out"]),
        "pull" => any(&["up", "latest"]),
        "get" => any(&["started", "back", "going", "on", "ready"]),
        "hand" => any(&["over", "off", "back"]),
        "pick" => any(&["up", "back"]),
        "kick" => any(&["off"]),
        "move" => any(&["on", "to", "onto", "ahead", "forward"]),
        "use" => near.iter().take(4).any(|word| matches!(*word, "tool" | "command" | "subagent")),
        _ => true,
    }
}

/// Verbs of which a gerund is the subject: `Running the tests in parallel corrupts the database`.
pub(super) static DOES: List = List::of(
    "is|are|was|breaks|takes|needs|fails|means|corrupts|causes|drops|deletes|locks|kills|wipes|triggers|blocks|leaks|throws|\
     crashes|hangs|requires|allows|prevents|resets|creates|produces|gives|leaves|keeps|makes|costs|slows|speeds|saves|avoids|\
     helps|doubles|halves|overwrites|invalidates|exposes|disables|enables|ignores|skips",
);

/// Whether a clause has a verb that is neither an infinitive nor a participle: words that are always one, or a word in `-s`
/// that no plural of a session's things explains.
fn has_verb(rest: &[&str]) -> bool {
    // `to see how tokens are made`: the verb is another clause's.
    let end = rest.iter().position(|word| {
        matches!(*word, "to" | "how" | "what" | "where" | "why" | "which" | "whether" | "that" | "who")
    });
    rest[..end.unwrap_or(rest.len())].iter().enumerate().any(|(at, word)| {
        let before = if at > 0 { rest[at - 1] } else { "" };
        if matches!(before, ":" | "to" | "and" | "or")
            || (before == "," && !matches!(*word, "makes" | "is" | "are"))
        {
            return false;
        }
        (at > 0 && DOES.has(word))
            || TELLS.has(word)
                && !matches!(
                    *word,
                    "uses" | "shows" | "needed" | "reads" | "writes" | "runs" | "returns" | "works" | "loops"
                )
            || matches!(
                *word,
                "took"
                    | "made"
                    | "broke"
                    | "became"
                    | "becomes"
                    | "costs"
                    | "hurts"
                    | "helps"
                    | "saves"
                    | "avoids"
                    | "speeds"
                    | "slows"
                    | "adds"
                    | "doubles"
                    | "feels"
                    | "seems"
                    | "opens"
                    | "failed"
                    | "worked"
                    | "helped"
                    | "caused"
                    | "reads"
                    | "returns"
                    | "works"
                    | "uses"
                    | "runs"
            ) && at > 0
                && !matches!(
                    before,
                    "the"
                        | "a"
                        | "all"
                        | "its"
                        | "for"
                        | "of"
                        | "in"
                        | "how"
                        | "what"
                        | "where"
                        | "why"
                        | "which"
                )
    })
}

/// A number in digits, with a unit of three letters at most, or in words.
pub(super) fn is_number(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    word.starts_with(|c: char| c.is_ascii_digit()) && word.len() - digits.len() <= 3
        || matches!(
            word,
            "zero"
                | "no"
                | "one"
                | "two"
                | "three"
                | "four"
                | "five"
                | "six"
                | "seven"
                | "eight"
                | "nine"
                | "ten"
        )
}
