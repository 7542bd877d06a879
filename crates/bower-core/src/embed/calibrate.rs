//! Finds the inputs of a model's matrix products that take large values, by running the model over sample texts.
//! Known models have a table of these inputs ([`super::spread`]); for all others they are measured here. The same files
//! always give the same result.
//!
//! Measured on MiniLM itself as cosine to float64 over the 95 golden texts of at most 100 pieces, mean and least: .9993
//! and .9981 with its table, .9993 and .9977 with this, .9983 and .9930 with neither. By the gains and shifts of the
//! layer norms alone they are .9985 and .9932.

use std::collections::BTreeMap;

use bower_kernels::Isa;

use super::bert::{Encoder, EncoderShape, PRODUCTS, Scratch, Second, Wanted};
use super::layout::PackedLayout;
use crate::error::Result;

/// For a layer and a product, the inputs that get further bytes, each listed once per further byte.
#[derive(Debug, Default)]
pub(super) struct Spreads {
    inputs: BTreeMap<(usize, usize), Vec<u16>>,
}

/// Number of largest values of an input that are kept; their mean measures how large it gets.
const KEPT: usize = 8;
/// Number of inputs per further byte.
const INPUTS_A_BYTE: usize = 16;
/// Number of pairs of texts from pieces spread over the vocabulary, and the pieces of one such text.
const DRAWN_PAIRS: usize = 6;
const DRAWN_PIECES: usize = 20;

/// Texts that are read as pairs, each with the next: everyday text, code, numbers, a name. Written for this purpose.
const TEXTS: [&str; 12] = [
    "How do I restore a backup on another machine?",
    "Copy the folder, start the service and run the check command; it prints every table that differs from the archive.",
    "Who decided that retries stop after five minutes?",
    "On 14 March 2023 Maria said the queue should give up after 300 seconds, because customers had complained about duplicates.",
    "def parse(line: str) -> dict[str, int]: return {k: int(v) for k, v in (p.split('=') for p in line.split(','))}",
    "function that turns a comma separated string of pairs into a dictionary",
    "The river rose two metres in one night and took the old wooden bridge with it.",
    "What happened to the bridge?",
    "Error 0x80070005: access denied (os error 13) at /var/lib/app/index.db",
    "Vitamin D supplementation did not reduce the incidence of fractures in a randomised trial of 25,871 adults.",
    "yes",
    "Berlin, Paris; Rome & Athens!",
];

impl Spreads {
    /// Runs a packed file without further bytes, and assigns them to the inputs where they help most. It is greedy: the
    /// next byte goes to the input whose largest values, divided by its bytes so far, are the largest. Attention's
    /// output gets none.
    pub(super) fn measure(file: &[u8], shape: EncoderShape, second: &[f32]) -> Result<Self> {
        let layout = PackedLayout::read(file)?;
        let encoder = Encoder::read(file, &layout, shape)?;
        let mut largest: BTreeMap<(usize, usize), Vec<[f32; KEPT]>> = BTreeMap::new();
        let mut scratch = Scratch::default();
        for (first, text) in texts(&encoder, shape.positions) {
            scratch.ids.clear();
            scratch.ids.push(encoder.words.first());
            scratch.ids.extend(first);
            scratch.ids.push(encoder.words.last());
            let start = scratch.ids.len();
            scratch.ids.extend(text);
            scratch.ids.push(encoder.words.last());
            let second = Second { tokens: start..scratch.ids.len(), shift: second };
            encoder.forward_seen(
                Isa::best(),
                Wanted::All,
                Some(second),
                &mut scratch,
                &mut |layer, product, rows, width| {
                    let kept = largest.entry((layer, product)).or_insert_with(|| vec![[0.0; KEPT]; width]);
                    for row in rows.chunks_exact(width) {
                        row.iter().zip(kept.iter_mut()).for_each(|(x, kept)| keep(x.abs(), kept));
                    }
                },
            );
        }
        let spread = |((layer, product), kept): ((usize, usize), Vec<[f32; KEPT]>)| {
            let sizes = kept.iter().map(|kept| kept.iter().sum::<f32>()).collect::<Vec<_>>();
            ((layer, product), if product == GATHER { Vec::new() } else { greedy(&sizes) })
        };
        Ok(Self { inputs: largest.into_iter().map(spread).collect() })
    }

    /// Returns the inputs of one product.
    pub(super) fn of(&self, layer: usize, product: usize) -> Vec<u16> {
        self.inputs.get(&(layer, product)).cloned().unwrap_or_default()
    }
}

/// The index of attention's output among the products of a layer. Its inputs are means, so none of them is much larger.
const GATHER: usize = 1;
const _: () = assert!(GATHER < PRODUCTS);

/// Returns pairs of texts, each short enough for the model.
fn texts(encoder: &Encoder<'_>, positions: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
    let encode = |text: &str| {
        let mut ids = Vec::new();
        encoder.words.encode(text, &mut ids);
        ids
    };
    let pieces = encoder.words.pieces();
    // The first pieces of a vocabulary are controls and placeholders that occur in no text.
    let drawn = |text: usize| -> Vec<u32> {
        let all = 2 * DRAWN_PAIRS * DRAWN_PIECES;
        let place = |index: usize| pieces / 4 + (text * DRAWN_PIECES + index) * (pieces - pieces / 4) / all;
        (0..DRAWN_PIECES).map(|index| place(index) as u32).collect()
    };
    let written = TEXTS.iter().zip(TEXTS[1..].iter().chain(&TEXTS[..1])).map(|(a, b)| (encode(a), encode(b)));
    let drawn = (0..DRAWN_PAIRS).map(|pair| (drawn(2 * pair), drawn(2 * pair + 1)));
    let room = (positions - 3) / 2;
    let cut = |(mut first, mut second): (Vec<u32>, Vec<u32>)| {
        first.truncate(room);
        second.truncate(room);
        (first, second)
    };
    written.chain(drawn).map(cut).collect()
}

/// Inserts a value among the largest ones, which are sorted, the least last.
fn keep(value: f32, kept: &mut [f32; KEPT]) {
    if value > kept[KEPT - 1] {
        let place = kept.partition_point(|x| *x >= value);
        kept[place..].rotate_right(1);
        kept[place] = value;
    }
}

/// Assigns each byte to the input with the largest value per byte; of equals, to the first.
fn greedy(sizes: &[f32]) -> Vec<u16> {
    let mut bytes = vec![1.0; sizes.len()];
    // A multiple of 4, as the products require.
    let count = (sizes.len() / INPUTS_A_BYTE).next_multiple_of(4);
    let mut spread = Vec::with_capacity(count);
    for _ in 0..count {
        let share = |input: &usize| sizes[*input] / bytes[*input];
        let largest = (0..sizes.len()).max_by(|a, b| share(a).total_cmp(&share(b)).then(b.cmp(a)));
        let largest = largest.expect("a product has inputs");
        bytes[largest] += 1.0;
        spread.push(largest as u16);
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_where_the_largest_share_is() {
        let mut sizes = vec![1.0; 64];
        (sizes[5], sizes[9]) = (10.0, 4.9);
        // By hand: 10 -> 5 -> 10/3 after 4.9 -> 10/4.
        assert_eq!(greedy(&sizes), [5, 5, 9, 5]);
        assert_eq!(greedy(&[0.0; 64]), [0, 0, 0, 0]);
    }

    #[test]
    fn the_largest_values_are_kept_in_order() {
        let mut kept = [0.0; KEPT];
        for value in [3.0, 1.0, 2.0, 9.0, 2.0, 8.0, 7.0, 6.0, 5.0, 4.0] {
            keep(value, &mut kept);
        }
        assert_eq!(kept.map(|x| x as u8), [9, 8, 7, 6, 5, 4, 3, 2]);
    }
}
