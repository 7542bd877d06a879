//! Tests that a request sees only what it names: random stores, random requests by every way in.
//! Nothing from outside comes back, not even an id.

use bower_core::engine::Engine;
use bower_core::item::{Gate, Scope, Status, Visibility};
use bower_core::request::Review;
use bower_core::request::{
    CurateRequest, ForgetRequest, Forgetting, Hit, Item, QueryRequest, ReviewsRequest, Selection, Settlement,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;

use crate::place::{Place, Random, now};

const OWNERS: &[Option<&str>] = &[None, Some("ann"), Some("bob")];

/// The same things are told at every place, with the same tags, so that whatever crosses would be found.
fn text(random: &mut Random) -> String {
    let thing = ["API", "gateway", "backup", "queue"][random.below(4)];
    match random.below(3) {
        0 => format!("The {thing} port is {}.", 8_000 + random.below(5)),
        1 => format!(
            "The {thing} is{} encrypted before it leaves the building.",
            ["", " not"][random.below(2)]
        ),
        _ => format!("The {thing} runs at {} o'clock in the cellar, says the porter.", random.below(5)),
    }
}

/// Whose each item is, by id.
type Owners = BTreeMap<String, (Scope, Option<String>)>;

fn owners(engine: &Engine) -> Owners {
    let select = Selection { statuses: Status::ALL.to_vec(), ..Selection::default() };
    let all = engine.list(&Visibility::everything(), &select, 100_000, 0).unwrap().memories;
    all.into_iter().map(|item| (item.id, (item.scope, item.owner))).collect()
}

fn check(reach: &Visibility, owners: &Owners, ids: impl IntoIterator<Item = String>) {
    for id in ids {
        let (scope, owner) = &owners[&id];
        assert!(
            reach.holds("memories", *scope, owner.as_deref()),
            "{id} is of {scope} {owner:?}, outside {reach:?}"
        );
    }
}

fn named(item: &Item) -> Vec<String> {
    [Some(&item.id), item.supersedes_id.as_ref(), item.superseded_by_id.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect()
}

fn hit(hit: &Hit) -> Vec<String> {
    [named(&hit.memory), hit.duplicates.clone()].concat()
}

/// Keeps a memory of anybody's, and checks that the answer and its review are of the same place.
fn keep_any(engine: &Engine, random: &mut Random, at: Timestamp) -> Owners {
    let content = text(random);
    let request = CurateRequest {
        scope: random.of(Scope::ALL),
        owner: random.of(OWNERS).map(str::to_owned),
        tags: vec!["ops".into()],
        gate: Some(random.of(&[Gate::Off, Gate::Normal])),
        ..CurateRequest::new(content)
    };
    let told = engine.curate(&Visibility::everything(), &request, at).unwrap();
    let all = owners(engine);
    let own = Visibility::of(Some(request.scope), request.owner.clone());
    let place_of = |id: &String| all[id].clone() == (request.scope, request.owner.clone());
    assert!(told.id.iter().chain(told.other.iter().map(|other| &other.id)).all(place_of), "{told:?}");
    if told.review.is_some() {
        // Whoever sees a part has numbers of his own.
        let sides = |one: &Review| [&one.newer.id, &one.older.id].contains(&told.id.as_ref().unwrap());
        assert!(engine.reviews(&own, &ReviewsRequest::default()).unwrap().iter().any(sides));
    }
    all
}

/// A request that names what it sees in the store: a scope, an owner, both or neither.
struct Reach<'a> {
    engine: &'a Engine,
    visibility: Visibility,
    all: &'a Owners,
    /// The ids within.
    held: Vec<&'a String>,
    at: Timestamp,
}

impl<'a> Reach<'a> {
    fn any(engine: &'a Engine, random: &mut Random, all: &'a Owners, at: Timestamp) -> Self {
        let visibility = Visibility::of(
            (random.below(3) > 0).then(|| random.of(Scope::ALL)),
            (random.below(3) > 0).then(|| random.of(&["ann", "bob", "eve"]).to_owned()),
        );
        let is_held =
            |(scope, owner): &(Scope, Option<String>)| visibility.holds("memories", *scope, owner.as_deref());
        let held = all.iter().filter(|(_, place)| is_held(place)).map(|(id, _)| id).collect();
        Self { engine, visibility, all, held, at }
    }

    fn check(&self, ids: impl IntoIterator<Item = String>) {
        check(&self.visibility, self.all, ids);
    }

    fn list_and_query(&self, random: &mut Random) {
        let statuses = if random.below(3) == 0 { Status::ALL.to_vec() } else { Vec::new() };
        let (scope, owner) = (self.visibility.scope, self.visibility.owner.clone());
        let select = Selection { scope, owner, statuses, ..Selection::default() };
        let listing = self.engine.list(&Visibility::everything(), &select, 1_000, 0).unwrap();
        assert_eq!(listing.total, listing.memories.len());
        self.check(listing.memories.iter().flat_map(named));

        let question = QueryRequest {
            text: text(random) + " #ops in CANONICAL.md",
            fast: random.below(2) == 0,
            limit: 1 + random.below(20),
            profile: Some(random.of(bower_core::item::Profile::ALL)),
            diversity: (random.below(2) == 0).then_some(0.5),
            budget_tokens: (random.below(2) == 0).then_some(400),
            session: (random.below(2) == 0).then(|| "one session for all".to_owned()),
            select,
            ..QueryRequest::default()
        };
        let answer = self.engine.query(&Visibility::everything(), &question, self.at).unwrap();
        self.check(answer.hits.iter().flat_map(hit));
        let most = self.held.len();
        assert!(answer.total_found <= most && answer.effort.delta <= most, "{answer:?}");
        assert!(answer.already_given.unwrap_or(0) <= most);
        let pieces = answer.evidence.iter().flat_map(|evidence| &evidence.pieces);
        self.check(pieces.flat_map(|piece| piece.ids.iter().cloned()));
    }

    /// One id after the other: what is outside is not found, whole or by its first digits.
    fn get_each(&self) {
        for id in self.all.keys() {
            let found = self.engine.get(&self.visibility, id);
            let past = self.engine.history(&self.visibility, &id[..9]);
            assert_eq!(found.is_ok(), self.held.contains(&id));
            assert!(past.is_err() || self.held.contains(&id));
            self.check(past.iter().flat_map(|past| past.chain.iter().flat_map(|form| named(&form.memory))));
        }
    }

    fn settle_each(&self) {
        for review in self.engine.reviews(&Visibility::everything(), &ReviewsRequest { all: true }).unwrap() {
            let sides = [&review.newer, &review.older].map(|item| item.is_visible(&self.visibility));
            let seen = self.engine.reviews(&self.visibility, &ReviewsRequest { all: true }).unwrap();
            // Whoever sees a part has numbers of his own.
            let is_it = |one: &Review| (&one.newer.id, &one.older.id) == (&review.newer.id, &review.older.id);
            assert_eq!(seen.iter().any(is_it), sides == [true, true]);
            if sides != [true, true] {
                let settled = self.engine.settle(&self.visibility, review.review, &Settlement::Both, self.at);
                assert!(settled.is_err());
            }
        }
    }

    fn forget_any(&self, random: &mut Random, dry_run: bool) {
        let victim = self.all.keys().nth(random.below(self.all.len())).unwrap().clone();
        let within = self.held.contains(&&victim);
        let how = Forgetting::of(ForgetRequest::Ids(vec![victim]));
        match self.engine.forget(&self.visibility, &Forgetting { dry_run, ..how }, self.at) {
            Ok(forgotten) => {
                assert!(within);
                self.check(forgotten.forgotten.into_iter().chain(forgotten.held_by));
            }
            Err(error) => assert!(!within && error.to_string().starts_with("no item"), "{error}"),
        }
    }
}

#[test]
fn nothing_comes_back_from_outside_of_what_a_request_names() {
    let place = Place::new();
    place.write("CANONICAL.md", "# Facts\n\nThe API port is 8001, and the gateway runs in the cellar.\n");
    let engine = place.open();
    place.index(&engine);
    let random = &mut Random(42);
    let mut at = now();
    for round in 0..120 {
        at += SignedDuration::from_hours(7);
        let all = keep_any(&engine, random, at);
        if round % 10 == 9 {
            place.index(&engine);
        }
        let reach = Reach::any(&engine, random, &all, at);
        reach.list_and_query(random);
        reach.get_each();
        reach.settle_each();
        reach.forget_any(random, round % 4 > 0);
    }
}

fn tell(engine: &Engine, text: &str, owner: Option<&str>, at: Timestamp) -> bool {
    let request = CurateRequest { owner: owner.map(str::to_owned), ..CurateRequest::new(text) };
    engine.curate(&Visibility::everything(), &request, at).unwrap().accepted
}

/// To refuse an echo tells that somebody has it.
#[test]
fn an_echo_of_what_is_another_s_is_no_echo() {
    let place = Place::without_model();
    let engine = place.open();
    let text = "The nightly export of the warehouse starts at 02:30 and takes forty minutes.";
    let shared = "The weekly report of the factory is printed on green paper in the cellar.";
    assert!(tell(&engine, text, Some("ann"), now()) && tell(&engine, shared, None, now()));
    for words in ["nightly export of the warehouse", "weekly report of the factory"] {
        engine
            .query(
                &Visibility::everything(),
                &QueryRequest { text: words.into(), ..QueryRequest::default() },
                now(),
            )
            .unwrap();
    }
    let echo = |text: &str| format!("According to memory: {}{}", text[..1].to_lowercase(), &text[1..]);
    assert!(!tell(&engine, &echo(text), Some("ann"), now()), "her own");
    assert!(tell(&engine, &echo(text), Some("bob"), now()), "another's");
    assert!(!tell(&engine, &echo(shared), Some("bob"), now()), "everybody's");
    assert!(!tell(&engine, &echo(shared), None, now()));
}

/// What one was given in a session, another was not.
#[test]
fn sessions_of_different_owners_know_nothing_of_each_other() {
    let place = Place::without_model();
    let engine = place.open();
    for owner in ["ann", "bob"] {
        assert!(tell(&engine, "The spare valve is in the cellar.", Some(owner), now()));
    }
    let ask = |owner: &str| {
        let select = Selection { owner: Some(owner.into()), ..Selection::default() };
        let session = Some("tuesday".to_owned());
        let text = "where is the valve?".to_owned();
        let answer = engine
            .query(
                &Visibility::everything(),
                &QueryRequest { text, session, select, ..QueryRequest::default() },
                now(),
            )
            .unwrap();
        (answer.hits.len(), answer.already_given)
    };
    assert_eq!((ask("ann"), ask("bob")), ((1, Some(0)), (1, Some(0))));
    assert_eq!((ask("ann"), ask("bob")), ((0, Some(1)), (0, Some(1))));
}

#[test]
fn a_field_is_no_way_around() {
    let place = Place::without_model();
    let engine = place.open();
    let hers = CurateRequest {
        owner: Some("ann".into()),
        metadata: serde_json::Map::from_iter([("project".to_owned(), json!("x"))]),
        ..CurateRequest::new("The spare valve is in the cellar.")
    };
    engine.curate(&Visibility::everything(), &hers, now()).unwrap();
    let filter = bower_core::filter::Filter::parse(r#"{"$or":[{"owner":"ann"},{"project":"x"}]}"#).unwrap();
    let select = Selection { owner: Some("bob".into()), filter: Some(filter), ..Selection::default() };
    assert_eq!(engine.list(&Visibility::everything(), &select, 10, 0).unwrap().total, 0);
}
