//! Reads a published `tokenizer.json` of a unigram model, and packs it for use in place.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use serde::Deserialize;
use serde_json::Value;

use super::charsmap::Charsmap;
use super::{FORMAT, HEADER_BYTES, KEEPS_ASCII, MAGIC, SCORE_BYTES, Steps, UNKNOWN_PENALTY, damaged};
use crate::error::Result;

/// Longest piece in bytes, so that a damaged vocabulary cannot make a trie of any size.
const LONGEST_PIECE: usize = 1024;

/// The used parts of `tokenizer.json`, as the package `tokenizers` writes it.
#[derive(Deserialize)]
struct Published {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    model: Model,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    unk_id: Option<u32>,
    #[serde(default)]
    vocab: Vec<(String, f64)>,
    #[serde(default)]
    byte_fallback: bool,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

/// Makes the section of a packed model file from a `tokenizer.json` with a unigram model.
///
/// Fails with [`crate::Error::Model`] on anything else, and on a normaliser or a splitter that is not known here.
pub(in crate::embed) fn pack_unigram(tokenizer_json: &[u8]) -> Result<Vec<u8>> {
    let published: Published = serde_json::from_slice(tokenizer_json)
        .map_err(|cause| damaged(format!("tokenizer.json does not describe a unigram model: {cause}")))?;
    let Published { normalizer, pre_tokenizer, model, added_tokens } = published;
    if model.kind.as_deref().is_some_and(|kind| kind != "Unigram") || model.byte_fallback {
        return Err(damaged("tokenizer.json is of another kind than Unigram without bytes"));
    }
    splits_at_spaces(&pre_tokenizer)?;
    let (mut steps, mut map) = (Steps::default(), Vec::new());
    read_normalizer(&normalizer, &mut steps, &mut map)?;
    let (keys, texts) = match &map[..] {
        [] => (&[][..], &[][..]),
        map => Charsmap::split(map).ok_or_else(|| damaged("precompiled_charsmap is cut short"))?,
    };
    let keeps_ascii = Charsmap::new(keys, texts).keeps_ascii();

    let mut controls: HashSet<u32> = added_tokens.iter().map(|token| token.id).collect();
    let mut count = model.vocab.len();
    for token in &added_tokens {
        // Control tokens may follow the vocabulary; the table of words has rows for them.
        count = count.max(token.id as usize + 1);
    }
    if count > model.vocab.len() + added_tokens.len() || u32::try_from(count).is_err() {
        return Err(damaged("tokenizer.json has ids that are far apart"));
    }
    let known: HashMap<&str, u32> =
        (0..).zip(&model.vocab).map(|(id, (piece, _))| (piece.as_str(), id)).collect();
    let added = |name: &str| added_tokens.iter().find(|token| token.content == name).map(|token| token.id);
    let control = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| added(name).or_else(|| known.get(name).copied()));
        found.ok_or_else(|| damaged(format!("tokenizer.json has no {}", names[0])))
    };
    let (first, last) = (control(["<s>", "[CLS]"])?, control(["</s>", "[SEP]"])?);
    let unknown = match model.unk_id {
        Some(unknown) => unknown,
        None => control(["<unk>", "[UNK]"])?,
    };

    let least = model.vocab.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
    if model.vocab.is_empty() || !least.is_finite() {
        return Err(damaged("tokenizer.json has no scores"));
    }
    controls.extend([unknown, first, last]);
    let trie = trie(&model.vocab, &controls)?;
    let penalty = (least - UNKNOWN_PENALTY).to_bits();
    let numbers = [
        FORMAT,
        count as u32,
        trie.len() as u32,
        keys.len() as u32,
        texts.len() as u32,
        unknown,
        first,
        last,
        steps.bits() | u32::from(keeps_ascii) << KEEPS_ASCII,
        penalty as u32,
        (penalty >> 32) as u32,
    ];
    let mut section = Vec::with_capacity(HEADER_BYTES + count * SCORE_BYTES + trie.len() + map.len());
    section.extend_from_slice(&MAGIC);
    section.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    section.resize(HEADER_BYTES, 0);
    let scores = model.vocab.iter().map(|(_, score)| *score).chain(std::iter::repeat(0.0)).take(count);
    section.extend(scores.flat_map(f64::to_le_bytes));
    section.extend([&trie[..], keys, texts].concat());
    Ok(section)
}

/// Returns the trie of all pieces but control tokens, with their ids.
fn trie(vocab: &[(String, f64)], controls: &HashSet<u32>) -> Result<Vec<u8>> {
    let mut keys: Vec<(&[u8], u32)> = Vec::with_capacity(vocab.len());
    for (id, (piece, _)) in (0..).zip(vocab) {
        let is_piece = !piece.is_empty() && piece.len() <= LONGEST_PIECE && !piece.contains('\0');
        if is_piece && !controls.contains(&id) {
            keys.push((piece.as_bytes(), id));
        }
    }
    // Of equal pieces the last one counts, as in the reference.
    keys.sort_by(|a, b| a.0.cmp(b.0).then(b.1.cmp(&a.1)));
    keys.dedup_by(|later, earlier| later.0 == earlier.0);
    yada::builder::DoubleArrayBuilder::build(&keys)
        .map_err(|cause| damaged(format!("pieces do not fit a trie: {cause}")))
}

/// Checks that words are split at white space and marked with `▁`.
fn splits_at_spaces(pre_tokenizer: &Value) -> Result<()> {
    let kind = pre_tokenizer["type"].as_str().unwrap_or("none");
    match kind {
        "Sequence" => {
            pre_tokenizer["pretokenizers"].as_array().into_iter().flatten().try_for_each(splits_at_spaces)
        }
        "WhitespaceSplit" => Ok(()),
        "Metaspace" if pre_tokenizer["replacement"].as_str().is_none_or(|mark| mark == super::WORD_START) => {
            Ok(())
        }
        other => Err(damaged(format!("pre_tokenizer {other} is not known here"))),
    }
}

/// Reads a normaliser: its steps, and the bytes of its character map.
fn read_normalizer(normalizer: &Value, steps: &mut Steps, map: &mut Vec<u8>) -> Result<()> {
    let in_order = |is_in_order: bool, kind: &str| {
        if is_in_order { Ok(()) } else { Err(damaged(format!("normalizer {kind} is in an unknown place"))) }
    };
    match normalizer["type"].as_str() {
        None if normalizer.is_null() => Ok(()),
        Some("Sequence") => {
            let parts = normalizer["normalizers"].as_array();
            parts.into_iter().flatten().try_for_each(|part| read_normalizer(part, steps, map))
        }
        Some("Precompiled") => {
            in_order(!(steps.charsmap || steps.nfkc || steps.lowercase), "Precompiled")?;
            let said = normalizer["precompiled_charsmap"].as_str().unwrap_or_default();
            *map = base64::engine::general_purpose::STANDARD
                .decode(said)
                .map_err(|cause| damaged(format!("precompiled_charsmap is no base64: {cause}")))?;
            steps.charsmap = !map.is_empty();
            Ok(())
        }
        Some("NFKC") => {
            in_order(!(steps.nfkc || steps.lowercase), "NFKC")?;
            steps.nfkc = true;
            Ok(())
        }
        Some("Lowercase") => {
            steps.lowercase = true;
            Ok(())
        }
        // Both concern white space alone, at which words are split anyway.
        Some("Strip") => Ok(()),
        Some("Replace") if normalizer["content"].as_str().is_some_and(|text| text.trim().is_empty()) => {
            Ok(())
        }
        Some(other) => Err(damaged(format!("normalizer {other} is not known here"))),
        None => Err(damaged("normalizer has no type")),
    }
}
