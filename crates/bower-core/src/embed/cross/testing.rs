//! Builds a small random cross-encoder for tests, with the files of a published one.
//! They are config.json, vocab.txt and model.safetensors. The same seed always gives the same model.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView, serialize_to_file};
use serde_json::{Value, json};

use crate::embed::bert::EncoderShape;

/// A small shape, with the smallest heads.
pub(crate) const SMALL: EncoderShape =
    EncoderShape { hidden: 64, inner: 128, layers: 2, heads: 4, positions: 512, epsilon: 1e-12 };

/// Words of the vocabulary after its control pieces.
pub(crate) const WORDS: [&str; 24] = [
    "river", "stone", "market", "window", "paper", "garden", "signal", "memory", "bridge", "winter",
    "engine", "letter", "who", "built", "the", "where", "is", "old", "cold", "under", "a", "##s", "?", ".",
];

/// A random generator that needs no crate (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in 0..1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an approximately standard normal number: the sum of twelve uniform ones.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// Returns that many words of the vocabulary.
    pub(crate) fn words(&mut self, count: usize) -> String {
        let mut word = || WORDS[self.next() as usize % WORDS.len()].trim_start_matches('#');
        (0..count).map(|_| word()).collect::<Vec<_>>().join(" ")
    }
}

/// The model's tensors by their published names.
pub(crate) struct Published {
    pub(crate) shape: EncoderShape,
    pub(crate) tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
}

impl Published {
    pub(crate) fn new(seed: u64, shape: EncoderShape) -> Self {
        let mut model = Self { shape, tensors: BTreeMap::new() };
        let (mut random, EncoderShape { hidden, inner, .. }) = (Random(seed), shape);
        let pieces = vocabulary().lines().count();
        let tables = [("word", pieces, 1.0), ("position", shape.positions, 0.2), ("token_type", 2, 0.2)];
        for (name, rows, size) in tables {
            let name = format!("bert.embeddings.{name}_embeddings.weight");
            model.add(&mut random, name, &[rows, hidden], 0.0, size);
        }
        model.norm(&mut random, "bert.embeddings.LayerNorm");
        for layer in 0..shape.layers {
            let name = |part: &str| format!("bert.encoder.layer.{layer}.{part}");
            // Attention's weights are large, so that the texts matter; the rest are small, so that small differences
            // stay small.
            for (part, size) in [("query", 1.4), ("key", 1.4), ("value", 1.5)] {
                model.product(&mut random, &name(&format!("attention.self.{part}")), [hidden, hidden], size);
            }
            model.product(&mut random, &name("attention.output.dense"), [hidden, hidden], 1.5);
            model.norm(&mut random, &name("attention.output.LayerNorm"));
            model.product(&mut random, &name("intermediate.dense"), [inner, hidden], 1.0);
            model.product(&mut random, &name("output.dense"), [hidden, inner], 1.0);
            model.norm(&mut random, &name("output.LayerNorm"));
        }
        model.product(&mut random, "bert.pooler.dense", [hidden, hidden], 1.0);
        model.product(&mut random, "classifier", [1, hidden], 4.0);
        model
    }

    /// Writes the three files. `config` overrides fields of config.json.
    pub(crate) fn write(&self, folder: &Path, config: &Value) {
        let mut said = json!({
            "architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_act": "gelu",
            "hidden_size": self.shape.hidden, "intermediate_size": self.shape.inner,
            "num_hidden_layers": self.shape.layers, "num_attention_heads": self.shape.heads,
            "max_position_embeddings": self.shape.positions, "layer_norm_eps": self.shape.epsilon,
            "id2label": {"0": "LABEL_0"}, "type_vocab_size": 2,
            "sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity",
        });
        for (key, value) in config.as_object().into_iter().flatten() {
            said[key] = value.clone();
        }
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("config.json"), said.to_string()).unwrap();
        std::fs::write(folder.join("vocab.txt"), vocabulary()).unwrap();
        save(self.tensors.iter(), &folder.join("model.safetensors"));
    }

    /// Adds a product of random weights.
    pub(crate) fn add_dense(&mut self, name: &str, sizes: [usize; 2]) {
        self.product(&mut Random(77), name, sizes, 1.0);
    }

    /// Writes the tensors whose names begin with `prefix` to a `model.safetensors` in a folder.
    pub(crate) fn write_only(&self, folder: &Path, prefix: &str) {
        let chosen = self.tensors.iter().filter(|(name, _)| name.starts_with(prefix));
        save(chosen, &folder.join("model.safetensors"));
    }

    /// A tensor's numbers.
    pub(crate) fn get(&self, name: &str) -> &[f32] {
        &self.tensors[name].1
    }

    /// Applies a product to a row, in float64.
    pub(crate) fn dense(&self, name: &str, row: &[f64]) -> Vec<f64> {
        let (weight, bias) = (self.wide(&format!("{name}.weight")), self.wide(&format!("{name}.bias")));
        let dot = |w: &[f64]| w.iter().zip(row).map(|(w, x)| w * x).sum::<f64>();
        weight.chunks(row.len()).zip(bias).map(|(w, b)| dot(w) + b).collect()
    }

    /// Computes the last layer's states of tokens, each with its type, by the definition (Devlin et al. 2018), in float64. It
    /// shares no code with the encoder.
    pub(crate) fn states(&self, tokens: &[(usize, usize)]) -> Vec<Vec<f64>> {
        let EncoderShape { hidden, inner, layers, heads, .. } = self.shape;
        let norm = |name: &str, row: &mut Vec<f64>| {
            let (gain, shift) = (self.wide(&format!("{name}.weight")), self.wide(&format!("{name}.bias")));
            let mean = row.iter().sum::<f64>() / hidden as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / hidden as f64;
            for (i, x) in row.iter_mut().enumerate() {
                *x = (*x - mean) / (variance + f64::from(self.shape.epsilon)).sqrt() * gain[i] + shift[i];
            }
        };
        let rows = |kind: &str| self.wide(&format!("bert.embeddings.{kind}_embeddings.weight"));
        let (words, positions, kinds) = (rows("word"), rows("position"), rows("token_type"));
        let embed = |(at, (id, kind)): (usize, &(usize, usize))| {
            let mut row = (0..hidden)
                .map(|i| words[id * hidden + i] + positions[at * hidden + i] + kinds[kind * hidden + i])
                .collect();
            norm("bert.embeddings.LayerNorm", &mut row);
            row
        };
        let mut states: Vec<Vec<f64>> = tokens.iter().enumerate().map(embed).collect();
        let size = hidden / heads;
        for layer in 0..layers {
            let name = |part: &str| format!("bert.encoder.layer.{layer}.{part}");
            let of = |part: &str| -> Vec<Vec<f64>> {
                states.iter().map(|row| self.dense(&name(&format!("attention.self.{part}")), row)).collect()
            };
            let (queries, keys, values) = (of("query"), of("key"), of("value"));
            let mut next = Vec::new();
            for (at, state) in states.iter().enumerate() {
                let mut context = vec![0.0; hidden];
                for head in 0..heads {
                    let range = head * size..(head + 1) * size;
                    let weights: Vec<f64> = keys
                        .iter()
                        .map(|key| {
                            let dot: f64 = range.clone().map(|d| queries[at][d] * key[d]).sum();
                            (dot / (size as f64).sqrt()).exp()
                        })
                        .collect();
                    let total: f64 = weights.iter().sum();
                    for d in range {
                        context[d] = weights.iter().zip(&values).map(|(w, value)| w / total * value[d]).sum();
                    }
                }
                let add =
                    |row: &mut Vec<f64>, other: &[f64]| row.iter_mut().zip(other).for_each(|(x, y)| *x += y);
                let mut row = self.dense(&name("attention.output.dense"), &context);
                add(&mut row, state);
                norm(&name("attention.output.LayerNorm"), &mut row);
                let mut wide = self.dense(&name("intermediate.dense"), &row);
                assert_eq!(wide.len(), inner);
                for x in &mut wide {
                    *x *= phi(*x);
                }
                let mut out = self.dense(&name("output.dense"), &wide);
                add(&mut out, &row);
                norm(&name("output.LayerNorm"), &mut out);
                next.push(out);
            }
            states = next;
        }
        states
    }

    fn wide(&self, name: &str) -> Vec<f64> {
        self.get(name).iter().map(|x| f64::from(*x)).collect()
    }

    fn product(&mut self, random: &mut Random, name: &str, [outputs, inputs]: [usize; 2], size: f64) {
        let size = size / (inputs as f64).sqrt();
        self.add(random, format!("{name}.weight"), &[outputs, inputs], 0.0, size);
        self.add(random, format!("{name}.bias"), &[outputs], 0.0, 0.1);
    }

    /// Adds a layer norm like those of trained models: one input is far larger than the rest.
    fn norm(&mut self, random: &mut Random, name: &str) {
        self.add(random, format!("{name}.weight"), &[self.shape.hidden], 1.0, 0.2);
        self.add(random, format!("{name}.bias"), &[self.shape.hidden], 0.0, 0.2);
        let large = &mut self.tensors.get_mut(&format!("{name}.weight")).unwrap().1;
        large[7] = 3.0;
    }

    fn add(&mut self, random: &mut Random, name: String, shape: &[usize], mean: f64, size: f64) {
        let numbers =
            (0..shape.iter().product()).map(|_| (mean + size * random.normal()) as f32).collect::<Vec<_>>();
        self.tensors.insert(name, (shape.to_vec(), numbers));
    }
}

fn save<'a>(tensors: impl Iterator<Item = (&'a String, &'a (Vec<usize>, Vec<f32>))>, path: &Path) {
    let views = tensors.map(|(name, (shape, numbers))| {
        let bytes = bytemuck::cast_slice(numbers);
        (name.clone(), TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
    });
    serialize_to_file(views, None, path).unwrap();
}

/// vocab.txt.
pub(crate) fn vocabulary() -> String {
    format!("[PAD]\n[UNK]\n[CLS]\n[SEP]\n{}\n", WORDS.join("\n"))
}

/// Computes the normal distribution by Simpson's rule over its density: to 1e-9 within ±8.
fn phi(x: f64) -> f64 {
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (steps, end) = (200, x.clamp(-8.0, 8.0));
    let width = end / f64::from(steps);
    let sum: f64 = (0..=steps)
        .map(|i| {
            let weight = if i == 0 || i == steps { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
            weight * density(width * f64::from(i))
        })
        .sum();
    0.5 + sum * width / 3.0
}

/// Returns the ids of a text of whole words of the vocabulary, which follow four control pieces.
pub(crate) fn ids(text: &str) -> Vec<usize> {
    let id = |word: &str| WORDS.iter().position(|known| *known == word).map_or(1, |at| at + 4);
    text.split(' ').map(id).collect()
}
