//! Speaks the rerank of llama.cpp, vLLM, TEI and Jina, which is Cohere's of version 1.

use serde_json::{Value, json};

pub(super) fn request(model: &str, question: &str, documents: &[&str]) -> (&'static str, Value) {
    let body = json!({
        "model": model,
        "query": question,
        "documents": documents,
        "top_n": documents.len(),
    });
    ("/rerank", body)
}

#[cfg(test)]
mod tests {
    use crate::provider::Provider;
    use crate::rerank::request;
    use crate::wire::testing::check;
    use serde_json::json;

    #[test]
    fn a_body_is_that_of_the_contract() {
        let expected = json!({"model": "m", "query": "who?", "documents": ["a", "b"], "top_n": 2});
        check(&request(Provider::Compatible, "m", "who?", &["a", "b"]), "/rerank", &expected);
    }
}
