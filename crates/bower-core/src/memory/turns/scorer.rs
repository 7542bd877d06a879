//! Scores how likely somebody would keep a sentence, by a logistic regression over its features.
//! Each voice has weights of its own. It needs no model; the same sentence has the same score everywhere.

use std::sync::LazyLock;

use super::Voice;
use super::signs::NAMES;

/// The weights; `tools/fit_turns.py` wrote them and says what they were fitted to.
const FITTED: &str = include_str!("scorer.tsv");

/// The weights for one voice.
#[derive(Debug, Default, PartialEq)]
struct Weights {
    /// From this probability on a sentence is kept.
    bar: f32,
    /// For a sentence without signs.
    base: f32,
    /// For each sign.
    signs: Vec<f32>,
}

static WEIGHTS: LazyLock<[Weights; 2]> =
    LazyLock::new(|| parse(FITTED).expect("the weights are for the signs"));

fn weights(voice: Voice) -> &'static Weights {
    match voice {
        Voice::User => &WEIGHTS[0],
        Voice::Assistant => &WEIGHTS[1],
    }
}

/// Probability that a sentence with these signs is worth keeping.
pub(super) fn score(voice: Voice, signs: &[f32]) -> f32 {
    let weights = weights(voice);
    let sum = weights.base + weights.signs.iter().zip(signs).map(|(weight, sign)| weight * sign).sum::<f32>();
    1.0 / (1.0 + (-sum).exp())
}

/// The probability from which on a sentence is kept.
pub(super) fn bar(voice: Voice) -> f32 {
    weights(voice).bar
}

/// Reads the weights of both voices, a line a sign; none where they are of other signs, or in another order.
fn parse(text: &str) -> Option<[Weights; 2]> {
    let mut all = [Weights::default(), Weights::default()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let name = cells.next()?;
        for weights in &mut all {
            let number = cells.next()?.parse().ok()?;
            match name {
                "(bar)" => weights.bar = number,
                "(base)" => weights.base = number,
                name if NAMES.get(weights.signs.len())? == name => weights.signs.push(number),
                _ => return None,
            }
        }
    }
    let is_whole = all.iter().all(|weights| weights.signs.len() == NAMES.len() && weights.bar > 0.0);
    is_whole.then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_other_signs_are_refused() {
        assert!(parse(FITTED).is_some());
        let first = format!("\n{}\t", NAMES[0]);
        assert!(parse(&FITTED.replace(&first, "\nanother\t")).is_none());
        assert!(parse(&FITTED.replace("(bar)", "(bars)")).is_none());
        let short: Vec<&str> = FITTED.lines().take(FITTED.lines().count() - 1).collect();
        assert!(parse(&short.join("\n")).is_none());
        assert!(parse("").is_none());
    }

    #[test]
    fn a_score_is_the_logistic_of_what_is_seen() {
        let mut signs = vec![0.0; NAMES.len()];
        let base = score(Voice::User, &signs);
        assert!((base - 1.0 / (1.0 + (-WEIGHTS[0].base).exp())).abs() < 1e-6);
        signs[0] = 1.0;
        let told = score(Voice::User, &signs);
        assert_eq!(told > base, WEIGHTS[0].signs[0] > 0.0);
    }
}
