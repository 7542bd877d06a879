//! Limits glibc's arenas, and returns unused heap pages to the operating system.
//! Nothing here changes what is allocated; where the allocator is not glibc's it does nothing.

/// Lets glibc make so many arenas at most, where it would make eight for each core. Threads that come and go leave holes in each of
/// them. To be called before the process has threads.
pub fn limit_arenas(most: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only sets a parameter, and takes the allocator's lock for it.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::try_from(most).unwrap_or(i32::MAX));
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = most;
}

/// Gives the operating system back the pages that nobody uses, in the middle of the heap too. Goes through all arenas, each of which
/// is locked meanwhile: some milliseconds for 100 MB.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim takes its locks itself and touches free memory only; 0 is a valid pad.
    unsafe {
        libc::malloc_trim(0);
    }
}
