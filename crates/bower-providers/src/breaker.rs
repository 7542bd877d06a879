//! Stops calls to a service that keeps failing, for a time that depends on why.

use std::time::{Duration, Instant};

use crate::failure::{Failure, FailureKind};

/// Calls that gave up one after the other before the breaker opens.
const MOST_FAILED: u32 = 3;
/// The first time that it stays open; each further one is twice as long.
const FIRST_OPEN: Duration = Duration::from_secs(10);
/// The longest time that it stays open for a server that fails.
const MOST_OPEN: Duration = Duration::from_mins(5);
/// The time for missing money and for the quota of a day.
const MONEY_OPEN: Duration = Duration::from_hours(1);
/// The time for a wrong key: another key comes with another client.
const KEY_OPEN: Duration = Duration::from_mins(5);

/// A circuit breaker. All times come in as arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breaker {
    failed: u32,
    opened: u32,
    open: Option<(Instant, Failure)>,
    trying: bool,
}

impl Breaker {
    /// Returns the failure that opened the breaker, with the time until the next try, if it is open. After that time one call
    /// passes, and the others wait for its result.
    pub fn check(&mut self, now: Instant) -> Result<(), Failure> {
        let Some((until, failure)) = &self.open else { return Ok(()) };
        let left = until.saturating_duration_since(now);
        if left.is_zero() && !self.trying {
            self.trying = true;
            return Ok(());
        }
        Err(failure.clone().with_retry_after(Some(left)))
    }

    /// Closes the breaker: the service answered.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Ends a call that passed and sent nothing.
    pub fn abandoned(&mut self) {
        self.trying = false;
    }

    /// Counts a call that gave up, and opens the breaker if that is called for.
    pub fn failed(&mut self, failure: &Failure, now: Instant) {
        let time = match failure.kind {
            FailureKind::Money | FailureKind::DailyQuota => MONEY_OPEN,
            FailureKind::Key => KEY_OPEN,
            FailureKind::Server | FailureKind::Transport | FailureKind::Timeout => {
                self.failed += 1;
                if self.failed < MOST_FAILED && !self.trying {
                    return;
                }
                FIRST_OPEN.saturating_mul(1 << self.opened.min(8)).min(MOST_OPEN)
            }
            // The service works: it is this request that fails, or it comes too early.
            FailureKind::Rate
            | FailureKind::ModelUnknown
            | FailureKind::TooLong
            | FailureKind::EmptyText
            | FailureKind::BadRequest
            | FailureKind::ContentRefused
            | FailureKind::NotJson
            | FailureKind::BadVectors
            | FailureKind::RefusedAddress => {
                if self.trying {
                    self.succeeded();
                }
                return;
            }
        };
        // Calls that were under way when it opened do not make it longer.
        let is_open = self.open.as_ref().is_some_and(|(until, _)| *until > now);
        if !is_open {
            self.opened += 1;
            self.open = Some((now + time, failure.clone()));
        }
        self.trying = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Subject;
    use crate::provider::Provider;

    fn failure(kind: FailureKind) -> Failure {
        Subject { provider: Provider::OpenAi, model: "m".into() }.failure(kind, "", None)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn money_opens_it_for_an_hour_at_once() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        assert_eq!(breaker.check(start), Ok(()));
        breaker.failed(&failure(FailureKind::Money), start);
        let refused = breaker.check(start + seconds(3_599)).unwrap_err();
        assert_eq!((refused.kind, refused.retry_after), (FailureKind::Money, Some(seconds(1))));
        // One call tries, the others are refused until its result is known.
        assert_eq!(breaker.check(start + seconds(3_600)), Ok(()));
        assert!(breaker.check(start + seconds(3_600)).is_err());
        breaker.abandoned();
        assert_eq!(breaker.check(start + seconds(3_600)), Ok(()));
        breaker.succeeded();
        assert_eq!(breaker.check(start + seconds(3_600)), Ok(()));
        assert_eq!(breaker.check(start + seconds(3_600)), Ok(()));
    }

    #[test]
    fn a_server_opens_it_after_three_calls_and_longer_each_time() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        let server = failure(FailureKind::Server);
        breaker.failed(&server, start);
        breaker.failed(&server, start);
        assert_eq!(breaker.check(start), Ok(()));
        breaker.failed(&server, start);
        breaker.failed(&server, start + seconds(5));
        assert_eq!(breaker.check(start).unwrap_err().retry_after, Some(seconds(10)));
        let mut now = start;
        for expected in [20, 40, 80, 160, 300, 300] {
            let left = breaker.check(now).unwrap_err().retry_after.unwrap();
            now += left;
            assert_eq!(breaker.check(now), Ok(()));
            breaker.failed(&server, now);
            assert_eq!(breaker.check(now).unwrap_err().retry_after, Some(seconds(expected)));
        }
    }

    #[test]
    fn a_success_between_starts_the_count_again_and_a_bad_text_is_not_counted() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..10 {
            breaker.failed(&failure(FailureKind::Transport), now);
            breaker.failed(&failure(FailureKind::Timeout), now);
            breaker.succeeded();
            breaker.failed(&failure(FailureKind::TooLong), now);
            breaker.failed(&failure(FailureKind::Rate), now);
        }
        assert_eq!(breaker.check(now), Ok(()));
    }
}
