//! Tests small random sentence encoders against vectors by the definition, in float64.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::embed::cross::testing::{self, Published, Random, SMALL, ids};

use super::*;

fn lengths(pieces: usize) -> Vec<usize> {
    split(pieces, WINDOW_PIECES).map(|window| window.len()).collect()
}

#[test]
fn windows_are_few_balanced_and_cover_everything() {
    assert_eq!(lengths(0), [0]);
    assert_eq!(lengths(1), [1]);
    assert_eq!(lengths(254), [254]);
    assert_eq!(lengths(255), [127, 128]);
    assert_eq!(lengths(508), [254, 254]);
    assert_eq!(lengths(509), [169, 170, 170]);
    let mut next = 0;
    for window in split(100_001, WINDOW_PIECES) {
        assert_eq!(window.start, next);
        next = window.end;
    }
    assert_eq!(next, 100_001);
}

#[test]
fn pooling_counts_each_token_once_and_normalises() {
    let mut pool = Pool::new(4);
    pool.add(&[2.0, 0.0, 0.0, 0.0], 1.0);
    pool.add(&[1.0, 0.0, 0.0, 7.0, 0.0, 4.0, 0.0, -7.0], 1.0);
    assert_eq!(pool.clone().finish(4).unwrap(), [0.6, 0.8, 0.0, 0.0]);
    assert_eq!(pool.finish(1).unwrap(), [1.0]);
    assert!(Pool::new(4).finish(4).is_none());
    let mut pool = Pool::new(4);
    pool.add(&[f32::NAN; 4], 1.0);
    assert!(pool.finish(4).is_none());
}

#[test]
fn other_files_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bower");
    assert!(matches!(SentenceEncoder::open(&path), Err(Error::Io { .. })));
    let other = crate::embed::layout::write("other.i8-2", &[vec![1]]);
    let empty = crate::embed::layout::write(IDENTITY, &[vec![1]]);
    for bytes in [&b""[..], b"short", &[0; 5000], &other, &empty] {
        std::fs::write(&path, bytes).unwrap();
        let error = SentenceEncoder::open(&path).err().unwrap();
        assert!(matches!(&error, Error::Model { .. }), "{error}");
        assert!(error.to_string().contains("model.bower"), "{error}");
    }
}

/// A published sentence encoder with random weights, in a folder.
struct Model {
    folder: tempfile::TempDir,
    published: Published,
}

impl Model {
    fn new(seed: u64, shape: EncoderShape) -> Self {
        let (folder, published) = (tempfile::tempdir().unwrap(), Published::new(seed, shape));
        published.write(folder.path(), &json!({"architectures": ["BertModel"]}));
        Self { folder, published }
    }

    /// Writes a JSON file of the model.
    fn with(self, path: &str, said: &Value) -> Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, said.to_string()).unwrap();
        self
    }

    /// Adds a pooling module, by the name of its mode.
    fn pooled(self, mode: &str, include_prompt: bool) -> Self {
        let pooling = json!({format!("pooling_mode_{mode}"): true, "pooling_mode_max_tokens": false, "include_prompt": include_prompt});
        self.with("modules.json", &modules(&["Transformer", "Pooling"]))
            .with("1_Pooling/config.json", &pooling)
    }

    fn pack(&self, options: &SentenceOptions) -> Result<SentenceModel> {
        pack_sentence("test/small", self.folder.path(), &self.packed(), options)
    }

    fn packed(&self) -> PathBuf {
        self.folder.path().join(SENTENCE_PACKED)
    }

    fn open(&self) -> SentenceEncoder {
        self.pack(&SentenceOptions::default()).unwrap();
        SentenceEncoder::open(&self.packed()).unwrap()
    }

    /// Returns the states of a text by the definition; [CLS] is piece 2, [SEP] piece 3.
    fn states(&self, text: &str) -> Vec<Vec<f64>> {
        let tokens = [2].into_iter().chain(ids(text)).chain([3]).map(|id| (id, 0));
        self.published.states(&tokens.collect::<Vec<_>>())
    }

    fn refused(&self, options: &SentenceOptions, expected: &str) {
        let error = self.pack(options).unwrap_err().to_string();
        assert!(error.starts_with("model test/small: ") && error.contains(expected), "{error}");
        assert!(!self.packed().exists());
    }
}

fn modules(kinds: &[&str]) -> Value {
    let module = |(index, kind): (usize, &&str)| {
        let path = if index == 0 { String::new() } else { format!("{index}_{kind}") };
        json!({"idx": index, "name": index.to_string(), "path": path, "type": format!("sentence_transformers.models.{kind}")})
    };
    kinds.iter().enumerate().map(module).collect()
}

fn mean(states: &[Vec<f64>]) -> Vec<f64> {
    (0..states[0].len()).map(|i| states.iter().map(|row| row[i]).sum::<f64>() / states.len() as f64).collect()
}

fn cosine(ours: &[f32], golden: &[f64]) -> f64 {
    assert_eq!(ours.len(), golden.len());
    let ours: Vec<f64> = ours.iter().map(|x| f64::from(*x)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    dot(&ours, golden) / (dot(&ours, &ours) * dot(golden, golden)).sqrt()
}

/// Checks a model's vectors of texts against those by the definition. A random model amplifies small differences more than a
/// trained one: `tools/model_parity.py` holds published models and the shapes of others to .997.
fn agrees(name: &str, ours: &dyn Fn(&str) -> Vec<f32>, golden: &dyn Fn(&str) -> Vec<f64>) {
    let (mut random, mut least) = (Random(11), 1.0_f64);
    for words in (1..40).step_by(3) {
        let text = random.words(words);
        least = least.min(cosine(&ours(&text), &golden(&text)));
    }
    assert!(least > 0.99, "{name}: {least}");
}

const NARROW: EncoderShape = EncoderShape { hidden: 128, heads: 2, inner: 192, layers: 3, ..SMALL };

#[test]
fn pooling_dense_layers_and_dimensions_are_those_of_the_files() {
    let plain = Model::new(1, SMALL);
    let encoder = plain.open();
    assert_eq!((encoder.dimension(), encoder.tokens(), encoder.about().window), (64, None, 512));
    agrees("mean", &|text| encoder.embed(text).unwrap(), &|text| mean(&plain.states(text)));

    let first = Model::new(2, NARROW).pooled("cls_token", true);
    let encoder = first.open();
    agrees("first", &|text| encoder.embed(text).unwrap(), &|text| first.states(text)[0].clone());

    let dense = |activation: &str, bias: bool| {
        let said = json!({"in_features": 64, "out_features": 96, "bias": bias,
            "activation_function": format!("torch.nn.modules.{activation}")});
        let mut model = Model::new(3, SMALL)
            .pooled("mean_tokens", true)
            .with("modules.json", &modules(&["Transformer", "Pooling", "Dense", "Normalize"]))
            .with("2_Dense/config.json", &said);
        model.published.add_dense("linear", [96, 64]);
        model.published.write_only(&model.folder.path().join("2_Dense"), "linear");
        model
    };
    let identity = dense("linear.Identity", true);
    let encoder = identity.open();
    assert_eq!(encoder.dimension(), 96);
    let golden = |text: &str| identity.published.dense("linear", &mean(&identity.states(text)));
    agrees("dense", &|text| encoder.embed(text).unwrap(), &golden);
    let tanh = dense("activation.Tanh", true);
    let encoder = tanh.open();
    agrees("tanh", &|text| encoder.embed(text).unwrap(), &|text| {
        golden(text).iter().map(|x| x.tanh()).collect()
    });

    let options = SentenceOptions { dimension: Some(32), ..SentenceOptions::default() };
    assert_eq!(identity.pack(&options).unwrap().dimension, 32);
    let cut = SentenceEncoder::open(&identity.packed()).unwrap();
    assert_eq!(cut.dimension(), 32);
    agrees("cut", &|text| cut.embed(text).unwrap(), &|text| golden(text)[..32].to_vec());
}

#[test]
fn prompts_stand_before_a_text_and_count_in_the_mean_unless_the_files_say_otherwise() {
    let prompts = json!({"prompts": {"query": "who built the ", "document": ""}});
    let model =
        Model::new(4, SMALL).pooled("mean_tokens", true).with("config_sentence_transformers.json", &prompts);
    let encoder = model.open();
    let question = |encoder: &SentenceEncoder, text: &str| encoder.embed_question(text).unwrap().vector;
    let prompted = |text: &str| format!("who built the {text}");
    agrees("question", &|text| question(&encoder, text), &|text| mean(&model.states(&prompted(text))));
    agrees("text", &|text| encoder.embed(text).unwrap(), &|text| mean(&model.states(text)));
    let kept = SentenceOptions {
        prompts: Some(Prompts { question: "a".into(), text: "old".into() }),
        dimension: None,
    };
    // What the files say counts; what they leave open is the caller's.
    assert_eq!(model.pack(&kept).unwrap().prompts.question, "who built the ");

    let model = model.pooled("mean_tokens", false);
    let encoder = model.open();
    let golden = |text: &str| mean(&model.states(&prompted(text))[4..]);
    agrees("without prompt", &|text| question(&encoder, text), &golden);

    let bare = Model::new(4, SMALL);
    let about = bare.pack(&kept).unwrap();
    let encoder = SentenceEncoder::open(&bare.packed()).unwrap();
    assert_eq!((&about.prompts, encoder.about()), (kept.prompts.as_ref().unwrap(), &about));
    agrees("given", &|text| encoder.embed(text).unwrap(), &|text| mean(&bare.states(&format!("old {text}"))));
}

#[test]
fn a_long_text_is_read_in_windows_each_with_its_prompt() {
    let prompts = json!({"prompts": {"document": "the old"}});
    let model = Model::new(5, SMALL)
        .with("config_sentence_transformers.json", &prompts)
        .with("sentence_bert_config.json", &json!({"max_seq_length": 24}));
    let encoder = model.open();
    let text = Random(3).words(50);
    let words: Vec<&str> = text.split(' ').collect();
    // 24 tokens are two control tokens, two of the prompt and 20 of the text: three windows of 16 or 17.
    let window = |range: Range<usize>| model.states(&format!("the old {}", words[range].join(" ")));
    let golden = mean(&[window(0..16), window(16..33), window(33..50)].concat());
    let encoding = encoder.encode(&text, &mut |_| ()).unwrap();
    assert_eq!((encoding.windows, encoding.tokens), (3, 50 + 3 * 4));
    assert!(cosine(&encoding.vector, &golden) > 0.99);
    let mut seen = Vec::new();
    encoder
        .encode("river stone", &mut |window| seen.push((window.ids.len(), window.inner().ids.to_vec())))
        .unwrap();
    assert_eq!(seen, [(6, vec![4, 5])]);
}

#[test]
fn the_identity_changes_with_all_that_decides_a_vector() {
    let identity = |model: &Model, options: &SentenceOptions| {
        model.pack(options).unwrap();
        SentenceEncoder::open(&model.packed()).unwrap().model().to_owned()
    };
    let none = SentenceOptions::default();
    let base = identity(&Model::new(6, SMALL), &none);
    assert!(base.starts_with("small.") && base.ends_with(".sentence.i8-1") && base.len() <= 64, "{base}");
    assert_eq!(identity(&Model::new(6, SMALL), &none), base);
    let prompts = Some(Prompts { question: "a".into(), text: String::new() });
    let others = [
        identity(&Model::new(7, SMALL), &none),
        identity(&Model::new(6, SMALL), &SentenceOptions { dimension: Some(32), prompts: None }),
        identity(&Model::new(6, SMALL), &SentenceOptions { prompts, dimension: None }),
        identity(&Model::new(6, SMALL).pooled("cls_token", true), &none),
        identity(
            &Model::new(6, SMALL).with("sentence_bert_config.json", &json!({"max_seq_length": 99})),
            &none,
        ),
    ];
    assert!(others.iter().all(|other| *other != base), "{others:?}");
}

#[test]
fn other_encoders_are_refused_by_what_they_are() {
    let none = SentenceOptions::default();
    let small = || Model::new(8, SMALL);
    let config = |said: &Value| {
        let model = small();
        model.published.write(model.folder.path(), said);
        model
    };
    config(&json!({"model_type": "modernbert"})).refused(&none, "model_type is modernbert, not bert");
    config(&json!({"architectures": ["GPT"]})).refused(&none, "without a Bert model");
    small().pooled("max_tokens", true).refused(&none, "pools states in another way");
    small().pooled("lasttoken", true).refused(&none, "pools states in another way");
    let both = json!({"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true});
    small()
        .pooled("cls_token", true)
        .with("1_Pooling/config.json", &both)
        .refused(&none, "several ways of pooling");
    small().with("modules.json", &modules(&["Transformer", "LSTM"])).refused(&none, "has the module LSTM");
    let outside = json!([{"path": "../1_Pooling", "type": "sentence_transformers.models.Pooling"}]);
    small().with("modules.json", &outside).refused(&none, "outside of its folder");
    let options = SentenceOptions { dimension: Some(65), prompts: None };
    small().refused(&options, "vectors of 64 numbers, which cannot be cut to 65");
    small()
        .with("sentence_bert_config.json", &json!({"max_seq_length": 4}))
        .refused(&none, "a window of 4 tokens");
    let prompt = Random(1).words(30);
    small()
        .with("sentence_bert_config.json", &json!({"max_seq_length": 40}))
        .with("config_sentence_transformers.json", &json!({"prompts": {"query": prompt}}))
        .refused(&none, "a prompt of 30 pieces for windows of 40 tokens");
    let bare = small();
    std::fs::remove_file(bare.folder.path().join("vocab.txt")).unwrap();
    bare.refused(&none, "has neither vocab.txt nor tokenizer.json");
    let cased = bare.with(
        "tokenizer.json",
        &json!({"normalizer": {"lowercase": false}, "model": {"vocab": {"[CLS]": 0}}}),
    );
    cased.refused(&none, "keeps capital letters");
}

#[test]
fn a_vocabulary_in_tokenizer_json_and_old_names_of_layer_norms_give_the_same_vectors() {
    let mut model = Model::new(9, SMALL);
    let expected = model.open().embed("where is the old bridge ?").unwrap();
    let vocabulary: serde_json::Map<String, Value> =
        testing::vocabulary().lines().zip(0..).map(|(piece, id)| (piece.to_owned(), json!(id))).collect();
    let said =
        json!({"normalizer": {"lowercase": true}, "model": {"type": "WordPiece", "vocab": vocabulary}});
    let norms = std::mem::take(&mut model.published.tensors).into_iter().map(|(name, tensor)| {
        let old =
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        (old, tensor)
    });
    model.published.tensors = norms.collect();
    model.published.write(model.folder.path(), &json!({"architectures": ["BertModel"]}));
    std::fs::remove_file(model.folder.path().join("vocab.txt")).unwrap();
    assert_eq!(
        model.with("tokenizer.json", &said).open().embed("where is the old bridge ?").unwrap(),
        expected
    );
}

#[test]
fn a_damaged_file_is_refused_or_found_by_its_checksum() {
    let model = Model::new(10, SMALL);
    model.open().verify().unwrap();
    let whole = std::fs::read(model.packed()).unwrap();
    let path = model.folder.path().join("other");
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&path, &bytes).unwrap();
        let found = SentenceEncoder::open(&path).and_then(|encoder| encoder.verify());
        assert!(matches!(found, Err(Error::Model { .. })), "byte {at}");
    }
}
