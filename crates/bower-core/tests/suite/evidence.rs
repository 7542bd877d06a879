//! Tests of evidence, sessions and the bar for silent answers, end to end on a store without a model.

use bower_core::Error;
use bower_core::engine::Engine;
use bower_core::evidence::{Evidence, block};
use bower_core::item::{Briefing, Gate, MemoryType, Visibility};
use bower_core::request::{
    Answer, BriefRequest, CurateRequest, ForgetRequest, Forgetting, QueryRequest, Selection,
};
use jiff::{SignedDuration, Timestamp};

use crate::place::{Place, keep, now};

fn request(text: &str) -> QueryRequest {
    QueryRequest { text: text.into(), fast: true, ..QueryRequest::default() }
}

fn in_session(engine: &Engine, text: &str, session: &str, at: Timestamp) -> Answer {
    let answer = engine
        .query(
            &Visibility::everything(),
            &QueryRequest { session: Some(session.into()), ..request(text) },
            at,
        )
        .unwrap();
    engine.keep_given(at).unwrap();
    answer
}

fn packed(engine: &Engine, text: &str, budget: usize) -> Evidence {
    let request = QueryRequest { budget_tokens: Some(budget), ..request(text) };
    let evidence = engine.query(&Visibility::everything(), &request, now()).unwrap().evidence.unwrap();
    assert!(evidence.tokens <= budget, "{evidence:?}");
    evidence
}

#[test]
fn what_nobody_was_shown_is_given_again() {
    let place = Place::without_model();
    let engine = place.open();
    keep(&engine, "The zebra drinks at dawn.");
    keep(&engine, "The zebra sleeps at noon.");
    let asked = QueryRequest { session: Some("s".into()), budget_tokens: Some(200), ..request("zebra") };
    let pieces = engine.query(&Visibility::everything(), &asked, now()).unwrap().evidence.unwrap().pieces;
    assert_eq!(pieces.len(), 2);
    engine.not_shown(&Visibility::everything(), "s", &pieces[1].rows);
    engine.keep_given(now()).unwrap();
    let again = engine.query(&Visibility::everything(), &asked, now()).unwrap();
    assert_eq!(again.evidence.unwrap().pieces[0].rows, pieces[1].rows);
    assert_eq!(again.already_given, Some(1));
}

#[test]
fn evidence_is_cited_by_the_lines_of_its_document() {
    let place = Place::without_model();
    // The sentences around it are longer than the budget.
    let long = "nothing of this matters to anyone who reads it in the evening by the fire ".repeat(6);
    let text = format!("{long}\n\nTomatoes want water at dawn.\n\nAnd {long}\n");
    let guide = place.write("guide.md", text);
    let engine = place.open();
    place.index(&engine);
    let evidence = packed(&engine, "water tomatoes dawn", 60);
    let piece = &evidence.pieces[0];
    assert_eq!((piece.text.as_str(), piece.lines), ("Tomatoes want water at dawn.", Some((3, 3))));
    assert_eq!(piece.path.as_deref(), guide.to_str());
    assert_eq!((evidence.counted_by.as_str(), evidence.budget_tokens), ("estimate", 60));
    assert!(block(&evidence.pieces).len().div_ceil(4) <= 60);
}

#[test]
fn what_stands_beside_a_hit_fills_the_budget_and_joins_it() {
    let place = Place::without_model();
    let part = |head: &str, fact: &str| {
        format!("## {head}\n\n{fact} {}\n\n", "Some words about it follow here. ".repeat(12))
    };
    let text = format!(
        "{}{}{}",
        part("One", "Quokkas sleep."),
        part("Two", "Zymurgy is brewing."),
        part("Three", "Yaks climb.")
    );
    place.write("guide.md", text);
    let engine = place.open();
    place.index(&engine);
    let evidence = packed(&engine, "zymurgy", 2_000);
    assert_eq!(evidence.pieces.len(), 1, "{evidence:#?}");
    let piece = &evidence.pieces[0];
    assert_eq!(piece.ids.len(), 3);
    let place = |word: &str| piece.text.find(word).unwrap();
    assert!(place("Quokkas") < place("Zymurgy") && place("Zymurgy") < place("Yaks"));
    // What the filter does not let through is not shown beside a hit either.
    let filter = bower_core::filter::Filter::parse(r#"{"$contains": "Zymurgy"}"#).unwrap();
    let select = Selection { filter: Some(filter), ..Selection::default() };
    let request = QueryRequest { select, budget_tokens: Some(2_000), ..request("zymurgy") };
    let evidence = engine.query(&Visibility::everything(), &request, now()).unwrap().evidence.unwrap();
    assert_eq!(evidence.pieces[0].ids.len(), 1);
}

#[test]
fn a_session_is_given_nothing_twice_in_any_process() {
    let place = Place::without_model();
    let engine = place.open();
    keep(&engine, "The api port is 8080.");
    // The same but for case and space, and of somebody else: two memories.
    let theirs = CurateRequest { owner: Some("ann".into()), ..CurateRequest::new("the API port is  8080.") };
    engine.curate(&Visibility::everything(), &theirs, now()).unwrap();
    let first = in_session(&engine, "api port", "s", now());
    assert_eq!((first.hits.len(), first.already_given), (2, Some(0)));
    let again = in_session(&place.open(), "api port", "s", now());
    assert_eq!((again.hits.len(), again.already_given), (0, Some(2)));
    // What is new comes, and other sessions and no session know nothing of it.
    keep(&engine, "The api port of the lab is 9090.");
    let next = in_session(&engine, "api port", "s", now());
    assert_eq!((next.hits.len(), next.already_given), (1, Some(2)));
    assert_eq!(in_session(&engine, "api port", "t", now()).hits.len(), 3);
    let none = engine.query(&Visibility::everything(), &request("api port"), now()).unwrap();
    assert_eq!((none.hits.len(), none.already_given), (3, None));
}

#[test]
fn only_what_was_packed_counts_as_given() {
    let place = Place::without_model();
    let engine = place.open();
    for n in 0..6 {
        keep(
            &engine,
            &format!("Fact {n} about the quokka: {}.", "it sleeps in the shade of the old wall ".repeat(3)),
        );
    }
    let ask = || {
        let request =
            QueryRequest { budget_tokens: Some(90), session: Some("s".into()), ..request("quokka") };
        engine.query(&Visibility::everything(), &request, now()).unwrap()
    };
    let first = ask();
    let given = first.evidence.unwrap();
    assert!(given.left_out > 0 && !given.pieces.is_empty(), "{given:?}");
    let second = ask();
    assert_eq!(second.already_given, Some(given.pieces.len()));
    let ids =
        |evidence: &Evidence| evidence.pieces.iter().flat_map(|piece| piece.ids.clone()).collect::<Vec<_>>();
    assert!(ids(&second.evidence.unwrap()).iter().all(|id| !ids(&given).contains(id)));
}

#[test]
fn a_changed_item_comes_again_and_a_forgotten_one_leaves_nothing() {
    let place = Place::without_model();
    let engine = place.open();
    place.write("notes.md", "# Ports\n\nThe gateway listens on 8080.\n");
    place.index(&engine);
    assert_eq!(in_session(&engine, "gateway", "s", now()).hits.len(), 1);
    assert_eq!(in_session(&engine, "gateway", "s", now()).hits.len(), 0);
    place.write("notes.md", "# Ports\n\nThe gateway listens on 9090.\n");
    place.index(&engine);
    assert_eq!(in_session(&engine, "gateway", "s", now()).hits.len(), 1);

    let id = keep(&engine, "The gateway is red.");
    assert_eq!(in_session(&engine, "red gateway", "s", now()).hits.len(), 1);
    engine.forget(&Visibility::everything(), &Forgetting::of(ForgetRequest::Ids(vec![id])), now()).unwrap();
    keep(&engine, "The gateway is red.");
    assert_eq!(
        in_session(&engine, "red gateway", "s", now()).hits.len(),
        1,
        "nothing remembers what was forgotten"
    );
}

#[test]
fn sessions_end_after_a_while() {
    let place = Place::without_model();
    let engine = place.open();
    keep(&engine, "The api port is 8080.");
    in_session(&engine, "api port", "s", now());
    let later = now() + SignedDuration::from_hours(24 * 91);
    keep(&engine, "Another port.");
    // After three months in which nobody asked the clock may be wrong; a day later it is believed.
    in_session(&engine, "another", "u", later - SignedDuration::from_hours(24));
    engine.maintain(later - SignedDuration::from_hours(24)).unwrap();
    // Whoever writes next drops what is too old.
    in_session(&engine, "another", "t", later);
    assert_eq!(in_session(&engine, "api", "s", later).hits.len(), 1);
}

#[test]
fn what_nobody_asked_for_has_to_be_specific() {
    let place = Place::without_model();
    let engine = place.open();
    keep(&engine, "Zymurgy starts with barley and patience.");
    keep(&engine, "We met to discuss time.");
    let ask = |text: &str| {
        engine
            .query(&Visibility::everything(), &QueryRequest { prefetch: true, ..request(text) }, now())
            .unwrap()
    };
    let broad = ask("what time does the train to the coast leave?");
    assert_eq!((broad.hits.len(), broad.held_back), (0, Some(1)), "one shared word");
    let close = ask("which barley is good for zymurgy?");
    assert_eq!((close.hits.len(), close.held_back), (1, Some(0)));
    assert_eq!(ask("nothing of this").held_back, Some(0));
    assert_eq!(engine.query(&Visibility::everything(), &request("time"), now()).unwrap().held_back, None);
}

/// What a task finds and a briefing has no room for was given to nobody.
#[test]
fn a_briefing_gives_what_it_shows_once() {
    let place = Place::without_model();
    let engine = place.open();
    let tell = |text: &str, memory_type, pinned| {
        let request = CurateRequest {
            memory_type: Some(memory_type),
            gate: Some(Gate::Off),
            pinned,
            ..CurateRequest::new(text)
        };
        engine.curate(&Visibility::everything(), &request, now()).unwrap().id.unwrap()
    };
    let pins = ["Gloves hang by the door", "The shed has no lock", "Water at dusk"];
    let pinned = pins.map(|text| tell(text, MemoryType::Fact, true));
    let found = tell("Wisteria is pruned in February, behind the second bud", MemoryType::Procedure, false);
    let times = |id: &str| {
        engine
            .exposure(&Visibility::everything(), &engine.get(&Visibility::everything(), id).unwrap())
            .unwrap()
            .map(|(times, _)| times)
    };
    let brief = |budget| {
        let task = Some("prune the wisteria behind the second bud".to_owned());
        let request = BriefRequest { budget, task, ..BriefRequest::default() };
        let brief = engine.brief(&Visibility::everything(), &request, now()).unwrap();
        engine.keep_given(now()).unwrap();
        brief.entries.len()
    };
    assert_eq!((brief(Briefing::Lite), times(&pinned[0]), times(&found)), (3, Some(1), None));
    assert_eq!((brief(Briefing::Standard), times(&pinned[0]), times(&found)), (4, Some(2), Some(1)));
}

#[test]
fn a_budget_holds_what_passed_the_bar() {
    let place = Place::without_model();
    let engine = place.open();
    keep(&engine, "Zymurgy starts with barley and patience.");
    keep(&engine, "Barley is kept in the barn. Nobody goes there.");
    let ask = |prefetch: bool| {
        let request = QueryRequest {
            prefetch,
            budget_tokens: Some(400),
            ..request("which barley is good for zymurgy?")
        };
        engine.query(&Visibility::everything(), &request, now()).unwrap()
    };
    let (asked, silent) = (ask(false).evidence.unwrap(), ask(true));
    assert_eq!((silent.hits.len(), silent.held_back), (1, Some(1)));
    // The same terms, counted the same way: the piece is the first of what an explicit question packs.
    assert_eq!(silent.evidence.unwrap().pieces, asked.pieces[..1]);
}

#[test]
fn a_request_that_cannot_be_met_is_refused() {
    let place = Place::without_model();
    let engine = place.open();
    let check = |request: QueryRequest, expected: &str| match engine.query(
        &Visibility::everything(),
        &request,
        now(),
    ) {
        Err(error @ Error::Invalid { .. }) => assert_eq!(error.to_string(), expected),
        other => panic!("{other:?}"),
    };
    check(QueryRequest { budget_tokens: Some(31), ..request("x") }, "budget 31: use 32 to 1000000 tokens");
    check(
        QueryRequest { budget_tokens: Some(1_000_001), ..request("x") },
        "budget 1000001: use 32 to 1000000 tokens",
    );
    let session = QueryRequest { session: Some(" ".into()), ..request("x") };
    check(session, "session: the id is empty; use the same text in each turn");
    let nothing = QueryRequest { budget_tokens: Some(32), ..request("x") };
    assert_eq!(engine.query(&Visibility::everything(), &nothing, now()).unwrap().evidence.unwrap().tokens, 0);
}
