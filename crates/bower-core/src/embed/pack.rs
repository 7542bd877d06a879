//! Packs the published float32 MiniLM into the int8 file that the engine maps.
//! This is done once. No partial file ever has the final name, and only the one known model is accepted.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::bert::EncoderShape;
use super::layout;
use super::outlier_inputs::OUTLIER_INPUTS;
use super::packed::place;
use super::weights::{Tensors, encoder_sections};
use super::wordpiece::pack_vocabulary;
use crate::error::{Error, Result};
use crate::item::hex;

/// The identity of the vectors: the model and the arithmetic that makes them. Raise the last number whenever the same
/// text would get another vector.
pub const IDENTITY: &str = "all-MiniLM-L6-v2.i8-2";
/// The default model's name, without its arithmetic.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";
/// SHA-256 of the float32 weights: the same bytes at the model hub and in the package that carries them.
pub const WEIGHTS_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// SHA-256 of the vocabulary.
pub const VOCABULARY_SHA256: &str = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3";

/// Sizes of the model.
pub(super) const SHAPE: EncoderShape =
    EncoderShape { hidden: 384, inner: 1536, layers: 6, heads: 12, positions: 512, epsilon: 1e-12 };

/// Reads `model.safetensors` and `vocab.txt` in `source_dir`, checks them, and writes the packed file: to a temporary
/// name first, synced, then renamed. It takes about a second, nearly all of it for checksums.
///
/// Fails with [`Error::Model`] if a file is not exactly the known one, and with [`Error::Io`] or a related error on the disk.
pub fn pack(source_dir: &Path, packed: &Path) -> Result<()> {
    let weights = load(&source_dir.join("model.safetensors"), WEIGHTS_SHA256)?;
    let vocabulary = load(&source_dir.join("vocab.txt"), VOCABULARY_SHA256)?;
    let tensors = Tensors::open(DEFAULT_MODEL, &weights)?;
    let sections = encoder_sections(&tensors, "", SHAPE, pack_vocabulary(&vocabulary)?, &spread)?.sections;
    place(packed, &layout::write(IDENTITY, &sections))
}

/// Returns the file's bytes if they have this checksum.
fn load(path: &Path, sha256: &str) -> Result<Vec<u8>> {
    let (bytes, found) = read(path)?;
    if found == sha256 {
        Ok(bytes)
    } else {
        Err(broken(format!("{} has SHA-256 {found}, not {sha256}", path.display())))
    }
}

/// Returns a file's bytes and their SHA-256.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, String)> {
    let bytes = fs::read(path).map_err(|cause| Error::io("read", path, cause))?;
    let sum = hex(&Sha256::digest(&bytes));
    Ok((bytes, sum))
}

fn broken(reason: impl Into<String>) -> Error {
    Error::Model { model: DEFAULT_MODEL.into(), reason: reason.into() }
}

/// Returns the inputs of a product that get further bytes, each once per further byte.
pub(super) fn spread(layer: usize, product: usize) -> Vec<u16> {
    OUTLIER_INPUTS[layer][product]
        .iter()
        .flat_map(|(input, further)| vec![*input; usize::from(*further)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spread_fits_its_product() {
        for (layer, products) in OUTLIER_INPUTS.iter().enumerate() {
            for (product, inputs) in products.iter().enumerate() {
                let width = if product == 3 { SHAPE.inner } else { SHAPE.hidden };
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
}
