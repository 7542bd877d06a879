//! Provides the time and the waiting, so that tests have neither.

use std::fmt;
use std::time::{Duration, Instant, SystemTime};

/// The time of a client. Tests pass in a clock that only moves when somebody waits.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the time that never goes back.
    fn now(&self) -> Instant;

    /// Returns the time of the calendar, which dates in answers refer to.
    fn date(&self) -> SystemTime;

    /// Waits.
    fn wait(&self, time: Duration);
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn date(&self) -> SystemTime {
        SystemTime::now()
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
