//! Tests small random cross-encoders against an independent float64 forward pass.
//! That pass is written from the model's definition (Devlin et al. 2018) and shares no code with the encoder.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::testing::{Published, Random, SMALL, ids};
use std::path::PathBuf;

use super::*;

/// A published model in a folder, with its packed file.
struct Model {
    folder: tempfile::TempDir,
    published: Published,
}

impl Model {
    fn new(seed: u64, shape: EncoderShape, config: &Value) -> Self {
        let (folder, published) = (tempfile::tempdir().unwrap(), Published::new(seed, shape));
        published.write(folder.path(), config);
        Self { folder, published }
    }

    fn packed(&self) -> PathBuf {
        self.folder.path().join(CROSS_PACKED)
    }

    fn open(&self, isa: Isa) -> CrossEncoder {
        pack_cross("small", self.folder.path(), &self.packed()).unwrap();
        CrossEncoder::with_isa("small", &self.packed(), isa).unwrap()
    }

    fn refused(&self, expected: &str) {
        let error = pack_cross("small", self.folder.path(), &self.packed()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Model { .. }) && text.starts_with("model small: "), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(!self.packed().exists());
    }
}

/// Computes the logit by the definition, in float64.
fn slow(model: &Published, question: &[usize], text: &[usize]) -> f64 {
    // [CLS] is piece 2, [SEP] piece 3.
    let first = [2].into_iter().chain(question.iter().copied()).chain([3]).map(|id| (id, 0));
    let second = text.iter().copied().chain([3]).map(|id| (id, 1));
    let states = model.states(&first.chain(second).collect::<Vec<_>>());
    let pooled: Vec<f64> = model.dense("bert.pooler.dense", &states[0]).iter().map(|x| x.tanh()).collect();
    model.dense("classifier", &pooled)[0]
}

/// Spearman's rank correlation.
fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|x| values.iter().filter(|y| *y < x).count() as f64).collect()
    };
    let n = one.len() as f64;
    let squares: f64 = ranks(one).iter().zip(ranks(other)).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

/// Tests every size of head, odd lengths and both kinds of widths. A random model amplifies small differences more than
/// a trained one: with measured spreads the errors are .04 to .11 of the logits' deviation.
#[test]
fn relevances_agree_with_float64_for_every_shape() {
    let shapes = [
        SMALL,
        EncoderShape { heads: 2, epsilon: 1e-5, ..SMALL },
        EncoderShape { hidden: 128, heads: 2, inner: 192, layers: 3, ..SMALL },
    ];
    let (mut said, mut agree) = (String::new(), true);
    for (seed, shape) in (1..).zip(shapes) {
        let model = Model::new(seed, shape, &Value::Null);
        let cross = model.open(Isa::best());
        let mut random = Random(seed);
        let (mut ours, mut golden) = (Vec::new(), Vec::new());
        for pair in 0..40 {
            let (question, text) = (random.words(1 + pair % 9), random.words(1 + pair % 23));
            ours.push(f64::from(cross.relevance(&question, &text).unwrap().logit));
            golden.push(slow(&model.published, &ids(&question), &ids(&text)));
        }
        let count = golden.len() as f64;
        let mean = golden.iter().sum::<f64>() / count;
        let spread = (golden.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        let error =
            (ours.iter().zip(&golden).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / count).sqrt() / spread;
        let order = spearman(&ours, &golden);
        writeln!(said, "{shape:?}: error {error:.4} of the deviation {spread:.3}, order {order:.4}").unwrap();
        agree &= error < 0.12 && order > 0.95;
    }
    assert!(agree, "{said}");
}

#[test]
fn every_instruction_set_gives_the_same_relevance_again_and_again() {
    let model = Model::new(5, SMALL, &Value::Null);
    let cross = model.open(Isa::Plain);
    let (long, short) = (Random(9).words(90), "where is the old bridge ?");
    let expected = [cross.relevance(short, &long).unwrap(), cross.relevance(&long, short).unwrap()];
    assert_ne!(expected[0], expected[1]);
    for isa in Isa::available() {
        let cross = model.open(isa);
        for _ in 0..2 {
            assert_eq!(cross.relevance(short, &long).unwrap(), expected[0], "{isa:?}");
            assert_eq!(cross.relevance(&long, short).unwrap(), expected[1], "{isa:?}");
        }
    }
}

#[test]
fn a_long_text_loses_its_end_and_a_question_keeps_at_most_half() {
    let model = Model::new(6, EncoderShape { positions: 27, ..SMALL }, &Value::Null);
    let cross = model.open(Isa::best());
    assert_eq!(cross.most_tokens(), 27);
    let logit = |question: &str, text: &str| cross.relevance(question, text).unwrap().logit;
    let words = Random(3).words(60);
    let first = |count: usize| words.split(' ').take(count).collect::<Vec<_>>().join(" ");
    // 24 pieces are left: 4 for the question, 20 for the text.
    assert_eq!(logit(&first(4), &words).to_bits(), logit(&first(4), &first(20)).to_bits());
    assert_ne!(logit(&first(4), &words).to_bits(), logit(&first(4), &first(19)).to_bits());
    // A question of 60 pieces keeps 12, whatever the text.
    assert_eq!(logit(&words, &words).to_bits(), logit(&first(12), &first(12)).to_bits());
    assert_eq!(logit(&words, "river").to_bits(), logit(&first(12), "river").to_bits());
    assert!(logit("", "").is_finite());
    let expected = logit(&first(3), &first(10));
    let cross = cross.reading_at_most(16);
    assert_eq!(cross.relevance(&first(3), &words).unwrap().logit.to_bits(), expected.to_bits());
    assert_eq!(cross.reading_at_most(9_000).most_tokens(), 27);
}

#[test]
fn the_configuration_says_what_a_score_is() {
    let identity = Model::new(7, SMALL, &Value::Null).open(Isa::best());
    let found = identity.relevance("who built the bridge", "a bridge").unwrap();
    assert!(!identity.is_probability());
    assert_eq!(found.score.to_bits(), found.logit.to_bits());
    let key = "sbert_ce_default_activation_function";
    for config in [
        json!({ key: null }),
        json!({ key: "torch.nn.modules.activation.Sigmoid" }),
        json!({ "sentence_transformers": { "activation_fn": "torch.nn.modules.activation.Sigmoid" } }),
    ] {
        let sigmoid = Model::new(7, SMALL, &config).open(Isa::best());
        assert!(sigmoid.is_probability());
        let score = sigmoid.relevance("who built the bridge", "a bridge").unwrap();
        assert_eq!(score.logit.to_bits(), found.logit.to_bits());
        let expected = 1.0 / (1.0 + (-f64::from(found.logit)).exp());
        assert!((f64::from(score.score) - expected).abs() < 1e-6, "{score:?}");
    }
}

#[test]
fn what_is_not_such_a_model_is_refused_by_name() {
    let check = |shape: EncoderShape, config: &Value, expected: &str| {
        Model::new(8, shape, config).refused(expected);
    };
    let none = Value::Null;
    check(
        EncoderShape { inner: 100, ..SMALL },
        &none,
        "config.json: intermediate_size is 100; it must be a multiple of 64",
    );
    check(EncoderShape { heads: 8, ..SMALL }, &none, "a head must have 16, 32 or 64 numbers");
    check(SMALL, &json!({ "model_type": "roberta" }), "model_type is roberta, not bert");
    check(SMALL, &json!({ "hidden_act": "gelu_new" }), "hidden_act is gelu_new, not gelu");
    check(SMALL, &json!({ "position_embedding_type": "relative_key" }), "relative_key, not absolute");
    check(SMALL, &json!({ "architectures": ["BertModel"] }), "without BertForSequenceClassification");
    check(SMALL, &json!({ "hidden_size": "wide" }), "config.json does not describe a BERT");
    check(SMALL, &json!({ "num_hidden_layers": 3 }), "tensor bert.encoder.layer.2");
    let key = "sbert_ce_default_activation_function";
    check(SMALL, &json!({ key: "torch.nn.modules.activation.ReLU" }), "activation ReLU is neither");

    let model = Model::new(8, SMALL, &none);
    std::fs::write(model.folder.path().join("vocab.txt"), format!("{}The\n", testing::vocabulary())).unwrap();
    model.refused("vocab.txt has the piece \"The\"; only uncased");
    let mut two = Model::new(8, SMALL, &none);
    two.published.tensors.insert("classifier.bias".into(), (vec![2], vec![0.0; 2]));
    two.published.tensors.insert("classifier.weight".into(), (vec![2, 64], vec![0.0; 128]));
    two.published.write(two.folder.path(), &none);
    two.refused("tensor classifier.weight is [2, 64], not [1, 64]");
    std::fs::remove_file(two.folder.path().join("vocab.txt")).unwrap();
    let error = pack_cross("small", two.folder.path(), &two.packed()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn half_floats_and_names_without_the_prefix_are_read_too() {
    use safetensors::tensor::{Dtype, TensorView, serialize_to_file};
    let model = Model::new(4, SMALL, &Value::Null);
    let halves: Vec<_> = model
        .published
        .tensors
        .iter()
        .map(|(name, (shape, numbers))| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect();
            (name.strip_prefix("bert.").unwrap_or(name).to_owned(), shape.clone(), bytes)
        })
        .collect();
    let logit = |cross: CrossEncoder| cross.relevance("where is the river", "under a stone bridge").unwrap();
    let expected = logit(model.open(Isa::best())).logit;
    let views = halves.iter().map(|(name, shape, bytes)| {
        (name.clone(), TensorView::new(Dtype::F16, shape.clone(), bytes).unwrap())
    });
    serialize_to_file(views, None, &model.folder.path().join("model.safetensors")).unwrap();
    let got = logit(model.open(Isa::best())).logit;
    assert!((got - expected).abs() < 0.05 * expected.abs().max(1.0), "{got}, not {expected}");
}

#[test]
fn a_packed_file_keeps_its_sources_and_is_refused_when_damaged() {
    let model = Model::new(2, SMALL, &Value::Null);
    let cross = model.open(Isa::best());
    cross.verify().unwrap();
    let names: Vec<_> = cross.sources().sha256.keys().map(String::as_str).collect();
    assert_eq!(names, ["config.json", "model.safetensors", "vocab.txt"]);
    // printf of the vocabulary | sha256sum, by another program.
    assert_eq!(
        cross.sources().sha256["vocab.txt"],
        "49334bdd261d21b5535516d16c57e02cf0ee02784062e91b83468af884c49a0f"
    );
    let whole = std::fs::read(model.packed()).unwrap();
    let path = model.folder.path().join("other");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        CrossEncoder::open("small", &path)
    };
    let about = |mut shape: EncoderShape, layers: usize| {
        shape.layers = layers;
        let sources = CrossSources { sha256: BTreeMap::new() };
        serde_json::to_vec(&About { shape, activation: Activation::Sigmoid, sources }).unwrap()
    };
    let nothing = vec![vec![0; 4]; SMALL.sections() + AFTER - 1];
    let files = [
        whole[..whole.len() - 1].to_vec(),
        b"short".to_vec(),
        layout::write("all-MiniLM-L6-v2.i8-2", &[vec![1]]),
        layout::write(CROSS_ARITHMETIC, &[]),
        layout::write(CROSS_ARITHMETIC, &[b"{}".to_vec()]),
        layout::write(CROSS_ARITHMETIC, &[nothing.clone(), vec![about(SMALL, 1)]].concat()),
        layout::write(CROSS_ARITHMETIC, &[nothing, vec![about(SMALL, 2)]].concat()),
    ];
    for (index, bytes) in files.iter().enumerate() {
        let error = open(bytes).err().unwrap_or_else(|| panic!("file {index} was taken"));
        let text = error.to_string();
        assert!(matches!(error, Error::Model { .. }) && text.starts_with("model small: "), "{text}");
    }
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(open(&changed).is_err() || open(&changed).unwrap().verify().is_err());
    let mut changed = whole;
    changed[100_000] ^= 1;
    assert!(open(&changed).unwrap().verify().is_err());
}
