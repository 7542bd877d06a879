//! Packs the published float32 MiniLM into the int8 file that the engine maps.
//! This is done once. Nothing partial ever stands under the final name, and only the one known model is accepted.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use super::bert::Shape;
use super::layout::{self, Layout};
use super::packed::write_sums;
use super::spread::SPREAD;
use super::weights::{Tensors, encoder_sections};
use crate::error::{Error, Result};
use crate::files;
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

/// Sizes of the model.
pub(super) const SHAPE: Shape =
    Shape { hidden: 384, inner: 1536, layers: 6, heads: 12, positions: 512, epsilon: 1e-12 };

/// Reads `model.safetensors` and `vocab.txt` in `source_dir`, checks them, and writes the packed file: beside its final name
/// first, synced, then renamed. Takes about a second, nearly all of it checksums.
///
/// Fails with [`Error::Model`] when a file is not exactly the known one, with [`Error::Io`] and its kin on the disk.
pub fn pack(source_dir: &Path, packed: &Path) -> Result<()> {
    let weights = load(&source_dir.join("model.safetensors"), WEIGHTS_SHA256)?;
    let vocabulary = load(&source_dir.join("vocab.txt"), VOCABULARY_SHA256)?;
    let tensors = Tensors::open(MODEL, &weights)?;
    let sections = encoder_sections(&tensors, "", SHAPE, &vocabulary, &spread)?.sections;
    place(packed, &layout::write(IDENTITY, &sections))
}

/// Puts a packed file in place, and the checksums of its blocks beside it.
pub(super) fn place(packed: &Path, file: &[u8]) -> Result<()> {
    replace(packed, file)?;
    write_sums(packed, &Layout::read(file)?, file)
}

/// The file's bytes, when they have this checksum.
fn load(path: &Path, sha256: &str) -> Result<Vec<u8>> {
    let (bytes, found) = read(path)?;
    if found == sha256 {
        Ok(bytes)
    } else {
        Err(broken(format!("{} has SHA-256 {found}, not {sha256}", path.display())))
    }
}

/// A file's bytes and their SHA-256.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, String)> {
    let bytes = fs::read(path).map_err(|cause| Error::io("read", path, cause))?;
    let sum = hex(&Sha256::digest(&bytes));
    Ok((bytes, sum))
}

fn broken(reason: impl Into<String>) -> Error {
    Error::Model { model: MODEL.into(), reason: reason.into() }
}

/// The inputs of a product that get further bytes, each as often as it gets one.
fn spread(layer: usize, product: usize) -> Vec<u16> {
    SPREAD[layer][product].iter().flat_map(|(input, further)| vec![*input; usize::from(*further)]).collect()
}

/// Puts a file in place as a whole: under another name, synced, renamed, and the folder synced.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut name =
        path.file_name().ok_or_else(|| Error::invalid("packed model", "needs a file name"))?.to_os_string();
    name.push(format!(".{}-{}.partial", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let partial = folder.join(name);
    let written = files::create(&partial)
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
    fn every_spread_fits_its_product() {
        for (layer, products) in SPREAD.iter().enumerate() {
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
