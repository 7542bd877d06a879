//! Caches what was read from the store until the store changes.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::item::Coverage;

/// One value read from the store, as it was last; of several, distinguished by `K`, the one that was read last.
#[derive(Debug)]
pub(crate) struct VersionedCache<T, K = ()>(Mutex<Option<(Coverage, K, Arc<T>)>>);

impl<T, K> Default for VersionedCache<T, K> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> VersionedCache<T> {
    /// Returns the value where there is only one, as [`VersionedCache::get_of`] does.
    pub(crate) fn get(&self, newest: &Coverage, read: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        self.get_of(newest, (), |_| read())
    }
}

impl<T, K: PartialEq> VersionedCache<T, K> {
    /// Returns the cached value if `newest` is still the store's last change; else reads it, from the older value if that
    /// helps. `newest` was read from the store before: a change between the two makes the cached value newer than its number,
    /// never older.
    pub(crate) fn get_of(
        &self,
        newest: &Coverage,
        which: K,
        read: impl FnOnce(Option<(Coverage, Arc<T>)>) -> Result<T>,
    ) -> Result<Arc<T>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., kept)) = known.as_ref().filter(|(at, of, _)| at == newest && *of == which) {
            return Ok(Arc::clone(kept));
        }
        let older = known.take().filter(|(_, of, _)| *of == which);
        let kept = Arc::new(read(older.map(|(at, _, kept)| (at, kept)))?);
        *known = Some((newest.clone(), which, Arc::clone(&kept)));
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::item::Change;

    #[test]
    fn what_is_known_is_read_again_after_a_change_and_never_from_another_history() {
        let at = |change, mark| Coverage { store: "s".into(), change: Change(change), mark };
        let known = VersionedCache::default();
        let get = |newest: &Coverage, now: u32| *known.get(newest, || Ok(now)).unwrap();
        assert_eq!((get(&at(1, 7), 1), get(&at(1, 7), 2)), (1, 1));
        assert_eq!((get(&at(2, 8), 3), get(&at(2, 9), 4)), (3, 4));
        assert!(known.get(&at(3, 1), || Err(Error::invalid("a read", "failed"))).is_err());
        assert_eq!(get(&at(3, 1), 5), 5, "a failed read is not kept");
        let known = VersionedCache::default();
        let get = |which: char, now: u32| *known.get_of(&at(1, 7), which, |_| Ok(now)).unwrap();
        assert_eq!((get('a', 1), get('b', 2), get('b', 3), get('a', 4)), (1, 2, 2, 4));
        let older = |which, newest| {
            let mut older = None;
            known
                .get_of(&at(newest, 8), which, |kept| {
                    older = kept.map(|(at, kept)| (at.change.0, *kept));
                    Ok(9)
                })
                .unwrap();
            older
        };
        assert_eq!((older('a', 2), older('b', 3)), (Some((1, 4)), None), "of another nothing helps");
    }
}
