//! Speaks Ollama's embed, and refuses vectors of texts that it cut without saying so.

use serde::Deserialize;
use serde_json::json;

use crate::embed::check::{self, Bad, Item, Number};
use crate::embed::spec::{EmbedSpec, Limits, Role};
use crate::failure::FailureKind;
use crate::wire::WireRequest;

/// Windows below 512 tokens: longer texts fail, are cut at 2,048 tokens, or end the runner, depending on the version.
pub(super) const LIMITS: Limits = Limits { texts: 64, tokens: 24_000, bytes: 4 << 20, text_tokens: 384 };
/// The shortest context that a known model has in words; a text of fewer words is not cut.
const FEWEST_WORDS: usize = 256;

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Vec<Number>>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
}

pub(super) fn request(spec: &EmbedSpec, role: Role, texts: &[String]) -> WireRequest {
    let mut body = json!({"model": spec.model_for(role), "input": texts, "truncate": false});
    if let Some(dimension) = spec.asked {
        body["dimensions"] = json!(dimension);
    }
    WireRequest::json("/api/embed", &body, spec.most_bytes(texts.len()))
}

pub(super) fn read(body: &[u8], count: usize) -> Result<(Vec<Vec<Number>>, Option<u64>), Bad> {
    let answer: Answer = check::read(body)?;
    Ok((check::count(answer.embeddings, count)?, answer.prompt_eval_count))
}

/// Replaces the vectors of texts that may have been cut. Each word is at least one token, so fewer tokens than words prove that
/// something was left out.
pub(super) fn refuse_cut(texts: &[&str], tokens: Option<u64>, items: &mut [Item]) {
    let words: Vec<usize> = texts.iter().map(|text| text.split_whitespace().count()).collect();
    let total: usize = words.iter().sum();
    let Some(tokens) = tokens.filter(|tokens| *tokens > 0 && *tokens < total as u64) else { return };
    let any_long = words.iter().any(|words| *words >= FEWEST_WORDS);
    for (item, words) in items.iter_mut().zip(words) {
        if words >= FEWEST_WORDS || !any_long {
            let detail = format!("the server read {tokens} tokens of {total} words: it cut a text");
            *item = Err(Bad { kind: FailureKind::TooLong, detail });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::embed::Role;
    use crate::embed::check::Shape;
    use crate::embed::testing::spec;
    use crate::failure::FailureKind;
    use crate::provider::Provider;
    use crate::wire::testing::{answer, check};
    use serde_json::json;

    #[test]
    fn a_body_has_the_prompt_and_forbids_cutting() {
        let spec = spec(Provider::Ollama, "nomic-embed-text", Some(256));
        let expected = json!({
            "model": "nomic-embed-text", "input": ["search_document: one"], "truncate": false, "dimensions": 256,
        });
        check(&spec.request(Role::Document, &["one"]), "/api/embed", &expected);
    }

    #[test]
    fn a_text_that_was_cut_has_no_vector() {
        let spec = spec(Provider::Ollama, "all-minilm", None);
        let long = "word ".repeat(3_000);
        let read = |count: &str| {
            let body = format!(r#"{{"embeddings":[[1,0],[0,1]]{count}}}"#);
            let (items, _) = spec.vectors(&["short text", &long], Shape::default(), &answer(200, &body));
            items.into_iter().map(|item| item.map_err(|bad| bad.kind)).collect::<Vec<_>>()
        };
        let (short, whole) = (Ok(vec![1.0, 0.0]), Ok(vec![0.0, 1.0]));
        assert_eq!(read(r#","prompt_eval_count":2051"#), [short.clone(), Err(FailureKind::TooLong)]);
        assert_eq!(read(r#","prompt_eval_count":3006"#), [short.clone(), whole.clone()]);
        assert_eq!(read(""), [short, whole]);
    }
}
