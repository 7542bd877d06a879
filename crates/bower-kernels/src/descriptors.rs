//! Raises the limit of files and connections that this process may have open.
//! Where the system is not Linux with glibc the limit is not known.

/// Raises the limit as far as is wanted and the system lets this process; how many it may have open then. `None` where that is not
/// known.
pub fn raise_limit(wanted: u64) -> Option<u64> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: getrlimit writes the struct that it is given, which lives here.
        if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
            return None;
        }
        let before = limit.rlim_cur;
        limit.rlim_cur = wanted.min(limit.rlim_max).max(before);
        // SAFETY: setrlimit reads the struct that it is given, which lives here.
        let is_set = limit.rlim_cur == before
            || unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) } == 0;
        Some(if is_set { limit.rlim_cur } else { before })
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        let _ = wanted;
        None
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_never_lowered() {
        let before = raise_limit(0).unwrap();
        assert!(before > 0);
        assert!(raise_limit(before + 1).unwrap() >= before);
        assert!(raise_limit(1).unwrap() >= before);
    }
}
