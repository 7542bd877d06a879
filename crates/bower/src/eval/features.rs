//! Writes the data that `tools/calibrate.py` fits probabilities to.
//! It has one line per hit, of each question as it is and without its judged documents. That program defines the field names.

use serde::Serialize;

use super::calibration::{Asked, Told};
use super::set::Set;

#[derive(Serialize)]
struct Line<'a> {
    set: &'a str,
    question: &'a str,
    removed: bool,
    rank: usize,
    place: usize,
    standing: f32,
    share: f32,
    coverage: f32,
    closeness: Option<f32>,
    relevant: bool,
}

/// Returns JSON Lines of all hits, in the set's order; `name` is the name of the set.
pub fn lines(name: &str, set: &Set, asked: &[Asked]) -> String {
    let mut text = String::new();
    for one in asked {
        let question = set.queries[one.query].id.as_str();
        let mut put = |told: &Told, removed: bool| {
            for hit in &told.hits {
                let line = Line {
                    set: name,
                    question,
                    removed,
                    rank: hit.rank,
                    place: hit.place,
                    standing: hit.standing,
                    share: hit.share,
                    coverage: hit.coverage,
                    closeness: hit.closeness,
                    relevant: hit.relevant && !removed,
                };
                text.push_str(&serde_json::to_string(&line).expect("text and numbers are JSON"));
                text.push('\n');
            }
        };
        put(&one.whole, false);
        if let Some(removed) = &one.removed {
            put(removed, true);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::calibration::Hit;
    use crate::eval::set::Query;
    use std::collections::BTreeSet;

    #[test]
    fn a_line_is_what_the_fit_reads() {
        let query = Query {
            id: "q7".into(),
            text: String::new(),
            group: None,
            exclude: BTreeSet::new(),
            category: None,
        };
        let set = Set { queries: vec![query], ..Set::default() };
        let hit = Hit {
            document: "a".into(),
            rank: 1,
            place: 2,
            probability: 0.5,
            standing: -0.5,
            share: 0.25,
            coverage: 0.75,
            closeness: None,
            relevant: true,
            graded: true,
        };
        let told = Told { hits: vec![hit], answerable: 0.5 };
        let asked = Asked { query: 0, whole: told.clone(), removed: Some(told) };
        assert_eq!(
            lines("notes", &set, &[asked]),
            "{\"set\":\"notes\",\"question\":\"q7\",\"removed\":false,\"rank\":1,\"place\":2,\"standing\":-0.5,\"share\":0.25,\
             \"coverage\":0.75,\"closeness\":null,\"relevant\":true}\n\
             {\"set\":\"notes\",\"question\":\"q7\",\"removed\":true,\"rank\":1,\"place\":2,\"standing\":-0.5,\"share\":0.25,\
             \"coverage\":0.75,\"closeness\":null,\"relevant\":false}\n"
        );
    }
}
