//! Lists of English words that change a claim (denials, limits, opposites), and of words that claim nothing.
//! The lists are closed classes of grammar and pairs of common opposites, not the vocabulary of any data set.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Words with a full stop that ends no sentence.
pub(super) const ABBREVIATIONS: &[&str] = &[
    "a.m", "approx", "ca", "cf", "dr", "e.g", "etc", "fig", "i.e", "inc", "jr", "ltd", "mr", "mrs", "ms",
    "p.m", "prof", "sr", "vs",
];

/// Sorted: words that say nothing of what a text is about.
const FUNCTION: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "being", "but", "by", "can", "could", "did", "do", "does", "doing", "each", "for", "from", "had", "has",
    "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "may", "me", "might", "must", "my", "now", "of", "off", "on", "onto", "or", "our", "ours",
    "out", "over", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their", "theirs",
    "them", "then", "there", "these", "they", "this", "those", "to", "under", "up", "us", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "would", "you", "your", "yours",
];

/// Whether a word in lower case says nothing of what a text is about.
pub(in crate::memory) fn is_function(word: &str) -> bool {
    FUNCTION.binary_search(&word).is_ok()
}

/// Words that deny what follows.
const DENIALS: &[&str] = &[
    "arent", "aren't", "can't", "cannot", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt",
    "havent", "isnt", "neither", "never", "no", "nobody", "none", "not", "nothing", "nowhere", "shouldnt",
    "unable", "wasnt", "werent", "without", "wont", "wouldnt",
];

/// Whether a word in lower case denies something.
pub(in crate::memory) fn denies(word: &str) -> bool {
    DENIALS.contains(&word) || word.ends_with("n't")
}

/// Words that say when, how far or how surely something holds, each with the class that it belongs to: two texts that differ
/// in a class do not say the same.
const LIMITS: &[(&str, &str)] = &[
    ("all", "all"),
    ("always", "all"),
    ("almost", "almost"),
    ("could", "may"),
    ("each", "all"),
    ("every", "all"),
    ("except", "except"),
    ("few", "few"),
    ("formerly", "was"),
    ("had", "was"),
    ("if", "if"),
    ("likely", "may"),
    ("may", "may"),
    ("maybe", "may"),
    ("might", "may"),
    ("most", "most"),
    ("mostly", "most"),
    ("must", "must"),
    ("nearly", "almost"),
    ("occasionally", "sometimes"),
    ("often", "often"),
    ("only", "only"),
    ("perhaps", "may"),
    ("planned", "will"),
    ("possibly", "may"),
    ("previously", "was"),
    ("probably", "may"),
    ("proposed", "will"),
    ("rarely", "rarely"),
    ("seldom", "rarely"),
    ("should", "should"),
    ("sometimes", "sometimes"),
    ("till", "until"),
    ("unless", "except"),
    ("until", "until"),
    ("usually", "most"),
    ("was", "was"),
    ("were", "was"),
    ("will", "will"),
    ("would", "would"),
];

/// The class of limit that a word in lower case sets.
pub(in crate::memory) fn limit(word: &str) -> Option<&'static str> {
    LIMITS.iter().find(|(limit, _)| *limit == word).map(|(_, class)| *class)
}

/// Prepositions of place and direction, those that mean the same as one.
const PLACES: &[(&str, &str)] = &[
    ("about", "about"),
    ("above", "above"),
    ("across", "across"),
    ("after", "after"),
    ("along", "along"),
    ("at", "at"),
    ("before", "before"),
    ("behind", "behind"),
    ("below", "under"),
    ("beneath", "under"),
    ("beside", "beside"),
    ("between", "between"),
    ("down", "down"),
    ("for", "for"),
    ("from", "from"),
    ("front", "front"),
    ("in", "in"),
    ("inside", "in"),
    ("into", "in"),
    ("near", "beside"),
    ("off", "off"),
    ("on", "on"),
    ("onto", "on"),
    ("out", "out"),
    ("outside", "out"),
    ("over", "over"),
    ("past", "past"),
    ("through", "through"),
    ("to", "to"),
    ("toward", "to"),
    ("towards", "to"),
    ("under", "under"),
    ("up", "up"),
    ("upon", "on"),
    ("within", "in"),
];

/// The place or direction that a word in lower case gives.
pub(super) fn place(word: &str) -> Option<&'static str> {
    let at = PLACES.binary_search_by(|(place, _)| place.cmp(&word)).ok()?;
    Some(PLACES[at].1)
}

/// The basic colours: two texts with different ones are of different things.
pub(super) const COLORS: &[&str] = &[
    "black", "blue", "brown", "gray", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow",
];

/// A pair of opposites.
pub(super) struct Opposites {
    pub one: &'static str,
    pub two: &'static str,
    /// Whether one of them holds wherever the other does not: what is not enabled is disabled, what is not left of it need
    /// not be right of it. Only such a pair makes two texts deny each other.
    pub exclusive: bool,
}

const fn pair(one: &'static str, two: &'static str) -> Opposites {
    Opposites { one, two, exclusive: true }
}

const fn contrary(one: &'static str, two: &'static str) -> Opposites {
    Opposites { one, two, exclusive: false }
}

/// Opposites, as roots ([`root`]) are made of them. A word may stand in several pairs.
pub(super) const OPPOSITES: &[Opposites] = &[
    pair("enabled", "disabled"),
    pair("allowed", "forbidden"),
    pair("allowed", "prohibited"),
    pair("allowed", "disallowed"),
    pair("permitted", "forbidden"),
    pair("permitted", "prohibited"),
    pair("true", "false"),
    pair("open", "closed"),
    pair("locked", "unlocked"),
    pair("active", "inactive"),
    pair("online", "offline"),
    pair("available", "unavailable"),
    pair("installed", "uninstalled"),
    pair("supported", "unsupported"),
    pair("supports", "lacks"),
    pair("encrypted", "unencrypted"),
    pair("verified", "unverified"),
    pair("possible", "impossible"),
    pair("valid", "invalid"),
    pair("safe", "unsafe"),
    pair("stable", "unstable"),
    pair("required", "optional"),
    pair("mandatory", "optional"),
    pair("necessary", "unnecessary"),
    pair("effective", "ineffective"),
    pair("dependent", "independent"),
    pair("correct", "incorrect"),
    pair("correct", "wrong"),
    pair("right", "wrong"),
    pair("complete", "incomplete"),
    pair("present", "absent"),
    pair("accepted", "rejected"),
    pair("approved", "rejected"),
    pair("passed", "failed"),
    pair("succeeds", "fails"),
    pair("included", "excluded"),
    pair("visible", "hidden"),
    pair("public", "private"),
    pair("running", "stopped"),
    pair("started", "stopped"),
    pair("connected", "disconnected"),
    pair("legal", "illegal"),
    pair("increase", "decrease"),
    pair("increase", "reduce"),
    pair("raise", "lower"),
    pair("improve", "worsen"),
    pair("promote", "inhibit"),
    pair("activate", "inhibit"),
    pair("activate", "deactivate"),
    pair("accelerate", "slow"),
    pair("higher", "lower"),
    pair("more", "less"),
    pair("more", "fewer"),
    pair("faster", "slower"),
    pair("larger", "smaller"),
    pair("better", "worse"),
    pair("positive", "negative"),
    pair("on", "off"),
    contrary("up", "down"),
    contrary("into", "out"),
    contrary("onto", "off"),
    contrary("inside", "outside"),
    contrary("indoors", "outdoors"),
    contrary("before", "after"),
    contrary("above", "below"),
    contrary("over", "under"),
    contrary("left", "right"),
    contrary("near", "far"),
    contrary("north", "south"),
    contrary("east", "west"),
    contrary("top", "bottom"),
    contrary("front", "back"),
    contrary("first", "last"),
    contrary("start", "end"),
    contrary("begin", "end"),
    contrary("add", "remove"),
    contrary("push", "pull"),
    contrary("upload", "download"),
    contrary("input", "output"),
    contrary("read", "write"),
    contrary("minimum", "maximum"),
    contrary("min", "max"),
    contrary("primary", "secondary"),
    contrary("internal", "external"),
    contrary("old", "new"),
    contrary("young", "old"),
    contrary("hot", "cold"),
    contrary("big", "small"),
    contrary("large", "small"),
    contrary("long", "short"),
    contrary("high", "low"),
    contrary("fast", "slow"),
    contrary("full", "empty"),
    contrary("hard", "soft"),
    contrary("easy", "hard"),
    contrary("strong", "weak"),
    contrary("good", "bad"),
    contrary("wet", "dry"),
    contrary("clean", "dirty"),
    contrary("light", "dark"),
    contrary("light", "heavy"),
    contrary("deep", "shallow"),
    contrary("wide", "narrow"),
    contrary("thick", "thin"),
    contrary("tall", "short"),
    contrary("rich", "poor"),
    contrary("close", "far"),
    contrary("early", "late"),
    contrary("morning", "evening"),
    contrary("day", "night"),
    contrary("man", "woman"),
    contrary("men", "women"),
    contrary("boy", "girl"),
    contrary("male", "female"),
    contrary("he", "she"),
    contrary("his", "her"),
    contrary("buy", "sell"),
    contrary("love", "hate"),
    contrary("like", "dislike"),
    contrary("sit", "stand"),
    contrary("win", "lose"),
    contrary("all", "some"),
    contrary("always", "sometimes"),
    contrary("production", "staging"),
    contrary("client", "server"),
    contrary("frontend", "backend"),
    contrary("source", "target"),
    contrary("parent", "child"),
];

/// The pairs that a word in lower case stands in: their place in [`OPPOSITES`], and whether it is the first of the two.
pub(in crate::memory) fn opposites(word: &str) -> &'static [(usize, bool)] {
    static PLACES: OnceLock<HashMap<&'static str, Vec<(usize, bool)>>> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for (at, pair) in OPPOSITES.iter().enumerate() {
            places.entry(root(pair.one)).or_default().push((at, true));
            places.entry(root(pair.two)).or_default().push((at, false));
        }
        places
    });
    places.get(root(word)).map_or(&[], Vec::as_slice)
}

/// A word in lower case without the endings of English verbs and plurals: "enabling" and "enabled" are `enabl`. Coarse, and
/// the same for both sides of every comparison.
pub(super) fn root(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let cut = |tail: &str, least: usize| word.strip_suffix(tail).filter(|root| root.len() >= least);
    let bare = cut("ing", 3).or_else(|| cut("ed", 3)).or_else(|| cut("es", 3)).or_else(|| {
        let is_plural = !word.ends_with("ss") && !word.ends_with("us");
        cut("s", 3).filter(|_| is_plural)
    });
    let bare = bare.or_else(|| cut("e", 3)).unwrap_or(word);
    let bytes = bare.as_bytes();
    let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    let doubled =
        doubled && matches!(bytes[bytes.len() - 1], b'b' | b'd' | b'g' | b'm' | b'n' | b'p' | b'r' | b't');
    if doubled { &bare[..bare.len() - 1] } else { bare }
}

/// Words that say that something has changed, or is so from now on.
pub(in crate::memory) const CHANGES: &[&str] = &[
    "now",
    "anymore",
    "switched",
    "changed",
    "moved",
    "renamed",
    "migrated",
    "upgraded",
    "downgraded",
    "replaced",
    "rescheduled",
    "postponed",
    "stopped",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_where_they_are_searched() {
        assert!(FUNCTION.is_sorted_by(|a, b| a < b) && PLACES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(is_function("the") && is_function("yours") && !is_function("port"));
    }

    #[test]
    fn one_verb_has_one_root_in_all_its_forms() {
        for (forms, expected) in [
            ("enable enabled enables enabling", "enabl"),
            ("stop stopped stops stopping", "stop"),
            ("increase increased increases increasing", "increas"),
            ("open opened opens opening", "open"),
            ("close closed closes closing", "clos"),
            ("run runs running", "run"),
        ] {
            assert!(forms.split(' ').all(|form| root(form) == expected), "{forms}");
        }
        assert_eq!((root("class"), root("on"), root("Überprüfung")), ("class", "on", "Überprüfung"));
    }
}
