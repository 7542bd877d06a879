//! Parses times as people type them: an RFC 3339 time, a date, a span before now, today, yesterday.
//! The clock is an argument.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, Zoned};
use std::path::Path;

/// Parses `text` as a moment relative to `now`. Dates are read in the time zone of `now`.
pub fn parse(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let text = text.trim();
    let at = |source: jiff::Error| source.to_string();
    match text.to_lowercase().as_str() {
        "" => return Err("no time given".into()),
        "now" => return Ok(now.timestamp()),
        "today" => return Ok(now.start_of_day().map_err(at)?.timestamp()),
        "yesterday" => {
            return Ok(now.yesterday().and_then(|day| day.start_of_day()).map_err(at)?.timestamp());
        }
        _ => {}
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    // A bare date is tried first: parsed as a date with a time it would mean midnight, even if that does not exist on this day.
    if text.len() <= "2025-03-01".len()
        && let Ok(date) = text.parse::<Date>()
    {
        return Ok(date.to_zoned(now.time_zone().clone()).map_err(at)?.timestamp());
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return Ok(time.to_zoned(now.time_zone().clone()).map_err(at)?.timestamp());
    }
    let span: Span = text.parse().map_err(|_| "not a time".to_string())?;
    // "2 weeks" and "2 weeks ago" both mean the past: nothing is written in the future.
    let back = span.abs();
    now.checked_sub(back).map(|zoned| zoned.timestamp()).map_err(|_| "too long ago".to_string())
}

/// Returns the name of the system's time zone, without reading the zone files: `TZ`, or else the target of `/etc/localtime`.
///
/// The result is `None` if neither names a zone of the IANA database.
pub fn zone_name(variable: Option<&str>, local: Option<&Path>) -> Option<String> {
    let named = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+');
        // "EST5EDT" and "<+03>-3" are rules, not names. Except for UTC, names of one word are rare and old.
        let zone = name == "UTC" || (name.contains('/') && !name.starts_with('/') && name.bytes().all(plain));
        zone.then(|| name.to_owned())
    };
    if let Some(variable) = variable.map(|text| text.trim_start_matches(':')).filter(|text| !text.is_empty())
    {
        return named(variable);
    }
    named(local?.to_str()?.rsplit_once("/zoneinfo/")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let now: Zoned = "2026-03-30T12:00:00+02:00[Europe/Berlin]".parse().unwrap();
        let got = parse(text, &now).map_or_else(|why| why, |time| time.to_string());
        assert_eq!(got, expected, "{text}");
    }

    // Berlin went to summer time on 2026-03-29, so a day before noon UTC+2 is noon UTC+1.
    #[test]
    fn times_as_people_type_them() {
        check("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z");
        check("2026-03-01T12:00:00+05:30", "2026-03-01T06:30:00Z");
        check("2026-03-01", "2026-02-28T23:00:00Z");
        check("2026-03-01 08:15", "2026-03-01T07:15:00Z");
        check("7d", "2026-03-23T11:00:00Z");
        check("1 day ago", "2026-03-29T10:00:00Z");
        check("2 weeks ago", "2026-03-16T11:00:00Z");
        check("1 month", "2026-02-28T11:00:00Z");
        check("90min", "2026-03-30T08:30:00Z");
        check("P1D", "2026-03-29T10:00:00Z");
        check("now", "2026-03-30T10:00:00Z");
        check("Today", "2026-03-29T22:00:00Z");
        check("yesterday", "2026-03-28T23:00:00Z");
    }

    #[test]
    fn what_is_no_time_says_so() {
        check("soon", "not a time");
        check("2026-02-30", "not a time");
        check("", "no time given");
        check("19000 years", "too long ago");
    }

    #[test]
    fn the_systems_zone_has_a_name() {
        let check = |variable: Option<&str>, local: Option<&str>, expected: Option<&str>| {
            assert_eq!(
                zone_name(variable, local.map(Path::new)).as_deref(),
                expected,
                "{variable:?} {local:?}"
            );
        };
        check(None, Some("/usr/share/zoneinfo/Europe/Berlin"), Some("Europe/Berlin"));
        check(
            None,
            Some("../usr/share/zoneinfo/America/Argentina/Ushuaia"),
            Some("America/Argentina/Ushuaia"),
        );
        check(Some("Asia/Tokyo"), Some("/usr/share/zoneinfo/Europe/Berlin"), Some("Asia/Tokyo"));
        check(Some(":UTC"), None, Some("UTC"));
        check(Some(""), Some("/usr/share/zoneinfo/UTC"), Some("UTC"));
        check(Some("<+03>-3"), Some("/usr/share/zoneinfo/Europe/Berlin"), None);
        check(Some("/etc/localtime"), None, None);
        check(None, Some("/etc/elsewhere"), None);
        check(None, None, None);
    }
}
