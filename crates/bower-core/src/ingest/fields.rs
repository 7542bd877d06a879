//! Reads texts and times from the fields of a line of a transcript.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

const TIMES: &[&str] =
    &["timestamp", "time", "created_at", "create_time", "createdAt", "date", "datetime", "ts", "sent_at"];

/// Returns the first of some fields that contains a non-empty text.
pub(super) fn text<'a>(of: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| of.get(name)?.as_str().filter(|text| !text.trim().is_empty()))
}

pub(super) fn time_of(of: &Value) -> Option<Timestamp> {
    TIMES.iter().find_map(|name| moment(of.get(name)?))
}

/// Returns a text, or the texts of a list of blocks. Other blocks are named in the text, because a reader may search
/// for the picture.
pub(super) fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let said: Vec<String> = blocks.iter().map(block).filter(|text| !text.trim().is_empty()).collect();
            said.join("\n\n")
        }
        Value::Object(fields) => match (fields.get("parts"), fields.get("text")) {
            (Some(parts), _) => content(parts),
            (None, Some(text)) => content(text),
            (None, None) => String::new(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn block(block: &Value) -> String {
    let kind = text(block, &["type", "content_type"]).unwrap_or("text");
    match block {
        Value::String(text) => text.clone(),
        Value::Object(_) if kind.contains("image") => "[image]".to_owned(),
        // Spoken messages have a transcript beside the sound.
        Value::Object(fields) if kind.contains("audio") => {
            fields.get("text").and_then(Value::as_str).map_or_else(|| "[audio]".to_owned(), str::to_owned)
        }
        Value::Object(_) if matches!(kind, "tool_use" | "tool_result" | "thinking" | "redacted_thinking") => {
            String::new()
        }
        Value::Object(_) if matches!(kind, "document" | "file") => {
            let name = text(block, &["title", "name", "file_name"]);
            name.map_or_else(|| "[file]".to_owned(), |name| format!("[file: {name}]"))
        }
        Value::Object(fields) => fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => String::new(),
    }
}

/// Parses a time in the usual forms: RFC 3339 and similar, or seconds, milliseconds, microseconds or nanoseconds since
/// 1970, as a number or in quotes. A time without a zone is in UTC.
pub fn moment(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => since_1970(number.as_f64()?),
        Value::String(text) => {
            let text = text.trim();
            if let Ok(number) = text.parse::<f64>() {
                return since_1970(number);
            }
            let spaced = text.replacen(' ', "T", 1);
            let plain = |text: &str| {
                let at =
                    text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from)).ok()?;
                at.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
            };
            text.parse::<Timestamp>()
                .or_else(|_| spaced.parse())
                .ok()
                .or_else(|| plain(text))
                .or_else(|| plain(&spaced))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a time since 1970. The number's size shows its unit: in seconds, the smaller units would be years after 5138.
fn since_1970(number: f64) -> Option<Timestamp> {
    if !number.is_finite() || number <= 0.0 {
        return None;
    }
    let seconds = match number {
        ..1e11 => number,
        ..1e14 => number / 1e3,
        ..1e17 => number / 1e6,
        _ => number / 1e9,
    };
    // The store keeps microseconds; a double represents them until 2255.
    let whole = SignedDuration::from_micros((seconds * 1e6).round() as i64);
    Timestamp::UNIX_EPOCH.checked_add(whole).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_told_by_their_size() {
        for value in [
            json!(1_683_554_160),
            json!(1_683_554_160_000_i64),
            json!(1_683_554_160_000_000_i64),
            json!("1683554160"),
        ] {
            assert_eq!(moment(&value).unwrap().to_string(), "2023-05-08T13:56:00Z", "{value}");
        }
        assert_eq!(moment(&json!("2023-05-08")).unwrap().to_string(), "2023-05-08T00:00:00Z");
        assert_eq!(moment(&json!("2023-05-08T15:56:00+02:00")).unwrap().to_string(), "2023-05-08T13:56:00Z");
        for value in [json!("soon"), json!(0), json!(-5), json!(f64::MAX), json!(null)] {
            assert_eq!(moment(&value), None, "{value}");
        }
    }
}
