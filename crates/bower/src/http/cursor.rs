//! Permutes change numbers for callers with access bounds, so that the numbers do not reveal how much others write.
//! Each caller has a permutation of its own. Only the server can invert it, and it stores nothing for that.

use sha2::{Digest, Sha256};

use super::auth::{Caller, Key};

/// Bits of a number. Any JSON reader keeps integers of this size exact.
const BITS: u32 = 52;
const HALF: u32 = BITS / 2;
const MASK: u64 = (1 << HALF) - 1;

/// Rounds of a Luby-Rackoff permutation; four make it indistinguishable from a random one (Luby and Rackoff 1988).
const ROUNDS: u8 = 6;

/// The numbering of changes for one caller.
#[derive(Clone, Debug)]
pub struct Cursors(Option<[u8; 32]>);

impl Cursors {
    /// Returns the identity for a caller who sees the whole store, else a permutation that is derived from the token.
    pub fn of(caller: &Caller) -> Self {
        if caller.bounds.is_everything() {
            return Self(None);
        }
        let key = match &caller.key {
            Key::Token(hash) => hash.clone(),
            Key::Address(address) => address.to_string(),
        };
        Self(Some(Sha256::digest(format!("changes {key}")).into()))
    }

    /// Returns the number to show for a change. 0, which precedes all changes, stays 0.
    pub fn told(&self, change: u64) -> u64 {
        let Some(key) = self.0.as_ref().filter(|_| change != 0) else { return change };
        match encrypt(key, change & ((1 << BITS) - 1)) {
            0 => encrypt(key, 0),
            told => told,
        }
    }

    /// Returns the change for a number that was shown. A number that was never shown most likely maps to no change of
    /// this store.
    pub fn change(&self, told: u64) -> u64 {
        let Some(key) = self.0.as_ref().filter(|_| told != 0) else { return told };
        if told >> BITS != 0 {
            return u64::MAX >> 1;
        }
        match decrypt(key, told) {
            0 => decrypt(key, 0),
            change => change,
        }
    }
}

fn mixed(key: &[u8; 32], round: u8, half: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(key);
    hash.update([round]);
    hash.update(half.to_le_bytes());
    let digest = hash.finalize();
    let (first, _) = digest.as_chunks::<8>();
    u64::from_le_bytes(first[0]) & MASK
}

fn encrypt(key: &[u8; 32], number: u64) -> u64 {
    let (mut left, mut right) = (number >> HALF, number & MASK);
    for round in 0..ROUNDS {
        (left, right) = (right, left ^ mixed(key, round, right));
    }
    (left << HALF) | right
}

fn decrypt(key: &[u8; 32], number: u64) -> u64 {
    let (mut left, mut right) = (number >> HALF, number & MASK);
    for round in (0..ROUNDS).rev() {
        (left, right) = (right ^ mixed(key, round, left), left);
    }
    (left << HALF) | right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_back_and_tells_no_count() {
        let cursors = Cursors(Some([7; 32]));
        let told: Vec<u64> = (0..5_000).map(|change| cursors.told(change)).collect();
        for (change, &told) in (0..).zip(&told) {
            assert_eq!((cursors.change(told), told >> BITS), (change, 0), "{change}");
        }
        let distinct: std::collections::HashSet<&u64> = told.iter().collect();
        assert_eq!((told[0], distinct.len()), (0, told.len()));
        assert!(!told[1..].is_sorted(), "their order would tell how many lie between");
        assert_ne!(Cursors(Some([8; 32])).told(1), told[1]);
        assert!(cursors.change(1 << 60) > 1 << 60, "no change of any store");
    }

    #[test]
    fn whoever_sees_everything_is_told_the_numbers_themselves() {
        let cursors = Cursors(None);
        assert_eq!((cursors.told(41), cursors.change(41)), (41, 41));
    }
}
