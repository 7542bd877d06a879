//! Measures by the cosine of two statements how often one updates, repeats or contradicts the other.
//! It reads the groups of `data/memory/statements`, in which every statement has a label.

use std::path::Path;

use bower_core::model::{Embedder, MiniLm};
use serde::Deserialize;

use crate::options::{Failed, Options, Verdict, packed};
use crate::table;

/// Cosines that part the rows of the table.
const FROM: [f32; 9] = [0.9, 0.8, 0.7, 0.6, 0.5, 0.47, 0.45, 0.4, 0.35];
/// Number of statements about anything among which a needless neighbour is looked for.
const STORE: usize = 201;

/// A group of statements about one thing.
#[derive(Deserialize)]
struct Group {
    s: String,
    same: Vec<String>,
    update: Vec<String>,
    rewrite: String,
    partial: Option<String>,
    twin: Vec<(String, String)>,
    deny: Vec<(String, String)>,
    more: String,
}

/// Cosines of the first statement of each group with those of one label.
#[derive(Default)]
struct Cosines([Vec<f32>; 5]);

/// Names of the labels, in the order of [`Cosines`].
const LABELS: [&str; 5] = ["update", "same", "contradiction", "different fact", "more detail"];

impl Group {
    /// Returns the other statements with the index of their label.
    fn labelled(&self) -> Vec<(usize, &str)> {
        let mut all: Vec<(usize, &str)> = Vec::new();
        all.extend(self.update.iter().map(|text| (0, text.as_str())));
        all.push((0, &self.rewrite));
        all.extend(self.partial.iter().map(|text| (0, text.as_str())));
        all.extend(self.same.iter().map(|text| (1, text.as_str())));
        all.extend(self.deny.iter().map(|(_, text)| (2, text.as_str())));
        all.extend(self.twin.iter().map(|(_, text)| (3, text.as_str())));
        all.push((4, &self.more));
        all
    }
}

pub fn run(options: &Options) -> Result<Verdict, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/memory/statements");
    let model = MiniLm::open(&packed(options)?)?;
    let (mut cosines, mut firsts) = (Cosines::default(), Vec::new());
    for group in read(&folder)? {
        let first = model.embed(&group.s)?;
        for (label, text) in group.labelled() {
            cosines.0[label].push(dot(&first, &model.embed(text)?));
        }
        firsts.push(first);
    }
    let nearest = nearest_other(&firsts);
    let rows: Vec<Vec<String>> = FROM
        .iter()
        .enumerate()
        .map(|(at, &from)| {
            let below = at.checked_sub(1).map_or(f32::INFINITY, |at| FROM[at]);
            let here = |all: &[f32]| all.iter().filter(|cosine| (from..below).contains(*cosine)).count();
            let counts = cosines.0.each_ref().map(|all| here(all));
            let all: usize = counts.iter().sum();
            let share = |hits: usize, of: usize| format!("{:.3}", hits as f64 / of.max(1) as f64);
            let above = |all: &[f32]| share(all.iter().filter(|cosine| **cosine >= from).count(), all.len());
            let mut row = vec![format!("{from:.2}"), all.to_string()];
            row.extend(counts.iter().map(|&hits| share(hits, all)));
            row.extend([above(&cosines.0[0]), above(&cosines.0[2]), above(&nearest)]);
            row
        })
        .collect();
    let mut heads = vec!["from cosine", "pairs"];
    heads.extend(LABELS);
    heads.extend(["updates found", "contradictions found", "needless"]);
    table::print(&heads, &rows);
    println!(
        "\n\"found\": of all with this label, at or above this cosine. \"needless\": of {STORE} statements about anything, told one \
         after another,\nthose with an earlier one at or above this cosine."
    );
    Ok(Verdict::Kept)
}

/// Returns for each statement the greatest cosine with an earlier one of the same [`STORE`] statements.
fn nearest_other(firsts: &[Vec<f32>]) -> Vec<f32> {
    // Neighbours in a file have one author and may be about one world, so a store takes every n-th.
    let stores = (firsts.len() / STORE).max(1);
    let mut nearest = Vec::with_capacity(firsts.len());
    for store in 0..stores {
        let told: Vec<&Vec<f32>> = firsts.iter().skip(store).step_by(stores).collect();
        for (at, one) in told.iter().enumerate() {
            nearest.push(told[..at].iter().map(|other| dot(one, other)).fold(-1.0, f32::max));
        }
    }
    nearest
}

fn dot(one: &[f32], two: &[f32]) -> f32 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

fn read(folder: &Path) -> Result<Vec<Group>, Failed> {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    let mut groups = Vec::new();
    for path in paths {
        for line in std::fs::read_to_string(&path)?.lines() {
            groups.push(serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_compared_with_earlier_ones_alone() {
        let firsts = vec![vec![1.0, 0.0], vec![0.6, 0.8], vec![0.0, 1.0]];
        assert_eq!(nearest_other(&firsts), [-1.0, 0.6, 0.8]);
    }

    #[test]
    fn every_group_is_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/memory/statements");
        let groups = read(&folder).unwrap();
        assert!(groups.len() > 1_000 && groups.iter().all(|group| group.labelled().len() >= 9));
    }
}
