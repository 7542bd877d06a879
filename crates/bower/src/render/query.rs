//! Renders answers for people: scores and excerpts, then the evidence if it was requested.

use bower_core::item::{Band, Channel, Status, Tier};
use bower_core::request::FactorStep;
use bower_core::request::{Answer, Hit, Item};
use bower_core::shared::QueryTerm;
use std::fmt::Write as _;

use super::anchors::anchors;
use super::excerpt::{Layout, excerpt, terms, wrap};
use super::graph::hops;
use super::item::{place, said_by};
use super::llm::uses;
use super::store::lacks;
use super::table::{Column, Table};
use super::{Look, clean, columns, count, cut, duration, evidence, hanging, line, style, thousands, wrapped};

/// Columns to the left of a hit's lines: the rank and its gap.
const INDENT: usize = 4;
/// Number of lines of an excerpt.
const LINES: usize = 3;

/// Renders the answer for a person.
pub fn text(answer: &Answer, explain: bool, look: &Look) -> String {
    let mut out = String::new();
    let contents = || answer.hits.iter().map(|hit| hit.memory.content.as_str());
    let mut question = terms(&answer.query, contents());
    question.extend(answer.corrections.iter().flat_map(|one| terms(&one.read_as, contents())));
    for (at, hit) in answer.hits.iter().enumerate() {
        out.push_str(&one(at + 1, hit, &question, look));
        out.push_str(&around(hit, look));
        if explain {
            let told = format!("said by {}", said_by(&hit.memory));
            let _ = writeln!(out, "{}{}", " ".repeat(INDENT), look.paint(style::DIM, &told));
            out.push_str(&path(hit, look));
            out.push_str(&signals(hit, look));
            out.push_str(&factors(hit, answer.effort.candidates, look));
            out.push_str(&odds(hit, look));
        }
        out.push('\n');
    }
    if let Some(evidence) = &answer.evidence {
        out.push_str(&evidence::text(evidence, look));
    }
    out.push_str(&evidence::kept_back(answer, look));
    out.push_str(&footer(answer, look));
    for correction in &answer.corrections {
        out.push_str(&wrapped("? ", &correction.to_string(), look));
    }
    if answer.abstained && !answer.hits.is_empty() {
        let likely = answer.answerable.unwrap_or(0.0) * 100.0;
        let likely = if answer.not_calibrated.is_empty() {
            format!("likely {likely:.0} %")
        } else {
            "a guess: the probability is not calibrated for this model".to_owned()
        };
        let note = format!("nothing here seems to answer this ({likely}); these come nearest");
        out.push_str(&wrapped("? ", &note, look));
    }
    if explain {
        out.push_str(&effort(answer, look));
    }
    out.push_str(&uses(&answer.effort.llm, look));
    for degraded in &answer.degraded {
        out.push_str(&wrapped("! ", &lacks(degraded, "searched"), look));
    }
    out
}

fn one(rank: usize, hit: &Hit, question: &[QueryTerm], look: &Look) -> String {
    // Longer lines are hard to follow, and the score should stay near its title.
    let look = &Look { width: look.width.min(INDENT + 110), ..look.clone() };
    let item = &hit.memory;
    let age = look.age(item.create_time);
    let score = hit.score.clamp(0.0, 1.0);
    let band = hit.band.map_or("", Band::word);
    let right = format!("{band:>4} {score:.2} {}  {age}", bar(score));
    let room = look.width.saturating_sub(INDENT + columns(&right) + 2);
    let title = title(item);
    let title = cut(&title, room.max(12));
    let gap = " ".repeat(look.width.saturating_sub(INDENT + columns(&title) + columns(&right)).max(2));
    let mut out = format!(
        "{} {}{gap}{} {} {}  {}\n",
        look.paint(style::DIM, &format!("{rank:>3}")),
        look.paint(style::TITLE, &title),
        look.paint(strength(hit), &format!("{band:>4}")),
        look.paint(style::TITLE, &format!("{score:.2}")),
        look.paint(strength(hit), &bar(score)),
        look.paint(style::DIM, &age),
    );
    let place = place(item, look.width.saturating_sub(INDENT), look);
    if !place.is_empty() {
        let _ = writeln!(out, "{}{}", " ".repeat(INDENT), look.paint(style::DIM, &place));
    }
    let room = look.width.saturating_sub(INDENT).max(16);
    // A memory begins with its title, which is its first sentence.
    let content = item.content.trim_start();
    let rest = if item.summary.is_empty() {
        content
    } else {
        content.strip_prefix(&*item.summary).unwrap_or(content)
    };
    let content = if title.ends_with('…') { content } else { rest };
    let file_name = item.metadata.get("file_name").and_then(|value| value.as_str()).unwrap_or_default();
    let shown = excerpt(content, Layout::of(file_name), question, room * LINES - 8, LINES);
    if !shown.text.is_empty() && shown.text != title {
        out.push_str(&wrap(
            &shown,
            INDENT,
            LINES,
            &Look { width: look.width.min(INDENT + 110), ..look.clone() },
        ));
    }
    out.push_str(&labels(hit, look));
    out.push_str(&anchors(&hit.anchors, INDENT, look));
    let others = hit.duplicates.len();
    if others > 0 {
        let ids: Vec<_> = hit.duplicates.iter().map(|id| id.get(..8).unwrap_or(id)).collect();
        let note = format!(
            "{} the same: {}",
            count(others as u64, "other item says").replace("says", if others == 1 { "says" } else { "say" }),
            ids.join(" ")
        );
        let _ = writeln!(out, "{}{}", " ".repeat(INDENT), look.paint(style::DIM, &cut(&note, room)));
    }
    out
}

/// Renders the neighbours of a hit, each with its position from the hit.
fn around(hit: &Hit, look: &Look) -> String {
    let mut out = String::new();
    for neighbour in &hit.around {
        let lead = format!("{:>width$} ", format!("{:+}", neighbour.offset), width = INDENT - 1);
        for (at, text) in clean(neighbour.content.trim()).lines().enumerate() {
            let lead = if at == 0 { lead.clone() } else { " ".repeat(INDENT) };
            out.push_str(&look.paint(style::DIM, hanging(&lead, text, look).trim_end()));
            out.push('\n');
        }
    }
    out
}

/// Returns the title of the document, or the first line of the memory.
fn title(item: &Item) -> String {
    let title = line(&item.summary);
    if !title.is_empty() {
        return title;
    }
    let first = item.content.lines().map(line).find(|text| !text.is_empty()).unwrap_or_default();
    let first = first.trim_start_matches('#').trim();
    if first.is_empty() { "(no text)".to_string() } else { first.to_string() }
}

/// Formats tags, type, pin and short id.
fn labels(hit: &Hit, look: &Look) -> String {
    let item = &hit.memory;
    let mut plain = Vec::new();
    if let Some(memory_type) = item.memory_type {
        plain.push(memory_type.to_string());
    }
    match item.tier {
        Tier::Pinned => plain.push("pinned".to_string()),
        Tier::Active | Tier::Fading => {}
    }
    match (item.status, &item.superseded_by_id) {
        (Status::Superseded, Some(by)) => plain.push(format!("replaced by {}", by.get(..8).unwrap_or(by))),
        (Status::Superseded | Status::Archived | Status::Variant, _) => plain.push(item.status.to_string()),
        (Status::Candidate | Status::Active, _) => {}
    }
    let perhaps = hit.perhaps_replaced_by.as_ref();
    plain.extend(
        perhaps.map(|by| format!("earlier, perhaps replaced by {}", by.id.get(..8).unwrap_or(&by.id))),
    );
    plain.extend(hit.cited_line.map(|line| format!("fact in line {line}")));
    plain.extend(item.provenance.mark(item.kind, item.status));
    let plain = plain.join(" · ");
    let id = item.id.get(..8).unwrap_or(&item.id);
    let room = look.width.saturating_sub(INDENT + columns(&plain) + columns(id) + 4);
    let tags = item.tags.iter().map(|tag| format!("#{}", line(tag))).collect::<Vec<_>>().join(" ");
    let tags = cut(&tags, room);
    let parts = [look.paint(style::DIM, id), look.paint(style::DIM, &plain), look.paint(style::NAME, &tags)];
    let parts: Vec<_> = parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect();
    format!("{}{}\n", " ".repeat(INDENT), parts.join("  "))
}

/// Draws a score as a bar of five cells, in eighths.
fn bar(score: f32) -> String {
    let eighths = (score * 40.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(char::from_u32(0x2590 - (eighths % 8) as u32).unwrap_or('▏'));
    }
    let empty = 5 - bar.chars().count();
    bar + &"·".repeat(empty)
}

/// Returns the colour for a hit's band, if its profile has bands.
fn strength(hit: &Hit) -> anstyle::Style {
    match hit.band {
        Some(Band::High) => style::GOOD,
        Some(Band::Medium) => style::WEAK,
        None if hit.score >= 0.66 => style::GOOD,
        None if hit.score >= 0.33 => style::WEAK,
        Some(Band::Low) | None => style::DIM,
    }
}

/// Renders the path over which the graph led to a hit.
fn path(hit: &Hit, look: &Look) -> String {
    if hit.path.is_empty() {
        return String::new();
    }
    let lead = " ".repeat(INDENT);
    let note = look.paint(style::DIM, "path over the graph");
    format!("{lead}{note}\n{}", hops(&hit.path, &format!("{lead}  "), look))
}

fn signals(hit: &Hit, look: &Look) -> String {
    if hit.signals.is_empty() {
        return String::new();
    }
    let mut table = Table::new(
        INDENT,
        [
            Column::new().style(style::DIM),
            Column::new().right(),
            Column::new().right(),
            Column::new().style(style::DIM),
        ],
    );
    table.row(["channel", "rank", "raw score", ""]);
    for signal in &hit.signals {
        let unit = match signal.channel {
            Channel::Text => "BM25",
            Channel::Vector => "cosine",
            Channel::Tags => "rarity",
            Channel::Filename | Channel::Canonical => "overlap",
            Channel::Graph => "nearness",
        };
        // If a channel did not list the item, its score was computed afterwards.
        let rank = signal.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        table.row([signal.channel.word(), &rank, &format!("{:.4}", signal.score), unit]);
    }
    table.print(look)
}

/// Renders the factors of a hit's rank, in the order in which they count.
fn factors(hit: &Hit, candidates: usize, look: &Look) -> String {
    if hit.factors.is_empty() {
        return String::new();
    }
    let lead = " ".repeat(INDENT);
    // Only differences decide the rank; smaller values come from rounding.
    let is_apart =
        hit.factors.iter().any(|factor| factor.step != FactorStep::Note && factor.value.abs() >= 5e-4);
    let mut table = Table::new(INDENT, [Column::new().style(style::DIM), Column::new().right()]);
    if !is_apart {
        let told = if candidates == 1 {
            "no factor moved it: it is the only candidate"
        } else {
            "no factor sets it apart from the other candidates"
        };
        return wrapped(&lead, told, look);
    }
    table.row(["factors", ""]);
    for factor in &hit.factors {
        let value = match factor.step {
            FactorStep::Plus => format!("{:+.3}", factor.value),
            FactorStep::Times => format!("x {:.3}", factor.value),
            FactorStep::Note => format!("({:.3})", factor.value),
        };
        table.row([factor.name, &value]);
    }
    let mut out = table.print(look);
    if let Some(moved) = hit.reranked {
        let told = format!(
            "the reranker moved it from {} to {} (its score {:.2})",
            moved.from, moved.to, moved.score
        );
        let _ = writeln!(out, "{}{}", " ".repeat(INDENT), look.paint(style::DIM, &told));
    }
    out
}

/// Renders the terms of a score that is a probability.
fn odds(hit: &Hit, look: &Look) -> String {
    if hit.odds.is_empty() {
        return String::new();
    }
    let mut table = Table::new(INDENT, [Column::new().style(style::DIM), Column::new().right()]);
    table.row(["score", "log odds"]);
    // Zero has no sign.
    let told = |value: f32| if value.abs() < 5e-4 { "0".to_owned() } else { format!("{value:+.3}") };
    for term in &hit.odds {
        table.row([term.name, &told(term.value)]);
    }
    let sum: f32 = hit.odds.iter().map(|term| term.value).sum();
    table.row([&format!("together {:.2}", hit.score), &told(sum)]);
    table.print(look)
}

/// Renders the cost of the answer, one sentence per line.
fn effort(answer: &Answer, look: &Look) -> String {
    let effort = &answer.effort;
    let mut table = Table::new(INDENT, [Column::new().style(style::DIM), Column::new().shrinks()]);
    for channel in &effort.channels {
        if answer.degraded.iter().any(|degraded| degraded.channel == channel.channel.into()) {
            continue;
        }
        let candidates = count(channel.candidates as u64, "candidate");
        let vector = match channel.channel {
            Channel::Text | Channel::Tags | Channel::Filename | Channel::Canonical | Channel::Graph => {
                String::new()
            }
            Channel::Vector if effort.vector_cached => "; the question's vector was in the cache".into(),
            Channel::Vector => format!("; the question's vector took {}", duration(effort.embed_ms)),
        };
        let told = format!("{candidates} in {}{vector}", duration(channel.took_ms));
        table.row([channel.channel.word(), &told]);
    }
    let considered = count(effort.candidates as u64, "different item");
    table.row(["together", &format!("{considered}, put in order in {}", duration(effort.rank_ms))]);
    if effort.delta > 0 {
        let newer = count(effort.delta as u64, "item");
        table.row(["newest", &format!("{newer} not in the indexes yet, searched one by one")]);
    }
    table.print(look)
}

fn footer(answer: &Answer, look: &Look) -> String {
    let took = duration(answer.took_ms);
    let text = if answer.hits.is_empty() && answer.abstained && answer.total_found > 0 {
        let items = count(answer.total_found as u64, "item");
        format!("nothing that answers this: {items} looked at in {took}, none near enough")
    } else if answer.hits.is_empty() {
        format!("nothing found in {took}")
    } else {
        let model =
            answer.model_used.as_deref().map(|model| format!(", {}", line(model))).unwrap_or_default();
        let model = if answer.not_calibrated.is_empty() {
            model
        } else {
            format!("{model}, whose scores are not calibrated")
        };
        format!("{} of {} found in {took}{model}", answer.hits.len(), thousands(answer.total_found as u64))
    };
    look.paint(style::DIM, &text) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::request::Factor;

    #[test]
    fn an_answer_in_80_columns() {
        let look = sample::look(80);
        let text = text(&sample::answer(), false, &look);
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn an_answer_in_120_columns_explained() {
        let text = text(&sample::answer(), true, &sample::look(120));
        assert!(text.lines().all(|line| columns(line) <= 120), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_lonely_hit_says_what_its_score_is_made_of() {
        let mut answer = sample::answer();
        answer.hits.truncate(1);
        answer.effort.candidates = 1;
        answer.hits[0].factors = vec![
            Factor::plus("words", 0.0),
            Factor::note("trust in meaning", 0.7),
            Factor::plus("meaning", 0.0),
        ];
        answer.hits[0].odds = vec![
            Factor::plus("base", 0.56),
            Factor::plus("standing", 0.0),
            Factor::plus("share of the words", 1.79),
            Factor::plus("rank", -0.0),
        ];
        let text = text(&answer, true, &sample::look(80));
        for told in [
            "    no factor moved it: it is the only candidate\n",
            "    score               log odds\n    base                  +0.560\n",
            "    standing                   0\n    share of the words    +1.790\n    rank                       0\n",
            "    together 0.91         +2.350\n",
        ] {
            assert!(text.contains(told), "{told:?} in\n{text}");
        }
        assert!(!text.contains("factors \n") && !text.contains("trust in meaning"), "{text}");
    }

    #[test]
    fn an_answer_in_colour() {
        let look = Look { color: true, ..sample::look(80) };
        insta::assert_snapshot!(text(&sample::answer(), false, &look).replace('\u{1b}', "^"));
    }

    #[test]
    fn an_answer_in_a_narrow_window() {
        let text = text(&sample::answer(), true, &sample::look(40));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_found() {
        let answer = Answer { hits: Vec::new(), total_found: 0, ..sample::answer() };
        insta::assert_snapshot!(text(&answer, false, &sample::look(80)));
    }

    #[test]
    fn bars_are_five_cells() {
        let check = |score: f32, expected: &str| assert_eq!(bar(score), expected);
        check(0.0, "·····");
        check(0.1, "▌····");
        check(0.5, "██▌··");
        check(0.99, "█████");
        check(0.97, "████▉");
        check(1.0, "█████");
    }
}
