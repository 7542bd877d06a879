//! Unpacks the streams of a file within limits.

use hayro_syntax::Filter;
use hayro_syntax::object::{Dict, Stream};
use std::io::Read;

/// Most bytes of one unpacked stream: the content of the fullest drawings is a tenth of it, and so is a font of all of Unicode.
const MOST_STREAM: u64 = 64 << 20;

/// Most bytes that are unpacked in all.
const MOST_UNPACKED: u64 = 1 << 30;

/// Most operations and glyphs in all: a page of text takes about 5,000, so that this is enough for ten thousand pages.
const MOST_STEPS: u64 = 50_000_000;

/// What may still be done for a file.
pub(super) struct Budget {
    bytes: u64,
    steps: u64,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { bytes: MOST_UNPACKED, steps: MOST_STEPS }
    }

    /// Takes steps; `false` if none are left.
    pub(super) fn step(&mut self, steps: u64) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }

    /// Returns whether the file may be read on.
    pub(super) fn is_left(&self) -> bool {
        self.steps > 0 && self.bytes > 0
    }
}

/// Returns the content of a page. Streams that cannot be unpacked are left out.
pub(super) fn page(page: &Dict<'_>, budget: &mut Budget) -> Vec<u8> {
    let mut content = Vec::new();
    for part in super::content::contents(page) {
        content.extend(stream(&part, budget).unwrap_or_default());
        content.push(b'\n');
    }
    content
}

/// Returns whether a stream unpacks to what the budget allows, and takes its size from it.
pub(super) fn fits(stream: &Stream<'_>, budget: &mut Budget) -> bool {
    self::stream(stream, budget).is_some()
}

/// Unpacks a stream; `None` if it is damaged from its first byte on, or too large.
pub(super) fn stream(stream: &Stream<'_>, budget: &mut Budget) -> Option<Vec<u8>> {
    let most = budget.bytes.min(MOST_STREAM);
    let mut data = stream.raw_data().into_owned();
    for filter in stream.filters() {
        data = match filter {
            Filter::FlateDecode => inflate(&data, most)?,
            _ => return stream.decoded_data().ok().map(std::borrow::Cow::into_owned),
        };
    }
    budget.bytes -= data.len() as u64;
    Some(data)
}

fn inflate(packed: &[u8], most: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let result = flate2::read::ZlibDecoder::new(packed).take(most + 1).read_to_end(&mut data);
    // Readers show what comes before the damage.
    ((result.is_ok() || !data.is_empty()) && data.len() as u64 <= most).then_some(data)
}
