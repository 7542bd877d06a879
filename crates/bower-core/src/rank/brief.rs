//! Selects the entries of a briefing: pinned ones first, then decisions, procedures and open questions in turns.
//! The number of entries is limited, each is one line, and together they fit a token budget.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

use crate::item::{Briefing, CheckedAnchor};
use crate::prompt::PromptText;

/// Most tokens of an entry (Bowerbird's first version: a result has 200). The number of unpinned entries is from
/// ADE.
const ENTRY_TOKENS: usize = 200;
/// Least tokens of a pinned entry, however small the budget.
const LEAST_TOKENS: usize = 16;
/// The line that opens a briefing.
const OPENING: &str = "## Briefing\n";

/// Returns the number of entries of a briefing, pinned ones included.
pub fn entries(budget: Briefing) -> usize {
    match budget {
        Briefing::Off => 0,
        Briefing::Lite => 3,
        Briefing::Standard => 8,
        Briefing::Deep => 20,
    }
}

/// Returns the default token budget of a briefing.
pub fn tokens(budget: Briefing) -> usize {
    entries(budget) * ENTRY_TOKENS
}

/// The reason why an entry is in a briefing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// The memory is pinned.
    Pinned,
    /// A decision, a convention or a preference.
    Decided,
    /// A procedure or a gotcha.
    Procedure,
    /// An open review: two contradicting memories.
    Review,
}

impl Section {
    /// The sections whose entries are taken in turns, in order.
    pub const DEALT: [Self; 3] = [Self::Decided, Self::Procedure, Self::Review];

    /// Returns its heading.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Pinned => "Pinned",
            Self::Decided => "Decisions and rules",
            Self::Procedure => "How things are done",
            Self::Review => "Open questions",
        }
    }
}

/// One line of a briefing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BriefLine {
    /// The section that it is in.
    pub section: Section,
    /// Id of the memory; of a review, the newer memory.
    pub id: String,
    /// The review's number, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<u64>,
    /// The text, on one line.
    pub text: PromptText,
    /// The note in brackets: type, id and day.
    #[serde(skip)]
    pub note: PromptText,
    /// Whether the text was cut and ends with `…`.
    pub is_cut: bool,
    /// What became of the files, symbols and commits that it names, as far as they were checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<CheckedAnchor>,
}

impl BriefLine {
    /// Returns its line of the briefing.
    fn line(&self) -> PromptText {
        let mut line = PromptText::own("- ");
        line.push(&self.text);
        line.push_own(" (");
        line.push(&self.note);
        line.push_own(")\n");
        line
    }
}

/// Where a memory was written, relative to a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// In this folder, or in one above or below it.
    Here,
    /// The memory names no folder, or none was passed.
    Anywhere,
    /// In another folder.
    Elsewhere,
}

/// Returns where a memory written in folder `told` is relative to folder `asked`.
pub fn nearness(told: Option<&str>, asked: Option<&str>) -> Nearness {
    match (told.filter(|told| !told.is_empty()), asked) {
        (Some(told), Some(asked)) => {
            let (told, asked) = (Path::new(told), Path::new(asked));
            if told.starts_with(asked) || asked.starts_with(told) {
                Nearness::Here
            } else {
                Nearness::Elsewhere
            }
        }
        (None, _) | (_, None) => Nearness::Anywhere,
    }
}

/// Returns how many entries of each list are taken: one of each in turn until `room` is full.
pub fn deal(lengths: [usize; 3], room: usize) -> [usize; 3] {
    let mut dealt = [0; 3];
    let mut left = room;
    while left > 0 {
        let before = left;
        for (taken, length) in dealt.iter_mut().zip(lengths) {
            if left > 0 && *taken < length {
                *taken += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    dealt
}

/// Returns the entries that fit, in the order of their sections, and the number of those that do not.
///
/// None is longer than its share. Pinned entries are always included, however short they are cut. `entries` are in the
/// order in which they are considered.
pub fn pack(
    entries: Vec<BriefLine>,
    budget_tokens: usize,
    count: &dyn Fn(&str) -> usize,
) -> (Vec<BriefLine>, usize) {
    let pinned = entries.iter().filter(|entry| entry.section == Section::Pinned).count();
    let headings = count(OPENING)
        + [Section::Pinned].iter().chain(&Section::DEALT).map(|one| count(one.title()) + 2).sum::<usize>();
    let mut left = budget_tokens.saturating_sub(headings);
    let share = left.checked_div(pinned).unwrap_or(ENTRY_TOKENS).clamp(LEAST_TOKENS, ENTRY_TOKENS);
    let (mut kept, mut left_out) = (Vec::new(), 0);
    for entry in entries {
        let is_pinned = entry.section == Section::Pinned;
        let most = if is_pinned { share } else { ENTRY_TOKENS.min(left) };
        let fitted = fitted(entry, most, count).map(|entry| (count(&entry.line()), entry));
        match fitted.filter(|(tokens, _)| is_pinned || *tokens <= left) {
            Some((tokens, entry)) => {
                left = left.saturating_sub(tokens);
                kept.push(entry);
            }
            None => left_out += 1,
        }
    }
    kept.sort_by_key(|entry| entry.section);
    (kept, left_out)
}

/// Returns an entry with at most `most` tokens, cut at a word if it is longer; `None` if no word fits.
fn fitted(entry: BriefLine, most: usize, count: &dyn Fn(&str) -> usize) -> Option<BriefLine> {
    if count(&entry.line()) <= most {
        return Some(entry);
    }
    let ends: Vec<usize> = entry.text.match_indices(' ').map(|(at, _)| at).collect();
    let cut = |end: usize| BriefLine { text: entry.text.cut(end), is_cut: true, ..entry.clone() };
    let fits = ends.partition_point(|&end| count(&cut(end).line()) <= most);
    match (fits.checked_sub(1), entry.section) {
        (Some(last), _) => Some(cut(ends[last])),
        // A pinned entry is always included: its first words, whatever they cost.
        (None, Section::Pinned) => {
            Some(cut(ends.get(3).or(ends.last()).copied().unwrap_or(entry.text.len())))
        }
        (None, Section::Decided | Section::Procedure | Section::Review) => None,
    }
}

/// Returns the briefing as Markdown; empty if there is no entry. Each entry is one line, so that no text can pass
/// itself off as anything else.
pub fn block(entries: &[BriefLine]) -> PromptText {
    let mut out = PromptText::default();
    let mut section = None;
    for entry in entries {
        if section.is_none() {
            out.push_own(OPENING);
        }
        if section != Some(entry.section) {
            out.push_own("\n### ");
            out.push_own(entry.section.title());
            out.push_own("\n\n");
            section = Some(entry.section);
        }
        out.push(&entry.line());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(section: Section, text: &str) -> BriefLine {
        BriefLine {
            section,
            id: "00ff".into(),
            review: None,
            text: PromptText::line(text),
            note: PromptText::own("fact 00ff"),
            is_cut: false,
            anchors: Vec::new(),
        }
    }

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    #[test]
    fn entries_and_tokens_are_those_of_the_budget() {
        // ADE: lite 3, standard 8, deep 20; Bowerbird's first version: 200 tokens each.
        let of = |budget| (entries(budget), tokens(budget));
        assert_eq!(
            [Briefing::Off, Briefing::Lite, Briefing::Standard, Briefing::Deep].map(of),
            [(0, 0), (3, 600), (8, 1_600), (20, 4_000)]
        );
    }

    #[test]
    fn a_folder_is_near_what_is_above_and_below_it() {
        use Nearness::{Anywhere, Elsewhere, Here};
        let check = |told: Option<&str>, asked: Option<&str>, expected| {
            assert_eq!(nearness(told, asked), expected, "{told:?} {asked:?}");
        };
        check(Some("/w/api"), Some("/w/api"), Here);
        check(Some("/w/api/src"), Some("/w/api"), Here);
        check(Some("/w"), Some("/w/api"), Here);
        check(Some("/w/api2"), Some("/w/api"), Elsewhere);
        check(None, Some("/w/api"), Anywhere);
        check(Some(""), Some("/w/api"), Anywhere);
        check(Some("/w/api"), None, Anywhere);
    }

    #[test]
    fn lists_are_dealt_in_turns() {
        assert_eq!(deal([5, 5, 5], 3), [1, 1, 1]);
        assert_eq!(deal([5, 1, 0], 8), [5, 1, 0]);
        assert_eq!(deal([9, 1, 2], 8), [5, 1, 2]);
        assert_eq!(deal([0, 0, 0], 8), [0, 0, 0]);
        assert_eq!(deal([2, 2, 2], 0), [0, 0, 0]);
    }

    #[test]
    fn a_block_has_one_line_an_entry() {
        let entries = [
            entry(Section::Pinned, "never push to main"),
            entry(Section::Decided, "PostgreSQL"),
            entry(Section::Decided, "axum"),
        ];
        let expected = "## Briefing\n\n### Pinned\n\n- never push to main (fact 00ff)\n\n### Decisions and rules\n\n\
            - PostgreSQL (fact 00ff)\n- axum (fact 00ff)\n";
        assert_eq!(block(&entries).as_str(), expected);
        assert_eq!(block(&[]).as_str(), "");
    }

    #[test]
    fn what_is_pinned_is_always_in() {
        let long = "word ".repeat(400);
        let all = vec![
            entry(Section::Pinned, &long),
            entry(Section::Pinned, "short"),
            entry(Section::Decided, &long),
        ];
        let (kept, left_out) = pack(all, 20, &words);
        let sections: Vec<Section> = kept.iter().map(|entry| entry.section).collect();
        assert_eq!((sections, left_out), (vec![Section::Pinned, Section::Pinned], 1));
        assert!(kept[0].is_cut && kept[0].text.ends_with('…') && !kept[1].is_cut, "{kept:?}");
    }

    proptest! {
        #[test]
        fn a_briefing_keeps_its_budget(
            texts in prop::collection::vec("[a-z#<>/\n -]{1,300}", 0..12), budget in 40_usize..400
        ) {
            let sections = Section::DEALT;
            let all: Vec<BriefLine> =
                texts.iter().enumerate().map(|(nth, text)| entry(sections[nth % 3], &format!("x {text}"))).collect();
            let count = all.len();
            let (kept, left_out) = pack(all, budget, &words);
            prop_assert_eq!(kept.len() + left_out, count);
            let block = block(&kept);
            prop_assert!(words(&block) <= budget, "{}", block);
            let lines = block.lines().filter(|line| line.starts_with("- ")).count();
            prop_assert_eq!(lines, kept.len());
        }
    }
}
