//! Runs a simulated agent's stream through an engine, and records the engine's replies.
//! It writes, asks, writes back what it was told, and opens the store anew each morning. It judges nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bower_core::engine::Engine;
use bower_core::evidence;
use bower_core::item::{CurateOutcome, Visibility};
use bower_core::request::{Answer, CurateRequest, ForgetRequest, Forgetting, Other, QueryRequest};
use jiff::Timestamp;

use super::judge;
use super::lived::{HITS, Lived, Spent, Told};
use super::stream::{Kind, Step, Stream, Write};
use super::surface::{self, Echo};
use super::words::Draw;
use super::world::Claim;
use crate::gauge::{self, Times};
use crate::options::Failed;

/// Opens the store at a time.
pub type Open<'a> = dyn Fn(Timestamp) -> Result<Engine, Failed> + 'a;

/// The room for what is written back as a block.
const BLOCK_TOKENS: usize = 256;
/// Writes between two times that the agent has nothing to do.
const WRITES_A_PAUSE: usize = 20;
/// Questions at the end of a day, for the curve.
const A_DAY: usize = 60;

/// Who decides what becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// The engine.
    Engine,
    /// The truth: what may not be kept is not told, nor what is there already, and what is no longer so is forgotten. What is then
    /// not found, finding alone has missed.
    Truth,
}

/// Lives the stream. `model_ns` counts what the model took, where there is one.
pub fn live(stream: &Stream, open: &Open<'_>, model_ns: &AtomicU64, keeper: Keeper) -> Result<Lived, Failed> {
    let mut engine = open(stream.start)?;
    let mut told: Vec<Told> = Vec::new();
    let mut spent = Spent::default();
    let mut curve = Vec::new();
    // What the texts say that an answer may hold.
    let mut said: HashMap<&str, &[Claim]> = HashMap::new();
    let mut held: HashMap<usize, (Answer, String)> = HashMap::new();
    let day_of = |at: Timestamp| (at.as_second() - stream.start.as_second()) / 86_400;
    let (mut day, mut end) = (0, stream.start);
    for step in &stream.steps {
        end = step.at();
        if day_of(end) != day {
            engine.maintain(end)?;
            curve.push(judge::point(stream, &told, &engine, end, A_DAY)?);
            day = day_of(end);
            drop(engine);
            engine = open(end)?;
        }
        match step {
            Step::Ask { at, question, hold } => {
                let request = QueryRequest {
                    text: question.clone(),
                    limit: HITS,
                    budget_tokens: hold.map(|_| BLOCK_TOKENS),
                    ..QueryRequest::default()
                };
                let answer = engine.query(&Visibility::everything(), &request, *at)?;
                if let Some(hold) = hold {
                    let block = answer.evidence.as_ref().map(|found| evidence::block(&found.pieces));
                    held.insert(*hold, (answer, String::from(block.unwrap_or_default())));
                }
            }
            Step::EchoBack { at, hold, how, seed } => {
                let Some((answer, block)) = held.remove(hold) else { continue };
                let texts: Vec<String> = answer.hits.iter().map(|hit| hit.memory.content.clone()).collect();
                let Some(text) = surface::echo(&mut Draw::new(*seed), *how, &texts, &block) else { continue };
                // A part of a text may have lost what the text says.
                let whole = match how {
                    Echo::Trimmed => 0,
                    Echo::Verbatim | Echo::Framed | Echo::Retyped => 1,
                    Echo::Joined | Echo::Block => texts.len(),
                };
                let mut claims: Vec<Claim> = texts
                    .iter()
                    .take(whole)
                    .filter_map(|text| said.get(text.trim()))
                    .copied()
                    .flatten()
                    .copied()
                    .collect();
                claims.sort_unstable();
                claims.dedup();
                let write = Write { at: *at, text, kind: Kind::Echo(*how), claims, secret: None };
                if keeper == Keeper::Truth {
                    continue;
                }
                told.push(tell(&engine, &write, &mut spent, model_ns)?);
            }
            Step::Write(write) => {
                said.entry(write.text.trim()).or_insert(&write.claims);
                if keeper == Keeper::Truth {
                    if !write.kind.may_be_kept() || known(stream, &write.claims, &told) {
                        continue;
                    }
                    forget_lapsed(stream, &engine, &mut told, write.at)?;
                }
                told.push(tell(&engine, write, &mut spent, model_ns)?);
            }
        }
        if told.len().is_multiple_of(WRITES_A_PAUSE) {
            engine.maintain(end)?;
        }
    }
    engine.maintain(end)?;
    Ok(Lived { told, spent, curve, engine, end })
}

/// Whether everything is said by somebody already, of the name that things have in the end.
fn known(stream: &Stream, claims: &[Claim], told: &[Told]) -> bool {
    let is_said = |claim: &Claim| {
        let fact = &stream.world.facts[claim.fact];
        let name = if fact.entity.is_some() { fact.field("s") } else { "" };
        told.iter().any(|told| told.claims.contains(claim) && told.text.contains(name))
    };
    !claims.is_empty() && claims.iter().all(is_said)
}

/// Forgets who says something that is no longer so.
fn forget_lapsed(
    stream: &Stream,
    engine: &Engine,
    told: &mut Vec<Told>,
    at: Timestamp,
) -> Result<(), Failed> {
    let holds = |told: &Told| told.claims.iter().all(|claim| stream.world.holds(*claim, at));
    let lapsed: Vec<String> = told.iter().filter(|told| !holds(told)).map(|told| told.id.clone()).collect();
    if !lapsed.is_empty() {
        engine.forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(lapsed)), at)?;
        told.retain(holds);
    }
    Ok(())
}

fn tell(engine: &Engine, write: &Write, spent: &mut Spent, model_ns: &AtomicU64) -> Result<Told, Failed> {
    let before = model_ns.load(Ordering::Relaxed);
    let request = CurateRequest::new(write.text.as_str());
    let (curated, wall_ms, cpu_ms) =
        gauge::timed(|| engine.curate(&Visibility::everything(), &request, write.at));
    let model_ms = (model_ns.load(Ordering::Relaxed) - before) as f64 / 1e6;
    let curated = curated?;
    let outcome = curated.outcome.word().to_owned();
    // The one that is there may stand, and the new one be its history.
    let is_replaced =
        |other: &Other| curated.is_update && curated.outcome != CurateOutcome::Confirm && !other.stands;
    let replaces = curated.other.as_ref().filter(|other| is_replaced(other)).map(|other| other.id.clone());
    let (whole, bare) = spent.0.entry(outcome.clone()).or_insert_with(|| (Times::new(), Times::new()));
    whole.add(wall_ms, cpu_ms);
    bare.add((wall_ms - model_ms).max(0.0), (cpu_ms - model_ms).max(0.0));
    Ok(Told {
        at: write.at,
        text: write.text.clone(),
        kind: write.kind,
        claims: write.claims.clone(),
        secret: write.secret.clone(),
        id: curated.id.unwrap_or_default(),
        accepted: curated.accepted,
        outcome,
        replaces,
        reason: curated.reason,
    })
}
