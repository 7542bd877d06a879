//! Defines a fuzz target, and runs it briefly as a test.
//! The crate `bower` uses this file for its own targets too.

/// A reader of untrusted input, driven by fuzzers.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    /// Reads some bytes and panics if a check fails.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: &'static [&'static [u8]],
}

/// Runs every target on its seeds, and on `runs` texts made from them by seeded changes.
#[cfg(test)]
pub fn run_all(targets: &[Target], runs: u64) {
    for target in targets {
        let mut dice = Dice(1);
        for seed in target.seeds {
            (target.run)(seed);
        }
        for _ in 0..runs {
            let mut input = target.seeds[dice.roll(target.seeds.len())].to_vec();
            for _ in 0..=dice.roll(4) {
                dice.change(&mut input, target.seeds);
            }
            (target.run)(&input);
        }
    }
}

/// `SplitMix64`.
#[cfg(test)]
struct Dice(u64);

#[cfg(test)]
impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % sides.max(1) as u64) as usize
    }

    /// Changes, removes, repeats or inserts a part of an input.
    fn change(&mut self, input: &mut Vec<u8>, seeds: &[&[u8]]) {
        const MARKS: &[u8] = b"\0\n\r\t \"#$&'()*+-./0:<=>[\\]_`{|}~\x7f\x80\xc3\xe2\xf0\xff";
        let (from, to) = (self.roll(input.len() + 1), self.roll(input.len() + 1));
        let part = from.min(to)..from.max(to);
        match self.roll(6) {
            0 if from < input.len() => input[from] = MARKS[self.roll(MARKS.len())],
            1 if from < input.len() => input[from] ^= 1 << self.roll(8),
            2 => input.drain(part).for_each(drop),
            3 => {
                let copy = input[part.clone()].to_vec();
                input.splice(part.start..part.start, copy).for_each(drop);
            }
            4 => {
                let other = seeds[self.roll(seeds.len())];
                let start = self.roll(other.len());
                input.splice(part, other[start..].iter().copied()).for_each(drop);
            }
            _ => input.insert(from, MARKS[self.roll(MARKS.len())]),
        }
    }
}
