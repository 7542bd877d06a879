//! Reads expressions of time in a question and the times of candidates, and scores how they match.
//! Nothing is loaded for a question without an expression of time.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::error::Result;
use crate::item::{Kind, RowId};
use crate::rank::time::{
    Aim, Interval, ItemTimes, Spoken, TimeExpression, TimeWeights, Valid, boosts, parse, spoken, valid,
};
use crate::store::DatedText;
use crate::text::query_terms;

/// Most words of a question. A longer one is a text, and its times are part of the content rather than a condition. LoCoMo's
/// longest question with a time has 24 words; sentences of a vault that gain nothing from their dates have 40 and more.
const LONGEST_QUESTION: usize = 40;

/// Number of characters of a candidate's text that are read for times: the date of a text is mostly at its start.
const READ: usize = 800;

/// Fields that contain an item's own date, in order of preference.
const DATE_FIELDS: &[&str] = &["date", "created", "created_at", "timestamp", "time", "day"];

/// Letters that a word may have beyond an event's stem: "moving" matches "mov(e)", "movements" does not.
const ENDING: usize = 4;

/// Returns the expressions of time in a question, resolved at `now` in the store's time zone. A long text has none.
///
/// Returns [`Error::Invalid`] if the setting `time_zone` names no zone and the question has an expression of time.
pub(crate) fn asked(engine: &Engine, question: &str, now: Timestamp) -> Result<Vec<TimeExpression>> {
    if question.split_whitespace().nth(LONGEST_QUESTION).is_some() {
        return Ok(Vec::new());
    }
    in_zone(engine, now, |now| parse(question, now))
}

/// Returns the time in which a text holds that is written now, in the store's time zone.
pub(crate) fn holds(engine: &Engine, text: &str, now: Timestamp) -> Result<Valid> {
    in_zone(engine, now, |now| valid(text, now))
}

/// Applies `read` at `now` in the store's time zone. If it finds nothing in UTC, it finds nothing in any zone.
fn in_zone<T: Default + PartialEq>(engine: &Engine, now: Timestamp, read: impl Fn(&Zoned) -> T) -> Result<T> {
    let found = read(&now.to_zoned(TimeZone::UTC));
    // Finding a zone by its name reads the system's zone files, so it is done only for a text with a time.
    if found == T::default() || engine.settings.time_zone == "UTC" {
        return Ok(found);
    }
    Ok(read(&now.to_zoned(zone(engine)?)))
}

/// Returns what each candidate gains for the times in the question, in standard deviations of the candidates' scores; rows
/// are best first.
///
/// Returns zeros, and loads nothing, if the question has no expression of time or the setting `time_weight` is 0.
pub(crate) fn gains(engine: &Engine, question: &[TimeExpression], rows: &[RowId]) -> Result<Vec<f32>> {
    if question.is_empty() || rows.is_empty() || engine.settings.time_weight <= 0.0 {
        return Ok(vec![0.0; rows.len()]);
    }
    let texts = engine.store.dated_texts(rows, READ)?;
    let zone = zone(engine)?;
    let times: Vec<ItemTimes> = texts
        .iter()
        .map(|text| text.as_ref().map_or_else(ItemTimes::default, |text| item_times(text, &zone)))
        .collect();
    let events: Vec<(&str, Vec<f32>)> = question
        .iter()
        .filter_map(|found| match &found.aim {
            Aim::Order { event, .. } => Some((event.as_str(), mentions(event, &texts))),
            Aim::During(_) | Aim::Before(_) | Aim::After(_) | Aim::Latest | Aim::Earliest | Aim::Asked(_) => {
                None
            }
        })
        .collect();
    let mention = |event: &str, at: usize| {
        events.iter().find(|(known, _)| *known == event).map_or(0.0, |(_, shares)| shares[at])
    };
    Ok(boosts(question, &times, &TimeWeights::default().times(engine.settings.time_weight), &mention))
}

/// Returns the times of items, from the store and from their texts; a removed item has none.
pub(crate) fn times(engine: &Engine, rows: &[RowId]) -> Result<Vec<ItemTimes>> {
    let zone = zone(engine)?;
    let texts = engine.store.dated_texts(rows, READ)?;
    Ok(texts
        .iter()
        .map(|text| text.as_ref().map_or_else(ItemTimes::default, |text| item_times(text, &zone)))
        .collect())
}

pub(crate) fn zone(engine: &Engine) -> Result<TimeZone> {
    engine.time_zone()
}

/// Returns an item's times. Its own date comes from its fields, its heading, its document's title or its file's name, in that
/// order. A memory's date is its creation unless its fields contain another. The time at which a chunk was indexed is no date
/// of its text.
fn item_times(text: &DatedText, zone: &TimeZone) -> ItemTimes {
    let kept = text.create_time.to_zoned(zone.clone());
    let absolute = |words: &str| spoken(words, &kept).absolute.last().copied();
    let own = field(&text.metadata, &kept)
        .or_else(|| text.section.as_deref().and_then(absolute))
        .or_else(|| field(&text.document_metadata, &kept))
        .or_else(|| text.title.as_deref().and_then(absolute))
        .or_else(|| text.file_name.as_deref().and_then(absolute))
        .or_else(|| (text.kind == Kind::Memory).then(|| moment(text.create_time)).flatten());
    let written = own.map_or(kept, |own| own.from.to_zoned(zone.clone()));
    let Spoken { absolute: mut mentioned, relative, counts } = spoken(&text.content, &written);
    // "yesterday" has no meaning without the date of the text.
    if own.is_some() {
        mentioned.extend(relative);
    }
    let valid = text.valid_from.or(text.valid_to).and_then(|_| {
        let (from, until) =
            (text.valid_from.unwrap_or(Timestamp::MIN), text.valid_to.unwrap_or(Timestamp::MAX));
        (from < until).then_some(Interval { from, until })
    });
    ItemTimes { own, valid, mentioned, counts }
}

/// Returns the date in the first field that has one: an RFC 3339 time or a date as people write it.
fn field(fields: &Map<String, Value>, kept: &Zoned) -> Option<Interval> {
    let mut dates = DATE_FIELDS.iter().filter_map(|name| fields.get(*name)?.as_str());
    dates.find_map(|text| match text.parse::<Timestamp>() {
        Ok(at) => moment(at),
        Err(_) => spoken(text, kept).absolute.first().copied(),
    })
}

/// Returns the second that begins at an instant.
fn moment(at: Timestamp) -> Option<Interval> {
    Some(Interval { from: at, until: at.checked_add(SignedDuration::from_secs(1)).ok()? })
}

/// Returns for each candidate the share of an event's words that its text has; rare words count more.
fn mentions(event: &str, texts: &[Option<DatedText>]) -> Vec<f32> {
    let stems: Vec<String> = query_terms(event, &[])
        .into_iter()
        .map(|found| found.term.trim_end_matches(['e', 'i']).to_owned())
        .filter(|stem| !stem.is_empty())
        .collect();
    let holds: Vec<Vec<bool>> = texts
        .iter()
        .map(|text| {
            let content = text.as_ref().map_or(String::new(), |text| text.content.to_lowercase());
            let words = || content.split(|c: char| !c.is_alphanumeric());
            let is = |word: &str, stem: &str| word.len() <= stem.len() + ENDING && word.starts_with(stem);
            stems.iter().map(|stem| words().any(|word| is(word, stem))).collect()
        })
        .collect();
    let rarity: Vec<f32> = (0..stems.len())
        .map(|term| {
            let with = holds.iter().filter(|held| held[term]).count();
            (texts.len() as f32 / (with + 1) as f32).ln_1p()
        })
        .collect();
    let whole: f32 = rarity.iter().sum();
    let share = |held: &Vec<bool>| {
        held.iter().zip(&rarity).filter(|(held, _)| **held).map(|(_, rarity)| rarity).sum::<f32>() / whole
    };
    if stems.is_empty() { vec![0.0; texts.len()] } else { holds.iter().map(share).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::engine::DocumentInput;
    use crate::item::MemoryType;
    use crate::item::{Scope, Visibility};
    use crate::request::{CurateRequest, Selection};
    use serde_json::json;

    fn now() -> Timestamp {
        "2024-03-13T15:00:00Z".parse().unwrap()
    }

    fn engine(folder: &std::path::Path, time_zone: &str) -> Engine {
        let settings = Settings { model: "none".into(), time_zone: time_zone.into(), ..Settings::default() };
        Engine::open(folder, settings, now()).unwrap()
    }

    fn curate(engine: &Engine, content: &str, fields: &Value) {
        let request = CurateRequest {
            memory_type: Some(MemoryType::Episode),
            metadata: fields.as_object().unwrap().clone(),
            ..CurateRequest::new(content)
        };
        engine.curate(&Visibility::everything(), &request, now()).unwrap();
    }

    /// Returns all rows, oldest first.
    fn rows(engine: &Engine) -> Vec<RowId> {
        let (mut rows, _) = engine.store.page(&Selection::default(), 100, 0).unwrap();
        rows.sort_unstable();
        rows
    }

    fn show(interval: Option<Interval>) -> String {
        interval.map_or("none".into(), |interval| format!("{} {}", interval.from, interval.until))
    }

    #[test]
    fn a_question_is_read_in_the_stores_zone_and_a_long_text_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let berlin = engine(folder.path(), "Europe/Berlin");
        let found = asked(&berlin, "what did we decide yesterday?", now()).unwrap();
        let Aim::During(day) = found[0].aim else { panic!("{found:?}") };
        assert_eq!(show(Some(day)), "2024-03-11T23:00:00Z 2024-03-12T23:00:00Z");
        let long = "word ".repeat(LONGEST_QUESTION) + "yesterday";
        assert!(asked(&berlin, &long, now()).unwrap().is_empty());

        let nowhere = engine(folder.path(), "Middle/Earth");
        assert!(asked(&nowhere, "what is a port?", now()).unwrap().is_empty());
        let error = asked(&nowhere, "yesterday", now()).unwrap_err().to_string();
        assert_eq!(error, "time_zone Middle/Earth: use an IANA name such as Europe/Berlin, or UTC");
    }

    #[test]
    fn items_tell_their_own_dates() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), "UTC");
        let document = |path: &str, title: Option<&str>, text: &str| DocumentInput {
            id: path.into(),
            title: title.map(str::to_owned),
            text: text.into(),
            collection: None,
            metadata: Map::new(),
            session: None,
            ..DocumentInput::default()
        };
        engine
            .add_documents(
                &Visibility::everything(),
                vec![
                    document(
                        "a",
                        Some("1:56 pm on 8 May, 2023"),
                        "Caroline: I went there yesterday, for two hours.",
                    ),
                    document("journal/2022-11-05.md", None, "Ran ten kilometres last week."),
                    document("b", Some("Guide"), "Yesterday is a song. It came out in August 1965."),
                ],
                (Scope::Project, None),
                now(),
            )
            .unwrap();
        curate(&engine, "We moved to Postgres today", &json!({}));
        curate(&engine, "The launch went well", &json!({"date": "3 June 2021"}));
        let mut rows = rows(&engine);
        rows.push(RowId(4_000));
        let told = times(&engine, &rows).unwrap();
        let told: Vec<_> = told
            .iter()
            .map(|item| (show(item.own), show(item.mentioned.first().copied()), item.counts))
            .collect();
        let expected = [
            ("2023-05-08T00:00:00Z 2023-05-09T00:00:00Z", "2023-05-07T00:00:00Z 2023-05-08T00:00:00Z", true),
            ("2022-11-05T00:00:00Z 2022-11-06T00:00:00Z", "2022-10-24T00:00:00Z 2022-10-31T00:00:00Z", true),
            ("none", "1965-08-01T00:00:00Z 1965-09-01T00:00:00Z", false),
            ("2024-03-13T15:00:00Z 2024-03-13T15:00:01Z", "2024-03-13T00:00:00Z 2024-03-14T00:00:00Z", false),
            ("2021-06-03T00:00:00Z 2021-06-04T00:00:00Z", "none", false),
            ("none", "none", false),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(own, said, counts)| ((*own).to_owned(), (*said).to_owned(), *counts))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn an_order_of_events_finds_its_event_among_the_candidates() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path(), "UTC");
        curate(&engine, "Tea was bought", &json!({"date": "2021-06-01"}));
        curate(&engine, "We launched the shop in Rome", &json!({"date": "2021-06-03"}));
        curate(&engine, "Coffee was bought", &json!({"date": "2021-06-05"}));
        let rows = rows(&engine);
        let gained =
            |question: &str| gains(&engine, &asked(&engine, question, now()).unwrap(), &rows).unwrap();
        let after = gained("What was bought after the launch of the shop?");
        assert!(after[2] > after[0], "{after:?}");
        let before = gained("What was bought before the launch of the shop?");
        assert!(before[0] > before[2], "{before:?}");
        assert_eq!(gained("What was bought?"), [0.0; 3]);
        let on = gained("What was bought on 5 June 2021?");
        assert!(on[2] > on[1] && on[1] > on[0], "{on:?}");
    }
}
