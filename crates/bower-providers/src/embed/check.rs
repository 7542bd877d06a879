//! Checks the vectors of an answer, orders them, cuts those of matryoshka models, and normalises them.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::failure::FailureKind;

/// One number of a vector. `null`, which llama.cpp writes for NaN, is read as NaN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub f32);

/// A vector with its place in the request, if the answer names it.
#[derive(Deserialize)]
pub(super) struct Indexed {
    #[serde(default)]
    pub index: Option<usize>,
    pub embedding: Vec<Number>,
}

/// The reason why there is no vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    pub kind: FailureKind,
    pub detail: String,
}

/// The vector of one text, or why it has none.
pub(crate) type Item = Result<Vec<f32>, Bad>;

/// What is expected of a vector.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// The length that was asked for or learned. `None` accepts any.
    pub dimension: Option<usize>,
    /// Whether a longer vector may be cut.
    pub matryoshka: bool,
}

impl Bad {
    pub fn vectors(detail: impl Into<String>) -> Self {
        Self { kind: FailureKind::BadVectors, detail: detail.into() }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value as f32))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f32))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f32))
            }

            fn visit_unit<E: Error>(self) -> Result<Number, E> {
                Ok(Number(f32::NAN))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Reads an answer's body.
pub(crate) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Bad> {
    serde_json::from_slice(body).map_err(|cause| {
        // Python's JSON has NaN and Infinity as words.
        let has = |word: &[u8]| body.windows(word.len()).any(|part| part == word);
        if body.first() == Some(&b'{') && (has(b"NaN") || has(b"Infinity")) {
            return Bad::vectors("a number of a vector is NaN or infinite");
        }
        let beginning: String = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        Bad { kind: FailureKind::NotJson, detail: format!("{cause}; it begins with {beginning:?}") }
    })
}

/// Orders vectors by their index. Vectors without any are in order.
pub(super) fn order(vectors: Vec<Indexed>, count: usize) -> Result<Vec<Vec<Number>>, Bad> {
    if vectors.len() != count {
        return Err(Bad::vectors(format!("{count} texts were sent, {} vectors came back", vectors.len())));
    }
    if vectors.iter().all(|vector| vector.index.is_none()) {
        return Ok(vectors.into_iter().map(|vector| vector.embedding).collect());
    }
    let mut ordered: Vec<Option<Vec<Number>>> = (0..count).map(|_| None).collect();
    for vector in vectors {
        let index = vector.index.ok_or_else(|| Bad::vectors("a vector has no index, others have one"))?;
        let place =
            ordered.get_mut(index).ok_or_else(|| Bad::vectors(format!("there is no text {index}")))?;
        if place.replace(vector.embedding).is_some() {
            return Err(Bad::vectors(format!("index {index} is repeated")));
        }
    }
    // As many as texts, none repeated and none beyond the end: all places are taken.
    Ok(ordered.into_iter().flatten().collect())
}

/// Checks vectors that are in order, without an index.
pub(super) fn count(vectors: Vec<Vec<Number>>, count: usize) -> Result<Vec<Vec<Number>>, Bad> {
    if vectors.len() == count {
        return Ok(vectors);
    }
    Err(Bad::vectors(format!("{count} texts were sent, {} vectors came back", vectors.len())))
}

/// Returns a vector of the expected length at unit length.
pub(super) fn finish(vector: &[Number], shape: Shape) -> Item {
    let wanted = shape.dimension.unwrap_or(vector.len());
    let cut = wanted < vector.len() && shape.matryoshka;
    if wanted == 0 || (wanted != vector.len() && !cut) {
        return Err(Bad::vectors(format!(
            "a vector of {wanted} numbers was expected, one of {} came back",
            vector.len()
        )));
    }
    normalise(vector[..wanted].iter().map(|number| number.0).collect())
}

/// Returns the vector at unit length.
pub(crate) fn normalise(mut vector: Vec<f32>) -> Item {
    if !vector.iter().all(|number| number.is_finite()) {
        return Err(Bad::vectors("a number of a vector is NaN or infinite"));
    }
    let norm = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if norm <= f64::from(f32::MIN_POSITIVE) {
        return Err(Bad::vectors("a vector has length 0"));
    }
    for number in &mut vector {
        *number = (f64::from(*number) / norm) as f32;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(index: Option<usize>, first: f32) -> Indexed {
        Indexed { index, embedding: vec![Number(first)] }
    }

    #[test]
    fn vectors_are_in_the_order_of_their_index() {
        let check = |indices: &[Option<usize>], count: usize, expected: Result<&[f32], &str>| {
            let vectors = indices.iter().zip(0_u8..).map(|(index, first)| indexed(*index, first.into()));
            let got = order(vectors.collect(), count);
            let got = got.map(|vectors| vectors.iter().map(|vector| vector[0].0).collect::<Vec<_>>());
            assert_eq!(got, expected.map(<[f32]>::to_vec).map_err(Bad::vectors), "{indices:?}");
        };
        check(&[Some(0), Some(1)], 2, Ok(&[0.0, 1.0]));
        check(&[Some(2), Some(0), Some(1)], 3, Ok(&[1.0, 2.0, 0.0]));
        check(&[None, None], 2, Ok(&[0.0, 1.0]));
        check(&[Some(0), Some(0)], 2, Err("index 0 is repeated"));
        check(&[Some(0), Some(2)], 2, Err("there is no text 2"));
        check(&[Some(0), None], 2, Err("a vector has no index, others have one"));
        check(&[Some(0)], 2, Err("2 texts were sent, 1 vectors came back"));
        check(&[Some(0), Some(1)], 1, Err("1 texts were sent, 2 vectors came back"));
    }

    #[test]
    fn vectors_are_of_unit_length_and_are_cut_only_if_that_is_known_to_be_right() {
        let check =
            |numbers: &[f32], dimension: Option<usize>, matryoshka: bool, expected: Result<&[f32], &str>| {
                let numbers: Vec<Number> = numbers.iter().map(|number| Number(*number)).collect();
                let got = finish(&numbers, Shape { dimension, matryoshka });
                assert_eq!(got, expected.map(<[f32]>::to_vec).map_err(Bad::vectors));
            };
        check(&[3.0, 4.0], None, false, Ok(&[0.6, 0.8]));
        check(&[3.0, 4.0, 9.0], Some(2), true, Ok(&[0.6, 0.8]));
        check(
            &[3.0, 4.0, 9.0],
            Some(2),
            false,
            Err("a vector of 2 numbers was expected, one of 3 came back"),
        );
        check(&[3.0], Some(2), true, Err("a vector of 2 numbers was expected, one of 1 came back"));
        check(&[0.0, 0.0], None, false, Err("a vector has length 0"));
        check(&[0.0, 0.0, 1.0], Some(2), true, Err("a vector has length 0"));
        check(&[f32::NAN, 1.0], None, false, Err("a number of a vector is NaN or infinite"));
        check(&[f32::INFINITY], None, false, Err("a number of a vector is NaN or infinite"));
        check(&[], None, false, Err("a vector of 0 numbers was expected, one of 0 came back"));
        // Numbers whose squares overflow or vanish in 32 bits.
        check(&[1e30, 0.0], None, false, Ok(&[1.0, 0.0]));
        check(&[1e-30, 0.0], None, false, Ok(&[1.0, 0.0]));
    }

    #[test]
    fn nan_has_many_spellings() {
        let numbers: Vec<Number> = read(b"[1, -2, 0.5, null, 1e999]").unwrap_or_default();
        assert!(numbers.is_empty() || numbers[3].0.is_nan());
        let numbers: Vec<Number> = read(b"[1, -2, 0.5, null]").unwrap();
        assert!(numbers[3].0.is_nan() && numbers[1].0 <= -2.0);
        let kind = |body: &str| read::<Vec<Number>>(body.as_bytes()).unwrap_err().kind;
        assert_eq!(kind("{\"a\": [NaN]}"), FailureKind::BadVectors);
        assert_eq!(kind("<html>NaN</html>"), FailureKind::NotJson);
        assert_eq!(kind("[1, 2"), FailureKind::NotJson);
    }
}
