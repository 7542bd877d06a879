//! Caches the model's outputs for passages, outside the repository, so that each is computed once.
//! One append-only file holds a vector and token codes for each text. Opening the file cuts off an entry that a crash left
//! incomplete.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use bower_core::parts::embed::{EmbeddedText, Embedder, SentenceEncoder, distinct_codes};
use bower_core::parts::vector::{floats, halves};
use sha2::{Digest, Sha256};

use crate::options::Failed;

/// Key of a text: 128 bits of its SHA-256.
pub type Key = [u8; 16];

/// First line of the file; its number changes with the layout.
const HEAD: &[u8; 16] = b"bower outputs 1\n";
/// Length of a record's fixed part: its key, its number of codes and a checksum of all the rest.
const FIXED: usize = 16 + 4 + 4;
/// Largest number of codes. A passage has far fewer tokens; a larger number means damage.
const MOST_CODES: usize = 1 << 20;
/// Number of records between two flushes to the file.
const FLUSH: usize = 256;

/// Returns the key of a text.
pub fn key(text: &str) -> Key {
    let (key, _) =
        Sha256::digest(text)[..].split_first_chunk().map(|(key, rest)| (*key, rest.len())).expect("32 bytes");
    key
}

/// Vectors (half floats) and token codes of all texts that one model has read.
pub struct Outputs {
    path: PathBuf,
    dimension: usize,
    bytes: Vec<u8>,
    /// Start of each text's record, and its number of codes.
    places: HashMap<Key, (usize, usize)>,
}

impl Outputs {
    /// Reads the cached outputs of a model from `folder` and cuts off an incomplete record.
    pub fn open(folder: &Path, model: &dyn Embedder) -> Result<Self, Failed> {
        let scheme = model.tokens().ok_or("the model gives no token states")?;
        let name = format!("{}+{scheme}.outputs", model.model());
        std::fs::create_dir_all(folder)?;
        let mut outputs = Self {
            path: folder.join(name),
            dimension: model.dimension(),
            bytes: Vec::new(),
            places: HashMap::new(),
        };
        let mut file =
            File::options().create(true).truncate(false).read(true).write(true).open(&outputs.path)?;
        file.read_to_end(&mut outputs.bytes)?;
        if outputs.bytes.is_empty() {
            file.write_all(HEAD)?;
            outputs.bytes.extend_from_slice(HEAD);
        } else if !outputs.bytes.starts_with(HEAD) {
            return Err(
                format!("{} is not a cache of model output: delete it", outputs.path.display()).into()
            );
        }
        let mut at = HEAD.len();
        while let Some((key, codes, end)) = record(&outputs.bytes[at..], outputs.dimension) {
            let codes = leave_out(&mut outputs.bytes[at + FIXED + 2 * outputs.dimension..][..8 * codes]);
            outputs.places.insert(key, (at, codes));
            at += end;
        }
        file.set_len(at as u64)?;
        outputs.bytes.truncate(at);
        Ok(outputs)
    }

    /// Returns the number of cached texts.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn has(&self, key: &Key) -> bool {
        self.places.contains_key(key)
    }

    /// Returns the model's output for a text.
    pub fn get(&self, key: &Key) -> Option<EmbeddedText> {
        let &(at, codes) = self.places.get(key)?;
        let (vector, rest) = self.bytes[at + FIXED..].split_at(2 * self.dimension);
        let vector = floats(vector);
        let codes = rest.as_chunks::<8>().0[..codes].iter().map(|&code| u64::from_le_bytes(code)).collect();
        Some(EmbeddedText { vector, codes: Some(codes) })
    }

    /// Runs the model on texts that are not cached yet, on all cores; returns their number.
    pub fn fill(
        &mut self,
        model: &SentenceEncoder,
        texts: &[String],
        progress: &dyn Fn(usize, usize),
    ) -> Result<usize, Failed> {
        let missing: Vec<&String> = texts.iter().filter(|text| !self.has(&key(text))).collect();
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut file = BufWriter::new(File::options().append(true).open(&self.path)?);
        std::thread::scope(|scope| -> Result<(), Failed> {
            let (made, records) = std::sync::mpsc::sync_channel(FLUSH);
            for _ in 0..threads {
                let (made, next, missing) = (made.clone(), &next, &missing);
                scope.spawn(move || {
                    while let Some(text) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let record = model.embed_text(text).map(|output| encode(&key(text), &output));
                        if made.send(record).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(made);
            for (at, record) in records.into_iter().enumerate() {
                file.write_all(&record?)?;
                if at % FLUSH == 0 {
                    file.flush()?;
                    progress(at, missing.len());
                }
            }
            Ok(())
        })?;
        file.flush()?;
        let made = missing.len();
        if made > 0 {
            *self = Self::open(self.path.parent().expect("the file is in a folder"), model)?;
        }
        Ok(made)
    }
}

/// Moves the codes that the model would keep today to the front of a record's codes, and returns their number. (Older records
/// also hold codes without new information, which the model now leaves out.) This is done on opening, because its time would be
/// measured while a store is filled.
fn leave_out(bytes: &mut [u8]) -> usize {
    let codes = bytes.as_chunks::<8>().0.iter().map(|&code| u64::from_le_bytes(code)).collect();
    let codes = distinct_codes(codes);
    for (to, code) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(&codes) {
        *to = code.to_le_bytes();
    }
    codes.len()
}

fn encode(key: &Key, output: &EmbeddedText) -> Vec<u8> {
    let codes = output.codes.as_deref().unwrap_or_default();
    let mut body = halves(&output.vector);
    body.extend(codes.iter().flat_map(|code| code.to_le_bytes()));
    let count = (codes.len() as u32).to_le_bytes();
    let mut record = Vec::with_capacity(FIXED + body.len());
    record.extend_from_slice(key);
    record.extend_from_slice(&count);
    record.extend_from_slice(&check(&[key, &count, &body]).to_le_bytes());
    record.extend_from_slice(&body);
    record
}

/// Parses the first record of some bytes: key, number of codes, length; `None` if there is no complete one.
fn record(bytes: &[u8], dimension: usize) -> Option<(Key, usize, usize)> {
    let (key, rest) = bytes.split_first_chunk::<16>()?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let codes = u32::from_le_bytes(*count) as usize;
    let length = 2 * dimension + 8 * codes;
    let body = (codes <= MOST_CODES).then(|| rest.get(..length)).flatten()?;
    (check(&[key, count, body]) == u32::from_le_bytes(*sum)).then_some((*key, codes, FIXED + length))
}

/// Computes FNV-1a over words of 8 bytes, folded to 32 bits. It detects accidental damage, not malice.
fn check(parts: &[&[u8]]) -> u32 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    for part in parts {
        let (words, rest) = part.as_chunks::<8>();
        for word in words {
            add(u64::from_le_bytes(*word));
        }
        for &byte in rest {
            add(u64::from(byte));
        }
    }
    (sum ^ (sum >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An embedder with three numbers, and as many codes as the text has bytes.
    struct Toy;

    impl Embedder for Toy {
        fn model(&self) -> &'static str {
            "toy"
        }

        fn dimension(&self) -> usize {
            3
        }

        fn embed(&self, _text: &str) -> bower_core::Result<Vec<f32>> {
            Ok(vec![0.5, -0.25, 1.0])
        }

        fn tokens(&self) -> Option<&str> {
            Some("toy.t1")
        }

        fn count_pieces(&self, text: &str) -> bower_core::Result<usize> {
            Ok(text.len())
        }
    }

    fn output(codes: &[u64]) -> EmbeddedText {
        EmbeddedText { vector: vec![0.5, -0.25, 1.0], codes: Some(codes.to_vec()) }
    }

    #[test]
    fn codes_that_say_nothing_new_are_left_out_of_what_was_kept_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = Outputs::open(folder.path(), &Toy).unwrap().path;
        let old = output(&[7, 6, u64::MAX, 7, 0xffff_0000]);
        std::fs::write(&path, [&HEAD[..], &encode(&key("one"), &old)].concat()).unwrap();
        for _ in 0..2 {
            let outputs = Outputs::open(folder.path(), &Toy).unwrap();
            assert_eq!(outputs.get(&key("one")), Some(output(&[7, u64::MAX, 0xffff_0000])));
        }
    }

    #[test]
    fn what_was_kept_comes_back_and_what_is_torn_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = Outputs::open(folder.path(), &Toy).unwrap().path;
        let (one, two) = (output(&[7, u64::MAX]), output(&[]));
        let mut whole = HEAD.to_vec();
        whole.extend(encode(&key("one"), &one));
        let end = whole.len();
        whole.extend(encode(&key("two"), &two));
        std::fs::write(&path, &whole).unwrap();
        let outputs = Outputs::open(folder.path(), &Toy).unwrap();
        assert_eq!((outputs.get(&key("one")), outputs.get(&key("two"))), (Some(one.clone()), Some(two)));
        // By hand: 24 fixed bytes, 3 numbers of 2 bytes, 2 codes of 8.
        assert_eq!(end, 16 + 24 + 6 + 16);
        for damage in [whole.len() - 1, end + 3] {
            std::fs::write(&path, &whole[..damage]).unwrap();
            let outputs = Outputs::open(folder.path(), &Toy).unwrap();
            assert_eq!((outputs.len(), outputs.get(&key("one"))), (1, Some(one.clone())));
            assert_eq!(std::fs::metadata(&path).unwrap().len(), end as u64);
        }
        whole[end - 1] ^= 1;
        std::fs::write(&path, &whole).unwrap();
        assert_eq!(Outputs::open(folder.path(), &Toy).unwrap().len(), 0, "a changed code is noticed");
        std::fs::write(&path, "something else").unwrap();
        assert!(Outputs::open(folder.path(), &Toy).is_err());
    }
}
