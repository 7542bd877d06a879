//! Tests token ids against the reference tokenizer's, on the files that `tools/golden_model.py` wrote.
//! Every id must be equal.

use std::fmt::Write as _;

use bower_core::parts::embed::wordpiece::{WordPiece, pack_vocabulary};

use crate::model::model_dir;

fn section() -> Vec<u8> {
    let vocabulary = std::fs::read(model_dir().join("vocab.txt")).expect("model_dir has seen the file");
    pack_vocabulary(&vocabulary).expect("the model's own vocabulary")
}

#[test]
fn ids_are_the_references() {
    let section = section();
    let table = WordPiece::open(&section).unwrap();
    let mut ids = Vec::new();
    let mut failures = String::new();
    let mut texts = 0;
    for line in include_str!("../golden/wordpiece.jsonl").lines() {
        let (text, expected): (String, Vec<u32>) = serde_json::from_str(line).unwrap();
        ids.clear();
        table.encode(&text, &mut ids);
        if ids != expected {
            writeln!(failures, "{text:?}\n  is  {ids:?}\n  not {expected:?}").unwrap();
        }
        texts += 1;
    }
    assert!(texts > 3_000, "only {texts} golden texts");
    assert_eq!(failures, "");
}

#[test]
fn every_character_is_taken_as_the_reference_takes_it() {
    let section = section();
    let table = WordPiece::open(&section).unwrap();
    let mut ids = Vec::new();
    let mut text = String::new();
    let mut failures = String::new();
    let mut blocks = 0;
    for line in include_str!("../golden/characters.txt").lines() {
        let [first, count, expected] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let first = u32::from_str_radix(first, 16).unwrap();
        let count: u32 = count.parse().unwrap();
        let expected = u32::from_str_radix(expected, 16).unwrap();
        for block in first..first + count {
            let mut digest = 0x811c_9dc5_u32;
            for c in (block << 8..(block + 1) << 8).filter_map(char::from_u32) {
                text.clear();
                write!(text, "{c} x{c}x A{c} {c}s.").unwrap();
                ids.clear();
                table.encode(&text, &mut ids);
                for byte in ids.iter().flat_map(|id| id.to_le_bytes()) {
                    digest = (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193);
                }
            }
            if digest != expected {
                writeln!(failures, "the block of U+{:04X}: {digest:08x}, not {expected:08x}", block << 8)
                    .unwrap();
            }
        }
        blocks += count;
    }
    assert_eq!(blocks, 0x1100);
    assert_eq!(failures, "");
}
