//! Text analysis and the text index.
//! User text never reaches a query language.

pub mod analyze;
pub mod asked;
mod chars;
pub mod compact;
pub mod delta;
mod detect;
mod directory;
mod edits;
mod examined;
pub mod highlight;
pub mod index;
pub mod language;
mod query;
mod rarity;
mod score;
mod speaker;
mod spelling;
mod split;
mod stopwords;

pub use analyze::{Analyzer, Purpose, TermOccurrence, TermShape, hash};
pub use asked::{AskedScan, Compare, asked_words};
pub use chars::{fold_word, is_ideograph, is_unspaced};
pub use compact::{CompactionPlan, FreshText, compact};
pub use delta::{Delta, DeltaScan, encode_terms, examine_delta, forms, is_whole, language_in, search_delta};
pub use detect::{certain_language, language_of, likeliest};
pub use directory::META as MANIFEST;
pub use edits::{allowed_edits, edits_within};
pub use examined::Examined;
pub use highlight::{Snippet, snippet};
pub use index::{Prepared, TextIndex};
pub use language::Language;
pub use query::{QueryTerm, query_terms};
pub use rarity::{Rarity, rarity};
pub use speaker::is_particle;
pub use spelling::{AskedTerm, asked_terms, corrections};
pub use stopwords::is_stop;
