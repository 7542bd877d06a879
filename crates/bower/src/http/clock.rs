//! Reads the clock; in tests the time is the one that a test sets.

use jiff::Timestamp;

#[cfg(test)]
thread_local! {
    static CLOCK: std::cell::Cell<Option<Timestamp>> = const { std::cell::Cell::new(None) };
}

/// The clock, read once a request.
pub fn now() -> Timestamp {
    #[cfg(test)]
    if let Some(told) = CLOCK.get() {
        return told;
    }
    Timestamp::now()
}

/// From now on it is this time on this thread.
#[cfg(test)]
pub fn set_clock(now: Timestamp) {
    CLOCK.set(Some(now));
}
