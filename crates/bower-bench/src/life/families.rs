//! Templates of the simulated agent's facts: how each attribute is stated, and how it is asked for.
//! `{s}` is the subject, `{v}` the value, `{o}` the value before, `{n}` the attribute's name. Every family is said in several ways and
//! asked in words that it is not said in.

use super::values::Holds;
use super::words::Subject;

/// An attribute of a kind of subject.
#[derive(Debug)]
pub struct Family {
    pub name: &'static str,
    pub subject: Subject,
    pub holds: Holds,
    /// Whether a subject has several values at once, each a fact of its own.
    pub several: bool,
    /// What the attribute is called; where it has no name, only `says` and `turns` speak of it.
    pub nouns: &'static [&'static str],
    pub says: &'static [&'static str],
    /// How a change is told, beside [`CHANGES`].
    pub turns: &'static [&'static str],
    pub asks: &'static [&'static str],
}

/// Ways to say any attribute that has a name.
pub const PLAIN: &[&str] = &[
    "The {n} of {s} is {v}",
    "{s} {n}: {v}",
    "{n} for {s} is {v}",
    "{s}'s {n} is {v}",
    "{n} ({s}): {v}",
    "For {s}, the {n} is {v}",
    "{s} has {v} as its {n}",
    "{v} is the {n} of {s}",
];

/// Ways to say that any attribute that has a name is no longer what it was.
pub const CHANGES: &[&str] = &[
    "The {n} of {s} changed from {o} to {v}",
    "{s}: {n} is now {v}, it was {o} before",
    "the {n} of {s} went from {o} to {v}",
    "{s} {n}: {o} -> {v}",
    "{s} has {v} as its {n} instead of {o}",
    "As of today the {n} of {s} is {v}",
    "The {n} of {s} is no longer {o}, it is {v}",
    "Correction: {n} for {s} is {v}, not {o}",
    "{n} of {s} is now {v}",
    "Update: {n} for {s} is {v} (previously {o})",
    "We changed the {n} for {s} to {v}",
    "{s} switched its {n} to {v}; {o} is gone",
    "New {n} for {s}: {v}, replacing {o}",
];

/// Ways to ask for any attribute that has a name, by that name.
pub const NAMED: &[&str] = &[
    "what is the {n} of {s}?",
    "{s} {n}",
    "which {n} does {s} have?",
    "tell me the {n} for {s}",
    "do we know the {n} of {s}?",
];

/// Ways to say what an attribute was, long ago: no news of what it is. `{d}` is a day before the stream.
pub const PAST: &[&str] = &[
    "Until {d} the {n} of {s} was {o}",
    "Before the migration of {d}, {s} had {o} as its {n}",
    "On {d} the {n} of {s} was still {o}",
    "{s} used to have {o} as its {n}, that ended on {d}",
    "Originally ({d}) the {n} of {s} was {o}",
];

/// Ways to say what an attribute may become. `{d}` is a day after the stream.
pub const PLANS: &[&str] = &[
    "From {d} on the {n} of {s} will be {v}",
    "We plan to change the {n} of {s} to {v} on {d}",
    "There is a proposal to make {v} the {n} of {s}, to be decided on {d}",
    "The {n} of {s} is going to be {v} after {d}",
    "If the review of {d} agrees, the {n} of {s} becomes {v}",
];

/// More about an attribute that somebody knows already: `{h}` a person, `{d}` a day, `{k}` a number. Said, then asked.
pub const DETAILS: &[(&str, &str)] = &[
    ("{h} set it up.", "who set up the {n} of {s}?"),
    ("It is written down on page {k} of the runbook.", "on which runbook page is the {n} of {s}?"),
    ("{h} approved it.", "who signed off on the {n} of {s}?"),
    ("It has to be looked at again on {d}.", "when must the {n} of {s} be reviewed?"),
    ("This came out of incident {k}.", "which incident led to the {n} of {s}?"),
    ("Changing it needs a permit from {h}.", "whose permission is needed to alter the {n} of {s}?"),
    ("It was agreed with {h} in meeting {k}.", "in which meeting was the {n} of {s} settled?"),
];

const fn one(
    name: &'static str,
    subject: Subject,
    holds: Holds,
    nouns: &'static [&'static str],
    says: &'static [&'static str],
    asks: &'static [&'static str],
) -> Family {
    Family { name, subject, holds, several: false, nouns, says, turns: &[], asks }
}

const fn many(
    name: &'static str,
    subject: Subject,
    holds: Holds,
    says: &'static [&'static str],
    asks: &'static [&'static str],
) -> Family {
    Family { name, subject, holds, several: true, nouns: &[], says, turns: &[], asks }
}

use Subject::{Customer, Dataset, Machine, Person, Project, Service, Taste, Ticket};

pub const FAMILIES: &[Family] = &[
    // Services.
    one(
        "port",
        Service,
        Holds::Port,
        &["port", "listening port", "TCP port"],
        &[
            "{s} listens on port {v}",
            "{s} is bound to port {v}",
            "To reach {s}, connect to port {v}",
            "we run {s} on port {v}",
            "the port that {s} uses is {v}",
            "{s} answers on :{v}",
        ],
        &[
            "where does {s} accept connections?",
            "what port number do I need for {s}?",
            "on which port can I reach {s}?",
        ],
    ),
    one(
        "owner",
        Service,
        Holds::Person,
        &["owner", "maintainer"],
        &[
            "{v} owns {s}",
            "{s} is maintained by {v}",
            "ask {v} about anything in {s}",
            "{v} is responsible for {s}",
            "The person behind {s} is {v}",
            "{v} looks after {s}",
        ],
        &["who is in charge of {s}?", "whom do I contact about {s}?", "who takes care of {s}?"],
    ),
    one(
        "runtime",
        Service,
        Holds::Runtime,
        &["runtime", "language version"],
        &["{s} runs on {v}", "{s} is built with {v}", "{v} is what {s} needs", "you need {v} for {s}"],
        &["which programming language does {s} use?", "what must be installed to run {s}?"],
    ),
    one(
        "database",
        Service,
        Holds::Database,
        &["database", "data store"],
        &[
            "{s} keeps its data in {v}",
            "{s} is backed by {v}",
            "behind {s} there is {v}",
            "{s} writes to {v}",
        ],
        &["where does {s} store its records?", "what sits behind {s} for persistence?"],
    ),
    one(
        "deploy slot",
        Service,
        Holds::WeekSlot,
        &["deploy slot", "release window"],
        &["{s} is deployed on {v}", "Deploys of {s} happen {v}", "we ship {s} every {v}", "{s} goes out {v}"],
        &["when is {s} rolled out each week?", "what day and hour is {s} shipped?"],
    ),
    one(
        "memory limit",
        Service,
        Holds::Megabytes,
        &["memory limit", "RAM limit"],
        &[
            "{s} may use at most {v} of memory",
            "the container of {s} gets {v} of RAM",
            "{s} is killed above {v} of memory",
        ],
        &["how much RAM is {s} allowed?", "at what memory size does {s} get stopped?"],
    ),
    one(
        "timeout",
        Service,
        Holds::Seconds,
        &["request timeout", "timeout"],
        &[
            "{s} gives up on a request after {v}",
            "requests to {s} time out after {v}",
            "{s} waits {v} for an answer",
        ],
        &["how long does {s} wait before it aborts?", "after how many seconds does {s} cancel a request?"],
    ),
    one(
        "replicas",
        Service,
        Holds::Count,
        &["replica count", "number of replicas"],
        &[
            "{s} runs with {v} replicas",
            "there are {v} instances of {s}",
            "{s} is scaled to {v} pods",
            "we keep {v} copies of {s} running",
        ],
        &["how many instances does {s} have?", "to how many copies is {s} scaled?"],
    ),
    one(
        "rate limit",
        Service,
        Holds::PerMinute,
        &["rate limit", "request quota"],
        &["{s} lets a client make {v}", "clients of {s} are held to {v}", "{s} throttles at {v}"],
        &["how often may a client call {s}?", "what is the throttling of {s}?"],
    ),
    one(
        "address",
        Service,
        Holds::Host,
        &["base URL", "address"],
        &["{s} is served at {v}", "you find {s} under {v}", "{v} points to {s}"],
        &["what URL do I open for {s}?", "where is {s} hosted on the network?"],
    ),
    one(
        "health check",
        Service,
        Holds::HealthPath,
        &["health check path", "health endpoint"],
        &[
            "the health check of {s} is at {v}",
            "the load balancer probes {s} at {v}",
            "GET {v} tells whether {s} is up",
        ],
        &["how do I probe whether {s} is alive?", "which path does the balancer use to test {s}?"],
    ),
    one(
        "cache",
        Service,
        Holds::Minutes,
        &["cache TTL", "cache lifetime"],
        &[
            "{s} caches answers for {v}",
            "entries in the cache of {s} live {v}",
            "{s} forgets cached entries after {v}",
        ],
        &["how long are results of {s} cached?", "when do cached responses in {s} expire?"],
    ),
    one(
        "queue",
        Service,
        Holds::Queue,
        &["job queue", "input queue"],
        &["{s} reads its jobs from {v}", "{s} consumes {v}", "work for {s} arrives on {v}"],
        &["where does {s} get its work from?", "which topic feeds {s}?"],
    ),
    one(
        "settings file",
        Service,
        Holds::ConfigPath,
        &["config file", "settings file"],
        &["the settings of {s} are in {v}", "{s} is configured in {v}", "edit {v} to configure {s}"],
        &["where do I change the configuration of {s}?", "which file holds the options of {s}?"],
    ),
    one(
        "log level",
        Service,
        Holds::LogLevel,
        &["log level", "logging verbosity"],
        &["{s} logs at level {v}", "logging in {s} is set to {v}", "{s} writes {v} messages and above"],
        &["how verbose is {s}?", "which messages does {s} write to its log?"],
    ),
    one(
        "log retention",
        Service,
        Holds::Days,
        &["log retention", "retention of logs"],
        &["logs of {s} are kept for {v}", "we delete the logs of {s} after {v}", "{s} keeps {v} of logs"],
        &["how long do we keep the log files of {s}?", "when are old logs of {s} removed?"],
    ),
    one(
        "alerts",
        Service,
        Holds::ChatRoom,
        &["alert channel", "alerting room"],
        &["alerts of {s} go to {v}", "{s} pages people in {v}", "when {s} breaks, {v} hears of it"],
        &["where are problems of {s} announced?", "which chat room gets the alarms of {s}?"],
    ),
    many(
        "depends on",
        Service,
        Holds::Component,
        &[
            "{s} depends on {v}",
            "{s} needs {v} to start",
            "without {v}, {s} does not come up",
            "{v} is a dependency of {s}",
            "{s} talks to {v}",
        ],
        &["is {v} required by {s}?", "does {s} rely on {v}?"],
    ),
    // Projects.
    one(
        "release date",
        Project,
        Holds::Date,
        &["release date", "launch date"],
        &[
            "{s} is released on {v}",
            "{s} ships on {v}",
            "we go live with {s} on {v}",
            "{v} is the day {s} launches",
        ],
        &["when does {s} come out?", "on what day do we publish {s}?"],
    ),
    one(
        "lead",
        Project,
        Holds::Person,
        &["lead", "project lead"],
        &["{v} leads {s}", "{s} is led by {v}", "{v} runs {s}", "the one who decides in {s} is {v}"],
        &["who heads {s}?", "who has the last word in {s}?"],
    ),
    one(
        "version",
        Project,
        Holds::Version,
        &["current version", "latest release"],
        &["{s} is at version {v}", "the newest {s} is {v}", "{s} {v} is out", "we are on {s} {v}"],
        &["which release number does {s} have by now?", "what is the most recent release number of {s}?"],
    ),
    one(
        "branch",
        Project,
        Holds::Branch,
        &["default branch", "integration branch"],
        &["pull requests in {s} go to {v}", "{s} is developed on {v}", "branch off from {v} in {s}"],
        &["what do I merge into when working on {s}?", "from which branch do I start in {s}?"],
    ),
    one(
        "test command",
        Project,
        Holds::TestCommand,
        &["test command", "way to run the tests"],
        &["run `{v}` to test {s}", "the tests of {s} are run with `{v}`", "in {s}, `{v}` runs all tests"],
        &["how do I run the test suite of {s}?", "what do I type to check {s}?"],
    ),
    one(
        "coverage",
        Project,
        Holds::Percent,
        &["coverage threshold", "minimum coverage"],
        &[
            "{s} must keep {v} test coverage",
            "the build of {s} fails below {v} coverage",
            "{s} wants {v} of its lines tested",
        ],
        &["how much of {s} has to be tested?", "at what coverage does the build of {s} break?"],
    ),
    one(
        "budget",
        Project,
        Holds::Money,
        &["budget", "yearly budget"],
        &["{s} may cost {v}", "we have {v} for {s}", "finance gave {s} {v}"],
        &["how much money is there for {s}?", "what can we spend on {s}?"],
    ),
    one(
        "ci",
        Project,
        Holds::Ci,
        &["CI system", "build system"],
        &["{s} is built by {v}", "builds of {s} run on {v}", "{v} builds {s}"],
        &["where are the builds of {s} run?", "what does continuous integration for {s}?"],
    ),
    one(
        "licence",
        Project,
        Holds::Licence,
        &["licence", "license"],
        &["{s} is under {v}", "{s} is licensed as {v}", "the code of {s} is {v}"],
        &["under what terms is {s} published?", "may I reuse code from {s}, legally?"],
    ),
    many(
        "stakeholder",
        Project,
        Holds::Person,
        &[
            "{v} is a stakeholder of {s}",
            "keep {v} informed about {s}",
            "{v} has a say in {s}",
            "{s} also reports to {v}",
        ],
        &["does {v} have to hear about {s}?", "is {v} interested in {s}?"],
    ),
    // People.
    one(
        "role",
        Person,
        Holds::Role,
        &["job title", "role"],
        &["{s} works as {v}", "{s} is our {v}", "{s} was hired as {v}"],
        &["what does {s} do for a living?", "what is the profession of {s}?"],
    ),
    one(
        "city",
        Person,
        Holds::City,
        &["office", "home city"],
        &["{s} is based in {v}", "{s} works from {v}", "you find {s} in {v}", "{s} lives in {v}"],
        &["where in the world is {s}?", "in which town does {s} sit?"],
    ),
    one(
        "manager",
        Person,
        Holds::Person,
        &["manager", "line manager"],
        &["{s} reports to {v}", "{v} manages {s}", "{v} is the boss of {s}"],
        &["who is above {s}?", "who signs the holidays of {s}?"],
    ),
    one(
        "extension",
        Person,
        Holds::Extension,
        &["phone extension", "desk extension"],
        &["call {s} on extension {v}", "dial {v} for {s}", "{s} picks up at {v}"],
        &["what number do I dial to speak with {s}?", "how do I phone {s}?"],
    ),
    one(
        "one-to-one",
        Person,
        Holds::WeekSlot,
        &["one-to-one", "weekly call"],
        &["{s} and I talk on {v}", "the one-to-one with {s} is {v}", "I meet {s} every {v}"],
        &["when do I speak with {s} each week?", "at what time is the regular meeting with {s}?"],
    ),
    one(
        "away",
        Person,
        Holds::Date,
        &["last day of leave", "return date"],
        &["{s} is on leave until {v}", "{s} comes back on {v}", "do not expect {s} before {v}"],
        &["when is {s} back at work?", "how long is {s} away?"],
    ),
    one(
        "editor",
        Person,
        Holds::Editor,
        &["editor", "favourite editor"],
        &["{s} edits in {v}", "{s} swears by {v}", "{s} likes {v} best"],
        &["what does {s} write code in?", "which IDE does {s} like?"],
    ),
    one(
        "team",
        Person,
        Holds::Team,
        &["team", "squad"],
        &["{s} is on the {v} team", "{s} belongs to {v}", "the {v} people have {s}"],
        &["which group does {s} work in?", "what department is {s} part of?"],
    ),
    many(
        "skill",
        Person,
        Holds::Skill,
        &["{s} knows {v} well", "{s} can help with {v}", "for {v}, go to {s}", "{s} taught a class on {v}"],
        &["is {s} experienced in {v}?", "could {s} assist me with {v}?"],
    ),
    // Machines.
    one(
        "memory",
        Machine,
        Holds::Gigabytes,
        &["memory", "RAM"],
        &["{s} has {v} of memory", "{s} is fitted with {v} of RAM", "there are {v} of RAM in {s}"],
        &["how big is the main memory of {s}?", "how much RAM is in {s}?"],
    ),
    one(
        "ip",
        Machine,
        Holds::Ip,
        &["IP address", "IP"],
        &["{s} is at {v}", "{s} resolves to {v}", "{v} is {s}"],
        &["what address does {s} have on the network?", "which IP do I ping for {s}?"],
    ),
    one(
        "system",
        Machine,
        Holds::Os,
        &["operating system", "OS"],
        &["{s} runs {v}", "{v} is installed on {s}", "{s} boots {v}"],
        &["which distribution is on {s}?", "what system is {s} running?"],
    ),
    one(
        "rack",
        Machine,
        Holds::Rack,
        &["rack position", "location"],
        &["{s} stands in {v}", "{s} is mounted in {v}", "look for {s} in {v}"],
        &["where do I find {s} in the data centre?", "in what rack is {s}?"],
    ),
    one(
        "disk",
        Machine,
        Holds::Terabytes,
        &["disk size", "storage"],
        &["{s} has {v} of disk", "{s} can hold {v}", "the volume on {s} is {v}"],
        &["how much can be stored on {s}?", "how large are the disks of {s}?"],
    ),
    one(
        "ssh port",
        Machine,
        Holds::Port,
        &["SSH port"],
        &["ssh to {s} on port {v}", "the SSH daemon of {s} is on {v}", "use `ssh -p {v}` for {s}"],
        &["how do I log into {s} remotely, which port?", "where does sshd of {s} listen?"],
    ),
    one(
        "warranty",
        Machine,
        Holds::Date,
        &["end of warranty", "warranty date"],
        &[
            "{s} is under warranty until {v}",
            "the vendor covers {s} until {v}",
            "support for {s} ends on {v}",
        ],
        &["until when can {s} be repaired for free?", "when does the guarantee of {s} run out?"],
    ),
    many(
        "hosts",
        Machine,
        Holds::Service,
        &["{s} hosts {v}", "{v} is placed on {s}", "{v} runs on host {s}", "on {s} you find {v}"],
        &["is {v} located on {s}?", "does {s} carry {v}?"],
    ),
    // Tickets.
    one(
        "assignee",
        Ticket,
        Holds::Person,
        &["assignee"],
        &["{s} is assigned to {v}", "{v} is working on {s}", "{v} took {s}", "{s} is with {v}"],
        &["who handles {s}?", "whose job is {s}?"],
    ),
    one(
        "state",
        Ticket,
        Holds::TicketState,
        &["state", "status"],
        &["{s} is {v}", "{s} was set to {v}", "{s} stands at {v}"],
        &["how far along is {s}, is it open or done?", "in what condition is {s}, is it finished?"],
    ),
    one(
        "priority",
        Ticket,
        Holds::Priority,
        &["priority", "severity"],
        &["{s} has priority {v}", "{s} counts as {v}", "{s} was triaged as {v}"],
        &["how urgent is {s}?", "how important is {s}?"],
    ),
    one(
        "estimate",
        Ticket,
        Holds::Points,
        &["estimate", "size"],
        &["{s} is estimated at {v}", "we gave {s} {v}", "{s} will take {v}"],
        &["how much work is {s}?", "how large did we guess {s} to be?"],
    ),
    many(
        "blocked by",
        Ticket,
        Holds::Ticket,
        &["{s} is blocked by {v}", "{s} cannot start before {v}", "{v} blocks {s}", "{s} waits on {v}"],
        &["does {s} have to wait until {v} is finished?", "is {v} in the way of {s}?"],
    ),
    // Customers.
    one(
        "plan",
        Customer,
        Holds::Plan,
        &["plan", "subscription"],
        &["{s} is on the {v} plan", "{s} pays for {v}", "{s} bought {v}"],
        &["which tier did {s} subscribe to?", "what contract level does {s} have?"],
    ),
    one(
        "seats",
        Customer,
        Holds::Count,
        &["seat count", "number of seats"],
        &["{s} has {v} seats", "{v} people at {s} have an account", "{s} pays for {v} users"],
        &["how many users does {s} have?", "for how many persons did {s} get licences?"],
    ),
    one(
        "renewal",
        Customer,
        Holds::Date,
        &["renewal date", "contract end"],
        &["{s} renews on {v}", "the contract with {s} ends on {v}", "{s} is bound until {v}"],
        &["until when are we contracted with {s}?", "when do we negotiate with {s} again?"],
    ),
    one(
        "contact",
        Customer,
        Holds::Person,
        &["contact", "contact person"],
        &["at {s}, talk to {v}", "{v} is our contact at {s}", "{v} speaks for {s}"],
        &["who represents {s}?", "to whom do I write at {s}?"],
    ),
    one(
        "region",
        Customer,
        Holds::Region,
        &["hosting region", "region"],
        &["{s} is hosted in {v}", "data of {s} stays in {v}", "{s} lives in {v}"],
        &["in which data centre area is {s}?", "where are the servers for {s}?"],
    ),
    // Data.
    one(
        "rows",
        Dataset,
        Holds::Rows,
        &["row count", "number of rows"],
        &["{s} has {v} rows", "there are {v} records in {s}", "{s} holds {v} rows"],
        &["how big is {s}?", "how many entries are in {s}?"],
    ),
    one(
        "bucket",
        Dataset,
        Holds::Bucket,
        &["bucket", "storage path"],
        &["{s} lies in {v}", "{s} is exported to {v}", "read {s} from {v}"],
        &["where can I download {s}?", "from what location is {s} loaded?"],
    ),
    one(
        "refresh",
        Dataset,
        Holds::WeekSlot,
        &["refresh time", "refresh"],
        &["{s} is rebuilt on {v}", "new rows for {s} come {v}", "{s} is refreshed {v}"],
        &["when is {s} updated?", "how fresh is {s}, what day does it load?"],
    ),
    one(
        "format",
        Dataset,
        Holds::Format,
        &["file format", "format"],
        &["{s} is stored as {v}", "files of {s} are {v}", "{s} comes in {v}"],
        &["how are the files of {s} encoded?", "what reader do I need to load {s}?"],
    ),
    // What the user likes.
    Family {
        name: "taste",
        subject: Taste,
        holds: Holds::Taste,
        several: false,
        nouns: &[],
        says: &[
            "The user prefers {v} for {s}",
            "user wants {v} when it comes to {s}",
            "For {s}: {v}, says the user",
            "I like {v} for {s}",
            "please use {v} for {s}",
            "{v} is what the user asked for in {s}",
        ],
        turns: &[
            "The user now prefers {v} for {s} instead of {o}",
            "User changed their mind about {s}: {v}, not {o}",
            "For {s} the user no longer wants {o} but {v}",
            "from now on {v} for {s}, {o} is out",
        ],
        asks: &[
            "how should I handle {s}?",
            "what are the wishes about {s}?",
            "which style does the user favour for {s}?",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_can_be_said_changed_and_asked() {
        for family in FAMILIES {
            let name = family.name;
            assert!(family.says.len() + family.nouns.len() >= 4, "{name} is said in too few ways");
            assert!(family.asks.len() >= 2, "{name} is asked in too few ways");
            assert!(
                family.several || !(family.nouns.is_empty() && family.turns.is_empty()),
                "{name} cannot change"
            );
            for said in family.says.iter().chain(family.turns) {
                assert!(said.contains("{s}") && said.contains("{v}"), "{name}: {said}");
            }
            for asked in family.asks {
                assert!(asked.contains("{s}"), "{name}: {asked}");
                assert_eq!(
                    asked.contains("{v}"),
                    family.several,
                    "{name}: a question must not tell its answer: {asked}"
                );
            }
        }
    }
}
