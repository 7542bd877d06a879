//! Speaks `OpenAI`'s embeddings, and the same with other field names: Mistral, Jina, compatible servers.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::embed::check::{self, Bad, Indexed, Number};
use crate::embed::spec::{EmbedSpec, Limits, Role};
use crate::provider::Provider;
use crate::wire::WireRequest;

/// How a server's request differs from `OpenAI`'s.
struct Variant {
    dimension: &'static str,
    /// The field that asks for numbers instead of base64.
    format: &'static str,
    has_task: bool,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Indexed>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens: Option<u64>,
}

fn variant(provider: Provider) -> Variant {
    match provider {
        Provider::Mistral => {
            Variant { dimension: "output_dimension", format: "encoding_format", has_task: false }
        }
        Provider::Jina => Variant { dimension: "dimensions", format: "embedding_type", has_task: true },
        Provider::OpenAi
        | Provider::Compatible
        | Provider::Anthropic
        | Provider::Gemini
        | Provider::Voyage
        | Provider::Ollama
        | Provider::Cohere => Variant { dimension: "dimensions", format: "encoding_format", has_task: false },
    }
}

/// Returns what a request may have: `OpenAI`'s own limits, and careful ones for servers whose limits are not known.
pub(super) fn limits(provider: Provider) -> Limits {
    let bytes = 8 << 20;
    match provider {
        Provider::OpenAi => Limits { texts: 2_048, tokens: 300_000, bytes, text_tokens: 6_144 },
        Provider::Mistral => Limits { texts: 64, tokens: 12_000, bytes, text_tokens: 6_000 },
        Provider::Jina => Limits { texts: 128, tokens: 100_000, bytes, text_tokens: 6_144 },
        // TEI takes 32 texts, llama.cpp texts of 512 tokens unless it is started with more.
        Provider::Compatible
        | Provider::Anthropic
        | Provider::Gemini
        | Provider::Voyage
        | Provider::Ollama
        | Provider::Cohere => Limits { texts: 32, tokens: 12_000, bytes, text_tokens: 384 },
    }
}

pub(super) fn request(spec: &EmbedSpec, role: Role, texts: &[String]) -> WireRequest {
    let variant = variant(spec.provider);
    let mut body = json!({"model": spec.model_for(role), "input": texts});
    body[variant.format] = json!("float");
    if let Some(dimension) = spec.asked {
        body[variant.dimension] = json!(dimension);
    }
    if variant.has_task {
        body["task"] = json!(match role {
            Role::Question => "retrieval.query",
            Role::Document => "retrieval.passage",
        });
        body["late_chunking"] = Value::Bool(false);
    }
    WireRequest::json("/embeddings", &body, spec.most_bytes(texts.len()))
}

pub(super) fn read(body: &[u8], count: usize) -> Result<(Vec<Vec<Number>>, Option<u64>), Bad> {
    let answer: Answer = check::read(body)?;
    let tokens = answer.usage.and_then(|usage| usage.total_tokens.or(usage.prompt_tokens));
    Ok((check::order(answer.data, count)?, tokens))
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
    fn bodies_have_the_vendors_names() {
        let openai = spec(Provider::OpenAi, "text-embedding-3-small", Some(512));
        let expected = json!({
            "model": "text-embedding-3-small", "input": ["one", "two"], "dimensions": 512, "encoding_format": "float",
        });
        check(&openai.request(Role::Document, &["one", "two"]), "/embeddings", &expected);
        let mistral = spec(Provider::Mistral, "codestral-embed", Some(256));
        let expected = json!({
            "model": "codestral-embed", "input": ["one"], "output_dimension": 256, "encoding_format": "float",
        });
        check(&mistral.request(Role::Document, &["one"]), "/embeddings", &expected);
        let jina = spec(Provider::Jina, "jina-embeddings-v4", None);
        let expected = |task: &str| {
            json!({"model": "jina-embeddings-v4", "input": ["one"], "task": task, "late_chunking": false,
                   "embedding_type": "float"})
        };
        check(&jina.request(Role::Question, &["one"]), "/embeddings", &expected("retrieval.query"));
        check(&jina.request(Role::Document, &["one"]), "/embeddings", &expected("retrieval.passage"));
        let e5 = spec(Provider::Compatible, "intfloat/e5-small-v2", None);
        let expected =
            json!({"model": "intfloat/e5-small-v2", "input": ["query: one"], "encoding_format": "float"});
        check(&e5.request(Role::Question, &["one"]), "/embeddings", &expected);
    }

    #[test]
    fn swapped_vectors_are_put_in_order_and_tokens_are_read() {
        let body = r#"{"object":"list","data":[
            {"object":"embedding","index":1,"embedding":[0,1]},{"object":"embedding","index":0,"embedding":[1,0]}],
            "model":"m","usage":{"prompt_tokens":5,"total_tokens":5}}"#;
        let spec = spec(Provider::OpenAi, "m", None);
        let (items, tokens) = spec.vectors(&["a", "b"], Shape::default(), &answer(200, body));
        assert_eq!((items, tokens), (vec![Ok(vec![1.0, 0.0]), Ok(vec![0.0, 1.0])], Some(5)));
    }

    #[test]
    fn a_server_that_ignores_the_dimension_is_found_out() {
        let spec = spec(Provider::Compatible, "all-MiniLM-L6-v2", Some(2));
        let body = r#"{"data":[{"index":0,"embedding":[1,2,3]}]}"#;
        let shape = |matryoshka| Shape { dimension: Some(2), matryoshka };
        let (items, tokens) = spec.vectors(&["a"], shape(false), &answer(200, body));
        assert!(items[0].is_err() && tokens.is_none());
        let (items, _) = spec.vectors(&["a"], shape(true), &answer(200, body));
        assert_eq!(items[0].as_ref().unwrap().len(), 2);
    }
}
