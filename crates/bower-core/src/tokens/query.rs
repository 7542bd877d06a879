//! A question's tokens: how they score a row's codes, and how the store's cache encodes them.
//! Any bytes are read or refused.

use bower_kernels::Isa;
use bower_kernels::scan::maxsim::{MaxSimQuery, MaxSimToken, maxsim};

use super::segment::DIMENSION;

/// Most tokens of a question that are compared, because the time for a document grows with every sixteen. A longer
/// question keeps those of the greatest weight, in its own order. (400 candidates of 100 tokens take .12 ms for each
/// sixteen.)
pub const MOST_TOKENS: usize = 128;

/// Bytes of a token: its numbers, its step, its weight.
const TOKEN: usize = DIMENSION + 8;

/// A prepared question.
#[derive(Clone, Debug)]
pub struct TokenQuery {
    query: MaxSimQuery,
    isa: Isa,
    /// Number of tokens, including those that are too many to compare.
    count: usize,
}

impl TokenQuery {
    /// Prepares a question's tokens.
    pub fn new(tokens: &[MaxSimToken]) -> Self {
        let query = if tokens.len() > MOST_TOKENS {
            let mut order: Vec<usize> = (0..tokens.len()).collect();
            order.sort_by(|a, b| tokens[*b].weight.total_cmp(&tokens[*a].weight).then(a.cmp(b)));
            order.truncate(MOST_TOKENS);
            order.sort_unstable();
            let kept: Vec<MaxSimToken> = order.into_iter().map(|at| tokens[at]).collect();
            MaxSimQuery::new(&kept)
        } else {
            MaxSimQuery::new(tokens)
        };
        Self { query, isa: Isa::best(), count: tokens.len() }
    }

    /// Returns the question's number of tokens: word pieces without punctuation.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Scores documents by their tokens' codes.
    pub fn score(&self, documents: &[&[u64]]) -> Vec<f32> {
        let mut scores = vec![0.0; documents.len()];
        maxsim(self.isa, &self.query, documents, &mut scores);
        scores
    }
}

/// Encodes a question's tokens: 72 bytes per token.
pub fn to_bytes(tokens: &[MaxSimToken]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(tokens.len() * TOKEN);
    for token in tokens {
        bytes.extend(token.values.iter().map(|value| value.cast_unsigned()));
        bytes.extend(token.step.to_le_bytes());
        bytes.extend(token.weight.to_le_bytes());
    }
    bytes
}

/// Decodes tokens; `None` if the bytes are no output of [`to_bytes`].
pub fn from_bytes(bytes: &[u8]) -> Option<Vec<MaxSimToken>> {
    let (tokens, []) = bytes.as_chunks::<TOKEN>() else { return None };
    let number = |bytes: &[u8]| Some(f32::from_le_bytes(bytes.try_into().ok()?));
    tokens
        .iter()
        .map(|token| {
            let values = std::array::from_fn(|at| token[at].cast_signed());
            let (step, weight) =
                (number(&token[DIMENSION..DIMENSION + 4])?, number(&token[DIMENSION + 4..])?);
            let sound = step.is_finite() && weight.is_finite() && weight >= 0.0;
            sound.then_some(MaxSimToken { values, step, weight })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token(value: i8, weight: f32) -> MaxSimToken {
        MaxSimToken { values: [value; DIMENSION], step: 0.5, weight }
    }

    #[test]
    fn a_long_question_keeps_what_weighs_most() {
        // 200 tokens that do not match and have a low weight, MOST_TOKENS that match: the mean is over those alone.
        let mut tokens = vec![token(-1, 0.1); 100];
        tokens.extend(vec![token(2, 1.0); MOST_TOKENS]);
        tokens.extend(vec![token(-1, 0.1); 100]);
        // 64 x 2 x .5
        assert_eq!(TokenQuery::new(&tokens).score(&[&[u64::MAX], &[]]), vec![64.0, 0.0]);
    }

    #[test]
    fn tokens_come_back_from_their_bytes() {
        let mut odd = token(3, 2.5);
        (odd.values[0], odd.values[63]) = (-127, 127);
        let tokens = [token(-1, 0.0), odd];
        let bytes = to_bytes(&tokens);
        assert_eq!((bytes.len(), bytes[72], bytes[135]), (144, 129, 127));
        assert_eq!(from_bytes(&bytes).unwrap(), tokens);
        assert_eq!(from_bytes(&[]).unwrap(), []);
        assert_eq!(from_bytes(&bytes[..143]), None);
        assert_eq!(from_bytes(&to_bytes(&[token(1, f32::NAN)])), None);
        assert_eq!(from_bytes(&to_bytes(&[token(1, -1.0)])), None);
    }

    proptest! {
        /// Any bytes in the cache are read or refused, and tokens that are read can be compared.
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..720)) {
            if let Some(tokens) = from_bytes(&bytes) {
                prop_assert_eq!(to_bytes(&tokens), bytes);
                TokenQuery::new(&tokens).score(&[&[1, 2, 3]]);
            }
        }
    }
}
