//! Supplies passages with their model outputs, for stores of any size.
//! Passages are real as far as their outputs are cached, and beyond that real ones disturbed. Passage `at` is the same in every run
//! and every size.
//!
//! A disturbed passage has 70 % of the words of one real passage and, in the places of the others, those of its neighbour in
//! the same file; its vector is that of the first mixed with two neighbours' and with noise (cosine to the first about .93);
//! its token codes are the first's, some the neighbour's, 3 % of all bits flipped.

mod outputs;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use bower_core::config::Settings;
use bower_core::item::indexed_text;
use bower_core::model::{EmbeddedQuestion, EmbeddedText, Embedder, MiniLm};
use bower_core::parts::ingest::parse;

use crate::options::{Failed, Options, Verdict, packed};
use crate::passages::{self, Passage};
use crate::tokens::Dice;
use outputs::{Key, Outputs, key};

/// A name that makes a text Markdown.
const FILE: &str = "passage.md";
/// Share of words and codes that come from the neighbour, out of 256.
const BORROWED: u64 = 77;
/// A bit of a code is flipped where so many draws all say so: 1 of 32.
const FLIPS: usize = 5;
/// How much of a mixed vector is the neighbours' (each), and the length of the noise.
const MIXED: f32 = 0.2;
const NOISE: f32 = 0.35;

/// Passages, and what the model made of them.
pub struct Corpus {
    passages: Vec<Passage>,
    keys: Vec<Key>,
    outputs: Outputs,
}

/// Gives the passages of the largest size to the model, as far as there are real ones.
pub fn fill(options: &Options) -> Result<Verdict, Failed> {
    let model = MiniLm::open(&packed(options)?)?;
    let most = options.sizes.last().copied().unwrap_or(options.count);
    let (made, kept, seconds) = filled(options, &model, most)?;
    println!(
        "{made} texts given to the model in {seconds:.0} s; {kept} are kept in {}",
        options.cache.display()
    );
    Ok(Verdict::Kept)
}

fn filled(options: &Options, model: &MiniLm, most: usize) -> Result<(usize, usize, f64), Failed> {
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

/// What the engine gives to the model for a passage; `None` where it is not one chunk.
fn indexed(passage: &Passage) -> Option<String> {
    let parsed = parse(Path::new(FILE), passage.markdown().as_bytes(), &Settings::default()).ok()?;
    let [chunk] = &parsed.chunks[..] else { return None };
    Some(indexed_text(parsed.title.as_deref(), chunk.section.as_deref(), &chunk.content))
}

/// The passages of the files that are one chunk each, with what the model is given.
fn load(options: &Options, most: usize) -> Result<Vec<(Passage, String)>, Failed> {
    // A few are more than one chunk, or are there twice.
    let passages = passages::load(options, most + most / 10 + 1_000)?;
    let whole = passages.into_iter().filter_map(|passage| indexed(&passage).map(|text| (passage, text)));
    Ok(whole.take(most).collect())
}

impl Corpus {
    /// The passages whose outputs are cached, `most` at most.
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

    /// How many are real.
    pub fn real(&self) -> usize {
        self.passages.len()
    }

    /// Passage `at`: real below [`Corpus::real`], disturbed from there on.
    pub fn passage(&self, at: usize) -> Passage {
        let Some(real) = self.passages.get(at) else { return self.disturbed(at) };
        real.clone()
    }

    /// What the model made of passage `at`, or what stands for it.
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
            // The first word stays: what begins no heading and no list goes on doing so.
            if place > 0 && dice.next() & 255 < BORROWED { others[place % others.len()] } else { word }
        });
        Passage { title: base.title.clone(), text: words.collect::<Vec<_>>().join(" ") }
    }

    /// Questions: nine words that stand together in a real passage, different ones for each `salt`.
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

/// The model's stand-in while a store is filled: it gives what the model gave before, so that no model's time is measured.
/// A text that it does not know goes to the model and is counted.
#[derive(Clone)]
pub struct Recorded(Arc<Parts>);

struct Parts {
    model: MiniLm,
    corpus: Arc<Corpus>,
    /// The passages of the batch that is being added.
    batch: RwLock<HashMap<Key, usize>>,
    unknown: AtomicUsize,
}

impl Recorded {
    pub fn new(model: MiniLm, corpus: Arc<Corpus>) -> Self {
        Self(Arc::new(Parts { model, corpus, batch: RwLock::default(), unknown: AtomicUsize::new(0) }))
    }

    /// Says which passages come next.
    pub fn expect<'a>(&self, passages: impl Iterator<Item = (usize, &'a Passage)>) {
        let known = passages.filter_map(|(at, passage)| Some((key(&indexed(passage)?), at)));
        let batch = known.collect();
        *self.0.batch.write().unwrap_or_else(PoisonError::into_inner) = batch;
    }

    /// Texts that were given to the model.
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
