//! Requests about the graph: an entity, its neighbours, a path, and the graph as a whole.
//! The command line, HTTP and MCP take the same bodies.

#![expect(clippy::doc_markdown, reason = "doc comments here are what a schema says to models and programs")]

use bower_core::item::{EntityKind, Scope};
use bower_core::request::{
    AliasList, AliasRequest, CommunitiesReport, CommunitiesRequest, EntityReport, EntityRequest,
    ExtractProgress, ExtractReport, ExtractRequest, GraphPath, GraphRequest, Neighbours, NeighboursRequest,
    PathRequest, RelateRequest, Related, RemovedTriples, Selection, StatedAlias, WholeGraph,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

use super::{Access, Bounds, SelectBody, Served, Service, Via};

/// A relation to state, between two memories or between two names.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelateBody {
    /// What has the relation: the id of a memory, or a name.
    pub from: String,
    /// Its type: between names any verb such as works_at; between memories causes, informs, contradicts, example_of, prerequisite_for,
    /// led_to or related_to.
    #[serde(rename = "type")]
    pub relation: String,
    /// What it leads to: an id if from is one, else a name.
    pub to: String,
    /// Strength between memories, above 0 and up to 1; default 1.
    #[serde(default)]
    pub strength: Option<f32>,
    /// Id of the item that proves a relation between names.
    #[serde(default)]
    pub proof: Option<String>,
    /// Take the relation back.
    #[serde(default)]
    pub undo: bool,
    /// Collection of a relation between names.
    #[serde(default)]
    pub collection: Option<String>,
    /// Its scope; default project.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Its owner.
    #[serde(default)]
    pub owner: Option<String>,
}

/// Two names that mean one entity.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasBody {
    /// One name, or a #tag.
    pub name: String,
    /// The other name.
    pub other: String,
    /// Take the alias back.
    #[serde(default)]
    pub undo: bool,
}

/// The aliases to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AliasesBody {
    /// Only those of the entity with this name.
    pub name: Option<String>,
}

/// Default number of mentions or neighbours.
pub const NEAR: u16 = 10;
/// Default resolution of communities.
pub const RESOLUTION: f64 = CommunitiesRequest::RESOLUTION;
/// Default number of communities.
pub const COMMUNITIES: u16 = 20;
/// Default number of nodes over a wire, and the most, because a response is held in memory whole.
const NODES: u32 = 1_000;
const MOST_NODES: u32 = 10_000;

/// An entity to look up.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EntityBody {
    /// Its name, #tag, or the path of a note.
    pub name: String,
    /// Number of mentions, 1 to 200; default 10.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u16>,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

/// An entity or item whose neighbours are asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeighboursBody {
    /// An entity's name, #tag, the path of a note, or an item's id.
    pub name: String,
    /// Steps from entity to entity, 1 to 4; default 1.
    #[schemars(range(min = 1, max = 4))]
    pub depth: Option<u8>,
    /// Only entities of these kinds.
    pub kinds: Vec<EntityKind>,
    /// Number of neighbours at each step, 1 to 200; default 10.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u16>,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

/// Two entities or items whose connection is asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathBody {
    /// Where the path starts: an entity's name, #tag, the path of a note, or an item's id.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

/// The part of the graph to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphBody {
    /// Only entities of these kinds.
    pub kinds: Vec<EntityKind>,
    /// Number of nodes, the most strongly connected ones, 1 to 10,000; default 1,000.
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
    /// Add the number of its community to each node.
    pub communities: bool,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

/// Returns the number of nodes to return; `None` is all, on the command line only.
fn nodes(limit: Option<u32>, bounds: &Bounds) -> Result<Option<usize>, Failure> {
    let limit = match (bounds.via, limit) {
        (Via::Wire, limit) => Some(limit.unwrap_or(NODES)),
        (Via::CommandLine, limit) => limit,
    };
    let most = if bounds.via == Via::Wire { MOST_NODES } else { u32::MAX };
    if let Some(wrong) = limit.filter(|limit| !(1..=most).contains(limit)) {
        return Err(Failure::usage(format!("limit {wrong}"), format!("use 1 to {most}")));
    }
    Ok(limit.map(|limit| limit as usize))
}

/// The communities to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommunitiesBody {
    /// How fine the communities are: at least 0, more with a higher one; default .5.
    #[schemars(range(min = 0))]
    pub resolution: Option<f64>,
    /// The level: 0, the default, is the finest.
    pub level: Option<u8>,
    /// Number of communities, the largest, 1 to 200; default 20.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u16>,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl Service {
    /// Returns the communities of the graph.
    pub fn graph_communities(
        &self,
        body: &CommunitiesBody,
        bounds: &Bounds,
        now: Timestamp,
    ) -> Served<CommunitiesReport> {
        let request = CommunitiesRequest {
            resolution: body.resolution.unwrap_or(RESOLUTION),
            level: body.level.unwrap_or(0).into(),
            limit: body.limit.unwrap_or(COMMUNITIES).into(),
            // A caller over a wire only reads.
            save: bounds.via == Via::CommandLine,
            select: body.select.selection(bounds.via, now)?,
        };
        Ok(self.engine().graph_communities(&bounds.visibility(), &request)?)
    }

    /// Lets the language model of the settings read triples off the texts of items, while `go_on` returns true. Nothing is sent over
    /// a wire's request: only the command line asks for it.
    pub fn graph_extract(
        &self,
        limit: Option<u32>,
        dry_run: bool,
        bounds: &Bounds,
        now: Timestamp,
        progress: &dyn Fn(ExtractProgress),
    ) -> Served<ExtractReport> {
        bounds.may(Access::Write)?;
        let limit = limit.map(|limit| limit as usize);
        let request = ExtractRequest { limit, dry_run, select: Selection::default() };
        Ok(self.engine().extract_triples(&bounds.visibility(), &request, now, progress, &|| true)?)
    }

    /// Removes all triples of a source, in the whole store.
    pub fn remove_triples(&self, source: &str, bounds: &Bounds, now: Timestamp) -> Served<RemovedTriples> {
        bounds.may_all("removing triples")?;
        Ok(self.engine().remove_triples(source, now)?)
    }

    /// States a relation between two memories or two names, or takes it back.
    pub fn relate(&self, body: &RelateBody, bounds: &Bounds, now: Timestamp) -> Served<Related> {
        bounds.may(Access::Write)?;
        let place = bounds.place(body.collection.as_deref(), body.scope, body.owner.as_deref())?;
        let request = RelateRequest {
            from: body.from.clone(),
            relation: body.relation.clone(),
            to: body.to.clone(),
            strength: body.strength,
            proof: body.proof.clone(),
            undo: body.undo,
            collection: place.collection,
            scope: place.scope,
            owner: place.owner,
            said_by: bounds.author(None)?,
            host: bounds.host.clone(),
        };
        Ok(self.engine().relate(&bounds.visibility(), &request, now)?)
    }

    /// States that two names mean one entity, or takes it back, in the whole store.
    pub fn alias(&self, body: &AliasBody, bounds: &Bounds, now: Timestamp) -> Served<StatedAlias> {
        bounds.may_all("stating aliases")?;
        let request = AliasRequest { name: body.name.clone(), other: body.other.clone(), undo: body.undo };
        Ok(self.engine().alias(&bounds.visibility(), &request, now)?)
    }

    /// Returns the entities with aliases.
    pub fn aliases(&self, body: &AliasesBody, bounds: &Bounds, _now: Timestamp) -> Served<AliasList> {
        Ok(self.engine().aliases(&bounds.visibility(), body.name.as_deref())?)
    }

    /// Returns an entity with the items that mention it.
    pub fn graph_entity(&self, body: &EntityBody, bounds: &Bounds, now: Timestamp) -> Served<EntityReport> {
        let request = EntityRequest {
            name: body.name.clone(),
            limit: body.limit.unwrap_or(NEAR).into(),
            select: body.select.selection(bounds.via, now)?,
        };
        Ok(self.engine().graph_entity(&bounds.visibility(), &request, now)?)
    }

    /// Returns what is near an entity or an item.
    pub fn graph_neighbours(
        &self,
        body: &NeighboursBody,
        bounds: &Bounds,
        now: Timestamp,
    ) -> Served<Neighbours> {
        let request = NeighboursRequest {
            name: body.name.clone(),
            depth: body.depth.unwrap_or(1).into(),
            kinds: body.kinds.clone(),
            limit: body.limit.unwrap_or(NEAR).into(),
            select: body.select.selection(bounds.via, now)?,
        };
        Ok(self.engine().graph_neighbours(&bounds.visibility(), &request, now)?)
    }

    /// Returns the strongest connection of two entities or items.
    pub fn graph_path(&self, body: &PathBody, bounds: &Bounds, now: Timestamp) -> Served<GraphPath> {
        let request = PathRequest {
            from: body.from.clone(),
            to: body.to.clone(),
            select: body.select.selection(bounds.via, now)?,
        };
        Ok(self.engine().graph_path(&bounds.visibility(), &request, now)?)
    }

    /// Returns the graph, or its most strongly connected part.
    pub fn graph(&self, body: &GraphBody, bounds: &Bounds, now: Timestamp) -> Served<WholeGraph> {
        let request = GraphRequest {
            kinds: body.kinds.clone(),
            limit: nodes(body.limit, bounds)?,
            communities: body.communities,
            select: body.select.selection(bounds.via, now)?,
        };
        Ok(self.engine().graph(&bounds.visibility(), &request)?)
    }
}
