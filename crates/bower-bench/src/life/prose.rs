//! Generates what the simulated agent learns apart from attributes, such as decisions, procedures and rules.
//! It learns decisions with reasons, gotchas, procedures, rules, and claims that somebody may deny. It also learns what happened on a
//! day, where a secret lies (never the secret), what an error means, and notes in other languages.
//!
//! A small letter in braces is how a text says a thing, the capital how a question does.

use jiff::civil::Date;

use super::values::day;
use super::words::{Draw, Names, Subject};

/// What fills the letters of a template, each in its spellings.
pub type Fields = Vec<(char, Vec<String>)>;

/// Statements by value, and questions.
pub struct Prose {
    pub name: &'static str,
    /// What makes it another fact than any other of its name.
    pub key: String,
    pub fields: Fields,
    /// Ways to say it, for each of its values.
    pub says: Vec<&'static [&'static str]>,
    pub asks: &'static [&'static str],
    /// Ways to say that it changed; empty where it does not.
    pub turns: &'static [&'static str],
    /// The values, where it has any in its text.
    pub value: Option<Vec<String>>,
}

/// (as said, as asked)
type Pair = (&'static str, &'static str);

const TOPICS: &[(&str, &str, &[&str])] = &[
    ("job queues", "background work", &["Postgres tables", "RabbitMQ", "Redis streams", "SQS", "NATS"]),
    (
        "feature flags",
        "switching features on and off",
        &["a config table", "Unleash", "LaunchDarkly", "environment variables"],
    ),
    ("search", "finding documents", &["Meilisearch", "tantivy", "Elasticsearch", "SQLite FTS", "Typesense"]),
    ("sessions", "keeping users logged in", &["signed cookies", "Redis", "JWTs", "database rows"]),
    ("file uploads", "taking in files from users", &["presigned URLs", "a proxy", "tus", "chunked posts"]),
    ("date handling", "working with times", &["jiff", "chrono", "Luxon", "Temporal", "moment"]),
    (
        "tracing",
        "following a request through the system",
        &["OpenTelemetry", "Jaeger", "plain request ids", "Zipkin"],
    ),
    (
        "schema migrations",
        "changing tables",
        &["plain SQL files", "Flyway", "Alembic", "sqitch", "Liquibase"],
    ),
    ("PDF rendering", "making printable pages", &["Typst", "wkhtmltopdf", "LaTeX", "headless Chromium"]),
    ("translations", "texts in several languages", &["Fluent", "gettext", "ICU messages", "JSON catalogues"]),
    ("secrets", "storing credentials", &["Vault", "sops", "sealed secrets", "1Password"]),
    ("charts", "drawing graphs in the browser", &["D3", "Vega", "plain SVG", "Chart.js"]),
    ("email", "sending mail", &["Postmark", "SES", "our own Postfix", "Mailgun"]),
    ("package management", "installing dependencies", &["pnpm", "npm", "yarn", "uv", "poetry"]),
    ("load balancing", "spreading requests", &["HAProxy", "Envoy", "nginx", "Caddy"]),
    ("the mobile app", "building for phones", &["Flutter", "native code", "React Native", "a web view"]),
];
const REASONS: &[&str] = &[
    "it needs one process less",
    "the team knows it already",
    "the licence allows it",
    "it was the fastest in our benchmark",
    "operations refused to run another cluster",
    "it survives a power cut",
    "support for the other one ends soon",
    "it costs a third",
    "the client library is maintained",
    "we had three outages with the alternative",
    "it works without a network",
    "legal asked for data to stay in the EU",
    "it can be tested on a laptop",
    "debugging it takes minutes and not days",
    "its memory use stays flat",
];
const EFFECTS: &[Pair] = &[
    ("loses the last message", "drop a message"),
    ("returns stale rows", "give outdated rows"),
    ("hangs for a minute", "freeze"),
    ("writes the same row twice", "create duplicates"),
    ("answers 502", "fail with a bad gateway"),
    ("forgets its locks", "release locks by itself"),
    ("reads the wrong time zone", "shift times by hours"),
    ("fills the disk with temp files", "run out of disk space"),
    ("skips the first batch", "miss the first batch"),
    ("opens too many connections", "exhaust the connection pool"),
    ("truncates long names", "cut names off"),
    ("sends mails twice", "mail people two times"),
    ("keeps the old certificate in memory", "serve an expired certificate"),
    ("ignores the retry header", "retry too early"),
];
const CONDITIONS: &[Pair] = &[
    ("the clock jumps", "the time is changed"),
    ("the primary fails over", "another node becomes primary"),
    ("a payload is larger than 1 MB", "the body is very large"),
    ("two deploys overlap", "it is rolled out twice at once"),
    ("the cache is cold", "nothing is cached yet"),
    ("DNS is slow", "name lookups take long"),
    ("the user has no last name", "a surname is missing"),
    ("a month has 31 days", "the month is long"),
    ("IPv6 is switched on", "the network speaks IPv6"),
    ("the file ends without a newline", "the last line is not terminated"),
    ("a tenant has more than 500 users", "the tenant is huge"),
    ("it is started as root", "it runs with all rights"),
    ("the replica lags", "replication is behind"),
    ("a webhook arrives before its order", "events come out of order"),
    ("daylight saving ends", "the clocks are set back"),
    ("the container has a read-only root", "the file system cannot be written"),
];
const WORKAROUNDS: &[&str] = &[
    "restart it afterwards",
    "set the retry count to three",
    "pin the client to the older release",
    "run the repair job by hand",
    "drain the queue first",
    "turn off keep-alive",
    "split the batch",
    "wait ten seconds between the steps",
    "use the second endpoint",
    "warm it with one dummy request",
    "pass the zone explicitly",
    "raise the file limit",
];
const GOALS: &[Pair] = &[
    ("roll back", "undo a deploy of"),
    ("rotate the certificate of", "renew the TLS certificate of"),
    ("restore a backup of", "bring back lost data of"),
    ("add a tenant to", "onboard a new customer in"),
    ("reindex", "rebuild the search index of"),
    ("release", "publish a new version of"),
    ("drain", "take traffic away from"),
    ("profile", "find out what is slow in"),
    ("move to another region", "relocate"),
    ("reproduce a customer's bug in", "see a reported problem in"),
    ("resize the disk of", "give more space to"),
    ("grant access to", "let a new colleague into"),
];
const STEPS: &[&str] = &[
    "freeze the pipeline",
    "tell the channel",
    "scale it to zero",
    "take a snapshot",
    "wait until the queue is empty",
    "switch the load balancer",
    "run the smoke tests",
    "check the dashboard for five minutes",
    "tag the commit",
    "ask the on-call person",
    "copy the manifest",
    "delete the old pods",
    "flush the cache",
    "compare the row counts",
    "close the ticket",
    "write an entry in the journal",
    "turn the flag on for ten percent",
    "verify the checksum",
    "open the firewall for an hour",
    "unlock the schema",
];
const COMMANDS: &[&str] = &[
    "systemctl stop app",
    "pg_dump -Fc main > dump.bin",
    "kubectl rollout undo deploy/app",
    "terraform plan -out p",
    "rsync -a data/ spare:/data/",
    "openssl req -new -key k.pem",
    "docker compose pull",
    "make seed",
    "git tag -s next",
    "redis-cli flushdb",
    "ansible-playbook site.yml",
    "certbot renew",
    "alembic upgrade head",
    "vacuumdb --all",
];
const ARTEFACTS: &[Pair] = &[
    ("endpoints", "HTTP routes"),
    ("migrations", "schema changes"),
    ("feature branches", "branches for features"),
    ("log lines", "messages in the log"),
    ("error messages", "texts of errors"),
    ("table names", "names of tables"),
    ("public functions", "functions that others call"),
    ("background jobs", "jobs"),
    ("release notes", "notes of a release"),
    ("dashboards", "monitoring pages"),
    ("docker images", "container images"),
    ("test files", "files with tests"),
];
const RULES: &[&str] = &[
    "carry a ticket number",
    "be reviewed by two people",
    "start with a verb",
    "have an owner in the header",
    "be written in English",
    "be idempotent",
    "stay below 200 lines",
    "name their unit",
    "use snake_case",
    "end with a link to the design page",
    "be deleted after a quarter",
    "be signed",
];
const EVENTS: &[&str] = &[
    "checkout errors rose to a tenth",
    "the disk was full",
    "a certificate had expired",
    "a wrong flag was set",
    "memory grew without end",
    "the partner changed its API",
    "a migration locked the main table",
    "mail was sent to everybody",
    "prices were shown in the wrong currency",
    "a cable was pulled",
    "the nightly import ran at noon",
    "logins were refused",
];
const DEEDS: &[Pair] = &[
    ("rolled back", "who undid"),
    ("restarted", "who restarted"),
    ("patched", "who fixed"),
    ("switched off", "who disabled"),
    ("failed over", "who switched over"),
    ("scaled up", "who gave more machines to"),
];
const ERRORS: &[&str] = &[
    "connection reset by peer",
    "too many open files",
    "permission denied (publickey)",
    "no space left on device",
    "deadlock detected",
    "certificate has expired",
    "SSL handshake failed",
    "out of memory",
    "lock wait timeout exceeded",
    "unknown column 'total_net'",
    "broken pipe",
    "module not found: core-utils",
    "invalid byte sequence for UTF8",
    "context deadline exceeded",
    "address already in use",
];
const CAUSES: &[&str] = &[
    "the sidecar is older than the app",
    "somebody forgot to run the migration",
    "the vendor's proxy closes idle sockets",
    "the node ran out of inodes",
    "the key on the jump host was replaced",
    "two workers took the same shard",
    "the build used yesterday's image",
    "the locale of the container is not set",
];

const DECIDED: &[&str] = &[
    "In {p} we decided to use {v} for {t} because {r}",
    "{p}: {v} was chosen for {t}; {r}",
    "Decision for {p}: {t} will be done with {v}, since {r}",
    "We went with {v} over the alternatives for {t} in {p}. The reason: {r}",
    "For {t}, {p} uses {v}. It was decided so because {r}",
    "The team of {p} settled on {v} for {t} ({r})",
];
const REVERSED: &[&str] = &[
    "{p} reverses its decision on {t}: {v} replaces {o}, because {r}",
    "In {p}, {t} moved away from {o}; the team now uses {v} because {r}",
    "We dropped {o} for {t} in {p} and took {v} instead, since {r}",
    "Decision changed in {p}: {t} is done with {v} from now on and no longer with {o}; {r}",
];
const DECISION_ASKED: &[&str] = &[
    "what did {p} settle on for {T}?",
    "which choice was made in {p} about {T}?",
    "what do they use in {p} for {T}, and why?",
];
const GOTCHA: &[&str] = &[
    "{s} {e} when {c}; {w}",
    "Gotcha: when {c}, {s} {e}. As a workaround, {w}",
    "Careful, {s} {e} if {c} - {w}",
    "If {c}, {s} {e}. What helps: {w}",
    "Lost half a day: {s} {e} as soon as {c}. The remedy is to {w}",
];
const GOTCHA_ASKED: &[&str] = &[
    "why would {s} {E} if {C}?",
    "what can go wrong in {s} when {C}?",
    "{s} seems to {E} when {C}, what to do?",
];
const PROCEDURE: &[&str] = &[
    "To {g} {s}, first {1}. Then {2}. Finally {3}.",
    "How to {g} {s}: {1}, then {2}, and at the end {3}",
    "If you have to {g} {s}: 1) {1} 2) {2} 3) {3}",
    "Always {1} before you {g} {s}. After that {2}. Do not forget to {3}.",
    "To {g} {s}:\n1. {1}\n2. {2}\n3. {3}",
];
const PROCEDURE_ASKED: &[&str] =
    &["what are the steps to {G} {s}?", "how do I {G} {s}?", "{G} {s}: in which order?"];
const COMMANDED: &[&str] = &[
    "To {g} {s}, run `{1}` and then `{2}` on the jump host",
    "{g} {s} like this: `{1}`, wait for it, then `{2}`. It takes about {k} minutes.",
    "For {s} there is a short way to {g} it:\n1. `{1}`\n2. `{2}`\nIt takes {k} minutes.",
];
const CONVENTION: &[&str] = &[
    "In {p} all {a} must {r}",
    "Convention of {p}: {a} {r}, without exception",
    "{p} wants that {a} {r}",
    "The rule for {a} in {p} is that they {r}",
];
const CONVENTION_ASKED: &[&str] = &["what is asked of {A} in {p}?", "which house rule has {p} for {A}?"];
const EPISODE: &[&str] = &[
    "On {d}, {h} {e} {s} after {x}",
    "{h} {e} {s} on {d} because {x}",
    "{d}: {s} was in trouble ({x}), so {h} {e} it",
];
const EPISODE_ASKED: &[&str] = &["{E} {s} on {d}?", "what happened with {s} on {d}?"];
const POINTER: &[&str] = &[
    "The API key for {s} is kept in Vault under {l}; it is rotated every {k} days",
    "Credentials of {s}: see {l} in the vault, ask for access first. They change every {k} days",
    "{s} takes its password from {l}, which expires after {k} days",
];
const POINTER_ASKED: &[&str] =
    &["where do I find the credentials of {s}?", "in which vault folder is the secret of {s}?"];
const HINT: &[&str] = &[
    "`{x}` in {s} means that {c}; {w}",
    "When {s} says \"{x}\", {c}. Then {w}",
    "{s} fails with {x} if {c} - {w}",
];
const HINT_ASKED: &[&str] = &["what does {x} mean in {s}?", "{s} prints {x}, how do I get rid of it?"];
const CULPRIT: &[&str] =
    &["Commit {x} broke {s}: since then it {e} when {c}", "{s} {e} when {c}; bisect says it began with {x}"];
const CULPRIT_ASKED: &[&str] = &["which commit made {s} {E}?", "since which change does {s} {E} when {C}?"];

/// Said with its opposite: who claims the one denies the other.
struct Polar {
    yes: &'static [&'static str],
    no: &'static [&'static str],
    asks: &'static [&'static str],
}

const POLAR: &[Polar] = &[
    Polar {
        yes: &[
            "It is safe to restart {s} while jobs are running",
            "Restarting {s} during a job does no harm",
        ],
        no: &[
            "It is not safe to restart {s} while jobs are running",
            "Restarting {s} during a job loses data",
        ],
        asks: &[
            "may I reboot {s} in the middle of its work?",
            "what happens if {s} is restarted under load?",
        ],
    },
    Polar {
        yes: &["{s} retries failed calls by itself", "Failed calls are repeated by {s} without help"],
        no: &["{s} does not retry failed calls", "{s} never repeats a failed call, the caller has to"],
        asks: &["who repeats a call that failed in {s}?", "are unsuccessful requests tried again by {s}?"],
    },
    Polar {
        yes: &["{s} supports IPv6", "IPv6 works with {s}"],
        no: &["{s} does not support IPv6", "{s} cannot do IPv6, only IPv4"],
        asks: &["can {s} be reached by IPv6?", "which IP versions does {s} speak?"],
    },
    Polar {
        yes: &["Customers can see what {s} logs", "Logs of {s} are visible to customers"],
        no: &["Customers cannot see what {s} logs", "No customer has access to the logs of {s}"],
        asks: &["do clients get to read the log of {s}?", "who outside sees the logs of {s}?"],
    },
    Polar {
        yes: &["{s} keeps personal data", "There is personal data in {s}"],
        no: &["{s} keeps no personal data", "{s} never stores personal data"],
        asks: &["is {s} relevant for privacy?", "does anything about persons end up in {s}?"],
    },
    Polar {
        yes: &["{s} can be run on a laptop", "A laptop is enough to run {s}"],
        no: &["{s} cannot be run on a laptop", "{s} needs a server, it does not run on a laptop"],
        asks: &["can I start {s} on my own computer?", "what hardware is needed to try {s}?"],
    },
    Polar {
        yes: &["The numbers on the dashboard of {s} are right", "The dashboard of {s} can be trusted"],
        no: &["The numbers on the dashboard of {s} are wrong", "The dashboard of {s} can't be trusted"],
        asks: &["should I believe the graphs of {s}?", "how good is the monitoring page of {s}?"],
    },
    Polar {
        yes: &["{s} holds the order of messages", "Messages leave {s} in the order in which they came"],
        no: &["{s} does not hold the order of messages", "Messages may leave {s} out of order"],
        asks: &["is the sequence of events kept by {s}?", "can {s} shuffle messages?"],
    },
];

/// Notes in other languages, asked in the same.
struct Foreign {
    says: &'static [&'static str],
    asks: &'static [&'static str],
}

const FOREIGN: &[Foreign] = &[
    Foreign {
        says: &["{s} darf nur nachts neu gestartet werden, weil sonst {k} Aufträge verloren gehen."],
        asks: &["Wann darf man {s} neu starten?"],
    },
    Foreign {
        says: &["Der Quelltext von {s} liegt im Ordner {k}, gepflegt von {h}."],
        asks: &["Wer pflegt den Quelltext von {s}?"],
    },
    Foreign {
        says: &["Pour déployer {s}, il faut d'abord prévenir {h} puis attendre {k} minutes."],
        asks: &["Qui faut-il prévenir avant de déployer {s} ?"],
    },
    Foreign {
        says: &["Le contrat de support pour {s} a été signé par {h} pour {k} mois."],
        asks: &["Qui a signé le contrat de support pour {s} ?"],
    },
    Foreign {
        says: &["{s} no acepta archivos de más de {k} megas; lo decidió {h}."],
        asks: &["¿Qué tamaño de archivo acepta {s}?"],
    },
    Foreign {
        says: &["O acesso a {s} é dado por {h}, e demora {k} dias."],
        asks: &["Quem dá acesso a {s}?"],
    },
    Foreign {
        says: &["{s} は毎月 {k} 日に {h} が点検する。"], asks: &["{s} は誰が点検しますか"]
    },
    Foreign {
        says: &["За {s} отвечает {h}, порог срабатывания {k} ошибок."],
        asks: &["Кто отвечает за {s}?"],
    },
    Foreign {
        says: &["{s} 的备份由 {h} 负责，每 {k} 天一次。"], asks: &["谁负责 {s} 的备份？"]
    },
];

fn pair(letter: char, pair: Pair) -> [(char, Vec<String>); 2] {
    [(letter, vec![pair.0.to_owned()]), (letter.to_ascii_uppercase(), vec![pair.1.to_owned()])]
}

fn field(letter: char, text: impl Into<String>) -> (char, Vec<String>) {
    (letter, vec![text.into()])
}

/// Something new that is no attribute. `service` and `project` are what it is about.
pub fn draw(draw: &mut Draw, service: &[String], project: &[String], today: Date) -> Prose {
    match draw.below(20) {
        0..=3 => decision(draw, project),
        4..=6 => gotcha(draw, service),
        7..=9 => procedure(draw, service),
        10 => commands(draw, service),
        11..=12 => convention(draw, project),
        13..=14 => polar(draw, service),
        15..=16 => episode(draw, service, today),
        17 => pointer(draw, service),
        18 => hint(draw, service),
        _ => culprit(draw, service),
    }
}

/// A decision's value other than those it had, with a reason of its own.
pub fn redecide(draw: &mut Draw, topic: &str) -> Option<(String, String)> {
    let (_, _, options) = TOPICS.iter().find(|(known, _, _)| *known == topic)?;
    Some((draw.word(options).to_owned(), draw.word(REASONS).to_owned()))
}

fn plain(
    name: &'static str,
    key: String,
    fields: Fields,
    says: &'static [&'static str],
    asks: &'static [&'static str],
) -> Prose {
    Prose { name, key, fields, says: vec![says], asks, turns: &[], value: None }
}

fn decision(draw: &mut Draw, project: &[String]) -> Prose {
    let (topic, asked, options) = *draw.pick(TOPICS);
    let mut fields = vec![('p', project.to_vec()), field('r', draw.word(REASONS))];
    fields.extend(pair('t', (topic, asked)));
    let value = Some(vec![draw.word(options).to_owned()]);
    let key = format!("{topic} {}", project[0]);
    Prose { turns: REVERSED, value, ..plain("decision", key, fields, DECIDED, DECISION_ASKED) }
}

fn gotcha(draw: &mut Draw, service: &[String]) -> Prose {
    let (effect, condition) = (*draw.pick(EFFECTS), *draw.pick(CONDITIONS));
    let mut fields = vec![('s', service.to_vec()), field('w', draw.word(WORKAROUNDS))];
    fields.extend(pair('e', effect));
    fields.extend(pair('c', condition));
    // One thing happens under one condition: "what goes wrong when" has one answer.
    plain("gotcha", format!("{} {}", service[0], condition.0), fields, GOTCHA, GOTCHA_ASKED)
}

fn steps(draw: &mut Draw, from: &[&'static str]) -> Fields {
    let mut steps: Vec<&'static str> = Vec::new();
    while steps.len() < 3 {
        let step = draw.word(from);
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    "123".chars().zip(steps).map(|(letter, step)| field(letter, step)).collect()
}

fn procedure(draw: &mut Draw, service: &[String]) -> Prose {
    let goal = *draw.pick(GOALS);
    let mut fields = steps(draw, STEPS);
    fields.push(('s', service.to_vec()));
    fields.extend(pair('g', goal));
    plain("procedure", format!("{} {}", goal.0, service[0]), fields, PROCEDURE, PROCEDURE_ASKED)
}

fn commands(draw: &mut Draw, service: &[String]) -> Prose {
    let goal = *draw.pick(GOALS);
    let mut fields = steps(draw, COMMANDS);
    fields.push(('s', service.to_vec()));
    fields.push(field('k', draw.between(2, 55).to_string()));
    fields.extend(pair('g', goal));
    // The same key as a procedure's: both would answer the same question.
    plain("procedure", format!("{} {}", goal.0, service[0]), fields, COMMANDED, PROCEDURE_ASKED)
}

fn convention(draw: &mut Draw, project: &[String]) -> Prose {
    let artefact = *draw.pick(ARTEFACTS);
    let mut fields = vec![('p', project.to_vec()), field('r', draw.word(RULES))];
    fields.extend(pair('a', artefact));
    plain("convention", format!("{} {}", artefact.0, project[0]), fields, CONVENTION, CONVENTION_ASKED)
}

fn polar(draw: &mut Draw, service: &[String]) -> Prose {
    let at = draw.below(POLAR.len());
    let chosen = &POLAR[at];
    let (mut yes, mut no) = (chosen.yes, chosen.no);
    if draw.chance(0.5) {
        std::mem::swap(&mut yes, &mut no);
    }
    let fields = vec![('s', service.to_vec())];
    Prose { says: vec![yes, no], ..plain("claim", format!("{at} {}", service[0]), fields, yes, chosen.asks) }
}

fn episode(draw: &mut Draw, service: &[String], today: Date) -> Prose {
    let back = i32::try_from(draw.between(0, 60)).unwrap_or(0);
    let date = today.saturating_sub(jiff::Span::new().days(back));
    let mut fields = vec![
        ('s', service.to_vec()),
        ('d', day(date)),
        field('h', Names::any(draw, Subject::Person)),
        field('x', draw.word(EVENTS)),
    ];
    fields.extend(pair('e', *draw.pick(DEEDS)));
    plain("episode", format!("{date} {}", service[0]), fields, EPISODE, EPISODE_ASKED)
}

fn pointer(draw: &mut Draw, service: &[String]) -> Prose {
    let place = format!(
        "secret/{}/{}",
        draw.word(&["apps", "teams", "infra", "shared"]),
        draw.letters("abcdefghiklmnoprstuvw", 7)
    );
    let days = draw.between(20, 180).to_string();
    let fields = vec![('s', service.to_vec()), field('l', place), field('k', days)];
    plain("pointer", service[0].clone(), fields, POINTER, POINTER_ASKED)
}

fn hint(draw: &mut Draw, service: &[String]) -> Prose {
    let error = draw.word(ERRORS);
    let fields = vec![
        ('s', service.to_vec()),
        field('x', error),
        field('c', draw.word(CAUSES)),
        field('w', draw.word(WORKAROUNDS)),
    ];
    plain("hint", format!("{error} {}", service[0]), fields, HINT, HINT_ASKED)
}

fn culprit(draw: &mut Draw, service: &[String]) -> Prose {
    let (effect, condition) = (*draw.pick(EFFECTS), *draw.pick(CONDITIONS));
    let mut fields = vec![('s', service.to_vec()), field('x', draw.hex(9))];
    fields.extend(pair('e', effect));
    fields.extend(pair('c', condition));
    plain("culprit", format!("{} {}", effect.0, service[0]), fields, CULPRIT, CULPRIT_ASKED)
}

/// A note in another language than English.
pub fn foreign(draw: &mut Draw, service: &[String]) -> Prose {
    let at = draw.below(FOREIGN.len());
    // The name as it is: an article or the word "service" would be English.
    let name = service[0].split(" in ").next().unwrap_or_default();
    let fields = vec![
        field('s', name),
        field('h', Names::any(draw, Subject::Person)),
        field('k', draw.between(2, 28).to_string()),
    ];
    let Foreign { says, asks } = &FOREIGN[at];
    plain("foreign", format!("{at} {name}"), fields, says, asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letter_is_left_open() {
        let mut chance = Draw::new(5);
        let names = [vec!["harbor-relay".to_owned()], vec!["Norvane".to_owned()]];
        let today = Date::constant(2026, 2, 3);
        for _ in 0..500 {
            let known = draw(&mut chance, &names[0], &names[1], today);
            let other = foreign(&mut chance, &names[0]);
            for prose in [known, other] {
                let letters: Vec<char> = prose.fields.iter().map(|(letter, _)| *letter).collect();
                let open = |template: &str| {
                    super::super::words::fill(template, |letter| {
                        (letters.contains(&letter) || "vo".contains(letter)).then(String::new)
                    })
                    .contains('{')
                };
                for template in prose.says.iter().copied().flatten().chain(prose.turns).chain(prose.asks) {
                    assert!(!open(template), "{}: {template}", prose.name);
                }
            }
        }
    }
}
