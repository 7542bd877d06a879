//! Writes a graph in the forms of other programs: JSON, `GraphML`, DOT, and a page with a drawing.
//! Names come from texts that nobody checked, so each form escapes them; equal graphs give equal bytes.

use bower_core::item::NodeKind;
use bower_core::request::WholeGraph;
use std::fmt::Write as _;

use super::line;
use crate::cli::GraphForm;
use crate::failure::{Failure, Result};

/// The page, with [`DATA`] where its graph belongs.
const PAGE: &str = include_str!("graph.html");
/// Place of the graph in the page.
const DATA: &str = "{\"nodes\":[],\"edges\":[],\"hubs\":[]}";

/// Returns the text of a file with the graph.
pub fn text(graph: &WholeGraph, form: GraphForm) -> Result<String> {
    match form {
        GraphForm::Json => json(graph),
        GraphForm::Graphml => Ok(graphml(graph)),
        GraphForm::Dot => Ok(dot(graph)),
        // `<` is escaped, so no name can end the script element. JSON strings may contain the escape.
        GraphForm::Html => Ok(PAGE.replacen(DATA, &json(graph)?.replace('<', "\\u003c"), 1)),
    }
}

fn json(graph: &WholeGraph) -> Result<String> {
    serde_json::to_string(graph)
        .map_err(|error| Failure::internal(format!("the graph cannot be written as JSON: {error}")))
}

fn graphml(graph: &WholeGraph) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n\
         <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n\
         <key id=\"items\" for=\"node\" attr.name=\"items\" attr.type=\"int\"/>\n\
         <key id=\"community\" for=\"node\" attr.name=\"community\" attr.type=\"int\"/>\n\
         <key id=\"type\" for=\"edge\" attr.name=\"type\" attr.type=\"string\"/>\n\
         <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"float\"/>\n\
         <key id=\"source\" for=\"edge\" attr.name=\"source\" attr.type=\"string\"/>\n\
         <key id=\"strength\" for=\"edge\" attr.name=\"strength\" attr.type=\"float\"/>\n\
         <key id=\"proof\" for=\"edge\" attr.name=\"proof\" attr.type=\"string\"/>\n\
         <graph edgedefault=\"undirected\">\n",
    );
    for node in &graph.nodes {
        let _ = write!(
            out,
            "<node id=\"{}\"><data key=\"name\">{}</data><data key=\"kind\">{}</data><data key=\"items\">{}</data>",
            xml(&node.id),
            xml(&node.name),
            node.kind,
            node.items
        );
        if let Some(community) = node.community {
            let _ = write!(out, "<data key=\"community\">{community}</data>");
        }
        out.push_str("</node>\n");
    }
    for edge in &graph.edges {
        let _ = writeln!(
            out,
            "<edge source=\"{}\" target=\"{}\"><data key=\"type\">{}</data><data key=\"weight\">{}</data></edge>",
            xml(&edge.from),
            xml(&edge.to),
            edge.kind,
            edge.weight
        );
    }
    for one in &graph.relations {
        let _ = writeln!(
            out,
            "<edge source=\"{}\" target=\"{}\" directed=\"true\"><data key=\"type\">{}</data><data key=\"source\">{}</data>\
             <data key=\"proof\">{}</data></edge>",
            xml(&one.from),
            xml(&one.to),
            xml(&one.relation),
            xml(&one.source),
            xml(&one.proof)
        );
    }
    for one in &graph.memory_relations {
        let _ = writeln!(
            out,
            "<edge source=\"{}\" target=\"{}\" directed=\"true\"><data key=\"type\">{}</data><data key=\"strength\">{}</data></edge>",
            xml(&one.from),
            xml(&one.to),
            one.relation,
            one.strength
        );
    }
    out.push_str("</graph>\n</graphml>\n");
    out
}

fn dot(graph: &WholeGraph) -> String {
    let mut out = String::from("graph bowerbird {\n");
    for node in &graph.nodes {
        let shape = match node.kind {
            NodeKind::Document => "note",
            NodeKind::Memory => "box",
            NodeKind::Title
            | NodeKind::Link
            | NodeKind::Tag
            | NodeKind::Name
            | NodeKind::Triple
            | NodeKind::Word
            | NodeKind::Part => "ellipse",
        };
        let _ = writeln!(out, "  {} [label={} shape={shape}];", quoted(&node.id), quoted(&line(&node.name)));
    }
    for edge in &graph.edges {
        let _ = writeln!(
            out,
            "  {} -- {} [weight={} tooltip={}];",
            quoted(&edge.from),
            quoted(&edge.to),
            // Graphviz takes whole weights.
            edge.weight.round().max(1.0),
            quoted(edge.kind.word())
        );
    }
    for one in &graph.relations {
        let _ = writeln!(
            out,
            "  {} -- {} [label={} dir=forward tooltip={}];",
            quoted(&one.from),
            quoted(&one.to),
            quoted(&one.relation),
            quoted(&format!("{}, {}", one.source, one.proof))
        );
    }
    for one in &graph.memory_relations {
        let _ = writeln!(
            out,
            "  {} -- {} [label={} dir=forward tooltip={}];",
            quoted(&one.from),
            quoted(&one.to),
            quoted(one.relation.word()),
            quoted(&format!("strength {}", one.strength))
        );
    }
    out.push_str("}\n");
    out
}

/// Escapes text for XML. Control characters, which XML 1.0 forbids, become spaces.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns a string of the DOT language. A backslash there begins an escape of labels, so it is doubled.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r', '\0'], " "))
}

#[cfg(test)]
mod tests {
    use bower_core::item::{EntityKind, Relation};
    use bower_core::request::{GraphEdge, GraphNode, GraphRelation, MemoryRelation};

    use super::*;

    fn sample() -> WholeGraph {
        let node = |id: &str, name: &str, kind| GraphNode {
            id: id.into(),
            name: name.into(),
            kind,
            items: 2,
            community: Some(1),
        };
        let edge = |from: &str| GraphEdge {
            from: from.into(),
            to: "00ff".into(),
            kind: EntityKind::Name,
            weight: 1.5,
        };
        WholeGraph {
            nodes: vec![
                node("notes/a\"b\\.md", "</script><b>&'\u{1}", NodeKind::Document),
                node("0a", "A memory", NodeKind::Memory),
                node("0b", "Another memory", NodeKind::Memory),
                node("00ff", "Ada \"Countess\" Lovelace", NodeKind::Name),
            ],
            edges: vec![edge("notes/a\"b\\.md"), edge("0a")],
            relations: vec![GraphRelation {
                from: "00ff".into(),
                to: "00fe".into(),
                relation: "works_at".into(),
                source: "llm:a\"b</script>".into(),
                proof: "0a".into(),
                items: 1,
            }],
            memory_relations: vec![MemoryRelation {
                from: "0b".into(),
                relation: Relation::LedTo,
                to: "0a".into(),
                strength: 0.5,
            }],
            hubs: vec!["the".into()],
        }
    }

    #[test]
    fn a_graph_in_graphml() {
        insta::assert_snapshot!(text(&sample(), GraphForm::Graphml).unwrap());
    }

    #[test]
    fn a_graph_in_dot() {
        insta::assert_snapshot!(text(&sample(), GraphForm::Dot).unwrap());
    }

    #[test]
    fn no_name_ends_the_script_of_a_page() {
        let page = text(&sample(), GraphForm::Html).unwrap();
        assert!(!PAGE.replacen(DATA, "", 1).contains(DATA), "the page has one place for its graph");
        assert_eq!(page.matches("</script>").count(), PAGE.matches("</script>").count());
        let data = page.split("const graph = ").nth(1).and_then(|rest| rest.split(";\n").next()).unwrap();
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["nodes"][0]["name"], "</script><b>&'\u{1}");
        let relation = serde_json::json!({"from": "0b", "relation": "led_to", "to": "0a", "strength": 0.5});
        assert_eq!(read["memory_relations"], serde_json::json!([relation]));
    }
}
