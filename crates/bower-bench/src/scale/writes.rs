//! Measures writes to one store: keeping memories, compacting the indexes, and forgetting.
//! It keeps one memory with the model's time, then a thousand; it compacts them into the indexes and forgets all of them.

use std::collections::BTreeSet;

use bower_core::item::Visibility;
use bower_core::request::{CurateRequest, ForgetRequest, Forgetting, Selection};
use serde_json::{Value, json};

use super::place::{Place, SCRATCH, ask, fresh_questions, open};
use crate::gauge::{self, Times};
use crate::options::{Failed, Options};

/// Memories that are written one by one and timed.
const ONES: usize = 300;
const THOUSAND: usize = 1_000;
/// Memories that are forgotten one by one.
const FORGOTTEN: usize = 50;

fn memory(text: &str) -> CurateRequest {
    CurateRequest { collection: Some(SCRATCH.to_owned()), ..CurateRequest::new(text) }
}

pub fn run(options: &Options, place: &Place) -> Result<Value, Failed> {
    let engine = open(options, &place.home)?;
    let now = jiff::Timestamp::now;
    let known = place.questions()?;
    let mut texts = fresh_questions(&known, ONES + THOUSAND + 2 * FORGOTTEN);
    // A repeated text gives one memory only.
    let mut ids = BTreeSet::new();
    let mut ones = Times::new();
    for text in texts.by_ref().take(ONES) {
        ids.extend(ones.take(|| engine.curate(&Visibility::everything(), &memory(&text), now()))?.id);
    }
    let thousand = gauged(|| {
        for text in texts.by_ref().take(THOUSAND) {
            ids.extend(engine.curate(&Visibility::everything(), &memory(&text), now())?.id);
        }
        Ok(())
    })?;
    let mut long_delta = Times::new();
    for text in texts.by_ref().take(FORGOTTEN) {
        long_delta.take(|| engine.query(&Visibility::everything(), &ask(&text), now()))?;
    }
    let compact = gauged(|| Ok(engine.maintain(now()).map(|_| ())?))?;
    let mut forget = Times::new();
    let mut ids: Vec<String> = ids.into_iter().collect();
    for id in ids.drain(..FORGOTTEN) {
        forget.take(|| {
            engine.forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id])), now())
        })?;
    }
    let rest = ids.len();
    let forget_rest = gauged(|| {
        Ok(engine
            .forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(ids)), now())
            .map(|_| ())?)
    })?;
    let after = gauged(|| Ok(engine.maintain(now()).map(|_| ())?))?;
    Ok(json!({
        "curate_one": ones.json(),
        "curate_thousand": thousand,
        "query_with_a_tail_of_1300": long_delta.json(),
        "maintain_after_them": compact,
        "forget_one": forget.json(),
        "forget_many": { "items": rest, "took": forget_rest },
        "maintain_after_forgetting": after,
        "peak_bytes": gauge::memory()["peak_bytes"],
    }))
}

fn gauged(once: impl FnOnce() -> Result<(), Failed>) -> Result<Value, Failed> {
    let (done, wall_ms, cpu_ms) = gauge::timed(once);
    done?;
    Ok(json!({ "wall_ms": gauge::round(wall_ms), "cpu_ms": gauge::round(cpu_ms) }))
}

/// Forgets the memories that commands and killed writers left.
pub fn forget_scratch(options: &Options, place: &Place) -> Result<(), Failed> {
    let engine = open(options, &place.home)?;
    let all = Selection { collections: vec![SCRATCH.to_owned()], ..Selection::default() };
    engine.forget(
        &Visibility::everything(),
        &Forgetting::of(ForgetRequest::Selected(Box::new(all))),
        jiff::Timestamp::now(),
    )?;
    engine.maintain(jiff::Timestamp::now())?;
    Ok(())
}

/// Writes memories until it is killed.
pub fn write_for_ever(options: &Options, place: &Place) -> Result<Value, Failed> {
    let engine = open(options, &place.home)?;
    for text in fresh_questions(&place.questions()?, usize::MAX) {
        engine.curate(&Visibility::everything(), &memory(&text), jiff::Timestamp::now())?;
    }
    Ok(Value::Null)
}
