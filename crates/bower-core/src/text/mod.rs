//! Language analysis and the lexical index. User text never reaches a query language.

pub mod analyze;
mod chars;
mod directory;
pub mod fold;
pub mod highlight;
pub mod index;
pub mod language;
mod query;
mod rarity;
mod score;
mod split;
mod stopwords;
pub mod tail;

pub use analyze::{ANALYSIS, Analyzer, Found, Purpose, Shape};
pub use fold::{FoldPlan, fold};
pub use highlight::{Snippet, snippet};
pub use index::{META as MANIFEST, TextIndex};
pub use language::Language;
pub use query::{QueryTerm, query_terms};
pub use rarity::{Rarity, rarity};
pub use tail::{Tail, TailScan, encode_terms, search_tail};
