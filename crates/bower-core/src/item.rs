//! The engine's basic types: items, their kinds and states, row ids, changes, scores.
//! Nothing here reads or writes. The types admit no invalid value.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::Error;

/// An item's row in its store, never reused or renumbered. `u32` keeps the indexes small (4 billion inserts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RowId(pub u32);

/// A change number, from the store's one counter. All rows written in one step share it. A transaction has one step, or
/// several that can be undone separately.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Change(pub u64);

/// The coverage of an index: everything that one store had written up to one change.
///
/// `mark` is the store's fingerprint of that change. It detects a restored backup in which other changes were then
/// written under the same numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// The store's identity, made once when it was created.
    pub store: String,
    /// The last change that the index holds.
    pub change: Change,
    /// The store's fingerprint of that change.
    pub mark: u64,
}

/// A row with a channel's score. Ordered best first by [`Scored::cmp_best_first`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The item's row.
    pub row: RowId,
    /// The channel's raw score; higher is better.
    pub score: f32,
}

impl Scored {
    /// Returns the best `depth` rows, best first.
    pub fn best(mut scored: Vec<Self>, depth: usize) -> Vec<Self> {
        if scored.len() > depth && depth > 0 {
            scored.select_nth_unstable_by(depth - 1, Self::cmp_best_first);
        }
        scored.truncate(depth);
        scored.sort_unstable_by(Self::cmp_best_first);
        scored
    }

    /// Orders by higher score, then smaller row. The order is total, so equal inputs give equal bytes.
    pub fn cmp_best_first(a: &Self, b: &Self) -> std::cmp::Ordering {
        b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
    }
}

/// Which rows a channel may return: those in `keep` (all, where it is none) that are not in `drop`.
#[derive(Clone, Copy, Debug)]
pub struct Allowed<'a> {
    /// The filter's rows; `None` lets every row pass.
    pub keep: Option<&'a RowSet>,
    /// Rows that were deleted or changed after the index was written.
    pub drop: &'a RowSet,
}

impl Allowed<'_> {
    /// Whether a channel may return this row.
    #[inline]
    pub fn contains(&self, row: RowId) -> bool {
        self.keep.is_none_or(|keep| keep.contains(row)) && !self.drop.contains(row)
    }

    /// Whether every row may be returned.
    pub fn is_everything(&self) -> bool {
        self.keep.is_none() && self.drop.is_empty()
    }
}

/// Declares an enum whose variants have one spelling everywhere: code, store, help and JSON.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $(#[doc = concat!("`", $word, "`")] $(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All values, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The words of all values, in the order of [`Self::ALL`].
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns its word in the store, in help and in JSON.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(word: &str) -> Result<Self, Error> {
                Self::ALL.iter().copied().find(|value| value.word() == word).ok_or_else(|| {
                    let words: Vec<_> = Self::ALL.iter().map(|value| value.word()).collect();
                    Error::invalid(format!("{} {word:?}", $what), format!("use one of {}", words.join(", ")))
                })
            }
        }
    };
}

mod anchor;
mod link;
mod llm;
mod provenance;
mod row_set;
mod triple;

pub use anchor::{Anchor, AnchorState, CheckedAnchor, MOST_ANCHORS, TextHash};
pub(crate) use link::linked_path;
pub use llm::{Dollars, LlmOperation, LlmTier};
pub use provenance::{Admission, Author, Origin, Provenance, TakenHow};
pub use row_set::RowSet;
pub use triple::{SourcedTriple, Triple};

words! {
    /// The kind of an item: a memory that somebody decided to keep, or a part of an indexed document.
    Kind, "kind" { Memory = "memory", Chunk = "chunk" }
}

words! {
    /// What a cached vector is for: a question, or a text that is kept.
    CacheRole, "role" { Question = "question", Document = "document" }
}

words! {
    /// The type of a memory.
    MemoryType, "type" {
        Fact = "fact", Preference = "preference", Pattern = "pattern", Decision = "decision", Gotcha = "gotcha",
        Convention = "convention", Episode = "episode", Procedure = "procedure", Context = "context",
        Handoff = "handoff", Digest = "digest",
    }
}

words! {
    /// The scope: who may see an item, together with its owner.
    Scope, "scope" { Project = "project", Agent = "agent", Mission = "mission", User = "user" }
}

impl Scope {
    /// Returns the rank of the scope; the higher, the fewer may see an item. A project's items are for everybody, a
    /// user's for one person and that person's agents, an agent's for one agent. A mission's are for one task, the
    /// fewest of all.
    fn strictness(self) -> u8 {
        match self {
            Self::Project => 0,
            Self::User => 1,
            Self::Agent => 2,
            Self::Mission => 3,
        }
    }

    /// Whether it admits no more callers than `wider` does.
    pub fn is_within(self, wider: Self) -> bool {
        self.strictness() >= wider.strictness()
    }
}

/// Returns the strictest of some scopes, which anything derived from their items must have; `None` for an empty list.
///
/// Items of different owners have no common scope: nothing may be derived from them together.
pub fn strictest(scopes: &[Scope]) -> Option<Scope> {
    scopes.iter().copied().max_by_key(|scope| scope.strictness())
}

/// The items that a caller may see and change: those of its scope, owner and collections, as far as each is restricted.
///
/// This is the whole rule (`docs/scopes.md`). Every method of the engine that reads or changes items takes one as its
/// first argument. There is no default: an unrestricted caller passes [`Visibility::everything`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// Only items of this scope.
    pub scope: Option<Scope>,
    /// Only items of this owner.
    pub owner: Option<String>,
    /// Only items of these collections; `None` is all collections, an empty set is none.
    pub collections: Option<BTreeSet<String>>,
}

impl Visibility {
    /// Returns the whole store, for an unrestricted caller.
    pub const fn everything() -> Self {
        Self { scope: None, owner: None, collections: None }
    }

    /// Returns the items of a scope and an owner, in any collection.
    pub const fn of(scope: Option<Scope>, owner: Option<String>) -> Self {
        Self { scope, owner, collections: None }
    }

    /// Whether it is the whole store.
    pub const fn is_everything(&self) -> bool {
        self.scope.is_none() && self.owner.is_none() && self.collections.is_none()
    }

    /// Whether an item of this collection, scope and owner is visible.
    pub fn holds(&self, collection: &str, scope: Scope, owner: Option<&str>) -> bool {
        self.scope.is_none_or(|wanted| wanted == scope)
            && self.owner.as_deref().is_none_or(|wanted| Some(wanted) == owner)
            && self.holds_collection(collection)
    }

    /// Whether items of a collection may be visible.
    pub fn holds_collection(&self, name: &str) -> bool {
        self.collections.as_ref().is_none_or(|names| names.contains(name))
    }

    /// Narrows the visibility to the scope and owner that a request names. Naming anything outside is an error.
    pub fn narrowed(&self, scope: Option<Scope>, owner: Option<&str>) -> Result<Self, Error> {
        let scope = match (self.scope, scope) {
            (Some(bound), Some(wanted)) if bound != wanted => return Err(outside("scope", wanted, bound)),
            (bound, wanted) => bound.or(wanted),
        };
        let owner = match (self.owner.as_deref(), owner) {
            (Some(bound), Some(wanted)) if bound != wanted => return Err(outside("owner", wanted, bound)),
            (bound, wanted) => bound.or(wanted).map(str::to_owned),
        };
        Ok(Self { scope, owner, collections: self.collections.clone() })
    }

    /// Returns an error if a collection is not visible.
    pub fn check_collection(&self, name: &str) -> Result<(), Error> {
        match &self.collections {
            Some(names) if !names.contains(name) => {
                let bound: Vec<&str> = names.iter().map(String::as_str).collect();
                Err(outside("collection", name, bound.join(", ")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns an error if an item of this collection, scope and owner would not be visible. No caller writes items
    /// that it may not see.
    pub fn check_place(&self, collection: &str, scope: Scope, owner: Option<&str>) -> Result<(), Error> {
        self.check_collection(collection)?;
        if let Some(bound) = self.scope.filter(|bound| *bound != scope) {
            return Err(outside("scope", scope, bound));
        }
        match self.owner.as_deref() {
            Some(bound) if Some(bound) != owner => Err(outside("owner", owner.unwrap_or("nobody"), bound)),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns an error unless it is the whole store, for operations that read all of it.
    pub fn check_everything(&self, what: &'static str) -> Result<(), Error> {
        if self.is_everything() { Ok(()) } else { Err(Error::WholeStore { what }) }
    }

    /// Whether a writer to `place` may learn that `item` exists: its own items, and those that everybody may see.
    /// Refusing an echo of any other item would reveal it, so such an echo is accepted.
    pub fn is_known_at(place: (Scope, Option<&str>), item: (Scope, Option<&str>)) -> bool {
        match (place.1, item.1) {
            (None, None) => true,
            (Some(_), None) => place.0.is_within(item.0),
            (mine, theirs) => mine == theirs && place.0.is_within(item.0),
        }
    }
}

/// Returns the error for a name outside the caller's visibility.
fn outside(what: &'static str, wanted: impl fmt::Display, bound: impl fmt::Display) -> Error {
    Error::Outside { what, wanted: wanted.to_string(), bound: bound.to_string() }
}

words! {
    /// The state of an item in its life.
    Status, "status" {
        Candidate = "candidate", Active = "active", Superseded = "superseded", Archived = "archived",
        /// Another wording of a memory, which questions find it by. It is no memory of its own.
        Variant = "variant",
    }
}

words! {
    /// A budget class: pinned items always fit, fading ones are dropped first. Stored and shown as 1, 2, 3.
    Tier, "tier" { Pinned = "1", Active = "2", Fading = "3" }
}

words! {
    /// The strictness of admission.
    Gate, "gate" {
        /// Keeps every text.
        Off = "off",
        /// Refuses texts that are plainly no memory.
        Normal = "normal",
        /// Also refuses texts that are true only for a moment.
        Strict = "strict",
    }
}

words! {
    /// The size of a briefing; `off` is none (ADE: lite 3, standard 8, deep 20 entries).
    Briefing, "budget" { Off = "off", Lite = "lite", Standard = "standard", Deep = "deep" }
}

words! {
    /// The rows from which term rarity and average text length are computed.
    Statistics, "statistics" {
        /// All rows of the store. A word weighs the same for every caller, and texts of others affect scores.
        Shared = "shared",
        /// The rows that the caller may see. Texts of others affect nothing.
        Own = "own",
    }
}

words! {
    /// Whether something is done.
    Switch, "switch" { On = "on", Off = "off" }
}

words! {
    /// How long the statement of a text is likely to stay true.
    Durability, "durability" {
        /// Until something replaces it.
        Lasting = "lasting",
        /// Until a time that the text names.
        Dated = "dated",
        /// For a moment only.
        Passing = "passing",
    }
}

words! {
    /// The outcome of curating a text, given the existing memories.
    CurateOutcome, "outcome" {
        /// A new memory was created.
        Create = "create",
        /// An existing memory says the same and was confirmed.
        Confirm = "confirm",
        /// A new memory was created and linked to an existing one.
        Link = "link",
        /// The text says all that an existing memory says, and more. It supersedes that memory.
        Append = "append",
        /// The statement of an existing memory no longer holds. The text supersedes it.
        Supersede = "supersede",
        /// The text contradicts a memory and no rule decides. Both stay, and a review is opened.
        Contradict = "contradict",
        /// The text was refused.
        Refuse = "refuse",
    }
}

words! {
    /// How an item mentions an entity.
    EntityKind, "entity kind" {
        /// As the title or the file name of its document.
        Title = "title",
        /// As the target of a link.
        Link = "link",
        /// As a tag.
        Tag = "tag",
        /// As a name, identifier, quoted phrase or address.
        Name = "name",
        /// As a subject or object of a relation that a language model read off the text.
        Triple = "triple",
        /// As a word of a memory or of a turn of a conversation.
        Word = "word",
        /// As a part of a longer name, or as the first word of a sentence: only a hint.
        Part = "part",
    }
}

words! {
    /// A node of the graph: a document, a memory, or an entity by how it is mentioned most strongly.
    NodeKind, "node kind" {
        Document = "document", Memory = "memory", Title = "title", Link = "link", Tag = "tag", Name = "name",
        Triple = "triple", Word = "word", Part = "part",
    }
}

impl NodeKind {
    /// Whether it is a document or a memory, and no entity.
    pub fn is_item(self) -> bool {
        matches!(self, Self::Document | Self::Memory)
    }
}

impl From<EntityKind> for NodeKind {
    fn from(kind: EntityKind) -> Self {
        match kind {
            EntityKind::Title => Self::Title,
            EntityKind::Link => Self::Link,
            EntityKind::Tag => Self::Tag,
            EntityKind::Name => Self::Name,
            EntityKind::Triple => Self::Triple,
            EntityKind::Word => Self::Word,
            EntityKind::Part => Self::Part,
        }
    }
}

words! {
    /// The type of a link between two memories.
    Relation, "relation" {
        Causes = "causes", Informs = "informs", Contradicts = "contradicts", Supersedes = "supersedes",
        ExampleOf = "example_of", PrerequisiteFor = "prerequisite_for", LedTo = "led_to", RelatedTo = "related_to",
        /// A memory may replace or contradict an earlier one; nobody has settled it. The strength is the likelihood, 0..1.
        MayReplace = "may_replace",
        /// A memory may say the same as an earlier one; nobody has settled it. The strength is the likelihood, 0..1.
        MayRepeat = "may_repeat",
        /// Somebody settled that two memories are different facts.
        DiffersFrom = "differs_from",
        /// A text is another wording of a memory.
        VariantOf = "variant_of",
    }
}

impl Relation {
    /// Returns the weight of this relation beside all that a memory mentions, which weighs 1; 0 for a contradiction and for what nobody has
    /// settled. No measurement chose the weights: no set that we know has such relations.
    pub fn weight(self) -> f32 {
        match self {
            Self::Supersedes | Self::VariantOf => 1.0,
            Self::Causes | Self::LedTo | Self::ExampleOf => 0.8,
            Self::Informs | Self::PrerequisiteFor | Self::RelatedTo => 0.6,
            Self::Contradicts | Self::MayReplace | Self::MayRepeat | Self::DiffersFrom => 0.0,
        }
    }
}

words! {
    /// A caller's word about a memory and an earlier one.
    PairRuling, "ruling" {
        /// The memory takes the earlier one's place.
        Replaces = "replaces",
        /// The memory says the same: its text becomes another wording of the earlier one.
        Confirms = "confirms",
        /// The two are different facts.
        DifferentFrom = "different_from",
    }
}

words! {
    /// The decision that ends a review.
    Ruling, "ruling" {
        /// The newer memory is right and supersedes the older.
        Accept = "accept",
        /// The older memory is right and supersedes the newer.
        Reject = "reject",
        /// A merged text supersedes both.
        Merge = "merge",
        /// Both are right.
        Both = "both",
    }
}

words! {
    /// Feedback on a memory that an answer returned.
    Verdict, "verdict" {
        /// Helped.
        Useful = "useful",
        /// Never true.
        Wrong = "wrong",
        /// No longer true.
        Stale = "stale",
    }
}

words! {
    /// A change that a sweep makes to a memory's state.
    Turn, "turn" {
        /// A candidate becomes active.
        Promote = "promote",
        /// Fades: it is dropped first when the budget is short.
        Demote = "demote",
        /// No longer fades.
        Raise = "raise",
        /// Leaves answers and stays in the store.
        Archive = "archive",
    }
}

words! {
    /// A way of retrieving candidates.
    Channel, "channel" {
        Text = "text", Vector = "vector", Tags = "tags", Filename = "filename", Canonical = "canonical",
        Graph = "graph",
    }
}

words! {
    /// A formula that ranks candidates: our own, or that of one of the source systems.
    Profile, "profile" { Bower = "bower", Athena = "athena", Atlas = "atlas", Ade = "ade", Seed = "seed" }
}

words! {
    /// A probability as a word.
    Band, "band" { High = "HIGH", Medium = "MED", Low = "LOW" }
}

impl Band {
    /// Returns the band of a score: HIGH from `high` on, MED from `medium` on, else LOW. NaN is LOW.
    pub fn of(score: f32, high: f32, medium: f32) -> Self {
        if score >= high {
            Self::High
        } else if score >= medium {
            Self::Medium
        } else {
            Self::Low
        }
    }
}

/// Facts about an item that ranking uses beside its text and vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Memory or chunk.
    pub kind: Kind,
    /// The type of a memory; a chunk has none.
    pub memory_type: Option<MemoryType>,
    /// Stored importance, 0..1.
    pub importance: f32,
    /// Confidence, 0..1.
    pub confidence: f32,
    /// Number of uses.
    pub access_count: u64,
    /// Per-day decay of importance.
    pub decay_rate: f32,
    /// When it was written.
    pub created: Timestamp,
    /// When it was last used.
    pub accessed: Timestamp,
    /// Its budget class, which includes pinned.
    pub tier: Tier,
    /// How well its time fits the time in the question, 0..1; `None` if the question names no time.
    pub asked_time: Option<f32>,
}

words! {
    /// The method that reorders the best hits after retrieval.
    Rerank, "reranker" {
        /// No reranking.
        None = "none",
        /// A local model that reads the question and a text together.
        CrossEncoder = "cross-encoder",
        /// A reranker at a service, which the setting `rerank_model` names.
        Service = "service",
        /// The configured language model.
        Llm = "llm",
    }
}

words! {
    /// The protocol of the language model.
    LlmProvider, "provider" {
        /// No language model; nothing leaves the machine.
        None = "none",
        /// Chat completions over HTTP, which most servers support, local ones too.
        OpenAi = "openai",
        /// Google's Gemini API.
        Gemini = "gemini",
        /// Anthropic's messages.
        Anthropic = "anthropic",
        /// Ollama's own API.
        Ollama = "ollama",
    }
}

words! {
    /// The effect of times in a question: none, raise matching items, or leave out the others.
    When, "when" { Off = "off", Soft = "soft", Strict = "strict" }
}

/// A part of an answer that can be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Part {
    /// One of the channels.
    Channel(Channel),
    /// A step after the channels.
    Step(Step),
}

words! {
    /// A step besides the channels that can be missing, the store itself if a part of it is missing, or the model's knowledge
    /// of a language.
    Step, "step" { Rerank = "rerank", Tokens = "tokens", Pick = "pick", Store = "store", Language = "language" }
}

impl From<Channel> for Part {
    fn from(channel: Channel) -> Self {
        Self::Channel(channel)
    }
}

impl From<Step> for Part {
    fn from(step: Step) -> Self {
        Self::Step(step)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(channel) => channel.fmt(f),
            Self::Step(step) => step.fmt(f),
        }
    }
}

/// Returns a stable text id: the first 16 hex digits of SHA-256 over the parts. Each part is preceded by its length, so
/// that ("ab","c") differs from ("a","bc").
pub fn derive_id(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut id = hex(&hash.finalize());
    id.truncate(16);
    id
}

/// Returns bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    // A digit at a time from a table: formatting took a fourteenth of a run of `index` over unchanged files.
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Returns the text of a chunk that the channels index. Title and heading path precede the content unless it begins with them.
pub fn indexed_text(title: Option<&str>, section: Option<&str>, content: &str) -> String {
    let first_line = content.lines().next().unwrap_or("").trim_start_matches('#').trim();
    let fresh = |head: &&str| !head.is_empty() && *head != first_line;
    let section = section.map(str::trim).filter(fresh);
    let title = title
        .map(str::trim)
        .filter(fresh)
        .filter(|title| !section.is_some_and(|path| path.starts_with(title)));
    let heads = [title, section].into_iter().flatten();
    heads.chain([content]).collect::<Vec<_>>().join("\n")
}

/// Returns what the places of a file's chunks count, as one word: its lines, unless the format has other parts.
pub fn unit_of(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "pdf" => "page",
        "epub" => "chapter",
        "pptx" | "pptm" | "ppsx" | "odp" | "otp" => "slide",
        "docx" | "docm" | "dotx" | "odt" | "ott" => "paragraph",
        "xlsx" | "xlsm" | "xls" | "ods" => "row",
        "ipynb" => "cell",
        _ => "line",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_names_its_parts() {
        let of = |path: &str| unit_of(Path::new(path));
        assert_eq!((of("a/b.PDF"), of("talk.odp"), of("letter.docx")), ("page", "slide", "paragraph"));
        assert_eq!((of("a.rs"), of("")), ("line", "line"));
    }

    #[test]
    fn what_is_made_of_several_is_for_the_fewest() {
        use Scope::{Agent, Mission, Project, User};
        let check = |scopes: &[Scope], expected| assert_eq!(strictest(scopes), expected, "{scopes:?}");
        check(&[], None);
        check(&[Project], Some(Project));
        check(&[User, Project], Some(User));
        check(&[Project, Agent, User], Some(Agent));
        check(&[Mission, Agent, User, Project], Some(Mission));
        for &one in Scope::ALL {
            for &two in Scope::ALL {
                let both = strictest(&[one, two]).unwrap();
                assert_eq!(strictest(&[two, one]), Some(both));
                assert!(both.is_within(one) && both.is_within(two) && (both == one || both == two));
            }
        }
    }

    #[test]
    fn a_visibility_holds_what_it_names() {
        let of = |scope, owner: Option<&str>| Visibility::of(scope, owner.map(str::to_owned));
        let holds = |visibility: &Visibility, scope, owner| visibility.holds("c", scope, owner);
        let ann = Some("ann");
        let everything = Visibility::everything();
        assert!(holds(&everything, Scope::Mission, ann) && everything.is_everything());
        assert!(holds(&of(Some(Scope::Agent), None), Scope::Agent, ann));
        assert!(!holds(&of(Some(Scope::Agent), None), Scope::Project, None));
        let hers = of(None, ann);
        assert!(holds(&hers, Scope::User, ann) && !holds(&hers, Scope::User, Some("bob")));
        assert!(!holds(&hers, Scope::Project, None), "an owner's are those that name the owner");
        let of_c = Visibility { collections: Some(["c".to_owned()].into()), ..everything };
        assert!(holds(&of_c, Scope::User, ann) && !of_c.holds("d", Scope::User, ann));
        assert!(!of_c.is_everything());
        let none = Visibility { collections: Some(BTreeSet::new()), ..of_c.clone() };
        assert!(!holds(&none, Scope::Project, None), "no collection is not every collection");
        let known = |place, item| Visibility::is_known_at(place, item);
        assert!(known((Scope::Agent, ann), (Scope::Project, None)));
        assert!(!known((Scope::Project, ann), (Scope::Agent, None)));
        assert!(
            known((Scope::Agent, ann), (Scope::User, ann)) && !known((Scope::User, ann), (Scope::Agent, ann))
        );
        assert!(!known((Scope::Mission, None), (Scope::Project, ann)));
        assert!(known((Scope::Project, None), (Scope::Mission, None)), "a user alone");
    }

    #[test]
    fn nobody_widens_a_visibility_by_naming_what_is_outside() {
        let bound = Visibility {
            scope: None,
            owner: Some("ann".into()),
            collections: Some(["a".to_owned(), "b".to_owned()].into()),
        };
        let agents = bound.narrowed(Some(Scope::Agent), None).unwrap();
        assert_eq!(agents, Visibility { scope: Some(Scope::Agent), ..bound.clone() });
        assert_eq!(agents.narrowed(Some(Scope::Agent), Some("ann")).unwrap(), agents);
        let error = bound.narrowed(None, Some("bob")).unwrap_err();
        assert_eq!(error.to_string(), "owner bob is outside of what the caller may see");
        assert!(agents.narrowed(Some(Scope::User), None).is_err());
        assert!(bound.check_place("a", Scope::User, Some("ann")).is_ok());
        assert!(bound.check_place("c", Scope::User, Some("ann")).is_err());
        assert!(bound.check_place("a", Scope::User, None).is_err());
        assert!(agents.check_place("a", Scope::User, Some("ann")).is_err());
        assert!(bound.check_everything("a sweep").is_err());
        assert!(Visibility::everything().check_everything("a sweep").is_ok());
    }

    #[test]
    fn ids_tell_their_parts_apart() {
        // printf '\\2\\0\\0\\0\\0\\0\\0\\0ab\\1\\0\\0\\0\\0\\0\\0\\0c' | sha256sum | cut -c1-16
        assert_eq!(derive_id(&["ab", "c"]), "43ee655579de01ca");
        assert_ne!(derive_id(&["ab", "c"]), derive_id(&["a", "bc"]));
    }

    #[test]
    fn a_chunk_is_indexed_under_its_heads_once() {
        let check = |title, section, content, expected: &str| {
            assert_eq!(indexed_text(title, section, content), expected);
        };
        check(
            Some("Guide"),
            Some("Install > Linux"),
            "## Linux\nrun it",
            "Guide\nInstall > Linux\n## Linux\nrun it",
        );
        check(Some("Guide"), Some("Guide > Linux"), "## Linux\nrun it", "Guide > Linux\n## Linux\nrun it");
        check(Some("Guide"), Some("Guide"), "# Guide\nrun it", "# Guide\nrun it");
        check(None, None, "text", "text");
    }

    #[test]
    fn a_word_that_is_not_ours_names_those_that_are() {
        let error = "idea".parse::<MemoryType>().unwrap_err().to_string();
        assert!(error.starts_with("type \"idea\": use one of fact, preference"), "{error}");
    }
}
