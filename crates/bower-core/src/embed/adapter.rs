//! The adapter that lets MiniLM classify statements: what one is to another, and what it is worth.
//! It adds terms of low rank to the products of the first layers (`LoRA`), and ends in linear classifiers over token states.
//! `tools/fit_statements.py` fits it to `crates/bower-bench/data/memory`; [`pack_adapter`] packs what the script writes.

use std::ops::Range;
#[cfg(feature = "parts")]
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::bert::{
    AdapterTerms, Encoder, PRODUCTS, Product, RANK, SECTIONS_PRODUCT, Scratch, Second, TERMS, Term, array,
};
#[cfg(feature = "parts")]
use super::layout;
use super::layout::{PackedLayout, damaged};
use super::pack::SHAPE;
#[cfg(feature = "parts")]
use super::pack::{read, spread};
#[cfg(feature = "parts")]
use super::packed::place;
#[cfg(feature = "parts")]
use super::weights::{ProductBuilder, Tensors, floats, quantized};
use crate::error::{Error, Result};

/// The arithmetic of the packed adapter. Raise the last number whenever the same input would get other probabilities.
const ADAPTER_ARITHMETIC: &str = "statements.i8-1";
/// The packed adapter: 1.3 MB.
static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("statements.adapter"));
/// Name of the adapter in errors.
const NAME: &str = "statements";

/// Most tokens of each text of a pair, as it was fitted. A longer text loses its end.
const PAIR_PIECES: usize = 62;
/// Most tokens of a single text. A longer one loses its middle.
const TEXT_PIECES: usize = 126;
/// Most tokens of a piece; of what stands before it, of which so many come from the start; and of what follows it.
const PIECE_PIECES: usize = 64;
const BEFORE_PIECES: usize = 50;
const BEFORE_START_PIECES: usize = 8;
const AFTER_PIECES: usize = 14;
/// Parts of the classifiers' input: `[CLS]`, the mean of both texts, their difference and their product.
const PARTS: usize = 5;
const FEATURES: usize = PARTS * SHAPE.hidden;

/// Bytes with an alignment that allows reading numbers in place.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

/// The input of a classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statements<'a> {
    /// A single text.
    Text(&'a str),
    /// Two texts, in the order in which they were told.
    Pair {
        /// The text that was told first.
        earlier: &'a str,
        /// The text that was told after it.
        later: &'a str,
    },
    /// A sentence or line of a turn, with what stands around it.
    Piece {
        /// Who speaks: `user`, `assistant` or another word.
        role: &'a str,
        /// The turn before it.
        before: &'a str,
        /// The sentence or line.
        piece: &'a str,
        /// The turn after it.
        after: &'a str,
    },
}

/// A classifier. Its classes are in the order of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// What the later text of a pair is to the earlier: the same, more, an update, a contradiction, or another matter.
    Relation,
    /// What a piece is: worth keeping; the same with the sentence before it; not worth keeping; somebody else's words;
    /// somebody else's orders.
    Piece,
    /// Whether a text is junk or a memory.
    Admission,
    /// The type of a text: fact, preference, decision, convention, procedure, gotcha, plan, event, person or project.
    Kind,
    /// Whether a text holds until further notice, or ends by itself.
    Durability,
    /// Whether both texts of a pair that differ in one number hold, or the number is a value and the later text replaces it.
    Number,
}

/// The classes of [`Classifier::Kind`].
pub const KINDS: [&str; 10] = [
    "fact",
    "preference",
    "decision",
    "convention",
    "procedure",
    "gotcha",
    "plan",
    "event",
    "person",
    "project",
];

impl Classifier {
    /// Every value, in the order of the packed weights.
    const ALL: [Self; 6] =
        [Self::Relation, Self::Piece, Self::Admission, Self::Kind, Self::Durability, Self::Number];

    /// Returns the name in the script's tensors.
    #[cfg(feature = "parts")]
    const fn tensor(self) -> &'static str {
        match self {
            Self::Relation => "pair",
            Self::Piece => "piece",
            Self::Admission => "adm",
            Self::Kind => "type",
            Self::Durability => "dated",
            Self::Number => "number",
        }
    }

    /// Returns the number of classes.
    const fn classes(self) -> usize {
        match self {
            Self::Relation | Self::Piece => 5,
            Self::Admission | Self::Durability | Self::Number => 2,
            Self::Kind => KINDS.len(),
        }
    }

    /// Returns the place of the classes among those of all classifiers.
    fn range(self) -> Range<usize> {
        let before = Self::ALL.iter().take_while(|one| **one != self);
        let start = before.map(|one| one.classes()).sum();
        start..start + self.classes()
    }
}

/// Number of classes of all classifiers.
const CLASSES: usize = 5 + 5 + 2 + KINDS.len() + 2 + 2;

/// The last section, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct About {
    /// Number of adapted layers.
    layers: usize,
    /// SHA-256 of the tensors that were packed.
    tensors: String,
    /// SHA-256 of the data that they were fitted to, as `tools/fit_statements.py` computes it.
    data: String,
}

/// The open adapter.
pub(super) struct Adapter {
    terms: AdapterTerms<'static>,
    shift: &'static [f32],
    weights: &'static [f32],
    bias: &'static [f32],
}

/// Returns the adapter of this program.
///
/// Fails with [`Error::Model`] if the program's copy is damaged.
pub(super) fn adapter() -> Result<&'static Adapter> {
    static ADAPTER: LazyLock<std::result::Result<Adapter, String>> =
        LazyLock::new(|| Adapter::read(&FILE.0).map_err(|error| error.to_string()));
    ADAPTER.as_ref().map_err(|reason| Error::Model { model: NAME.into(), reason: reason.clone() })
}

impl Adapter {
    fn read(file: &'static [u8]) -> Result<Self> {
        let layout = PackedLayout::read(file)?;
        if layout.name != ADAPTER_ARITHMETIC {
            return Err(damaged(format!("holds {}, not {ADAPTER_ARITHMETIC}", layout.name)));
        }
        let last = layout.count().checked_sub(1).ok_or_else(|| damaged("has no sections"))?;
        let about: About = serde_json::from_slice(layout.section(file, last)?)
            .map_err(|cause| damaged(format!("does not say what it is: {cause}")))?;
        let product = |index: usize, outputs, inputs| {
            Product::read(file, &layout, index * SECTIONS_PRODUCT, outputs, inputs)
        };
        let mut layers = Vec::with_capacity(about.layers);
        for layer in 0..about.layers {
            let term = |which: usize| {
                let (_, outputs, inputs) = SIZES[which];
                let at = (layer * TERMS + which) * 2;
                Ok(Term { narrow: product(at, RANK, inputs)?, widen: product(at + 1, outputs, RANK)? })
            };
            layers.push([term(0)?, term(1)?, term(2)?]);
        }
        let at = about.layers * TERMS * 2 * SECTIONS_PRODUCT;
        Ok(Self {
            terms: AdapterTerms { layers },
            shift: array(file, &layout, at, SHAPE.hidden)?,
            weights: array(file, &layout, at + 1, CLASSES * FEATURES)?,
            bias: array(file, &layout, at + 2, CLASSES)?,
        })
    }

    /// Writes an input's tokens to `scratch.ids`; returns the place of the second text, its `[SEP]` included.
    pub(super) fn tokens(
        encoder: &Encoder<'_>,
        input: &Statements<'_>,
        scratch: &mut Scratch,
    ) -> Range<usize> {
        let pieces = |text: &str| {
            let mut pieces = Vec::new();
            // The tokenizer drops the ends of lines, which tell a list or a log from a sentence.
            encoder.words.encode(&text.replace('\n', " ¶ "), &mut pieces);
            pieces
        };
        let (first, second, after) = match input {
            Statements::Text(text) => {
                (Vec::new(), middle_out(pieces(text), TEXT_PIECES, TEXT_PIECES / 2), None)
            }
            Statements::Pair { earlier, later } => {
                let cut = |text| middle_out(pieces(text), PAIR_PIECES, PAIR_PIECES);
                (cut(earlier), cut(later), None)
            }
            Statements::Piece { role, before, piece, after } => {
                let before = pieces(&format!("{role} : {before}"));
                let after = middle_out(pieces(after), AFTER_PIECES, AFTER_PIECES);
                (
                    middle_out(before, BEFORE_PIECES, BEFORE_START_PIECES),
                    middle_out(pieces(piece), PIECE_PIECES, PIECE_PIECES),
                    Some(after),
                )
            }
        };
        let ids = &mut scratch.ids;
        ids.clear();
        ids.push(encoder.words.first());
        if !matches!(input, Statements::Text(_)) {
            ids.extend(first);
            ids.push(encoder.words.last());
        }
        let start = ids.len();
        ids.extend(second);
        ids.push(encoder.words.last());
        let end = ids.len();
        ids.extend(after.into_iter().flatten());
        start..end
    }

    /// Reads `scratch.ids` and returns each classifier's probabilities.
    pub(super) fn classify(
        &self,
        isa: bower_kernels::Isa,
        encoder: &Encoder<'_>,
        second: Range<usize>,
        classifiers: &[Classifier],
        scratch: &mut Scratch,
    ) -> Vec<Vec<f32>> {
        let shifted = Second { tokens: second.clone(), shift: self.shift };
        encoder.forward_adapted(isa, &self.terms, shifted, scratch);
        let features = features(&scratch.states, second);
        classifiers.iter().map(|classifier| self.probabilities(*classifier, &features)).collect()
    }

    fn probabilities(&self, classifier: Classifier, features: &[f32]) -> Vec<f32> {
        let logit = |class: usize| {
            let weights = &self.weights[class * FEATURES..][..FEATURES];
            let products = weights.iter().zip(features).map(|(weight, x)| f64::from(*weight) * f64::from(*x));
            products.sum::<f64>() + f64::from(self.bias[class])
        };
        let logits: Vec<f64> = classifier.range().map(logit).collect();
        let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
        let total: f64 = powers.iter().sum();
        powers.iter().map(|power| (power / total) as f32).collect()
    }
}

/// For each term: the adapted product of a layer, its outputs and its inputs.
const SIZES: [(usize, usize, usize); TERMS] = [
    (0, 3 * SHAPE.hidden, SHAPE.hidden),
    (1, SHAPE.hidden, SHAPE.hidden),
    (PRODUCTS - 1, SHAPE.hidden, SHAPE.inner),
];

/// Returns at most `most` pieces: the first `start` of them, and the last ones.
fn middle_out(mut pieces: Vec<u32>, most: usize, start: usize) -> Vec<u32> {
    if pieces.len() > most {
        let end = pieces.len() - (most - start);
        pieces.drain(start..end);
    }
    pieces
}

/// Returns the classifiers' input: the state of `[CLS]`; the mean of the tokens outside the second text, and of those in it;
/// the absolute difference and the product of both means.
fn features(states: &[f32], second: Range<usize>) -> Vec<f32> {
    let hidden = SHAPE.hidden;
    let mut means = [vec![0.0_f64; hidden], vec![0.0_f64; hidden]];
    let mut counts = [0_u32; 2];
    for (at, state) in states.chunks_exact(hidden).enumerate().skip(1) {
        let which = usize::from(second.contains(&at));
        counts[which] += 1;
        means[which].iter_mut().zip(state).for_each(|(sum, x)| *sum += f64::from(*x));
    }
    for (mean, count) in means.iter_mut().zip(counts) {
        let count = f64::from(count.max(1));
        for sum in mean.iter_mut() {
            *sum /= count;
        }
    }
    let [first, second] = &means;
    let both = || first.iter().zip(second);
    let mut features = states[..hidden].to_vec();
    features.extend(first.iter().chain(second).map(|x| *x as f32));
    features.extend(both().map(|(one, two)| (one - two).abs() as f32));
    features.extend(both().map(|(one, two)| (one * two) as f32));
    features
}

/// Reads the tensors that `tools/fit_statements.py` wrote, and writes the packed adapter. Queries are divided by the root of
/// a head's size, as the packed encoder has them.
///
/// Fails with [`Error::Model`] if a tensor is missing or has another shape, and with [`Error::Io`] on the disk.
#[cfg(feature = "parts")]
pub fn pack_adapter(tensors: &Path, packed: &Path) -> Result<()> {
    let (bytes, sum) = read(tensors)?;
    let described = safetensors::SafeTensors::read_metadata(&bytes).ok().map(|(_, described)| described);
    let data = described.and_then(|described| described.metadata().as_ref()?.get("data").cloned());
    let tensors = Tensors::open(NAME, &bytes)?;
    let layers = (0..SHAPE.layers).take_while(|layer| tensors.has(&format!("{layer}.qkv.A"))).count();
    let root = ((SHAPE.hidden / SHAPE.heads) as f32).sqrt();
    let mut sections = Vec::new();
    for layer in 0..layers {
        for (name, (index, outputs, inputs)) in ["qkv", "out", "down"].iter().zip(SIZES) {
            let weights = tensors.get(&format!("{layer}.{name}.A"), &[RANK, inputs])?;
            let narrow = ProductBuilder { weights, bias: vec![0.0; RANK] };
            sections.extend(quantized(&narrow, &spread(layer, index)));
            let mut weights = tensors.get(&format!("{layer}.{name}.B"), &[outputs, RANK])?;
            if index == 0 {
                weights[..SHAPE.hidden * RANK].iter_mut().for_each(|x| *x /= root);
            }
            sections.extend(quantized(&ProductBuilder { weights, bias: vec![0.0; outputs] }, &[]));
        }
    }
    sections.push(floats(&tensors.get("shift", &[SHAPE.hidden])?));
    let (mut weights, mut bias) = (Vec::new(), Vec::new());
    for classifier in Classifier::ALL {
        let product = tensors.product(classifier.tensor(), classifier.classes(), FEATURES)?;
        weights.extend(product.weights);
        bias.extend(product.bias);
    }
    sections.extend([floats(&weights), floats(&bias)]);
    let about = About { layers, tensors: sum, data: data.unwrap_or_default() };
    let about = serde_json::to_vec(&about)
        .map_err(|cause| Error::Model { model: NAME.into(), reason: cause.to_string() })?;
    sections.push(about);
    let bytes = layout::write(ADAPTER_ARITHMETIC, &sections);
    place(packed, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_start_and_its_end() {
        let pieces: Vec<u32> = (0..10).collect();
        assert_eq!(middle_out(pieces.clone(), 10, 5), pieces);
        assert_eq!(middle_out(pieces.clone(), 4, 2), [0, 1, 8, 9]);
        assert_eq!(middle_out(pieces.clone(), 4, 4), [0, 1, 2, 3]);
        assert_eq!(middle_out(pieces, 4, 1), [0, 7, 8, 9]);
    }

    #[test]
    fn features_are_the_first_state_two_means_their_difference_and_their_product() {
        let hidden = SHAPE.hidden;
        // Four tokens: [CLS], one of the first text, two of the second; only the first number of each differs from 0.
        let mut states = vec![0.0; 4 * hidden];
        for (at, x) in [5.0, 2.0, 1.0, 4.0].iter().enumerate() {
            states[at * hidden] = *x;
        }
        let features = features(&states, 2..4);
        let firsts: Vec<f32> = features.chunks_exact(hidden).map(|part| part[0]).collect();
        assert_eq!(firsts, [5.0, 2.0, 2.5, 0.5, 5.0]);
        assert_eq!(features.len(), FEATURES);
    }

    #[test]
    fn the_classes_of_all_classifiers_follow_each_other() {
        let ranges: Vec<Range<usize>> = Classifier::ALL.iter().map(|one| one.range()).collect();
        assert_eq!(ranges, [0..5, 5..10, 10..12, 12..22, 22..24, 24..26]);
        assert_eq!(CLASSES, 26);
    }
}
