//! Generates the stream: what one simulated agent writes and asks in its days, each write with its truth.
//! The same plan gives the same stream, byte for byte; what depends on the store (echoes) is planned here and worded by whoever runs
//! it.

use std::collections::HashSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::families::{FAMILIES, Family, sayings};
use super::junk::{self, Junk};
use super::names::{Forms, Names, Subject};
use super::prose::{self, Prose};
use super::surface::{self, ECHOES, Echo};
use super::values::day;
use super::words::{Draw, Fields, fill, rule};
use super::world::{Claim, Fact, World};

/// What is to be made.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub days: u32,
    pub writes: usize,
}

/// What a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An attribute that nobody told before.
    New,
    /// The same of another thing, a digit or a word away.
    Twin,
    /// A decision, gotcha, procedure and the like.
    Prose,
    /// A note in another language.
    Foreign,
    /// What was so is said to be otherwise now.
    Changed,
    /// The same, said as if nothing had been before.
    Restated,
    /// A claim is denied.
    Denied,
    /// What is so, in other words.
    Paraphrase,
    /// What was said, in the same words.
    Repeat,
    /// What was said, and more.
    Detail,
    /// What was so before the first day: no news of the present.
    Past,
    /// What may come to be so: neither.
    Planned,
    /// A thing has another name.
    Renamed,
    /// What is so at the moment.
    Passing,
    Junk(Junk),
    Echo(Echo),
}

impl Kind {
    /// Whether it may become a memory.
    pub fn may_be_kept(self) -> bool {
        !matches!(self, Self::Junk(_) | Self::Echo(_))
    }

    /// A word for tables.
    pub fn word(self) -> String {
        match self {
            Self::Junk(kind) => format!("junk: {kind:?}").to_lowercase(),
            Self::Echo(how) => format!("echo: {how:?}").to_lowercase(),
            _ => format!("{self:?}").to_lowercase(),
        }
    }
}

/// What a share of the stream is spent on.
#[derive(Clone, Copy)]
enum Share {
    Plain(Kind),
    Junk,
    Echo,
}

/// How many of a thousand writes are what. An audit of a popular system (mem0ai/mem0#4573) found 97.8 % of 10,134 entries to be
/// junk, what agents repeat of what they were given among it. Here junk and echoes are 61.5 %: a clear majority, and enough is left
/// of each kind of truth for shares of one per cent to be measured.
const SHARES: &[(Share, u64)] = &[
    (Share::Junk, 460),
    (Share::Echo, 155),
    (Share::Plain(Kind::New), 90),
    (Share::Plain(Kind::Paraphrase), 60),
    (Share::Plain(Kind::Twin), 50),
    (Share::Plain(Kind::Prose), 50),
    (Share::Plain(Kind::Repeat), 30),
    (Share::Plain(Kind::Changed), 25),
    (Share::Plain(Kind::Restated), 20),
    (Share::Plain(Kind::Detail), 20),
    (Share::Plain(Kind::Passing), 12),
    (Share::Plain(Kind::Foreign), 7),
    (Share::Plain(Kind::Denied), 7),
    (Share::Plain(Kind::Past), 6),
    (Share::Plain(Kind::Planned), 5),
    (Share::Plain(Kind::Renamed), 3),
];

/// How often the agent asks before it changes or adds a near thing, and before anything else.
const ASKS_FIRST: f64 = 0.3;
const ASKS_ANYWAY: f64 = 0.05;
/// How often a changed value is one that the fact had before.
const BACK: f64 = 0.2;

/// How often such a value is restated in the very words that it was told in then.
const SAME_WORDS: f64 = 0.5;

/// One thing that the agent does.
pub enum Step {
    Write(Write),
    /// It asks; the answer is kept under a number where it will write it back.
    Ask {
        at: Timestamp,
        question: String,
        hold: Option<usize>,
    },
    /// It writes back an answer.
    EchoBack {
        at: Timestamp,
        hold: usize,
        how: Echo,
        seed: u64,
    },
}

impl Step {
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Write(write) => write.at,
            Self::Ask { at, .. } | Self::EchoBack { at, .. } => *at,
        }
    }
}

/// A text with its truth.
pub struct Write {
    pub at: Timestamp,
    pub text: String,
    pub kind: Kind,
    /// What it says is so.
    pub claims: Vec<Claim>,
    /// What must not be found anywhere afterwards.
    pub secret: Option<String>,
}

/// The whole of it.
pub struct Stream {
    pub start: Timestamp,
    pub world: World,
    /// In the order of time.
    pub steps: Vec<Step>,
}

/// The stream of a plan.
pub fn make(plan: Plan) -> Stream {
    let mut draw = Draw::new(plan.seed);
    let weeks = i64::try_from(draw.between(0, 60)).unwrap_or(0);
    // A Monday.
    let first: Timestamp = "2026-01-05T00:00:00Z".parse().expect("a time");
    let start = first + SignedDuration::from_hours(24 * 7 * weeks);
    let times = times(&mut draw, plan, start);
    let mut maker = Maker {
        draw,
        names: Names::default(),
        world: World::default(),
        things: Vec::new(),
        told: Vec::new(),
        texts: HashSet::new(),
        steps: Vec::new(),
        holds: 0,
        at: start,
    };
    for at in times {
        maker.at = at;
        maker.write();
    }
    // Echoes come later than they were planned; what comes at one time stays in its order.
    maker.steps.sort_by_key(Step::at);
    Stream { start, world: maker.world, steps: maker.steps }
}

/// When it writes: mostly on working days, from eight to eight.
fn times(draw: &mut Draw, plan: Plan, start: Timestamp) -> Vec<Timestamp> {
    let weights: Vec<u64> = (0..plan.days)
        .map(|day| if day % 7 < 5 { draw.between(70, 130) } else { draw.between(20, 50) })
        .collect();
    let mut seconds: Vec<i64> = (0..plan.writes)
        .map(|_| {
            let day = draw.share(weights.iter().copied()) as u64;
            let second = day * 86_400 + 8 * 3_600 + draw.between(0, 12 * 3_600 - 1);
            i64::try_from(second).unwrap_or(0)
        })
        .collect();
    seconds.sort_unstable();
    seconds.into_iter().map(|second| start + SignedDuration::from_secs(second)).collect()
}

/// Somebody or something that facts are about.
struct Thing {
    subject: Subject,
    forms: Forms,
    renamed: Option<Forms>,
    /// Things that may still be called almost like it.
    twins: u8,
}

/// Things that are called almost like one, at most: three machines of a row, not fifty.
const TWINS: u8 = 2;

struct Maker {
    draw: Draw,
    names: Names,
    world: World,
    things: Vec<Thing>,
    /// What was said with what it claims, to be said again.
    told: Vec<(String, Vec<Claim>)>,
    /// Every text, so that a paraphrase is no repeat.
    texts: HashSet<String>,
    steps: Vec<Step>,
    holds: usize,
    at: Timestamp,
}

impl Maker {
    fn today(&self) -> Date {
        self.at.to_zoned(TimeZone::UTC).date()
    }

    fn write(&mut self) {
        let (chosen, _) = SHARES[self.draw.share(SHARES.iter().map(|(_, share)| *share))];
        let done = match chosen {
            Share::Junk => {
                self.junk();
                Some(())
            }
            Share::Echo => self.echo(),
            Share::Plain(kind) => self.plain(kind),
        };
        if done.is_none() {
            // What it wanted needs something that is not there yet, on the first day mostly.
            while self.new_attribute().is_none() {}
        }
    }

    fn plain(&mut self, kind: Kind) -> Option<()> {
        if self.draw.chance(ASKS_ANYWAY) {
            self.ask_about(None);
        }
        match kind {
            Kind::New => self.new_attribute(),
            Kind::Twin => self.twin(),
            Kind::Prose | Kind::Foreign => self.prose(kind, None),
            Kind::Changed | Kind::Restated => self.change(kind),
            Kind::Denied => self.deny(),
            Kind::Paraphrase => self.paraphrase(),
            Kind::Repeat => self.repeat(),
            Kind::Detail => self.detail(),
            Kind::Past | Kind::Planned => self.elsewhen(kind),
            Kind::Renamed => self.rename(),
            Kind::Passing => {
                self.passing();
                Some(())
            }
            Kind::Junk(_) | Kind::Echo(_) => None,
        }
    }

    fn push(&mut self, kind: Kind, text: String, claims: Vec<Claim>, secret: Option<String>) {
        self.texts.insert(text.trim().to_owned());
        if !claims.is_empty() {
            self.told.push((text.clone(), claims.clone()));
        }
        self.steps.push(Step::Write(Write { at: self.at, text, kind, claims, secret }));
    }

    fn junk(&mut self) {
        let (kind, text, secret) = junk::draw(&mut self.draw);
        self.push(Kind::Junk(kind), text, Vec::new(), secret);
    }

    /// Asks now and writes the answer back: mostly at once, sometimes hours later on the same day.
    fn echo(&mut self) -> Option<()> {
        let hold = self.holds;
        self.ask_about(Some(hold))?;
        self.holds += 1;
        let seconds = match self.draw.below(10) {
            0..=5 => self.draw.between(1, 120),
            6..=8 => self.draw.between(120, 3_600),
            _ => self.draw.between(3_600, 3 * 3_600),
        };
        let (how, seed) = (*self.draw.pick(ECHOES), self.draw.seed());
        let at = self.at + SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(1));
        self.steps.push(Step::EchoBack { at, hold, how, seed });
        Some(())
    }

    fn ask_about(&mut self, hold: Option<usize>) -> Option<()> {
        let claim = self.pick(|_| true)?;
        self.ask_of(claim, hold);
        Some(())
    }

    fn ask_of(&mut self, claim: Claim, hold: Option<usize>) {
        let (question, _) = self.world.facts[claim.fact].question(&mut self.draw, claim.value);
        self.steps.push(Step::Ask { at: self.at, question, hold });
    }

    /// A fact that is so and fits; the newer ones more often.
    fn pick(&mut self, fits: impl Fn(&Fact) -> bool) -> Option<Claim> {
        let count = self.world.facts.len();
        for _ in 0..80 {
            let newest = if self.draw.chance(0.4) { (count / 5).max(1) } else { count.max(1) };
            let at = count.checked_sub(1 + self.draw.below(newest))?;
            if fits(&self.world.facts[at])
                && let Some(claim) = self.world.current(at, self.at)
            {
                return Some(claim);
            }
        }
        None
    }

    /// A thing of a kind: one that is known, or a new one.
    fn thing(&mut self, subject: Subject) -> usize {
        if self.draw.chance(0.75) {
            for _ in 0..12 {
                let at = self.draw.below(self.things.len());
                if self.things.get(at).is_some_and(|thing| thing.subject == subject) {
                    return at;
                }
            }
        }
        let forms = self.names.fresh(&mut self.draw, subject);
        self.add_thing(subject, forms)
    }

    fn add_thing(&mut self, subject: Subject, forms: Forms) -> usize {
        self.things.push(Thing { subject, forms, renamed: None, twins: TWINS });
        self.things.len() - 1
    }

    /// How a thing is called now.
    fn called(&self, thing: usize) -> Forms {
        let thing = &self.things[thing];
        thing.renamed.as_ref().unwrap_or(&thing.forms).clone()
    }

    fn new_attribute(&mut self) -> Option<()> {
        let family = self.draw.pick(&FAMILIES);
        let thing = self.thing(family.subject);
        let (forms, today) = (self.called(thing), self.today());
        let value = family.holds.draw(&mut self.draw, &forms[0], today);
        self.add_attribute(Kind::New, family, thing, value, None)
    }

    fn add_attribute(
        &mut self,
        kind: Kind,
        family: &'static Family,
        thing: usize,
        value: Vec<String>,
        template: Option<&'static str>,
    ) -> Option<()> {
        let forms = self.called(thing);
        if family.holds.is_exclusive && !self.world.is_new(format!("{}||{}", family.name, value[0])) {
            return None;
        }
        let which = if family.several { value[0].as_str() } else { "" };
        if !self.world.is_new(format!("{}|{thing}|{which}", family.name)) {
            return None;
        }
        let mut fields = Fields::from([("s", forms)]);
        if !family.nouns.is_empty() {
            let nouns = family.nouns.iter().map(|noun| (*noun).to_owned());
            fields.set("n", nouns.collect());
        }
        let fact = Fact {
            name: family.name,
            family: Some(family),
            entity: Some(thing),
            fields,
            says: vec![family.says],
            turns: family.turns,
            asks: family.asks,
            values: vec![value],
            ..Fact::default()
        };
        let claim = self.world.add(fact, self.at);
        self.say(kind, claim, template, true);
        Some(())
    }

    /// Says that a claim is so, in a way that it was not said before unless a template is given.
    fn say(&mut self, kind: Kind, claim: Claim, template: Option<&'static str>, usual: bool) {
        self.follow_name(claim);
        let fact = &self.world.facts[claim.fact];
        let (mut chosen, mut text) = ("", String::new());
        for _ in 0..10 {
            chosen = template.unwrap_or_else(|| fact.template(&mut self.draw, claim.value, true));
            let words = fact.words(&mut self.draw, chosen, Some(claim.value), None, usual);
            text = surface::roughen(&mut self.draw, &words, &fact.protected());
            if !self.texts.contains(text.trim()) {
                break;
            }
        }
        self.world.facts[claim.fact].said.push((claim.value, chosen, text.clone()));
        self.push(kind, text, vec![claim], None);
    }

    /// Mostly a thing is called as it is called now.
    fn follow_name(&mut self, claim: Claim) {
        let Some(thing) = self.world.facts[claim.fact].entity else { return };
        if self.things[thing].renamed.is_some() && self.draw.chance(0.85) {
            let forms = self.called(thing);
            self.world.facts[claim.fact].fields.set("s", forms);
        }
    }

    /// A near thing with a near value: an attribute that is easily taken for one that is known.
    fn twin(&mut self) -> Option<()> {
        let claim =
            self.pick(|fact| fact.family.is_some() || fact.name == "episode" || fact.name == "gotcha")?;
        if self.draw.chance(ASKS_FIRST) {
            self.ask_of(claim, None);
        }
        let fact = &self.world.facts[claim.fact];
        let about = fact.entity;
        let Some(family) = fact.family else { return self.prose(Kind::Twin, about) };
        let (value, thing) = (fact.values[claim.value].clone(), fact.entity?);
        let template =
            fact.said.last().map(|(_, template, _)| *template).filter(|said| !said.contains("{o}"));
        let name = fact.field("s").to_owned();
        let near_value = family.holds.near(&mut self.draw, &value[0]);
        let (thing, value) = if family.several && self.draw.chance(0.6) {
            let today = self.today();
            (thing, near_value.unwrap_or_else(|| family.holds.draw(&mut self.draw, &name, today)))
        } else {
            let may = self.things[thing].twins > 0;
            let near = may.then(|| self.names.near(&mut self.draw, family.subject, &name)).flatten();
            let other = if let Some(forms) = near {
                self.things[thing].twins -= 1;
                let twin = self.add_thing(family.subject, forms);
                self.things[twin].twins = 0;
                twin
            } else {
                self.thing(family.subject)
            };
            let today = self.today();
            let value = match self.draw.below(4) {
                // The same value of another thing is another fact too.
                0 if family.subject != Subject::Taste && !family.holds.is_exclusive => value,
                1 | 2 if near_value.is_some() => near_value?,
                _ => {
                    let about = self.called(other);
                    family.holds.draw(&mut self.draw, &about[0], today)
                }
            };
            (other, value)
        };
        self.add_attribute(Kind::Twin, family, thing, value, template)
    }

    fn prose(&mut self, kind: Kind, about: Option<usize>) -> Option<()> {
        for _ in 0..20 {
            let service = about.filter(|thing| self.things[*thing].subject == Subject::Service);
            let service = match service {
                Some(thing) => thing,
                None => self.thing(Subject::Service),
            };
            let project = self.thing(Subject::Project);
            let (forms, today) = ([self.called(service), self.called(project)], self.today());
            let made = if kind == Kind::Foreign {
                prose::foreign(&mut self.draw, &forms[0], today)
            } else {
                prose::draw(&mut self.draw, &forms[0], &forms[1], today)
            };
            if self.world.is_new(format!("{}|{}", made.name, made.key)) {
                let Prose { name, fields, says, asks, turns, value, .. } = made;
                let fact = Fact {
                    name,
                    // A name in another language's sentence stays as it was told.
                    entity: (kind != Kind::Foreign && fields.forms("s").is_some()).then_some(service),
                    fields,
                    // Both sides of a claim are values without words of their own.
                    values: value.map_or_else(|| vec![Vec::new(); says.len()], |value| vec![value]),
                    says,
                    turns,
                    asks,
                    ..Fact::default()
                };
                let claim = self.world.add(fact, self.at);
                self.say(kind, claim, None, true);
                return Some(());
            }
        }
        None
    }

    /// A value that the fact does not have now: one that it had, or one that it never had.
    fn next_value(&mut self, claim: Claim) -> Option<usize> {
        let fact = &self.world.facts[claim.fact];
        if fact.values.len() > 1 && self.draw.chance(BACK) {
            let others: Vec<usize> = (0..fact.values.len()).filter(|value| *value != claim.value).collect();
            return Some(*self.draw.pick(&others));
        }
        let (today, about) = (self.today(), fact.field("s").to_owned());
        for _ in 0..20 {
            let value = match fact.family {
                Some(family) => family.holds.draw(&mut self.draw, &about, today),
                None => vec![prose::redecide(&mut self.draw, fact.field("t"))?.0],
            };
            if fact.values.iter().all(|known| known[0] != value[0]) {
                self.world.facts[claim.fact].values.push(value);
                return Some(self.world.facts[claim.fact].values.len() - 1);
            }
        }
        None
    }

    fn turn(&mut self, claim: Claim, value: usize) -> Claim {
        self.world.facts[claim.fact].since.push((self.at, value));
        Claim { value, ..claim }
    }

    fn change(&mut self, kind: Kind) -> Option<()> {
        let told = kind == Kind::Changed;
        let claim =
            self.pick(|fact| fact.is_slot() || (!fact.turns.is_empty() && (told || fact.family.is_some())))?;
        let value = self.next_value(claim)?;
        if self.draw.chance(ASKS_FIRST) {
            self.ask_of(claim, None);
        }
        let changed = self.turn(claim, value);
        if !told {
            let said = self.world.facts[claim.fact]
                .said
                .iter()
                .find(|(known, template, _)| *known == value && !template.contains("{o}"));
            let again = said.map(|(_, _, text)| text.clone());
            match again.filter(|_| self.draw.chance(SAME_WORDS)) {
                Some(text) => self.push(kind, text, vec![changed], None),
                None => self.say(kind, changed, None, false),
            }
            return Some(());
        }
        self.follow_name(changed);
        if let Some((_, reason)) = prose::redecide(&mut self.draw, self.world.facts[claim.fact].field("t")) {
            self.world.facts[claim.fact].fields.set("r", vec![reason]);
        }
        let fact = &self.world.facts[claim.fact];
        let template = if fact.is_slot() && (fact.turns.is_empty() || self.draw.chance(0.6)) {
            self.draw.word(sayings("attribute", "changes"))
        } else {
            self.draw.word(fact.turns)
        };
        let words = fact.words(&mut self.draw, template, Some(value), Some(claim.value), false);
        let text = surface::roughen(&mut self.draw, &words, &fact.protected());
        self.world.facts[claim.fact].said.push((value, template, text.clone()));
        self.push(kind, text, vec![changed], None);
        Some(())
    }

    fn deny(&mut self) -> Option<()> {
        let claim = self.pick(|fact| fact.says.len() == 2)?;
        let denied = self.turn(claim, 1 - claim.value);
        self.world.facts[claim.fact].contested = true;
        self.say(Kind::Denied, denied, None, false);
        Some(())
    }

    fn paraphrase(&mut self) -> Option<()> {
        let claim = self.pick(|fact| fact.hangs_on.is_none() && fact.name != "foreign")?;
        self.say(Kind::Paraphrase, claim, None, false);
        Some(())
    }

    fn repeat(&mut self) -> Option<()> {
        for _ in 0..40 {
            let at = self.draw.below(self.told.len());
            let (text, claims) = self.told.get(at)?.clone();
            if claims.iter().all(|claim| self.world.holds(*claim, self.at)) {
                self.push(Kind::Repeat, text, claims, None);
                return Some(());
            }
        }
        None
    }

    /// What is known in the words that it was said in, or others, and a sentence more.
    fn detail(&mut self) -> Option<()> {
        let claim = self.pick(Fact::is_slot)?;
        let which = self.draw.word(rule("details"));
        if !self.world.is_new(format!("detail {which}|{}|{}", claim.fact, claim.value)) {
            return None;
        }
        let fact = &self.world.facts[claim.fact];
        let last = fact.said.last().filter(|(value, _, _)| *value == claim.value && self.draw.chance(0.5));
        let base = if let Some((_, _, text)) = last {
            text.trim().to_owned()
        } else {
            let template = fact.template(&mut self.draw, claim.value, false);
            fact.words(&mut self.draw, template, Some(claim.value), None, false)
        };
        let ahead = self.draw.days(20, 300);
        let says = sayings(which, "says");
        let mut fields = fact.fields.clone();
        fields.bind("h", self.draw.text("person"));
        fields.bind("k", self.draw.between(11, 980).to_string());
        fields.set("d", day(self.today().saturating_add(ahead)));
        let more = Fact {
            name: "detail",
            fields,
            says: vec![says],
            asks: sayings(which, "asks"),
            values: vec![Vec::new()],
            hangs_on: Some(claim),
            ..Fact::default()
        };
        let sentence = more.words(&mut self.draw, says[0], None, None, true);
        let added = self.world.add(more, self.at);
        let base = base.trim_end_matches(['.', '!']);
        self.push(Kind::Detail, format!("{base}. {sentence}"), vec![claim, added], None);
        Some(())
    }

    /// What was, or may come to be: it names a value that the fact does not have.
    fn elsewhen(&mut self, kind: Kind) -> Option<()> {
        let claim = self.pick(Fact::is_slot)?;
        let today = self.today();
        let fact = &self.world.facts[claim.fact];
        let family = fact.family?;
        let value = family.holds.draw(&mut self.draw, fact.field("s"), today);
        if fact.values.iter().any(|known| known[0] == value[0]) {
            return None;
        }
        let span = self.draw.days(60, 700);
        let (date, way) = if kind == Kind::Past {
            (today.saturating_sub(span), "past")
        } else {
            (today.saturating_add(span), "planned")
        };
        let template = self.draw.word(sayings("attribute", way));
        let mut fields = fact.fields.clone();
        fields.set("d", day(date));
        fields.set("v", value.clone());
        fields.set("o", value);
        let protected: Vec<&str> = fields.all().collect();
        let words = fill(template, |name| fields.usual(name).map(str::to_owned));
        let text = surface::roughen(&mut self.draw, &words, &protected);
        self.push(kind, text, Vec::new(), None);
        Some(())
    }

    fn rename(&mut self) -> Option<()> {
        for _ in 0..40 {
            let at = self.draw.below(self.things.len());
            let thing = self.things.get(at)?;
            let subject = thing.subject;
            let may = matches!(subject, Subject::Service | Subject::Project | Subject::Dataset);
            if !may || thing.renamed.is_some() || thing.forms[0].contains(' ') {
                continue;
            }
            let old = thing.forms.clone();
            let new = self.names.fresh(&mut self.draw, subject);
            if new[0].contains(' ') {
                continue;
            }
            let fact = Fact {
                name: "rename",
                fields: Fields::from([("s", old)]),
                says: vec![sayings("rename", "says")],
                asks: sayings("rename", "asks"),
                values: vec![new.clone()],
                ..Fact::default()
            };
            self.things[at].renamed = Some(new);
            let claim = self.world.add(fact, self.at);
            self.say(Kind::Renamed, claim, None, true);
            return Some(());
        }
        None
    }

    fn passing(&mut self) {
        let thing = self.thing(Subject::Service);
        let name = self.called(thing)[0].clone();
        let words = surface::passing(&mut self.draw, &name);
        let text = surface::roughen(&mut self.draw, &words, &[&name]);
        self.push(Kind::Passing, text, Vec::new(), None);
    }
}
