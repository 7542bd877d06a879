//! Reads the clock; a test can set the time instead.

use jiff::Timestamp;

#[cfg(test)]
thread_local! {
    static CLOCK: std::cell::Cell<Option<Timestamp>> = const { std::cell::Cell::new(None) };
}

/// Returns the current time. It is read once for each request.
pub fn now() -> Timestamp {
    #[cfg(test)]
    if let Some(told) = CLOCK.get() {
        return told;
    }
    Timestamp::now()
}

/// Sets the time that this thread reads from now on.
#[cfg(test)]
pub fn set_clock(now: Timestamp) {
    CLOCK.set(Some(now));
}
