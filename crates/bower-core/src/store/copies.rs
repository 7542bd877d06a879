//! The pieces of an export or import: all data of an item that cannot be rebuilt.
//! They leave out the item's row number and its token codes. As JSON the pieces are the lines of an export, so their
//! names are part of that format.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::aliases::AliasRow;
use super::clock::Stamp;
use super::feed::DeltaData;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::{Anchor, Kind, MemoryType, Provenance, Relation, RowId, Ruling, Scope, Status, Tier};
use crate::request::tier_number;

/// Number of the format. A reader refuses a larger one.
pub const FORMAT: u32 = 1;

/// A piece of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub enum ExportPiece {
    /// The contents of the export; always the first piece.
    Header(Header),
    /// A document; its chunks follow it.
    Document(DocumentCopy),
    /// A memory or a chunk.
    Item(Box<ItemCopy>),
    /// A relation between two items.
    Relation(RelationCopy),
    /// A contradiction, open or closed.
    Review(ReviewCopy),
    /// An event of an item or a document.
    Event(EventCopy),
    /// An alias of an entity; only an export of the whole store has these, at its end.
    Alias(AliasCopy),
}

/// The contents of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Number of the format.
    pub bower: u32,
    /// Identity of the store that it comes from.
    pub store: String,
    /// The store's last change at the export.
    pub change: u64,
    /// Time of the export.
    pub time: Timestamp,
    /// Number of pieces of each kind that follow.
    pub counts: Pieces,
}

/// Numbers of pieces by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pieces {
    /// Memories.
    pub memories: u64,
    /// Documents.
    pub documents: u64,
    /// Chunks of the documents.
    pub chunks: u64,
    /// Relations.
    pub relations: u64,
    /// Reviews.
    pub reviews: u64,
    /// Events.
    pub events: u64,
    /// Aliases of entities; missing in older exports.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aliases: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemCopy {
    /// Its id.
    pub id: String,
    /// Memory or chunk.
    pub kind: Kind,
    /// Type of a memory.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// The text.
    pub content: String,
    /// A memory's first sentence.
    #[serde(default)]
    pub summary: String,
    /// Stored importance, 0..1.
    pub importance: f32,
    /// Confidence, 0..1.
    pub confidence: f32,
    /// Decay per day.
    pub decay_rate: f32,
    /// Number of uses.
    #[serde(default)]
    pub access_count: u64,
    /// Number of observations.
    #[serde(default = "once")]
    pub observations: u64,
    /// Time when it was written.
    pub create_time: Timestamp,
    /// Time of its last use.
    pub access_time: Timestamp,
    /// Time of the last change to any of its fields.
    pub update_time: Timestamp,
    /// Start of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// Time at which it was superseded or archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_time: Option<Timestamp>,
    /// The item that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes_id: Option<String>,
    /// The conversation it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_conv_id: Option<String>,
    /// A key that earlier versions derived from the text. Nothing reads it; it is kept as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// Tags, sorted.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Keywords, best first.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Its own metadata.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Its collection.
    pub collection: String,
    /// Its scope: who may see it.
    pub scope: Scope,
    /// Its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its status.
    pub status: Status,
    /// Its budget class.
    #[serde(with = "tier_number")]
    pub tier: Tier,
    /// Its source, e.g. `bower`.
    pub source: String,
    /// Its speaker, its least trusted source, and whether a person reviewed it; missing in older exports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The program that its writer runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Time and number of its exposures, whether requested or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposed>,
    /// The code that a memory names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// Position of a chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ChunkPlace>,
    /// Its vector, if the export includes vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<VectorCopy>,
}

impl ItemCopy {
    /// Returns the provenance: the stored one, or else the one derived from the source.
    pub fn provenance(&self) -> Provenance {
        let speaker = self.metadata.get("speaker").and_then(Value::as_str);
        match (self.provenance, self.kind) {
            // A file written by hand may name a more trusted source than its speaker.
            (Some(said), _) => {
                Provenance { least_trusted: said.said_by.less_trusted(said.least_trusted), ..said }
            }
            (None, Kind::Chunk) => Provenance::FILE,
            (None, Kind::Memory) => Provenance::of_source(&self.source, speaker, self.status),
        }
    }
}

fn once() -> u64 {
    1
}

/// Last time and number of an item's exposures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposed {
    /// Time of the last exposure.
    pub time: Timestamp,
    /// Number of exposures.
    pub times: u64,
}

/// A chunk's place in its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkPlace {
    /// The document's id.
    pub document: String,
    /// Key that identifies the same chunk in a later version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Heading path or symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Position in the document, from 0.
    pub position: u32,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

/// A vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorCopy {
    /// The model that made it, with its scheme.
    pub model: String,
    /// Little-endian IEEE half floats in hex: four digits a dimension.
    pub half_floats: String,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentCopy {
    /// Its id.
    pub id: String,
    /// Its collection.
    pub collection: String,
    /// Path at the time.
    pub path: String,
    /// Last part of the path.
    pub file_name: String,
    /// Title, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Version, taken from its path.
    pub version: String,
    /// SHA-256 of its bytes.
    pub hash: String,
    /// Parser format and chunk sizes.
    pub recipe: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Its metadata.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Time when it was first read.
    pub create_time: Timestamp,
    /// Time when it was last read.
    pub update_time: Timestamp,
}

/// A relation between two items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationCopy {
    /// Id of the first item.
    pub from: String,
    /// The relation.
    pub relation: Relation,
    /// Id of the second item.
    pub to: String,
    /// Strength, 0..1.
    pub strength: f32,
    /// Time when it was found.
    pub create_time: Timestamp,
}

/// A contradiction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCopy {
    /// Its number; an import uses another if it is taken.
    pub review: u64,
    /// The newer side.
    pub newer: String,
    /// The older side.
    pub older: String,
    /// Rule that could not decide.
    pub reason: String,
    /// Time when it was found.
    pub create_time: Timestamp,
    /// Its ruling, if closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ruling>,
    /// Time when it was closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_time: Option<Timestamp>,
}

/// An event. Events are in the order of the store; their numbers are not carried over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventCopy {
    /// Id of the item or document.
    pub subject: String,
    /// Number of its transaction, from 1. Events with an equal number are undone together.
    #[serde(default)]
    pub together: u64,
    /// Its action.
    pub action: String,
    /// Its time.
    pub time: Timestamp,
    /// Its author.
    pub actor: String,
    /// Rules and figures; never a text.
    pub detail: Value,
}

/// A statement that two names mean one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AliasCopy {
    /// One name.
    pub name: String,
    /// The other name.
    pub other: String,
    /// Time when it was stated.
    pub time: Timestamp,
}

/// A piece to import.
#[derive(Clone, Debug, PartialEq)]
pub enum NewPiece {
    /// A document.
    Document(DocumentCopy),
    /// An item, with the data that the channels need.
    Item(Box<NewItem>),
    /// A relation.
    Relation(RelationCopy),
    /// A review.
    Review(ReviewCopy),
    /// An event.
    Event(EventCopy),
    /// An alias.
    Alias(AliasRow),
}

/// An item to import.
#[derive(Clone, Debug, PartialEq)]
pub struct NewItem {
    /// The item; the vector inside it is ignored.
    pub item: ItemCopy,
    /// What the indexes need until they hold the row.
    pub delta: DeltaData,
    /// Its vector.
    pub vector: Option<NewVector>,
    /// Action of its event: `import` or `edit`.
    pub action: &'static str,
    /// The rest of the event; never a text.
    pub why: Map<String, Value>,
}

/// The result of importing a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceOutcome {
    /// It did not exist before.
    Added,
    /// An older form existed; its fields are now those of the piece.
    Updated,
    /// It existed with the same fields.
    Same,
    /// The existing item was changed later here, and stays.
    Newer,
    /// It conflicts with an existing item, for this reason; nothing was written.
    Conflict(String),
}

/// Exports items with everything that belongs to them.
pub trait Exporter {
    /// Feeds some rows with everything that belongs to them (for a chunk, its whole document), as of one moment. The
    /// order is: a header, documents with their chunks, memories by row, relations, reviews and events. Stops when `each`
    /// returns false.
    fn give_pieces(
        &self,
        rows: &[RowId],
        vectors: bool,
        now: Timestamp,
        each: &mut dyn FnMut(ExportPiece) -> bool,
    ) -> Result<Pieces>;
    /// Returns items in their exported form, without vectors.
    fn copies(&self, rows: &[RowId]) -> Result<Vec<Option<ItemCopy>>>;
}

/// Imports items that were exported elsewhere.
pub trait Importer {
    /// Writes items as they were elsewhere, in one transaction, each with its event. An existing item stays, or takes the
    /// fields of a piece that was changed later. A piece that conflicts is not written. Returns the outcome of each
    /// piece.
    fn take_pieces(&self, pieces: &[NewPiece], dry_run: bool, stamp: Stamp<'_>) -> Result<Vec<PieceOutcome>>;
}
