//! Ingestion: walks a folder, parses its files, cuts them into chunks and compares these with stored ones.
//! It reads files, writes nothing and does not use a store.
//!
//! ```no_run
//! # use bower_core::{config::Settings, parts::ingest};
//! # fn main() -> bower_core::Result<()> {
//! let settings = Settings::default();
//! let walk = ingest::WalkOptions { max_bytes: settings.max_file_bytes, ..Default::default() };
//! for found in ingest::walk(&["/srv/notes".into()], &walk)? {
//!     let ingest::WalkEntry::File { path, .. } = found else { continue };
//!     let Ok(bytes) = ingest::read(&path, settings.max_file_bytes) else { continue };
//!     let hash = ingest::content_hash(&bytes);
//!     if let Ok(parsed) = ingest::parse(&path, &bytes, &settings) {
//!         println!("{hash} {:?} {}", parsed.title, parsed.chunks.len());
//!     }
//! }
//! # Ok(()) }
//! ```

mod archive;
mod asciidoc;
mod asciidoc_inline;
mod asciidoc_table;
mod blocks;
mod brought;
mod brv;
mod code;
mod converted;
mod definitions;
mod delimited;
mod diff;
mod draft;
mod epub;
mod fields;
mod foreign;
mod formats;
mod frontmatter;
mod html;
mod html_blocks;
mod info;
mod json_lines;
mod languages;
mod latex;
mod latex_commands;
mod latex_source;
mod latex_symbols;
mod mail;
mod main_content;
mod man;
mod markdown;
mod markup;
mod missing_marks;
mod notebook;
mod office;
mod org;
mod org_inline;
mod page;
mod parse;
mod path_set;
mod pdf;
mod pieces;
mod read;
mod repository;
mod role;
mod rows;
mod rst;
mod rst_inline;
mod rst_table;
mod rtf;
mod sheets;
mod split;
mod subtitles;
mod symbols;
mod tags;
mod texinfo;
mod texinfo_inline;
mod text;
mod transcript;
mod visible;
mod walk;
mod web_page;
mod zipped;

pub use archive::{Element, Form, conversation, recognise};
pub use brv::{Topic, TopicFile, read_topic, topic_file};
pub use definitions::{Definition, defined_name, definitions, has_definitions};
pub use diff::diff;
pub use fields::moment;
pub use foreign::{
    FORMATS, ForeignForm, ForeignFormat, ForeignMemory, ForeignPage, ForeignTable, Pages, Stale, listed,
    object_format,
};
pub(crate) use markdown::{code_ranges, plain_line};
pub use page::{Page, print_page, read_page};
pub use parse::{Chunk, Parsed, parse, title_of_name, version_of};
pub(crate) use parse::{content_key, folder_tag, is_markdown};
pub(crate) use path_set::{PathSet, ends_with_path};
pub use pieces::{Line, MOST_VALUES, check_values, each_element, each_value, line_too_long, read_line};
pub use read::{content_hash, read};
pub(crate) use repository::git_folders;
pub use repository::{Repository, repository_at};
pub use role::FileRole;
pub use transcript::{Speaker, Transcript, Turn};
pub use walk::{IGNORE_FILE, Walk, WalkEntry, WalkOptions, walk};
pub use web_page::{Sitemap, WebPage, sitemap, web_page};
