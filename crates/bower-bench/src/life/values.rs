//! Generates the values of facts: numbers with units, dates, people, places, tools.
//! A value knows the spellings that mean the same.

use jiff::civil::Date;

use super::words::{Draw, Names, Subject, TASTES, other_digit};

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Port,
    Person,
    Runtime,
    Database,
    WeekSlot,
    Megabytes,
    Gigabytes,
    Terabytes,
    Seconds,
    Minutes,
    Days,
    Count,
    PerMinute,
    Host,
    HealthPath,
    Queue,
    ConfigPath,
    LogLevel,
    Component,
    ChatRoom,
    Date,
    Version,
    Branch,
    TestCommand,
    Percent,
    Money,
    Ci,
    Licence,
    Role,
    City,
    Extension,
    Editor,
    Team,
    Skill,
    Ip,
    Os,
    Rack,
    Service,
    TicketState,
    Priority,
    Points,
    Ticket,
    Plan,
    Region,
    Rows,
    Bucket,
    Format,
    Taste,
}

const WEEKDAYS: &[&str] = &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const RUNTIMES: &[&str] = &["Python", "Node", "Java", "Go", "Ruby", "PHP", "Elixir", "Kotlin"];
const DATABASES: &[&str] =
    &["PostgreSQL", "MySQL", "MongoDB", "SQLite", "Cassandra", "CockroachDB", "Redis", "MariaDB"];
const COMPONENTS: &[&str] = &[
    "Redis",
    "Kafka",
    "RabbitMQ",
    "Elasticsearch",
    "MinIO",
    "Consul",
    "Vault",
    "Memcached",
    "NATS",
    "ClickHouse",
    "Keycloak",
    "Nginx",
    "Envoy",
    "etcd",
    "Prometheus",
    "Zookeeper",
    "OpenSearch",
    "Temporal",
];
const CHAT_ROOMS: &[&str] = &[
    "alerts",
    "oncall",
    "incidents",
    "backend",
    "platform",
    "night-watch",
    "pager",
    "ops-noise",
    "reliability",
    "storage",
];
const TEST_COMMANDS: &[&str] = &[
    "make check",
    "cargo nextest run",
    "pytest -q",
    "npm test",
    "go test ./...",
    "just test",
    "tox -e py312",
    "bundle exec rspec",
    "gradle test",
    "mix test",
    "yarn test:unit",
    "bazel test //...",
];
const CI: &[&str] = &[
    "GitHub Actions",
    "Buildkite",
    "GitLab CI",
    "Jenkins",
    "CircleCI",
    "Drone",
    "TeamCity",
    "Woodpecker",
    "Azure Pipelines",
];
const LICENCES: &[&str] =
    &["MIT", "Apache 2.0", "GPL 3", "BSD 3-clause", "MPL 2.0", "AGPL 3", "ISC", "proprietary"];
const ROLES: &[&str] = &[
    "backend engineer",
    "data analyst",
    "product manager",
    "designer",
    "site reliability engineer",
    "security engineer",
    "technical writer",
    "QA lead",
    "engineering manager",
    "database administrator",
    "support lead",
    "release manager",
    "data scientist",
    "mobile developer",
    "solutions architect",
    "accountant",
];
const CITIES: &[&str] = &[
    "Lisbon",
    "Oslo",
    "Nairobi",
    "Osaka",
    "Toronto",
    "Krakow",
    "Bogota",
    "Melbourne",
    "Dublin",
    "Izmir",
    "Hanoi",
    "Lyon",
    "Turin",
    "Accra",
    "Tallinn",
    "Leeds",
    "Austin",
    "Pune",
    "Ghent",
    "Malaga",
];
const EDITORS: &[&str] =
    &["Neovim", "Emacs", "VS Code", "Helix", "Zed", "IntelliJ", "Sublime Text", "Kakoune", "PyCharm"];
const TEAMS: &[&str] = &[
    "payments",
    "platform",
    "growth",
    "search quality",
    "data engineering",
    "mobile",
    "infrastructure",
    "customer success",
    "security",
    "developer experience",
    "finance tools",
    "partner integrations",
];
const SKILLS: &[&str] = &[
    "Terraform",
    "Kubernetes",
    "Rust",
    "Spark",
    "GraphQL",
    "accessibility audits",
    "SQL tuning",
    "Ansible",
    "Swift",
    "Haskell",
    "load testing",
    "threat modelling",
    "dbt",
    "WebAssembly",
    "Figma",
    "Erlang",
];
const SYSTEMS: &[&str] = &[
    "Debian 12",
    "Ubuntu 24.04",
    "Rocky Linux 9",
    "Alpine 3.20",
    "FreeBSD 14",
    "Fedora 41",
    "Windows Server 2022",
    "NixOS 24.11",
    "Debian 11",
    "Ubuntu 22.04",
];
const STATES: &[&str] =
    &["open", "in review", "blocked", "resolved", "waiting for the customer", "in progress", "deferred"];
const PLANS: &[&str] = &["Starter", "Team", "Business", "Enterprise", "Trial", "Nonprofit"];
const REGIONS: &[&str] = &[
    "eu-west-1",
    "eu-central-1",
    "us-east-1",
    "us-west-2",
    "ap-southeast-2",
    "sa-east-1",
    "ca-central-1",
    "af-south-1",
];
const FORMATS: &[&str] = &["Parquet", "CSV", "Avro", "ORC", "JSON lines", "Arrow", "Delta"];
const BRANCHES: &[&str] = &["main", "trunk", "develop", "master", "next", "stable", "integration"];
const LEVELS: &[&str] = &["debug", "info", "warn", "error", "trace"];
const HEALTH: &[&str] = &[
    "/healthz",
    "/health",
    "/status",
    "/ready",
    "/live",
    "/ping",
    "/-/healthy",
    "/api/health",
    "/internal/up",
];
const PRIORITIES: &[&str] = &["P0", "P1", "P2", "P3", "P4"];

fn one(text: impl Into<String>) -> Vec<String> {
    vec![text.into()]
}

fn unit(number: u64, long: &str, short: &str) -> Vec<String> {
    vec![format!("{number} {long}"), format!("{number}{short}"), format!("{number} {short}")]
}

/// A day in the spellings of it.
pub fn day(date: Date) -> Vec<String> {
    let month = MONTHS[usize::from(date.month().unsigned_abs()) - 1];
    let (day, year) = (date.day(), date.year());
    vec![date.to_string(), format!("{day} {month} {year}"), format!("{month} {day}, {year}")]
}

fn thousands(number: u64) -> Vec<String> {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    vec![grouped, digits]
}

impl Holds {
    /// Whether only one thing can have a value of this kind: two machines have no address in common.
    pub fn is_exclusive(self) -> bool {
        matches!(
            self,
            Self::Ip
                | Self::Extension
                | Self::Host
                | Self::Bucket
                | Self::Service
                | Self::Queue
                | Self::ConfigPath
        )
    }

    /// A value in its spellings, the usual one first. `about` is whom it belongs to, `today` the day it is told.
    pub fn draw(self, draw: &mut Draw, about: &str, today: Date) -> Vec<String> {
        if let Some(from) = self.list() {
            return one(draw.word(from));
        }
        self.number(draw, today).unwrap_or_else(|| self.other(draw, about))
    }

    /// A value with one digit changed, where that is a value of this kind.
    pub fn near(self, draw: &mut Draw, value: &str) -> Option<Vec<String>> {
        match self {
            Self::Date => {
                let date: Date = value.parse().ok()?;
                let days = i32::try_from(draw.between(1, 9)).unwrap_or(1);
                Some(day(date.saturating_add(jiff::Span::new().days(days))))
            }
            Self::Ip => {
                let (net, last) = value.rsplit_once('.')?;
                let last: u64 = last.parse().ok()?;
                Some(one(format!("{net}.{}", (last + draw.between(1, 9)) % 255)))
            }
            Self::WeekSlot | Self::Os | Self::Region => None,
            _ => other_digit(draw, value).map(one),
        }
    }

    /// Kinds that come from a list.
    fn list(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Self::LogLevel => LEVELS,
            Self::HealthPath => HEALTH,
            Self::Component => COMPONENTS,
            Self::Branch => BRANCHES,
            Self::TestCommand => TEST_COMMANDS,
            Self::Ci => CI,
            Self::Licence => LICENCES,
            Self::Role => ROLES,
            Self::City => CITIES,
            Self::Editor => EDITORS,
            Self::Team => TEAMS,
            Self::Skill => SKILLS,
            Self::Os => SYSTEMS,
            Self::TicketState => STATES,
            Self::Priority => PRIORITIES,
            Self::Plan => PLANS,
            Self::Region => REGIONS,
            Self::Format => FORMATS,
            _ => return None,
        })
    }

    /// Kinds that are a number, mostly.
    fn number(self, draw: &mut Draw, today: Date) -> Option<Vec<String>> {
        Some(match self {
            Self::Port => one(draw.between(1_100, 19_999).to_string()),
            Self::Megabytes => unit(128 * draw.between(1, 30), "megabytes", "MB"),
            Self::Gigabytes => unit(8 * draw.between(1, 32), "gigabytes", "GB"),
            Self::Terabytes => unit(draw.between(1, 40), "terabytes", "TB"),
            Self::Seconds => unit(draw.between(2, 120), "seconds", "s"),
            Self::Minutes => unit(draw.between(2, 90), "minutes", "min"),
            Self::Days => one(format!("{} days", draw.between(3, 400))),
            Self::Count => one(draw.between(2, 96).to_string()),
            Self::PerMinute => {
                let number = 10 * draw.between(2, 200);
                vec![
                    format!("{number} requests per minute"),
                    format!("{number} requests/min"),
                    format!("{number} req/min"),
                ]
            }
            Self::Percent => {
                let number = draw.between(40, 98);
                vec![format!("{number} %"), format!("{number}%"), format!("{number} percent")]
            }
            Self::Money => {
                thousands(500 * draw.between(3, 400)).into_iter().map(|number| format!("${number}")).collect()
            }
            Self::Rows => thousands(1_000 * draw.between(12, 98_000)),
            Self::Points => one(format!("{} points", draw.between(1, 21))),
            Self::Extension => one(draw.between(1_000, 9_999).to_string()),
            Self::Date => {
                let ahead = i32::try_from(draw.between(10, 420)).unwrap_or(10);
                day(today.saturating_add(jiff::Span::new().days(ahead)))
            }
            Self::Version => {
                let number =
                    format!("{}.{}.{}", draw.between(0, 9), draw.between(0, 24), draw.between(0, 12));
                vec![number.clone(), format!("v{number}")]
            }
            Self::Ip => {
                one(format!("10.{}.{}.{}", draw.between(0, 60), draw.between(0, 254), draw.between(2, 254)))
            }
            _ => return None,
        })
    }

    /// The rest.
    fn other(self, draw: &mut Draw, about: &str) -> Vec<String> {
        match self {
            Self::Person => one(Names::any(draw, Subject::Person)),
            Self::Service => one(Names::any(draw, Subject::Service)),
            Self::Ticket => one(Names::any(draw, Subject::Ticket)),
            Self::Runtime => {
                let name = draw.word(RUNTIMES);
                one(format!("{name} {}.{}", draw.between(1, 22), draw.between(0, 14)))
            }
            Self::Database => one(format!("{} {}", draw.word(DATABASES), draw.between(3, 18))),
            Self::WeekSlot => {
                let (day, hour) = (draw.word(WEEKDAYS), draw.between(7, 18));
                let half = if draw.chance(0.5) { "00" } else { "30" };
                vec![
                    format!("{day} at {hour}:{half}"),
                    format!("{day}s {hour}:{half}"),
                    format!("{day}, {hour}:{half}"),
                ]
            }
            Self::Host => {
                let host = format!(
                    "{}.{}.example",
                    draw.letters("bcdfghklmnprstvz", 2)
                        + draw.word(&["api", "svc", "app", "edge", "core", "hub"]),
                    draw.word(&["internal", "corp", "prod", "lab", "mesh", "net"])
                );
                vec![format!("https://{host}"), host]
            }
            Self::Queue => one(format!(
                "{}.{}.{}",
                draw.word(&["jobs", "events", "tasks", "outbox", "retry"]),
                draw.word(&["fast", "bulk", "priority", "nightly", "slow", "delayed"]),
                draw.between(1, 60)
            )),
            Self::ConfigPath => one(format!(
                "/etc/{}/{}.{}",
                draw.word(&["apps", "services", "stack", "platform", "local"]),
                draw.letters("aeioubcdfgklmnprst", 6),
                draw.word(&["toml", "yaml", "conf", "ini", "json"])
            )),
            Self::ChatRoom => one(format!("#{}-{}", draw.word(CHAT_ROOMS), draw.between(1, 40))),
            Self::Rack => one(format!("rack {}{}", draw.letters("ABCDEFGH", 1), draw.between(1, 48))),
            Self::Bucket => one(format!(
                "s3://{}-{}/{}",
                draw.word(&["lake", "raw", "warehouse", "vault", "landing"]),
                draw.word(&["eu", "us", "core", "archive", "team"]),
                draw.letters("bcdfghklmnprst", 4)
            )),
            Self::Taste => {
                let known = TASTES.iter().find(|(topic, _)| about.starts_with(topic));
                one(known.map_or("the simplest thing", |(_, options)| draw.word(options)))
            }
            _ => one("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_spellings() {
        assert_eq!(thousands(1_234_567), ["1,234,567", "1234567"]);
        assert_eq!(day(Date::constant(2026, 3, 4)), ["2026-03-04", "4 March 2026", "March 4, 2026"]);
        let mut draw = Draw::new(3);
        let taste = Holds::Taste.draw(&mut draw, "line width in Norvane", Date::constant(2026, 1, 1));
        assert!(taste[0].ends_with("columns"), "{taste:?}");
    }
}
