//! Speaks Cohere's embed of version 2.

use serde::Deserialize;
use serde_json::json;

use crate::embed::check::{self, Bad, Number};
use crate::embed::spec::{EmbedSpec, Limits, Role};
use crate::wire::WireRequest;

/// 96 texts. The context is not documented for all models; 512 tokens are read by every one.
pub(super) const LIMITS: Limits = Limits { texts: 96, tokens: usize::MAX, bytes: 4 << 20, text_tokens: 384 };

#[derive(Deserialize)]
struct Answer {
    embeddings: Floats,
    #[serde(default)]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Floats {
    float: Vec<Vec<Number>>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default)]
    billed_units: Option<Units>,
}

#[derive(Deserialize)]
struct Units {
    #[serde(default)]
    input_tokens: Option<u64>,
}

pub(super) fn request(spec: &EmbedSpec, role: Role, texts: &[String]) -> WireRequest {
    let mut body = json!({
        "model": spec.model_for(role),
        "texts": texts,
        "input_type": match role {
            Role::Question => "search_query",
            Role::Document => "search_document",
        },
        "embedding_types": ["float"],
        "truncate": "NONE",
    });
    if let Some(dimension) = spec.asked {
        body["output_dimension"] = json!(dimension);
    }
    WireRequest::json("/v2/embed", &body, spec.most_bytes(texts.len()))
}

pub(super) fn read(body: &[u8], count: usize) -> Result<(Vec<Vec<Number>>, Option<u64>), Bad> {
    let answer: Answer = check::read(body)?;
    let tokens = answer.meta.and_then(|meta| meta.billed_units?.input_tokens);
    Ok((check::count(answer.embeddings.float, count)?, tokens))
}

#[cfg(test)]
mod tests {
    use crate::embed::Role;
    use crate::embed::check::Shape;
    use crate::embed::testing::spec;
    use crate::provider::Provider;
    use crate::wire::testing::{answer, check};
    use serde_json::json;

    #[test]
    fn a_body_has_the_input_type_and_an_answer_its_floats() {
        let spec = spec(Provider::Cohere, "embed-v4.0", Some(256));
        let expected = |input_type: &str| {
            json!({"model": "embed-v4.0", "texts": ["one"], "input_type": input_type, "embedding_types": ["float"],
                   "truncate": "NONE", "output_dimension": 256})
        };
        check(&spec.request(Role::Question, &["one"]), "/v2/embed", &expected("search_query"));
        check(&spec.request(Role::Document, &["one"]), "/v2/embed", &expected("search_document"));
        let body = r#"{"id":"1","embeddings":{"float":[[0,2]]},"meta":{"billed_units":{"input_tokens":3}}}"#;
        let (items, tokens) = spec.vectors(&["one"], Shape::default(), &answer(200, body));
        assert_eq!((items, tokens), (vec![Ok(vec![0.0, 1.0])], Some(3)));
    }
}
