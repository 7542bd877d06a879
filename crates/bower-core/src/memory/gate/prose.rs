//! Sentences that are no memories: what every session begins with, what it ends with, and what is said in passing.

use super::Constants;
use crate::memory::cues::Cues;

/// Signs that a text was copied out of a prompt, a transcript of tools, or what this program itself put into one
/// (`## Relevant Knowledge` and `### Document 1: ...` are the frame of its evidence).
const FRAMES: &[&str] = &[
    "## Relevant Knowledge",
    "### Document 1: ",
    "{\"role\":",
    "{\"role\" :",
    "{\"type\":\"tool_",
    "<memory-context",
    "</memory-context",
    "&lt;memory-context",
    "<system-reminder>",
    "<system_prompt>",
    "<|im_start|>",
    "<|system|>",
    "[INST]",
    "<<SYS>>",
    "<function_calls>",
    "<tool_result",
    "<tool_use_error>",
    "<command-name>",
    "<local-command-stdout>",
    "# claudeMd",
    "# AGENTS.md",
    "# CLAUDE.md",
    "# MEMORY.md",
    "# GEMINI.md",
];

/// How prompts begin.
const PROMPTS: &[&str] = &[
    " . you are claude",
    " . you are chatgpt",
    " . you are gpt",
    " . you are gemini",
    " . you are codex ",
    " . you are copilot ",
    " . you are cursor ",
    " . you are an interactive ",
    " . you are powered by ",
    " . you will be given ",
    " . the following tools are available ",
    " . system : the following ",
    " . available tools : ",
    " . you have access to the following ",
    " . your task is to ",
    " . act as a ",
    " . act as an ",
    " . important : you must ",
    " . important : you should ",
    " . important : you are ",
    " . critical : you must ",
    " . important . you must ",
    " . important : this context may or may not ",
    " . this file provides guidance to ",
    " . system : you are ",
    " . system prompt : ",
    " . knowledge cutoff : ",
    " . important : these instructions override ",
    " . codebase and user instructions are shown below ",
    " . as an ai language model ",
    " . as an ai assistant ",
    " . claude is an ai assistant ",
    " . i am an ai assistant ",
    " . i am claude ",
    " . i'm claude ",
    " . current date : ",
    " . today's date is ",
];

/// Whom a prompt makes of its reader.
const ROLES: &[&str] = &[
    "assistant",
    "agent",
    "model",
    "ai",
    "chatbot",
    "bot",
    "copilot",
    "subagent",
    "system",
    "expert",
    "cli",
];

/// The files that are read into a session when it begins.
const BOOT_FILES: &[&str] = &[
    "agents.md",
    "claude.md",
    "memory.md",
    "gemini.md",
    "soul.md",
    "user.md",
    "identity.md",
    "heartbeat.md",
    ".cursorrules",
    "cursorrules",
    "copilot-instructions.md",
];

/// Whether a text repeats what a session is told when it begins.
pub(super) fn is_boot_file(text: &str, cues: &Cues) -> bool {
    if FRAMES.iter().any(|frame| text.lines().any(|line| line.trim_start().starts_with(frame)))
        || cues.begins(PROMPTS)
    {
        return true;
    }
    // `You are a senior Rust engineer and coding assistant ...`: the role stands among the next few words.
    let heads = [
        " . you are a ",
        " . you are an ",
        " . you're a ",
        " . you're an ",
        " . the agent is ",
        " . the assistant is ",
    ];
    let plain = cues.plain();
    let mut roles =
        heads.iter().flat_map(|head| plain.match_indices(head).map(|(at, _)| &plain[at + head.len()..]));
    if roles.any(|rest| {
        let words = rest.split(' ').take(6).take_while(|word| *word != ".");
        words.map(|word| word.split('-').next_back().unwrap_or(word)).any(|word| ROLES.contains(&word))
    }) {
        return true;
    }
    // `CLAUDE.md says to use pnpm`, `According to AGENTS.md, ...`, `At session start the agent reads SOUL.md`.
    let says = |file: &str| {
        ["says", "states", "instructs", "tells", "requires", "specifies", "contains instructions"]
            .iter()
            .any(|verb| cues.has(&format!(" {file} {verb} ")))
            || ["according to", "as stated in", "as described in", "per", "as per", "instructions from"]
                .iter()
                .any(|head| {
                    cues.has(&format!(" {head} {file} ")) || cues.has(&format!(" {head} the {file} "))
                })
    };
    let mut names = BOOT_FILES.iter().filter(|file| cues.has(&format!(" {file} "))).peekable();
    if names.peek().is_none() {
        return false;
    }
    let at_start = [
        " session start ",
        " session startup ",
        " at startup ",
        " on startup ",
        " every session ",
        " each session ",
        " start of a session ",
        " start of the session ",
        " beginning of each session ",
        " before doing anything ",
    ];
    cues.any(&at_start) || names.any(|file| says(file))
}

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
    " . we have successfully ",
    " . all tasks are complete ",
    " . all tasks completed ",
    " . the user asked me to ",
    " . the user asked the assistant ",
    " . the user asked about ",
    " . the user then asked ",
    " . the user greeted ",
    " . the conversation ",
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

/// Whether a text is the account of a session: it says so, or it lists what was done.
pub(super) fn is_session_summary(text: &str, cues: &Cues, constants: &Constants) -> bool {
    // `Session 12 summary: ...`
    let head = cues.plain().split_ascii_whitespace().take(5);
    let is_titled = ["session", "summary"].iter().all(|word| head.clone().any(|other| other == *word));
    if cues.begins(ACCOUNTS) || is_titled {
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

/// What is said to keep a conversation going, longest first where one begins another.
const TALK: &[&[&str]] = &[
    &["you", "are", "welcome"],
    &["you're", "welcome"],
    &["no", "problem"],
    &["no", "worries"],
    &["sounds", "good"],
    &["sounds", "great"],
    &["looks", "good", "to", "me"],
    &["looks", "good"],
    &["looks", "great"],
    &["good", "morning"],
    &["good", "evening"],
    &["good", "night"],
    &["good", "afternoon"],
    &["good", "job"],
    &["well", "done"],
    &["got", "it"],
    &["of", "course"],
    &["will", "do"],
    &["on", "it"],
    &["go", "ahead"],
    &["go", "on"],
    &["all", "good"],
    &["all", "set"],
    &["all", "done"],
    &["that's", "it"],
    &["that", "works"],
    &["works", "for", "me"],
    &["thank", "you"],
    &["one", "moment"],
    &["one", "sec"],
    &["one", "second"],
    &["give", "me", "a", "moment"],
    &["just", "a", "moment"],
    &["makes", "sense"],
    &["i", "see"],
    &["i", "understand"],
    &["you", "are", "right"],
    &["you're", "right"],
    &["you're", "absolutely", "right"],
    &["my", "bad"],
    &["see", "you", "later"],
    &["see", "you", "soon"],
    &["see", "you"],
    &["see", "ya"],
    &["take", "care"],
    &["talk", "to", "you", "later"],
    &["talk", "later"],
    &["bye", "for", "now"],
    &["keep", "going"],
    &["working", "on", "it"],
    &["how", "are", "you"],
    &["how", "can", "i", "help"],
    &["how", "can", "i", "help", "you"],
    &["what's", "up"],
    &["anything", "else"],
    &["is", "there", "anything", "else"],
    &["let", "me", "know"],
    &["i'm", "done"],
    &["i", "am", "done"],
    &["it's", "done"],
    &["it", "is", "done"],
    &["please", "continue"],
    &["same", "here"],
    &["you", "too"],
    &["have", "a", "nice", "day"],
    &["have", "a", "great", "day"],
    &["ok"],
    &["okay"],
    &["k"],
    &["yes"],
    &["yeah"],
    &["yep"],
    &["yup"],
    &["no"],
    &["nope"],
    &["sure"],
    &["thanks"],
    &["thx"],
    &["ty"],
    &["great"],
    &["cool"],
    &["nice"],
    &["perfect"],
    &["awesome"],
    &["excellent"],
    &["amazing"],
    &["wow"],
    &["done"],
    &["hi"],
    &["hello"],
    &["hey"],
    &["bye"],
    &["goodbye"],
    &["understood"],
    &["noted"],
    &["agreed"],
    &["exactly"],
    &["absolutely"],
    &["totally"],
    &["alright"],
    &["right"],
    &["fine"],
    &["sorry"],
    &["oops"],
    &["lol"],
    &["haha"],
    &["hmm"],
    &["welcome"],
    &["continue"],
    &["proceed"],
    &["acknowledged"],
    &["ack"],
    &["lgtm"],
    &["ttyl"],
    &["cheers"],
    &["congrats"],
    &["congratulations"],
];

/// What may stand around it.
const FILLERS: &[&str] = &[
    "so", "very", "much", "really", "a", "lot", "again", "for", "that", "the", "it", "now", "then", "all",
    "you", "everyone", "guys", "please", "well", "oh", "ah", "just", "too", "and", "to", "your", "help",
    "this", "i", "me", "man", "buddy",
];

/// What an agent announces instead of telling.
const ANNOUNCEMENTS: &[&str] = &[
    " . now i understand ",
    " . i've updated the file",
    " . i have updated the file",
    " . i've made the changes ",
    " . i have made the changes ",
    " . the user said hello ",
    " . the user said hi ",
    " . user said hello ",
    " . the user thanked ",
    " . user thanked ",
    " . let me implement ",
    " . let me check ",
    " . let me look ",
    " . let me see ",
    " . let me take a look ",
    " . let me read ",
    " . let me run ",
    " . let me try ",
    " . let me find ",
    " . let me search ",
    " . let me think ",
    " . let me start by ",
    " . let me fix ",
    " . let me verify ",
    " . let me know if ",
    " . let me first ",
    " . let me now ",
    " . now let me ",
    " . now i'll check ",
    " . now i'll run ",
    " . now i'll fix ",
    " . now i'll implement ",
    " . now i'll create ",
    " . now i'll update ",
    " . i'll check ",
    " . i will check ",
    " . i'll take a look ",
    " . i'll look into ",
    " . i will look into ",
    " . i'll start by ",
    " . i'll now ",
    " . i will now ",
    " . i'll get started ",
    " . i'll investigate ",
    " . i'll go ahead and ",
    " . checking ",
    " . looking into ",
    " . searching for ",
    " . reading the file",
    " . running the tests ",
    " . would you like me to ",
    " . do you want me to ",
    " . shall i ",
    " . should i continue ",
    " . is there anything else ",
    " . how can i help ",
    " . can you please ",
];

/// Whether a short text is only said to keep a conversation going.
///
/// One name may stand in it (`Thanks, Anna!`), and `Anna:` before it: who thanked whom is no memory either.
pub(super) fn is_chatter(text: &str, cues: &Cues, constants: &Constants) -> bool {
    if !text.contains(char::is_alphanumeric) {
        return true;
    }
    if cues.words() > constants.most_chatter_words || text.trim_start().starts_with('#') {
        return false;
    }
    let body = without_speaker(text.trim());
    let cues = Cues::of(body);
    let sentences = || cues.plain().split(" . ").map(str::trim).filter(|sentence| !sentence.is_empty());
    sentences().count() > 0 && sentences().all(|sentence| is_announced(sentence) || is_talk(sentence, body))
}

/// What an agent is about to do. `Let me check: the port is 8080` tells what was found.
fn is_announced(sentence: &str) -> bool {
    let plain = format!(" . {sentence} ");
    let tells = plain.contains(" : ") || plain.contains(" because ") || plain.contains(" since ");
    !tells && ANNOUNCEMENTS.iter().any(|head| plain.starts_with(head))
}

/// Whether a sentence is made of talk, with one name at most.
fn is_talk(sentence: &str, body: &str) -> bool {
    let words: Vec<&str> = sentence.split(' ').filter(|word| !matches!(*word, "." | "," | ":")).collect();
    let mut at = 0;
    let mut said = 0;
    let mut strange = Vec::new();
    while at < words.len() {
        let longest = TALK.iter().filter(|talk| words[at..].starts_with(talk)).map(|talk| talk.len()).max();
        if let Some(length) = longest {
            said += 1;
            at += length;
        } else {
            if !FILLERS.contains(&words[at]) {
                strange.push(words[at]);
            }
            at += 1;
        }
    }
    let is_name = |word: &str| {
        body.split(|c: char| !c.is_alphanumeric()).any(|shown| {
            shown.starts_with(char::is_uppercase)
                && shown.contains(char::is_lowercase)
                && shown.to_lowercase() == word
        })
    };
    // `Decision: yes` answers something.
    let may_name = strange.len() == 1 && said * 5 >= words.len() && !sentence.contains(" : ");
    said > 0 && (strange.is_empty() || (may_name && is_name(strange[0])))
}

/// The text behind `Anna:` or `Anna Meier:`.
fn without_speaker(text: &str) -> &str {
    let Some((label, rest)) = text.split_once(": ") else { return text };
    let is_name = label.split(' ').count() <= 2
        && label
            .split(' ')
            .all(|word| word.starts_with(char::is_uppercase) && word.chars().all(char::is_alphanumeric));
    // `Decision: yes` is no speaker; a name in capitals is a mark (`TODO: ...`).
    let is_mark = !label.contains(char::is_lowercase)
        || matches!(label, "Decision" | "Default" | "Answer" | "Status" | "Result" | "Note");
    if is_name && !is_mark { rest } else { text }
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
