//! Renders the maintenance of memories for people: sweeps, pruning, consolidation, undo, feedback and pins.

use bower_core::item::{Tier, Turn, Verdict};
use bower_core::request::{ClockJump, Consolidated, Feedback, Item, Pruned, Swept, Turned, Undone};
use std::fmt::Write as _;

use super::llm::uses;
use super::{Look, count, duration, hanging, line, style, thousands, wrapped};

/// Number of lines of a list without `--verbose`.
const FEW: usize = 10;

/// Explains why a clock jump makes a run do nothing.
fn clock_jump(jump: Option<&ClockJump>, run: &str, look: &Look) -> String {
    jump.map_or_else(String::new, |jump| {
        let text = format!(
            "the clock says {} and this store last trusted {}: if the clock is right, a {run} acts from {} on",
            jump.now.strftime("%F"),
            jump.trusted_time.strftime("%F"),
            jump.acts_from.strftime("%F %R UTC")
        );
        wrapped("! ", &text, look)
    })
}

/// Renders `bower sweep`.
pub fn swept(swept: &Swept, look: &Look) -> String {
    let parts: Vec<String> = [
        (swept.promoted, "promoted"),
        (swept.demoted, "fading"),
        (swept.raised, "in use again"),
        (swept.archived, "archived"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", thousands(number as u64)))
    .collect();
    let what = if parts.is_empty() { "no memory changed".to_owned() } else { parts.join(", ") };
    let would = if swept.dry_run { "would be: " } else { "" };
    let mut out =
        format!("{would}{what} {}\n", look.paint(style::DIM, &format!("({})", duration(swept.took_ms))));
    out += &turned(&swept.turned, look);
    out += &waiting(swept.waiting, "bower sweep goes on", look);
    out += &clock_jump(swept.clock_jump.as_ref(), "sweep", look);
    out + &undo(swept.event.filter(|_| !parts.is_empty()), look)
}

/// Renders `bower prune`.
pub fn pruned(pruned: &Pruned, look: &Look) -> String {
    let would = if pruned.dry_run { "would archive" } else { "archived" };
    let what = format!(
        "{would} {} below {}; {} stay",
        memories(pruned.pruned as u64),
        pruned.threshold,
        thousands(pruned.remaining as u64)
    );
    let mut out = format!("{what} {}\n", look.paint(style::DIM, &format!("({})", duration(pruned.took_ms))));
    out += &turned(&pruned.turned, look);
    out += &waiting(pruned.waiting, "bower prune goes on", look);
    out += &clock_jump(pruned.clock_jump.as_ref(), "prune", look);
    out + &undo(pruned.event.filter(|_| pruned.pruned > 0), look)
}

fn memories(number: u64) -> String {
    format!("{} {}", thousands(number), if number == 1 { "memory" } else { "memories" })
}

/// Renders the changed memories, one per line with its reason.
fn turned(all: &[Turned], look: &Look) -> String {
    let most = if look.verbose { usize::MAX } else { FEW };
    let mut out = String::new();
    for one in all.iter().take(most) {
        let what = match one.turn {
            Turn::Promote => "promote",
            Turn::Demote => "fade   ",
            Turn::Raise => "raise  ",
            Turn::Archive => "archive",
        };
        let lead = format!("  {}  {what}  ", look.paint(style::NAME, &one.id));
        let note = format!(
            "{} ({}; strength {:.2}, last used or told {})",
            line(&one.summary),
            one.why,
            one.strength,
            look.age(one.access_time)
        );
        out += &hanging(&lead, &note, look);
    }
    if let Some(more) = all.len().checked_sub(most).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more as u64));
    }
    out
}

fn waiting(number: usize, then: &str, look: &Look) -> String {
    if number == 0 {
        return String::new();
    }
    wrapped("! ", &format!("{} wait for the next run: {then}", thousands(number as u64)), look)
}

fn undo(event: Option<u64>, look: &Look) -> String {
    event.map_or_else(String::new, |event| {
        look.paint(style::DIM, &format!("bower undo {event} takes it back")) + "\n"
    })
}

/// Renders `bower consolidate`.
pub fn consolidated(done: &Consolidated, look: &Look) -> String {
    let would = if done.dry_run { "would make" } else { "made" };
    let what = match done.patterns_created {
        0 => "nothing says much the same as two others".to_owned(),
        number => format!("{would} {} of {}", count(number as u64, "pattern"), memories(done.merged as u64)),
    };
    let took = format!("({} compared, {})", thousands(done.compared as u64), duration(done.took_ms));
    let mut out = format!("{what} {}\n", look.paint(style::DIM, &took));
    let most = if look.verbose { usize::MAX } else { FEW };
    for cluster in done.clusters.iter().take(most) {
        let id = cluster.pattern.as_deref().unwrap_or("-");
        let lead = format!("  {}  ", look.paint(style::NAME, id));
        let event = cluster.event.map_or_else(String::new, |event| format!("; undo {event}"));
        let note = format!("{} ({}{event})", line(&cluster.content), memories(cluster.members.len() as u64));
        out += &hanging(&lead, &note, look);
    }
    if let Some(more) = done.clusters.len().checked_sub(most).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more as u64));
    }
    if let Some(llm) = &done.llm {
        let wrote = count(llm.written as u64, "pattern");
        out += &wrapped("", &format!("{} wrote {wrote}", line(&llm.model)), look);
        out += &uses(&llm.uses, look);
        for refused in &llm.refused {
            let kept = count(refused.patterns as u64, "pattern");
            out += &wrapped(
                "! ",
                &format!("{kept} kept their memories' own words: {}", line(&refused.why)),
                look,
            );
        }
    }
    if done.without_vector > 0 {
        let note = format!(
            "{} without a vector were not compared: bower index on any path embeds them",
            thousands(done.without_vector as u64)
        );
        out += &wrapped("! ", &note, look);
    }
    out + &waiting(done.waiting, "time was up; bower consolidate goes on", look)
}

/// Renders `bower undo`.
pub fn undone(undone: &Undone, look: &Look) -> String {
    let would = if undone.dry_run { "would be " } else { "" };
    let of = match (&undone.origin, undone.undoes) {
        (Some(origin), _) => format!("what {} wrote", line(&origin.to_string())),
        (None, Some(event)) => format!("{} of event {event}", line(&undone.action)),
        (None, None) => line(&undone.action),
    };
    let number = undone.items.len() as u64;
    let mut out = if undone.origin.is_some() {
        let is = if undone.dry_run { would } else { "is " };
        format!("{of} {is}taken back: {}\n", count(number, "item"))
    } else {
        let what = match undone.action.as_str() {
            "retag" => format!("the tags of {}", count(number, "item")),
            _ => memories(number),
        };
        format!("{of} {would}taken back: {what} as before\n")
    };
    let most = if look.verbose { usize::MAX } else { FEW };
    for taken in undone.taken.iter().take(most) {
        let lead = format!("  {}  ", look.paint(style::NAME, &taken.id));
        out += &hanging(&lead, &format!("{} ({})", line(&taken.summary), taken.what), look);
    }
    if let Some(more) = undone.taken.len().checked_sub(most).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more as u64));
    }
    for left in &undone.unmoved {
        out += &wrapped("! ", &format!("{} stays as it is: {}", left.id, line(&left.why)), look);
    }
    let event = Some(undone.event).filter(|event| undone.origin.is_some() && *event > 0);
    out + &undo(event, look)
}

/// Renders `bower feedback`.
pub fn feedback(kept: &Feedback, look: &Look) -> String {
    let memory = &kept.memory;
    let what = match kept.verdict {
        Verdict::Useful => "useful",
        Verdict::Wrong => "wrong",
        Verdict::Stale => "stale",
    };
    let moved = format!(
        "{}  {what}: confidence {:.2} -> {:.2}, {}",
        look.paint(style::NAME, &memory.id),
        kept.confidence_before,
        memory.confidence,
        memory.status
    );
    format!("{moved} {}\n", look.paint(style::DIM, &format!("(undo: {})", kept.event)))
}

/// Renders `bower pin`.
pub fn pinned(memory: &Item, look: &Look) -> String {
    let what = match memory.tier {
        Tier::Pinned => "pinned: it never fades",
        Tier::Active | Tier::Fading => "not pinned",
    };
    format!("{}  {what}\n", look.paint(style::NAME, &memory.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::item::MemoryType;
    use bower_core::item::{Origin, TakenHow};
    use bower_core::request::{Cluster, LlmUses, Refused, Taken, Unmoved, Wording};

    fn turn(turn: Turn, why: &str, strength: f64) -> Turned {
        Turned {
            id: "3f2a9c0011223344".into(),
            summary: "The staging API listens on port 8080".into(),
            memory_type: Some(MemoryType::Fact),
            turn,
            why: why.into(),
            strength,
            access_time: sample::time("2026-01-01T00:00:00Z"),
        }
    }

    #[test]
    fn what_a_sweep_did() {
        let look = sample::look(80);
        let some = Swept {
            demoted: 1,
            archived: 11,
            waiting: 12_345,
            event: Some(77),
            turned: std::iter::once(turn(Turn::Demote, "not used for 90 days", 0.21))
                .chain((0..11).map(|_| turn(Turn::Archive, "too weak to be asked for again", 0.01)))
                .collect(),
            took_ms: 12.0,
            ..Swept::default()
        };
        let jump = ClockJump {
            trusted_time: sample::time("2026-11-24T00:00:00Z"),
            now: sample::time("2036-11-21T12:30:00Z"),
            acts_from: sample::time("2036-11-22T12:30:00Z"),
        };
        let jumped = swept(&Swept { clock_jump: Some(jump), ..Swept::default() }, &look);
        assert_eq!(
            jumped,
            "no memory changed (0.0 ms)
! the clock says 2036-11-21 and this store last trusted 2026-11-24: if the clock
! is right, a sweep acts from 2036-11-22 12:30 UTC on
"
        );
        insta::assert_snapshot!("swept", swept(&some, &look) + &swept(&Swept::default(), &look));
    }

    #[test]
    fn what_a_prune_did() {
        let look = sample::look(80);
        let weak = Pruned {
            pruned: 1,
            remaining: 1_999,
            threshold: 0.05,
            dry_run: true,
            turned: vec![turn(Turn::Archive, "too weak to be asked for again", 0.041)],
            took_ms: 3.0,
            ..Pruned::default()
        };
        insta::assert_snapshot!("pruned", pruned(&weak, &look));
    }

    #[test]
    fn what_consolidation_did() {
        let look = sample::look(80);
        let made = Consolidated {
            merged: 3,
            patterns_created: 1,
            compared: 4_000,
            without_vector: 2,
            clusters: vec![Cluster {
                pattern: Some("9f2c41d07ab3e658".into()),
                event: Some(81),
                content: "The nightly job failed on 4 May\nAlso:\n- The nightly job failed on 5 May".into(),
                memory_type: Some(MemoryType::Episode),
                members: vec!["a".into(), "b".into(), "c".into()],
                written_by: None,
            }],
            took_ms: 120.0,
            ..Consolidated::default()
        };
        insta::assert_snapshot!("consolidated", consolidated(&made, &look));
        let refused = |why: &str, patterns: usize| Refused { why: why.into(), patterns };
        let llm = Wording {
            uses: LlmUses::default(),
            model: "llama3.2".into(),
            written: 1,
            refused: vec![
                refused("it said a date that none of them says", 2),
                refused("model llama3.2: no answer from http://127.0.0.1:11434/v1 in 5000 ms", 1),
            ],
        };
        let written = consolidated(&Consolidated { llm: Some(llm), ..made }, &look);
        for told in [
            "\nllama3.2 wrote 1 pattern\n",
            "\n! 2 patterns kept their memories' own words: it said a date that none",
            "\n! 1 pattern kept their memories' own words: model llama3.2:",
        ] {
            assert!(written.contains(told), "{told:?} in {written}");
        }
    }

    #[test]
    fn what_was_undone() {
        let look = sample::look(80);
        let back = Undone {
            event: 90,
            undoes: Some(77),
            origin: None,
            action: "sweep".into(),
            items: vec!["x".into(), "y".into()],
            taken: Vec::new(),
            dry_run: false,
            unmoved: vec![Unmoved { id: "3f2a9c0011223344".into(), why: "it changed since".into() }],
        };
        let taken = Taken {
            id: "3f2a9c0011223344".into(),
            summary: "The new IBAN is DE02".into(),
            what: TakenHow::Archived,
        };
        let origin = Undone {
            undoes: None,
            origin: Some(Origin { session: Some("s1".into()), ..Origin::default() }),
            action: "origin".into(),
            taken: vec![taken],
            ..back.clone()
        };
        let dry = Undone { event: 0, dry_run: true, ..origin.clone() };
        insta::assert_snapshot!(
            "undone",
            undone(&back, &look) + &undone(&origin, &look) + &undone(&dry, &look)
        );
    }
}
