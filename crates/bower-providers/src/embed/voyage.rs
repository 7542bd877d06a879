//! Speaks Voyage's embeddings. Questions may go to a cheaper model, whose vectors lie in the same space.

use serde_json::json;

use crate::embed::spec::{EmbedSpec, Limits, Role};
use crate::wire::WireRequest;

/// 1,000 texts. Tokens depend on the model; the fewest are 120,000.
pub(super) const LIMITS: Limits =
    Limits { texts: 1_000, tokens: 120_000, bytes: 8 << 20, text_tokens: 24_000 };

pub(super) fn request(spec: &EmbedSpec, role: Role, texts: &[String]) -> WireRequest {
    let mut body = json!({
        "model": spec.model_for(role),
        "input": texts,
        "input_type": match role {
            Role::Question => "query",
            Role::Document => "document",
        },
        "truncation": false,
        "output_dtype": "float",
    });
    if let Some(dimension) = spec.asked {
        body["output_dimension"] = json!(dimension);
    }
    WireRequest::json("/embeddings", &body, spec.most_bytes(texts.len()))
}

#[cfg(test)]
mod tests {
    use crate::embed::testing::spec;
    use crate::embed::{EmbedSpec, Role};
    use crate::provider::Provider;
    use crate::wire::testing::check;
    use serde_json::json;

    #[test]
    fn documents_are_embedded_by_large_and_questions_by_lite() {
        let spec = EmbedSpec {
            question_model: Some("voyage-4-lite".into()),
            ..spec(Provider::Voyage, "voyage-4-large", Some(256))
        };
        let expected = |model: &str, input_type: &str| {
            json!({"model": model, "input": ["one"], "input_type": input_type, "truncation": false,
                   "output_dtype": "float", "output_dimension": 256})
        };
        check(
            &spec.request(Role::Document, &["one"]),
            "/embeddings",
            &expected("voyage-4-large", "document"),
        );
        check(&spec.request(Role::Question, &["one"]), "/embeddings", &expected("voyage-4-lite", "query"));
    }
}
