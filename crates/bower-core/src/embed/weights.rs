//! Converts a BERT's published tensors into the sections of a packed model file.
//! Every number is checked to be finite, and every shape to match the sizes.

use safetensors::{Dtype, SafeTensors};

use super::bert::{EncoderShape, SECTIONS_PRODUCT};
use super::calibrate::Spreads;
use super::layout;
use super::tokenizer::Tokenizer;
use crate::error::{Error, Result};

/// Published tensors by name.
pub(super) struct Tensors<'a> {
    /// The model's name, for errors.
    model: &'a str,
    tensors: SafeTensors<'a>,
}

/// One matrix product before quantisation.
#[derive(Debug, Default)]
pub(super) struct ProductBuilder {
    /// Row-major, `outputs x inputs`.
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// An encoder as sections, and the part that has no section.
#[derive(Debug)]
pub(super) struct EncoderSections {
    /// The sections, in their order in the file.
    pub(super) sections: Vec<Vec<u8>>,
    /// Difference between a token of the second text and one of the first: `hidden` numbers.
    pub(super) second: Vec<f32>,
}

impl<'a> Tensors<'a> {
    /// Opens a `model.safetensors`.
    pub(super) fn open(model: &'a str, file: &'a [u8]) -> Result<Self> {
        match SafeTensors::deserialize(file) {
            Ok(tensors) => Ok(Self { model, tensors }),
            Err(cause) => Err(broken(model, format!("cannot read weights: {cause}"))),
        }
    }

    /// Whether there is such a tensor.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// Returns a tensor of exactly this shape, as float32.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let (numbers, found) = self.read(name)?;
        if found == shape {
            Ok(numbers)
        } else {
            Err(self.broken(name, format!("is {found:?}, not {shape:?}")))
        }
    }

    /// Returns a product's `weight` and `bias`.
    pub(super) fn product(&self, name: &str, outputs: usize, inputs: usize) -> Result<ProductBuilder> {
        Ok(ProductBuilder {
            weights: self.get(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: self.get(&format!("{name}.bias"), &[outputs])?,
        })
    }

    /// Returns the two sections of a layer norm. Old files name its gain and shift `gamma` and `beta`.
    fn norm(&self, name: &str, width: usize) -> Result<[Vec<u8>; 2]> {
        let old = self.has(&format!("{name}.gamma"));
        let [gain, shift] = if old { ["gamma", "beta"] } else { ["weight", "bias"] };
        let get = |part: &str| self.get(&format!("{name}.{part}"), &[width]).map(|numbers| floats(&numbers));
        Ok([get(gain)?, get(shift)?])
    }

    /// Returns the first rows of a table that has at least `least` of them; some models are published with a padded table.
    fn rows(&self, name: &str, least: usize, width: usize) -> Result<Vec<f32>> {
        let (numbers, found) = self.read(name)?;
        if found.len() == 2 && found[0] >= least && found[1] == width {
            Ok(numbers)
        } else {
            Err(self.broken(name, format!("is {found:?}, not [{least}, {width}]")))
        }
    }

    fn read(&self, name: &str) -> Result<(Vec<f32>, Vec<usize>)> {
        let tensor = self.tensors.tensor(name).map_err(|_| self.broken(name, "is missing"))?;
        let (pairs, fours) = (tensor.data().as_chunks::<2>().0, tensor.data().as_chunks::<4>().0);
        let numbers: Vec<f32> = match tensor.dtype() {
            Dtype::F32 => fours.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Dtype::F16 => pairs.iter().map(|bytes| half::f16::from_le_bytes(*bytes).to_f32()).collect(),
            Dtype::BF16 => pairs.iter().map(|bytes| half::bf16::from_le_bytes(*bytes).to_f32()).collect(),
            other => return Err(self.broken(name, format!("holds {other:?}, not F32, F16 or BF16"))),
        };
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(self.broken(name, "has numbers that are not finite"));
        }
        Ok((numbers, tensor.shape().to_vec()))
    }

    fn broken(&self, name: &str, what: impl std::fmt::Display) -> Error {
        broken(self.model, format!("tensor {name} {what}"))
    }
}

fn broken(model: &str, reason: String) -> Error {
    Error::Model { model: model.into(), reason }
}

/// Returns the sections of an encoder like [`encoder_sections`], with the further bytes that [`Spreads`] measures: it packs
/// twice, and runs the first result to find the inputs that need them. `name` is that of the packed file.
pub(super) fn measured_sections(
    tensors: &Tensors<'_>,
    prefix: &str,
    shape: EncoderShape,
    tokenizer: Vec<u8>,
    name: &str,
) -> Result<EncoderSections> {
    let plain = encoder_sections(tensors, prefix, shape, tokenizer.clone(), &|_, _| Vec::new())?;
    let file = layout::write(name, &plain.sections);
    let (words, bytes) = (aligned(&file), file.len());
    drop((file, plain.sections));
    let spreads = Spreads::measure(&bytemuck::cast_slice(&words)[..bytes], shape, &plain.second)?;
    encoder_sections(tensors, prefix, shape, tokenizer, &|layer, product| spreads.of(layer, product))
}

/// Returns a file's bytes with an alignment that allows reading numbers in place.
fn aligned(file: &[u8]) -> Vec<u64> {
    let mut words = vec![0_u64; file.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..file.len()].copy_from_slice(file);
    words
}

/// Returns the sections of an encoder whose tensors' names begin with `prefix`; the first one is the packed tokenizer.
/// `spread` returns, for a layer and a product, the inputs that get further bytes; their number is a multiple of 4.
pub(super) fn encoder_sections(
    tensors: &Tensors<'_>,
    prefix: &str,
    shape: EncoderShape,
    tokenizer: Vec<u8>,
    spread: &dyn Fn(usize, usize) -> Vec<u16>,
) -> Result<EncoderSections> {
    let EncoderShape { hidden, inner, .. } = shape;
    let rows = |name: &str, least| tensors.rows(&format!("{prefix}embeddings.{name}.weight"), least, hidden);
    let pieces = Tokenizer::open(&tokenizer)?.pieces();
    let mut words = rows("word_embeddings", pieces)?;
    words.truncate(pieces * hidden);
    let mut positions = rows("position_embeddings", shape.positions)?;
    positions.truncate(shape.positions * hidden);
    let kinds = rows("token_type_embeddings", 1)?;
    for row in positions.chunks_exact_mut(hidden) {
        // Every token of a first text has type 0, so that type's vector is added to the position's.
        row.iter_mut().zip(&kinds).for_each(|(x, kind)| *x += kind);
    }
    let (first, rest) = kinds.split_at(hidden);
    let second = rest.iter().zip(first).map(|(second, first)| second - first);
    let second = second.chain(std::iter::repeat(0.0)).take(hidden).collect();

    let mut sections = vec![tokenizer, word_rows(&words, shape), floats(&positions)];
    let norm = |name: &str| tensors.norm(&format!("{prefix}{name}.LayerNorm"), hidden);
    sections.extend(norm("embeddings")?);
    for layer in 0..shape.layers {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let product = |part: &str, outputs: usize, inputs: usize| {
            tensors.product(&format!("{prefix}{}", name(part)), outputs, inputs)
        };
        let mut joined = product("attention.self.query", hidden, hidden)?;
        // Scores are divided by the root of the head's size. The query's scale includes it, so the bytes are the same.
        let root = ((hidden / shape.heads) as f32).sqrt();
        joined.weights.iter_mut().chain(&mut joined.bias).for_each(|x| *x /= root);
        for part in ["attention.self.key", "attention.self.value"] {
            let next = product(part, hidden, hidden)?;
            joined.weights.extend(next.weights);
            joined.bias.extend(next.bias);
        }
        let products = [
            joined,
            product("attention.output.dense", hidden, hidden)?,
            product("intermediate.dense", inner, hidden)?,
            product("output.dense", hidden, inner)?,
        ];
        for (index, product) in products.iter().enumerate() {
            sections.extend(quantized(product, &spread(layer, index)));
        }
        for part in ["attention.output", "output"] {
            sections.extend(norm(&name(part))?);
        }
    }
    Ok(EncoderSections { sections, second })
}

/// Returns the six sections of a product. An input that `spread` names n - 1 times is divided by n and counted n times.
/// So its share of the row's range falls, all other inputs get finer steps, and its own weight is exact to 1/n of a
/// step.
pub(super) fn quantized(product: &ProductBuilder, spread: &[u16]) -> [Vec<u8>; SECTIONS_PRODUCT] {
    let outputs = product.bias.len();
    let width = product.weights.len() / outputs;
    let mut counts = vec![1_i32; width];
    for input in spread {
        counts[usize::from(*input)] += 1;
    }
    let inputs = width + spread.len();
    let mut values = Vec::with_capacity(outputs * inputs);
    let (mut scales, mut sums) = (Vec::with_capacity(outputs), Vec::with_capacity(outputs));
    for row in product.weights.chunks_exact(width) {
        let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        // For each input, the rest of its total and the number of bytes left for it.
        let mut left: Vec<(i32, i32)> = row
            .iter()
            .zip(&counts)
            .map(|(x, n)| ((x / scale * *n as f32).round_ties_even() as i32, *n))
            .collect();
        let start = values.len();
        for input in (0..width).chain(spread.iter().map(|input| usize::from(*input))) {
            let (total, bytes) = &mut left[input];
            let value = (*total / *bytes).clamp(-127, 127);
            *total -= value;
            *bytes -= 1;
            values.push(value as i8);
        }
        sums.push(values[start..].iter().map(|value| i32::from(*value)).sum::<i32>());
        scales.push(scale);
    }
    let shares: Vec<f32> = counts.iter().map(|n| 1.0 / *n as f32).collect();
    [
        bytemuck::cast_slice(&bower_kernels::gemm::pack(&values, inputs)).to_vec(),
        floats(&scales),
        sums.iter().flat_map(|sum| sum.to_le_bytes()).collect(),
        floats(&product.bias),
        floats(&shares),
        spread.iter().flat_map(|input| input.to_le_bytes()).collect(),
    ]
}

/// Returns rows of signed bytes, each followed by its step, so that a word needs one place of the file.
fn word_rows(words: &[f32], shape: EncoderShape) -> Vec<u8> {
    let mut rows = Vec::with_capacity(words.len() / shape.hidden * shape.word_row());
    for row in words.chunks_exact(shape.hidden) {
        let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        rows.extend(row.iter().map(|x| (x / scale).round_ties_even() as i8).map(i8::cast_unsigned));
        rows.extend(scale.to_le_bytes());
    }
    rows
}

/// Returns numbers in the file's form.
pub(super) fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_of_many_bytes_keeps_its_weight_to_a_part_of_a_step() {
        // 64 outputs of 4 inputs; input 2 gets four further bytes. Weight .3 of a largest 1 is 38.1 steps of 127; in five
        // bytes it is 191 fifths.
        let product = ProductBuilder { weights: [1.0, -1.0, 0.3, 0.0].repeat(64), bias: vec![0.5; 64] };
        let [values, scales, sums, bias, shares, spread] = quantized(&product, &[2, 2, 2, 2]);
        let firsts: Vec<i8> =
            [0, 64].iter().flat_map(|half| values[half * 4..][..4].iter().map(|b| b.cast_signed())).collect();
        assert_eq!(firsts, [127, -127, 38, 0, 38, 38, 38, 39]);
        assert_eq!(scales, floats(&[1.0 / 127.0; 64]));
        assert_eq!(sums[..4], 191_i32.to_le_bytes());
        assert_eq!(bias, floats(&[0.5; 64]));
        assert_eq!(shares, floats(&[1.0, 1.0, 0.2, 1.0]));
        assert_eq!(spread, [2, 0, 2, 0, 2, 0, 2, 0]);
    }
}
