//! Checks the arguments of a call, and converts them to the types of the schema.
//! It refuses arguments that are too large, and converts a value only where its meaning is unambiguous.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::{Failure, Result};

/// Longest text of one argument, in bytes: as long as a memory may be.
const LONGEST_TEXT: usize = 1 << 20;
/// Longest question, in bytes. A longer one is a document, and finds nothing better than its first pages would.
pub const LONGEST_QUESTION: usize = 64 << 10;
/// Longest name of a collection, tag, owner or session, in bytes.
const LONGEST_NAME: usize = 1 << 10;
/// Maximum number of values in one list.
const MOST_VALUES: usize = 1_000;
/// Deepest nesting of filters and free fields.
const DEEPEST: usize = 32;
/// Arguments that contain a text, not a name.
const TEXTS: &[&str] =
    &["content", "context", "text", "summary", "bullets", "metadata", "filter", "paths", "sources", "turns"];

/// Parses the arguments of a call into a body. `schema` lists the fields of the body.
pub fn understood<T: DeserializeOwned>(tool: &str, given: Map<String, Value>, schema: &Value) -> Result<T> {
    for (name, value) in &given {
        measured(name, value, 0)?;
    }
    let fields = &schema["properties"];
    let given = given.into_iter().map(|(name, value)| {
        let meant = meant(value, &fields[&name]);
        (name, meant)
    });
    // Null counts as left out; some clients send every argument that they know.
    let given: Map<String, Value> = given.filter(|(_, value)| !value.is_null()).collect();
    serde_json::from_value(given.into()).map_err(|error| {
        let names: Vec<_> =
            fields.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default();
        let takes = if names.is_empty() {
            "it takes no arguments".to_owned()
        } else {
            format!("it takes {}", names.join(", "))
        };
        Failure::usage(format!("wrong arguments: {error}"), format!("call {tool} again; {takes}"))
    })
}

/// Refuses a value that is too long, has too many parts or is nested too deeply.
fn measured(name: &str, value: &Value, depth: usize) -> Result<()> {
    let too = |what: String, most: String| {
        Err(Failure::usage(format!("{name} {what}"), format!("the most is {most}")))
    };
    if depth > DEEPEST {
        return too("is nested too deeply".into(), format!("{DEEPEST} levels"));
    }
    match value {
        Value::String(text) => {
            let most = match name {
                "query" => LONGEST_QUESTION,
                name if TEXTS.contains(&name) => LONGEST_TEXT,
                _ => LONGEST_NAME,
            };
            if text.len() > most {
                return too(format!("has {} bytes", text.len()), format!("{most} bytes"));
            }
            Ok(())
        }
        Value::Array(values) => {
            if values.len() > MOST_VALUES {
                return too(format!("has {} values", values.len()), format!("{MOST_VALUES} in one call"));
            }
            values.iter().try_for_each(|value| measured(name, value, depth + 1))
        }
        Value::Object(fields) => {
            if fields.len() > MOST_VALUES {
                return too(format!("has {} fields", fields.len()), format!("{MOST_VALUES} in one call"));
            }
            fields.values().try_for_each(|value| measured(name, value, depth + 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Converts a value to the type of the schema where its meaning is unambiguous. Models write numbers in quotes, and a
/// single tag without a list.
fn meant(value: Value, schema: &Value) -> Value {
    let kind = schema["type"].as_str();
    match (kind, value) {
        (Some("integer" | "number"), Value::String(text)) => match serde_json::from_str::<Value>(text.trim())
        {
            Ok(number @ Value::Number(_)) => meant(number, schema),
            _ => text.into(),
        },
        // 5.0 means 5.
        (Some("integer"), Value::Number(number)) => match number.as_f64() {
            Some(whole) if number.as_i64().is_none() && whole.fract() == 0.0 && whole.abs() < 1e15 => {
                (whole as i64).into()
            }
            _ => number.into(),
        },
        (Some("boolean"), Value::String(text)) => match text.trim() {
            "true" => true.into(),
            "false" => false.into(),
            _ => text.into(),
        },
        (Some("array"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(list @ Value::Array(_)) => list,
            _ => Value::Array(vec![text.into()]),
        },
        (Some("object"), Value::String(text)) => match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => object,
            _ => text.into(),
        },
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::schema;
    use crate::service::{ListBody, QueryBody};
    use serde_json::json;

    fn query(given: Value) -> Result<QueryBody> {
        let Value::Object(given) = given else { panic!("arguments are an object") };
        understood("memory_search", given, &schema::of::<QueryBody>())
    }

    #[test]
    fn what_can_only_mean_one_thing_is_taken() {
        let body = query(json!({
            "query": "x", "limit": "5", "strict": "true", "tags": "api", "collections": "[\"a\",\"b\"]", "session": null
        }))
        .unwrap();
        assert_eq!((body.limit, body.strict, body.session), (Some(5), true, None));
        assert_eq!(
            (body.select.tags, body.select.collections),
            (vec!["api".into()], vec!["a".into(), "b".into()])
        );
        assert_eq!(query(json!({"query": "7", "limit": 3.0})).unwrap().limit, Some(3));
    }

    #[test]
    fn what_is_wrong_is_named_with_what_may_be_said() {
        let check = |given: Value, message: &str, hint: &str| {
            let failure = query(given).unwrap_err();
            assert!(failure.message.contains(message), "{}", failure.message);
            assert!(failure.hint.as_ref().is_some_and(|told| told.command().contains(hint)), "{failure:?}");
        };
        check(json!({"query": "x", "top_k": 5}), "unknown field `top_k`", "it takes");
        check(json!({"query": "x", "types": ["note"]}), "unknown variant `note`", "call memory_search again");
        check(json!({"query": 7}), "invalid type", "query");
        check(json!({"query": "x".repeat(70_000)}), "query has 70000 bytes", "65536");
        check(json!({"query": "x", "session": "y".repeat(2_000)}), "session has 2000 bytes", "1024");
        check(json!({"query": "x", "tags": vec!["t"; 1_001]}), "tags has 1001 values", "1000 in one call");
        let deep = (0..40).fold(json!(1), |inner, _| json!({"$and": [inner]}));
        check(json!({"query": "x", "filter": deep}), "filter is nested too deeply", "32 levels");
        let Value::Object(none) = json!({"offset": -1}) else { unreachable!() };
        assert!(understood::<ListBody>("memory_list", none, &schema::of::<ListBody>()).is_err());
    }
}
