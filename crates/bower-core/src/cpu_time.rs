//! Reads the CPU time of the calling thread.

/// Returns the CPU seconds that the calling thread has used since it began.
#[cfg(unix)]
pub(crate) fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns 0: this system has no such clock, so that shares of CPU time are not reported, and limits on it never end anything.
#[cfg(not(unix))]
pub(crate) fn thread_seconds() -> f64 {
    0.0
}
