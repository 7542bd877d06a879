//! Golden tests of the classifiers of statements, against the float32 network that the adapter was fitted in.

use bower_core::model::{Classifier, Embedder, IDENTITY, SentenceEncoder, Statements};
use serde::Deserialize;

use crate::model::model_dir;

/// One line of `golden/statements.jsonl`: an input and its likelihoods in `PyTorch`, by float32 arithmetic. The inputs were
/// written for this test.
#[derive(Deserialize)]
struct Line {
    #[serde(flatten)]
    input: Input,
    likelihoods: Vec<f32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Input {
    Text(String),
    Pair(String, String),
    Piece(String, String, String, String),
}

/// The int8 arithmetic changes a likelihood by .006 on average and by at most .10, of 180 pairs.
const MOST_APART: f32 = 0.1;

#[test]
fn the_likelihoods_are_those_of_the_float_network() {
    let model = SentenceEncoder::open(&model_dir().join(format!("{IDENTITY}.packed"))).unwrap();
    let lines = include_str!("../golden/statements.jsonl").lines();
    let lines: Vec<Line> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 20);
    let mut apart = 0.0;
    for line in &lines {
        let (input, classifier) = match &line.input {
            Input::Text(text) => (Statements::Text(text), Classifier::Admission),
            Input::Pair(earlier, later) => (Statements::Pair { earlier, later }, Classifier::Relation),
            Input::Piece(role, before, piece, after) => {
                (Statements::Piece { role, before, piece, after }, Classifier::Piece)
            }
        };
        let found = model.classify(&input, &[classifier]).unwrap().unwrap().remove(0);
        assert_eq!(found.len(), line.likelihoods.len());
        assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let most =
            found.iter().zip(&line.likelihoods).map(|(one, two)| (one - two).abs()).fold(0.0, f32::max);
        assert!(most <= MOST_APART, "{input:?}: {found:?}, not {:?}", line.likelihoods);
        apart += most;
    }
    assert!(apart / (lines.len() as f32) < 0.02, "{apart} in all of {} inputs", lines.len());
}

/// All instruction sets and all calls give the same bits, whatever was classified before.
#[test]
fn the_same_input_has_the_same_likelihoods() {
    let model = SentenceEncoder::open(&model_dir().join(format!("{IDENTITY}.packed"))).unwrap();
    let pair =
        Statements::Pair { earlier: "The mill grinds on Mondays.", later: "On Mondays the mill is at work." };
    let first = model.classify(&pair, &[Classifier::Relation]).unwrap();
    model.embed("Something else in between, and longer than the pair was before it came here").unwrap();
    model.classify(&Statements::Text(""), &[Classifier::Admission, Classifier::Kind]).unwrap();
    assert_eq!(model.classify(&pair, &[Classifier::Relation]).unwrap(), first);
}
