//! Infers the type of a memory from cue words and shape.
//! Each cue adds its weight to a type; the heaviest type wins if it is heavy enough, and where none is the text states a fact.

use super::super::calendar::{DAYS, MONTHS, is_iso, is_year};
use crate::item::MemoryType;
use crate::memory::cues::Cues;

/// Less is chance: one weak cue (1) alone does not make a type.
const LEAST: u32 = 2;

/// A sure cue.
const SURE: u32 = 4;
/// One that is mostly right.
const STRONG: u32 = 2;
/// One that helps another.
const WEAK: u32 = 1;

/// Of equally heavy types the earlier wins: those whose cues are rarer in other types stand first.
const ORDER: &[MemoryType] = &[
    MemoryType::Digest,
    MemoryType::Handoff,
    MemoryType::Decision,
    MemoryType::Gotcha,
    MemoryType::Preference,
    MemoryType::Convention,
    MemoryType::Procedure,
    MemoryType::Pattern,
    MemoryType::Episode,
    MemoryType::Context,
];

/// Cues of each type and weight, parted by `|`; a line counts once, however many of its cues occur. A cue of `. next`
/// begins a sentence, one of `left .` ends it.
const CUES: &[(MemoryType, u32, &str)] = &[
    (
        MemoryType::Digest,
        SURE,
        "in a nutshell|in brief|boiled down to|boils down to|lessons from|to recap|wrap-up|weekly report|\
         tldr|tl : dr|. recap|. digest|. in summary|. to summarise|. to summarize|. to sum up|\
         . summary|. summing up|weekly digest|. key points|. key takeaways|. overview|. highlights|\
         . minutes of|. takeaways|. in short ,|. in brief ,|. roundup|. conclusions :|. weekly summary",
    ),
    (
        MemoryType::Digest,
        STRONG,
        ". the three lessons|. the main points|. the results :|. findings :|. outcome :|\
         takeaways|. overall|in a nutshell|main findings|. all in all",
    ),
    (
        MemoryType::Handoff,
        SURE,
        "next person|as far as|before you go on|what's missing|what is missing|is yet to|yet to be done|picks this up|whoever continues|not finished|\
         todo|to-do|. next :|. next step|. next steps|pick up|left off|left to do|hand over|handing over|\
         handover|handoff|hand off|takes over|take over from|remaining work|still to do|still missing|\
         still open|open question|open questions|blocked on|blocked by|not yet done|remains to be|\
         . continue with|. resume",
    ),
    (
        MemoryType::Handoff,
        STRONG,
        ". waiting for|needs to finish|is missing :|missing :|have a look at the|\
         is left to|are left to|left is|handing this|. remaining|unfinished|half done|half finished|\
         half of the|next session|are not .|is not done|. left :",
    ),
    (
        MemoryType::Decision,
        SURE,
        "stick with|sticking with|voted to|off the table|made up my mind|made up our minds|went for|going for|we are keeping|final choice|was dropped as|were dropped as|sticks with|\
         we decided|decided to|decided that|decided on|decided against|. decision :|we chose|chose to|\
         has chosen|have chosen|went with|going with|settled on|settled for|opted for|opted to|was agreed|\
         we agreed|agreed to|agreed that|was rejected|were rejected|was ruled out|were ruled out|ruled out|\
         was chosen|were chosen|made the decision|the decision is|the decision was|committed to",
    ),
    (
        MemoryType::Decision,
        STRONG,
        "we'll keep|we will keep|we'll use|opting for|was picked|was approved|we'll go|will be versioned|is going to be|goes away|, not in a|, not on a|we keep|gets a|\
         chose|picked|approved|in favour of|in favor of|. let's use|. let us use|we will use|we'll use|\
         are dropping|we drop|will move to|are moving to|we are switching|switched from|switched to|\
         migrate to|we're going to use|from now on|over the alternative|we won't|we will not|\
         is replaced by|was voted|selected",
    ),
    (MemoryType::Decision, WEAK, "instead of|rather than|over|no longer"),
    (
        MemoryType::Gotcha,
        SURE,
        "quirk|without any error|without an error|without warning|without notice|. mind the|. mind that|takes forever|never returns|to my surprise|unexpectedly|counter-intuitive|misleadingly|. note that the|\
         careful|beware|watch out|gotcha|pitfall|caveat|footgun|silently|don't forget|do not forget|\
         breaks when|breaks if|fails when|fails if|crashes when|crashes if|hangs when|hangs if|off by one|\
         known trap|trap :|make sure you never|counterintuitively|surprisingly|misleading",
    ),
    (
        MemoryType::Gotcha,
        STRONG,
        "returns null|returns nil|wipes|die without|dies without|breaks the|even when|. you must|which makes|which hides|which breaks|an hour ahead|looks expired|look expired|or it|freezes|corrupt|times out|is ignored|are ignored|fails on|breaks on|crashes on|deletes the|\
         ignores|swallows|hides|unless|even though|even if|looks like a success|does not work|doesn't work|\
         stops working|won't work|hangs|leaks|loses|lose|trap|bug :|known issue|known bug|workaround|\
         wrongly|corrupts|does not delete|keeps working|deadlocks|is misread|overwrites|truncates|drops|\
         by accident|wrong",
    ),
    (MemoryType::Gotcha, WEAK, ". never|or the|otherwise|still|only works|must not|so a|until"),
    (
        MemoryType::Preference,
        SURE,
        "sooner take|sooner than|easier to read than|rather not|appreciates|i appreciate|no fan of|is happiest|\
         prefers|prefer|preferred|would rather|i'd rather|favourite|favorite|can't stand|cannot stand|\
         not a fan|is a fan|hates|i hate|dislikes|i dislike|. please don't|. please do not|. please always|\
         . please never|is fond of|keen on",
    ),
    (
        MemoryType::Preference,
        STRONG,
        ". give me|takes her|takes his|i find|finds it|annoys|not want|would love|more comfortable|annoyed by|rarely wants|\
         likes|i like|loves|i love|enjoys|i enjoy|wants|i want|i'd like|would like|doesn't like|\
         does not like|don't like|please :|, please|. please|suits|suit|wishes|tired of|finds annoying",
    ),
    (
        MemoryType::Convention,
        SURE,
        "lower case|lowercase|upper case|uppercase|in capitals|plural names|singular names|full stop|indentation|indented with|nowhere else|\
         convention|by convention|naming|style guide|coding style|we always|we never|are named|is named|\
         must be named|snake_case|camelcase|pascalcase|kebab-case|have the prefix|are prefixed|is prefixed|\
         guideline|guidelines|as a convention",
    ),
    (
        MemoryType::Convention,
        STRONG,
        "go in|goes in|is kept in|are kept in|belongs in|belong in|begin with|begins with|begin in|carry no|without a green|. each|have plural|\
         . use|. always|. every|. all|must have|should have|are written|is written|start with|starts with|\
         end in|ends in|end with|are sorted|are formatted|are returned|in this repo|in this repository|\
         in this codebase|in this project|before they are merged|is formatted",
    ),
    (
        MemoryType::Convention,
        WEAK,
        "must|should|never|always|not|commit messages|branches|tests|files|names|imports|pull requests|\
         tabs|spaces|prefix|need|by hand|functions",
    ),
    (
        MemoryType::Procedure,
        SURE,
        "how to|. steps|step 1|these steps|. procedure|in order to|following steps|runbook",
    ),
    (
        MemoryType::Procedure,
        STRONG,
        ", then|and then|. then|. first ,|. first|first ,|afterwards|after that|by filling|by running|\
         by calling|by clicking|with the command|made with|and run|and call|and rerun|and restart",
    ),
    (MemoryType::Procedure, WEAK, "first|then|before|step|steps|finally"),
    (
        MemoryType::Pattern,
        SURE,
        "commonly|every spring|every summer|every autumn|every winter|every monday|every friday|each week|each month|each year|lead to|leads to|\
         usually|tends to|tend to|typically|whenever|every time|each time|as a rule|more often than not|\
         generally|regularly|keeps coming|keep coming|most of the time|in most cases|recurring|habitually|\
         time and again|correlates|. pattern :",
    ),
    (
        MemoryType::Pattern,
        STRONG,
        "at first and|goes up by|goes down by|in general|as soon as|over time|again and again|always involve|\
         often|. most|frequently|the more|the slower|the longer|almost always|rarely|mostly|seldom|keeps",
    ),
    (
        MemoryType::Context,
        SURE,
        ". our customers|. our users|. the user has|. this is a|. this is an|. the company|. the product is|. we are a|. the audience|. stakeholders|\
         . background :|. context :|. for context|the goal is|goal of|the aim is|aim of|we are building|\
         we're building|consists of|is working on|are working on|is preparing|are preparing|\
         currently learning|. this repository holds|. this repository contains|. this project is|under way|\
         is all about|is about to",
    ),
    (
        MemoryType::Context,
        STRONG,
        ". the team|is used mainly|is used by|he's writing|she's writing|is recovering|came together|. the app|. the customer is|is based in|works as|works for|\
         currently|. the project|. this project|. this repository|. our mission|is studying|is writing|\
         is learning|is planning|are planning|is building|is developing|are developing|this quarter|\
         this year|so far",
    ),
    (MemoryType::Episode, SURE, "happened|took place|broke out"),
];

/// Verbs that tell a reader what to do, at the beginning of a sentence or behind `To ..., `.
const DOING: &str = "hold|release|make|apply|watch|bump|write|tag|let|continue|save|load|find|revoke|rename|move|merge|\
    run|open|install|click|copy|restart|stop|start|create|go|download|export|set|build|deploy|call|\
    delete|remove|push|log|press|type|select|connect|plug|mix|reboot|update|check|execute|enter|\
    choose|clone|configure|add|edit|verify|pull|paste|put|turn|switch|wait|enable|disable|scan|use|\
    fill|ask|send";

const TIMES: &str = "yesterday|ago|this morning|this afternoon|this evening|today|tonight|last week|last month|\
    last year|last night|last summer|last winter|last spring|last autumn|last weekend|last time|\
    at noon|at midnight|this week|this weekend|the other day|earlier today|recently|the night of|\
    over the weekend|during the night|at the retro|at the meeting|this month";

/// Verbs whose past is no `-ed`.
const PAST: &str = "was|were|went|had|met|gave|took|came|saw|got|made|told|said|found|left|broke|began|ran|wrote|\
    built|bought|brought|fell|flew|drove|lost|won|sold|spoke|spent|slept|ate|did|paid|held|became|\
    felt|heard|kept|read|sent|sat|stood|taught|threw|woke|hit|put|quit|shut|cut|rose|grew|led|rode|\
    rang|sang|swam|tore|wore";

/// The type that a text's words speak for.
pub(super) fn type_of(text: &str, cues: &Cues) -> MemoryType {
    let mut weights = [0_u32; MemoryType::ALL.len()];
    let mut add = |memory_type: MemoryType, weight: u32| weights[memory_type as usize] += weight;
    for (memory_type, weight, list) in CUES {
        if cues.any_of(list) {
            add(*memory_type, *weight);
        }
    }
    let numbered = text.lines().filter(|line| is_numbered(line.trim())).count();
    if numbered >= 2 {
        add(MemoryType::Procedure, SURE);
    }
    let words: Vec<&str> = cues.each().collect();
    add(MemoryType::Procedure, instruction(&words));
    add(MemoryType::Episode, event(cues, &words));
    ORDER
        .iter()
        .copied()
        .filter(|memory_type| weights[*memory_type as usize] >= LEAST)
        // The first of the heaviest: `max_by_key` would take the last.
        .rev()
        .max_by_key(|memory_type| weights[*memory_type as usize])
        .unwrap_or(MemoryType::Fact)
}

fn is_one(word: &str, list: &str) -> bool {
    list.split('|').any(|other| other == word)
}

/// `1. Stop the service`
fn is_numbered(line: &str) -> bool {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (1..=2).contains(&digits) && line[digits..].starts_with(['.', ')']) && line[digits + 1..].starts_with(' ')
}

/// How much the text tells a reader what to do.
fn instruction(words: &[&str]) -> u32 {
    let mut weight = 0;
    // `Hold the button, release it, and wait`: clause after clause begins with what to do.
    let told = words
        .windows(3)
        .filter(|three| {
            let verb =
                if three[0] == "," && matches!(three[1], "and" | "then") { three[2] } else { three[1] };
            matches!(three[0], "." | "," | ":") && is_one(verb, DOING)
        })
        .count();
    if told >= 2 {
        weight = SURE;
    }
    let mut begins_with_to = false;
    for (at, pair) in words.windows(2).enumerate() {
        let (mark, word) = (pair[0], pair[1]);
        if mark == "." {
            begins_with_to = matches!(word, "to" | "for" | "if");
            // `Use` alone is a rule more often than a step.
            if is_one(word, DOING) && word != "use" && words.get(at + 2).is_some_and(|next| *next != ".") {
                weight = weight.max(STRONG);
            }
        } else if mark == "," && begins_with_to && (is_one(word, DOING) || matches!(word, "first" | "you")) {
            weight = weight.max(SURE);
        }
    }
    weight
}

/// How much the text tells of something that happened at some time.
fn event(cues: &Cues, words: &[&str]) -> u32 {
    let is_past = words.iter().any(|word| {
        is_one(word, PAST)
            || (word.len() > 4
                && word.ends_with("ed")
                && !matches!(
                    *word,
                    "need"
                        | "named"
                        | "based"
                        | "shared"
                        | "hundred"
                        | "speed"
                        | "indeed"
                        | "exceed"
                        | "sorted"
                        | "stored"
                ))
    });
    if !is_past {
        return 0;
    }
    let is_day =
        |word: &str| !word.is_empty() && word.len() <= 4 && word.starts_with(|c: char| c.is_ascii_digit());
    let is_dated = words.windows(3).any(|three| {
        matches!(three[0], "on" | "in" | "of" | "at" | "since" | "last" | "this" | ".")
            && (DAYS.contains(&three[1])
                || (MONTHS.contains(&three[1]) && !(three[1] == "may" && three[0] == "."))
                || is_year(three[1], &["19", "20"])
                || is_iso(three[1])
                || (is_day(three[1]) && MONTHS.contains(&three[2])))
    });
    if cues.any_of(TIMES) || is_dated { SURE - 1 } else { WEAK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_written_as_words_are() {
        for cue in CUES.iter().flat_map(|(_, _, list)| list.split('|')).chain(TIMES.split('|')) {
            assert!(!cue.is_empty() && cue.trim() == cue && !cue.contains("  "), "{cue:?}");
            assert_eq!(cue.to_lowercase(), cue);
            // A cue that the plain form cannot hold would never be found.
            assert_eq!(Cues::of(cue).plain().trim_matches([' ', '.']), cue.trim_matches([' ', '.']), "{cue}");
        }
    }

    #[test]
    fn shapes_speak_too() {
        let check = |text: &str, expected| assert_eq!(type_of(text, &Cues::of(text)), expected, "{text}");
        check("1. Unpack it\n2. Turn it on", MemoryType::Procedure);
        check("To print, press the green key.", MemoryType::Procedure);
        check("To be fair, it rains.", MemoryType::Fact);
        check("In 1998 she moved to Oslo.", MemoryType::Episode);
        check("She moved to Oslo.", MemoryType::Fact);
        check("", MemoryType::Fact);
    }
}
