//! Tests token ids against the reference tokenizer's, on the files that `tools/golden_unigram.py` wrote.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn published() -> serde_json::Value {
    serde_json::from_str(include_str!("../../../tests/golden/unigram.json")).unwrap()
}

fn section() -> Vec<u8> {
    pack_unigram(published().to_string().as_bytes()).unwrap()
}

fn encode(table: &Unigram<'_>, text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    table.encode(text, &mut ids);
    ids
}

#[test]
fn ids_are_the_references() {
    let section = section();
    let table = Unigram::open(&section).unwrap();
    // <mask> follows the vocabulary.
    let pieces = published()["model"]["vocab"].as_array().unwrap().len();
    assert_eq!((table.pieces(), table.first(), table.last()), (pieces + 1, 0, 2));
    let (mut failures, mut texts) = (String::new(), 0);
    for line in include_str!("../../../tests/golden/unigram.jsonl").lines() {
        let (text, expected): (String, Vec<u32>) = serde_json::from_str(line).unwrap();
        let ids = encode(&table, &text);
        if ids != expected {
            writeln!(failures, "{text:?}\n  is  {ids:?}\n  not {expected:?}").unwrap();
        }
        texts += 1;
    }
    assert!(texts > 1_000, "only {texts} golden texts");
    assert_eq!(failures, "");
}

/// By hand: two ways to the same end have the sums -3 and -2.5; an unknown character costs 10 more than the least score.
#[test]
fn the_most_likely_pieces_are_found_and_unknown_characters_are_joined() {
    let vocab =
        json!([["<s>", 0], ["</s>", 0], ["<unk>", 0], ["▁a", -1.0], ["b", -2.0], ["▁", -0.5], ["ab", -2.0]]);
    let said = json!({
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁"},
        "model": {"type": "Unigram", "unk_id": 2, "vocab": vocab},
    });
    let section = pack_unigram(said.to_string().as_bytes()).unwrap();
    let table = Unigram::open(&section).unwrap();
    assert_eq!(encode(&table, "ab"), [5, 6]);
    assert_eq!(encode(&table, "a b"), [3, 5, 4]);
    assert_eq!(encode(&table, "xyb zz"), [5, 2, 4, 5, 2]);
    assert_eq!(encode(&table, "  \n"), [0_u32; 0]);
    assert_eq!(encode(&table, "<s>"), [5, 2]);
}

#[test]
fn normalisers_are_applied_in_their_order_or_refused() {
    let pack = |normalizer: serde_json::Value, splitter: serde_json::Value| {
        let vocab = json!([["<s>", 0], ["</s>", 0], ["<unk>", 0], ["▁f", -1.0], ["i", -2.0], ["▁", -0.5]]);
        let model = json!({"type": "Unigram", "unk_id": 2, "vocab": vocab});
        let said = json!({"normalizer": normalizer, "pre_tokenizer": splitter, "model": model});
        pack_unigram(said.to_string().as_bytes())
    };
    let spaces = json!({"type": "Metaspace", "replacement": "▁"});
    let both = json!({"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]});
    let section = pack(both, spaces.clone()).unwrap();
    assert_eq!(encode(&Unigram::open(&section).unwrap(), "ﬁ FI"), [3, 4, 3, 4]);
    let section = pack(json!(null), spaces.clone()).unwrap();
    assert_eq!(encode(&Unigram::open(&section).unwrap(), "ﬁ FI"), [5, 2, 5, 2]);
    let refused = |normalizer, splitter, expected: &str| {
        let error = pack(normalizer, splitter).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(json!({"type": "StripAccents"}), spaces.clone(), "normalizer StripAccents is not known");
    refused(json!({"type": "Precompiled", "precompiled_charsmap": "!"}), spaces.clone(), "no base64");
    refused(json!({"type": "Precompiled", "precompiled_charsmap": "/////w=="}), spaces, "cut short");
    refused(json!(null), json!({"type": "ByteLevel"}), "pre_tokenizer ByteLevel is not known");
    refused(json!(null), json!(null), "pre_tokenizer none is not known");
    let other = pack_unigram(br#"{"model": {"type": "BPE", "vocab": {}}}"#).unwrap_err().to_string();
    assert!(other.contains("does not describe a unigram model"), "{other}");
}

proptest! {
    /// Whatever bytes a file has, a text gets ids that the model has, and nothing panics.
    #[test]
    fn damage_gives_other_ids_and_no_panic(
        changes in prop::collection::vec((0_usize..1 << 20, any::<u8>()), 1..20),
        text in "\\PC{0,40}",
    ) {
        let mut section = section();
        for (at, byte) in changes {
            let len = section.len();
            section[at % len] = byte;
        }
        if let Ok(table) = Unigram::open(&section) {
            prop_assert!(encode(&table, &text).iter().all(|id| (*id as usize) < table.pieces()));
        }
    }
}
