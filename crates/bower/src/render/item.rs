//! Renders items for people: one item, lists of items, and their history.

use bower_core::item::{Kind, Provenance, Tier, unit_of};
use bower_core::request::{Event, History, Item, Listing, MemoryWording, Version};
use bower_core::shared::strength;
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::Path;

use super::review::possible;
use super::store::degraded;
use super::table::{Column, Table};
use super::{Look, clean, columns, cut, cut_start, hanging, line, style, thousands};

const KEY: Column = Column::new().style(style::DIM);

/// Renders everything about one item, with its whole text last. `given` is the number of answers that returned it, and the last
/// time.
pub fn one(item: &Item, given: Option<(u64, Timestamp)>, look: &Look) -> String {
    let mut table = Table::new(0, [KEY, Column::new().shrinks()]);
    let kind = match item.memory_type {
        Some(memory_type) => format!("{} ({memory_type})", item.kind),
        None => item.kind.to_string(),
    };
    table.row(["id", &item.id]).row(["kind", &kind]);
    let place = place(item, look.width.saturating_sub(14), look);
    if !place.is_empty() {
        table.row(["from", &place]);
    }
    let owner = item.owner.as_deref().map(|owner| format!(", {owner}")).unwrap_or_default();
    table.row(["collection", &item.collection]).row(["scope", &format!("{}{owner}", item.scope)]);
    let tier = match item.tier {
        Tier::Pinned => ", pinned",
        Tier::Active => "",
        Tier::Fading => ", fading",
    };
    table.row(["status", &format!("{}{tier}", item.status)]);
    if item.kind == Kind::Memory || !item.provenance.reviewed {
        table.row(["said by", &said_by(item)]);
    }
    if !item.tags.is_empty() {
        table.row(["tags", &item.tags.iter().map(|tag| format!("#{tag}")).collect::<Vec<_>>().join(" ")]);
    }
    if !item.keywords.is_empty() {
        table.row(["keywords", &item.keywords.join(", ")]);
    }
    let written = format!("{} ({})", look.time(item.create_time), look.age(item.create_time));
    let used = match item.access_count {
        0 => "never".to_string(),
        1 => format!("once, {}", look.age(item.access_time)),
        count => format!("{} times, last {}", thousands(count), look.age(item.access_time)),
    };
    table.row(["written", &written]).row(["used", &used]);
    if let Some((times, last)) = given {
        let often = if times == 1 { "once".to_owned() } else { format!("{} times", thousands(times)) };
        table.row(["given", &format!("{often}, last {}", look.age(last))]);
    }
    let strength = strength(&item.facts(), look.now);
    let importance = format!("{:.2}, now {strength:.2}; confidence {:.2}", item.importance, item.confidence);
    table.row(["importance", &importance]);
    let ids = [
        ("conversation", &item.source_conv_id),
        ("supersedes", &item.supersedes_id),
        ("superseded by", &item.superseded_by_id),
    ];
    for (key, value) in ids {
        if let Some(value) = value {
            table.row([key, value]);
        }
    }
    for (key, time) in [("true from", item.valid_from), ("true until", item.valid_to)] {
        if let Some(time) = time {
            table.row([key, &look.time(time)]);
        }
    }
    // A chunk's place is shown above.
    let shown = ["path", "source", "document", "file_name", "section_title", "lines"];
    for (key, value) in
        item.metadata.iter().filter(|(key, value)| !shown.contains(&key.as_str()) && !value.is_null())
    {
        table.row([key, &scalar(value)]);
    }
    // A pipe gets the text as it was stored.
    let text = if look.terminal { clean(&item.content) } else { item.content.as_str().into() };
    format!("{}\n{}\n", table.print(look), text.trim_end())
}

/// Formats a place in a document after its path: `:120-134`, or ` pages 3-4` where the format has other parts than lines.
pub fn span(path: &str, first: u64, last: u64) -> String {
    let (several, numbers) =
        if last > first { ("s", format!("{first}-{last}")) } else { ("", first.to_string()) };
    match unit_of(Path::new(path)) {
        "line" => format!(":{numbers}"),
        unit => format!(" {unit}{several} {numbers}"),
    }
}

/// Formats `path:120-134  Guide › Install`, in at most `width` columns: the heading is shortened first, then the path's start.
pub fn place(item: &Item, width: usize, look: &Look) -> String {
    let text =
        |key: &str| item.metadata.get(key).and_then(|value| value.as_str()).map(line).unwrap_or_default();
    let path = [text("source"), text("path")].into_iter().find(|path| !path.is_empty()).unwrap_or_default();
    let path = nearer(&path, look.here.as_deref());
    let lines = item.metadata.get("lines").and_then(|lines| lines.as_array());
    let number = |at: usize| lines.and_then(|lines| lines.get(at)).and_then(serde_json::Value::as_u64);
    let lines = number(0).map_or_else(String::new, |first| span(&path, first, number(1).unwrap_or(first)));
    let path = cut_start(&path, width.saturating_sub(columns(&lines)).max(8)).into_owned() + &lines;
    let section = text("section_title").replace(" > ", " › ");
    let room = width.saturating_sub(columns(&path) + 2);
    match (path.is_empty(), section.is_empty()) {
        (true, _) => cut(&section, width).into_owned(),
        (false, false) if room >= 8 => format!("{path}  {}", cut_start(&section, room)),
        (false, _) => path,
    }
}

/// Returns the path relative to the current folder, if it is below it.
fn nearer(path: &str, here: Option<&Path>) -> String {
    let below = here.and_then(|here| Path::new(path).strip_prefix(here).ok()).and_then(Path::to_str);
    below.filter(|below| !below.is_empty()).unwrap_or(path).to_string()
}

/// Formats the speaker, the least trusted source, the review state and the origin: `agent after web, unreviewed; by codex`.
pub fn said_by(item: &Item) -> String {
    let Provenance { said_by, least_trusted, reviewed } = item.provenance;
    let mut told = said_by.to_string();
    if least_trusted != said_by {
        let _ = write!(told, " after {least_trusted}");
    }
    if !reviewed {
        told.push_str(", unreviewed");
    }
    let whence = item
        .host
        .as_deref()
        .or(Some(item.source.as_str()).filter(|source| !matches!(*source, "bower" | "index")));
    if let Some(whence) = whence {
        let _ = write!(told, "; by {}", line(whence));
    }
    told
}

/// Renders a page, one item per line.
pub fn list(listing: &Listing, offset: usize, look: &Look) -> String {
    let mut table = Table::new(
        0,
        [
            Column::new().style(style::DIM),
            Column::new().style(style::NAME),
            Column::new().shrinks(),
            Column::new().style(style::DIM),
        ],
    );
    let what = |item: &Item| {
        item.memory_type.map_or_else(|| item.kind.to_string(), |memory_type| memory_type.to_string())
    };
    let widest = |cell: &dyn Fn(&Item) -> String| {
        listing.memories.iter().map(|item| columns(&cell(item))).max().unwrap_or_default()
    };
    // Columns that the other cells and the gaps leave for the title.
    let others =
        widest(&|item| item.id.clone()) + widest(&what) + widest(&|item| look.age(item.create_time)) + 6;
    let room = look.width.saturating_sub(others).max(16);
    for item in &listing.memories {
        let pin = match item.tier {
            Tier::Pinned => "* ",
            Tier::Active | Tier::Fading => "",
        };
        let title = match item.kind {
            Kind::Memory => line(&item.summary),
            Kind::Chunk => place(item, room, look),
        };
        let title = if title.is_empty() { line(&item.summary) } else { title };
        table.row([item.id.as_str(), &what(item), &format!("{pin}{title}"), &look.age(item.create_time)]);
    }
    let last = offset + listing.memories.len();
    let foot = match (listing.total, listing.memories.len()) {
        (0, _) => "nothing matches".to_string(),
        (total, 0) => format!("nothing after {}", thousands(total as u64)),
        (total, shown) if shown == total => format!("{} in all", thousands(total as u64)),
        (total, _) => format!("{} to {last} of {}", offset + 1, thousands(total as u64)),
    };
    let lacking = degraded(&listing.degraded, "not searched:", look);
    let open = listing.memories.iter().fold(String::new(), |all, item| {
        let earlier = listing.possible.get(&item.id).map_or(&[][..], Vec::as_slice);
        all + &possible(&item.id, earlier, look)
    });
    table.print(look) + &open + &look.paint(style::DIM, &foot) + "\n" + &lacking
}

/// Renders the other wordings of a memory, oldest first.
pub fn wordings(wordings: &[MemoryWording], look: &Look) -> String {
    wordings.iter().fold(String::new(), |all, one| {
        let note = format!("also told as: {} ({})", line(&one.text), look.time(one.told));
        all + &hanging(&format!("{}  ", one.id), &note, look)
    })
}

/// Renders the versions of a memory, if it has several, then the events, oldest first.
pub fn history(history: &History, look: &Look) -> String {
    let mut out = String::new();
    if history.chain.len() > 1 {
        for version in &history.chain {
            out += &form(version, look);
        }
        out.push('\n');
    }
    if !history.wordings.is_empty() {
        out += &wordings(&history.wordings, look);
        out.push('\n');
    }
    out + &events(&history.history, look)
}

/// Renders a memory's text at one time.
fn form(version: &Version, look: &Look) -> String {
    let memory = &version.memory;
    let lead = format!("{}  ", memory.id);
    let from = look.time(memory.create_time);
    let until = memory.valid_to.map_or_else(|| "now".to_owned(), |until| look.time(until));
    let mut note = format!("{} ({from} to {until})", line(&memory.content));
    if let Some(changed) = &version.changed {
        note = format!("{note}: {}", line(changed));
    }
    let _ = write!(note, " [{}]", said_by(memory));
    hanging(&lead, &note, look)
}

/// Renders events, oldest first.
fn events(events: &[Event], look: &Look) -> String {
    let mut table = Table::new(
        0,
        [
            Column::new().right().style(style::DIM),
            Column::new(),
            Column::new().style(style::NAME),
            Column::new(),
            Column::new().shrinks().style(style::DIM),
        ],
    );
    for event in events {
        let detail = match &event.detail {
            Value::Object(fields) => {
                let said = fields.iter().filter(|(key, value)| {
                    !matches!(key.as_str(), "was" | "is")
                        && value.as_array().is_none_or(|list| !list.is_empty())
                });
                let said = said.map(|(key, value)| format!("{key} {}", scalar(value)));
                said.chain(changes(fields)).collect::<Vec<_>>().join(", ")
            }
            Value::Null => String::new(),
            other => scalar(other),
        };
        let number = event.event.to_string();
        table.row([number.as_str(), &look.time(event.time), &event.action, &event.actor, &detail]);
    }
    table.print(look)
}

/// Formats an event's changes for people. Initial values are left out, because the item shows them.
fn changes(detail: &Map<String, Value>) -> Vec<String> {
    let (Some(Value::Object(was)), Some(Value::Object(is))) = (detail.get("was"), detail.get("is")) else {
        return Vec::new();
    };
    // The events themselves show the times, the versions show the chain.
    let shown = ["status", "tier", "confidence", "observations"];
    let value = |value: &Value| match value.as_f64() {
        Some(number) if value.is_f64() => format!("{number:.2}"),
        Some(_) | None => scalar(value),
    };
    let change = |key: &&str| Some(format!("{key} {} -> {}", value(was.get(*key)?), value(is.get(*key)?)));
    shown.iter().filter_map(change).collect()
}

/// Formats a field's value without JSON quotes.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => line(text),
        Value::Array(values) => values.iter().map(scalar).collect::<Vec<_>>().join(" "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => line(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn whole_items() {
        let look = Look { terminal: true, ..sample::look(80) };
        insta::assert_snapshot!(
            "memory",
            one(&sample::memory(), Some((3, sample::time("2026-01-01T00:00:00Z"))), &look)
        );
        insta::assert_snapshot!("chunk", one(&sample::chunk(), None, &look));
        assert!(!one(&sample::hostile(), None, &look).contains('\u{1b}'));
    }

    #[test]
    fn pages() {
        let memories = vec![sample::memory(), sample::chunk(), sample::hostile()];
        let text = list(
            &Listing { memories, total: 1_203, possible: BTreeMap::new(), degraded: Vec::new() },
            20,
            &sample::look(80),
        );
        assert!(text.lines().all(|line| crate::render::columns(line) <= 80), "{text}");
        insta::assert_snapshot!("list", text);
        let empty =
            Listing { memories: Vec::new(), total: 0, possible: BTreeMap::new(), degraded: Vec::new() };
        assert_eq!(list(&empty, 0, &sample::look(80)), "nothing matches\n");
        assert_eq!(list(&Listing { total: 7, ..empty }, 9, &sample::look(80)), "nothing after 7\n");
    }

    #[test]
    fn a_place_names_what_it_counts() {
        assert_eq!((span("a.rs", 3, 9), span("a.rs", 3, 3)), (":3-9".to_owned(), ":3".to_owned()));
        assert_eq!(
            (span("a.pdf", 3, 4), span("a.epub", 3, 3)),
            (" pages 3-4".to_owned(), " chapter 3".to_owned())
        );
    }

    #[test]
    fn what_happened() {
        let event = |number, action: &str, detail| Event {
            event: number,
            change: number,
            time: sample::time("2026-11-18T09:30:00Z"),
            action: action.into(),
            subject: Some("9f2c41d07ab3e658".into()),
            actor: "cli".into(),
            detail,
        };
        let events = [
            event(7, "curate", json!({"type": "decision", "tags": ["retry", "api"]})),
            event(12, "forget", json!({"reason": "asked"})),
        ];
        let look = sample::look(80);
        let gone = History { history: events.to_vec(), chain: Vec::new(), wordings: Vec::new() };
        insta::assert_snapshot!("history", history(&gone, &look));
        let review = sample::review();
        let older = Item { valid_to: Some(review.newer.create_time), ..review.older };
        let chain = vec![
            Version { memory: older, changed: None },
            Version { memory: review.newer, changed: Some("one denies the other".into()) },
        ];
        insta::assert_snapshot!("chain", history(&History { chain, ..gone }, &look));
    }

    #[test]
    fn paths_are_seen_from_here() {
        let check =
            |path: &str, expected: &str| assert_eq!(nearer(path, Some(Path::new("/home/ada"))), expected);
        check("/home/ada/docs/a.md", "docs/a.md");
        check("/home/adam/a.md", "/home/adam/a.md");
        check("/home/ada", "/home/ada");
        assert_eq!(nearer("/home/ada/a.md", None), "/home/ada/a.md");
    }
}
