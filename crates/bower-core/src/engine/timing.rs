//! Measures how long a stage took.

use std::time::Instant;

pub(crate) fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
