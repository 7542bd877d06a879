//! Lists of English words that tell a statement's subject, attribute and value apart.
//! Closed lists: a statement with other words has no slot, which costs a supersession that somebody else makes, where a wrong
//! slot would hide what is still true.

/// Nouns that have one value at a time, in their canonical form ([`canonical`]).
pub(super) const ATTRIBUTES: &[&str] = &[
    "account",
    "address",
    "age",
    "assignee",
    "birthday",
    "boss",
    "branch",
    "browser",
    "budget",
    "capacity",
    "capital",
    "ceo",
    "cfo",
    "channel",
    "city",
    "color",
    "command",
    "compiler",
    "concurrency",
    "contact",
    "cost",
    "count",
    "country",
    "coverage",
    "cpu",
    "cto",
    "currency",
    "database",
    "date",
    "day",
    "deadline",
    "default",
    "department",
    "directory",
    "disk",
    "duration",
    "editor",
    "email",
    "employer",
    "encoding",
    "endpoint",
    "engine",
    "estimate",
    "expiration",
    "extension",
    "file",
    "firewall",
    "floor",
    "folder",
    "font",
    "format",
    "formatter",
    "framework",
    "frequency",
    "height",
    "host",
    "id",
    "interval",
    "ip",
    "job",
    "language",
    "lead",
    "length",
    "level",
    "license",
    "lifetime",
    "limit",
    "linter",
    "location",
    "maintainer",
    "manager",
    "maximum",
    "memory",
    "minimum",
    "mode",
    "model",
    "name",
    "number",
    "office",
    "os",
    "owner",
    "parallelism",
    "password",
    "path",
    "percentage",
    "period",
    "phase",
    "phone",
    "plan",
    "platform",
    "port",
    "position",
    "price",
    "priority",
    "provider",
    "queue",
    "quota",
    "rate",
    "ratio",
    "region",
    "renewal",
    "retention",
    "role",
    "room",
    "runtime",
    "salary",
    "schedule",
    "score",
    "setting",
    "severity",
    "shell",
    "size",
    "slot",
    "squad",
    "stage",
    "state",
    "status",
    "subscription",
    "system",
    "target",
    "team",
    "theme",
    "threshold",
    "tier",
    "time",
    "timeout",
    "timezone",
    "title",
    "topic",
    "total",
    "ttl",
    "unit",
    "uri",
    "url",
    "username",
    "value",
    "vendor",
    "verbosity",
    "version",
    "warranty",
    "weight",
    "width",
    "window",
    "zone",
];

/// Attributes whose values are plain words.
pub(super) const PLAIN_VALUES: &[&str] = &[
    "branch",
    "browser",
    "color",
    "compiler",
    "default",
    "department",
    "editor",
    "encoding",
    "firewall",
    "font",
    "format",
    "formatter",
    "framework",
    "frequency",
    "language",
    "level",
    "license",
    "linter",
    "mode",
    "os",
    "phase",
    "plan",
    "platform",
    "position",
    "priority",
    "region",
    "role",
    "runtime",
    "severity",
    "shell",
    "squad",
    "stage",
    "state",
    "status",
    "subscription",
    "team",
    "theme",
    "tier",
    "unit",
    "verbosity",
];

/// Words that make any noun single-valued.
pub(super) const SINGLING: &[&str] = &["default", "favorite", "preferred"];

/// Attributes that are things themselves: an identifier says where they are, a name what they are.
pub(super) const HOSTED: &[&str] = &["account", "database", "engine", "platform", "runtime"];

/// Nouns of which somebody or something has several.
pub(super) const SEVERAL: &[&str] = &[
    "advantage",
    "assumption",
    "blocker",
    "brother",
    "bug",
    "case",
    "cause",
    "child",
    "client",
    "colleague",
    "concern",
    "cousin",
    "culprit",
    "customer",
    "daughter",
    "dependency",
    "example",
    "fact",
    "feature",
    "friend",
    "goal",
    "hobby",
    "idea",
    "issue",
    "kind",
    "lesson",
    "member",
    "neighbor",
    "option",
    "part",
    "partner",
    "point",
    "problem",
    "question",
    "reason",
    "result",
    "risk",
    "sibling",
    "sister",
    "son",
    "step",
    "task",
    "thing",
    "tool",
    "type",
    "user",
    "way",
];

/// Lower-case values that describe instead of naming: "the editor is slow" has no slot.
pub(super) const DESCRIBING: &[&str] = &[
    "available",
    "bad",
    "big",
    "broken",
    "busy",
    "correct",
    "critical",
    "different",
    "down",
    "easy",
    "empty",
    "fast",
    "fine",
    "flat",
    "flexible",
    "free",
    "full",
    "good",
    "great",
    "hard",
    "here",
    "high",
    "huge",
    "important",
    "impossible",
    "late",
    "long",
    "low",
    "missing",
    "nice",
    "ok",
    "okay",
    "old",
    "optional",
    "possible",
    "quick",
    "ready",
    "right",
    "same",
    "secret",
    "short",
    "slow",
    "small",
    "strict",
    "tight",
    "unavailable",
    "unclear",
    "unknown",
    "unstable",
    "up",
    "used",
    "useful",
    "useless",
    "wrong",
];

/// Whether a word in lower case describes instead of naming.
pub(in crate::memory) fn describes(word: &str) -> bool {
    let tails = ["ing", "ed", "ly", "ful", "able", "ible", "ous", "ive", "less"];
    DESCRIBING.contains(&word) || (word.len() > 3 && tails.iter().any(|tail| word.ends_with(tail)))
}

/// Words with which nothing certain and single is said of the present.
pub(super) const REFUSED: &[&str] = &[
    "about",
    "actually",
    "again",
    "also",
    "and",
    "another",
    "appears",
    "are",
    "asked",
    "because",
    "been",
    "believe",
    "believes",
    "between",
    "both",
    "but",
    "can",
    "claimed",
    "claims",
    "considering",
    "could",
    "decided",
    "did",
    "do",
    "does",
    "either",
    "else",
    "except",
    "expected",
    "first",
    "former",
    "formerly",
    "future",
    "guess",
    "had",
    "has",
    "have",
    "heard",
    "hope",
    "hopes",
    "how",
    "if",
    "is",
    "last",
    "least",
    "less",
    "likely",
    "looks",
    "maybe",
    "might",
    "more",
    "most",
    "must",
    "neither",
    "next",
    "nor",
    "old",
    "only",
    "or",
    "perhaps",
    "planned",
    "possibly",
    "previous",
    "previously",
    "probably",
    "propose",
    "proposed",
    "said",
    "says",
    "seems",
    "several",
    "shall",
    "should",
    "some",
    "sometimes",
    "suggest",
    "suggested",
    "suggests",
    "supposed",
    "temporary",
    "than",
    "that",
    "think",
    "thinks",
    "thought",
    "told",
    "unless",
    "until",
    "upcoming",
    "used",
    "usually",
    "want",
    "wants",
    "was",
    "were",
    "what",
    "when",
    "whenever",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "would",
];

/// Phrases before a statement that say nothing of it.
pub(super) const OPENINGS: &[&[&str]] = &[
    &["for", "the", "record"],
    &["fyi"],
    &["good", "to", "know"],
    &["it", "is", "known", "that"],
    &["just", "so", "you", "know"],
    &["learned", "today"],
    &["note", "that"],
    &["noted"],
    &["please", "note", "that"],
    &["please", "remember", "that"],
    &["remember", "that"],
    &["reminder"],
    &["til"],
];

/// Verbs whose subject is the value, with the attribute of their object: "Alice owns billing".
pub(super) const VALUE_FIRST: &[(&str, &str)] = &[
    ("heads", "lead"),
    ("leads", "lead"),
    ("maintains", "maintainer"),
    ("manages", "manager"),
    ("owns", "owner"),
];

/// Adverbs that change nothing of what is said.
pub(super) const IDLE: &[&str] =
    &["already", "currently", "exactly", "just", "officially", "presently", "really", "still", "today"];

/// Words before a colon that are no subject.
pub(in crate::memory) const LABELS: &[&str] = &[
    "a",
    "answer",
    "bug",
    "caution",
    "context",
    "debug",
    "decision",
    "error",
    "example",
    "fact",
    "fix",
    "fixme",
    "fyi",
    "hint",
    "idea",
    "important",
    "info",
    "memo",
    "nb",
    "note",
    "ps",
    "q",
    "question",
    "re",
    "remember",
    "reminder",
    "result",
    "summary",
    "til",
    "tip",
    "tldr",
    "todo",
    "warning",
];

/// Sentences of one word before a statement.
pub(in crate::memory) const LABELS_ALONE: &[&str] = &["noted", "ok", "okay", "done", "right"];

/// Words before a colon that say that something changed.
pub(in crate::memory) const UPDATE_LABELS: &[&str] =
    &["change", "correction", "edit", "news", "update", "updated"];

/// Prepositions that say where or for what something holds; a key drops them.
pub(super) const LOOSE_PREPOSITIONS: &[&str] = &["at", "for", "in", "inside", "of", "on", "within"];

/// Prepositions of which two make two things ("from Berlin", "to Berlin"); a key keeps them.
pub(super) const TIGHT_PREPOSITIONS: &[&str] = &[
    "after", "against", "before", "behind", "by", "from", "into", "over", "through", "to", "toward",
    "towards", "under", "via", "with", "per",
];

/// Verbs with which a subject carries an attribute: "listens on port 8080".
pub(super) const CARRIES: &[&str] = &[
    "answer", "bind", "expose", "get", "have", "listen", "operate", "respond", "run", "serve", "sit", "stay",
    "use",
];

/// Verbs with a quantity: "costs 20 euros", "times out after 30 s".
pub(super) const MEASURES: &[&str] = &[
    "accept", "allow", "charge", "contain", "cost", "earn", "expire", "handle", "hold", "keep", "last",
    "measure", "need", "pay", "poll", "require", "retain", "retry", "scale", "serve", "sleep", "span",
    "store", "take", "time", "wait", "weigh",
];

/// Verbs with a time: "meets on Tuesdays".
pub(super) const HAPPENS: &[&str] = &[
    "arrive", "begin", "close", "depart", "deploy", "end", "expire", "happen", "launch", "leave", "meet",
    "open", "publish", "release", "renew", "repeat", "reset", "rotate", "run", "ship", "start", "sync",
];

/// Verbs of which a subject may have many objects at once.
pub(super) const MANY: &[&str] = &[
    "adopt",
    "drink",
    "drive",
    "eat",
    "enjoy",
    "like",
    "love",
    "own",
    "play",
    "prefer",
    "recommend",
    "ride",
    "run",
    "support",
    "target",
    "use",
];

/// Participles of change, with what they change.
pub(super) const CHANGES: &[(&str, Change)] = &[
    ("adjusted", Change::Value),
    ("bumped", Change::Value),
    ("changed", Change::Value),
    ("corrected", Change::Value),
    ("cut", Change::Value),
    ("decreased", Change::Value),
    ("delayed", Change::Value),
    ("downgraded", Change::Version),
    ("dropped", Change::Value),
    ("extended", Change::Value),
    ("increased", Change::Value),
    ("lowered", Change::Value),
    ("migrated", Change::Use),
    ("moved", Change::Place),
    ("postponed", Change::Value),
    ("pushed", Change::Value),
    ("raised", Change::Value),
    ("reduced", Change::Value),
    ("relocated", Change::Place),
    ("renamed", Change::Name),
    ("rescheduled", Change::Value),
    ("set", Change::Value),
    ("shifted", Change::Value),
    ("shortened", Change::Value),
    ("switched", Change::Use),
    ("transferred", Change::Place),
    ("updated", Change::Version),
    ("upgraded", Change::Version),
    ("went", Change::Value),
];

/// What a verb of change changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// What the subject is ("the port changed to").
    Value,
    /// Where it is, or when.
    Place,
    /// What it is called.
    Name,
    /// Its version.
    Version,
    /// What is used.
    Use,
}

/// States of which one or the other holds, the first of a pair being its name.
pub(super) const STATES: &[(&str, &str)] = &[
    ("enabled", "enabled"),
    ("disabled", "enabled"),
    ("on", "enabled"),
    ("off", "enabled"),
    ("active", "active"),
    ("inactive", "active"),
    ("online", "online"),
    ("offline", "online"),
    ("open", "open"),
    ("closed", "open"),
    ("locked", "locked"),
    ("unlocked", "locked"),
    ("public", "public"),
    ("private", "public"),
];

/// Spellings and short forms of one word.
const CANONICAL: &[(&str, &str)] = &[
    ("centre", "center"),
    ("colour", "color"),
    ("config", "configuration"),
    ("db", "database"),
    ("dev", "development"),
    ("dir", "directory"),
    ("env", "environment"),
    ("expiry", "expiration"),
    ("favourite", "favorite"),
    ("hostname", "host"),
    ("k8s", "kubernetes"),
    ("leader", "lead"),
    ("licence", "license"),
    ("mail", "email"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("neighbour", "neighbor"),
    ("postgres", "postgresql"),
    ("prod", "production"),
    ("ram", "memory"),
    ("repo", "repository"),
];

/// A word in lower case in the spelling that all its spellings share.
pub(in crate::memory) fn canonical(word: &str) -> &str {
    CANONICAL.iter().find(|(spelling, _)| *spelling == word).map_or(word, |(_, canonical)| canonical)
}

/// An English noun without its plural ending.
pub(in crate::memory) fn singular(word: &str) -> String {
    if word.len() < 4
        || !word.is_ascii()
        || word.ends_with("ss")
        || word.ends_with("us")
        || word.ends_with("is")
    {
        return word.to_owned();
    }
    for tail in ["sses", "xes", "ches", "shes"] {
        if word.ends_with(tail) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix("ies") {
        Some(root) if root.len() > 1 => format!("{root}y"),
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

/// The infinitive of a verb in the present tense.
pub(super) fn infinitive(word: &str) -> String {
    if word == "has" { "have".to_owned() } else { singular(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_has_one_form() {
        for (word, expected) in [
            ("ports", "port"),
            ("address", "address"),
            ("status", "status"),
            ("boxes", "box"),
            ("classes", "class"),
            ("frequencies", "frequency"),
            ("databases", "database"),
            ("is", "is"),
        ] {
            assert_eq!(singular(word), expected);
        }
        assert_eq!((canonical("db"), canonical("port")), ("database", "port"));
        assert_eq!(
            (infinitive("has"), infinitive("meets"), infinitive("retries")),
            ("have".into(), "meet".into(), "retry".into())
        );
    }
}
