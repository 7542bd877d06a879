//! A clock that moves only when somebody waits, and remembers for how long.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use crate::clock::Clock;
use crate::fake::options::lock;

/// A clock for tests.
#[derive(Debug)]
pub struct ManualClock {
    start: Instant,
    waits: Mutex<Vec<Duration>>,
}

impl Default for ManualClock {
    fn default() -> Self {
        Self { start: Instant::now(), waits: Mutex::default() }
    }
}

impl ManualClock {
    /// Returns all waits so far.
    pub fn waits(&self) -> Vec<Duration> {
        lock(&self.waits).clone()
    }

    fn passed(&self) -> Duration {
        lock(&self.waits).iter().sum()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        self.start + self.passed()
    }

    fn date(&self) -> SystemTime {
        // The date of the example in RFC 9110, section 5.6.7: Sun, 06 Nov 1994 08:49:37 GMT.
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777) + self.passed()
    }

    fn wait(&self, time: Duration) {
        lock(&self.waits).push(time);
    }
}
