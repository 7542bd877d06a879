//! Contract tests of random sequences of all operations on memories.
//! Each chain has one head, no row is an orphan, and counts match the rows. The events alone determine the state of every
//! memory.

use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

use super::copies::{all, coming};
use super::*;
use crate::item::{Origin, Relation, Ruling, Visibility};
use crate::store::copies::{ExportPiece, NewItem, NewPiece};
use crate::store::{ExpectedState, NewPattern, OWN, Transition};

/// One operation; numbers choose among the existing rows or events.
#[derive(Clone, Debug)]
enum Step {
    Tell {
        text: u8,
        standing: u8,
        other: usize,
        observed: bool,
        from: u8,
    },
    Turn {
        rows: Vec<usize>,
        status: u8,
        tier: u8,
        ends: bool,
        as_run: bool,
    },
    Pattern {
        text: u8,
        rows: Vec<usize>,
    },
    Forget {
        row: usize,
    },
    Settle {
        review: u64,
        ruling: u8,
    },
    Undo {
        event: usize,
    },
    UndoOrigin {
        session: u8,
        dry_run: bool,
    },
    Use {
        row: usize,
    },
    /// Remembers everything, as an export would.
    Export,
    /// Imports what was last remembered, or the present contents. One item has other fields, and was changed so many
    /// seconds later or earlier.
    Import {
        other: Option<(usize, u8, u8, i64)>,
        dry_run: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let text = 0_u8..12;
    let row = any::<usize>;
    let rows = || proptest::collection::vec(any::<usize>(), 1..4);
    prop_oneof![
        6 => (text.clone(), 0_u8..6, row(), any::<bool>(), 0_u8..9)
            .prop_map(|(text, standing, other, observed, from)| Step::Tell { text, standing, other, observed, from }),
        2 => (rows(), 0_u8..3, 0_u8..3, any::<bool>(), any::<bool>())
            .prop_map(|(rows, status, tier, ends, as_run)| Step::Turn { rows, status, tier, ends, as_run }),
        1 => (text, rows()).prop_map(|(text, rows)| Step::Pattern { text, rows }),
        1 => row().prop_map(|row| Step::Forget { row }),
        1 => (1_u64..4, 0_u8..4).prop_map(|(review, ruling)| Step::Settle { review, ruling }),
        3 => row().prop_map(|event| Step::Undo { event }),
        1 => (0_u8..2, proptest::bool::weighted(0.2))
            .prop_map(|(session, dry_run)| Step::UndoOrigin { session, dry_run }),
        1 => row().prop_map(|row| Step::Use { row }),
        1 => Just(Step::Export),
        2 => (proptest::option::of((row(), 0_u8..4, 0_u8..3, -9_i64..9)), proptest::bool::weighted(0.2))
            .prop_map(|(other, dry_run)| Step::Import { other, dry_run }),
    ]
}

fn session(number: u8) -> String {
    format!("s{number}")
}

struct World<'a> {
    store: &'a dyn StoreAndDesk,
    fixture: &'a dyn Fixture,
    second: i64,
    saved: Vec<ExportPiece>,
}

impl World<'_> {
    fn rows(&self) -> Vec<RowId> {
        self.store.text_rows(Change(0), self.store.coverage().unwrap().change).unwrap()
    }

    /// Returns an existing row, or one that never existed.
    fn pick(&self, number: usize) -> RowId {
        let rows = self.rows();
        if rows.is_empty() { RowId(9_999) } else { rows[number % rows.len()] }
    }

    fn stamp(&mut self) -> Stamp<'static> {
        self.second += 1;
        stamp(self.second)
    }

    /// Returns a memory with an id that no superseded one has, as the engine would.
    fn memory(&self, text: u8) -> NewMemory {
        let mut content = format!("text {text}");
        loop {
            let memory = memory(&content);
            let row = self.store.rows_by_id(&memory.id, &Visibility::everything(), 1).unwrap().pop();
            let item = row.and_then(|(row, _)| self.store.items(&[row]).unwrap().remove(0));
            if item.is_none_or(|item| item.status != Status::Superseded) {
                return memory;
            }
            content.push_str(" again");
        }
    }

    fn tell(&mut self, text: u8, standing: WriteAction, is_observed: bool, from: u8) {
        let provenance = [
            Provenance::told(Author::User),
            Provenance::picked(Author::Agent, Author::Tool),
            Provenance::told(Author::Web),
        ][usize::from(from / 3)];
        let memory = NewMemory {
            source_conv_id: from.checked_rem(3).filter(|session| *session < 2).map(session),
            status: if provenance.reviewed { Status::Active } else { Status::Candidate },
            provenance,
            ..self.memory(text)
        };
        let stamp = self.stamp();
        let why = Map::from_iter([("rule".to_owned(), json!("test"))]);
        let decided = Decided { why, is_observed, ..decided(standing) };
        self.store.put_memory(&memory, &decided, stamp).unwrap();
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Tell { text, standing, other, observed, from } => {
                let other = self.pick(*other);
                let standing = match standing {
                    0 => WriteAction::Alone,
                    1 => WriteAction::Confirms(other),
                    2 => WriteAction::Relates(other, Relation::RelatedTo, 0.5),
                    3 => WriteAction::Replaces(other),
                    4 => WriteAction::Disputes(other),
                    _ => WriteAction::Yields(other),
                };
                self.tell(*text, standing, *observed, *from);
            }
            Step::Turn { rows, status, tier, ends, as_run } => {
                let mut rows: Vec<RowId> = rows.iter().map(|&row| self.pick(row)).collect();
                rows.dedup();
                let items: Vec<_> = self.store.items(&rows).unwrap().into_iter().flatten().collect();
                // A run only uses candidate and active memories; feedback leaves superseded ones alone.
                let turns: Vec<Transition> = items
                    .iter()
                    .filter(|item| item.status != Status::Superseded)
                    .map(|item| Transition {
                        row: item.row,
                        action: "archive",
                        seen: ExpectedState {
                            status: item.status,
                            tier: item.tier,
                            confidence: item.confidence,
                            accessed: None,
                        },
                        status: [Status::Candidate, Status::Active, Status::Archived][usize::from(*status)],
                        tier: [Tier::Pinned, Tier::Active, Tier::Fading][usize::from(*tier)],
                        confidence: item.confidence * 0.9,
                        ends: *ends,
                        is_use: false,
                        is_review: false,
                        why: Map::new(),
                    })
                    .collect();
                let (detail, stamp) = (Map::new(), self.stamp());
                self.store.turn(as_run.then_some(("sweep", &detail)), &turns, stamp).unwrap();
            }
            Step::Pattern { text, rows } => self.patterns(*text, rows),
            Step::Forget { row } => {
                let (row, stamp) = (self.pick(*row), self.stamp());
                self.store.forget(&[row], false, stamp).unwrap();
            }
            Step::Settle { review, ruling } => {
                let stamp = self.stamp();
                self.store.settle(*review, Ruling::ALL[usize::from(*ruling)], stamp).unwrap();
            }
            Step::Undo { event } => {
                let events = self.fixture.rows("events");
                let last = events.iter().filter_map(|row| row["event"].as_u64()).max().unwrap_or(0);
                // Late events are undone more often than early ones, as people do.
                let event = last.saturating_sub(*event as u64 % 12);
                let stamp = self.stamp();
                self.store.undo(event, stamp).unwrap();
            }
            Step::UndoOrigin { session: name, dry_run } => {
                let origin = Origin { session: Some(session(*name)), ..Origin::default() };
                let stamp = self.stamp();
                self.store.undo_origin(&Visibility::everything(), &origin, *dry_run, stamp).unwrap();
            }
            Step::Export => self.saved = all(self.store),
            Step::Import { other, dry_run } => self.import(*other, *dry_run),
            Step::Use { row } => {
                let (row, now) = (self.pick(*row), self.stamp().now);
                self.store.add_uses(&[(row, now)]).unwrap();
                self.store.expose(&[(row, now)]).unwrap();
            }
        }
    }

    fn patterns(&mut self, text: u8, rows: &[usize]) {
        let mut rows: Vec<RowId> = rows.iter().map(|&row| self.pick(row)).collect();
        rows.sort_unstable();
        rows.dedup();
        // Two patterns in one transaction, which may have common members.
        let patterns: Vec<NewPattern> = [&rows[..], &rows[rows.len() / 2..]]
            .into_iter()
            .zip(["pattern", "wider pattern"])
            .map(|(rows, kind)| NewPattern {
                memory: NewMemory { source: OWN.into(), ..memory(&format!("{kind} {text}")) },
                members: rows.to_vec(),
            })
            .collect();
        let stamp = self.stamp();
        self.store.put_patterns(&patterns, stamp).unwrap();
    }

    fn import(&mut self, other: Option<(usize, u8, u8, i64)>, dry_run: bool) {
        let mut pieces: Vec<NewPiece> = match &self.saved[..] {
            [] => all(self.store).iter().filter_map(coming).collect(),
            saved => saved.iter().filter_map(coming).collect(),
        };
        let mut items: Vec<&mut NewItem> = pieces
            .iter_mut()
            .filter_map(|piece| match piece {
                NewPiece::Item(new) => Some(&mut **new),
                NewPiece::Document(_)
                | NewPiece::Relation(_)
                | NewPiece::Review(_)
                | NewPiece::Event(_)
                | NewPiece::Alias(_) => None,
            })
            .collect();
        let count = items.len();
        if let Some((which, status, tier, later)) = other
            && let Some(new) = items.get_mut(which % count.max(1))
        {
            let item = &mut new.item;
            item.status = Status::ALL[usize::from(status)];
            item.tier = [Tier::Pinned, Tier::Active, Tier::Fading][usize::from(tier)];
            item.confidence *= 0.8;
            item.tags = vec!["imported".into()];
            item.update_time += jiff::SignedDuration::from_secs(later);
            item.hidden_time = None;
        }
        let stamp = self.stamp();
        let fates = self.store.take_pieces(&pieces, dry_run, stamp).unwrap();
        assert_eq!(fates.len(), pieces.len());
    }

    /// Rebuilds the state of each remaining item from the events. Imported events of an item's past sort before the
    /// import itself.
    fn replayed(&self) -> BTreeMap<String, Map<String, Value>> {
        let mut events = self.fixture.rows("events");
        events.sort_by_key(|row| (row["time"].as_i64(), row["event"].as_u64()));
        let mut states: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
        for row in events {
            let Some(subject) = row["subject"].as_str() else { continue };
            if row["action"] == "forget" {
                states.remove(subject);
                continue;
            }
            let detail: Map<String, Value> = serde_json::from_str(row["detail"].as_str().unwrap()).unwrap();
            if let Some(Value::Object(is)) = detail.get("is") {
                states.entry(subject.to_owned()).or_default().extend(is.clone());
            }
        }
        for state in states.values_mut() {
            state.retain(|_, value| !value.is_null());
        }
        states
    }

    fn present(&self) -> BTreeMap<String, Map<String, Value>> {
        let columns = [
            "status",
            "tier",
            "confidence",
            "observations",
            "hidden_time",
            "valid_from",
            "valid_to",
            "supersedes_id",
            "said_by",
            "least_trusted",
            "reviewed",
        ];
        let state = |row: &Map<String, Value>| -> Map<String, Value> {
            let there = columns.into_iter().filter(|column| !row[*column].is_null());
            let value = |column: &str| match row[column].as_i64() {
                // A value that is not a number is already a boolean.
                Some(number) if column == "reviewed" => json!(number != 0),
                Some(_) | None => row[column].clone(),
            };
            there.map(|column| (column.to_owned(), value(column))).collect()
        };
        let rows = self.fixture.rows("items");
        rows.iter().map(|row| (row["id"].as_str().unwrap().to_owned(), state(row))).collect()
    }
}

/// Formats numbers with nine decimals.
fn rounded(states: BTreeMap<String, Map<String, Value>>) -> Vec<(String, Vec<String>)> {
    let show = |(key, value): (String, Value)| match value.as_f64() {
        Some(number) if value.is_f64() => format!("{key}={number:.9}"),
        Some(_) | None => format!("{key}={value}"),
    };
    states.into_iter().map(|(id, state)| (id, state.into_iter().map(show).collect())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_happens_in_whatever_order_the_store_is_sound(steps in proptest::collection::vec(step(), 1..60)) {
        with_store(|store, fixture| {
            let mut world = World { store, fixture, second: 0, saved: Vec::new() };
            let (mut hidden, mut upto) = (RowSet::new(), store.coverage().unwrap().change);
            for (nth, step) in steps.iter().enumerate() {
                world.apply(step);
                let changes = store.hidden_since(upto).unwrap().expect("a step leaves few events");
                hidden.remove_all(&changes.went);
                hidden.add_all(&changes.came);
                let whole = store.hidden(Clocks::default()).unwrap();
                assert!(hidden.iter().eq(whole.iter()), "after {nth}: {step:?}");
                upto = store.coverage().unwrap().change;
                assert_eq!(store.verify().unwrap(), Vec::<String>::new(), "after {nth}: {step:?}");
            }
            assert_eq!(rounded(world.replayed()), rounded(world.present()));
        });
    }
}
