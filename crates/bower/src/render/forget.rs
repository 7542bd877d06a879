//! Renders for people the forgotten items with the receipt, and the places where words are still found.

use bower_core::request::{Erased, Forgotten, Receipt, Residue};
use std::fmt::Write as _;

use super::{Look, bytes, count, line, style, thousands, wrapped};

/// Number of ids that are shown without `--verbose`.
const SHOWN: usize = 10;

/// Renders `bower forget`.
pub fn forgotten(forgotten: &Forgotten, look: &Look) -> String {
    let receipt = &forgotten.receipt;
    let verb = if receipt.dry_run { "would delete" } else { "deleted" };
    let mut out = format!("{verb} {}\n", counts(receipt));
    if !receipt.dry_run {
        let event = format!("event {}, sha256 {}", receipt.event, receipt.sha256);
        let _ = writeln!(out, "{}", look.paint(style::DIM, &event));
    }
    out += &ids(&forgotten.forgotten, look, |id| {
        if forgotten.derived.iter().any(|derived| derived == id) { ", which was made of it" } else { "" }
    });
    if !forgotten.held_by.is_empty() {
        let holders = count(forgotten.held_by.len() as u64, "other item");
        out += &wrapped("! ", &format!("{holders} say all of it in the same words, and stay:"), look);
        out += &ids(&forgotten.held_by, look, |_| "");
    }
    out + &forgotten.erased.as_ref().map_or_else(String::new, |erased| files(erased, look))
}

/// Formats the deleted counts, items first; zeros are left out.
fn counts(receipt: &Receipt) -> String {
    let mut what = vec![
        count(receipt.items as u64, "item"),
        count(receipt.vectors as u64, "vector"),
        count(receipt.documents as u64, "document"),
    ];
    let more = [
        (receipt.tags, "tag"),
        (receipt.anchors, "anchor"),
        (receipt.fields, "field"),
        (receipt.triples, "triple"),
        (receipt.relations, "relation"),
        (receipt.reviews, "review"),
        (receipt.given, "record of being given"),
        (receipt.cached, "cached question"),
        (receipt.answers, "cached answer"),
    ];
    what.extend(more.iter().filter(|(number, _)| *number > 0).map(|(number, name)| match *name {
        "record of being given" if *number != 1 => {
            format!("{} records of being given", thousands(*number as u64))
        }
        name => count(*number as u64, name),
    }));
    if receipt.events > 0 {
        what.push(format!("words in {}", count(receipt.events as u64, "event")));
    }
    what.join(", ")
}

fn ids(all: &[String], look: &Look, note: impl Fn(&str) -> &'static str) -> String {
    let most = if look.verbose { usize::MAX } else { SHOWN };
    let mut out = String::new();
    for id in all.iter().take(most) {
        let _ = writeln!(out, "  {}{}", look.paint(style::NAME, id), note(id));
    }
    if let Some(more) = all.len().checked_sub(most).filter(|&more| more > 0) {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", thousands(more as u64));
    }
    out
}

fn files(erased: &Erased, look: &Look) -> String {
    let mut out = String::new();
    if erased.complete {
        out += "no file of the store and its indexes holds a trace\n";
    }
    for wait in &erased.waits {
        let note =
            format!("files may still hold traces: {}; the next command that has time goes on", line(wait));
        out += &wrapped("! ", &note, look);
    }
    for copy in &erased.copies {
        let _ = writeln!(out, "removed from {} too", line(&copy.display().to_string()));
    }
    for file in &erased.elsewhere {
        let path = line(&file.path.display().to_string());
        out += &wrapped("! ", &format!("{path} holds it and is yours to delete"), look);
    }
    out
}

/// Renders `bower doctor --residue`.
pub fn residue(residue: &Residue, look: &Look) -> String {
    let mut out = String::new();
    for file in &residue.files {
        let path = line(&file.path.display().to_string());
        let times = thousands(file.matches);
        let row = if file.counts {
            format!("{times}  {path}")
        } else {
            look.paint(style::DIM, &format!("{times}  {path}, does not count"))
        };
        let _ = writeln!(out, "{row}");
    }
    for term in residue.terms.iter().filter(|term| term.rows > 0) {
        let rows = count(term.rows, "row");
        let _ = writeln!(out, "{}  the text index has {} in {rows}", thousands(term.rows), line(&term.term));
    }
    if !residue.items.is_empty() {
        let _ = writeln!(out, "said by {}:", count(residue.items.len() as u64, "item"));
        out += &ids(&residue.items, look, |_| "");
    }
    for alias in &residue.aliases {
        out += &wrapped("alias ", &format!("{} stays until bower graph alias --undo", line(alias)), look);
    }
    for note in &residue.untold {
        out += &wrapped("! ", &line(note), look);
    }
    let searched = format!("{} in {}", bytes(residue.searched_bytes), count(residue.searched_files, "file"));
    let verdict =
        if residue.found { "the words stand in what was searched" } else { "the words stand nowhere" };
    out + &look.paint(style::TITLE, &format!("{verdict}: {searched}")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::request::{Elsewhere, ResidueFile, ResidueTerm};

    #[test]
    fn what_was_deleted() {
        let receipt = Receipt {
            items: 12,
            vectors: 12,
            documents: 1,
            event: 9,
            sha256: "ab12".into(),
            ..Receipt::default()
        };
        let ids = |from: usize, until: usize| (from..until).map(|n| format!("{n:016x}")).collect::<Vec<_>>();
        let gone = Forgotten {
            forgotten: ids(0, 12),
            derived: Vec::new(),
            held_by: Vec::new(),
            receipt: receipt.clone(),
            erased: Some(Erased { complete: true, ..Erased::default() }),
        };
        let more = Forgotten {
            forgotten: ids(0, 2),
            derived: ids(1, 2),
            held_by: ids(7, 8),
            receipt: Receipt { tags: 1, given: 2, cached: 1, events: 3, ..receipt.clone() },
            erased: Some(Erased {
                waits: vec!["another process still reads what the store's log holds".into()],
                copies: vec!["/home/ada/.bowerbird/memory.db.replaced-7".into()],
                elsewhere: vec![Elsewhere { path: "/home/ada/.bowerbird/march.db".into(), matches: 2 }],
                ..Erased::default()
            }),
        };
        let would = Forgotten {
            forgotten: ids(0, 1),
            receipt: Receipt { items: 1, dry_run: true, ..Receipt::default() },
            erased: None,
            ..gone.clone()
        };
        let look = sample::look(80);
        let all = [gone, more, would].map(|one| forgotten(&one, &look));
        insta::assert_snapshot!("forgotten", all.join("\n"));
    }

    #[test]
    fn where_words_stand() {
        let file = |path: &str, counts| ResidueFile { path: path.into(), matches: 1_200, counts };
        let found = Residue {
            found: true,
            files: vec![
                file("/home/ada/.bowerbird/memory.db", true),
                file("/home/ada/.bowerbird/models/v", false),
            ],
            terms: vec![
                ResidueTerm { term: "quagga".into(), rows: 2 },
                ResidueTerm { term: "extinct".into(), rows: 0 },
            ],
            aliases: vec!["Quagga = Equus quagga".into()],
            items: vec!["9f2c41d07ab3e658".into()],
            untold: vec![
                "models/ has the words of every language model's vocabulary; they do not count".into(),
            ],
            searched_files: 12,
            searched_bytes: 3_400_000,
        };
        let look = sample::look(80);
        let nothing = Residue { searched_files: 1, searched_bytes: 10, ..Residue::default() };
        insta::assert_snapshot!("residue", residue(&found, &look) + "\n" + &residue(&nothing, &look));
    }
}
