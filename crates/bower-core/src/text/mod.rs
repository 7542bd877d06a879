//! Language analysis and the lexical index.
//! User text never reaches a query language.

pub mod analyze;
pub mod asked;
mod chars;
mod directory;
mod examined;
pub mod fold;
pub mod highlight;
pub mod index;
pub mod language;
mod query;
mod rarity;
mod score;
mod speaker;
mod split;
mod stopwords;
pub mod tail;

pub use analyze::{Analyzer, Found, Purpose, Shape};
pub use asked::{AskedScan, Compare, asked_words};
pub use directory::META as MANIFEST;
pub use examined::Examined;
pub use fold::{FoldPlan, FreshText, fold};
pub use highlight::{Snippet, snippet};
pub use index::{Prepared, TextIndex};
pub use language::Language;
pub use query::{QueryTerm, query_names, query_terms};
pub use rarity::{Rarity, rarity};
pub use tail::{Tail, TailScan, encode_terms, examine_tail, is_whole, search_tail};
