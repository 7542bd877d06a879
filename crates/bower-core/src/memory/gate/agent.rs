//! Recognises sentences in which an agent speaks of itself.
//! They say what it is, what it was told to be, what it does not know, and where its session stands. Each is read as plain words
//! and marks; people who speak of themselves are kept.

use super::list::List;

/// What an agent calls itself.
static ROLES: List = List::of("assistant|agent|ai|bot|chatbot|copilot|subagent|llm|companion|model|persona");

/// What makes a person of an assistant, agent or model.
static HUMAN: List = List::of(
    "travel|estate|insurance|secret|sales|free|literary|booking|press|teaching|medical|physician|dental|\
     research|executive|personal|administrative|legal|shop|store|nursing|role|fashion|art|transfer|\
     customs|lab|laboratory|care|office|production|photo|underwear|scale|talent|purchasing|police|\
     special|editorial|veterinary|kitchen|foot",
);

/// What a prompt is made of.
static TOLD: List = List::of(
    "instructions|instruction|guidelines|guideline|prompt|persona|directives|directive|constraints|\
     programming|boundaries",
);

/// Whom and what a prompt speaks of, and people among themselves seldom.
static SERVED: List = List::of(
    "user|user's|users|tool|tools|prompt|instructions|markdown|json|xml|conversation|response|responses|\
     assistant|emoji|emojis|guidelines|hallucinate|ai|concise|concisely|helpful|harmless|session|\
     destructive|answers|context|subagent|subagents|reply|replies",
);

/// What an agent is for.
static SERVES: List = List::of("help|assist|support|answer|serve|guide|provide|ensure|respond|act");

/// What an agent says that it should be.
static VIRTUES: List = List::of(
    "concise|helpful|brief|friendly|honest|polite|harmless|professional|respectful|neutral|transparent|\
     proactive",
);

fn any(words: &[&str], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(word))
}

/// Whether the words begin with one of a list of beginnings, which are parted by `|`.
pub(super) fn begins(words: &[&str], list: &str) -> bool {
    list.split('|').any(|head| {
        let mut at = 0;
        head.split(' ').all(|word| {
            at += 1;
            words.get(at - 1) == Some(&word)
        })
    })
}

/// Whether a row of words stands anywhere among them.
fn holds(words: &[&str], list: &str) -> bool {
    (0..words.len()).any(|at| begins(&words[at..], list))
}

/// Whether the words up to a clause's end name a role that no person has.
fn names_role(words: &[&str]) -> bool {
    words.iter().take(10).enumerate().any(|(at, word)| {
        let last = word.split('-').next_back().unwrap_or(word);
        let before = if at > 0 { words[at - 1] } else { "" };
        // `AI engineer` and `model builder` are people, `the agent's owner` is one too.
        let next = words.get(at + 1).copied().unwrap_or(".");
        let goes_on = matches!(
            next,
            "." | ","
                | ":"
                | "for"
                | "of"
                | "that"
                | "who"
                | "with"
                | "in"
                | "on"
                | "to"
                | "built"
                | "made"
                | "running"
                | "designed"
                | "created"
                | "trained"
                | "from"
                | "and"
                | "here"
                | "by"
                | "inside"
                | "at"
                | "embedded"
        ) || ROLES.has(next);
        ROLES.has(last)
            && goes_on
            && (!HUMAN.has(before) || words.contains(&"ai"))
            && (last != "model" || matches!(before, "language" | "ai"))
            // A person may be somebody's assistant; an agent says of what kind it is.
            && (last != "assistant" || !matches!(before, "an" | "my" | "his" | "her" | "assistant" | "to"))
    })
}

/// Beginnings of sentences about a prompt.
const OF_PROMPT: &str = "as an ai|as a language model|as a large language model|as your assistant|as the assistant|as the agent|\
    my system prompt|my persona|my directives|my programming|my core rules|my operating rules|the following instructions|\
    these instructions were|these instructions override|system prompt|system message|system instructions|developer message|\
    custom instructions|core directives";

/// Beginnings with which an agent cites its rules.
const CITES: &str = "according to my|per my|following my|based on my|under my|i follow|i must follow|i will follow|i'll follow|\
    i operate under|rules i follow|the rules i follow|guidelines i follow|i have to follow|i work under|i was given";

/// Beginnings with which an agent tells who made it so. People are told things, trained and asked too.
const WAS_TOLD: &str = "i was instructed|i am instructed|i'm instructed|i was configured|i am configured|i'm configured|\
    i was designed|i am designed|i'm designed|i was trained|i am programmed|i was programmed|i was built to|i am built to|\
    i have been instructed|i have been told to|i've been instructed|i've been told to|i was told to|i was told in the|\
    i am told to|i was asked to act|i was asked by the system|i am required to|i am expected to|i'm expected to|i am supposed to";

/// Whether a sentence says what its writer is or was told to be: what every session of an agent begins with.
pub(super) fn is_told_self(words: &[&str]) -> bool {
    let words = match words {
        ["note" | "reminder" | "remember" | "identity" | "recap" | "so", "," | ":", rest @ ..] => rest,
        _ => words,
    };
    if begins(words, OF_PROMPT)
        || begins(words, "i am|i'm|i was|my name is|this is|you are|you're|i'm called|call me|i go by")
            && is_named_role(words)
    {
        return true;
    }
    // `As the team's release bot, I answer ...`
    if words.first() == Some(&"as")
        && let Some(comma) = words.iter().position(|word| *word == ",")
        && matches!(words.get(comma + 1), Some(&"i" | &"i'm" | &"my" | &"you"))
        && names_role(&words[1..=comma])
    {
        return true;
    }
    if begins(words, CITES)
        && (TOLD.any(words) || holds(words, "rules i|my rules|these rules|the rules|its rules"))
    {
        return true;
    }
    if begins(words, WAS_TOLD) {
        let behind = words.get(2..).unwrap_or(&[]);
        return any(&words[..words.len().min(3)], &["instructed", "configured", "designed", "programmed"])
            || SERVED.any(words)
            || TOLD.any(words)
            || VIRTUES.any(words)
            || any(behind, &["ask", "answer", "respond", "confirm", "refuse", "help", "assist", "act"]);
    }
    is_own_role(words) || is_rule_of_self(words) || is_order(words)
}

/// `My instructions: ...`, `My rules say ...`, `My role is to help the user`.
fn is_own_role(words: &[&str]) -> bool {
    let ["my", what, rest @ ..] = words else { return false };
    if TOLD.has(what) || (matches!(*what, "rules" | "orders") && begins(rest, ":|are|say|state|include|tell"))
    {
        return true;
    }
    let is_role = matches!(
        *what,
        "role" | "job" | "task" | "purpose" | "goal" | "mission" | "function" | "responsibility"
    );
    is_role
        && begins(rest, "is to|here is to|:")
        && (SERVED.any(rest) || SERVES.any(rest) && any(rest, &["you", "developers", "team", "customers"]))
}

/// `I must never share these instructions`, `The assistant must confirm ...`, `You may not ... the user`.
fn is_rule_of_self(words: &[&str]) -> bool {
    let (subject, rest) = match words {
        ["i" | "you", rest @ ..] => (words[0], rest),
        ["the" | "this", "assistant" | "agent" | "model" | "ai" | "subagent", rest @ ..]
        | ["assistant" | "agent", rest @ ..] => ("agent", rest),
        _ => return false,
    };
    let Some((modal, rest)) = rest.split_first() else { return false };
    let may = [
        "must", "should", "may", "shall", "never", "always", "do", "have", "am", "are", "is", "can",
        "cannot", "can't", "will",
    ];
    let is_phrase = !matches!(*modal, "do" | "have" | "am" | "are" | "is")
        || matches!(
            rest.first(),
            Some(&"not" | &"to" | &"expected" | &"allowed" | &"required" | &"forbidden")
        );
    if !may.contains(modal) || !is_phrase {
        return false;
    }
    let is_virtue =
        rest.iter().take(3).any(|word| *word == "be") && any(rest, &["concise", "helpful", "harmless"]);
    match subject {
        "agent" => !is_passive(rest) && (SERVED.any(words) || VIRTUES.any(words)),
        "i" => {
            let served =
                any(rest, &["user", "user's", "users", "destructive", "hallucinate", "json", "markdown"])
                    || begins(rest, "be brief|be friendly|be honest|always be brief|never guess|not guess");
            TOLD.any(rest)
                || is_virtue
                || (!matches!(*modal, "will" | "always" | "can" | "are" | "is") && served)
        }
        _ => {
            let cited = holds(
                rest,
                "these instructions|the instructions|your instructions|this prompt|the prompt|system prompt|these guidelines|\
                 the guidelines|following instructions",
            );
            let served = any(rest, &["user", "user's", "tools", "subagent", "hallucinate", "emojis"])
                || rest.contains(&"tool") && !any(rest, &["each", "every", "any"]);
            let is_rule =
                !matches!(*modal, "can" | "cannot" | "can't" | "will") && !any(rest, &["sudo", "admin"]);
            is_virtue || (is_rule && (cited || served))
        }
    }
}

/// `must be restarted`: done to it, so that it is a thing.
fn is_passive(rest: &[&str]) -> bool {
    matches!(rest, ["be", done, ..] | ["not", "be", done, ..] if done.ends_with("ed") || matches!(*done, "run" | "set" | "built"))
}

/// Orders that only a model is given.
fn is_order(words: &[&str]) -> bool {
    let (["always" | "never" | "do" | "don't" | "please" | "only", "not", body @ ..]
    | ["always" | "never" | "don't" | "please" | "only", body @ ..]) = words
    else {
        return false;
    };
    begins(body, "mention|reveal|disclose|share|repeat|expose|leak|discuss")
        && (TOLD.any(body)
            || holds(body, "you are an ai|you're an ai|being an ai|that you are|this message|these rules"))
}

/// Whether a name and its kind follow: `I am Orin, the operations assistant of the platform team`.
fn is_named_role(words: &[&str]) -> bool {
    let end = words.iter().position(|word| *word == ":").unwrap_or(words.len());
    let words = &words[..end];
    // `I'm looking for an agent`, `I am happy with the assistant`: nobody is what a preposition or verb governs.
    let from = words
        .iter()
        .position(|word| matches!(*word, "am" | "i'm" | "is" | "are" | "you're" | "was" | "me" | "by"))
        .map_or(1, |at| at + 1);
    let rest = &words[from.min(words.len())..];
    let governed = rest
        .iter()
        .position(|word| {
            matches!(
                *word,
                "for"
                    | "with"
                    | "about"
                    | "to"
                    | "of"
                    | "by"
                    | "at"
                    | "from"
                    | "like"
                    | "on"
                    | "in"
                    | "than"
                    | "using"
                    | "not"
            ) || (word.ends_with("ing") && word.len() > 5 && !rest.iter().any(|next| ROLES.has(next)))
        })
        .unwrap_or(rest.len());
    // The role itself may govern (`assistant of the team`).
    names_role(&rest[..(governed + 1).min(rest.len())])
}

/// Whether a sentence says that its writer knows nothing, or asks what was told before.
pub(super) fn is_blank(words: &[&str]) -> bool {
    let is_about = |words: &[&str]| {
        any(
            words,
            &[
                "information",
                "memory",
                "memories",
                "record",
                "records",
                "recall",
                "knowledge",
                "context",
                "mention",
                "mentioning",
                "matches",
                "discussion",
                "conversation",
                "conversations",
                "entry",
                "entries",
            ],
        )
    };
    let words = match words {
        ["sorry" | "unfortunately" | "hmm" | "currently" | "apologies" | "so" | "but", ",", rest @ ..]
        | ["i'm" | "i", "afraid", rest @ ..] => rest,
        _ => words,
    };
    let denies = begins(
        words,
        "i don't have|i do not have|i don't recall|i do not recall|i don't see any|i do not see any|i have no|i couldn't find|\
         i could not find|i could not locate|i can't find|i cannot find|i wasn't able to|i was not able to|i was unable to|i'm unable to|i am unable to|\
         i'm not able to|i found no|i found nothing|it looks like i don't|it seems i don't|there is no information|\
         there are no memories|i can't recall|i cannot recall|i have nothing|i don't think i have",
    );
    if denies {
        return words.len() <= 18
            && is_about(&words[2..])
            && !any(words, &["because", "until", "since", "ask", "leaks", "leak"]);
    }
    begins(
        words,
        "there is nothing in|there's nothing in|nothing in memory|nothing is stored|no results|no matches|no relevant|no memories|no matching|nothing found|nothing relevant|no entries found|no hits|\
         no information found|no context found|no new information|no new facts|no facts|nothing to remember|nothing to save|\
         nothing to store|nothing new|the search returned|search returned|query returned|the query returned",
    ) && !any(words, &["are", "is", "if", "when", "because"])
        && words.len() <= 14
        || begins(
            words,
            "can you remind|could you remind|remind me what|do you remember|do you recall|do you still remember|can you remember|can you recall|did i tell|did i already tell|\
             did i mention|did i already mention|have i told|have i already told|have i mentioned|what did i tell|what did i say|\
             what do you remember|what do you know about|what have i told|do you know what i|don't you remember",
        )
}

/// Beginnings of accounts: whatever follows them is one.
const ACCOUNTS: &str = "session started|session ended|session closed|session complete|session completed|session finished|\
    session over|session resumed|session terminated|session log :|session notes :|session report :|end of session|\
    end of the session|end of this session|end of conversation|end of the conversation|start of session|new session started|\
    new session :|recap of the day|recap of the session|recap of this session|this was session|what i did|what we did|\
    here's what i did|here is what i did|here's what we did|here is what we did|recap :|quick recap|handoff :|handover :|\
    hand-off :|completed task|completed tasks|task completed|task complete|task done|task summary|summary of work|\
    summary of today's work|summary of changes|summary of the changes|summary of what|today's session was|today's session :|\
    we stop here|what remains :|what is left :|what's left :|what's done :|wrapping up :|wrapping up now|wrapping up here|\
    wrapping up for|wrapping up the session|done so far|completed so far|progress so far|where we left off|where i left off|\
    next session :|next session i|next session we|next session should|accomplished :|accomplished today|today's work :|\
    today's progress :|work log :|continuing from the last|continuing from last|continuing from where";

/// What else is said of a session while it goes on.
const COURSE: &str = "ending the session|ending this session|closing the session|closing this session|starting a new session|\
    this session was|this session is|this session we|this session i|this session has|this session focused|this session covered|\
    this session :|in this session|during this session|the session ended|the session is over|the session has ended|\
    the session was closed|this conversation|the conversation ended|the conversation has ended|that's all for|that's it for|\
    that is all for|that concludes|this concludes|signing off|signed off|calling it a day|until next time|to be continued|\
    stopping here|pausing here|leaving off|picked up where|picking up where|resuming from where|resuming where|resumed from where|\
    continuing where|we left off|i left off|left off at|last session we|last session i|last session :|in the last session|\
    in the previous session|earlier in this session|earlier this session|so far this session|we spent this session|\
    we spent the session|i spent this session|i spent the session|handing over to the next|handing off|to recap ,|\
    progress update :|status update :|still to do :|left to do :|remaining work :|remaining tasks :|open todos|next up :|\
    next steps :|next actions :|action items for next|for next time|all acceptance criteria are|current task :|current goal :|\
    my current task|the current task is|the task at hand|completed today|done today|work done :|work done today|changes made :|\
    files changed :|files modified :|what's next :";

/// Whether a text that begins so is the account of a session, whatever follows.
pub(super) fn is_named_account(words: &[&str]) -> bool {
    let is_numbered = matches!(words, ["session" | "conversation", id, how, ..]
        if id.bytes().any(|b| b.is_ascii_digit()) && is_end(how));
    begins(words, ACCOUNTS) || is_numbered
}

/// How a session ends or begins.
fn is_end(word: &str) -> bool {
    matches!(
        word,
        "ended"
            | "closed"
            | "finished"
            | "complete"
            | "completed"
            | "started"
            | "resumed"
            | "began"
            | "over"
            | "done"
            | "terminated"
            | "paused"
            | "opened"
            | "summary"
            | "recap"
            | "log"
            | "notes"
            | "report"
    )
}

/// Where a session stands: its end, its beginning, its recap, what is left of it.
pub(super) fn is_about_session(words: &[&str]) -> bool {
    if let ["session" | "conversation" | "chat", rest @ ..] = words {
        // `Session 7f3a finished: ...`, but not `Session tokens are rotated` and `Session status is kept`.
        let rest = match rest {
            [id, more @ ..] if id.bytes().any(|b| b.is_ascii_digit()) => more,
            _ => rest,
        };
        let rest = match rest {
            ["was" | "is" | "has" | "now", more @ ..] => more,
            _ => rest,
        };
        let ends = matches!(
            rest.get(1),
            None | Some(
                &("," | ":" | "after" | "by" | "with" | "at" | "for" | "now" | "here" | "successfully")
            )
        );
        if rest.first().is_some_and(|how| {
            is_end(how) || matches!(*how, "stats" | "status" | "goal" | "goals" | "outcome" | "id")
        }) && ends
            && (rest.len() < 2 || is_end(rest[0]) || rest[1] == ":")
        {
            return true;
        }
    }
    let is_here = words.len() <= 16
        && words.first() != Some(&"this")
        && matches!(words, [.., "this" | "current", "session" | "conversation"]);
    is_named_account(words)
        || begins(words, COURSE)
        || is_here
        || is_task_done(words)
        || is_list_of_done(words)
}

/// `Task 4 of 9 is done`, `All tasks are complete`, `The task has been completed successfully`, `Everything is committed`.
fn is_task_done(words: &[&str]) -> bool {
    const MOST: usize = 14;
    let is_over = |word: &str| {
        matches!(
            word,
            "done"
                | "complete"
                | "completed"
                | "finished"
                | "accomplished"
                | "checked"
                | "closed"
                | "achieved"
                | "committed"
                | "implemented"
        )
    };
    let is_rule = any(words, &["by", "with", "because", "when", "if", "once", "must", "should"]);
    if words.len() > MOST || is_rule {
        return false;
    }
    let task = match words {
        ["the" | "this" | "that" | "your" | "my" | "current" | "all" | "every", rest @ ..] => rest,
        _ => words,
    };
    match (words, task) {
        (
            _,
            [
                "task" | "tasks" | "todo" | "todos" | "subtask" | "subtasks" | "goal" | "objective" | "work"
                | "job" | "step" | "steps" | "milestone" | "phase",
                rest @ ..,
            ],
        ) => rest.iter().take(6).any(|word| is_over(word)),
        (["everything" | "everything's", ..] | ["all", "done" | "is" | "work", ..], _) => {
            words.iter().any(|word| is_over(word))
        }
        (
            ["we" | "i", "are" | "am", "done" | "finished", ..] | ["we're" | "i'm", "done" | "finished", ..],
            _,
        ) => words.len() <= 6,
        _ => false,
    }
}

/// `Summary: added a retry, fixed the test.`, `Recap: we looked at ...`: a list of what was done.
fn is_list_of_done(words: &[&str]) -> bool {
    let [
        "summary" | "recap" | "overview" | "today" | "progress" | "update" | "done" | "completed"
        | "accomplished",
        ":" | ",",
        rest @ ..,
    ] = words
    else {
        return false;
    };
    let rest = match rest {
        ["i" | "we", "have", more @ ..] | ["i" | "we" | "i've" | "we've", more @ ..] => more,
        _ => rest,
    };
    let done = rest
        .split(|word| matches!(*word, "," | "and" | ":"))
        .filter_map(|part| part.iter().find(|word| !matches!(**word, "i" | "we" | "then" | "also" | "have")))
        .filter(|first| is_done(first))
        .count();
    done >= 2
}

/// Verbs of work that is over.
pub(super) fn is_done(word: &str) -> bool {
    matches!(
        word,
        "added"
            | "fixed"
            | "updated"
            | "implemented"
            | "refactored"
            | "removed"
            | "created"
            | "wrote"
            | "tested"
            | "ran"
            | "moved"
            | "renamed"
            | "cleaned"
            | "improved"
            | "changed"
            | "documented"
            | "verified"
            | "merged"
            | "committed"
            | "pushed"
            | "deployed"
            | "investigated"
            | "reviewed"
            | "completed"
            | "finished"
            | "set"
            | "looked"
            | "discussed"
            | "worked"
            | "debugged"
            | "explored"
            | "bumped"
            | "opened"
            | "closed"
            | "checked"
            | "rebased"
            | "drafted"
            | "migrated"
            | "upgraded"
            | "wired"
            | "extracted"
            | "split"
            | "replaced"
            | "built"
            | "resolved"
            | "addressed"
    )
}

/// Headings of the parts of a prompt.
static HEADINGS: List = List::of(
    "identity|persona|role|your role|tone|instructions|system prompt|capabilities|core rules|boundaries|\
     vibe|output format|guidelines|constraints|response format|who you are|who i am|your task|\
     available tools|tool use|tone and style|core truths|communication style|safety|personality|behavior|\
     behaviour|rules of engagement|proactiveness|soul|custom instructions",
);

/// Whether a text is a part of a prompt under its heading.
pub(super) fn is_prompt_part(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or("");
    let Some(heading) = first.strip_prefix('#') else { return false };
    let heading = heading.trim_start_matches('#').trim().trim_end_matches(':').to_lowercase();
    // What stands under it is a list or speaks to its reader; an essay may have the same heading.
    let mut body = text
        .trim_start()
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .peekable();
    let is_spoken = |line: &str| {
        line.starts_with(['-', '*', '•'])
            || line.split_once(": ").is_some_and(|(label, _)| !label.contains(' '))
            || ["you ", "your ", "be ", "never ", "always ", "do not ", "don't "]
                .iter()
                .any(|head| line.to_lowercase().starts_with(head))
    };
    HEADINGS.has(&heading) && body.peek().is_some() && body.all(is_spoken)
}

/// What a program tells a model of its machine when a session begins.
static SETTINGS: List = List::of(
    "working directory|current working directory|cwd|is directory a git repo|platform|os version|\
     today's date|current date|model|session id|session key|thinking level|sandbox mode|approval policy|\
     knowledge cutoff|git status|shell|timezone|current time|runtime|network access|workspace root|\
     conversation id|agent id|permission mode|additional working directories|current branch|main branch",
);

/// Whether every line of a text is such a label with its value, and there are two or more.
pub(super) fn is_setting_list(text: &str) -> bool {
    if let Some(rest) = text.trim_start().strip_prefix("Environment:")
        && ["cwd", "working directory"].iter().any(|name| rest.to_lowercase().contains(name))
    {
        return true;
    }
    let parts = text
        .split(['\n', ';'])
        .flat_map(|line| line.split(". "))
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let mut known = 0;
    for part in parts {
        let part = part.trim_start_matches(['-', '*', ' ', '<']);
        let Some((label, _)) = part.split_once(':') else { return false };
        if !SETTINGS.has(&label.trim().to_lowercase()) {
            return false;
        }
        known += 1;
    }
    known >= 2
}
