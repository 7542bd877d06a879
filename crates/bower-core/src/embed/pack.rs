//! Packs the float32 MiniLM once into the int8 file that is mapped ever after. Nothing partial ever stands under the final
//! name, and only the one known model is accepted.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use safetensors::{Dtype, SafeTensors};
use sha2::{Digest, Sha256};

use super::layout;
use super::spread::SPREAD;
use super::wordpiece::pack_vocabulary;
use crate::error::{Error, Result};
use crate::item::hex;

/// The identity of the vectors: the model, and the arithmetic that they are made with. Raise the last number whenever the
/// same text would get another vector.
pub const IDENTITY: &str = "all-MiniLM-L6-v2.i8-2";
/// Name of the model without its arithmetic.
const MODEL: &str = "all-MiniLM-L6-v2";
/// SHA-256 of the float32 weights: the same bytes at the model hub and in the package that carries them.
pub const WEIGHTS_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// SHA-256 of the vocabulary.
pub const VOCABULARY_SHA256: &str = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3";

/// Numbers of a token.
pub(super) const HIDDEN: usize = 384;
/// Numbers of a token inside the feed-forward part.
pub(super) const INNER: usize = 1536;
/// Layers of the transformer.
pub(super) const LAYERS: usize = 6;
/// Attention heads of a layer.
pub(super) const HEADS: usize = 12;
/// Positions that the model has learnt.
pub(super) const POSITIONS: usize = 512;
/// Bytes of a word's row: its numbers as signed bytes, then the float32 that one step is worth.
pub(super) const WORD_ROW: usize = HIDDEN + 4;

/// Sections before the first layer: vocabulary, words, positions, gain and shift of the first layer norm.
pub(super) const SECTIONS_FIRST: usize = 5;
/// Sections of one product: values, scales, sums, bias, shares, spread.
pub(super) const SECTIONS_PRODUCT: usize = 6;
/// Products of one layer: queries, keys and values joined; attention's output; inner; outer.
pub(super) const PRODUCTS: usize = 4;
/// Sections of one layer: its products, then gain and shift of its two layer norms.
pub(super) const SECTIONS_LAYER: usize = PRODUCTS * SECTIONS_PRODUCT + 4;

/// Reads `model.safetensors` and `vocab.txt` in `source_dir`, checks them, and writes the packed file: beside its final name
/// first, synced, then renamed. Takes about a second, nearly all of it checksums.
///
/// Fails with [`Error::Model`] when a file is not exactly the known one, with [`Error::Io`] and its kin on the disk.
pub fn pack(source_dir: &Path, packed: &Path) -> Result<()> {
    let weights = load(&source_dir.join("model.safetensors"), WEIGHTS_SHA256)?;
    let vocabulary = load(&source_dir.join("vocab.txt"), VOCABULARY_SHA256)?;
    let file = layout::write(IDENTITY, &sections(&weights, &vocabulary)?);
    replace(packed, &file)
}

/// One matrix product in the making.
#[derive(Debug, Default)]
struct Product {
    /// Row-major, `outputs x inputs`.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

fn load(path: &Path, sha256: &str) -> Result<Vec<u8>> {
    let bytes = fs::read(path).map_err(|cause| Error::io("read", path, cause))?;
    let found = hex(&Sha256::digest(&bytes));
    if found == sha256 {
        Ok(bytes)
    } else {
        Err(broken(format!("{} has SHA-256 {found}, not {sha256}", path.display())))
    }
}

fn broken(reason: impl Into<String>) -> Error {
    Error::Model { model: MODEL.into(), reason: reason.into() }
}

/// All sections in their order in the file.
fn sections(weights: &[u8], vocabulary: &[u8]) -> Result<Vec<Vec<u8>>> {
    let tensors =
        SafeTensors::deserialize(weights).map_err(|cause| broken(format!("cannot read weights: {cause}")))?;
    let get = |name: &str, shape: &[usize]| -> Result<Vec<f32>> {
        let tensor = tensors.tensor(name).map_err(|cause| broken(format!("no tensor {name}: {cause}")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            return Err(broken(format!("tensor {name} is {:?} {:?}", tensor.dtype(), tensor.shape())));
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(broken(format!("tensor {name} has numbers that are not finite")));
        }
        Ok(numbers)
    };
    let pieces = vocabulary.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let words = get("embeddings.word_embeddings.weight", &[pieces, HIDDEN])?;
    let mut positions = get("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
    let kinds = get("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
    for row in positions.chunks_exact_mut(HIDDEN) {
        // Every token of a text is of kind 0, so its vector becomes part of the position's.
        row.iter_mut().zip(&kinds).for_each(|(x, kind)| *x += kind);
    }
    let mut sections = vec![pack_vocabulary(vocabulary)?, word_rows(&words), floats(&positions)];
    sections.push(floats(&get("embeddings.LayerNorm.weight", &[HIDDEN])?));
    sections.push(floats(&get("embeddings.LayerNorm.bias", &[HIDDEN])?));
    for layer in 0..LAYERS {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let product = |part: &str, outputs: usize, inputs: usize| -> Result<Product> {
            Ok(Product {
                weights: get(&name(&format!("{part}.weight")), &[outputs, inputs])?,
                bias: get(&name(&format!("{part}.bias")), &[outputs])?,
            })
        };
        let mut joined = product("attention.self.query", HIDDEN, HIDDEN)?;
        // Scores are divided by the root of the head's size; the query takes it, in its scale, so the bytes are the same.
        let root = ((HIDDEN / HEADS) as f32).sqrt();
        joined.weights.iter_mut().chain(&mut joined.bias).for_each(|x| *x /= root);
        for part in ["attention.self.key", "attention.self.value"] {
            let next = product(part, HIDDEN, HIDDEN)?;
            joined.weights.extend(next.weights);
            joined.bias.extend(next.bias);
        }
        let products = [
            joined,
            product("attention.output.dense", HIDDEN, HIDDEN)?,
            product("intermediate.dense", INNER, HIDDEN)?,
            product("output.dense", HIDDEN, INNER)?,
        ];
        for (index, product) in products.iter().enumerate() {
            sections.extend(quantized(product, &spread(layer, index)));
        }
        for part in ["attention.output", "output"] {
            sections.push(floats(&get(&name(&format!("{part}.LayerNorm.weight")), &[HIDDEN])?));
            sections.push(floats(&get(&name(&format!("{part}.LayerNorm.bias")), &[HIDDEN])?));
        }
    }
    Ok(sections)
}

/// The inputs of a product that get further bytes, each as often as it gets one.
fn spread(layer: usize, product: usize) -> Vec<u16> {
    SPREAD[layer][product].iter().flat_map(|(input, further)| vec![*input; usize::from(*further)]).collect()
}

/// The six sections of a product. An input that `spread` names n - 1 times is divided by n and counted n times: its share of
/// the row's range falls, so all other inputs get finer steps, and its own weight is known to 1/n of a step.
fn quantized(product: &Product, spread: &[u16]) -> [Vec<u8>; SECTIONS_PRODUCT] {
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
        // What is left to give of each input's total, and how many bytes it still has to go into.
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

/// Rows of signed bytes, each with its step behind it, so that a word touches one place of the file.
fn word_rows(words: &[f32]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(words.len() / HIDDEN * WORD_ROW);
    for row in words.chunks_exact(HIDDEN) {
        let largest = row.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        rows.extend(row.iter().map(|x| (x / scale).round_ties_even() as i8).map(i8::cast_unsigned));
        rows.extend(scale.to_le_bytes());
    }
    rows
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Puts a file in place as a whole: under another name, synced, renamed, and the folder synced.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut name =
        path.file_name().ok_or_else(|| Error::invalid("packed model", "needs a file name"))?.to_os_string();
    name.push(format!(".{}-{}.partial", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let partial = folder.join(name);
    let written = fs::File::create(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .map_err(|cause| Error::io("write", &partial, cause))
        .and_then(|()| {
            fs::rename(&partial, path).map_err(|cause| Error::io("rename into place", path, cause))
        });
    if written.is_err() {
        // The first error is the one to tell; a file that cannot be removed either is only litter beside the real name.
        let _ = fs::remove_file(&partial);
        return written;
    }
    #[cfg(unix)]
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|cause| Error::io("sync", folder, cause))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_of_many_bytes_keeps_its_weight_to_a_part_of_a_step() {
        // 64 outputs of 4 inputs; input 2 gets four further bytes. Weight .3 of a largest 1 is 38.1 steps of 127; in five
        // bytes it is 191 fifths.
        let product = Product { weights: [1.0, -1.0, 0.3, 0.0].repeat(64), bias: vec![0.5; 64] };
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

    #[test]
    fn every_spread_fits_its_product() {
        for (layer, products) in SPREAD.iter().enumerate() {
            for (product, inputs) in products.iter().enumerate() {
                let width = if product == 3 { INNER } else { HIDDEN };
                assert!(
                    inputs.iter().all(|(input, _)| usize::from(*input) < width),
                    "layer {layer}, product {product}"
                );
                assert!(spread(layer, product).len().is_multiple_of(4), "layer {layer}, product {product}");
            }
        }
    }

    #[test]
    fn a_foreign_model_is_refused_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("model.bower");
        assert!(matches!(pack(folder.path(), &packed), Err(Error::Io { .. })));
        fs::write(folder.path().join("model.safetensors"), b"something else").unwrap();
        assert!(matches!(pack(folder.path(), &packed), Err(Error::Model { .. })));
        assert!(!packed.exists());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(replace(&folder.path().join("absent/file"), b"x").is_err());
    }
}
