//! Renders briefings, sessions that were read, and the setup of hosts for people.

use bower_core::item::CurateOutcome;
use bower_core::request::{Brief, SessionRead};
use bower_core::shared::briefing_block;
use std::fmt::Write as _;

use super::store::degraded;
use super::{Look, clean, count, duration, hanging, line, style, thousands, wrapped};
use crate::commands::setup::Done;
use crate::hosts::Change;

/// Number of sentences that are listed without `--verbose`.
const FEW: usize = 20;

/// Renders the briefing alone, for a prompt.
pub fn briefing(brief: &Brief, look: &Look) -> String {
    let block = briefing_block(&brief.entries);
    if look.terminal { clean(&block).into_owned() } else { block.into() }
}

/// Explains an empty briefing, for standard error.
pub fn nothing(brief: &Brief) -> &'static str {
    if brief.already_given > 0 { "nothing that this session was not given" } else { "nothing to say yet" }
}

/// Renders `bower brief`.
pub fn brief(brief: &Brief, look: &Look) -> String {
    let mut out = clean(&briefing_block(&brief.entries)).into_owned();
    if !brief.entries.is_empty() {
        out.push('\n');
    }
    let entries = match brief.entries.len() {
        0 => nothing(brief).to_owned(),
        1 => "1 entry".to_owned(),
        many => format!("{many} entries"),
    };
    let mut told = format!(
        "{entries}, {} of {} tokens",
        thousands(brief.tokens as u64),
        thousands(brief.budget_tokens as u64)
    );
    if brief.left_out > 0 {
        let _ = write!(told, "; {} left out", thousands(brief.left_out as u64));
    }
    if brief.already_given > 0 {
        let _ = write!(told, "; {} given to this session before", thousands(brief.already_given as u64));
    }
    if brief.candidates > 0 {
        let _ = write!(
            told,
            "; {} to look at: bower list --status candidate",
            count(brief.candidates as u64, "candidate")
        );
    }
    out += &wrapped("", &told, look);
    out + &degraded(&brief.degraded, "not searched:", look)
}

/// Renders `bower curate --transcript`.
pub fn session(read: &SessionRead, look: &Look) -> String {
    let most = if look.verbose { usize::MAX } else { FEW };
    let mut out = String::new();
    for kept in read.kept.iter().take(most) {
        let id = kept.id.as_deref().unwrap_or("would be kept");
        let what = match (kept.outcome, kept.review) {
            (_, Some(review)) => format!("{} (review {review}: another says otherwise)", kept.memory_type),
            (CurateOutcome::Confirm, None) => format!("{}, known: confirmed", kept.memory_type),
            _ => kept.memory_type.to_string(),
        };
        let what = if kept.least_trusted.is_outside() {
            format!("{what}, {} after {}", kept.said_by, kept.least_trusted)
        } else {
            what
        };
        out += &hanging(
            &format!("{}  ", look.paint(style::NAME, id)),
            &format!("{} [{what}]", line(&kept.text)),
            look,
        );
    }
    if read.kept.len() > most {
        let _ = writeln!(out, "... and {} more: --verbose", thousands((read.kept.len() - most) as u64));
    }
    let mut told = vec![format!("{} read", count(read.turns, "new turn"))];
    let mut some = |number: u64, what: &str| {
        if number > 0 {
            told.push(format!("{} {what}", thousands(number)));
        }
    };
    some(read.known, "read before");
    some(read.kept.len() as u64, if read.dry_run { "would be kept" } else { "kept as candidates" });
    some(read.refused, "refused by the gate");
    some(read.unchanged, "known already");
    some(read.failed, "lines not understood");
    let _ = writeln!(
        out,
        "{} {}",
        told.join(", "),
        look.paint(style::DIM, &format!("({})", duration(read.took_ms)))
    );
    for problem in read.errors.iter().take(if look.verbose { usize::MAX } else { 3 }) {
        out += &wrapped("! ", &format!("{}: {}", line(&problem.place), line(&problem.reason)), look);
    }
    if !read.kept.is_empty() && !read.dry_run {
        out += &wrapped(
            "",
            "look through them: bower list --status candidate, then bower review keep|drop ID",
            look,
        );
    }
    out + &degraded(&read.degraded, "not in", look)
}

/// Renders the lines that would change.
pub fn diffs(done: &Done, look: &Look) -> String {
    let mut out = String::new();
    for file in &done.files {
        if let Some(real) = file.real_path.as_ref().filter(|_| !file.diff.is_empty()) {
            let path = line(&file.path.display().to_string());
            let _ = writeln!(out, "{path} is a link: what changes is {}", line(&real.display().to_string()));
        }
        for text in file.diff.lines() {
            let text = clean(text);
            let kind = match text.bytes().next() {
                Some(b'+') => Some(style::GOOD),
                Some(b'-') => Some(style::BAD),
                _ => None,
            };
            let _ =
                writeln!(out, "{}", kind.map_or_else(|| text.to_string(), |kind| look.paint(kind, &text)));
        }
    }
    if out.is_empty() {
        out = set_up(done, look);
    }
    out
}

/// Renders `bower setup`.
pub fn set_up(done: &Done, look: &Look) -> String {
    let mut out = String::new();
    for file in &done.files {
        let what = match file.change {
            Change::Create => "created",
            Change::Change => "changed",
            Change::Delete => "removed",
            Change::Unchanged => "unchanged",
        };
        let path = line(&file.path.display().to_string());
        match &file.real_path {
            Some(real) => {
                let real = line(&real.display().to_string());
                let _ = writeln!(out, "{what:<10}{path}, which is {real}");
            }
            None => {
                let _ = writeln!(out, "{what:<10}{path}");
            }
        }
    }
    let is_change = done.files.iter().any(|file| file.change != Change::Unchanged);
    let what = match (done.remove, is_change) {
        (false, true) => format!("{} is set up", done.name),
        (false, false) => format!("{} was set up already", done.name),
        (true, true) => format!("{} is as it was before", done.name),
        (true, false) => format!("nothing of bower is in the files of {}", done.name),
    };
    let _ = writeln!(out, "{}", look.paint(style::TITLE, &what));
    for (nth, next) in done.next.iter().enumerate() {
        out += &hanging(&format!("{}. ", nth + 1), next, look);
    }
    out
}
