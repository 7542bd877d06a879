//! Asks the local model what a text is: worth keeping or junk, of which type, and how long it is likely to hold.

use crate::embed::{Classifier, KINDS, Statements};
use crate::engine::Engine;
use crate::error::Result;
use crate::item::{Durability, Gate, MemoryType};
use crate::memory::gate;
use crate::memory::judge::{self, Judged, judge_text};

/// From this likelihood on that a text ends by itself, it counts as dated. By authors that the model was not fitted to, 57 of 68
/// such texts pass, and 33 of 876 others (`tools/fit_statements.py` writes them to OUT.left-out.jsonl).
const DATED: f32 = 0.3;

/// What the model says of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextClass {
    /// The likelihood that it is worth keeping, 0..1; `None` without a model that can tell.
    worth: Option<f32>,
    /// The likeliest type; a fact without a model.
    memory_type: MemoryType,
    /// How long it is likely to hold; lasting without a model.
    pub(crate) durability: Durability,
}

impl TextClass {
    /// A text of which nothing is known.
    pub(crate) const UNKNOWN: Self =
        Self { worth: None, memory_type: MemoryType::Fact, durability: Durability::Lasting };

    /// Asks the model.
    pub(crate) fn of(engine: &Engine, content: &str) -> Result<Self> {
        let classifiers = [Classifier::Admission, Classifier::Kind, Classifier::Durability];
        let asked = engine.model.classify(&Statements::Text(content), &classifiers)?;
        let Some([worth, kind, dated]) = asked.and_then(|found| <[Vec<f32>; 3]>::try_from(found).ok()) else {
            return Ok(Self::UNKNOWN);
        };
        Ok(Self::read(&worth, &kind, &dated))
    }

    fn read(worth: &[f32], kind: &[f32], dated: &[f32]) -> Self {
        let worth = worth.get(1).copied();
        let likeliest = kind.iter().enumerate().max_by(|one, two| one.1.total_cmp(two.1));
        // What the strict gate would refuse holds for a moment only, if it is kept all the same.
        let durability = if is_junk(worth, Gate::Strict) {
            Durability::Passing
        } else if dated.get(1).is_some_and(|dated| *dated >= DATED) {
            Durability::Dated
        } else {
            Durability::Lasting
        };
        Self { worth, memory_type: likeliest.map_or(MemoryType::Fact, |(at, _)| type_of(at)), durability }
    }

    /// Whether the text is junk for a gate.
    pub(crate) fn is_junk(&self, gate: Gate) -> bool {
        is_junk(self.worth, gate)
    }

    /// Judges the text; `told` is its type, if somebody named one.
    pub(crate) fn judge(&self, content: &str, told: Option<MemoryType>, confidence: f32) -> Judged {
        let memory_type = told.unwrap_or(self.memory_type);
        judge_text(content, memory_type, self.durability, confidence, &judge::Constants::default())
    }
}

/// Whether a text with this likelihood of being worth keeping is junk for a gate.
fn is_junk(worth: Option<f32>, gate: Gate) -> bool {
    worth.is_some_and(|worth| gate::is_junk(worth, gate, &gate::Constants::default()))
}

/// Returns the type of memory for one of [`KINDS`]. What a text says of a person or a project is a fact.
fn type_of(kind: usize) -> MemoryType {
    match KINDS.get(kind).copied() {
        Some("preference") => MemoryType::Preference,
        Some("decision") => MemoryType::Decision,
        Some("convention") => MemoryType::Convention,
        Some("procedure") => MemoryType::Procedure,
        Some("gotcha") => MemoryType::Gotcha,
        Some("plan") => MemoryType::Context,
        Some("event") => MemoryType::Episode,
        _ => MemoryType::Fact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_type_is_taken_and_what_is_hardly_worth_keeping_passes() {
        let mut kind = [0.05; 10];
        kind[5] = 0.55;
        let class = TextClass::read(&[0.1, 0.9], &kind, &[0.8, 0.2]);
        assert_eq!((class.memory_type, class.durability), (MemoryType::Gotcha, Durability::Lasting));
        assert!(!class.is_junk(Gate::Strict));
        assert_eq!(TextClass::read(&[0.1, 0.9], &kind, &[0.4, 0.6]).durability, Durability::Dated);
        let class = TextClass::read(&[0.7, 0.3], &kind, &[0.4, 0.6]);
        assert_eq!(class.durability, Durability::Passing);
        assert!(class.is_junk(Gate::Strict) && !class.is_junk(Gate::Normal) && !class.is_junk(Gate::Off));
        assert!(!TextClass::UNKNOWN.is_junk(Gate::Strict));
        let types: Vec<MemoryType> = (0..10).map(type_of).collect();
        assert_eq!(
            types[6..],
            [MemoryType::Context, MemoryType::Episode, MemoryType::Fact, MemoryType::Fact]
        );
    }
}
