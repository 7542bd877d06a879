//! Judges a simulated agent's run by the truth that its stream was made with.
//! It reads what anybody can read: replies, answers, lists, histories, and the bytes on the disk where a secret must not be. An item
//! is matched to its claim by its text, for no memory's text is ever changed, and else by the write that made it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use bower_core::engine::{Engine, MAX_LIMIT};
use bower_core::item::{Kind as ItemKind, Status, Visibility};
use bower_core::request::{Item, QueryRequest, Selection};
use jiff::Timestamp;

use super::junk::Junk;
use super::lived::{HITS, Lived, Point, Told};
use super::stream::{Kind, Stream};
use super::words::Draw;
use super::world::{Asks, Claim, World};
use crate::gauge::Times;
use crate::options::Failed;

/// How a figure is held to its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    Least(f64),
    Most(f64),
    /// Nothing is asked of it.
    Told,
}

/// A share with what it is asked to be, and those that failed it, in words.
pub struct Figure {
    pub name: &'static str,
    pub limit: Limit,
    pub hit: usize,
    pub of: usize,
    pub failures: Vec<String>,
}

impl Figure {
    fn new(name: &'static str, limit: Limit) -> Self {
        Self { name, limit, hit: 0, of: 0, failures: Vec::new() }
    }

    /// Counts one. What fails is told where it goes against the limit.
    fn count(&mut self, hit: bool, failure: impl FnOnce() -> String) {
        self.of += 1;
        self.hit += usize::from(hit);
        if hit != matches!(self.limit, Limit::Least(_)) {
            let failure = failure();
            self.failures.extend((!failure.is_empty()).then_some(failure));
        }
    }

    pub fn share(&self) -> f64 {
        if self.of == 0 {
            return if matches!(self.limit, Limit::Least(_)) { 1.0 } else { 0.0 };
        }
        self.hit as f64 / self.of as f64
    }

    pub fn is_kept(&self) -> bool {
        match self.limit {
            Limit::Least(least) => self.share() >= least,
            Limit::Most(most) => self.share() <= most,
            Limit::Told => true,
        }
    }
}

/// What was found out.
pub struct Verdicts {
    pub figures: Vec<Figure>,
    /// Writes by kind and outcome.
    pub outcomes: BTreeMap<Kind, BTreeMap<String, usize>>,
    pub questions: Times,
}

/// What the texts and ids in a store stand for.
struct Labels<'a> {
    by_text: HashMap<&'a str, &'a Told>,
    /// Who made an item: the first write that was answered with its id.
    makers: HashMap<&'a str, &'a Told>,
}

impl<'a> Labels<'a> {
    fn of(told: &'a [Told]) -> Self {
        let (mut by_text, mut makers) = (HashMap::new(), HashMap::new());
        for told in told {
            // What was kept knows best what its text is; a refused one may have the same.
            by_text.entry(told.text.trim()).or_insert(told);
            if told.accepted {
                makers.entry(told.id.as_str()).or_insert(told);
            }
        }
        Self { by_text, makers }
    }

    fn label(&self, item: &Item) -> Option<&'a Told> {
        let by_text = self.by_text.get(item.content.trim());
        by_text.or_else(|| self.makers.get(item.id.as_str())).copied()
    }

    fn claims(&self, item: &Item) -> &'a [Claim] {
        self.label(item).map_or(&[], |told| &told.claims)
    }
}

/// A question's answer, judged.
struct Asked {
    found: bool,
    stale_first: bool,
    asks: Asks,
    question: String,
    first: String,
    behind: bool,
}

fn ask(
    engine: &Engine,
    world: &World,
    labels: &Labels<'_>,
    claim: Claim,
    draw: &mut Draw,
    at: Timestamp,
) -> Result<Asked, Failed> {
    let (question, asks) = world.facts[claim.fact].question(draw, claim.value);
    let request = QueryRequest { text: question.clone(), limit: HITS, ..QueryRequest::default() };
    let hits = engine.query(&Visibility::everything(), &request, at)?.hits;
    let says = |item: &Item, claim: &Claim| labels.claims(item).contains(claim);
    let stale_first = hits.first().is_some_and(|hit| {
        let claims = labels.claims(&hit.memory);
        !claims.contains(&claim) && claims.iter().any(|said| said.fact == claim.fact)
    });
    // What a hit stands for is not read by whoever asked; it explains why the answer is not there.
    let behind = hits
        .iter()
        .flat_map(|hit| &hit.duplicates)
        .any(|id| labels.makers.get(id.as_str()).is_some_and(|told| told.claims.contains(&claim)));
    Ok(Asked {
        found: hits.iter().any(|hit| says(&hit.memory, &claim)),
        stale_first,
        asks,
        question,
        first: hits.first().map_or_else(String::new, |hit| hit.memory.content.clone()),
        behind,
    })
}

/// How it stands now, by a sample of what is so.
pub fn point(
    stream: &Stream,
    told: &[Told],
    engine: &Engine,
    at: Timestamp,
    count: usize,
) -> Result<Point, Failed> {
    let labels = Labels::of(told);
    let mut draw = Draw::new(at.as_second().unsigned_abs());
    let (mut asked, mut found, mut stale) = (0, 0, 0);
    for _ in 0..4 * count {
        let fact = draw.below(stream.world.facts.len());
        let Some(claim) = (!stream.world.facts.is_empty()).then(|| stream.world.current(fact, at)).flatten()
        else {
            continue;
        };
        let answer = ask(engine, &stream.world, &labels, claim, &mut draw, at)?;
        asked += 1;
        found += usize::from(answer.found);
        stale += usize::from(answer.stale_first);
        if asked == count {
            break;
        }
    }
    Ok(Point {
        at,
        writes: told.len(),
        items: engine.status(&Visibility::everything())?.total_memories,
        asked,
        found,
        stale,
    })
}

fn is_live(item: &Item) -> bool {
    matches!(item.status, Status::Candidate | Status::Active)
}

/// One memory that took the place of another.
struct Turn<'a> {
    at: Timestamp,
    new: String,
    old: String,
    claims: &'a [Claim],
    text: &'a str,
}

/// Everything that the judge looks at.
struct Court<'a> {
    stream: &'a Stream,
    lived: &'a Lived,
    labels: Labels<'a>,
    items: HashMap<String, Item>,
    /// What is so at the end.
    truth: Vec<Claim>,
    turns: Vec<Turn<'a>>,
}

/// Judges the whole of it; `home` is where the store's files are.
pub fn judge(stream: &Stream, lived: &Lived, home: &Path) -> Result<Verdicts, Failed> {
    let all =
        Selection { kinds: vec![ItemKind::Memory], statuses: Status::ALL.to_vec(), ..Selection::default() };
    let listed = lived.engine.list(&Visibility::everything(), &all, usize::MAX >> 1, 0)?.memories;
    let items: HashMap<String, Item> = listed.into_iter().map(|item| (item.id.clone(), item)).collect();
    let truth =
        (0..stream.world.facts.len()).filter_map(|fact| stream.world.current(fact, lived.end)).collect();
    let labels = Labels::of(&lived.told);
    let turns = turns(lived, &labels, &items);
    let court = Court { stream, lived, labels, items, truth, turns };
    let mut outcomes: BTreeMap<Kind, BTreeMap<String, usize>> = BTreeMap::new();
    for told in &lived.told {
        *outcomes.entry(told.kind).or_default().entry(told.outcome.clone()).or_default() += 1;
    }
    let (mut figures, questions) = court.answers()?;
    figures.extend(court.supersessions());
    figures.extend(court.statements());
    figures.extend(court.junk());
    figures.push(court.histories());
    figures.extend(court.secrets(home)?);
    figures.extend(court.recognised());
    figures.sort_by_key(|figure| figure.limit == Limit::Told);
    Ok(Verdicts { figures, outcomes, questions })
}

fn turns<'a>(lived: &'a Lived, labels: &Labels<'a>, items: &HashMap<String, Item>) -> Vec<Turn<'a>> {
    let mut seen = HashSet::new();
    let mut turns = Vec::new();
    for told in &lived.told {
        if let Some(old) = told.replaces.as_ref().filter(|_| told.accepted)
            && seen.insert((told.id.clone(), old.clone()))
        {
            let (new, old) = (told.id.clone(), old.clone());
            turns.push(Turn { at: told.at, new, old, claims: &told.claims, text: &told.text });
        }
    }
    let mut items: Vec<&Item> = items.values().collect();
    items.sort_by(|one, two| one.id.cmp(&two.id));
    for item in items {
        if let Some(old) = &item.supersedes_id
            && let Some(told) = labels.makers.get(item.id.as_str())
            && seen.insert((item.id.clone(), old.clone()))
        {
            let (new, old) = (item.id.clone(), old.clone());
            turns.push(Turn { at: told.at, new, old, claims: &told.claims, text: &told.text });
        }
    }
    turns
}

impl Court<'_> {
    fn text(&self, id: &str) -> &str {
        self.items.get(id).map_or("(gone)", |item| item.content.trim())
    }

    /// Whether some memory that is not hidden says so.
    fn said(&self) -> HashSet<Claim> {
        let live = self.items.values().filter(|item| is_live(item));
        live.flat_map(|item| self.labels.claims(item).iter().copied()).collect()
    }

    /// Asks for everything that is so.
    fn answers(&self) -> Result<(Vec<Figure>, Times), Failed> {
        let mut found = Figure::new("current facts found in the top 5", Limit::Least(0.99));
        let mut stale = Figure::new("a stale answer stands first", Limit::Most(0.02));
        let mut by_name = Figure::new("of them, asked for by its name", Limit::Told);
        let mut other_words = Figure::new("of them, asked for in other words", Limit::Told);
        let mut contested = Figure::new("a denied answer stands first", Limit::Told);
        let mut times = Times::new();
        let mut draw = Draw::new(self.truth.len() as u64);
        let said = self.said();
        for claim in &self.truth {
            let fact = &self.stream.world.facts[claim.fact];
            let asked = times.take(|| {
                ask(&self.lived.engine, &self.stream.world, &self.labels, *claim, &mut draw, self.lived.end)
            })?;
            let told = || {
                let text = self
                    .lived
                    .told
                    .iter()
                    .rev()
                    .find(|told| told.kind.may_be_kept() && told.claims.contains(claim));
                let text = text.map_or("", |told| told.text.trim());
                format!("[{}] {} | first: {} | told: {text}", fact.name, asked.question, asked.first)
            };
            let below = if asked.found { None } else { self.place(&asked.question, claim)? };
            found.count(asked.found, || {
                let why = if asked.behind {
                    "stands behind another hit"
                } else if said.contains(claim) {
                    "ranked below"
                } else {
                    "no memory says so"
                };
                let place = below.map_or_else(String::new, |place| format!(" ({place})"));
                format!("{why}{place}: {}", told())
            });
            let how = match asked.asks {
                Asks::ByName => &mut by_name,
                Asks::InOtherWords => &mut other_words,
            };
            how.count(asked.found, String::new);
            let first = if fact.contested { &mut contested } else { &mut stale };
            first.count(asked.stale_first, told);
        }
        Ok((vec![found, stale, by_name, other_words, contested], times))
    }

    /// Where a claim stands in an answer as long as answers can be, from 1.
    fn place(&self, question: &str, claim: &Claim) -> Result<Option<usize>, Failed> {
        let request = QueryRequest { text: question.to_owned(), limit: MAX_LIMIT, ..QueryRequest::default() };
        let hits = self.lived.engine.query(&Visibility::everything(), &request, self.lived.end)?.hits;
        let at = hits.iter().position(|hit| self.labels.claims(&hit.memory).contains(claim));
        Ok(at.map(|at| at + 1))
    }

    /// A memory that is still true was replaced by one that does not say the same.
    fn supersessions(&self) -> [Figure; 2] {
        let mut wrong = Figure::new("false supersessions", Limit::Most(0.01));
        let mut astray = Figure::new("a stale memory replaced by another fact's", Limit::Told);
        for turn in &self.turns {
            // Whoever takes the place of junk or of an echo does no harm.
            let old = self.items.get(&turn.old).and_then(|item| self.labels.label(item));
            let old = old.filter(|told| told.kind.may_be_kept()).map_or(&[][..], |told| &told.claims);
            let lost = old
                .iter()
                .find(|claim| self.stream.world.holds(**claim, turn.at) && !turn.claims.contains(claim));
            let words = || format!("{} <- {}", self.text(&turn.old), turn.text.trim());
            wrong.count(lost.is_some(), words);
            if lost.is_none() && !old.is_empty() {
                let same = old.iter().any(|old| turn.claims.iter().any(|new| new.fact == old.fact));
                astray.count(!same, words);
            }
        }
        [wrong, astray]
    }

    /// What is so and no memory says any more, by what happened to those who said it.
    fn statements(&self) -> [Figure; 4] {
        let mut hidden = Figure::new("true facts hidden by a supersession", Limit::Most(0.01));
        let mut away = Figure::new("true facts taken for what another memory says", Limit::Told);
        let mut refused = Figure::new("true facts refused", Limit::Told);
        let mut gate = Figure::new("writes refused that may be kept", Limit::Told);
        let said = self.said();
        let mut sayers: HashMap<Claim, Vec<&Told>> = HashMap::new();
        for told in &self.lived.told {
            for claim in &told.claims {
                sayers.entry(*claim).or_default().push(told);
            }
            if told.kind.may_be_kept() && told.kind != Kind::Passing {
                gate.count(!told.accepted, || {
                    format!("{}: {}", told.reason.as_deref().unwrap_or("?"), told.text.trim())
                });
            }
        }
        for claim in &self.truth {
            let gone = !said.contains(claim);
            let told = sayers.get(claim).map_or(&[][..], Vec::as_slice);
            let own: Vec<&&Told> = told.iter().filter(|told| told.kind.may_be_kept()).collect();
            let kept = own.iter().filter(|told| told.accepted);
            let covered = gone
                && kept.clone().any(|told| {
                    let item = self.items.get(&told.id);
                    item.is_some_and(|item| !is_live(item) && self.labels.claims(item).contains(claim))
                });
            let lost = gone && !covered && kept.clone().next().is_some();
            let words = || {
                let told = own.last().map_or("", |told| told.text.trim());
                let into = own.last().map_or("", |told| self.text(&told.id));
                format!("{told} -> {into}")
            };
            hidden.count(covered, words);
            away.count(lost, words);
            refused.count(gone && !covered && !lost, words);
        }
        [hidden, away, refused, gate]
    }

    fn junk(&self) -> [Figure; 3] {
        let mut junk = Figure::new("junk kept", Limit::Most(0.05));
        let mut echoes = Figure::new("echoes kept", Limit::Most(0.0));
        let mut passing = Figure::new("passing states kept", Limit::Told);
        for told in &self.lived.told {
            let item = self.items.get(&told.id).filter(|item| told.accepted && is_live(item));
            let words = || format!("[{}] {}", told.kind.word(), told.text.trim());
            match told.kind {
                Kind::Junk(kind) => {
                    let own = item.filter(|item| {
                        self.labels.label(item).is_some_and(|label| !label.kind.may_be_kept())
                    });
                    let clean = |item: &&Item| {
                        kind != Junk::Secret
                            || told.secret.as_ref().is_some_and(|secret| item.content.contains(secret))
                    };
                    junk.count(own.as_ref().is_some_and(clean), words);
                }
                Kind::Echo(_) => {
                    let maker = item.and_then(|item| self.labels.makers.get(item.id.as_str()));
                    echoes.count(maker.is_some_and(|maker| std::ptr::eq(*maker, told)), words);
                }
                Kind::Passing => passing.count(item.is_some(), words),
                _ => {}
            }
        }
        [junk, echoes, passing]
    }

    /// Whoever was replaced is still there, word for word, and his history and that of who replaced him belong together.
    fn histories(&self) -> Figure {
        let mut kept = Figure::new("replaced and lost memories still in their history", Limit::Least(1.0));
        let engine = &self.lived.engine;
        let events = |id: &str| {
            let events = engine.history(&Visibility::everything(), id).ok()?;
            serde_json::to_string(&events).ok()
        };
        for turn in &self.turns {
            let whole = engine.get(&Visibility::everything(), &turn.old).ok().filter(|item| {
                self.labels
                    .makers
                    .get(item.id.as_str())
                    .is_none_or(|told| told.secret.is_some() || told.text.trim() == item.content.trim())
            });
            let (old, new) = (events(&turn.old), events(&turn.new));
            let linked =
                self.items.get(&turn.new).is_some_and(|item| item.supersedes_id.as_ref() == Some(&turn.old))
                    || old.as_ref().is_some_and(|events| events.contains(&turn.new))
                    || new.as_ref().is_some_and(|events| events.contains(&turn.old));
            kept.count(whole.is_some() && old.is_some() && linked, || {
                format!("{} {}", turn.old, self.text(&turn.old))
            });
        }
        for (id, told) in &self.labels.makers {
            if !self.items.contains_key(*id) {
                kept.count(false, || format!("{id} is gone: {}", told.text.trim()));
            }
        }
        kept.failures.sort_unstable();
        kept
    }

    fn secrets(&self, home: &Path) -> Result<[Figure; 2], Failed> {
        let mut kept = Figure::new("secrets in a memory", Limit::Most(0.0));
        let mut bytes = Figure::new("secrets in the store's files", Limit::Most(0.0));
        let secrets: Vec<&str> = self.lived.told.iter().filter_map(|told| told.secret.as_deref()).collect();
        let texts: Vec<&str> = self.items.values().map(|item| item.content.as_str()).collect();
        let (texts, on_disk) = (texts.join("\n"), on_disk(home, &secrets)?);
        for secret in secrets {
            // Its beginning alone: what is told of a failure may be shown to others.
            let words = || format!("{}...", secret.chars().take(6).collect::<String>());
            kept.count(texts.contains(secret), words);
            bytes.count(on_disk.contains(secret), words);
        }
        Ok([kept, bytes])
    }

    /// Whether writes were taken for what they are.
    fn recognised(&self) -> Vec<Figure> {
        let mut updates = Figure::new("changes that replaced something", Limit::Told);
        let mut restated = Figure::new("plain restatements that replaced something", Limit::Told);
        let mut denied = Figure::new("denials seen as such", Limit::Told);
        let mut again = Figure::new("repeats that made a memory of their own", Limit::Told);
        let mut other_words = Figure::new("paraphrases that made a memory of their own", Limit::Told);
        let mut merged = Figure::new("confirmations of a memory that says something else", Limit::Told);
        let mut stale = Figure::new("live memories that say what is no longer so", Limit::Told);
        let turned: HashSet<&str> = self.turns.iter().map(|turn| turn.new.as_str()).collect();
        for told in self.lived.told.iter().filter(|told| told.accepted) {
            let made =
                self.labels.makers.get(told.id.as_str()).is_some_and(|maker| std::ptr::eq(*maker, told));
            let words = || format!("[{}] {}", told.outcome, told.text.trim());
            match told.kind {
                Kind::Changed => updates.count(turned.contains(told.id.as_str()), words),
                Kind::Restated => restated.count(turned.contains(told.id.as_str()), words),
                Kind::Denied => {
                    denied.count(["contradict", "supersede"].contains(&told.outcome.as_str()), words);
                }
                Kind::Repeat => again.count(made, words),
                Kind::Paraphrase => other_words.count(made, words),
                _ => {}
            }
            if told.kind.may_be_kept() && told.outcome == "confirm" {
                let item = self.items.get(&told.id);
                let says =
                    |item: &Item| told.claims.iter().all(|claim| self.labels.claims(item).contains(claim));
                merged.count(!item.is_some_and(says), || {
                    format!("{} -> {}", told.text.trim(), self.text(&told.id))
                });
            }
        }
        let mut live: Vec<&Item> = self.items.values().filter(|item| is_live(item)).collect();
        live.sort_by(|one, two| one.id.cmp(&two.id));
        for item in live {
            let claims = self.labels.claims(item);
            if let Some(first) = claims
                .first()
                .filter(|_| self.labels.label(item).is_some_and(|label| label.kind.may_be_kept()))
            {
                stale.count(!self.stream.world.holds(*first, self.lived.end), || {
                    item.content.trim().to_owned()
                });
            }
        }
        vec![updates, restated, denied, again, other_words, merged, stale]
    }
}

/// Which secrets stand in the files below a folder.
fn on_disk<'a>(home: &Path, secrets: &[&'a str]) -> Result<BTreeSet<&'a str>, Failed> {
    const HEAD: usize = 8;
    let mut heads: HashMap<[u8; HEAD], Vec<&'a str>> = HashMap::new();
    for secret in secrets {
        if let Some(head) = secret.as_bytes().first_chunk::<HEAD>() {
            heads.entry(*head).or_default().push(secret);
        }
    }
    let mut found = BTreeSet::new();
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path())?;
                for (at, window) in bytes.windows(HEAD).enumerate() {
                    let Some(head) = window.first_chunk::<HEAD>() else { continue };
                    for secret in heads.get(head).into_iter().flatten() {
                        if bytes[at..].starts_with(secret.as_bytes()) {
                            found.insert(*secret);
                        }
                    }
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::lived::Spent;
    use super::super::stream::Step;
    use super::super::world::{Fact, made_up};
    use super::*;
    use bower_core::config::Settings;
    use bower_core::item::Gate;
    use bower_core::request::CurateRequest;

    /// A store that keeps whatever it is told, and a month of these writes in it.
    struct Month {
        home: tempfile::TempDir,
        stream: Stream,
        lived: Lived,
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn month(world: World) -> Month {
        let home = tempfile::tempdir().unwrap();
        let settings = Settings { model: "none".to_owned(), ..Settings::default() };
        let engine = Engine::open(home.path(), settings, at(0)).unwrap();
        let steps: Vec<Step> = Vec::new();
        let stream = Stream { start: at(0), world, steps };
        let lived =
            Lived { told: Vec::new(), spent: Spent::default(), curve: Vec::new(), engine, end: at(1_000) };
        Month { home, stream, lived }
    }

    impl Month {
        fn tell(&mut self, second: i64, kind: Kind, text: &str, claims: &[Claim]) -> String {
            // What claims something is compared with nothing: what takes whose place is claimed by the test.
            let collection = (!claims.is_empty()).then(|| format!("at-{second}"));
            let request = CurateRequest { gate: Some(Gate::Off), collection, ..CurateRequest::new(text) };
            let reply = self.lived.engine.curate(&Visibility::everything(), &request, at(second)).unwrap();
            self.lived.told.push(Told {
                at: at(second),
                text: text.to_owned(),
                kind,
                claims: claims.to_vec(),
                secret: None,
                id: reply.id.clone().unwrap_or_default(),
                accepted: reply.accepted,
                outcome: "create".to_owned(),
                replaces: None,
                reason: None,
            });
            reply.id.unwrap_or_default()
        }

        fn figure(&self, name: &str) -> (usize, usize) {
            let verdicts = judge(&self.stream, &self.lived, self.home.path()).unwrap();
            let figure = verdicts.figures.iter().find(|figure| figure.name == name).expect(name);
            (figure.hit, figure.of)
        }
    }

    fn port() -> Fact {
        made_up(&["which port has {s}?"], &["{s} port {v}"])
    }

    #[test]
    fn an_answer_is_found_stale_or_neither() {
        let mut world = World::default();
        let old = world.add(port(), at(1));
        let new = Claim { value: 1, ..old };
        world.facts[0].since.push((at(5), 1));
        let mut month = month(world);
        month.tell(1, Kind::New, "harbor-relay port 8080", &[old]);
        assert_eq!(month.figure("current facts found in the top 5"), (0, 1));
        assert_eq!(month.figure("a stale answer stands first"), (1, 1));
        assert_eq!(month.figure("true facts hidden by a supersession"), (0, 1), "nobody ever said so");
        month.tell(5, Kind::Changed, "harbor-relay port port is which 9090", &[new]);
        assert_eq!(month.figure("current facts found in the top 5"), (1, 1));
        assert_eq!(month.figure("live memories that say what is no longer so"), (1, 2));
    }

    #[test]
    fn whoever_takes_the_place_of_what_is_true_is_a_false_supersession() {
        let mut world = World::default();
        let old = world.add(port(), at(1));
        let more = world.add(Fact { hangs_on: Some(old), ..port() }, at(2));
        let other = world.add(port(), at(3));
        let new = Claim { value: 1, ..old };
        world.facts[0].since.push((at(9), 1));
        let mut month = month(world);
        let both = month.tell(2, Kind::Detail, "harbor-relay port 8080, by Ana", &[old, more]);
        let replace = |month: &mut Month, second, kind, text: &str, claims: &[Claim]| {
            month.tell(second, kind, text, claims);
            month.lived.told.last_mut().unwrap().replaces = Some(both.clone());
        };
        // It says less, it says something else, it says all of it, and what it said is no longer so.
        replace(&mut month, 3, Kind::Paraphrase, "port 8080 is harbor-relay's", &[old]);
        assert_eq!(month.figure("false supersessions"), (1, 1));
        replace(&mut month, 4, Kind::Twin, "wren-cache port 8080", &[other]);
        assert_eq!(month.figure("false supersessions"), (2, 2));
        replace(&mut month, 5, Kind::Detail, "by Ana: harbor-relay port 8080", &[old, more]);
        assert_eq!(month.figure("false supersessions"), (2, 3));
        replace(&mut month, 9, Kind::Changed, "harbor-relay port now 9090", &[new]);
        assert_eq!(month.figure("false supersessions"), (2, 4));
        // Nothing in this store's history knows of what was only claimed here.
        assert_eq!(month.figure("replaced and lost memories still in their history"), (0, 4));
    }

    #[test]
    fn junk_echoes_and_secrets_are_counted_where_they_were_kept() {
        let mut month = month(World::default());
        month.tell(1, Kind::Junk(Junk::Chatter), "ok thanks", &[]);
        month.tell(2, Kind::Prose, "The relay needs a restart", &[]);
        // The same words as a memory leave nothing of their own; other words do.
        month.tell(3, Kind::Echo(super::super::surface::Echo::Verbatim), "The relay needs a restart", &[]);
        month.tell(
            4,
            Kind::Echo(super::super::surface::Echo::Framed),
            "Recalled: the relay needs a restart",
            &[],
        );
        month.tell(5, Kind::Junk(Junk::Secret), "the password is hunter2hunter2", &[]);
        month.lived.told.last_mut().unwrap().secret = Some("hunter2hunter2".to_owned());
        month.tell(6, Kind::Junk(Junk::Secret), "the password is [redacted]", &[]);
        month.lived.told.last_mut().unwrap().secret = Some("correct horse".to_owned());
        assert_eq!(month.figure("junk kept"), (2, 3), "what is redacted is no junk any more");
        assert_eq!(month.figure("echoes kept"), (1, 2));
        assert_eq!(month.figure("secrets in a memory"), (1, 2));
        assert_eq!(month.figure("secrets in the store's files"), (1, 2));
    }
}
