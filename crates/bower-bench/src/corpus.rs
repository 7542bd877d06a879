//! Supplies passages with their model outputs, for stores of any size.
//! Real passages are used as far as their outputs are cached. After that, passages are synthesized from real ones. Passage `at`
//! is the same in every run and for every size.
//!
//! A synthesized passage has 70 % of the words of one real passage; the others are those of its neighbour in the same file. Its
//! vector is that of the first, mixed with the vectors of two neighbours and with noise (cosine to the first about .93). Its
//! token codes are those of the first with some of the neighbour's; 3 % of all bits are flipped.

mod outputs;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use bower_core::config::Settings;
use bower_core::item::indexed_text;
use bower_core::model::{EmbeddedQuestion, EmbeddedText, Embedder, SentenceEncoder};
use bower_core::parts::ingest::parse;

use crate::options::{Failed, Options, Verdict, packed};
use crate::passages::{self, Passage};
use crate::tokens::Dice;
use outputs::{Key, Outputs, key};

/// File name that makes the parser read a text as Markdown.
const FILE: &str = "passage.md";
/// Share of words and codes that come from the neighbour, out of 256.
const BORROWED: u64 = 77;
/// Number of random words that are combined by AND: a bit of a code is flipped with probability 2^-5 (1 of 32).
const FLIPS: usize = 5;
/// Weight of each neighbour in a mixed vector, and the length of the noise.
const MIXED: f32 = 0.2;
const NOISE: f32 = 0.35;

/// Passages with their model outputs.
pub struct Corpus {
    passages: Vec<Passage>,
    keys: Vec<Key>,
    outputs: Outputs,
}

/// Computes the missing outputs for the largest size, as far as there are real passages.
pub fn fill(options: &Options) -> Result<Verdict, Failed> {
    let model = SentenceEncoder::open(&packed(options)?)?;
    let most = options.sizes.last().copied().unwrap_or(options.count);
    let (made, kept, seconds) = filled(options, &model, most)?;
    println!(
        "{made} texts given to the model in {seconds:.0} s; {kept} are kept in {}",
        options.cache.display()
    );
    Ok(Verdict::Kept)
}

fn filled(options: &Options, model: &SentenceEncoder, most: usize) -> Result<(usize, usize, f64), Failed> {
    let texts: Vec<String> = load(options, most)?.into_iter().map(|(_, text)| text).collect();
    let mut outputs = Outputs::open(&options.cache, model)?;
    let start = Instant::now();
    let made = outputs.fill(model, &texts, &|done, of| {
        let rate = done as f64 / start.elapsed().as_secs_f64();
        eprint!("\r{done} of {of} texts given to the model, {rate:.0} a second ");
    })?;
    if made > 0 {
        eprintln!();
    }
    Ok((made, outputs.len(), start.elapsed().as_secs_f64()))
}

/// Returns the text that the engine passes to the model for a passage; `None` if the passage is not exactly one chunk.
fn indexed(passage: &Passage) -> Option<String> {
    let parsed = parse(Path::new(FILE), passage.markdown().as_bytes(), &Settings::default()).ok()?;
    let [chunk] = &parsed.chunks[..] else { return None };
    Some(indexed_text(parsed.title.as_deref(), chunk.section.as_deref(), &chunk.content))
}

/// Loads the passages that are one chunk each, with the text that the model reads.
fn load(options: &Options, most: usize) -> Result<Vec<(Passage, String)>, Failed> {
    // Some passages have more than one chunk or occur twice, so more are loaded than are needed.
    let passages = passages::load(options, most + most / 10 + 1_000)?;
    let whole = passages.into_iter().filter_map(|passage| indexed(&passage).map(|text| (passage, text)));
    Ok(whole.take(most).collect())
}

impl Corpus {
    /// Opens the passages whose outputs are cached, `most` at most.
    pub fn open(options: &Options, model: &dyn Embedder, most: usize) -> Result<Self, Failed> {
        let outputs = Outputs::open(&options.cache, model)?;
        let keyed = load(options, most)?.into_iter().map(|(passage, text)| (passage, key(&text)));
        let (passages, keys): (Vec<_>, Vec<_>) = keyed.take_while(|(_, key)| outputs.has(key)).unzip();
        if passages.is_empty() {
            return Err(
                format!("nothing is cached in {}: run bower-bench fill", options.cache.display()).into()
            );
        }
        Ok(Self { passages, keys, outputs })
    }

    /// Returns the number of real passages.
    pub fn real(&self) -> usize {
        self.passages.len()
    }

    /// Returns passage `at`: a real one below [`Corpus::real`], a synthesized one from there on.
    pub fn passage(&self, at: usize) -> Passage {
        let Some(real) = self.passages.get(at) else { return self.disturbed(at) };
        real.clone()
    }

    /// Returns the model's output for passage `at`, or a synthesized one.
    pub fn output(&self, at: usize) -> EmbeddedText {
        if at < self.real() {
            return self.real_output(at);
        }
        let (base, near, mut dice) = self.parts(at);
        let (one, two) = (self.real_output(base), self.real_output(near));
        let three = self.real_output((base + self.real() - 1) % self.real());
        let step = NOISE / (one.vector.len() as f32).sqrt();
        let mut vector: Vec<f32> = Vec::with_capacity(one.vector.len());
        for ((first, second), third) in one.vector.iter().zip(&two.vector).zip(&three.vector) {
            vector.push(first + MIXED * (second + third) + step * dice.normal());
        }
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        for value in &mut vector {
            *value /= length;
        }
        let others = two.codes.unwrap_or_default();
        let mut codes = one.codes.unwrap_or_default();
        for (place, code) in codes.iter_mut().enumerate() {
            if dice.next() & 255 < BORROWED && !others.is_empty() {
                *code = others[place % others.len()];
            }
            *code ^= (0..FLIPS).fold(u64::MAX, |bits, _| bits & dice.next());
        }
        EmbeddedText { vector, codes: Some(codes) }
    }

    fn real_output(&self, at: usize) -> EmbeddedText {
        self.outputs.get(&self.keys[at]).expect("passages without output were left out")
    }

    fn parts(&self, at: usize) -> (usize, usize, Dice) {
        let mut dice = Dice(at as u64);
        dice.next();
        let base = at % self.real();
        (base, (base + 1) % self.real(), dice)
    }

    fn disturbed(&self, at: usize) -> Passage {
        let (base, near, mut dice) = self.parts(at);
        let (base, near) = (&self.passages[base], &self.passages[near]);
        let others: Vec<&str> = near.text.split(' ').collect();
        let words = base.text.split(' ').enumerate().map(|(place, word)| {
            // The first word is kept: it begins no heading and no list, and another one might.
            if place > 0 && dice.next() & 255 < BORROWED { others[place % others.len()] } else { word }
        });
        Passage { title: base.title.clone(), text: words.collect::<Vec<_>>().join(" ") }
    }

    /// Returns questions of nine consecutive words of a real passage; each `salt` gives different ones.
    pub fn questions(&self, count: usize, salt: u64) -> Vec<String> {
        let mut dice = Dice(salt.wrapping_mul(0x9e37_79b9).wrapping_add(17));
        (0..count)
            .map(|_| {
                let passage = &self.passages[dice.next() as usize % self.real()];
                let words: Vec<&str> = passage.text.split(' ').collect();
                let start = dice.next() as usize % words.len().saturating_sub(8).max(1);
                words.iter().skip(start).take(9).copied().collect::<Vec<_>>().join(" ")
            })
            .collect()
    }
}

/// Replaces the model while a store is filled: it returns cached outputs, so that no model time is measured. A text without a
/// cached output is passed to the model and counted.
#[derive(Clone)]
pub struct Recorded(Arc<Parts>);

struct Parts {
    model: SentenceEncoder,
    corpus: Arc<Corpus>,
    /// Keys of the passages in the batch that is being added.
    batch: RwLock<HashMap<Key, usize>>,
    unknown: AtomicUsize,
}

impl Recorded {
    pub fn new(model: SentenceEncoder, corpus: Arc<Corpus>) -> Self {
        Self(Arc::new(Parts { model, corpus, batch: RwLock::default(), unknown: AtomicUsize::new(0) }))
    }

    /// Sets the passages of the next batch.
    pub fn expect<'a>(&self, passages: impl Iterator<Item = (usize, &'a Passage)>) {
        let known = passages.filter_map(|(at, passage)| Some((key(&indexed(passage)?), at)));
        let batch = known.collect();
        *self.0.batch.write().unwrap_or_else(PoisonError::into_inner) = batch;
    }

    /// Returns the number of texts that were passed to the model.
    pub fn unknown(&self) -> usize {
        self.0.unknown.load(Ordering::Relaxed)
    }
}

impl Embedder for Recorded {
    fn model(&self) -> &str {
        self.0.model.model()
    }

    fn dimension(&self) -> usize {
        self.0.model.dimension()
    }

    fn embed(&self, text: &str) -> bower_core::Result<Vec<f32>> {
        self.0.model.embed(text)
    }

    fn tokens(&self) -> Option<&str> {
        self.0.model.tokens()
    }

    fn embed_text(&self, text: &str) -> bower_core::Result<EmbeddedText> {
        let place = self.0.batch.read().unwrap_or_else(PoisonError::into_inner).get(&key(text)).copied();
        if let Some(at) = place {
            return Ok(self.0.corpus.output(at));
        }
        self.0.unknown.fetch_add(1, Ordering::Relaxed);
        self.0.model.embed_text(text)
    }

    fn embed_question(&self, text: &str) -> bower_core::Result<EmbeddedQuestion> {
        self.0.model.embed_question(text)
    }

    fn count_pieces(&self, text: &str) -> bower_core::Result<usize> {
        self.0.model.count_pieces(text)
    }
}
