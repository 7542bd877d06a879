//! Removes secrets from whole records: every field of a new memory or an imported item is examined.
//! Records are taken apart field by field here, so that a new field does not compile until this code handles it.

use crate::engine::Engine;
use crate::item::{Gate, Kind};
use crate::memory::gate::{Constants, Cut, Field, Named, clean};
use crate::request::CurateRequest;
use crate::store::copies::ItemCopy;

/// Redacts the fields beside the text of a request; the gate redacts the text itself.
pub(crate) fn clean_request(request: &mut CurateRequest) -> Result<Cut, Named> {
    let CurateRequest {
        content: _,
        memory_type: _,
        tags,
        metadata,
        collection,
        scope: _,
        owner,
        pinned: _,
        source_conv_id,
        gate: _,
        told_time: _,
        said_by: _,
        host,
        replaces: _,
        confirms: _,
        different_from: _,
        root: _,
    } = request;
    let fields = vec![
        Field::Name("collection", collection.as_deref()),
        Field::Name("owner", owner.as_deref()),
        Field::Name("conversation", source_conv_id.as_deref()),
        Field::Name("host", host.as_deref()),
        Field::List("tags", tags),
        Field::Values("metadata", metadata),
    ];
    clean(fields, &Constants::default())
}

/// A memory from an import, without its secrets.
#[derive(Debug)]
pub(crate) struct CleanItem {
    pub(crate) item: ItemCopy,
    /// Whether its text changed, so that data derived from the old text does not describe it.
    pub(crate) is_other_text: bool,
    /// Whether anything was redacted.
    pub(crate) is_cut: bool,
}

impl CleanItem {
    /// Examines all fields of an item, unless the gate of its collection is off: then every byte is kept. Chunks stay as
    /// their files are.
    pub(crate) fn of(engine: &Engine, mut item: ItemCopy) -> Result<Self, String> {
        let gate = engine.settings.gate_of(&item.collection);
        if gate == Gate::Off || item.kind == Kind::Chunk {
            return Ok(Self { item, is_other_text: false, is_cut: false });
        }
        let ItemCopy {
            id: _,
            kind: _,
            memory_type: _,
            content,
            summary,
            importance: _,
            confidence: _,
            decay_rate: _,
            access_count: _,
            observations: _,
            create_time: _,
            access_time: _,
            update_time: _,
            valid_from: _,
            valid_to: _,
            hidden_time: _,
            supersedes_id: _,
            source_conv_id,
            slot: _,
            tags,
            keywords,
            metadata,
            collection,
            scope: _,
            owner,
            status: _,
            tier: _,
            source,
            provenance: _,
            host,
            exposed: _,
            // Names from the text and the files; one that an export carries is examined with the text it came from.
            anchors: _,
            part: _,
            vector: _,
        } = &mut item;
        let fields = vec![
            Field::Name("collection", Some(collection)),
            Field::Name("owner", owner.as_deref()),
            Field::Name("conversation", source_conv_id.as_deref()),
            Field::Name("source", Some(source)),
            Field::Name("host", host.as_deref()),
            Field::Words("content", content),
            Field::Words("summary", summary),
            Field::List("tags", tags),
            Field::List("keywords", keywords),
            Field::Values("metadata", metadata),
        ];
        let cut = clean(fields, &Constants::default()).map_err(Named::reason)?;
        let is_other_text = cut.fields.contains(&"content");
        Ok(Self { is_other_text, is_cut: !cut.fields.is_empty(), item })
    }
}
