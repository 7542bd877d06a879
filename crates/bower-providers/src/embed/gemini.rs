//! Speaks Gemini's batchEmbedContents: one request a text, because several parts would become one vector.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::address::path_part;
use crate::embed::check::{self, Bad, Number};
use crate::embed::spec::{EmbedSpec, Limits, Role};
use crate::wire::WireRequest;

/// 100 requests and 4 MiB; the JSON around the texts and its escapes take some of it.
pub(super) const LIMITS: Limits =
    Limits { texts: 100, tokens: usize::MAX, bytes: 2 << 20, text_tokens: 1_536 };

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Values>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<Number>,
}

pub(super) fn request(spec: &EmbedSpec, role: Role, texts: &[String]) -> WireRequest {
    let model = spec.model_for(role);
    let model = model.strip_prefix("models/").unwrap_or(model);
    let requests = texts.iter().map(|text| {
        let mut request = json!({"model": format!("models/{model}"), "content": {"parts": [{"text": text}]}});
        // Later models ignore the field: their role is the prompt.
        if model == "gemini-embedding-001" {
            request["taskType"] = json!(match role {
                Role::Question => "RETRIEVAL_QUERY",
                Role::Document => "RETRIEVAL_DOCUMENT",
            });
        }
        if let Some(dimension) = spec.asked {
            request["outputDimensionality"] = json!(dimension);
        }
        request
    });
    let body = json!({"requests": requests.collect::<Vec<Value>>()});
    let path = format!("/models/{}:batchEmbedContents", path_part(model));
    WireRequest::json(path, &body, spec.most_bytes(texts.len()))
}

pub(super) fn read(body: &[u8], count: usize) -> Result<(Vec<Vec<Number>>, Option<u64>), Bad> {
    let answer: Answer = check::read(body)?;
    let vectors = answer.embeddings.into_iter().map(|vector| vector.values).collect();
    Ok((check::count(vectors, count)?, None))
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
    fn the_first_model_has_a_task_type() {
        let spec = spec(Provider::Gemini, "models/gemini-embedding-001", Some(768));
        check(
            &spec.request(Role::Document, &["one", "two"]),
            "/models/gemini-embedding-001:batchEmbedContents",
            &json!({"requests": [
                {"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "one"}]},
                 "taskType": "RETRIEVAL_DOCUMENT", "outputDimensionality": 768},
                {"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "two"}]},
                 "taskType": "RETRIEVAL_DOCUMENT", "outputDimensionality": 768},
            ]}),
        );
        let question = String::from_utf8(spec.request(Role::Question, &["one"]).body).unwrap();
        assert!(question.contains("RETRIEVAL_QUERY"));
    }

    #[test]
    fn the_second_model_has_its_role_in_front_of_the_text() {
        let spec = spec(Provider::Gemini, "gemini-embedding-2", None);
        let body = |text: &str| json!({"requests": [{"model": "models/gemini-embedding-2", "content": {"parts": [{"text": text}]}}]});
        let path = "/models/gemini-embedding-2:batchEmbedContents";
        check(&spec.request(Role::Question, &["one"]), path, &body("task: search result | query: one"));
        check(&spec.request(Role::Document, &["one"]), path, &body("title: none | text: one"));
    }

    #[test]
    fn vectors_of_any_length_become_unit_vectors() {
        let spec = spec(Provider::Gemini, "gemini-embedding-001", Some(2));
        let body = r#"{"embeddings":[{"values":[0.3,0.4]},{"values":[0,-5]}]}"#;
        let (items, _) = spec.vectors(&["a", "b"], Shape::default(), &answer(200, body));
        assert_eq!(items[1], Ok(vec![0.0, -1.0]));
        assert!((items[0].as_ref().unwrap()[0] - 0.6).abs() < 1e-6);
        let (items, _) = spec.vectors(&["a"], Shape::default(), &answer(200, body));
        assert!(items[0].is_err());
    }
}
