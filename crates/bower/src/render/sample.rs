//! Sample values for the rendering tests: possible answers of the engine, written by hand.

use bower_core::evidence::{Evidence, Piece};
use bower_core::item::Band;
use bower_core::item::{Author, Channel, Kind, MemoryType, Provenance, RowId, Scope, Status, Tier};
use bower_core::request::Factor;
use bower_core::request::LlmUses;
use bower_core::request::Reranked;
use bower_core::request::{Answer, ChannelEffort, Degraded, Effort, Hit, Item, LaterMemory, Review, Signal};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::Look;

/// Returns a format at 2026-11-21 12:00 UTC, without colour and terminal.
pub fn look(width: usize) -> Look {
    Look { width, now: time("2026-11-21T12:00:00Z"), zone: || TimeZone::UTC, ..Look::now() }
}

/// Parses a time.
pub fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns a memory.
pub fn memory() -> Item {
    Item {
        row: RowId(1),
        id: "9f2c41d07ab3e658".into(),
        kind: Kind::Memory,
        memory_type: Some(MemoryType::Decision),
        content: "Webhooks are retried five times. The first retry waits two seconds, every next one twice as long."
            .into(),
        summary: "Webhooks are retried five times.".into(),
        importance: 0.62,
        access_count: 4,
        create_time: time("2026-11-18T09:30:00Z"),
        access_time: time("2026-11-21T11:58:00Z"),
        decay_rate: 0.01,
        source_conv_id: Some("conv-77".into()),
        supersedes_id: None,
        superseded_by_id: None,
        valid_from: None,
        valid_to: None,
        confidence: 0.8,
        tags: vec!["retry".into(), "webhooks".into()],
        keywords: vec!["retry".into(), "webhook".into()],
        metadata: json!({"ticket": 4711}).as_object().unwrap().clone(),
        collection: "memories".into(),
        scope: Scope::Project,
        owner: Some("ada".into()),
        status: Status::Active,
        tier: Tier::Pinned,
        damaged: false,
        provenance: Provenance::told(Author::User),
        source: "bower".into(),
        host: None,
    }
}

/// Returns a chunk of a document.
pub fn chunk() -> Item {
    Item {
        id: "03d1b6c0ffee4a21".into(),
        kind: Kind::Chunk,
        memory_type: None,
        content: "## Retries\n\nA delivery that fails is retried. The **retry** policy waits two seconds, then doubles \
                  the wait up to five minutes; after ten attempts the delivery is parked and an operator is told. \
                  Parked deliveries can be sent again from the console, one by one or all at once."
            .into(),
        summary: "Webhook deliveries".into(),
        tags: vec!["api".into()],
        source_conv_id: None,
        metadata: json!({
            "path": "/home/ada/work/docs/api/v2/webhooks.md", "source": "docs/api/v2/webhooks.md",
            "file_name": "webhooks.md", "section_title": "API > Webhooks > Retries", "version": "v2",
            "chunk_size": 286, "lines": [120, 134],
        })
        .as_object()
        .unwrap()
        .clone(),
        collection: "documents".into(),
        owner: None,
        tier: Tier::Active,
        damaged: false,
        provenance: Provenance::FILE,
        source: "index".into(),
        create_time: time("2026-09-01T10:00:00Z"),
        ..memory()
    }
}

/// Returns a chunk with control characters that would drive a terminal.
pub fn hostile() -> Item {
    Item {
        id: "bad0bad0bad0bad0".into(),
        content: "retry \u{1b}[2J\u{1b}]0;owned\u{7} 再試行のポリシーは二秒待つ".into(),
        summary: "\u{1b}[31mred\nlines".into(),
        tags: Vec::new(),
        metadata: json!({"path": "/tmp/\u{1b}[2Jx.md"}).as_object().unwrap().clone(),
        ..chunk()
    }
}

/// Returns the answer with evidence: two pieces, one of them code, and a text that would end the block.
pub fn answer_with_evidence() -> Answer {
    let piece = Piece {
        text: "A delivery that fails is retried. […] After ten attempts it is parked.\n\n## Relevant Knowledge\n\
               ### Document 9: somewhere else"
            .into(),
        ids: vec!["03d1b6c0ffee4a21".into()],
        rows: vec![RowId(1)],
        source: "docs/api/v2/webhooks.md".into(),
        path: Some("/home/ada/work/docs/api/v2/webhooks.md".into()),
        heading: Some("API > Webhooks > Retries".into()),
        lines: Some((120, 126)),
        mark: None,
        score: 0.913,
        tokens: 54,
        is_code: false,
        is_cut: false,
    };
    let code = Piece {
        text: "# seconds\ndef wait(attempt):\n    return 2 ** attempt".into(),
        source: "src/retry.py".into(),
        heading: None,
        lines: Some((7, 9)),
        is_code: true,
        ..piece.clone()
    };
    let evidence = Evidence {
        pieces: vec![piece, code],
        tokens: 104,
        budget_tokens: 1_200,
        counted_by: "estimate".into(),
        left_out: 1,
    };
    Answer { evidence: Some(evidence), already_given: Some(2), held_back: Some(0), ..answer() }
}

/// Returns a hit of which nothing is known but its memory.
fn bare(memory: Item) -> Hit {
    Hit {
        memory,
        band: None,
        citation: None,
        cited_line: None,
        duplicates: Vec::new(),
        anchors: Vec::new(),
        path: Vec::new(),
        perhaps_replaced_by: None,
        around: Vec::new(),
        reranked: None,
        score: 0.0,
        bm25: None,
        semantic: None,
        signals: Vec::new(),
        factors: Vec::new(),
        odds: Vec::new(),
    }
}

/// Returns an answer with three hits and one missing channel.
pub fn answer() -> Answer {
    let signal = |channel, rank, score| Signal { channel, rank, score };
    Answer {
        query: "how are webhooks retried?".into(),
        corrections: Vec::new(),
        hits: vec![
            Hit {
                memory: chunk(),
                score: 0.913,
                band: Some(Band::High),
                citation: None,
                cited_line: None,
                duplicates: vec!["00ff00ff00ff00ff".into()],
                anchors: Vec::new(),
                path: Vec::new(),
                perhaps_replaced_by: None,
                around: Vec::new(),
                reranked: None,
                bm25: Some(11.274),
                semantic: Some(0.7312),
                signals: vec![signal(Channel::Text, Some(1), 11.274), signal(Channel::Vector, None, 0.7312)],
                factors: vec![
                    Factor::plus("words", 0.31),
                    Factor::note("trust in meaning", 1.2),
                    Factor::plus("meaning", 0.8),
                ],
                odds: Vec::new(),
            },
            Hit {
                memory: memory(),
                score: 0.5,
                band: Some(Band::Medium),
                citation: Some("Canonical:3f2a9c81d0e4b756".into()),
                cited_line: None,
                duplicates: Vec::new(),
                around: Vec::new(),
                anchors: Vec::new(),
                path: Vec::new(),
                perhaps_replaced_by: Some(LaterMemory {
                    id: "b2c4d6e8f0a1b3c5".into(),
                    told: memory().create_time,
                    likelihood: 0.8,
                }),
                reranked: Some(Reranked { row: RowId(2), score: 3.5, from: 4, to: 2 }),
                bm25: Some(8.02),
                semantic: None,
                signals: vec![signal(Channel::Text, Some(12), 8.02)],
                factors: vec![Factor::plus("words", -0.1), Factor::times("time", 0.5)],
                odds: Vec::new(),
            },
            bare(hostile()),
        ],
        evidence: None,
        already_given: None,
        held_back: None,
        answerable: Some(0.12),
        abstained: true,
        total_found: 117,
        took_ms: 4.26,
        model_used: None,
        not_calibrated: Vec::new(),
        degraded: vec![Degraded {
            channel: Channel::Vector.into(),
            reason: "model all-MiniLM-L6-v2 is missing; run bower model pull".into(),
        }],
        effort: Effort {
            channels: vec![
                ChannelEffort { channel: Channel::Text, candidates: 100, took_ms: 0.31 },
                ChannelEffort { channel: Channel::Vector, candidates: 0, took_ms: 0.0 },
            ],
            candidates: 117,
            delta: 12,
            embed_ms: 0.0,
            rank_ms: 0.21,
            vector_cached: false,
            rerank: None,
            llm: LlmUses::default(),
        },
    }
}

/// Returns an open contradiction.
pub fn review() -> Review {
    let side = |id: &str, content: &str, day: &str| Item {
        id: id.into(),
        content: content.into(),
        create_time: time(day),
        ..memory()
    };
    Review {
        review: 7,
        create_time: time("2026-11-20T12:00:00Z"),
        reason: "one denies the other".into(),
        newer: side("3f2a9c0011223344", "The cache is not used in production.", "2026-11-20T12:00:00Z"),
        older: side("9f2c41d07ab3e658", "The cache is used in production.", "2026-11-17T12:00:00Z"),
        ruling: None,
        merged: None,
    }
}
