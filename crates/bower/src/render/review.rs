//! Renders contradictions for people: both sides of each, and its outcome.

use bower_core::item::{PairRuling, Ruling, Status};
use bower_core::request::{EarlierMemory, Item, Review, SettledPair};
use std::fmt::Write as _;

use super::{Look, count, hanging, line, style, wrapped};

/// Renders open reviews, or all, and the number of waiting candidates.
pub fn list(reviews: &[Review], candidates: usize, look: &Look) -> String {
    let mut out = String::new();
    for review in reviews {
        let number = look.paint(style::NAME, &review.review.to_string());
        let ended = match review.ruling {
            None => String::new(),
            Some(ruling) => format!(", {}", look.paint(style::DIM, ended(ruling))),
        };
        let age = look.age(review.create_time);
        let _ = writeln!(out, "{number}  {}{ended} {}", line(&review.reason), look.paint(style::DIM, &age));
        out += &side("older", &review.older, look);
        out += &side("newer", &review.newer, look);
        out.push('\n');
    }
    let open = reviews.iter().filter(|review| review.ruling.is_none()).count();
    let foot = match open {
        0 => "nothing to decide".to_owned(),
        _ => format!(
            "{} to decide: bower review accept|reject|both N, or merge N TEXT",
            count(open as u64, "contradiction")
        ),
    };
    out += &(look.paint(style::DIM, &foot) + "\n");
    if candidates > 0 {
        let foot = format!(
            "{} to look at: bower list --status candidate, then bower review keep|drop ID",
            count(candidates as u64, "candidate")
        );
        out += &(look.paint(style::DIM, &foot) + "\n");
    }
    out
}

/// Renders the outcome for candidates.
pub fn judged(memories: &[Item], look: &Look) -> String {
    memories.iter().fold(String::new(), |out, memory| {
        let what = match memory.status {
            Status::Archived => "archived",
            Status::Candidate | Status::Active | Status::Superseded | Status::Variant => "kept",
        };
        out + &hanging(&format!("{}  {what}  ", memory.id), &line(&memory.summary), look)
    })
}

fn side(which: &str, item: &Item, look: &Look) -> String {
    let lead = format!("   {which}  {}  ", item.id);
    let note = format!("{} ({}, {})", line(&item.content), look.age(item.create_time), item.status);
    hanging(&lead, &note, look)
}

fn ended(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Accept => "the newer text is kept",
        Ruling::Reject => "the older text is kept",
        Ruling::Both => "both stand",
        Ruling::Merge => "one text replaces both",
    }
}

/// Renders the outcome of a review.
pub fn settled(review: &Review, look: &Look) -> String {
    let how = review.ruling.map_or("still open", ended);
    let mut out = format!("{}  {how}\n", look.paint(style::NAME, &review.review.to_string()));
    if let Some(merged) = &review.merged {
        out += &side("merged", merged, look);
    } else {
        out += &side("older", &review.older, look);
        out += &side("newer", &review.newer, look);
    }
    out
}

/// Renders the outcome for a memory and an earlier one.
pub fn pair(settled: &SettledPair, look: &Look) -> String {
    let how = match settled.ruling {
        PairRuling::Replaces => "replaces",
        PairRuling::Confirms => "is another wording of",
        PairRuling::DifferentFrom => "is a different fact from",
    };
    let (id, other) = (look.paint(style::NAME, &settled.memory.id), &settled.other.id);
    let note = match settled.event {
        Some(event) => format!("bower undo {event} reverses it"),
        None => "as before".to_owned(),
    };
    format!("{id}  {how} {other}  {}\n", look.paint(style::DIM, &format!("({note})")))
        + &side("memory", &settled.memory, look)
        + &side("earlier", &settled.other, look)
}

/// Renders what a memory may be to earlier ones, each with the command that settles it.
pub fn possible(id: &str, possible: &[EarlierMemory], look: &Look) -> String {
    possible.iter().fold(String::new(), |all, one| {
        let note = format!("{}: {} ({})", one.why, line(&one.text), look.age(one.told));
        let settles =
            format!("bower settle {id} --replaces {0}, or --confirms {0}, or --different-from {0}", one.id);
        all + &wrapped("? ", &note, look) + &wrapped("  ", &settles, look)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn reviews_show_both_sides() {
        let look = sample::look(80);
        let open = sample::review();
        let ended = Review { review: 8, ruling: Some(Ruling::Both), ..open.clone() };
        insta::assert_snapshot!("reviews", list(&[open.clone(), ended.clone()], 0, &look));
        assert_eq!(list(&[], 0, &look), "nothing to decide\n");
        assert!(list(&[], 2, &look).contains("2 candidates to look at"));
        insta::assert_snapshot!("settled", settled(&ended, &look));
        let merged = Review { ruling: Some(Ruling::Merge), merged: Some(open.newer.clone()), ..open };
        insta::assert_snapshot!("merged", settled(&merged, &look));
    }

    #[test]
    fn what_is_possible_is_named_with_the_command_that_settles_it() {
        let look = sample::look(200);
        let Review { newer, older, .. } = sample::review();
        let earlier = EarlierMemory {
            id: older.id.clone(),
            text: "the port\nis 8080".into(),
            told: look.now,
            why: "perhaps a contradiction".into(),
            likelihood: 0.5,
        };
        let text = possible(&newer.id, &[earlier], &look);
        assert!(text.starts_with("? perhaps a contradiction: the port is 8080 ("), "{text}");
        let command = format!("bower settle {} --replaces {}", newer.id, older.id);
        assert!(text.contains(&command), "{text}");
        let done = SettledPair {
            ruling: PairRuling::Confirms,
            memory: newer.clone(),
            other: older.clone(),
            event: Some(7),
        };
        let text = pair(&done, &look);
        let first = format!("{}  is another wording of {}  (bower undo 7 reverses it)\n", newer.id, older.id);
        assert!(text.starts_with(&first), "{text}");
        assert!(pair(&SettledPair { event: None, ..done }, &look).contains("(as before)"));
    }
}
