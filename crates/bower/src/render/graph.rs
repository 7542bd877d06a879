//! Renders entities, neighbours and paths of the graph for people, with the text that proves each of them.

use bower_core::item::EntityKind;
use bower_core::request::{
    AliasList, AliasOutcome, CommunitiesReport, EntityName, EntityRelation, EntityReport, ExtractReport,
    GraphPath, Hop, Neighbours, Proof, RelateOutcome, Related, RemovedTriples, StatedAlias, WholeGraph,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::llm::uses;
use super::{Look, count, counted, cut, hanging, line, style, thousands, wrapped};

/// Renders an entity with the items that mention it.
pub fn entity(report: &EntityReport, look: &Look) -> String {
    let mut out = head(&report.entity, look);
    let mut notes = vec![format!(
        "mentioned by {} in {}",
        count(report.entity.items as u64, "item"),
        counted(report.documents as u64, "document or memory", "documents and memories")
    )];
    if !report.aliases.is_empty() {
        notes.push(format!("also written {}", line(&report.aliases.join(", "))));
    }
    for alias in &report.stated {
        notes.push(format!("alias: {} = {}", line(&alias.name), line(&alias.other)));
    }
    if !report.also.is_empty() {
        let also: Vec<_> =
            report.also.iter().map(|one| format!("{} ({})", line(&one.name), one.kind)).collect();
        notes.push(format!("other entities of that name: {}", also.join(", ")));
    }
    if report.hub {
        notes.push("hub: too many items mention it, so queries do not pass it".to_owned());
    }
    for note in notes {
        out.push_str(&look.paint(style::DIM, wrapped("  ", &note, look).trim_end()));
        out.push('\n');
    }
    for mention in &report.mentions {
        out.push_str(&proof("  ", &format!("{:5} ", mention.kind.word()), &mention.proof, look));
    }
    out.push_str(&relations(&report.relations, look));
    let more = report.entity.items.saturating_sub(report.mentions.len());
    if more > 0 {
        let note = format!("{} more: bower graph entity NAME --limit 200\n", thousands(more as u64));
        out.push_str(&look.paint(style::DIM, &format!("  {note}")));
    }
    out
}

/// Renders relations that language models read off texts, each with the item that proves it.
fn relations(relations: &[EntityRelation], look: &Look) -> String {
    let mut out = String::new();
    for one in relations {
        let _ = writeln!(
            out,
            "  {}  {}  {}  {}",
            look.paint(style::NAME, &line(&one.subject)),
            line(&one.relation),
            look.paint(style::NAME, &line(&one.object)),
            look.paint(style::DIM, &format!("({})", line(&one.source)))
        );
        out.push_str(&proof("    ", "", &one.proof, look));
    }
    out
}

/// Renders the neighbours of an entity or an item.
pub fn neighbours(near: &Neighbours, look: &Look) -> String {
    let mut out = match (&near.entity, &near.item) {
        (Some(entity), _) => head(entity, look),
        (None, Some(item)) => format!("{}\n", look.paint(style::TITLE, &title(item))),
        (None, None) => String::new(),
    };
    for neighbour in &near.neighbours {
        let steps = match neighbour.depth {
            1 => String::new(),
            steps => format!(", {steps} steps away"),
        };
        let note = format!(
            "{}, {}{steps}",
            relation(neighbour.relation.as_deref(), neighbour.relation_source.as_deref())
                .unwrap_or_else(|| neighbour.entity.kind.word().to_owned()),
            count(neighbour.entity.items as u64, "item")
        );
        let _ = writeln!(
            out,
            "  {:.3}  {}  {}",
            neighbour.weight,
            look.paint(style::TITLE, &line(&neighbour.entity.name)),
            look.paint(style::DIM, &note)
        );
        out.push_str(&proof("         ", "", &neighbour.proof, look));
    }
    for one in &near.related {
        let relation = one.relation.word();
        let mark = if one.inverse { format!("<- {relation} ") } else { format!("{relation} -> ") };
        out.push_str(&proof("  ", &mark, &one.memory, look));
    }
    out.push_str(&relations(&near.relations, look));
    if near.neighbours.is_empty() && near.related.is_empty() && near.relations.is_empty() {
        out.push_str("  nothing else is mentioned together with it by two documents\n");
    }
    out
}

/// Renders communities: their most central entities, then their terms and documents.
pub fn communities(report: &CommunitiesReport, look: &Look) -> String {
    let mut out = String::new();
    for one in &report.communities {
        let names = if one.entities.is_empty() { "(no names)".to_owned() } else { one.entities.join(", ") };
        let _ = writeln!(
            out,
            "{}  {}",
            look.paint(style::DIM, &format!("{:>4}", one.number)),
            look.paint(style::TITLE, &cut(&line(&names), look.width.saturating_sub(6)))
        );
        let note = format!(
            "{}, {}, {:.0} % of its connections within",
            counted(one.item_count as u64, "document or memory", "documents and memories"),
            counted(one.entity_count as u64, "entity", "entities"),
            one.inner_share * 100.0
        );
        let parent = one.parent.map(|parent| format!(", in {parent} of level {}", report.level + 1));
        let note = note + &parent.unwrap_or_default();
        out.push_str(&look.paint(style::DIM, wrapped("      ", &note, look).trim_end()));
        out.push('\n');
        if !one.terms.is_empty() {
            let terms = format!("words: {}", one.terms.join(", "));
            out.push_str(&hanging("      ", &line(&terms), look));
        }
        for item in &one.central {
            out.push_str(&wrapped("      ", &line(&item.title), look));
        }
    }
    let levels: Vec<String> = report
        .levels
        .iter()
        .enumerate()
        .map(|(at, level)| format!("level {at}: {} (modularity {:.3})", level.count, level.modularity))
        .collect();
    let alone = counted(report.alone as u64, "document or memory is", "documents and memories are");
    let foot = format!(
        "{} of {} shown, {alone} in none; {}",
        report.communities.len(),
        counted(report.total as u64, "community", "communities"),
        levels.join(", ")
    );
    out.push_str(&look.paint(style::DIM, wrapped("", &foot, look).trim_end()));
    out.push('\n');
    if let Some(reason) = &report.save_error {
        out.push_str(&wrapped(
            "! ",
            &format!("the communities were not saved for the next run: {reason}"),
            look,
        ));
    }
    out
}

/// Renders the connection of two entities or items.
pub fn path(path: &GraphPath, look: &Look) -> String {
    if path.path.is_empty() {
        return format!("nothing connects {} and {}\n", line(&path.from), line(&path.to));
    }
    let mut out = hops(&path.path, "", look);
    if path.path.last().is_some_and(|hop| hop.to.is_none()) {
        let _ = writeln!(out, "{}", look.paint(style::TITLE, &line(&path.to)));
    }
    out
}

/// Renders the steps of a path: each entity on a line of its own, between them the items that connect them.
pub fn hops(hops: &[Hop], lead: &str, look: &Look) -> String {
    let mut out = String::new();
    for (at, hop) in hops.iter().enumerate() {
        // The entity before was printed as the end of the last step.
        if let (0, Some(from)) = (at, &hop.from) {
            let _ = writeln!(out, "{lead}{}", look.paint(style::NAME, &line(from)));
        }
        out.push_str(&proof(&format!("{lead}  "), "", &hop.proof, look));
        if let Some(to) = &hop.to {
            let stated = relation(hop.relation.as_deref(), hop.relation_source.as_deref());
            let note = match (stated, hop.kind) {
                (Some(relation), _) => format!(" ({relation})"),
                (None, Some(EntityKind::Link)) => " (linked)".to_owned(),
                (None, Some(EntityKind::Tag)) => " (tag)".to_owned(),
                (None, Some(EntityKind::Title)) => " (title)".to_owned(),
                (
                    None,
                    Some(EntityKind::Name | EntityKind::Triple | EntityKind::Word | EntityKind::Part) | None,
                ) => String::new(),
            };
            let alias = hop.alias.as_deref().map(|name| format!(" = {} (alias)", line(name)));
            let _ = writeln!(
                out,
                "{lead}{}{}",
                look.paint(style::NAME, &line(to)),
                look.paint(style::DIM, &(note + &alias.unwrap_or_default()))
            );
        } else if let Some(relation) = &hop.relation {
            let _ = writeln!(out, "{lead}  {}", look.paint(style::DIM, &line(relation)));
        }
    }
    out
}

/// Returns a relation with its source, if a language model read it off a text.
fn relation(relation: Option<&str>, source: Option<&str>) -> Option<String> {
    let source = source.map_or_else(String::new, |source| format!(", {}", line(source)));
    relation.map(|relation| line(relation) + &source)
}

/// Renders the triples that a language model read off texts.
pub fn extracted(report: &ExtractReport, look: &Look) -> String {
    let items = |number: usize| count(number as u64, "item");
    let requests = count(report.requests as u64, "request");
    let mut out = if report.dry_run {
        format!("{}: would send the texts of {} in {requests}\n", line(&report.source), items(report.items))
    } else {
        let triples = count(report.triples as u64, "triple");
        format!("{}: {triples} from {} in {requests}\n", line(&report.source), items(report.items))
    };
    let dropped = &report.dropped;
    let notes = [
        (report.known, "it had read {} before"),
        (report.cached, "{} have a text that it had read before"),
        (report.waiting, "{} wait for a further run"),
        (dropped.unreadable, "{} had an answer that cannot be read"),
    ];
    let mut notes: Vec<String> = notes
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, note)| note.replace("{}", &items(number)))
        .collect();
    let triples = [
        (dropped.invented, "with a name that the text does not have"),
        (dropped.malformed, "in a wrong form"),
        (dropped.surplus, "beyond the most of an item"),
    ];
    notes.extend(
        triples
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, why)| format!("dropped {} {why}", count(number as u64, "triple"))),
    );
    for note in notes {
        out.push_str(&look.paint(style::DIM, wrapped("  ", &note, look).trim_end()));
        out.push('\n');
    }
    out.push_str(&uses(&report.uses, look));
    for failed in &report.failures {
        let requests = count(failed.requests as u64, "request");
        out.push_str(&wrapped("! ", &format!("{requests} had no answer: {}", line(&failed.why)), look));
    }
    out
}

/// Renders the triples that were removed.
pub fn removed(removed: &RemovedTriples, look: &Look) -> String {
    let triples = count(removed.triples as u64, "triple");
    let items = count(removed.items as u64, "item");
    wrapped("", &format!("removed {triples} of {} from {items}", line(&removed.source)), look)
}

/// Renders a relation that was stated or taken back.
pub fn related(related: &Related, look: &Look) -> String {
    let note = match (related.outcome, related.event, &related.memory) {
        (RelateOutcome::Unchanged, ..) => "it was stated before".to_owned(),
        (RelateOutcome::Ended, ..) => "taken back".to_owned(),
        (RelateOutcome::Stated, Some(event), _) => format!("bower undo {event} reverses it"),
        (RelateOutcome::Stated, None, Some(id)) => format!("memory {id}; --undo takes it back"),
        (RelateOutcome::Stated, None, None) => "--undo takes it back".to_owned(),
    };
    format!(
        "{}  {}  {}  {}\n",
        look.paint(style::NAME, &line(&related.from)),
        line(&related.relation),
        look.paint(style::NAME, &line(&related.to)),
        look.paint(style::DIM, &format!("({note})"))
    )
}

/// Renders an alias that was stated or taken back.
pub fn alias(alias: &StatedAlias, look: &Look) -> String {
    let note = match (alias.outcome, alias.event) {
        (AliasOutcome::Unchanged, _) => "it was stated before".to_owned(),
        (AliasOutcome::Ended, _) => "taken back".to_owned(),
        (AliasOutcome::Stated, Some(event)) => format!("bower undo {event} reverses it"),
        (AliasOutcome::Stated, None) => "--undo takes it back".to_owned(),
    };
    let mut out = format!(
        "{} = {}  {}\n",
        look.paint(style::NAME, &line(&alias.name)),
        look.paint(style::NAME, &line(&alias.other)),
        look.paint(style::DIM, &format!("({note})"))
    );
    if alias.names.len() > 2 {
        out.push_str(&wrapped("  ", &format!("one entity now: {}", line(&alias.names.join(" = "))), look));
    }
    for name in &alias.unknown {
        out.push_str(&wrapped("  ", &format!("no item mentions {} yet", line(name)), look));
    }
    out
}

/// Renders the entities with aliases.
pub fn aliases(list: &AliasList, look: &Look) -> String {
    if list.entities.is_empty() {
        return look.paint(style::DIM, "no aliases") + "\n";
    }
    let mut out = String::new();
    for entity in &list.entities {
        let _ = writeln!(out, "{}", look.paint(style::NAME, &line(&entity.names.join(" = "))));
        // With two names there is one alias, which says the same.
        for alias in entity.aliases.iter().filter(|_| entity.names.len() > 2) {
            let text = format!("{} = {}  {}", line(&alias.name), line(&alias.other), look.age(alias.time));
            out.push_str(&look.paint(style::DIM, wrapped("  ", &text, look).trim_end()));
            out.push('\n');
        }
    }
    out
}

/// Size of an exported graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Exported {
    /// The file.
    pub file: PathBuf,
    /// Number of documents and memories.
    pub documents: usize,
    /// Number of entities.
    pub entities: usize,
    /// Number of mentions.
    pub edges: usize,
    /// Number of relations that language models read off texts.
    #[serde(skip_serializing_if = "is_zero")]
    pub relations: usize,
    /// Number of relations between memories.
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_relations: usize,
    /// Number of entities that were left out, because so many documents mention them.
    pub hubs: usize,
}

impl Exported {
    /// Counts what a file holds.
    pub fn new(graph: &WholeGraph, file: &Path) -> Self {
        let documents = graph.nodes.iter().filter(|node| node.kind.is_item()).count();
        Self {
            file: file.to_path_buf(),
            documents,
            entities: graph.nodes.len() - documents,
            edges: graph.edges.len(),
            relations: graph.relations.len(),
            memory_relations: graph.memory_relations.len(),
            hubs: graph.hubs.len(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Renders the size of an exported graph.
pub fn exported(report: &Exported, look: &Look) -> String {
    let hubs = match report.hubs {
        0 => String::new(),
        hubs => {
            format!("; left out {} that many documents mention", counted(hubs as u64, "entity", "entities"))
        }
    };
    let relations = match report.relations + report.memory_relations {
        0 => String::new(),
        relations => format!(", {}", count(relations as u64, "relation")),
    };
    let text = format!(
        "{}: {}, {}, {}{relations}{hubs}",
        report.file.display(),
        counted(report.documents as u64, "document or memory", "documents and memories"),
        counted(report.entities as u64, "entity", "entities"),
        count(report.edges as u64, "mention"),
    );
    wrapped("", &text, look)
}

fn head(entity: &EntityName, look: &Look) -> String {
    let kind = look.paint(style::DIM, entity.kind.word());
    format!("{}  {kind}\n", look.paint(style::TITLE, &line(&entity.name)))
}

/// Renders an item with the text around a name: its title and short id, then the text.
fn proof(lead: &str, mark: &str, proof: &Proof, look: &Look) -> String {
    let id = proof.id.get(..8).unwrap_or(&proof.id);
    let room = look.width.saturating_sub(lead.len() + mark.len() + id.len() + 2).max(12);
    let shown = title(proof);
    let mut out = format!(
        "{lead}{}{}  {}\n",
        look.paint(style::DIM, mark),
        cut(&shown, room),
        look.paint(style::DIM, id)
    );
    let text = line(&proof.text);
    // The title of a memory is its first sentence.
    if !text.is_empty() && text != shown {
        out.push_str(&look.paint(style::DIM, hanging(&format!("{lead}  "), &text, look).trim_end()));
        out.push('\n');
    }
    out
}

fn title(proof: &Proof) -> String {
    let title = line(&proof.title);
    if title.is_empty() { "(no title)".to_owned() } else { title }
}
