//! Spaces requests to a service by what it reports of its limits, so that they are not reached.

use std::time::{Duration, Instant};

/// The time before which the next request must not start, and the pause after it. All times come in as arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    next: Option<Instant>,
    pause: Duration,
}

impl Pace {
    /// Returns the wait before a request, and reserves its place if it waits no longer than `most`. Otherwise returns that wait
    /// as the error.
    pub fn reserve(&mut self, now: Instant, most: Duration) -> Result<Duration, Duration> {
        let start = self.next.map_or(now, |next| next.max(now));
        let wait = start - now;
        if wait > most {
            return Err(wait);
        }
        self.next = Some(start + self.pause);
        Ok(wait)
    }

    /// Sets the pause between requests.
    pub fn slow_down(&mut self, pause: Duration) {
        self.pause = pause;
    }

    /// Holds all requests back for a time that the server asked for.
    pub fn hold(&mut self, now: Instant, time: Duration) {
        self.next = self.next.max(Some(now + time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spaced_and_a_hold_is_for_all() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        let ms = Duration::from_millis;
        let most = ms(1_000);
        assert_eq!((pace.reserve(now, most), pace.reserve(now, most)), (Ok(ms(0)), Ok(ms(0))));
        pace.slow_down(ms(400));
        let waits: Vec<_> = (0..4).map(|_| pace.reserve(now, most)).collect();
        assert_eq!(waits, [Ok(ms(0)), Ok(ms(400)), Ok(ms(800)), Err(ms(1_200))]);
        // A refused request takes no place.
        assert_eq!(pace.reserve(now + ms(1_200), most), Ok(ms(0)));
        pace.slow_down(ms(0));
        pace.hold(now + ms(2_000), ms(500));
        pace.hold(now + ms(2_000), ms(100));
        assert_eq!(pace.reserve(now + ms(2_100), most), Ok(ms(400)));
    }
}
