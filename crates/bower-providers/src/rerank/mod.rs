//! Makes requests for relevance scores and reads them: one file a dialect, all of them pure.

mod cohere;
mod compatible;
mod voyage;

use serde::Deserialize;
use serde_json::Value;

use crate::embed::check::{self, Bad};
use crate::provider::Provider;
use crate::refusal::error_within;
use crate::wire::{WireAnswer, WireRequest};

/// Most bytes of an answer without texts, for each document.
const ENTRY_BYTES: u64 = 512;

/// The score of a document with its place in the request.
#[derive(Deserialize)]
struct Scored {
    index: usize,
    // TEI says `score`.
    #[serde(alias = "score")]
    relevance_score: f64,
}

/// Returns the request for the scores of all documents.
pub(crate) fn request(provider: Provider, model: &str, question: &str, documents: &[&str]) -> WireRequest {
    let (path, body) = match provider {
        Provider::Cohere => cohere::request(model, question, documents),
        Provider::Voyage => voyage::request(model, question, documents),
        Provider::Gemini
        | Provider::OpenAi
        | Provider::Ollama
        | Provider::Mistral
        | Provider::Jina
        | Provider::Anthropic
        | Provider::Compatible => compatible::request(model, question, documents),
    };
    // Some servers return the documents.
    let texts: usize = documents.iter().map(|text| text.len() * 2).sum();
    WireRequest::json(path, &body, documents.len() as u64 * ENTRY_BYTES + texts as u64 + (1 << 20))
}

/// Returns the scores in the order of the documents.
pub(crate) fn read(provider: Provider, answer: &WireAnswer, count: usize) -> Result<Vec<f32>, Bad> {
    if let Some(error) = error_within(answer) {
        return Err(Bad { kind: error.kind, detail: error.detail });
    }
    let mut body: Value = check::read(&answer.body)?;
    let list = match provider {
        Provider::Voyage => "data",
        Provider::Cohere
        | Provider::Gemini
        | Provider::OpenAi
        | Provider::Ollama
        | Provider::Mistral
        | Provider::Jina
        | Provider::Anthropic
        | Provider::Compatible => "results",
    };
    let list = body.get_mut(list).map(Value::take).unwrap_or_default();
    let scored: Vec<Scored> = serde_json::from_value(list).map_err(|cause| Bad {
        kind: crate::FailureKind::NotJson,
        detail: format!("it has no scores: {cause}"),
    })?;
    if scored.len() != count {
        return Err(Bad::vectors(format!("{count} documents were sent, {} scores came back", scored.len())));
    }
    let mut scores: Vec<Option<f32>> = vec![None; count];
    for Scored { index, relevance_score } in scored {
        let score = relevance_score as f32;
        let place =
            scores.get_mut(index).ok_or_else(|| Bad::vectors(format!("there is no document {index}")))?;
        if !score.is_finite() {
            return Err(Bad::vectors("a score is not finite"));
        }
        if place.replace(score).is_some() {
            return Err(Bad::vectors(format!("index {index} is repeated")));
        }
    }
    Ok(scores.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;
    use crate::wire::testing::answer;

    #[test]
    fn scores_are_in_the_order_of_the_documents() {
        let check = |provider, body: &str, expected: Result<&[f32], FailureKind>| {
            let got = read(provider, &answer(200, body), 2).map_err(|bad| bad.kind);
            assert_eq!(got, expected.map(<[f32]>::to_vec), "{body}");
        };
        let results = |list: &str| format!(r#"{{"results":[{list}]}}"#);
        let one = r#"{"index":1,"relevance_score":0.5}"#;
        let two = r#"{"index":0,"relevance_score":0.25,"document":{"text":"x"}}"#;
        check(Provider::Cohere, &results(&format!("{one},{two}")), Ok(&[0.25, 0.5]));
        let voyage = format!(r#"{{"object":"list","data":[{one},{two}],"model":"m"}}"#);
        check(Provider::Voyage, &voyage, Ok(&[0.25, 0.5]));
        check(Provider::Compatible, &results(&format!("{one},{one}")), Err(FailureKind::BadVectors));
        check(Provider::Compatible, &results(one), Err(FailureKind::BadVectors));
        check(
            Provider::Compatible,
            &results(&format!(r#"{one},{{"index":7,"relevance_score":1}}"#)),
            Err(FailureKind::BadVectors),
        );
        check(
            Provider::Compatible,
            &results(&format!(r#"{one},{{"index":0,"relevance_score":1e300}}"#)),
            Err(FailureKind::BadVectors),
        );
        check(Provider::Compatible, "<html>", Err(FailureKind::NotJson));
        check(Provider::Compatible, "{}", Err(FailureKind::NotJson));
        check(Provider::Compatible, r#"{"error":{"code":501,"message":"no"}}"#, Err(FailureKind::Server));
    }
}
