//! Analyses a question and scores how well a statement fits it, beyond likeness in meaning.
//! It looks at the attribute that is asked for in whatever words, at the kind of answer, and at which of several of a kind. For
//! short statements about one thing, which differ in little else.

use super::super::claims::tokens::{Token, tokens};
use super::parts::{Part, Role, Sort};
use super::{Frame, has_beyond, is_qualified, qualifiers};

/// Qualifiers that say which of several things of a kind.
const PLACES: &[&str] = &[
    "alpha",
    "backup",
    "beta",
    "blue",
    "canary",
    "demo",
    "development",
    "east",
    "fallback",
    "green",
    "legacy",
    "local",
    "mobile",
    "north",
    "preprod",
    "preview",
    "production",
    "qa",
    "sandbox",
    "shadow",
    "south",
    "staging",
    "standby",
    "uat",
    "west",
];

/// The kind of answer that a question wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// "Who ...?"
    Name,
    /// "When ...?"
    Time,
    /// "How many ...?"
    Number,
    /// "How do I ...?"
    Steps,
    /// Anything.
    Any,
}

/// A question, taken apart.
#[derive(Clone, Debug)]
pub struct Question {
    frame: Frame,
    wants: Wants,
    /// Which of several of a kind it asks about.
    places: Vec<&'static str>,
    /// Whether it asks for what was, will be or may be.
    is_of_another_time: bool,
}

/// What each part of a fit is worth, in the deviations that scores are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// The attribute that is asked for; another one takes half of it away.
    pub attribute: f32,
    /// The kind of answer, or none of it.
    pub kind: f32,
    /// Steps where steps are asked for, or none.
    pub steps: f32,
    /// What only one of the two says, the question or the statement, of which one of a kind it speaks takes this away.
    pub qualifier: f32,
    /// Another one of a kind than is asked for takes this away.
    pub contrary: f32,
    /// What is not so now takes this away.
    pub tense: f32,
}

impl Default for Worth {
    fn default() -> Self {
        Self { attribute: 1.6, kind: 0.5, steps: 1.2, qualifier: 1.5, contrary: 2.0, tense: 1.0 }
    }
}

impl Question {
    /// Reads a question. Any text is one.
    pub fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let frame = Frame::read(text, &tokens);
        let says = |words: &[&str]| tokens.iter().any(|token| token.among(words));
        Self {
            wants: wants(&tokens),
            is_of_another_time: says(&[
                "was",
                "were",
                "did",
                "used",
                "before",
                "former",
                "formerly",
                "previous",
                "previously",
                "until",
                "ago",
                "will",
                "going",
                "plan",
                "planned",
                "plans",
                "future",
                "next",
                "soon",
                "originally",
                "history",
                "once",
                "last",
                "earlier",
                "yesterday",
                "tomorrow",
            ]) || tokens.iter().any(|token| is_year(token)),
            places: places(&frame),
            frame,
        }
    }

    /// How well a statement fits, above 0 where it does and below where it does not; 0 where nothing can be said. `holds` is
    /// whether it is so at the time that is asked of, by its own dates.
    pub fn fit(&self, statement: &Frame, text: &str, holds: bool, worth: &Worth) -> f32 {
        let attribute = match self.frame.attributes.answers(&statement.attributes) {
            one if one < 0.0 => worth.attribute * one / 2.0,
            one => worth.attribute * one,
        };
        let is_fresh = |part: &&Part| !self.frame.says(&part.flat);
        let has = |fits: &dyn Fn(&Role) -> bool| {
            statement.parts.iter().filter(is_fresh).any(|part| fits(&part.role))
        };
        let signed = |has: bool, worth: f32| if has { worth } else { -worth };
        let kind = match self.wants {
            Wants::Any => 0.0,
            Wants::Name => signed(has(&|role| matches!(role, Role::Name | Role::Opener)), worth.kind),
            Wants::Time => signed(has(&|role| matches!(role, Role::Value(Sort::When(_)))), worth.kind),
            Wants::Number => {
                let counts = |role: &Role| {
                    matches!(role, Role::Value(Sort::Number(..) | Sort::When(_) | Sort::Version))
                };
                signed(has(&counts), worth.kind)
            }
            Wants::Steps => signed(has_steps(text), worth.steps),
        };
        let said = places(statement);
        let qualifier = match (has_beyond(&self.places, &said), has_beyond(&said, &self.places)) {
            (false, false) => 0.0,
            (true, true) => -worth.contrary,
            (true, false) | (false, true) => -worth.qualifier,
        };
        // What to do one after the other is no claim of a time.
        let is_so = (statement.is_of_now || self.wants == Wants::Steps) && holds;
        let tense = if is_so || self.is_of_another_time { 0.0 } else { -worth.tense };
        attribute + kind + qualifier + tense
    }

    /// Whether two statements both tell what is asked of the thing that is asked about, and not the same for sure: then the later one
    /// is the answer, though which word of either is its value may be unclear.
    pub fn is_answered_anew(&self, earlier: &Frame, later: &Frame) -> bool {
        let is_thing = |part: &Part| self.frame.says(&part.flat);
        self.frame.attributes.are_told_by(&earlier.attributes, &later.attributes)
            && earlier.is_of_now
            && later.is_of_now
            && earlier.shared(later).chain(later.shared(earlier)).any(is_thing)
            && !is_qualified(earlier, later)
            && earlier.has_same_value(later).is_none()
    }
}

/// Which of several of a kind a text speaks of.
fn places(frame: &Frame) -> Vec<&'static str> {
    qualifiers(frame).into_iter().filter(|word| PLACES.contains(word)).collect()
}

fn wants(tokens: &[Token<'_>]) -> Wants {
    let is = |at: usize, words: &[&str]| tokens.get(at).is_some_and(|token| token.among(words));
    let is_steps = |at: usize| {
        (is(at, &["how"])
            && is(at + 1, &["do", "to", "can", "should", "would", "does"])
            && !is(at + 2, &["you"]))
            || (is(at, &["steps", "procedure", "instructions", "guide"]))
            || (is(at, &["which", "what"]) && is(at + 1, &["order"]))
    };
    if (0..tokens.len()).any(is_steps) {
        return Wants::Steps;
    }
    for at in 0..tokens.len() {
        if is(at, &["who", "whom", "whose"]) {
            return Wants::Name;
        }
        if is(at, &["when"]) && at < 2 {
            return Wants::Time;
        }
        if is(at, &["how"])
            && is(at + 1, &["many", "much", "long", "large", "big", "often", "fast", "old", "high"])
        {
            return Wants::Number;
        }
    }
    Wants::Any
}

fn is_year(token: &Token<'_>) -> bool {
    token.text.len() >= 4
        && token
            .text
            .get(..4)
            .is_some_and(|year| year.parse::<u16>().is_ok_and(|year| (1900..2100).contains(&year)))
}

/// Whether a text tells what to do one after the other.
fn has_steps(text: &str) -> bool {
    const CUES: &[&str] = &[
        "first",
        "then",
        "finally",
        "afterwards",
        "lastly",
        "next",
        "run",
        "after that",
        "at the end",
        "before you",
        "1.",
        "2.",
        "1)",
        "2)",
        "steps",
        "step",
        "how to",
        "wait for",
        "don't forget",
        "do not forget",
        "make sure",
    ];
    let lower = format!(" {} ", text.to_lowercase().replace(['\n', '\t', ':', ',', '`'], " "));
    let said = CUES.iter().filter(|cue| {
        lower.match_indices(*cue).any(|(at, cue)| {
            lower[..at].ends_with([' ', '(']) && lower[at + cue.len()..].starts_with([' ', '.'])
        })
    });
    said.take(2).count() == 2
}

#[cfg(test)]
mod tests {
    use super::super::super::said::Said;
    use super::*;

    const WORTH: Worth =
        Worth { attribute: 2.0, kind: 0.5, steps: 3.0, qualifier: 10.0, contrary: 12.0, tense: 20.0 };

    #[track_caller]
    fn check(question: &str, statement: &str, expected: f32) {
        let said = Said::of(statement);
        let fit = Question::of(question).fit(&said.frame, statement, true, &WORTH);
        assert!((fit - expected).abs() < f32::EPSILON, "{question} / {statement}: {fit}");
    }

    #[test]
    fn what_is_asked_for_fits_in_whatever_words() {
        check("who takes care of owl-mailer?", "The steward of owl-mailer is Bo Lind", 2.5);
        check("who takes care of owl-mailer?", "The rate limit of owl-mailer is 300", -1.5);
        check("who takes care of owl-mailer?", "owl-mailer is written with care", -0.5);
        check("how long does owl-mailer wait?", "owl-mailer gives up after 11 s", 2.5);
        check(
            "how do I restart owl-mailer?",
            "To restart owl-mailer, first drain it, then run `make up`",
            3.0,
        );
        check("how do I restart owl-mailer?", "owl-mailer was restarted by Bo", -3.0);
        // "size" may be that of a disk too.
        check("WEB-12 size", "WEB-12 is estimated at 7 points", 1.0);
        check("WEB-12 size", "WEB-12 is assigned to Bo", 0.0);
        check("WEB-12 size", "The estimate of ticket WEB-12 is no longer 7 points, it is 14 points", 1.0);
        // The kind of a value may tell what it is a value of.
        check("web-12 IP address", "10.1.2.3 is web-12", 1.0);
        check("web-12 IP address", "The database of web-12 is at 10.1.2.3", -1.0);
    }

    #[test]
    fn what_is_over_fits_less_unless_the_past_is_asked_for() {
        let statement = "The steward of owl-mailer is Bo Lind";
        let fit =
            |question: &str| Question::of(question).fit(&Said::of(statement).frame, statement, false, &WORTH);
        assert!((fit("who takes care of owl-mailer?") - (2.5 - 20.0)).abs() < f32::EPSILON);
        assert!((fit("who took care of owl-mailer before?") - 0.5).abs() < f32::EPSILON);
    }

    #[test]
    fn of_two_answers_the_later_is_known() {
        let is_anew = |question: &str, one: &str, two: &str| {
            Question::of(question).is_answered_anew(&Said::of(one).frame, &Said::of(two).frame)
        };
        let question = "who runs the builds of owl-mailer?";
        assert!(is_anew(question, "Drone builds owl-mailer", "owl-mailer is built by Jenkins"));
        assert!(!is_anew(question, "Drone builds owl-mailer", "Drone builds elk-mailer"));
        assert!(!is_anew(question, "Drone builds owl-mailer", "owl-mailer in staging is built by Jenkins"));
        assert!(!is_anew(question, "Drone builds owl-mailer", "Ada owns owl-mailer"));
        // Plain words, which may be those of another attribute.
        let question = "what is the job title of Cy Roe?";
        assert!(is_anew(question, "Cy Roe works as release manager", "Cy Roe was hired as support lead"));
        assert!(!is_anew(question, "Cy Roe works as release manager", "Bo Lind was hired as support lead"));
        assert!(!is_anew(question, "Cy Roe works as release manager", "Cy Roe manages the releases"));
        let branch = "which branch do I merge into in Elm?";
        assert!(is_anew(branch, "For Elm, the default branch is next", "branch off from master in Elm"));
        assert!(!is_anew(
            "where is owl-mailer?",
            "Drone builds owl-mailer",
            "owl-mailer is built by Jenkins"
        ));
    }

    #[test]
    fn another_of_a_kind_or_of_another_time_fits_less() {
        check("what is the port of owl-mailer in staging?", "owl-mailer listens on port 80", -8.0);
        check("what is the port of owl-mailer?", "owl-mailer in staging listens on port 80", -8.0);
        check(
            "what is the port of owl-mailer in preview?",
            "owl-mailer in staging listens on port 80",
            -10.0,
        );
        check(
            "what is the port of owl-mailer?",
            "From 2031-05-01 on the port of owl-mailer will be 81",
            -18.0,
        );
        check(
            "what will the port of owl-mailer be?",
            "From 2031-05-01 on the port of owl-mailer will be 81",
            2.0,
        );
        check("", "owl-mailer listens on port 80", 0.0);
    }
}
