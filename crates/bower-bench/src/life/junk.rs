//! Generates texts that an agent writes down and a memory should refuse.
//! The kinds are those that admission is asked to refuse: raw diffs, code alone, stack traces, git history, path dumps, session
//! summaries, boot-file restatements, logs, chatter, output of tools, secrets. Nothing here is derived from the rules of admission.
//! A secret is put together while it is drawn, so that none stands in this file.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "made once a run; what it looks like is easier to see in one way of writing"
)]

use super::words::{Draw, Names, Subject};

/// A kind of junk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Junk {
    Diff,
    Code,
    Trace,
    History,
    Paths,
    Summary,
    BootFile,
    Log,
    Chatter,
    Output,
    Secret,
}

/// Each kind with how often it comes, in thousandths: most of it what agents are told at each start, over and over, then noise of
/// their own work. The shares are our own guess.
pub const KINDS: &[(Junk, u64)] = &[
    (Junk::BootFile, 250),
    (Junk::Chatter, 150),
    (Junk::Log, 120),
    (Junk::Summary, 110),
    (Junk::Output, 90),
    (Junk::Diff, 60),
    (Junk::Code, 60),
    (Junk::Trace, 50),
    (Junk::History, 40),
    (Junk::Paths, 40),
    (Junk::Secret, 30),
];

/// A piece of junk, and the secret in it, if any.
pub fn draw(draw: &mut Draw) -> (Junk, String, Option<String>) {
    let all: u64 = KINDS.iter().map(|(_, share)| share).sum();
    let mut left = draw.between(0, all - 1);
    let mut kind = Junk::Chatter;
    for (one, share) in KINDS {
        if left < *share {
            kind = *one;
            break;
        }
        left -= share;
    }
    let text = match kind {
        Junk::Diff => diff(draw),
        Junk::Code => code(draw),
        Junk::Trace => trace(draw),
        Junk::History => history(draw),
        Junk::Paths => paths(draw),
        Junk::Summary => summary(draw),
        Junk::BootFile => boot_file(draw),
        Junk::Log => log(draw),
        Junk::Chatter => chatter(draw),
        Junk::Output => output(draw),
        Junk::Secret => {
            let (text, secret) = secret(draw);
            return (kind, text, Some(secret));
        }
    };
    (kind, text, None)
}

fn service(draw: &mut Draw) -> String {
    let name = Names::any(draw, Subject::Service);
    name.split(" in ").next().unwrap_or_default().to_owned()
}

fn person(draw: &mut Draw) -> String {
    Names::any(draw, Subject::Person)
}

const STEMS: &[&str] = &[
    "main", "server", "client", "user", "order", "parser", "config", "router", "model", "index", "store",
    "handler", "job", "view", "token", "report", "session", "queue", "money", "time",
];
/// Languages that lines of code are drawn in: Rust, Python, TypeScript, Go, Java, Ruby.
const LANGUAGES: usize = 6;

const VERBS: &[&str] =
    &["load", "save", "parse", "check", "send", "merge", "count", "render", "open", "close", "find", "apply"];
const THINGS: &[&str] = &[
    "order", "user", "invoice", "page", "batch", "token", "row", "message", "price", "event", "file", "cart",
];
const FOLDERS: &[&str] = &["src", "lib", "app", "core", "tests", "internal", "pkg", "cmd", "web", "scripts"];

fn path(draw: &mut Draw) -> String {
    let ending = draw.word(&["rs", "py", "ts", "go", "java", "rb", "tsx", "c"]);
    format!("{}/{}/{}.{ending}", draw.word(FOLDERS), draw.word(STEMS), draw.word(STEMS))
}

/// A line of code in one of [`LANGUAGES`] languages.
fn statement(draw: &mut Draw, language: usize) -> String {
    let (verb, thing, other) = (draw.word(VERBS), draw.word(THINGS), draw.word(THINGS));
    let number = draw.between(1, 90);
    let which = draw.below(4);
    match (language, which) {
        (0, 0) => format!("let {thing} = {verb}_{thing}(&{other})?;"),
        (0, 1) => format!("if {other}.len() > {number} {{ return Ok({thing}); }}"),
        (0, 2) => format!("assert_eq!({thing}.{other}(), {number});"),
        (0, _) => format!("{thing}.push({other}.{verb}({number}).clone());"),
        (1, 0) => format!("self.{thing} = {verb}({other}, retries={number})"),
        (1, 1) => format!("{thing} = [{verb}({other}) for {other} in {other}s]"),
        (1, 2) => format!("if {other} is None: return {number}"),
        (1, _) => format!("raise ValueError('{thing} {number}')"),
        (2, 0) => format!("const {thing} = await {verb}({{ {other}: true }});"),
        (2, 1) => format!("if (!{thing}) throw new Error('{other}');"),
        (2, 2) => format!("export const {verb}{number} = ({thing}: string) => {thing}.{other};"),
        (2, _) => format!("{thing}s.map(({other}) => {verb}({other}, {number}));"),
        (3, 0) => format!("{thing} := {verb}(ctx, {other}, {number})"),
        (3, 1) => format!("if err != nil {{ return nil, fmt.Errorf(\"{verb} {thing}: %w\", err) }}"),
        (3, 2) => format!("for _, {other} := range {thing}s {{ {verb}({other}) }}"),
        (3, _) => format!("{thing}.{other} = make([]byte, {number})"),
        (4, 0) => format!("final var {thing} = {other}Service.{verb}({number});"),
        (4, 1) => format!("if ({thing} == null) {{ return Optional.empty(); }}"),
        (4, 2) => format!("{other}List.stream().map(x -> x.{verb}()).toList();"),
        (4, _) => format!("private static final int {} = {number};", thing.to_uppercase()),
        (_, 0) => format!("@{thing} = {verb}({other}, limit: {number})"),
        (_, 1) => format!("return nil unless {other}.{verb}?"),
        (_, 2) => format!("{thing}s.each {{ |{other}| {verb}({other}) }}"),
        (_, _) => format!("expect({thing}.{other}).to eq({number})"),
    }
}

fn diff(draw: &mut Draw) -> String {
    let file = path(draw);
    let (line, more, language) = (draw.between(3, 400), draw.between(3, 9), draw.below(LANGUAGES));
    let mut text = match draw.below(3) {
        0 => format!("diff --git a/{file} b/{file}\nindex {}..{} 100644\n", draw.hex(7), draw.hex(7)),
        1 => "```diff\n".to_owned(),
        _ => String::new(),
    };
    let fenced = text.starts_with("```");
    text += &format!("--- a/{file}\n+++ b/{file}\n@@ -{line},{more} +{line},{} @@\n", more + 1);
    for _ in 0..draw.between(3, 14) {
        let sign = draw.word(&["+", "-", " ", "+"]);
        text += &format!("{sign}    {}\n", statement(draw, language));
    }
    if fenced { text + "```" } else { text }
}

fn code(draw: &mut Draw) -> String {
    let (verb, thing) = (draw.word(VERBS), draw.word(THINGS));
    let language = draw.below(LANGUAGES + 2);
    let lines: Vec<String> = (0..draw.between(2, 7)).map(|_| statement(draw, language)).collect();
    let inner: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    let (name, body) = match language {
        0 => ("rust", format!("pub fn {verb}_{thing}(input: &str) -> Result<u32, Error> {{\n{inner}}}\n")),
        1 if draw.chance(0.5) => {
            ("python", format!("import os\nfrom {thing} import {verb}\n\ndef main():\n{inner}"))
        }
        1 => ("python", format!("class Store:\n  def {verb}_{thing}(self, {thing}):\n{inner}")),
        2 => ("ts", format!("export async function {verb}(id: string) {{\n{inner}}}\n")),
        3 => ("go", format!("func (s *Server) {verb}(ctx context.Context) error {{\n{inner}}}\n")),
        4 => ("java", format!("public class {verb}Job {{\n{inner}}}\n")),
        5 => ("ruby", format!("def {verb}_{thing}({thing})\n{inner}end\n")),
        6 => (
            "sql",
            format!(
                "SELECT {thing}_id, count(*) AS n\nFROM {thing}s\nWHERE created_at > now() - interval '{} days'\nGROUP BY 1\nORDER BY n DESC;",
                draw.between(1, 90)
            ),
        ),
        _ => (
            "bash",
            format!("#!/bin/bash\nset -e\nfor f in *.{thing}; do\n  {verb} \"$f\" >> out.txt\ndone\n"),
        ),
    };
    match draw.below(10) {
        0..=4 => format!("```{name}\n{body}\n```"),
        5 => format!("```\n{body}```"),
        _ => body,
    }
}

fn trace(draw: &mut Draw) -> String {
    let depth = draw.between(3, 9);
    match draw.below(5) {
        0 => python_trace(draw, depth),
        1 => java_trace(draw, depth),
        2 => rust_trace(draw, depth),
        3 => js_trace(draw, depth),
        _ => go_trace(draw, depth),
    }
}

fn python_trace(draw: &mut Draw, depth: u64) -> String {
    let mut text = "Traceback (most recent call last):\n".to_owned();
    for _ in 0..depth {
        text += &format!(
            "  File \"/srv/{}\", line {}, in {}\n    {}\n",
            path(draw),
            draw.between(4, 900),
            draw.word(VERBS),
            statement(draw, 1)
        );
    }
    let kinds =
        ["KeyError: 'id'", "ValueError: bad literal", "TypeError: NoneType is not iterable", "TimeoutError"];
    text + draw.word(&kinds)
}

fn java_trace(draw: &mut Draw, depth: u64) -> String {
    let thing = draw.word(THINGS);
    let mut text = format!("java.lang.IllegalStateException: {thing} is closed\n");
    for _ in 0..depth {
        text += &format!(
            "\tat com.acme.{}.{}Impl.{}({}.java:{})\n",
            draw.word(STEMS),
            draw.word(STEMS),
            draw.word(VERBS),
            draw.word(STEMS),
            draw.between(10, 700)
        );
    }
    text + "Caused by: java.io.IOException: stream closed\n\t... 14 more"
}

fn rust_trace(draw: &mut Draw, depth: u64) -> String {
    let mut text = format!(
        "thread 'main' panicked at src/{}.rs:{}:{}:\nindex out of bounds: the len is {} but the index is {}\nstack backtrace:\n",
        draw.word(STEMS),
        draw.between(4, 900),
        draw.between(1, 60),
        draw.between(1, 5),
        draw.between(6, 99)
    );
    for at in 0..depth {
        text += &format!("  {at:2}: {}::{}::{}\n", draw.word(STEMS), draw.word(STEMS), draw.word(VERBS));
    }
    text
}

fn js_trace(draw: &mut Draw, depth: u64) -> String {
    let thing = draw.word(THINGS);
    let mut text = format!("TypeError: Cannot read properties of undefined (reading '{thing}')\n");
    for _ in 0..depth {
        text += &format!(
            "    at {} (/app/{}:{}:{})\n",
            draw.word(VERBS),
            path(draw),
            draw.between(2, 600),
            draw.between(1, 80)
        );
    }
    text
}

fn go_trace(draw: &mut Draw, depth: u64) -> String {
    let mut text = format!(
        "panic: runtime error: invalid memory address\n\ngoroutine {} [running]:\n",
        draw.between(1, 90)
    );
    for _ in 0..depth {
        text += &format!(
            "main.{}(0x{}, 0x{})\n\t/go/{}:{} +0x{}\n",
            draw.word(VERBS),
            draw.hex(10),
            draw.hex(4),
            path(draw),
            draw.between(5, 500),
            draw.hex(3)
        );
    }
    text
}

fn subject_line(draw: &mut Draw) -> String {
    let kind = draw.word(&["fix", "feat", "chore", "docs", "refactor", "test", ""]);
    let line = format!(
        "{} {} {}",
        draw.word(VERBS),
        draw.word(THINGS),
        draw.word(&["again", "in bulk", "earlier", "twice less", "for real"])
    );
    if kind.is_empty() { line } else { format!("{kind}({}): {line}", draw.word(STEMS)) }
}

fn history(draw: &mut Draw) -> String {
    let count = draw.between(3, 12);
    match draw.below(4) {
        0 => (0..count).map(|_| format!("{} {}\n", draw.hex(7), subject_line(draw))).collect(),
        1 => (0..count.min(4))
            .map(|_| {
                let who = person(draw);
                let mail = who.to_lowercase().replace(' ', ".");
                format!(
                    "commit {}\nAuthor: {who} <{mail}@mail.example>\nDate:   Tue Feb {} 10:{}:12 2026 +0100\n\n    {}\n\n",
                    draw.hex(40),
                    draw.between(1, 28),
                    draw.between(10, 59),
                    subject_line(draw)
                )
            })
            .collect(),
        2 => {
            let mut text = "On branch main\nYour branch is ahead of 'origin/main' by 2 commits.\n\nChanges not staged for commit:\n".to_owned();
            for _ in 0..count {
                text += &format!("\tmodified:   {}\n", path(draw));
            }
            text
        }
        _ => {
            let mut text = String::new();
            for _ in 0..count {
                text += &format!("* {} ({}) {}\n", draw.hex(8), person(draw), subject_line(draw));
                if draw.chance(0.3) {
                    text += "|\\\n| * ";
                    text += &format!("{} Merge branch '{}'\n|/\n", draw.hex(8), draw.word(STEMS));
                }
            }
            text
        }
    }
}

fn paths(draw: &mut Draw) -> String {
    let count = draw.between(6, 24);
    match draw.below(4) {
        0 => (0..count).map(|_| format!("./{}\n", path(draw))).collect(),
        1 => {
            let mut text = format!("total {}\n", draw.between(20, 900));
            for _ in 0..count {
                text += &format!(
                    "-rw-r--r--  1 root root {:6} Feb {:2} 09:{} {}.rs\n",
                    draw.between(90, 99_000),
                    draw.between(1, 28),
                    draw.between(10, 59),
                    draw.word(STEMS)
                );
            }
            text
        }
        2 => {
            let mut text = ".\n".to_owned();
            for _ in 0..count {
                text +=
                    &format!("{} {}\n", draw.word(&["├──", "│   ├──", "│   └──", "└──"]), draw.word(STEMS));
            }
            text + &format!("\n{} directories, {count} files", draw.between(2, 9))
        }
        _ => (0..count).map(|_| format!("{}K\t/home/dev/{}\n", draw.between(4, 900), path(draw))).collect(),
    }
}

fn summary(draw: &mut Draw) -> String {
    let (one, two, who) = (service(draw), service(draw), person(draw));
    let (verb, thing) = (draw.word(VERBS), draw.word(THINGS));
    let number = draw.between(2, 40);
    match draw.below(8) {
        0 => format!(
            "Session summary: worked on {one}, fixed the {thing} bug, {number} tests pass. Next: look at {two}."
        ),
        1 => format!(
            "## Session Summary\n\n- Investigated {one}\n- Changed {} and {}\n- All {number} tests green\n\n### Next steps\n- Continue with {two}",
            path(draw),
            path(draw)
        ),
        2 => format!(
            "In this session we {verb}ed the {thing} in {one}, discussed {two} with {who} and left the rest for tomorrow."
        ),
        3 => format!(
            "Summary of the conversation so far: the user asked about {one}; I read {number} files, then edited {}.",
            path(draw)
        ),
        4 => format!(
            "What I did today: 1. {verb} {thing} 2. reviewed the change of {who} 3. ran the tests of {two}. Remaining: nothing."
        ),
        5 => format!(
            "Work log: started with {one}, then {two}; {number} files changed, committed and pushed. Done for now."
        ),
        6 => format!(
            "Completed task: {verb} {thing} in {one}. Files modified: {}, {}. Tests: {number} passed, 0 failed.",
            path(draw),
            path(draw)
        ),
        _ => format!(
            "End of session. Accomplished: {one} builds again, {two} refactored. Open: {thing} handling. Context used: {number} %."
        ),
    }
}

fn boot_file(draw: &mut Draw) -> String {
    let file = draw.word(&[
        "AGENTS.md",
        "CLAUDE.md",
        "SOUL.md",
        "IDENTITY.md",
        "TOOLS.md",
        "the system prompt",
        ".cursorrules",
        "MEMORY.md",
    ]);
    let name = draw.word(&["Bolt", "Pixel", "Sage", "Ada", "Scout", "Echo", "Nova", "Jarvis"]);
    let who = person(draw);
    let rule = draw.word(&[
        "always run the tests before committing",
        "never push to main",
        "ask before deleting files",
        "answer briefly",
        "use the search tool first",
        "read the memory at the start of each session",
        "do not make things up",
        "keep secrets out of logs",
        "prefer editing existing files to making new ones",
        "use absolute paths in tool calls",
        "write tests for each fix",
        "keep answers under four lines",
        "never commit without being asked",
        "check the heartbeat file every half hour",
        "be resourceful before asking",
        "treat private things as private",
        "log each decision in the daily notes",
        "stop when the user says stop",
        "not run destructive commands",
        "follow the style of the surrounding code",
        "summarise long outputs",
        "use a plan for tasks with several steps",
        "have opinions and not be a search engine with extra steps",
        "mark tasks as done at once",
        "avoid emojis",
    ]);
    match draw.below(19) {
        0 => format!("According to {file}, I should {rule}."),
        1 => format!("{file} says to {rule}"),
        2 => format!("I am {name}, an AI assistant that helps {who} with coding tasks."),
        3 => format!("The agent's name is {name}; its job is to help the user with software engineering."),
        4 => format!(
            "My instructions: {rule}. I have access to tools for reading files, editing files and running commands."
        ),
        5 => format!("You are {name}, a helpful assistant. You must {rule}."),
        6 => format!("Read {file} at startup. It tells me to {rule}."),
        7 => format!(
            "The agent reads {file} and HEARTBEAT.md on every start, then replies HEARTBEAT_OK if nothing needs attention."
        ),
        8 => format!("# {file}\n\nYou are {name}.\n\n## Rules\n- {rule}\n- be helpful\n- be concise\n"),
        9 => format!("As an AI assistant I {rule}, as my guidelines require."),
        10 => format!("Loaded {file}: {} rules, the first is to {rule}.", draw.between(4, 40)),
        11 => format!("System prompt contains: '{rule}'. Tools available: read, write, bash, search."),
        12 => {
            format!("{name}'s core instructions: (1) {rule}; (2) be genuinely helpful; (3) ask when unsure.")
        }
        13 => format!("The guidelines in {file} require me to {rule} at all times"),
        14 => format!("I was told in my system prompt that I must {rule}"),
        15 => "Available tools: read_file, write_file, bash, web_search. Working directory and date are given at the start.".to_owned(),
        16 => {
            format!("Contents of {file}:\n- {rule}\n- you have a memory folder\n- the human is called {who}")
        }
        17 => format!(
            "This agent runs as {name} on a schedule and follows {file}; one of its rules is to {rule}."
        ),
        _ => format!("Session started. {file} has been read. Identity: {name}. User: {who}. Rule: {rule}."),
    }
}

fn log(draw: &mut Draw) -> String {
    let count = draw.between(1, 9);
    let style = draw.below(6);
    let name = service(draw);
    (0..count)
        .map(|_| {
            let (hour, minute, second) = (draw.between(10, 23), draw.between(10, 59), draw.between(10, 59));
            let (verb, thing) = (draw.word(VERBS), draw.word(THINGS));
            let number = draw.between(1, 9_999);
            match style {
                0 => format!(
                    "10.0.{}.{} - - [12/Feb/2026:{hour}:{minute}:{second} +0000] \"GET /{thing}s/{number} HTTP/1.1\" {} {}\n",
                    draw.between(0, 9), draw.between(1, 250), draw.word(&["200", "404", "500", "302"]), draw.between(90, 9_000)
                ),
                1 => format!(
                    "2026-02-{}T{hour}:{minute}:{second}.{}Z {} {name}::{verb} {thing} id={number} took={}ms\n",
                    draw.between(10, 28), draw.between(100, 999), draw.word(&["INFO", "WARN", "ERROR", "DEBUG"]), draw.between(1, 900)
                ),
                2 => format!("Feb {} {hour}:{minute}:{second} {name} systemd[1]: Started {verb} {thing}.\n", draw.between(10, 28)),
                3 => format!(
                    "{{\"level\":\"{}\",\"ts\":17708{number:05}.{second},\"msg\":\"{verb} {thing}\",\"svc\":\"{name}\",\"n\":{number}}}\n",
                    draw.word(&["info", "warn", "error"])
                ),
                4 => format!("[{hour}:{minute}:{second}] [{}] {name} - {verb} {thing} {number} ok\n", draw.word(&["INFO", "WARN", "TRACE"])),
                _ => format!("HEARTBEAT_OK {hour}:{minute} - cron {verb}-{thing} ran, nothing to do ({number})\n"),
            }
        })
        .collect()
}

fn chatter(draw: &mut Draw) -> String {
    let file = path(draw);
    let name = service(draw);
    let (verb, thing) = (draw.word(VERBS), draw.word(THINGS));
    let number = draw.between(2, 30);
    let fixed = draw.word(&[
        "ok thanks!",
        "Sure, let me look at that.",
        "Done!",
        "great, that works now",
        "hello again",
        "Got it.",
        "hmm, not sure yet",
        "one moment please",
        "yes please",
        "You're absolutely right!",
        "Let me know if you need anything else.",
        "sounds good",
        "no problem :)",
        "Thanks, that's all for today",
        "Can you try that once more?",
        "lol",
        "what do you think?",
        "I'm happy to help with that!",
        "Okay, continuing.",
        "never mind",
        "please go on",
        "good morning!",
        "Perfect, thank you so much!",
        "wait",
        "nice",
        "I understand. Proceeding.",
        "cool cool",
        "see you tomorrow",
        "Great question!",
        "I see the problem now.",
        "Sorry about that, my mistake.",
        "ok",
        "k",
        "thx!!",
        "Any update?",
        "that didn't work",
        "try again please",
        "Awesome, let's continue.",
        "I'll be right back",
        "Is there anything else I can help you with today?",
        "haha true",
        "Fair point.",
        "Working on it...",
        "Almost there.",
        "Let's see what happens.",
        "go ahead",
        "stop",
        "looks good to me",
        "Understood!",
        "As you wish.",
        "Hi! How can I help you today?",
        "interesting",
        "All done here.",
    ]);
    match draw.below(16) {
        0..=3 => fixed.to_owned(),
        4 => format!("I'll now {verb} the {thing} and run the tests."),
        5 => format!("Let me read {file} first."),
        6 => format!("Now looking at {file} to see how the {thing} is made."),
        7 => format!("The user asked me to {verb} the {thing}."),
        8 => format!("Should I {verb} the {thing} in {name} as well?"),
        9 => format!("I have finished to {verb} the {thing}. Anything else?"),
        10 => format!("Running {number} tests now, this will take a moment..."),
        11 => format!("What if we moved {name} somewhere else?"),
        12 => format!("User said thanks and left. {fixed}"),
        13 => format!("Thinking about how to {verb} the {thing}... I will try the simplest thing first."),
        14 => format!("{fixed} I will {verb} the {thing} next."),
        _ => format!("Step {} of {number}: {verb} the {thing}. Moving on to the next step.", number - 1),
    }
}

fn output(draw: &mut Draw) -> String {
    let name = service(draw);
    let number = draw.between(3, 400);
    let (verb, thing) = (draw.word(VERBS), draw.word(THINGS));
    match draw.below(8) {
        0 => test_run(draw, number),
        1 => json_rows(draw, thing),
        2 => csv_rows(draw, thing),
        3 => format!(
            "{}{}==",
            draw.letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 180),
            draw.hex(18)
        ),
        4 => format!(
            "<html><head><title>{name}</title></head><body><div class=\"{thing}\"><ul><li>{verb}</li><li>{number}</li></ul></div></body></html>"
        ),
        5 => pod_table(draw, &name),
        6 => cargo_build(draw, number),
        _ => format!(
            "added {number} packages, and audited {} packages in {}s\n\n{} packages are looking for funding\n  run `npm fund` for details\n\nfound 0 vulnerabilities",
            number + 1,
            number % 60,
            number / 7
        ),
    }
}

fn test_run(draw: &mut Draw, number: u64) -> String {
    let mut text = format!("running {number} tests\n");
    for _ in 0..draw.between(4, 12) {
        text += &format!("test {}::{}_{} ... ok\n", draw.word(STEMS), draw.word(VERBS), draw.word(THINGS));
    }
    let hundredths = draw.between(10, 99);
    text + &format!("\ntest result: ok. {number} passed; 0 failed; 0 ignored; finished in 2.{hundredths}s")
}

fn json_rows(draw: &mut Draw, thing: &str) -> String {
    let row = |draw: &mut Draw| {
        let (id, value) = (draw.between(1, 9_999), draw.hex(8));
        format!("{{\"id\":{id},\"{thing}\":\"{value}\",\"ok\":true}},")
    };
    let rows: String = (0..draw.between(3, 9)).map(|_| row(draw)).collect();
    format!("{{\"status\":200,\"data\":[{}]}}", rows.trim_end_matches(','))
}

fn csv_rows(draw: &mut Draw, thing: &str) -> String {
    let mut text = format!("id,{thing},amount,created\n");
    for _ in 0..draw.between(4, 12) {
        text += &format!(
            "{},{},{}.{},2026-02-{}\n",
            draw.between(1, 9_999),
            draw.hex(6),
            draw.between(1, 900),
            draw.between(10, 99),
            draw.between(10, 28)
        );
    }
    text
}

fn pod_table(draw: &mut Draw, name: &str) -> String {
    let mut text = "NAME                     READY   STATUS    RESTARTS   AGE\n".to_owned();
    for _ in 0..draw.between(3, 9) {
        text += &format!(
            "{name}-{}-{}   1/1     Running   {}          {}h\n",
            draw.hex(8),
            draw.hex(5),
            draw.between(0, 9),
            draw.between(1, 90)
        );
    }
    text
}

fn cargo_build(draw: &mut Draw, number: u64) -> String {
    let mut text = String::new();
    for _ in 0..draw.between(4, 12) {
        text += &format!(
            "   Compiling {}-{} v0.{}.{}\n",
            draw.word(STEMS),
            draw.word(THINGS),
            draw.between(1, 30),
            draw.between(0, 9)
        );
    }
    text + &format!("    Finished dev profile in {number}.2s")
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const MIXED: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A text with a secret, and the secret.
fn secret(draw: &mut Draw) -> (String, String) {
    let name = service(draw);
    let word = format!("{}{}{}", draw.letters(MIXED, 9), draw.between(10, 99), draw.letters("!$%&#", 2));
    let secret = match draw.below(10) {
        0 => format!("{}{}", ["AK", "IA"].concat(), draw.letters(UPPER, 16)),
        1 => format!("{}{}", ["gh", "p_"].concat(), draw.letters(MIXED, 36)),
        2 => format!("{}{}", ["sk_", "live_"].concat(), draw.letters(MIXED, 24)),
        3 => format!(
            "{}{}",
            ["xox", "b-"].concat(),
            format_args!("{}-{}", draw.between(10_000_000_000, 99_999_999_999), draw.letters(MIXED, 24))
        ),
        4 => format!("{}{}", ["sk-", "proj-"].concat(), draw.letters(MIXED, 44)),
        5 => format!(
            "{}{}.{}.{}",
            ["ey", "J"].concat(),
            draw.letters(MIXED, 33),
            draw.letters(MIXED, 60),
            draw.letters(MIXED, 43)
        ),
        6 => format!("{}{}", ["glp", "at-"].concat(), draw.letters(MIXED, 20)),
        7 => {
            let lines: Vec<String> = (0..4).map(|_| draw.letters(MIXED, 64)).collect();
            let key = lines.join("\n");
            let kind = draw.word(&["RSA ", "EC ", "OPENSSH ", ""]);
            let dashes = "-".repeat(5);
            let text = format!(
                "The key of {name}:\n{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{key}\n{dashes}END {kind}PRIVATE KEY{dashes}"
            );
            // Its first line is enough to know it by.
            return (text, lines[0].clone());
        }
        8 => {
            let text = format!(
                "DATABASE_URL=postgres://{}:{word}@db.{name}.example:5432/main",
                draw.word(&["app", "admin", "root", "svc"])
            );
            return (text, word);
        }
        _ => {
            let text = match draw.below(4) {
                0 => format!("The root password of {name} is {word}"),
                1 => format!("login for {name}: admin / password: {word}"),
                2 => format!("export {}_SECRET='{word}'", name.to_uppercase().replace('-', "_")),
                _ => format!("{name} password={word} user=svc"),
            };
            return (text, word);
        }
    };
    let text = match draw.below(6) {
        0 => format!("API key for {name}: {secret}"),
        1 => format!("use the token {secret} to call {name}"),
        2 => format!("{}_TOKEN={secret}", name.to_uppercase().replace('-', "_")),
        3 => format!("curl -H \"Authorization: Bearer {secret}\" https://{name}.example/v1/me"),
        4 => format!("{name} credentials\nkey: {secret}\nregion: eu-west-1"),
        _ => format!("The user gave me {secret} for {name}, remember it"),
    };
    (text, secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_is_drawn_and_a_secret_stands_in_its_text() {
        let mut chance = Draw::new(11);
        let mut kinds = BTreeSet::new();
        for _ in 0..2_000 {
            let (kind, text, secret) = draw(&mut chance);
            assert!(!text.trim().is_empty());
            assert_eq!(secret.is_some(), kind == Junk::Secret);
            assert!(secret.is_none_or(|secret| text.contains(&secret) && secret.len() >= 13));
            kinds.insert(kind);
        }
        assert_eq!(kinds.len(), KINDS.len());
    }
}
