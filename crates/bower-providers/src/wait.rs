//! Decides whether a call is tried again and how long it waits before that, as pure functions.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

/// The limits of trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most tries, the first one too.
    pub tries: u32,
    /// The wait after the first try; it doubles with each further one.
    pub first_wait: Duration,
    /// The longest wait that the server did not ask for.
    pub most_wait: Duration,
    /// Most time that a call spends on failed tries and waits.
    pub most_wasted: Duration,
}

/// What a call has spent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Failed tries.
    pub tries: u32,
    /// The time of these tries and of the waits between them.
    pub wasted: Duration,
    /// The time until the caller's deadline, if there is one.
    pub left: Option<Duration>,
}

/// A server's report on one of its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RateReport {
    pub limit: Option<u64>,
    pub remaining: u64,
    pub reset: Duration,
}

/// The share of a limit, as 1 in so many, below which requests slow down.
const SLOW_SHARE: u64 = 10;
/// The longest pause between two requests because of a rate report: after it the report is out of date.
const MOST_PAUSE: Duration = Duration::from_secs(10);
/// The longest wait that is believed: one year.
const MOST_SECONDS: f64 = 31_536_000.0;

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 4,
            first_wait: Duration::from_millis(500),
            most_wait: Duration::from_secs(8),
            most_wasted: Duration::from_secs(15),
        }
    }
}

impl RetryPolicy {
    /// The policy of a call that somebody waits for.
    pub const ONCE: Self =
        Self { tries: 1, first_wait: Duration::ZERO, most_wait: Duration::ZERO, most_wasted: Duration::ZERO };

    /// Returns the wait before the next try; `None` if there is none. `asked` is the server's wish; `jitter` is in 0..1.
    pub fn next_wait(&self, spent: Spent, asked: Option<Duration>, jitter: f64) -> Option<Duration> {
        if spent.tries >= self.tries {
            return None;
        }
        let wait = if let Some(asked) = asked {
            // Never earlier than asked, and not all at the same moment.
            asked + asked.min(Duration::from_secs(1)).mul_f64(jitter * 0.1)
        } else {
            let doubled = self.first_wait.saturating_mul(1 << spent.tries.saturating_sub(1).min(16));
            doubled.min(self.most_wait).mul_f64(0.5 + jitter * 0.5)
        };
        let in_budget = spent.wasted.saturating_add(wait) <= self.most_wasted;
        let in_time = spent.left.is_none_or(|left| wait < left);
        (in_budget && in_time).then_some(wait)
    }
}

/// Returns the wait that headers ask for. `now` is the date that a date refers to.
pub(crate) fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let milliseconds = header("retry-after-ms").and_then(number).map(|ms| ms / 1_000.0);
    let value = header("retry-after");
    if let Some(wait) = milliseconds.or_else(|| value.and_then(number)).and_then(seconds) {
        return Some(wait);
    }
    let date = jiff::fmt::rfc2822::parse(value?.trim()).ok()?.timestamp();
    Some(until(date, now))
}

fn seconds(seconds: f64) -> Option<Duration> {
    (0.0..=MOST_SECONDS).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

fn until(date: Timestamp, now: SystemTime) -> Duration {
    SystemTime::from(date).duration_since(now).unwrap_or_default()
}

/// Parses a duration such as `45.8s`, `6m0s`, `120ms` or `2`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let factor = match &rest[..end] {
            "h" => 3_600.0,
            "m" => 60.0,
            "s" | "" => 1.0,
            "ms" => 0.001,
            "us" | "µs" => 0.000_001,
            _ => return None,
        };
        total += number * factor;
        rest = &rest[end..];
    }
    seconds(total)
}

/// Returns the reports of `x-ratelimit-*` and `anthropic-ratelimit-*`: those of requests and those of tokens.
pub(crate) fn rate_reports<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: SystemTime,
) -> [Option<RateReport>; 2] {
    ["requests", "tokens"].map(|what| {
        let read = |part: &str| {
            header(&format!("x-ratelimit-{part}-{what}"))
                .or_else(|| header(&format!("anthropic-ratelimit-{what}-{part}")))
        };
        let number = |part: &str| read(part).and_then(|text| text.trim().parse::<u64>().ok());
        let reset = read("reset")?.trim();
        let reset = parse_duration(reset).or_else(|| Some(until(reset.parse().ok()?, now)))?;
        Some(RateReport { limit: number("limit"), remaining: number("remaining")?, reset })
    })
}

impl RateReport {
    /// Returns the pause before each further request that costs `cost` units, so that the limit is not reached. Limits refill
    /// evenly: what was used comes back within `reset`.
    pub fn pause(self, cost: u64) -> Duration {
        let Some(limit) = self.limit.filter(|limit| *limit > self.remaining) else {
            return if self.remaining < cost { self.reset.min(MOST_PAUSE) } else { Duration::ZERO };
        };
        if self.remaining.saturating_mul(SLOW_SHARE) >= limit && self.remaining >= cost {
            return Duration::ZERO;
        }
        self.reset.mul_f64(cost as f64 / (limit - self.remaining) as f64).min(MOST_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn spent(tries: u32) -> Spent {
        Spent { tries, wasted: Duration::ZERO, left: None }
    }

    #[test]
    fn waits_double_from_half_a_second_to_eight() {
        let policy = RetryPolicy { tries: 10, most_wasted: ms(100_000), ..RetryPolicy::default() };
        let wait = |tries, jitter| policy.next_wait(spent(tries), None, jitter).unwrap();
        let waits: Vec<u128> = (1..8).map(|tries| wait(tries, 1.0).as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        assert_eq!((wait(1, 0.0), wait(2, 0.5)), (ms(250), ms(750)));
    }

    #[test]
    fn there_are_four_tries_fifteen_seconds_and_a_deadline() {
        let policy = RetryPolicy::default();
        assert!(policy.next_wait(spent(3), None, 0.0).is_some());
        assert_eq!(policy.next_wait(spent(4), None, 0.0), None);
        let wasted = |wasted| policy.next_wait(Spent { wasted, ..spent(1) }, Some(ms(1_000)), 0.0);
        assert_eq!((wasted(ms(14_000)), wasted(ms(14_001))), (Some(ms(1_000)), None));
        // A wait beyond the deadline fails at once.
        let left = |left| policy.next_wait(Spent { left: Some(left), ..spent(1) }, Some(ms(1_000)), 0.0);
        assert_eq!((left(ms(1_001)), left(ms(1_000))), (Some(ms(1_000)), None));
        assert_eq!(RetryPolicy::ONCE.next_wait(spent(1), Some(Duration::ZERO), 0.0), None);
    }

    #[test]
    fn the_server_is_never_asked_earlier_than_it_wants() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.next_wait(spent(1), Some(ms(2_000)), 0.0), Some(ms(2_000)));
        assert_eq!(policy.next_wait(spent(1), Some(ms(2_000)), 1.0), Some(ms(2_100)));
        assert_eq!(policy.next_wait(spent(1), Some(ms(20)), 1.0), Some(ms(22)));
    }

    #[test]
    fn retry_after_is_seconds_a_date_or_milliseconds() {
        // 784111777 is the date of the example in RFC 9110, section 5.6.7.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let check = |name: &str, value: &str, expected: Option<Duration>| {
            assert_eq!(retry_after(|key| (key == name).then_some(value), now), expected, "{value}");
        };
        check("retry-after", "3", Some(ms(3_000)));
        check("retry-after", "0.25", Some(ms(250)));
        check("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(ms(7_000)));
        check("retry-after", "Sun, 06 Nov 1994 08:40:37 GMT", Some(ms(0)));
        check("retry-after-ms", "120", Some(ms(120)));
        for wrong in ["-1", "inf", "NaN", "1e300", "soon", ""] {
            check("retry-after", wrong, None);
        }
        let both = |key: &str| Some(if key == "retry-after-ms" { "50" } else { "9" });
        assert_eq!(retry_after(both, now), Some(ms(50)));
    }

    #[test]
    fn durations_have_units() {
        let check =
            |text: &str, expected: Option<Duration>| assert_eq!(parse_duration(text), expected, "{text}");
        check("6m0s", Some(ms(360_000)));
        check("1h2m3s", Some(ms(3_723_000)));
        check("120ms", Some(ms(120)));
        check("45.5s", Some(ms(45_500)));
        check("7", Some(ms(7_000)));
        for wrong in ["", "s", "5d", "-3s", "1.2.3s", "2024-01-01"] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_limit_that_is_nearly_used_slows_down() {
        let now = SystemTime::UNIX_EPOCH;
        let headers = |remaining: &'static str| {
            move |name: &str| match name {
                "x-ratelimit-limit-requests" => Some("500"),
                "x-ratelimit-remaining-requests" => Some(remaining),
                "x-ratelimit-reset-requests" => Some("49s"),
                _ => None,
            }
        };
        let pause = |remaining| rate_reports(headers(remaining), now)[0].unwrap().pause(1);
        assert_eq!((pause("499"), pause("50")), (Duration::ZERO, Duration::ZERO));
        // 490 are used and come back within 49 s: one in 100 ms.
        assert_eq!(pause("10"), ms(100));
        let tokens = RateReport { limit: Some(1_000), remaining: 50, reset: ms(9_500) };
        assert_eq!(tokens.pause(100), ms(1_000));
        let unknown = RateReport { limit: None, remaining: 0, reset: ms(700) };
        assert_eq!((unknown.pause(1), RateReport { remaining: 1, ..unknown }.pause(1)), (ms(700), ms(0)));
        let anthropic = |name: &str| match name {
            "anthropic-ratelimit-tokens-limit" => Some("80"),
            "anthropic-ratelimit-tokens-remaining" => Some("0"),
            "anthropic-ratelimit-tokens-reset" => Some("1970-01-01T00:00:08Z"),
            _ => None,
        };
        assert_eq!(rate_reports(anthropic, now)[1].unwrap().pause(1), ms(100));
    }
}
