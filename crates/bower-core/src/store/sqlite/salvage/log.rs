//! Reads a write-ahead log beyond its damage.
//! `SQLite` stops at the first frame whose checksum fails. Here each frame is judged by itself, and damage within one
//! word of four bytes is repaired.
//!
//! The format is that of <https://www.sqlite.org/fileformat.html>, section 4. A frame's checksum continues that of the
//! frame before it, which is in that frame's header. So a whole frame after a damaged one can still be verified.

/// Length of the log's header, in bytes.
const HEADER: usize = 32;
/// Length of a frame's header, in bytes; a page follows it.
const FRAME_HEADER: usize = 24;
/// First bytes of a log; the last bit is the byte order of the checksums.
const MAGIC: u32 = 0x377F_0682;
/// Valid page sizes, in bytes.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 512..=65_536;

/// Degree to which a frame can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTrust {
    /// Its checksum holds.
    Whole,
    /// One word was damaged, and is repaired.
    Mended,
    /// One word was damaged, and several values of words explain it.
    Open,
    /// It is damaged and cannot be repaired.
    Damaged,
}

/// The content of a page in one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFrame {
    /// The page's number, from 1.
    pub page: u32,
    /// The database's length in pages after the transaction that this frame ends; 0 within one.
    pub commit: u32,
    /// Degree to which it can be trusted.
    pub trust: FrameTrust,
    /// The page.
    pub bytes: Vec<u8>,
    /// For several explanations of the damage, the frame according to each.
    pub alternatives: Vec<LogFrame>,
}

impl LogFrame {
    /// Whether its page number lies within the database's length.
    fn is_plausible(&self) -> bool {
        (1..=self.commit).contains(&self.page) && self.commit < u32::MAX >> 1
    }
}

/// The frames of one generation of a log, up to the end of the last complete transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The size of a page, in bytes.
    pub page_size: usize,
    /// The frames in the order in which they were written.
    pub frames: Vec<LogFrame>,
    /// Number of frames that `SQLite` reads: those of whole transactions before the first damage.
    pub read: usize,
}

impl Log {
    /// Reads a log; without frames if there is nothing to read. `page_size` is that of the database, if known.
    pub fn of(bytes: &[u8], page_size: Option<usize>) -> Self {
        let Some(header) = Header::of(bytes, page_size) else { return Self::default() };
        let mut log = Self { page_size: header.page_size, ..Self::default() };
        let raw: Vec<Raw<'_>> = bytes[HEADER..]
            .chunks_exact(FRAME_HEADER + header.page_size)
            .map(|bytes| Raw { bytes, order: header.order })
            .collect();
        let mut seed = header.seed;
        let mut is_read = header.is_whole;
        let mut ends = 0;
        for (at, frame) in raw.iter().enumerate() {
            let next = raw.get(at + 1);
            let is_ours = frame.salts() == header.salts;
            let goes_on = || {
                next.is_some_and(|next| next.salts() == header.salts)
                    || seed.is_some_and(|seed| frame.checksum(seed) == frame.stored())
            };
            if !is_ours && !goes_on() {
                // These are remains of an older generation of the log.
                break;
            }
            let (judged, after) = judge(frame, seed, next);
            is_read &= is_ours && judged.trust == FrameTrust::Whole;
            seed = Some(after);
            // In a damaged frame the commit mark itself may be damaged.
            let is_sure = matches!(judged.trust, FrameTrust::Whole | FrameTrust::Mended);
            let ends_here = judged.commit > 0 && (is_sure || judged.is_plausible());
            log.frames.push(judged);
            if ends_here {
                ends = log.frames.len();
                log.read = if is_read { ends } else { log.read };
            }
        }
        // Frames of an incomplete transaction were never acknowledged.
        log.frames.truncate(ends);
        log
    }

    /// Whether there are whole transactions beyond the damage.
    pub fn holds_more(&self) -> bool {
        self.frames.len() > self.read
    }
}

/// The header of a log.
struct Header {
    page_size: usize,
    order: Order,
    salts: [u8; 8],
    /// The checksum that the first frame continues, if known.
    seed: Option<[u32; 2]>,
    is_whole: bool,
}

impl Header {
    fn of(bytes: &[u8], page_size: Option<usize>) -> Option<Self> {
        let head: [u8; HEADER] = bytes.get(..HEADER)?.try_into().ok()?;
        [Order::Little, Order::Big].into_iter().find_map(|order| {
            let mut fields = head[..24].to_vec();
            let stored = pair(&head[24..32]);
            let is_whole = order.sum([0; 2], &fields) == stored;
            // Damage in the last summed word, half of the salts, looks like damage in the sum. The first frame repeats
            // the salts.
            let has_salts = bytes.get(HEADER + 8..HEADER + 16) == Some(&fields[16..24]);
            let is_sound = is_whole
                || (has_salts
                    && magic_of(&fields) == order.magic()
                    && order.sum([0; 2], &fields)[0] == stored[0])
                || matches!(order.mend([0; 2], &mut fields, stored)[..], [_]);
            let magic = magic_of(&fields) == order.magic();
            let size = u32::from_be_bytes(fields[8..12].try_into().ok()?) as usize;
            if is_sound && magic && PAGE_SIZES.contains(&size) && size.is_power_of_two() {
                let salts = fields[16..24].try_into().ok()?;
                let seed = Some(order.sum([0; 2], &fields));
                return Some(Self { page_size: size, order, salts, seed, is_whole });
            }
            // Its frames show what it was.
            let size = page_size.unwrap_or(size);
            if !PAGE_SIZES.contains(&size) || !size.is_power_of_two() {
                return None;
            }
            let frames: Vec<Raw<'_>> =
                bytes[HEADER..].chunks_exact(FRAME_HEADER + size).map(|bytes| Raw { bytes, order }).collect();
            let proven = frames.windows(2).find(|two| two[1].checksum(two[0].stored()) == two[1].stored())?;
            Some(Self { page_size: size, order, salts: proven[1].salts(), seed: None, is_whole: false })
        })
    }
}

/// A frame as stored in the file.
struct Raw<'a> {
    bytes: &'a [u8],
    order: Order,
}

impl Raw<'_> {
    fn salts(&self) -> [u8; 8] {
        self.bytes[8..16].try_into().expect("a frame has a header")
    }

    fn stored(&self) -> [u32; 2] {
        pair(&self.bytes[16..24])
    }

    /// Returns the bytes that its checksum covers: the page number and the commit mark, then the page.
    fn covered(&self) -> Vec<u8> {
        [&self.bytes[..8], &self.bytes[FRAME_HEADER..]].concat()
    }

    fn checksum(&self, seed: [u32; 2]) -> [u32; 2] {
        let seed = self.order.sum(seed, &self.bytes[..8]);
        self.order.sum(seed, &self.bytes[FRAME_HEADER..])
    }
}

/// Makes the frame from its covered bytes (page, commit size, contents).
fn frame_of(covered: &[u8], trust: FrameTrust) -> LogFrame {
    let number = |at: usize| u32::from_be_bytes(covered[at..at + 4].try_into().expect("eight bytes"));
    LogFrame {
        page: number(0),
        commit: number(4),
        trust,
        bytes: covered[8..].to_vec(),
        alternatives: Vec::new(),
    }
}

/// Judges a frame by the checksum of the one before it. Returns also the checksum that the next frame continues.
fn judge(frame: &Raw<'_>, seed: Option<[u32; 2]>, next: Option<&Raw<'_>>) -> (LogFrame, [u32; 2]) {
    let mut covered = frame.covered();
    let stored = frame.stored();
    let Some(seed) = seed else {
        // The next frame proves at least that this one's checksum is as it was written.
        let trust = if proves(next, stored) { FrameTrust::Whole } else { FrameTrust::Damaged };
        return (frame_of(&covered, trust), stored);
    };
    let sum = frame.checksum(seed);
    if sum == stored {
        return (frame_of(&covered, FrameTrust::Whole), stored);
    }
    if proves(next, sum) {
        // Only the checksum itself was damaged.
        return (frame_of(&covered, FrameTrust::Mended), sum);
    }
    // Without a following frame, damage in the last word looks like damage in the checksum.
    let is_open = next.is_none() && sum[0] == stored[0];
    let found = if is_open { Vec::new() } else { frame.order.mend(seed, &mut covered, stored) };
    let judged = match &found[..] {
        [] => frame_of(&covered, FrameTrust::Damaged),
        [_] => frame_of(&covered, FrameTrust::Mended),
        several => {
            let alternative = |repair: &Repair| frame_of(&repair.applied(&covered), FrameTrust::Mended);
            let alternatives = several.iter().map(alternative).collect();
            LogFrame { alternatives, ..frame_of(&covered, FrameTrust::Open) }
        }
    };
    (judged, stored)
}

/// A word that explains the damage, with its position.
#[derive(Clone, Copy)]
struct Repair {
    at: usize,
    word: [u8; 4],
}

impl Repair {
    fn applied(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        bytes[self.at..self.at + 4].copy_from_slice(&self.word);
        bytes
    }
}

/// Whether the next frame is whole, given this checksum of the frame before it.
fn proves(next: Option<&Raw<'_>>, checksum: [u32; 2]) -> bool {
    next.is_some_and(|next| next.checksum(checksum) == next.stored())
}

fn magic_of(header: &[u8]) -> u32 {
    u32::from_be_bytes(header[..4].try_into().expect("a header begins with four bytes"))
}

fn pair(bytes: &[u8]) -> [u32; 2] {
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("eight bytes"));
    [number(0), number(4)]
}

/// The byte order in which a checksum reads its words.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn magic(self) -> u32 {
        match self {
            Self::Little => MAGIC,
            Self::Big => MAGIC | 1,
        }
    }

    fn word(self, bytes: &[u8]) -> u32 {
        let bytes = bytes.try_into().expect("a word has four bytes");
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn bytes(self, word: u32) -> [u8; 4] {
        match self {
            Self::Little => word.to_le_bytes(),
            Self::Big => word.to_be_bytes(),
        }
    }

    /// Computes the checksum of section 4.2, over pairs of words.
    fn sum(self, [mut one, mut two]: [u32; 2], bytes: &[u8]) -> [u32; 2] {
        for words in bytes.chunks_exact(8) {
            one = one.wrapping_add(self.word(&words[..4])).wrapping_add(two);
            two = two.wrapping_add(self.word(&words[4..])).wrapping_add(one);
        }
        [one, two]
    }

    /// Finds all single words that explain the damage, and repairs it if there is exactly one.
    ///
    /// The sum is linear modulo 2^32. A word that is larger by `d` makes it larger by `d` times two factors that depend
    /// only on the word's position. If only a word's highest byte is damaged, the factors count modulo 256 and repeat
    /// every 192 pairs. Then two or three words explain it.
    fn mend(self, seed: [u32; 2], bytes: &mut [u8], stored: [u32; 2]) -> Vec<Repair> {
        let sum = self.sum(seed, bytes);
        let missing = [stored[0].wrapping_sub(sum[0]), stored[1].wrapping_sub(sum[1])];
        // From the end, where nothing follows.
        let (mut first, mut second) = ([1_u32, 1], [0_u32, 1]);
        let mut found = Vec::new();
        for pair in (0..bytes.len() / 8).rev() {
            for (at, factors) in [(pair * 8 + 4, second), (pair * 8, first)] {
                if let Some(difference) = solve(factors, missing) {
                    let word = self.word(&bytes[at..at + 4]).wrapping_add(difference);
                    found.push(Repair { at, word: self.bytes(word) });
                }
            }
            for factors in [&mut first, &mut second] {
                factors[0] = factors[0].wrapping_add(factors[1]);
                factors[1] = factors[1].wrapping_add(factors[0]);
            }
        }
        if let [only] = found[..] {
            bytes[only.at..only.at + 4].copy_from_slice(&only.word);
        }
        found
    }
}

/// Returns the number whose products with `factors` are both of `missing`. One of the factors is odd.
fn solve(factors: [u32; 2], missing: [u32; 2]) -> Option<u32> {
    let odd = usize::from(factors[0].is_multiple_of(2));
    let difference = missing[odd].wrapping_mul(inverse(factors[odd]));
    let fits = (0..2).all(|at| difference.wrapping_mul(factors[at]) == missing[at]);
    (fits && difference != 0).then_some(difference)
}

/// Computes the inverse of an odd number modulo 2^32, by Newton's iteration. Each step doubles the number of correct
/// bits; an odd number itself has three.
fn inverse(odd: u32) -> u32 {
    (0..4).fold(odd, |found, _| found.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(found))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// Returns a log that `SQLite` wrote.
    fn sample() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let file = Connection::open(&path).unwrap();
        file.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)")
            .unwrap();
        for n in 0..6 {
            file.execute("INSERT INTO t VALUES (?1, ?2)", (n, format!("sentence {n} ").repeat(40))).unwrap();
        }
        std::fs::read(folder.path().join("x.db-wal")).unwrap()
    }

    #[test]
    fn a_sound_log_is_read_whole() {
        let log = Log::of(&sample(), None);
        assert!(!log.frames.is_empty() && !log.holds_more(), "{}", log.frames.len());
        assert!(
            log.frames.iter().all(|frame| frame.trust == FrameTrust::Whole && frame.bytes.len() == 4_096)
        );
    }

    /// Changes each byte of the log in turn, by some steps: every frame that `SQLite` would drop is read as it was.
    #[test]
    fn one_changed_byte_anywhere_is_undone() {
        let bytes = sample();
        let whole = Log::of(&bytes, None);
        let (mut lost, mut tried, mut sure) = (0, 0, 0);
        let last = bytes.len() - 4_096 - 8;
        for at in (0..HEADER).chain(HEADER..HEADER + FRAME_HEADER).chain((HEADER..bytes.len()).step_by(61)) {
            for flip in [0x01, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let log = Log::of(&damaged, Some(4_096));
                // The end of the last page and the last checksum cannot be distinguished.
                let is_open = (last..last + 8).contains(&at) || at >= bytes.len() - 4;
                for (frame, was) in log.frames.iter().zip(&whole.frames).filter(|_| !is_open) {
                    // If several words explain the damage, one of them is the right one.
                    let same = |one: &LogFrame| {
                        (one.page, one.commit, &one.bytes) == (was.page, was.commit, &was.bytes)
                    };
                    let is_there = if frame.trust == FrameTrust::Open {
                        frame.alternatives.iter().any(same)
                    } else {
                        same(frame)
                    };
                    assert!(is_there, "byte {at} ^ {flip}: {:?}", frame.trust);
                    assert!(frame.alternatives.len() < 7 && frame.trust != FrameTrust::Damaged, "byte {at}");
                    sure += usize::from(frame.trust == FrameTrust::Mended);
                }
                assert_eq!(log.frames.len(), whole.frames.len(), "byte {at}");
                lost += usize::from(log.holds_more());
                tried += 1;
            }
        }
        assert!(lost * 10 > tried * 9, "{lost} of {tried} would have been dropped");
        assert!(sure * 10 > tried * 6, "{sure} of {tried} have one explanation");
    }

    #[test]
    fn wide_damage_leaves_the_frames_behind_it() {
        let bytes = sample();
        let whole = Log::of(&bytes, None);
        let size = FRAME_HEADER + 4_096;
        for at in 1..whole.frames.len() - 1 {
            let mut damaged = bytes.clone();
            let start = HEADER + at * size + FRAME_HEADER + 100;
            damaged[start..start + 64].fill(0xA5);
            let log = Log::of(&damaged, None);
            assert_eq!(log.frames.len(), whole.frames.len());
            for (nth, frame) in log.frames.iter().enumerate() {
                let wanted = if nth == at { FrameTrust::Damaged } else { FrameTrust::Whole };
                assert_eq!(frame.trust, wanted, "frame {nth}, damage in {at}");
            }
            assert!(log.read <= at);
        }
    }

    /// Remains of an older generation after the present one, and frames of an incomplete transaction, are not used.
    #[test]
    fn what_was_never_committed_is_not_read() {
        let bytes = sample();
        let whole = Log::of(&bytes, None);
        let size = FRAME_HEADER + 4_096;
        let last = HEADER + (whole.frames.len() - 1) * size;
        assert!(whole.frames.last().unwrap().commit > 0);
        // The last commit mark is gone with its frame.
        let cut = Log::of(&bytes[..last], None);
        assert!(
            cut.frames.len() < whole.frames.len() && cut.frames.last().is_none_or(|frame| frame.commit > 0)
        );
        let mut older = bytes.clone();
        let stale: Vec<u8> = bytes[HEADER..HEADER + size].iter().map(|byte| byte ^ 0x33).collect();
        older.extend_from_slice(&stale);
        older.extend_from_slice(&stale);
        assert_eq!(Log::of(&older, None), whole);
        for length in [0, 10, HEADER, HEADER + 100] {
            assert_eq!(Log::of(&bytes[..length], None).frames, []);
        }
        assert_eq!(Log::of(&[0x5A; 9_000], None).frames, []);
    }

    /// `zlib` has no such sum; by hand: words 1, 2, 3, 4 from (0, 0) give 1, 3, then 7, 14.
    #[test]
    fn the_checksum_is_that_of_the_format() {
        let words: Vec<u8> = [1_u32, 2, 3, 4].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(Order::Little.sum([0; 2], &words), [7, 14]);
        let words: Vec<u8> = [1_u32, 2, 3, 4].iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(Order::Big.sum([0; 2], &words), [7, 14]);
        for odd in [1, 3, 0x1234_5679, u32::MAX] {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1);
        }
    }
}
