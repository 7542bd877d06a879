//! Consolidation: groups memories that say much the same, and writes the one pattern that stands for them.
//! Nothing a member says is lost: what the pattern's first line does not say is in its list, word for word, or the memory is no
//! member.

use crate::item::MemoryType;
use crate::memory::analysis::Analysis;

/// A pattern stands for so many memories at least (Bowerbird's first version: clusters of 3 and more).
pub const LEAST_MEMBERS: usize = 3;

/// The longest text of a pattern, in bytes (ADE: content cap 2,000).
pub const LONGEST: usize = 2_000;

/// Groups of near items around their centres: the item with most near ones first (of equals the one written first), with those
/// of them that no group has yet and that `joins` lets in. `pairs` names items below `count`. Each group begins with its
/// centre, the others follow in order; groups of fewer than [`LEAST_MEMBERS`] are none.
pub fn clusters(
    count: usize,
    pairs: &[(u32, u32, f32)],
    joins: &dyn Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(one, two, _) in pairs {
        near[one as usize].push(two as usize);
        near[two as usize].push(one as usize);
    }
    let mut order: Vec<usize> = (0..count).filter(|&at| near[at].len() + 1 >= LEAST_MEMBERS).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(near[at].len()), at));
    let mut taken = vec![false; count];
    let mut clusters = Vec::new();
    for centre in order {
        if taken[centre] {
            continue;
        }
        let is_let_in = |other: &usize| !taken[*other] && joins(centre, *other);
        let mut free: Vec<usize> = near[centre].iter().copied().filter(is_let_in).collect();
        if free.len() + 1 < LEAST_MEMBERS {
            continue;
        }
        free.sort_unstable();
        for &at in free.iter().chain(std::iter::once(&centre)) {
            taken[at] = true;
        }
        free.insert(0, centre);
        clusters.push(free);
    }
    clusters
}

/// Whether memories of a type tell what happened, and may happen again.
pub fn happens(memory_type: Option<MemoryType>) -> bool {
    match memory_type {
        Some(
            MemoryType::Episode
            | MemoryType::Context
            | MemoryType::Handoff
            | MemoryType::Digest
            | MemoryType::Gotcha,
        ) => true,
        Some(
            MemoryType::Fact
            | MemoryType::Preference
            | MemoryType::Pattern
            | MemoryType::Decision
            | MemoryType::Convention
            | MemoryType::Procedure,
        )
        | None => false,
    }
}

/// Whether the numbers of two memories let them stand in one pattern. Of what happened, times and amounts may differ: it
/// happened again. Of all else another number is another fact.
pub fn joins(memory_type: Option<MemoryType>, one: &Analysis, other: &Analysis) -> bool {
    happens(memory_type) || one.numbers() == other.numbers()
}

/// One text for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The centre's text, then what others say beyond it, one a line.
    pub content: String,
    /// Whom it stands for, by their place in what was given.
    pub members: Vec<usize>,
    /// Those whose texts it is made of: what the others say these say.
    pub said: Vec<usize>,
}

/// Why a text that a language model wrote for a pattern is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is no text.
    Empty,
    /// It is longer than [`LONGEST`].
    Long,
    /// It has a number or a name that no memory has.
    Adds(String),
    /// It leaves out a number that all memories have.
    LeavesOut(String),
}

impl Unfit {
    /// Why, in a few words that hold for many such texts.
    pub fn why(&self) -> &'static str {
        match self {
            Self::Empty => "it wrote nothing",
            Self::Long => "it wrote more than 2000 bytes",
            Self::Adds(_) => "it has a number or a name that none of them has",
            Self::LeavesOut(_) => "it left out a number that all of them have",
        }
    }
}

/// Returns what a language model wrote for a pattern, as it is kept: only where it has no number or name that none of the
/// memories has, and every number that all of them have.
pub fn worded(answer: &str, told: &[&Analysis]) -> Result<String, Unfit> {
    let line = one_line(answer.trim().trim_matches(['"', '`']));
    if line.is_empty() {
        return Err(Unfit::Empty);
    }
    if line.len() > LONGEST {
        return Err(Unfit::Long);
    }
    let written = Analysis::of(&line);
    let is_added = |word: &&&str| !told.iter().any(|one| one.has(word));
    let (numbers, names) = (written.numbers(), written.names());
    if let Some(added) = numbers.iter().chain(&names).find(is_added) {
        return Err(Unfit::Adds((*added).to_owned()));
    }
    let Some((first, others)) = told.split_first() else { return Ok(line) };
    let is_left_out = |number: &&str| others.iter().all(|one| one.has(number)) && !written.has(number);
    match first.numbers().into_iter().find(is_left_out) {
        Some(number) => Err(Unfit::LeavesOut(number.to_owned())),
        None => Ok(line),
    }
}

/// The text of a cluster, its centre first; `None` where too few of them fit into [`LONGEST`].
pub fn pattern(told: &[&Analysis]) -> Option<Pattern> {
    let (centre, others) = told.split_first()?;
    let mut content = one_line(centre.text());
    let mut members = vec![0];
    let mut said = vec![0];
    let mut lines: Vec<String> = Vec::new();
    for (at, text) in (1..).zip(others) {
        if !said.iter().any(|&by| told[by].contains(text)) {
            let line = one_line(text.text());
            // The heading's longest form is taken into account from the start.
            let all: usize = lines.iter().map(|line| line.len() + 3).sum();
            if content.len() + all + line.len() + 3 + ALSO.len() > LONGEST {
                continue;
            }
            lines.push(line);
            said.push(at);
        }
        members.push(at);
    }
    if members.len() < LEAST_MEMBERS {
        return None;
    }
    if !lines.is_empty() {
        content.push_str(ALSO);
        for line in &lines {
            content.push_str("\n- ");
            content.push_str(line);
        }
    }
    Some(Pattern { content, members, said })
}

/// Stands before the list of what others say.
const ALSO: &str = "\nAlso:";

/// A text as one line of a list.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text, its members, and those of them that it is made of.
    fn check(texts: &[&str], expected: Option<(&str, &[usize], &[usize])>) {
        let analysed: Vec<Analysis> = texts.iter().map(|text| Analysis::of(text)).collect();
        let told: Vec<&Analysis> = analysed.iter().collect();
        let expected = expected.map(|(content, members, said)| Pattern {
            content: content.to_owned(),
            members: members.to_vec(),
            said: said.to_vec(),
        });
        assert_eq!(pattern(&told), expected);
    }

    /// `LEAST_MEMBERS` 3.
    #[test]
    fn a_cluster_has_a_centre_and_two_others() {
        let all = |_: usize, _: usize| true;
        let found = |count, pairs: &[(u32, u32, f32)]| clusters(count, pairs, &all);
        assert_eq!(found(4, &[(0, 1, 0.95), (1, 2, 0.92), (0, 3, 0.9)]), [[0, 1, 3]]);
        assert_eq!(found(3, &[(0, 1, 0.95)]), Vec::<Vec<usize>>::new());
        // Two stars that share one item: who has more near ones has it.
        let pairs = [(0, 1, 0.9), (0, 2, 0.9), (2, 3, 0.9), (2, 4, 0.9), (2, 5, 0.9)];
        assert_eq!(found(6, &pairs), [[2, 0, 3, 4, 5]]);
        let not_four = |one: usize, two: usize| one != 4 && two != 4;
        assert_eq!(clusters(6, &pairs, &not_four), [[2, 0, 3, 5]]);
    }

    #[test]
    fn another_number_is_another_fact_and_another_day_the_same_again() {
        let check = |memory_type, one: &str, other: &str, expected: bool| {
            assert_eq!(
                joins(Some(memory_type), &Analysis::of(one), &Analysis::of(other)),
                expected,
                "{one} / {other}"
            );
        };
        let (monday, tuesday) =
            ("The nightly job failed on 2026-05-04", "The nightly job failed on 2026-05-05");
        check(MemoryType::Episode, monday, tuesday, true);
        check(MemoryType::Fact, monday, tuesday, false);
        check(MemoryType::Fact, "The API port is 8080", "The API's port is 8080", true);
        check(MemoryType::Fact, "The API port is 8080", "The API port is 9090", false);
    }

    #[test]
    fn a_pattern_says_all_that_its_members_say() {
        check(
            &[
                "The nightly job failed on 4 May",
                "the nightly job failed on 4 May.",
                "The nightly job failed\non 5 May",
            ],
            Some((
                "The nightly job failed on 4 May\nAlso:\n- The nightly job failed on 5 May",
                &[0, 1, 2],
                &[0, 2],
            )),
        );
        check(&["Tabs are four wide", "tabs are four wide"], None);
    }

    #[test]
    fn a_models_words_are_taken_where_they_say_what_the_memories_say() {
        let told = ["The nightly job failed on 4 May", "The nightly job failed on 5 May"].map(Analysis::of);
        let worded = |answer: &str| worded(answer, &told.iter().collect::<Vec<_>>());
        assert_eq!(
            worded(" \"The nightly job failed\non 4 May and 5 May.\"\n"),
            Ok("The nightly job failed on 4 May and 5 May.".to_owned())
        );
        let refused = |answer: &str| worded(answer).unwrap_err().why();
        assert_eq!(refused("` `"), "it wrote nothing");
        assert_eq!(refused(&"The nightly job failed. ".repeat(100)), "it wrote more than 2000 bytes");
        assert_eq!(
            refused("The nightly job failed on 6 May"),
            "it has a number or a name that none of them has"
        );
        assert_eq!(
            refused("The Nightly Job of Ida failed"),
            "it has a number or a name that none of them has"
        );
        let ports = ["The API port is 8080", "The API listens on 8080"].map(Analysis::of);
        let lost = super::worded("The API has a port", &ports.iter().collect::<Vec<_>>());
        assert_eq!(lost.unwrap_err().why(), "it left out a number that all of them have");
    }

    /// `LONGEST` 2,000.
    #[test]
    fn what_does_not_fit_is_no_member() {
        let long = |word: &str| format!("{word} {}", "failed again ".repeat(100)).trim().to_owned();
        let (one, two, three) = (long("alpha"), long("beta"), long("gamma"));
        check(&[&one, &two, &three], None);
        let got = {
            let texts = [one.as_str(), &two, "delta failed again", "epsilon failed again"];
            let analysed: Vec<Analysis> = texts.iter().map(|text| Analysis::of(text)).collect();
            pattern(&analysed.iter().collect::<Vec<_>>()).unwrap()
        };
        assert_eq!(got.members, [0, 2, 3]);
        assert!(got.content.len() <= LONGEST);
    }
}
