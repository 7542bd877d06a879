//! Renders measurements of a store for people.

use super::table::{Column, Table};
use super::{Look, bytes, count, duration, line, style, thousands};
use crate::commands::bench::{Latency, Recall, Resources};

/// Renders `bower bench latency`.
pub fn latency(latency: &Latency, look: &Look) -> String {
    let mut table = Table::new(0, [(); 6].map(|()| Column::new().right()));
    table.row(["", "questions", "p50", "p95", "p99", "longest"]);
    for times in &latency.times {
        let ms = [times.p50_ms, times.p95_ms, times.p99_ms, times.max_ms].map(duration);
        let [p50, p95, p99, max] = &ms;
        table.row([times.kind, &thousands(times.count as u64), p50, p95, p99, max]);
    }
    let what = format!(
        "first sentences of {} of {}, asked with {}; cold opens the store each time, again has the vector in memory",
        thousands(latency.questions as u64),
        count(latency.items, "item"),
        line(&latency.model),
    );
    table.print(look) + &super::wrapped("", &what, look)
}

/// Renders `bower bench recall`.
pub fn recall(recall: &Recall, look: &Look) -> String {
    let Some(found) = &recall.index else {
        return "there is no vector index yet: every vector is compared, so nothing is lost\n".to_owned();
    };
    let title = format!("recall@{} {:.4}", found.k, found.recall);
    let what = format!(
        "{} of {} sampled items have all {} nearest of {} ({}, {}); the least has {:.2}. A search takes {}, comparing all vectors \
         {}",
        thousands(found.whole as u64),
        thousands(found.sampled as u64),
        found.k,
        count(found.vectors as u64, "vector"),
        found.tier,
        line(&found.model),
        found.least,
        duration(found.search_ms),
        duration(found.exact_ms),
    );
    look.paint(style::TITLE, &title) + "\n" + &super::wrapped("", &what, look)
}

/// Renders `bower bench resources`.
pub fn resources(resources: &Resources, look: &Look) -> String {
    let mut table = Table::new(
        0,
        [
            Column::new().style(style::NAME),
            Column::new().right(),
            Column::new().right(),
            Column::new().shrinks(),
        ],
    );
    for part in &resources.parts {
        let (files, path) = (count(part.files as u64, "file"), line(&part.path.to_string_lossy()));
        table.row([&line(&part.part), &bytes(part.bytes), &files, &path]);
    }
    table.row(["all", &bytes(resources.bytes), "", &count(resources.items, "item")]);
    let memory = match (resources.before_bytes, resources.after_bytes) {
        (Some(before), Some(after)) => format!(
            "memory: {} before the store was opened, {} after {}\n",
            bytes(before),
            bytes(after),
            count(resources.questions as u64, "question")
        ),
        (None, _) | (_, None) => String::new(),
    };
    table.print(look) + &memory
}
