//! Recognises texts that only tell of their own session: accounts of it, heartbeats, and talk about the writer.
//! The last are whole texts of sentences about whoever writes them.

use super::agent::{is_about_session, is_blank, is_named_account, is_told_self};
use super::boot::is_boot;
use super::list::List;
use super::step::is_step;
use super::talk::{announces, is_talking};
use super::tally::{is_of_work, is_tally};
use super::{Constants, Refusal};
use crate::memory::cues::Cues;

/// How accounts of a session begin.
const ACCOUNTS: &[&str] = &[
    " . in this session we ",
    " . in this session , we ",
    " . in this session i ",
    " . in this session , i ",
    " . in this session the user ",
    " . in this session , the user ",
    " . in this session the assistant ",
    " . during this session ",
    " . this session we ",
    " . this session focused ",
    " . this session is being continued ",
    " . this session covered ",
    " . this conversation covered ",
    " . this conversation was about ",
    " . this conversation focused ",
    " . in this conversation , the user ",
    " . in this conversation the user ",
    " . in this conversation , we ",
    " . in this conversation we ",
    " . summary of the conversation ",
    " . summary of this conversation ",
    " . summary of the session ",
    " . summary of this session ",
    " . summary of the chat ",
    " . summary of our conversation ",
    " . session summary ",
    " . conversation summary ",
    " . here is a summary of what ",
    " . here's a summary of what ",
    " . here is a summary of the ",
    " . here's a summary of the ",
    " . here is what was done ",
    " . here's what was done ",
    " . here is what i did ",
    " . here's what i did ",
    " . what was done ",
    " . work completed ",
    " . completed tasks ",
    " . tasks completed ",
    " . accomplishments : ",
    " . i have successfully ",
    " . i've successfully ",
    " . all tasks are complete ",
    " . all tasks completed ",
    " . the user asked me to ",
    " . the user asked the assistant ",
    " . the user asked about ",
    " . the user then asked ",
    " . the user greeted ",
    " . the conversation was ",
    " . the conversation covered ",
    " . the conversation focused ",
    " . the conversation started ",
    " . the conversation began ",
    " . the conversation revolved ",
    " . we discussed ",
    " . the user and the assistant ",
    " . user asked ",
];

/// How a line of such an account begins.
const DONE: &[&str] = &[
    "added",
    "fixed",
    "updated",
    "implemented",
    "refactored",
    "removed",
    "created",
    "wrote",
    "tested",
    "ran",
    "moved",
    "renamed",
    "cleaned",
    "improved",
    "changed",
    "documented",
    "verified",
    "merged",
    "committed",
    "pushed",
    "deployed",
    "investigated",
    "reviewed",
    "completed",
    "finished",
    "set",
];

/// Labels of what an account lists.
static STATES: List = List::of(
    "finished|done|in progress|not started|pending|blocked|todo|to do|completed|remaining|open|left|\
     accomplished|next|next steps|next step|worked on|files modified|files changed|still open|\
     outstanding|progress|ongoing|wip|changes|changes made",
);

/// Whether a text is the account of a session: it says so, or it lists what was done.
pub(super) fn is_session_summary(text: &str, cues: &Cues, constants: &Constants) -> bool {
    // `Session 12 summary: ...`
    let head = cues.plain().split_ascii_whitespace().take(5);
    let is_titled = ["session", "summary"].iter().all(|word| head.clone().any(|other| other == *word));
    if cues.begins(ACCOUNTS) || is_titled {
        return true;
    }
    // `Finished: the form. In progress: the mail.`
    let labels = cues
        .plain()
        .split(" . ")
        .filter(|part| {
            let label = part.trim().split(" : ").next().unwrap_or("");
            part.contains(" : ") && STATES.has(label)
        })
        .count();
    if labels >= 2 {
        return true;
    }
    let mut items = 0;
    let mut done = 0;
    for line in text.lines() {
        let body = line.trim();
        let Some(item) = ["- ", "* ", "• ", "✅ ", "[x] "].iter().find_map(|mark| body.strip_prefix(mark))
        else {
            continue;
        };
        items += 1;
        let mut item = item.trim_start();
        let is_ticked = body.starts_with(['✅', '[']) || item.starts_with("[x]") || item.starts_with('✅');
        for mark in ["[x]", "[ ]", "✅", "**"] {
            item = item.strip_prefix(mark).unwrap_or(item).trim_start();
        }
        let first = item.split([' ', ':']).next().unwrap_or("").to_lowercase();
        done += usize::from(is_ticked || DONE.contains(&first.as_str()));
    }
    items >= constants.least_done && done * 3 >= items * 2
}

/// Why every sentence of a text tells of the session that it was written in, of what its writer is or was told, or nothing;
/// `None` where one of them says something else.
///
/// The most telling of them names the reason: a prompt before an account, an account before a step, a step before talk.
pub(super) fn about_itself(text: &str, cues: &Cues, constants: &Constants) -> Option<Refusal> {
    // What begins as a prompt or as the account of a session goes on as one.
    let head = cues
        .plain()
        .split(" . ")
        .map(str::trim)
        .find(|sentence| !sentence.is_empty() && *sentence != ".")
        .unwrap_or("");
    let words: Vec<&str> = head.split(' ').collect();
    if is_told_self(&words) || is_boot(&words) {
        return Some(Refusal::BootFile);
    }
    let is_list = text.trim().contains('\n') && (head.ends_with(" :") || text.trim_start().starts_with('#'));
    if is_named_account(&words) || (is_list && is_about_session(&words)) {
        return Some(Refusal::SessionSummary);
    }
    let mut found = None;
    for sentence in cues.plain().split(" . ").map(str::trim).filter(|sentence| !sentence.is_empty()) {
        let words: Vec<&str> = sentence.split(' ').filter(|word| *word != ".").collect();
        if words.is_empty() {
            continue;
        }
        let kind = kind_of(text, &words, sentence, constants)?;
        found = Some(match found {
            Some(other) if rank(other) <= rank(kind) => other,
            Some(_) | None => kind,
        });
    }
    found
}

fn rank(refusal: Refusal) -> usize {
    [Refusal::BootFile, Refusal::SessionSummary, Refusal::Step, Refusal::Chatter]
        .iter()
        .position(|other| *other == refusal)
        .unwrap_or(0)
}

fn kind_of(text: &str, words: &[&str], sentence: &str, constants: &Constants) -> Option<Refusal> {
    if announces(words) {
        Some(Refusal::Step)
    } else if is_told_self(words) || is_boot(words) {
        Some(Refusal::BootFile)
    } else if is_blank(words) {
        Some(Refusal::Chatter)
    } else if is_tally(words) {
        Some(Refusal::Step)
    } else if is_about_session(words) {
        Some(Refusal::SessionSummary)
    } else if is_step(words) || is_of_work(words) {
        Some(Refusal::Step)
    } else if is_talking(words, sentence, text, constants) {
        Some(Refusal::Chatter)
    } else {
        None
    }
}

/// Whether a short text is the sign of life of a program that had nothing to say: heartbeats and timers.
///
/// A public audit of 10,134 memories (mem0ai/mem0, issue 4573) found them the second most frequent junk.
pub(super) fn is_heartbeat(text: &str, cues: &Cues, constants: &Constants) -> bool {
    let trimmed = text.trim();
    if trimmed.starts_with("HEARTBEAT_OK")
        || trimmed.starts_with("NO_REPLY")
        || trimmed.ends_with("HEARTBEAT_OK")
    {
        return true;
    }
    let about =
        [" heartbeat ", " cron ", " cron job ", " scheduled task ", " health check ", " healthcheck "];
    let outcome = [
        " completed successfully ",
        " ran successfully ",
        " executed successfully ",
        " finished successfully ",
        " completed without errors ",
        " no issues ",
        " no issues found ",
        " nothing to report ",
        " nothing new ",
        " no new ",
        " all systems operational ",
        " all good ",
        " all clear ",
        " no action needed ",
        " no action required ",
        " was executed at ",
        " was triggered at ",
        " ran at ",
        " executed at ",
        " triggered at ",
        " is ok ",
        " ok . ",
        " passed . ",
    ];
    cues.words() <= constants.most_heartbeat_words && cues.any(&about) && cues.any(&outcome)
}
