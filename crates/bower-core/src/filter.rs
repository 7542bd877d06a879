//! Parses Mongo-style filters over an item's metadata and text.
//! The store turns a parsed filter into SQL with bound values.

use serde_json::Value;

use crate::error::{Error, Result};

/// A condition on one item.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All conditions must hold (`$and`, and the members of one object).
    All(Vec<Filter>),
    /// One condition must hold (`$or`).
    Any(Vec<Filter>),
    /// Compares a metadata field with a value. For a missing field only `$ne` and `$nin` hold.
    Field {
        /// The field's name.
        name: String,
        /// The comparison.
        test: Test,
    },
    /// The text contains exactly these words, ignoring case (`$contains`).
    Contains(String),
    /// The text does not contain them (`$not_contains`).
    NotContains(String),
}

/// A comparison of a metadata field. Numbers compare only with numbers, strings only with strings.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `$eq`
    Equal(Value),
    /// `$ne`
    NotEqual(Value),
    /// `$gt`
    Greater(Value),
    /// `$gte`
    GreaterOrEqual(Value),
    /// `$lt`
    Less(Value),
    /// `$lte`
    LessOrEqual(Value),
    /// `$in`
    In(Vec<Value>),
    /// `$nin`
    NotIn(Vec<Value>),
}

/// Filters nested deeper than this are refused, so that no input can exhaust the stack.
const MAX_DEPTH: usize = 32;

impl Filter {
    /// Parses a filter such as `{"version": "v2", "chunk_size": {"$gt": 100}, "$contains": "retry"}`.
    pub fn parse(json: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(json)
            .map_err(|source| Error::invalid_filter("filter", format!("not valid JSON: {source}")))?;
        Self::from_value(&value)
    }

    /// Parses a filter from a JSON value.
    pub fn from_value(value: &Value) -> Result<Self> {
        object(value, MAX_DEPTH)
    }
}

fn object(value: &Value, depth: usize) -> Result<Filter> {
    let Value::Object(members) = value else {
        return Err(Error::invalid_filter("filter", "write an object such as {\"version\": \"v2\"}"));
    };
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::invalid_filter("filter", format!("nested deeper than {MAX_DEPTH}")));
    };
    let mut all =
        members.iter().map(|(name, value)| member(name, value, depth)).collect::<Result<Vec<_>>>()?;
    Ok(if all.len() == 1 { all.remove(0) } else { Filter::All(all) })
}

fn member(name: &str, value: &Value, depth: usize) -> Result<Filter> {
    match name {
        "$and" => Ok(Filter::All(objects(name, value, depth)?)),
        "$or" => Ok(Filter::Any(objects(name, value, depth)?)),
        "$contains" => Ok(Filter::Contains(string(name, value)?)),
        "$not_contains" => Ok(Filter::NotContains(string(name, value)?)),
        _ if name.starts_with('$') => Err(unknown(name)),
        _ => field(name, value),
    }
}

fn field(name: &str, value: &Value) -> Result<Filter> {
    let Value::Object(tests) = value else {
        return Ok(Filter::Field { name: name.into(), test: Test::Equal(scalar(name, value)?) });
    };
    let mut all = Vec::new();
    for (operator, value) in tests {
        let test = match operator.as_str() {
            "$eq" => Test::Equal(scalar(operator, value)?),
            "$ne" => Test::NotEqual(scalar(operator, value)?),
            "$gt" => Test::Greater(scalar(operator, value)?),
            "$gte" => Test::GreaterOrEqual(scalar(operator, value)?),
            "$lt" => Test::Less(scalar(operator, value)?),
            "$lte" => Test::LessOrEqual(scalar(operator, value)?),
            "$in" => Test::In(scalars(operator, value)?),
            "$nin" => Test::NotIn(scalars(operator, value)?),
            other => return Err(unknown(other)),
        };
        all.push(Filter::Field { name: name.into(), test });
    }
    match all.len() {
        0 => Err(Error::invalid_filter(format!("filter on {name}"), "name an operator such as $eq")),
        1 => Ok(all.remove(0)),
        _ => Ok(Filter::All(all)),
    }
}

fn objects(operator: &str, value: &Value, depth: usize) -> Result<Vec<Filter>> {
    let Value::Array(parts) = value else {
        return Err(Error::invalid_filter(format!("filter operator {operator}"), "takes a list of filters"));
    };
    parts.iter().map(|part| object(part, depth)).collect()
}

fn scalars(operator: &str, value: &Value) -> Result<Vec<Value>> {
    let Value::Array(parts) = value else {
        return Err(Error::invalid_filter(format!("filter operator {operator}"), "takes a list of values"));
    };
    parts.iter().map(|part| scalar(operator, part)).collect()
}

fn scalar(what: &str, value: &Value) -> Result<Value> {
    match value {
        Value::Array(_) | Value::Object(_) => Err(Error::invalid_filter(
            format!("filter value of {what}"),
            "use a string, a number, true, false or null",
        )),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(value.clone()),
    }
}

fn string(operator: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        _ => Err(Error::invalid_filter(
            format!("filter operator {operator}"),
            "takes a string that is not empty",
        )),
    }
}

fn unknown(operator: &str) -> Error {
    Error::invalid_filter(
        format!("filter operator {operator}"),
        "unknown; use $eq $ne $gt $gte $lt $lte $in $nin $and $or $contains $not_contains",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(json: &str, expected: std::result::Result<Filter, &str>) {
        match (Filter::parse(json), expected) {
            (Ok(got), Ok(want)) => assert_eq!(got, want, "{json}"),
            (Err(got), Err(want)) => assert!(got.to_string().contains(want), "{json}: {got}"),
            (got, want) => panic!("{json}: got {got:?}, expected {want:?}"),
        }
    }

    #[test]
    fn filters_parse_or_say_what_is_wrong() {
        let eq = |name: &str, value| Filter::Field { name: name.into(), test: Test::Equal(value) };
        check(r#"{"version":"v2"}"#, Ok(eq("version", json!("v2"))));
        check(
            r#"{"a":1,"$or":[{"b":true},{"$contains":"x"}]}"#,
            Ok(Filter::All(vec![
                Filter::Any(vec![eq("b", json!(true)), Filter::Contains("x".into())]),
                eq("a", json!(1)),
            ])),
        );
        check(r#"{"a":{"$near":1}}"#, Err("filter operator $near: unknown"));
        check(r#"{"$not":{}}"#, Err("filter operator $not: unknown"));
        check(r#"{"a":[1]}"#, Err("use a string"));
        check("[]", Err("write an object"));
        check("{", Err("not valid JSON"));
        check(r#"{"a":{}}"#, Err("name an operator"));
        let deep = format!("{}{{\"a\":1}}{}", "{\"$and\":[".repeat(40), "]}".repeat(40));
        check(&deep, Err("nested deeper"));
    }
}
