//! Makes requests for vectors and reads their answers: one file a dialect, all of them pure.

pub(crate) mod check;
mod cohere;
mod gemini;
mod ollama;
mod openai;
mod spec;
mod voyage;

use crate::embed::check::{Bad, Item, Shape};
use crate::prices::ModelTable;
use crate::provider::Provider;
use crate::refusal::error_within;
use crate::wire::{WireAnswer, WireRequest};

pub(crate) use spec::EmbedSpec;
pub use spec::{Limits, Role};

impl EmbedSpec {
    /// Returns the request for the vectors of some texts, each with its prompt in front.
    pub fn request(&self, role: Role, texts: &[&str]) -> WireRequest {
        let prompt = self.prompt(role);
        let texts: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
        match self.provider {
            Provider::Gemini => gemini::request(self, role, &texts),
            Provider::Voyage => voyage::request(self, role, &texts),
            Provider::Ollama => ollama::request(self, role, &texts),
            Provider::Cohere => cohere::request(self, role, &texts),
            Provider::OpenAi
            | Provider::Mistral
            | Provider::Jina
            | Provider::Anthropic
            | Provider::Compatible => openai::request(self, role, &texts),
        }
    }

    /// Returns the vectors of an answer with status 200, in the order of the texts, and the tokens that were counted.
    pub fn vectors(&self, texts: &[&str], shape: Shape, answer: &WireAnswer) -> (Vec<Item>, Option<u64>) {
        let count = texts.len();
        let read = match self.provider {
            Provider::Gemini => gemini::read(&answer.body, count),
            Provider::Ollama => ollama::read(&answer.body, count),
            Provider::Cohere => cohere::read(&answer.body, count),
            Provider::Voyage
            | Provider::OpenAi
            | Provider::Mistral
            | Provider::Jina
            | Provider::Anthropic
            | Provider::Compatible => openai::read(&answer.body, count),
        };
        match read {
            Ok((vectors, tokens)) => {
                let mut items: Vec<Item> =
                    vectors.iter().map(|vector| check::finish(vector, shape)).collect();
                if self.provider == Provider::Ollama {
                    ollama::refuse_cut(texts, tokens, &mut items);
                }
                (items, tokens)
            }
            Err(bad) => {
                let error = error_within(answer).map(|error| Bad { kind: error.kind, detail: error.detail });
                (vec![Err(error.unwrap_or(bad)); count], None)
            }
        }
    }

    /// Returns what one request may have.
    pub fn limits(&self) -> Limits {
        let limits = match self.provider {
            Provider::Gemini => gemini::LIMITS,
            Provider::Voyage => voyage::LIMITS,
            Provider::Ollama => ollama::LIMITS,
            Provider::Cohere => cohere::LIMITS,
            Provider::OpenAi
            | Provider::Mistral
            | Provider::Jina
            | Provider::Anthropic
            | Provider::Compatible => openai::limits(self.provider),
        };
        let Some(known) = ModelTable::get().embedding(self.provider, &self.model) else { return limits };
        // Estimates of tokens are a quarter too low for some scripts.
        let text_tokens = known.context.map_or(limits.text_tokens, |context| context * 3 / 4);
        Limits { text_tokens, tokens: known.batch_tokens.unwrap_or(limits.tokens), ..limits }
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Returns a model with its default prompts.
    pub fn spec(provider: Provider, model: &str, asked: Option<usize>) -> EmbedSpec {
        EmbedSpec {
            provider,
            model: model.into(),
            question_model: None,
            asked,
            prompts: ModelTable::get().prompts(model),
            matryoshka: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::spec;
    use super::*;
    use crate::failure::FailureKind;
    use crate::wire::testing::answer;

    #[test]
    fn a_success_with_an_error_is_that_error() {
        let check = |body: &str, kind: FailureKind, detail: &str| {
            let spec = spec(Provider::Compatible, "m", None);
            let (items, tokens) = spec.vectors(&["a", "b"], Shape::default(), &answer(200, body));
            let bad = items[1].clone().unwrap_err();
            assert_eq!((items.len(), tokens, bad.kind), (2, None, kind), "{bad:?}");
            assert!(bad.detail.contains(detail), "{bad:?}");
        };
        check(r#"{"error":{"message":"no credit","code":402}}"#, FailureKind::Money, "no credit");
        check(r#"{"error":"No models loaded"}"#, FailureKind::Server, "No models loaded");
        check("<html>", FailureKind::NotJson, "<html>");
        check(r#"{"data":[{"index":0,"embedding":[1]}]}"#, FailureKind::BadVectors, "1 vectors came back");
    }

    #[test]
    fn one_bad_vector_does_not_spoil_the_others() {
        let body = r#"{"data":[{"index":1,"embedding":[null,1]},{"index":0,"embedding":[0,2]}]}"#;
        let spec = spec(Provider::OpenAi, "m", None);
        let (items, _) = spec.vectors(&["a", "b"], Shape::default(), &answer(200, body));
        assert_eq!(items[0], Ok(vec![0.0, 1.0]));
        assert_eq!(items[1].clone().unwrap_err().kind, FailureKind::BadVectors);
    }

    #[test]
    fn limits_are_those_of_the_vendors() {
        let check = |provider, model: &str, texts: usize, tokens: usize| {
            let limits = spec(provider, model, None).limits();
            assert_eq!((limits.texts, limits.tokens), (texts, tokens), "{model}");
        };
        check(Provider::Gemini, "gemini-embedding-001", 100, usize::MAX);
        check(Provider::OpenAi, "text-embedding-3-small", 2_048, 300_000);
        check(Provider::Voyage, "voyage-4-large", 1_000, 120_000);
        check(Provider::Voyage, "voyage-4", 1_000, 320_000);
        check(Provider::Voyage, "voyage-4-lite", 1_000, 1_000_000);
        check(Provider::Cohere, "embed-v4.0", 96, usize::MAX);
        assert!(spec(Provider::Gemini, "gemini-embedding-001", None).limits().text_tokens < 2_048);
        assert!(spec(Provider::Ollama, "nomic-embed-text", None).limits().text_tokens < 512);
        assert!(spec(Provider::Gemini, "gemini-embedding-001", None).limits().bytes < 4 << 20);
    }
}
