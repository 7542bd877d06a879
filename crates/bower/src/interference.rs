//! Tests non-interference: a caller's answers do not depend on anything that it may not see.
//! Two runs differ only in items that the caller may not see, and in the actions of others there. The caller must get
//! the same answers in both, byte for byte, from every route, tool and resource. The test sets all times, and
//! wall-clock measurements are left out.
//!
//! Word statistics are compared in two ways. With `statistics = own` the others write arbitrary texts. With `shared`
//! they write the same words in another order, so rarities and lengths are equal, and everything else must be equal
//! too.
//!
//! `BOWER_SOAK_STATE`, `BOWER_SOAK_SECONDS` and `BOWER_SOAK_SEED` turn the short run into a soak: see
//! `tools/soak/bounds.toml`.

mod acts;
mod plan;
mod random;
mod requests;

use bower_core::Engine;
use bower_core::config::Settings;
use bower_core::item::Statistics;
use bower_core::model::{Classifier, Embedder, Statements};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::http::probe::{Probe, set_clock};
use crate::service::Service;
use acts::Others;
use plan::Plan;
use random::Random;
use requests::{Known, Request};

/// Pairs of the short run.
const SHORT: u64 = 24;
/// Seeds of pairs that once differed: brv-curate refused, as an echo, texts that the store had returned to others.
const FOUND: [u64; 2] = [1_054, 1_057];
/// Pairs in one record of a soak.
const TOGETHER: u64 = 20;
/// Requests before the last phase, which sends each kind of request once.
const REQUESTS: usize = 28;

/// Embedder without a model: the letters of a word choose which of 64 numbers it raises.
struct Letters;

impl Embedder for Letters {
    fn model(&self) -> &'static str {
        "letters"
    }

    fn dimension(&self) -> usize {
        64
    }

    fn embed(&self, text: &str) -> bower_core::Result<Vec<f32>> {
        let mut vector = vec![0.1_f32; 64];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let place =
                word.bytes().fold(7_usize, |sum, byte| sum * 31 + usize::from(byte.to_ascii_lowercase()));
            vector[place % 64] += 1.0;
        }
        let length = vector.iter().map(|one| one * one).sum::<f32>().sqrt();
        Ok(vector.into_iter().map(|one| one / length).collect())
    }

    /// Every sentence is worth keeping.
    fn classify(
        &self,
        _input: &Statements<'_>,
        classifiers: &[Classifier],
    ) -> bower_core::Result<Option<Vec<Vec<f32>>>> {
        Ok(Some(vec![vec![1.0, 0.0, 0.0, 0.0, 0.0]; classifiers.len()]))
    }

    /// No word is in the vocabulary, so that every word of a question may be corrected.
    fn count_pieces(&self, text: &str) -> bower_core::Result<usize> {
        Ok(2 * text.split_whitespace().count())
    }
}

/// The store and clock of one of the two runs.
struct World {
    probe: Probe,
    now: Timestamp,
    _home: tempfile::TempDir,
}

impl World {
    fn new(plan: &Plan, folder: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-05-01T12:00:00Z".parse().unwrap();
        let settings = Settings {
            model: "none".into(),
            statistics: plan.statistics,
            // Neither sweeps nor compactions run by themselves, because their times would depend on how much others
            // write.
            sweep_hours: 0,
            compact_after: 1 << 30,
            time_zone: "UTC".into(),
            ..Settings::default()
        };
        let mut engine = Engine::open(home.path(), settings, now).unwrap();
        if plan.vectors {
            engine = engine.with_embedder(Box::new(Letters));
        }
        let folders = vec![folder.to_path_buf()];
        let probe = Probe::new(Service::new(engine), home.path(), plan.bounds.clone(), folders);
        let world = Self { probe, now, _home: home };
        set_clock(world.now);
        world
    }

    fn tick(&mut self) {
        self.now += SignedDuration::from_mins(97);
        set_clock(self.now);
    }
}

/// Runs the requests once, and returns them with their answers. With `asked` it repeats those requests. `acting`
/// decides how the others write.
fn run(
    plan: &Plan,
    acting: Statistics,
    folder: &Path,
    second: bool,
    asked: Option<&[Request]>,
) -> (Vec<Request>, Vec<String>) {
    let mut world = World::new(plan, folder);
    let mut others = Others::new(plan.seed, &plan.others, second, acting);
    let random = &mut Random::new(plan.seed ^ 0xA5A5);
    let mut known = Known::default();
    let (mut requests, mut answers) = (Vec::new(), Vec::new());
    let all = Request::everything(&world.probe);
    for at in 0..REQUESTS + all.len() {
        others.act(world.probe.service(), world.now);
        world.tick();
        known.others.clone_from(&others.ids);
        let request = match asked {
            Some(asked) => asked[at].clone(),
            // First requests that fill the store, then random ones, and last each kind once.
            None if at < 8 => Request::writes(random, plan),
            None if at < REQUESTS => all[random.below(all.len())].fill(random, plan, &known, folder),
            None => all[at - REQUESTS].fill(random, plan, &known, folder),
        };
        let answer = request.ask(&world.probe, &plan.bounds, world.now);
        known.learn(&answer);
        requests.push(request);
        answers.push(answer);
        world.probe.service().maintain(world.now).unwrap();
    }
    (requests, answers)
}

/// Returns the first difference between the answers of a pair; none if they are equal.
fn difference(seed: u64, folder: &Path) -> Option<String> {
    let plan = Plan::new(seed);
    let (requests, first) = run(&plan, plan.statistics, folder, false, None);
    let (_, second) = run(&plan, plan.statistics, folder, true, Some(&requests));
    let at = first.iter().zip(&second).position(|(one, two)| one != two)?;
    Some(format!("{plan:?}\nrequest {at}: {:?}\n1: {}\n2: {}", requests[at], first[at], second[at]))
}

/// Creates a folder with a few documents, the same for both runs.
fn documents() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("CANONICAL.md", "# Facts\n\nThe gateway port is 8001 and the queue runs in the cellar.\n"),
        (
            "guide.md",
            "# Guide\n\n## Backup\n\nThe backup of the warehouse starts at two and is encrypted. #ops\n",
        ),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn others_change_no_answer() {
    let folder = documents();
    let told = |name: &str| std::env::var(name).ok();
    let (Some(state), Some(seconds), Some(seed)) =
        (told("BOWER_SOAK_STATE"), told("BOWER_SOAK_SECONDS"), told("BOWER_SOAK_SEED"))
    else {
        for seed in (0..SHORT).chain(FOUND) {
            if let Some(difference) = difference(seed, folder.path()) {
                panic!("seed {seed}: {difference}");
            }
        }
        return;
    };
    let (most, mut seed): (f64, u64) = (seconds.parse().unwrap(), seed.parse().unwrap());
    let record = Path::new(&state).join("done.jsonl");
    let (start, mut found) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs_f64(most) {
        let (first, began) = (seed, Instant::now());
        let mut findings = Vec::new();
        while seed < first + TOGETHER {
            if let Some(difference) = difference(seed, folder.path()) {
                eprintln!("seed {seed}: {difference}");
                let again = format!("BOWER_BOUNDS_SEED={seed} cargo test -p bower --lib one_pair");
                findings.push(json!({"seed": seed, "what": difference, "again": again}));
            }
            seed += 1;
        }
        found += findings.len();
        let seconds = began.elapsed().as_secs_f64();
        let line = json!({"seed": first, "next": seed, "done": seed - first, "seconds": seconds, "findings": findings});
        let mut file = OpenOptions::new().create(true).append(true).open(&record).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    // The soak reads the record; the exit status agrees with it.
    assert_eq!(found, 0, "pairs differ");
}

/// Runs the pair of one seed, to inspect a finding of a soak.
#[test]
fn one_pair() {
    let Some(seed) = std::env::var("BOWER_BOUNDS_SEED").ok() else { return };
    let folder = documents();
    if let Some(difference) = difference(seed.parse().unwrap(), folder.path()) {
        panic!("seed {seed}: {difference}");
    }
}

/// Fails by name for a route, tool or resource without a request here.
#[test]
fn every_route_tool_and_resource_is_asked() {
    let folder = documents();
    let plan = Plan::new(0);
    let world = World::new(&plan, folder.path());
    let random = &mut Random::new(0);
    for request in Request::everything(&world.probe) {
        let _ = request.fill(random, &plan, &Known::default(), folder.path());
    }
    // These reveal nothing about items, or refuse callers with bounds (`suite/serve/refused.rs`).
    let beside = [
        "GET /health",
        "GET /ready",
        "GET /metrics",
        "GET /openapi.json",
        "POST /mcp",
        "GET /mcp",
        "DELETE /mcp",
    ];
    let mut asked: Vec<String> = world.probe.operations().into_iter().map(|(_, route)| route).collect();
    asked.extend(["GET /api/v1/events", "POST /api/v1/export"].map(str::to_owned));
    for route in crate::http::probe::routes() {
        assert!(asked.contains(&route) || beside.contains(&route.as_str()), "{route} is not asked");
    }
}

/// Checks that the documented list of shared statistics is complete; a change to it needs a change here.
#[test]
fn four_things_are_shared_and_named() {
    let page = include_str!("../../../docs/scopes.md");
    let section = page.split("\n## ").find(|section| section.starts_with("What is shared")).unwrap();
    let named: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    assert_eq!(
        named,
        [
            "how rare a word is (inverse document frequency)",
            "how long a text is on average",
            "how similar vectors are at large, where nothing is selected",
            "which languages the texts are in, which decides the stems of a question's words",
        ]
    );
}

/// Checks that the harness finds differences: with shared statistics and other words, answers differ.
#[test]
fn what_is_shared_is_seen() {
    let folder = documents();
    let differs = (0..12).any(|seed| {
        let plan = Plan { statistics: Statistics::Shared, vectors: false, ..Plan::new(seed) };
        let (requests, first) = run(&plan, Statistics::Own, folder.path(), false, None);
        first != run(&plan, Statistics::Own, folder.path(), true, Some(&requests)).1
    });
    assert!(differs, "the rarity of words is that of the whole store, and no answer shows it");
}
