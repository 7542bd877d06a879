//! The pieces of an export or import: all that a store knows of an item, except what is made again.
//! That is its row and its token codes. As JSON these are the lines of an export; a name here is a part of that format.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::clock::Stamp;
use super::vector::NewVector;
use crate::error::Result;
use crate::item::{Kind, MemoryType, Provenance, Relation, RowId, Ruling, Scope, Status, Tier};
use crate::request::tier_number;

/// The number of the format. A reader refuses a larger one.
pub const FORMAT: u32 = 1;

/// One piece.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub enum ExportPiece {
    /// What follows; always the first.
    Header(Header),
    /// A document; its chunks follow it.
    Document(DocumentCopy),
    /// A memory or a chunk.
    Item(Box<ItemCopy>),
    /// How one item stands to another.
    Relation(RelationCopy),
    /// A contradiction, open or ended.
    Review(ReviewCopy),
    /// What happened to an item or a document.
    Event(EventCopy),
}

/// What an export holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The number of the format.
    pub bower: u32,
    /// The store that it comes from.
    pub store: String,
    /// The store's last change then.
    pub change: u64,
    /// When it was made.
    pub time: Timestamp,
    /// How many pieces of each sort follow.
    pub counts: Pieces,
}

/// Pieces by sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pieces {
    /// Memories.
    pub memories: u64,
    /// Documents.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Relations.
    pub relations: u64,
    /// Reviews.
    pub reviews: u64,
    /// Events.
    pub events: u64,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemCopy {
    /// Its id.
    pub id: String,
    /// Memory or chunk.
    pub kind: Kind,
    /// What a memory is about.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// The text.
    pub content: String,
    /// A memory's first sentence.
    #[serde(default)]
    pub summary: String,
    /// Stored importance, 0..1.
    pub importance: f32,
    /// 0..1.
    pub confidence: f32,
    /// Per day.
    pub decay_rate: f32,
    /// Real uses.
    #[serde(default)]
    pub access_count: u64,
    /// How often it was told.
    #[serde(default = "once")]
    pub observations: u64,
    /// When it was written.
    pub create_time: Timestamp,
    /// When it was last used.
    pub access_time: Timestamp,
    /// When anything of it was last changed.
    pub update_time: Timestamp,
    /// Since when it is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// Since when it is superseded or archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_time: Option<Timestamp>,
    /// The item that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes_id: Option<String>,
    /// The conversation it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_conv_id: Option<String>,
    /// Subject and attribute, where it says one thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// Sorted.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Best first.
    #[serde(default)]
    pub keywords: Vec<String>,
    /// Its own free fields.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Its domain.
    pub collection: String,
    /// Who may see it.
    pub scope: Scope,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it is in its life.
    pub status: Status,
    /// Its budget class.
    #[serde(with = "tier_number")]
    pub tier: Tier,
    /// Who brought it, e.g. `bower`.
    pub source: String,
    /// Whose words it is; older exports do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The program that its writer runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When and how often answers gave it, asked or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Exposed>,
    /// Where a chunk stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ChunkPlace>,
    /// Its vector, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<VectorCopy>,
}

impl ItemCopy {
    /// Whose words it is, as it says or as far as it can be told.
    pub fn provenance(&self) -> Provenance {
        let speaker = self.metadata.get("speaker").and_then(Value::as_str);
        match (self.provenance, self.kind) {
            // Whoever writes a file by hand may say less of the sources than of the speaker.
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

/// When and how often answers gave an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposed {
    /// The last time.
    pub time: Timestamp,
    /// How often.
    pub times: u64,
}

/// A chunk's place in its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkPlace {
    /// The document's id.
    pub document: String,
    /// What makes it the same chunk in a later version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Heading path or symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// From 0.
    pub position: u32,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

/// A vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorCopy {
    /// The model that made it, scheme included.
    pub model: String,
    /// Little-endian IEEE half floats in hex: four digits a dimension.
    pub half_floats: String,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentCopy {
    /// Its id.
    pub id: String,
    /// Its domain.
    pub collection: String,
    /// Where it was.
    pub path: String,
    /// The last part of that.
    pub file_name: String,
    /// Title, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// From its path.
    pub version: String,
    /// SHA-256 of its bytes.
    pub hash: String,
    /// How it was cut.
    pub recipe: String,
    /// Its size.
    pub bytes: u64,
    /// Its fields.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// When it was first read.
    pub create_time: Timestamp,
    /// When it was last read.
    pub update_time: Timestamp,
}

/// How one item stands to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationCopy {
    /// The one.
    pub from: String,
    /// How.
    pub relation: Relation,
    /// The other.
    pub to: String,
    /// 0..1.
    pub strength: f32,
    /// When it was found.
    pub create_time: Timestamp,
}

/// A contradiction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewCopy {
    /// Its number; another where that is taken.
    pub review: u64,
    /// The newer side.
    pub newer: String,
    /// The older side.
    pub older: String,
    /// Why nothing could tell.
    pub reason: String,
    /// When it was found.
    pub create_time: Timestamp,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ruling>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_time: Option<Timestamp>,
}

/// Something that happened. Their order is that of the store; numbers are not carried over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventCopy {
    /// To which item or document.
    pub subject: String,
    /// Those that were one transaction have one number, from 1 on: what was done together is undone together.
    #[serde(default)]
    pub together: u64,
    /// What.
    pub action: String,
    /// When.
    pub time: Timestamp,
    /// By whom.
    pub actor: String,
    /// Rules and figures; never a text.
    pub detail: Value,
}

/// A piece on its way in.
#[derive(Clone, Debug, PartialEq)]
pub enum NewPiece {
    /// A document.
    Document(DocumentCopy),
    /// An item, with what the channels need.
    Item(Box<NewItem>),
    /// A relation.
    Relation(RelationCopy),
    /// A review.
    Review(ReviewCopy),
    /// An event.
    Event(EventCopy),
}

/// An item on its way in.
#[derive(Clone, Debug, PartialEq)]
pub struct NewItem {
    /// The item; its own vector is not looked at.
    pub item: ItemCopy,
    /// What the text channel needs until the index holds it.
    pub terms: Vec<u8>,
    /// Its vector.
    pub vector: Option<NewVector>,
    /// What the event says was done: `import`, `edit`.
    pub action: &'static str,
    /// The rest of the event; never a text.
    pub why: Map<String, Value>,
}

/// What became of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceOutcome {
    /// It was not there.
    Added,
    /// It was there, older: its fields are those of the piece now.
    Updated,
    /// It was there just so.
    Same,
    /// It is there, and was changed here later: it stays.
    Newer,
    /// It cannot be taken in beside what is there, for this reason; nothing was written.
    Conflict(String),
}

/// Gives items away with all that hangs on them.
pub trait Exporter {
    /// Feeds what some rows are, with everything that hangs on them (of a chunk: its whole document), as of one moment: a header,
    /// documents with their chunks, memories by row, relations, reviews and events. Stops where `each` wants no more.
    fn give_pieces(
        &self,
        rows: &[RowId],
        vectors: bool,
        now: Timestamp,
        each: &mut dyn FnMut(ExportPiece) -> bool,
    ) -> Result<Pieces>;
    /// Items as they would leave, without their vectors.
    fn copies(&self, rows: &[RowId]) -> Result<Vec<Option<ItemCopy>>>;
}

/// Takes items in that were given away elsewhere.
pub trait Importer {
    /// Writes items as they were elsewhere, in one transaction, each with its event. What is there already stays, or takes the
    /// fields of a piece that was changed later; what cannot stand beside it is not written. Says of each what became of it.
    fn take_pieces(&self, pieces: &[NewPiece], dry_run: bool, stamp: Stamp<'_>) -> Result<Vec<PieceOutcome>>;
}
