//! A BERT encoder in int8: its sections in a packed model file and its forward pass.
//! It may have any shape that the kernels support. The same tokens give the same bits on every machine.

use std::ops::Range;
use std::path::Path;

use bower_kernels::Isa;
use bower_kernels::attention::{AttentionScratch, HEAD_SIZES, Heads, attention};
use bower_kernels::floats::{Quantized, layer_norm, quantize};
use bower_kernels::gemm::{Then, Weights, multiply};
use bytemuck::AnyBitPattern;
use serde::{Deserialize, Serialize};

use super::layout::{PackedLayout, damaged};
use super::tokenizer::Tokenizer;
use crate::error::{Error, Result};

/// Sections before the first layer: vocabulary, words, positions, gain and shift of the first layer norm.
pub(super) const SECTIONS_FIRST: usize = 5;
/// Sections of one product: values, scales, sums, bias, shares, spread.
pub(super) const SECTIONS_PRODUCT: usize = 6;
/// Products of one layer: queries, keys and values joined; attention's output; inner; outer.
pub(super) const PRODUCTS: usize = 4;
/// Sections of one layer: its products, then gain and shift of its two layer norms.
pub(super) const SECTIONS_LAYER: usize = PRODUCTS * SECTIONS_PRODUCT + 4;

/// Number of outputs that a product computes at a time.
const TILE: usize = 64;
/// Most inputs of a product: with as many further bytes, its sums stay within 32 bits.
const WIDEST: usize = 1 << 15;
/// Bytes of the step after a word's numbers.
const STEP_BYTES: usize = 4;
/// Rank of an adapter's terms: the outputs that a product computes at a time.
pub(super) const RANK: usize = TILE;
/// Terms of one adapted layer, beside its products: queries, keys and values joined; attention's output; outer.
pub(super) const TERMS: usize = 3;

/// The sizes of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EncoderShape {
    /// Numbers of a token.
    pub(super) hidden: usize,
    /// Numbers of a token inside the feed-forward part.
    pub(super) inner: usize,
    /// Layers of the transformer.
    pub(super) layers: usize,
    /// Attention heads of a layer.
    pub(super) heads: usize,
    /// Positions that the model has learned.
    pub(super) positions: usize,
    /// Constant that a layer norm adds to the variance.
    pub(super) epsilon: f32,
}

impl EncoderShape {
    /// Returns an error for a size that the kernels do not support, in words that follow "model NAME: ".
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { hidden, inner, layers, heads, positions, epsilon } = *self;
        for (size, what) in [(hidden, "hidden_size"), (inner, "intermediate_size")] {
            if size == 0 || !size.is_multiple_of(TILE) || size > WIDEST {
                return Err(format!("{what} is {size}; it must be a multiple of {TILE}, {WIDEST} at most"));
            }
        }
        if heads == 0 || !hidden.is_multiple_of(heads) || !HEAD_SIZES.contains(&(hidden / heads)) {
            return Err(format!(
                "num_attention_heads is {heads} for hidden_size {hidden}; a head must have 16, 32 or 64 numbers"
            ));
        }
        if !(1..=96).contains(&layers) {
            return Err(format!("num_hidden_layers is {layers}; it must be 1 to 96"));
        }
        if !(8..=1 << 16).contains(&positions) {
            return Err(format!("max_position_embeddings is {positions}; it must be 8 to 65536"));
        }
        if !(epsilon > 0.0 && epsilon < 0.1) {
            return Err(format!("layer_norm_eps is {epsilon}; it must be above 0 and below 0.1"));
        }
        Ok(())
    }

    /// Returns the bytes of a word's row: its numbers as signed bytes, then the value of one step as float32.
    pub(super) fn word_row(&self) -> usize {
        self.hidden + STEP_BYTES
    }

    /// Returns the number of sections of the encoder; any other sections of a model follow them.
    pub(super) fn sections(&self) -> usize {
        SECTIONS_FIRST + self.layers * SECTIONS_LAYER
    }

    fn attention_heads(&self) -> Heads {
        Heads { count: self.heads, size: self.hidden / self.heads }
    }
}

/// Buffers of one call, reused by later ones.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For the caller's tokenizer.
    pub(super) pieces: Vec<u32>,
    /// The input of the pass: at most as many tokens as there are positions.
    pub(super) ids: Vec<u32>,
    /// The output of the pass: the last layer's states.
    pub(super) states: Vec<f32>,
    pub(super) quantized: Quantized,
    joined: Vec<f32>,
    context: Vec<f32>,
    inner: Vec<f32>,
    low: Vec<f32>,
    low_quantized: Quantized,
    attention: AttentionScratch,
}

/// The states of the last layer that the caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The states of every token.
    All,
    /// The state of the first token, `[CLS]`. The last layer computes the others only as far as this one depends on them.
    First,
}

/// The place of the second of two texts, and how its tokens differ from those of the first.
#[derive(Clone, Debug)]
pub(super) struct Second<'a> {
    /// Its tokens.
    pub(super) tokens: Range<usize>,
    /// Added to the embedding of each of its tokens, `hidden` floats.
    pub(super) shift: &'a [f32],
}

/// The encoder's typed sections.
pub(super) struct Encoder<'a> {
    pub(super) words: Tokenizer<'a>,
    shape: EncoderShape,
    rows: &'a [u8],
    positions: &'a [f32],
    norm: Norm<'a>,
    layers: Vec<Layer<'a>>,
}

struct Norm<'a> {
    gain: &'a [f32],
    shift: &'a [f32],
}

struct Layer<'a> {
    products: [Product<'a>; PRODUCTS],
    norms: [Norm<'a>; 2],
}

/// An adapter: terms of low rank that are added to the products of the first layers. A pass with it ends after those layers
/// (`LoRA`: Hu et al., "Low-Rank Adaptation of Large Language Models", 2021).
pub(super) struct AdapterTerms<'a> {
    /// For each adapted layer the terms of [`TERMS`], in their order.
    pub(super) layers: Vec<[Term<'a>; TERMS]>,
}

/// A term of rank [`RANK`]: two products, the first of which reads the same quantised inputs as the product beside it.
pub(super) struct Term<'a> {
    pub(super) narrow: Product<'a>,
    pub(super) widen: Product<'a>,
}

/// One matrix product.
pub(super) struct Product<'a> {
    weights: Weights<'a>,
    shares: &'a [f32],
    spread: &'a [u16],
}

impl<'a> Encoder<'a> {
    /// Views all sections and checks their lengths. It takes a microsecond or two, so it is done for each text. The
    /// shape has passed [`EncoderShape::check`].
    pub(super) fn read(file: &'a [u8], layout: &PackedLayout, shape: EncoderShape) -> Result<Self> {
        let words = Tokenizer::open(layout.section(file, 0)?)?;
        let rows: &[u8] = array(file, layout, 1, words.pieces() * shape.word_row())?;
        let positions = array(file, layout, 2, shape.positions * shape.hidden)?;
        let norm = Norm::read(file, layout, 3, shape.hidden)?;
        let layers = (0..shape.layers)
            .map(|layer| Layer::read(file, layout, SECTIONS_FIRST + layer * SECTIONS_LAYER, shape))
            .collect::<Result<_>>()?;
        Ok(Self { words, shape, rows, positions, norm, layers })
    }

    /// Reads `scratch.ids` and writes the last layer's states to `scratch.states`, `hidden` floats per token: those of
    /// all tokens, or of the first.
    pub(super) fn forward(
        &self,
        isa: Isa,
        wanted: Wanted,
        second: Option<Second<'_>>,
        scratch: &mut Scratch,
    ) {
        self.pass(isa, wanted, second, None, scratch, &mut |_, _, _, _| ());
    }

    /// Like [`Encoder::forward`] for all tokens, through the adapted layers only: the states are those of the last of them.
    pub(super) fn forward_adapted(
        &self,
        isa: Isa,
        terms: &AdapterTerms<'_>,
        second: Second<'_>,
        scratch: &mut Scratch,
    ) {
        self.pass(isa, Wanted::All, Some(second), Some(terms), scratch, &mut |_, _, _, _| ());
    }

    /// Like [`Encoder::forward`]. Calls `see` with the inputs of each product: the layer, the product, its rows and
    /// their width.
    pub(super) fn forward_seen(
        &self,
        isa: Isa,
        wanted: Wanted,
        second: Option<Second<'_>>,
        scratch: &mut Scratch,
        see: &mut impl FnMut(usize, usize, &[f32], usize),
    ) {
        self.pass(isa, wanted, second, None, scratch, see);
    }

    /// Writes the sum of each token's embeddings to the states.
    fn embed(&self, second: Option<Second<'_>>, scratch: &mut Scratch) {
        let Scratch { ids, states, .. } = scratch;
        let (hidden, width) = (self.shape.hidden, self.shape.word_row());
        states.clear();
        for (id, position) in ids.iter().zip(self.positions.chunks_exact(hidden)) {
            let row = &self.rows[*id as usize * width..][..width];
            let (values, step) = row.split_at(hidden);
            let step = f32::from_le_bytes([step[0], step[1], step[2], step[3]]);
            states.extend(values.iter().zip(position).map(|(x, y)| f32::from(x.cast_signed()) * step + y));
        }
        if let Some(second) = second {
            for state in states.chunks_exact_mut(hidden).take(second.tokens.end).skip(second.tokens.start) {
                state.iter_mut().zip(second.shift).for_each(|(x, shift)| *x += shift);
            }
        }
    }

    fn pass(
        &self,
        isa: Isa,
        wanted: Wanted,
        second: Option<Second<'_>>,
        terms: Option<&AdapterTerms<'_>>,
        scratch: &mut Scratch,
        see: &mut impl FnMut(usize, usize, &[f32], usize),
    ) {
        self.embed(second, scratch);
        let Scratch {
            ids,
            states,
            quantized,
            joined,
            context,
            inner,
            low,
            low_quantized,
            attention: buffers,
            ..
        } = scratch;
        let EncoderShape { hidden, inner: widened, epsilon, .. } = self.shape;
        let count = ids.len();
        layer_norm(isa, states, self.norm.gain, self.norm.shift, epsilon);
        joined.resize(count * 3 * hidden, 0.0);
        context.resize(count * hidden, 0.0);
        inner.resize(count * widened, 0.0);
        let depth = terms.map_or(self.layers.len(), |terms| terms.layers.len());
        for (index, layer) in self.layers.iter().take(depth).enumerate() {
            let term = |which: usize| terms.map(|terms| &terms.layers[index][which]);
            let [join, gather, widen, narrow] = &layer.products;
            see(index, 0, states, hidden);
            join.apply(isa, states, quantized, Then::Store, joined);
            term(0).inspect(|term| term.add(isa, quantized, low, low_quantized, joined));
            attention(isa, joined, self.shape.attention_heads(), buffers, context);
            if wanted == Wanted::First && index + 1 == self.layers.len() {
                states.truncate(hidden);
                context.truncate(hidden);
                inner.truncate(widened);
            }
            see(index, 1, context, hidden);
            gather.apply(isa, context, quantized, Then::Add, states);
            term(1).inspect(|term| term.add(isa, quantized, low, low_quantized, states));
            layer_norm(isa, states, layer.norms[0].gain, layer.norms[0].shift, epsilon);
            see(index, 2, states, hidden);
            widen.apply(isa, states, quantized, Then::Gelu, inner);
            see(index, 3, inner, widened);
            narrow.apply(isa, inner, quantized, Then::Add, states);
            term(2).inspect(|term| term.add(isa, quantized, low, low_quantized, states));
            layer_norm(isa, states, layer.norms[1].gain, layer.norms[1].shift, epsilon);
        }
    }
}

impl<'a> Norm<'a> {
    fn read(file: &'a [u8], layout: &PackedLayout, at: usize, width: usize) -> Result<Self> {
        Ok(Self { gain: array(file, layout, at, width)?, shift: array(file, layout, at + 1, width)? })
    }
}

impl<'a> Layer<'a> {
    fn read(file: &'a [u8], layout: &PackedLayout, at: usize, shape: EncoderShape) -> Result<Self> {
        let EncoderShape { hidden, inner, .. } = shape;
        let product = |index: usize, outputs, inputs| {
            Product::read(file, layout, at + index * SECTIONS_PRODUCT, outputs, inputs)
        };
        let norms = at + PRODUCTS * SECTIONS_PRODUCT;
        Ok(Self {
            products: [
                product(0, 3 * hidden, hidden)?,
                product(1, hidden, hidden)?,
                product(2, inner, hidden)?,
                product(3, hidden, inner)?,
            ],
            norms: [Norm::read(file, layout, norms, hidden)?, Norm::read(file, layout, norms + 2, hidden)?],
        })
    }
}

impl Term<'_> {
    /// Adds the term for quantised inputs to `out`.
    fn add(
        &self,
        isa: Isa,
        inputs: &Quantized,
        low: &mut Vec<f32>,
        low_quantized: &mut Quantized,
        out: &mut [f32],
    ) {
        low.resize(out.len() / self.widen.weights.outputs() * RANK, 0.0);
        multiply(isa, inputs, &self.narrow.weights, Then::Store, low);
        self.widen.apply(isa, low, low_quantized, Then::Add, out);
    }
}

impl<'a> Product<'a> {
    /// Views the product whose first section is `at`.
    pub(super) fn read(
        file: &'a [u8],
        layout: &PackedLayout,
        at: usize,
        outputs: usize,
        width: usize,
    ) -> Result<Self> {
        let shares = array(file, layout, at + 4, width)?;
        let spread: &[u16] = slice(file, layout, at + 5)?;
        let inputs = width + spread.len();
        let weights = Weights::new(
            array(file, layout, at, outputs * inputs)?,
            array(file, layout, at + 1, outputs)?,
            array(file, layout, at + 2, outputs)?,
            array(file, layout, at + 3, outputs)?,
        );
        match weights {
            Some(weights) if spread.iter().all(|input| usize::from(*input) < width) => {
                Ok(Self { weights, shares, spread })
            }
            Some(_) | None => {
                Err(damaged(format!("has a product at section {at} that does not fit together")))
            }
        }
    }

    /// Multiplies rows of floats; `out` has as many rows.
    pub(super) fn apply(
        &self,
        isa: Isa,
        rows: &[f32],
        quantized: &mut Quantized,
        then: Then,
        out: &mut [f32],
    ) {
        quantize(isa, rows, self.shares, self.spread, quantized);
        multiply(isa, quantized, &self.weights, then, out);
    }
}

/// Returns a section as numbers.
pub(super) fn slice<'a, T: AnyBitPattern>(
    file: &'a [u8],
    layout: &PackedLayout,
    index: usize,
) -> Result<&'a [T]> {
    bytemuck::try_cast_slice(layout.section(file, index)?)
        .map_err(|cause| damaged(format!("has a bad section {index}: {cause}")))
}

/// Returns a section as exactly `len` numbers.
pub(super) fn array<'a, T: AnyBitPattern>(
    file: &'a [u8],
    layout: &PackedLayout,
    index: usize,
    len: usize,
) -> Result<&'a [T]> {
    let slice = slice(file, layout, index)?;
    if slice.len() == len {
        Ok(slice)
    } else {
        Err(damaged(format!("has {} numbers in section {index}, not {len}", slice.len())))
    }
}

/// Adds the file's path and the model's name to an error about its contents.
pub(super) fn at_path(model: &str, path: &Path, error: Error) -> Error {
    match error {
        Error::Model { reason, .. } => {
            Error::Model { model: model.into(), reason: format!("{} {reason}", path.display()) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_the_kernels_cannot_take_are_named() {
        let good =
            EncoderShape { hidden: 384, inner: 1536, layers: 6, heads: 12, positions: 512, epsilon: 1e-12 };
        let check = |shape: EncoderShape, expected: &str| {
            let said = shape.check().err().unwrap_or_default();
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{said}");
        };
        check(good, "");
        check(EncoderShape { hidden: 1024, heads: 16, inner: 4096, layers: 24, ..good }, "");
        check(
            EncoderShape { hidden: 312, inner: 1200, ..good },
            "hidden_size is 312; it must be a multiple of 64",
        );
        check(EncoderShape { inner: 1200, ..good }, "intermediate_size is 1200");
        check(EncoderShape { hidden: 0, ..good }, "hidden_size is 0");
        check(EncoderShape { heads: 3, ..good }, "a head must have 16, 32 or 64 numbers");
        check(EncoderShape { heads: 0, ..good }, "num_attention_heads is 0");
        check(EncoderShape { layers: 0, ..good }, "num_hidden_layers is 0");
        check(EncoderShape { positions: 2, ..good }, "max_position_embeddings is 2");
        check(EncoderShape { epsilon: f32::NAN, ..good }, "layer_norm_eps");
    }
}
