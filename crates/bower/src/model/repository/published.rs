//! Makes the published files of small models for tests: a cross-encoder and a sentence encoder.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Returns the files of a cross-encoder with one layer of 64 numbers, as published.
pub fn published() -> BTreeMap<&'static str, Vec<u8>> {
    let config = json!({
        "model_type": "bert", "architectures": ["BertForSequenceClassification"], "hidden_size": 64,
        "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 32,
    });
    let vocabulary = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nriver\nbridge\n".to_vec();
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        ("bert.pooler.dense.weight".into(), vec![64, 64]),
        ("bert.pooler.dense.bias".into(), vec![64]),
        ("classifier.weight".into(), vec![1, 64]),
        ("classifier.bias".into(), vec![1]),
    ];
    for (name, rows) in [("word", 6), ("position", 32), ("token_type", 2)] {
        tensors.push((format!("bert.embeddings.{name}_embeddings.weight"), vec![rows, 64]));
    }
    let layer = "bert.encoder.layer.0.";
    let products =
        ["self.query", "self.key", "self.value", "output.dense"].map(|p| format!("{layer}attention.{p}"));
    for name in
        products.into_iter().chain(["intermediate.dense", "output.dense"].map(|p| format!("{layer}{p}")))
    {
        tensors.push((format!("{name}.weight"), vec![64, 64]));
        tensors.push((format!("{name}.bias"), vec![64]));
    }
    for name in ["bert.embeddings.", &format!("{layer}attention.output."), &format!("{layer}output.")] {
        tensors.push((format!("{name}LayerNorm.weight"), vec![64]));
        tensors.push((format!("{name}LayerNorm.bias"), vec![64]));
    }
    // The format: length of the header, the header as JSON, the numbers.
    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in tensors {
        let start = numbers.len();
        for index in 0..shape.iter().product::<usize>() {
            let number = ((index * 37 + start) % 101) as f32 / 100.0 - 0.5;
            numbers.extend(number.to_le_bytes());
        }
        let offsets = [start, numbers.len()];
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}));
    }
    let header = Value::Object(header).to_string();
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.into_bytes());
    weights.extend(numbers);
    BTreeMap::from([
        ("config.json", config.to_string().into_bytes()),
        ("vocab.txt", vocabulary),
        ("model.safetensors", weights),
    ])
}

/// Returns the files of a sentence encoder: the same transformer, pooled by its first token, with a prompt before questions.
pub fn encoder() -> BTreeMap<&'static str, Vec<u8>> {
    let mut files = published();
    let config: Value = serde_json::from_slice(&files["config.json"]).unwrap();
    let mut config = config.as_object().unwrap().clone();
    config.insert("architectures".into(), json!(["BertModel"]));
    let modules = json!([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]);
    let others = [
        ("config.json", Value::Object(config)),
        ("modules.json", modules),
        ("1_Pooling/config.json", json!({"pooling_mode_cls_token": true})),
        ("sentence_bert_config.json", json!({"max_seq_length": 24})),
        ("config_sentence_transformers.json", json!({"prompts": {"query": "river "}})),
    ];
    files.extend(others.map(|(name, said)| (name, said.to_string().into_bytes())));
    // A second form of the vocabulary, which is not fetched beside the first.
    files.insert("tokenizer.json", b"{}".to_vec());
    files
}
