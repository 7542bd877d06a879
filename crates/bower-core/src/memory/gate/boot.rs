//! Recognises the start of a session: prompts, the files that are read then, and sentences that restate either.

use super::agent::{is_prompt_part, is_setting_list};
use super::list::List;
use super::step::tells;
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
    "tools.md",
    "bootstrap.md",
    "boot.md",
    "persona.md",
    "prompt.md",
    "rules.md",
    "instructions.md",
    "system.md",
    ".windsurfrules",
    ".clinerules",
    "warp.md",
    "projectbrief.md",
    "activecontext.md",
];

/// How somebody who was told what to be is told what to do.
const ORDERS: &[&str] = &[
    "always",
    "answer",
    "do not",
    "don't",
    "follow",
    "help",
    "keep",
    "never",
    "reply",
    "respond",
    "think",
    "use",
    "write",
    "you always",
    "you must",
    "you never",
    "you will",
    "your goal",
    "your job",
    "your role",
    "your task",
];

/// How a text begins to say who somebody is, spoken to.
const YOU_ARE: [&str; 4] = [" . you are a ", " . you are an ", " . you're a ", " . you're an "];

/// How a text begins to say who somebody is, spoken of.
const AGENT_IS: [&str; 2] = [" . the agent is ", " . the assistant is "];

/// Whether a text repeats what a session is told when it begins.
pub(super) fn is_boot_file(text: &str, cues: &Cues) -> bool {
    FRAMES.iter().any(|frame| text.lines().any(|line| line.trim_start().starts_with(frame)))
        || cues.begins(PROMPTS)
        || is_prompt_part(text)
        || is_setting_list(text)
        || gives_role(cues.plain())
        || has_boot_heading(text)
        || gives_name(text)
        || cites_boot_file(cues)
}

/// Whether somebody is told what to be: `You are a senior Rust engineer and coding assistant ...`.
fn gives_role(plain: &str) -> bool {
    let heads = YOU_ARE.iter().chain(&AGENT_IS);
    // The role stands among the next few words.
    let is_role = |rest: &str| {
        let words = rest.split(' ').take(6).take_while(|word| *word != ".");
        words.map(|word| word.split('-').next_back().unwrap_or(word)).any(|word| ROLES.contains(&word))
    };
    // `You are a senior engineer. Follow the guidelines ...`: somebody is told what to be, and then what to do.
    let is_told = |head: &str| {
        let Some((_, rest)) = plain.split_once(head).and_then(|(_, rest)| rest.split_once(" . ")) else {
            return false;
        };
        ORDERS.iter().any(|order| rest.strip_prefix(order).is_some_and(|rest| rest.starts_with(' ')))
    };
    heads.flat_map(|head| plain.match_indices(head).map(|(at, _)| &plain[at + head.len()..])).any(is_role)
        || YOU_ARE.iter().any(|head| plain.starts_with(head) && is_told(head))
}

/// Whether a text has such a file's name for its heading: `# SOUL.md` above whatever it says.
fn has_boot_heading(text: &str) -> bool {
    let heading = text.trim_start().lines().next().unwrap_or("");
    let name = heading.trim_start_matches('#').trim().to_lowercase();
    heading.starts_with('#')
        && (BOOT_FILES.contains(&name.as_str())
            || matches!(name.as_str(), "the system prompt" | "system prompt" | "system"))
}

/// Whether a text gives a name to whom it speaks: `You are Kestrel. Answer in ...`.
fn gives_name(text: &str) -> bool {
    let said = text.trim_start();
    said.strip_prefix("You are ").or_else(|| said.strip_prefix("You're ")).is_some_and(|name| {
        name.find(|c: char| !c.is_alphanumeric()).is_some_and(|end| {
            name.starts_with(char::is_uppercase)
                && name[end..].starts_with(['.', ','])
                && name[end + 1..].trim().len() > 3
        })
    })
}

/// Whether a text cites such a file: `CLAUDE.md says to use pnpm`, `According to AGENTS.md, ...`, `At session start the agent
/// reads SOUL.md`.
fn cites_boot_file(cues: &Cues) -> bool {
    let mut names = BOOT_FILES.iter().filter(|file| cues.has(&format!(" {file} "))).peekable();
    if names.peek().is_none() {
        return false;
    }
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

/// What is read into a session when it begins.
static BOOT_WORDS: List = List::of(
    "rules|guidelines|instructions|prompt|identity|persona|skills|tools|context|memory|memories|briefing|\
     preferences|rule|profile|notes|note|conventions|files|file|bank|readme.md|contributing.md|readme|\
     soul|guide",
);

/// What is done with it.
static BOOT_VERBS: List = List::of(
    "loaded|read|reviewed|received|initialized|initialised|primed|restored|injected|parsed|ingested|\
     absorbed|bootstrapped|booted|re-read|reloaded|refreshed|acknowledged|applied|loading|reading|\
     imported|processed|understood|synced|consulted",
);

/// Whether a sentence tells that the files and rules of a session were read: `Read AGENTS.md and two rule files`.
pub(super) fn is_boot(words: &[&str]) -> bool {
    let has = |list: &[&str], word: &str| list.contains(&word);
    let names_file = words.iter().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        has(BOOT_FILES, name)
    });
    let what = words.iter().filter(|word| BOOT_WORDS.has(word)).count() + 2 * usize::from(names_file);
    let at = words.iter().position(|word| BOOT_VERBS.has(word));
    if announces_start(words, at.is_some() || what >= 2) {
        return true;
    }
    if speaks_of_prompt(words) {
        return true;
    }
    let Some(at) = at else { return false };
    // The subject is the agent, the files themselves, or nobody.
    let before = &words[..at];
    let by_agent = before.iter().all(|word| {
        SUBJECTS.has(word)
            || BOOT_WORDS.has(word)
            || has(BOOT_FILES, word.rsplit('/').next().unwrap_or(word))
            || word.bytes().all(|b| b.is_ascii_digit())
    });
    let after = &words[at + 1..];
    let is_counted = words.iter().any(|word| word.bytes().any(|b| b.is_ascii_digit())) && what >= 1;
    if by_agent && is_counted && words[at] != "read" && (names_file || !tells(after)) {
        return true;
    }
    let is_enough = if words[at] == "read" && before.is_empty() || !before.is_empty() && what == 1 {
        what >= 2
    } else {
        what >= 1
    };
    by_agent && is_enough && what >= 2 && !tells(after) || by_agent && names_file && !tells(after)
}

/// Who reads what a session begins with, and the small words around.
static SUBJECTS: List = List::of(
    "i|i've|i'm|we|we've|have|has|now|just|already|first|also|then|successfully|the|agent|assistant|was|were|are|is|been|all|and|\
     project|system|session|start|at|my|user|of|:|,|startup|with",
);

/// `Boot complete: ...`, `Available tools: ...`
fn announces_start(words: &[&str], says_what: bool) -> bool {
    let near = |words: &[&str], list: &List| list.any(&words[..words.len().min(3)]);
    let is_start = words.first().is_some_and(|first| STARTS.has(first)) && says_what && near(words, &STARTED);
    let is_kit = words.iter().take(4).any(|word| *word == ":") && near(words, &KIT) && near(words, &HAD);
    is_start || is_kit
}

static STARTS: List = List::of(
    "boot|bootstrapping|booting|startup|bootstrap|warmup|preflight|onboarding|initialization|context",
);
static STARTED: List = List::of(":|complete|done|finished|primed|loaded|restored|initialized|completed");
static KIT: List = List::of("tools|skills|plugins|servers");
static HAD: List = List::of("available|enabled|loaded|active|mcp");

/// Whether a sentence says what a prompt or a boot file has an agent do: `The guidelines in SOUL.md require me to ...`.
fn speaks_of_prompt(words: &[&str]) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let names_file = words.iter().any(|word| BOOT_FILES.contains(&word.rsplit('/').next().unwrap_or(word)));
    let of_agent =
        has(&["me", "i", "my", "agent", "agent's", "assistant", "assistant's", "myself", "you", "your"])
            || words.windows(2).any(|pair| pair == ["every", "start"] || pair == ["each", "start"]);
    let rules = has(&[
        "require",
        "requires",
        "says",
        "say",
        "tells",
        "tell",
        "told",
        "instructs",
        "instruct",
        "rules",
        "rule",
        "guidelines",
        "instructions",
        "follow",
        "follows",
        "states",
        "reads",
        "persona",
        "forbids",
        "forbid",
        "demands",
        "reminds",
        "asks",
        "must",
        "contents",
    ]);
    let in_force = has(&["active", "effect", "force", "place", "loaded", "apply", "applied", "context"])
        && has(&["now", "are", "is"]);
    if names_file && rules && (of_agent || in_force) {
        return true;
    }
    // `Contents of MEMORY.md: ...`, `From SOUL.md: ...`
    if names_file
        && matches!(
            words.first(),
            Some(
                &("contents"
                    | "content"
                    | "from"
                    | "rules"
                    | "rule"
                    | "excerpt"
                    | "quote"
                    | "instructions"
                    | "identity"
                    | "guidelines")
            )
        )
        && words.iter().take(6).any(|word| *word == ":")
    {
        return true;
    }
    let is_prompt = words
        .windows(2)
        .any(|pair| pair[0] == "system" && matches!(pair[1], "prompt" | "message" | "instructions"));
    (is_prompt && (has(&["my", "me", "i", "contains", "says", "states", "told", "read", "loaded", "contents", "according", "received"]) && !has(&["stored", "kept", "lives", "repository"])
            && !words.windows(2).any(|pair| pair == ["prompt", "file"])))
        // `Scout's core instructions: ...`, `The agent's name is Bolt`.
        || matches!(words, [who, "core" | "standing" | "operating" | "main" | "basic" | "own", "instructions" | "rules" | "directives" | "guidelines", ..] if who.ends_with("'s") || matches!(*who, "my" | "the"))
        || matches!(words, [who, "instructions" | "persona" | "identity" | "directives", ":" | "are" | "is", ..] if who.ends_with("'s"))
        || matches!(words, ["the" | "this", "agent's" | "assistant's" | "bot's", "name" | "job" | "role" | "task" | "purpose" | "goal" | "identity" | "persona" | "rules", ..])
        || matches!(words, ["this" | "the", "agent" | "assistant", "runs" | "acts" | "operates" | "works" | "reads" | "follows" | "is", "as" | "called" | "named" | "the", ..])
}
