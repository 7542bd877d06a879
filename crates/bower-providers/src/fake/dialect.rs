//! The right answer of the test server in each dialect.

use serde_json::{Value, json};

use crate::fake::fault::{Answer, Fault, replaced};
use crate::fake::options::{FakeOptions, FakeRequest};
use crate::fake::vector::{thousandths, write};

/// A dialect of embeddings.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Gemini,
    OpenAi,
    Ollama,
    Cohere,
}

/// Returns the answer to a request.
pub(super) fn answer(request: &FakeRequest, options: &FakeOptions, fault: Option<&Fault>) -> Answer {
    if let Some(answer) = fault.and_then(replaced) {
        return answer;
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    if let Some(field) = options.refused_fields.iter().find(|field| has(&body, field)) {
        let message = format!("Unsupported parameter: '{field}' is not supported with this model.");
        return json_answer(400, &json!({"error": {"message": message, "param": field}}));
    }
    let shape = match request.path.as_str() {
        path if path.ends_with(":batchEmbedContents") => Shape::Gemini,
        path if path.ends_with("/embeddings") => Shape::OpenAi,
        "/api/embed" => Shape::Ollama,
        "/v2/embed" => Shape::Cohere,
        _ => return other(&request.path, &body, options, request.number),
    };
    let texts = texts(&request.body);
    if texts.iter().any(|text| words(text) > options.most_words) {
        let message = "input (900 tokens) is too large to process. increase the physical batch size";
        return json_answer(options.long_status, &json!({"error": {"message": message}}));
    }
    if texts.iter().any(|text| options.refused_texts.contains(text)) {
        return json_answer(400, &json!({"error": {"message": "bad input"}}));
    }
    embedded(shape, &texts, &body, options, fault)
}

/// Returns the texts of an embedding request in any dialect.
pub(super) fn texts(body: &[u8]) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let list = ["input", "texts", "requests"].iter().find_map(|name| body.get(name)?.as_array());
    let text = |item: &Value| {
        let text = item.as_str().or_else(|| item.pointer("/content/parts/0/text")?.as_str());
        text.unwrap_or_default().to_owned()
    };
    list.into_iter().flatten().map(text).collect()
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn has(body: &Value, field: &str) -> bool {
    match body {
        Value::Object(map) => map.contains_key(field) || map.values().any(|value| has(value, field)),
        _ => false,
    }
}

fn json_answer(status: u16, body: &Value) -> Answer {
    Answer { status, headers: Vec::new(), body: body.to_string().into_bytes() }
}

fn embedded(
    shape: Shape,
    texts: &[String],
    body: &Value,
    options: &FakeOptions,
    fault: Option<&Fault>,
) -> Answer {
    let asked = ["dimensions", "output_dimension"].iter().find_map(|name| body.get(name)?.as_u64());
    let asked = asked.or_else(|| body.pointer("/requests/0/outputDimensionality")?.as_u64());
    let asked = asked.filter(|_| options.honours_dimensions);
    let length = asked.map_or(options.dimension, |asked| asked as usize)
        + usize::from(matches!(fault, Some(Fault::WrongDimension)));
    let vector = |at: usize, text: &str| {
        let mut numbers = match fault {
            Some(Fault::Unrelated) => thousandths(&format!("{at} {}", text.len()), length),
            // A shorter vector is the beginning of a long one.
            Some(_) | None => thousandths(text, length.max(options.dimension)),
        };
        numbers.truncate(length);
        if at == 0 && matches!(fault, Some(Fault::Zero)) {
            numbers.fill(0);
        }
        let mut written = String::with_capacity(length * 7);
        write(&numbers, &mut written);
        let spoiled = match fault {
            Some(Fault::Null) if at == 1.min(texts.len() - 1) => Some("null"),
            Some(Fault::NaN) if at == 0 => Some("NaN"),
            Some(_) | None => None,
        };
        if let (Some(word), Some(end)) = (spoiled, written.find([',', ']'])) {
            written.replace_range(1..end, word);
        }
        written
    };
    let mut vectors: Vec<(usize, String)> =
        texts.iter().enumerate().map(|(at, text)| (at, vector(at, text))).collect();
    match fault {
        Some(Fault::Fewer) => drop(vectors.pop()),
        Some(Fault::Swapped) => vectors.reverse(),
        Some(Fault::Repeated) => vectors.iter_mut().for_each(|vector| vector.0 = 0),
        Some(_) | None => (),
    }
    let tokens = (texts.iter().map(|text| words(text) as u64).sum::<u64>()).min(options.most_counted);
    Answer { status: 200, headers: Vec::new(), body: written(shape, &vectors, tokens).into_bytes() }
}

fn written(shape: Shape, vectors: &[(usize, String)], tokens: u64) -> String {
    let join =
        |each: &dyn Fn(&(usize, String)) -> String| vectors.iter().map(each).collect::<Vec<_>>().join(",");
    match shape {
        Shape::Gemini => {
            format!("{{\"embeddings\":[{}]}}", join(&|vector| format!("{{\"values\":{}}}", vector.1)))
        }
        Shape::OpenAi => {
            let list = join(&|vector| format!("{{\"index\":{},\"embedding\":{}}}", vector.0, vector.1));
            format!("{{\"data\":[{list}],\"usage\":{{\"total_tokens\":{tokens}}}}}")
        }
        Shape::Ollama => {
            let list = join(&|vector| vector.1.clone());
            format!("{{\"embeddings\":[{list}],\"prompt_eval_count\":{tokens}}}")
        }
        Shape::Cohere => {
            let list = join(&|vector| vector.1.clone());
            let meta = format!("{{\"billed_units\":{{\"input_tokens\":{tokens}}}}}");
            format!("{{\"embeddings\":{{\"float\":[{list}]}},\"meta\":{meta}}}")
        }
    }
}

fn other(path: &str, body: &Value, options: &FakeOptions, number: u64) -> Answer {
    let text = usize::try_from(number).ok().and_then(|at| options.answers.get(at)).unwrap_or(&options.answer);
    let body = match path {
        _ if path.ends_with(":generateContent") => json!({
            "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1},
        }),
        _ if path.ends_with("/chat/completions") => json!({
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        }),
        "/v1/messages" => json!({
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 1},
        }),
        "/api/chat" => json!({
            "message": {"role": "assistant", "content": text}, "done_reason": "stop",
            "prompt_eval_count": 3, "eval_count": 1,
        }),
        _ if path.ends_with("/rerank") => reranked(body),
        _ => return json_answer(404, &json!({"error": {"message": format!("no route {path}")}})),
    };
    json_answer(200, &body)
}

/// Scores documents by the words that they share with the question, the best one first.
fn reranked(body: &Value) -> Value {
    let words = |value: &Value| -> Vec<String> {
        value.as_str().unwrap_or_default().split(' ').map(str::to_lowercase).collect()
    };
    let question = words(&body["query"]);
    let documents = body["documents"].as_array().cloned().unwrap_or_default();
    let score =
        |document: &Value| words(document).iter().filter(|word| question.contains(word)).count() as f64;
    let mut scored: Vec<(usize, f64)> = documents.iter().map(score).enumerate().collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let entry = |(index, score): &(usize, f64)| json!({"index": index, "relevance_score": score});
    let list: Vec<Value> = scored.iter().map(entry).collect();
    if body.get("top_k").is_some() { json!({"data": list}) } else { json!({"results": list}) }
}
