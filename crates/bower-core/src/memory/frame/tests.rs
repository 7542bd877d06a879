//! Golden tests of frames: pairs of invented statements, and the change that each pair tells.
//! What is left to compare is what the model is given.

use proptest::prelude::*;

use super::super::said::Said;
use super::*;

fn stated(said: &Said) -> Stated<'_> {
    (&said.frame, said.slot.as_ref())
}

fn found(kept: &str, told: &str) -> Option<Pairing> {
    let (kept, told) = (Said::of(kept), Said::of(told));
    pairing(stated(&kept), stated(&told))
}

/// What became of the value; `-` where the two do not lie side by side, `=` where it is the same.
fn shown(kept: &str, told: &str) -> String {
    match found(kept, told).map(|found| found.change) {
        None => "-".to_owned(),
        Some(Change::Nothing) => "=".to_owned(),
        Some(Change::Value { from, to, .. }) => format!("{from} -> {to}"),
        Some(Change::Former { from, to, .. }) => format!("{} => {}", from.trim(), to.unwrap_or_default()),
    }
}

#[track_caller]
fn check(kept: &str, told: &str, expected: &str) {
    assert_eq!(shown(kept, told), expected, "{kept} / {told}");
}

#[test]
fn one_thing_has_one_amount_of_a_kind() {
    for (kept, told, expected) in [
        (
            "Calls to owl-mailer are cut off after 11 seconds",
            "owl-mailer's timeout is 18 s",
            "11 seconds -> 18 s",
        ),
        ("web-07 was given 4 cores", "web-07 now has 8 cores", "4 -> 8"),
        (
            "OwlMailer polls the feed every 20 seconds",
            "The poll interval of owl-mailer is 45 s",
            "20 seconds -> 45 s",
        ),
        ("Project Heron launches on May 5", "Heron goes public on 2025-06-01", "May 5 -> 2025-06-01"),
        ("For owl mailer, uploads end at 20 MB", "owl-mailer rejects uploads beyond 30 MB", "20 MB -> 30 MB"),
        (
            "Uploads to `owl-mailer` end at 20 MB.",
            "FYI: owl-mailer rejects uploads beyond 30 MB!",
            "20 MB -> 30 MB",
        ),
        ("Sessions of owl-mailer live 60 s", "owl-mailer: a session lives one minute", "-"),
        ("Sessions of owl-mailer live 60 s", "owl-mailer: a session lives 1 minute", "="),
        ("owl-mailer logs at level debug", "owl-mailer writes info messages and above", "debug -> info"),
    ] {
        check(kept, told, expected);
    }
    let found =
        found("Calls to owl-mailer are cut off after 11 seconds", "The timeout of owl-mailer is now 18 s")
            .unwrap();
    assert_eq!(
        found.masked,
        ["Calls to it are cut off after some seconds", "The timeout of it is some seconds"]
    );
    assert!(!found.has_same_words);
}

#[test]
fn another_thing_another_kind_of_value_or_another_qualifier_is_no_pair() {
    for (kept, told) in [
        ("owl-mailer gives up after 11 seconds", "owl-indexer gives up after 18 seconds"),
        ("owl-mailer gives up after 11 seconds", "owl-mailer has 18 workers"),
        ("owl-mailer in staging gives up after 11 seconds", "owl-mailer gives up after 18 seconds"),
        ("web-07 has 16 GB of memory", "web-07 has 200 GB of disk"),
        ("web-07 can hold 200 GB", "The memory of web-07 is 64 GB"),
        ("The read timeout of owl-mailer is 11 s", "The write timeout of owl-mailer is 18 s"),
        ("The TTL of owl-cache is 5 minutes", "The TTL of elk-cache is 9 minutes"),
        ("Alpine 3 is installed on web-07", "Alpine 3 is installed on web-08"),
        ("Ada Brandt owns owl-mailer", "Ada Brandt owns owl-indexer"),
        ("Ada Brandt speaks French", "Ada Brandt speaks Greek"),
        ("owl-mailer needs Redis", "owl-mailer needs Kafka"),
        ("owl-mailer has 3 workers in Oslo and 5 in Bern", "owl-mailer has 4 workers in Oslo and 6 in Bern"),
        ("owl-mailer is owned by Ada Brandt", "The runtime of owl-mailer is Python 3.12"),
    ] {
        check(kept, told, "-");
    }
}

#[test]
fn what_was_will_be_or_happened_is_no_pair() {
    let now = "The timeout of owl-mailer is 18 s";
    for other in [
        "owl-mailer used to give up after 11 seconds",
        "Originally owl-mailer gave up after 11 seconds",
        "Until March owl-mailer was cut off after 11 seconds",
        "owl-mailer will give up after 11 seconds",
        "From May 5 on owl-mailer gives up after 11 seconds",
        "We plan to let owl-mailer give up after 11 seconds",
        "owl-mailer might give up after 11 seconds",
        "If it is overloaded, owl-mailer gives up after 11 seconds",
        "Does owl-mailer give up after 11 seconds?",
    ] {
        check(other, now, "-");
        check(now, other, "-");
    }
    check("The outage of owl-mailer lasted 11 minutes", "An outage of owl-mailer lasted 18 minutes", "-");
    // What else is told would be lost.
    check("owl-mailer gives up after 11 s. Restart the workers first", now, "-");
    check("owl-mailer gives up after 11 s. It was agreed with Bo.", now, "11 s -> 18 s");
}

#[test]
fn a_text_that_names_the_former_value_ends_it() {
    for (kept, told, expected) in [
        (
            "Behind owl-mailer there is MySQL 8",
            "owl-mailer moved away from MySQL 8 to CockroachDB",
            "MySQL 8 => CockroachDB",
        ),
        (
            "In Heron, Luxon was chosen for dates",
            "We dropped Luxon for dates in Heron and took Temporal",
            "Luxon => Temporal",
        ),
        (
            "The vendor covers web-07 until May 5, 2027",
            "web-07 warranty: 2027-05-05 -> 2028-01-01",
            "May 5 , 2027 => 2028-01-01",
        ),
        (
            "Bo Lind picks up at 2815",
            "Correction: the extension of Bo Lind is 5340, not 2815",
            "2815 => 5340",
        ),
        (
            "owl-mailer is scaled to 3 pods",
            "owl-mailer switched its replica count to 19; 3 is gone",
            "3 => 19",
        ),
        (
            "owl-mailer is scaled to 4 pods",
            "owl-mailer switched its replica count to 19; 3 is gone",
            "4 -> 19",
        ),
        (
            "Calls to owl-mailer end after 30 s",
            "owl-mailer gives up after 45 s instead of 30 s",
            "30 s => 45 s",
        ),
        ("Calls to elk-mailer end after 30 s", "owl-mailer gives up after 45 s instead of 30 s", "-"),
        ("Elk is built by Drone instead of Jenkins", "Heron is built by Jenkins, not Drone", "-"),
        ("Calls to owl-mailer in preview end after 30 s", "owl-mailer timeout: 30 s -> 45 s", "-"),
    ] {
        check(kept, told, expected);
    }
}

#[test]
fn things_of_one_value_are_no_values_of_one_thing() {
    for (kept, told, expected) in [
        ("The hosting region of Nel Labs is us-east-1", "For Fen Travel, the region is us-east-1.", "-"),
        (
            "the tests of Elm are run with `tox -e py312`.",
            "tox -e py312 is the way to run the tests of Ash.",
            "-",
        ),
        ("Heron: CI system is now Jenkins, it was Drone before.", "Drone builds Elk", "-"),
        ("Ada Roe manages Bo Lind.", "Cy Poe is the boss of Ada Roe", "-"),
        ("Ada Roe manages Bo Lind.", "Cy Poe is the boss of Bo Lind", "Ada Roe -> Cy Poe"),
        ("Elm is licensed as BSD 3-clause.", "For Ash, the licence is BSD 3-clause.", "-"),
        ("emil Lind reports to Ada Roe", "Elm also reports to Fia Lind", "-"),
        ("ash Games plan: Trial.", "Team is the plan of Elm Games.", "-"),
    ] {
        check(kept, told, expected);
    }
}

#[test]
fn what_only_seems_to_replace_is_ordered() {
    let seems = |kept: &str, told: &str, cosine| {
        let (kept, told) = (Said::of(kept), Said::of(told));
        seems_to_replace(stated(&kept), stated(&told), Some(cosine))
    };
    let (one, two) = ("Calls to owl-mailer end after 30 s", "owl-mailer gives up after 45 s");
    assert!(seems(one, two, BESIDE) && !seems(one, two, BESIDE - 0.01));
    assert!(!seems(one, "elk-mailer gives up after 45 s", 0.99));
    assert!(seems("API port is 8080", "The API listens on port 9090", 0.5));
}

#[test]
fn one_letter_lost_or_doubled_or_two_exchanged_is_a_slip() {
    for (word, is_it) in [
        ("proposal", true),
        ("propoal", true),
        ("roposal", true),
        ("proposa", true),
        ("proppsal", false),
        ("proposall", true),
        ("pproposal", true),
        ("prpoosal", true),
        ("proposla", true),
        ("prposoal", false),
        ("propal", false),
        ("propösal", false),
        ("", false),
    ] {
        assert_eq!(parts::is_slip(word, "proposal"), is_it, "{word}");
    }
}

#[test]
fn qualifiers_are_looked_for_in_order() {
    assert!(QUALIFIERS.is_sorted());
}

proptest! {
    #[test]
    fn any_two_texts_have_frames(one in ".{0,80}", two in r#"[a-c0-9A-B \-"`'(),.:;=>\n]{0,60}"#) {
        let (one, two) = (Said::of(&one), Said::of(&two));
        let pair = |a: &Said, b: &Said| pairing(stated(a), stated(b));
        let (_, _) = (pair(&one, &two), pair(&two, &one));
        if let Some(pairing) = pair(&two, &two) {
            prop_assert!(!matches!(pairing.change, Change::Value { .. }), "{two:?}");
        }
    }
}
