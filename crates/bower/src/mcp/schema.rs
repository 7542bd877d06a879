//! Generates JSON schemas that are as small as possible.
//! A model reads every word of them at the start of each session, and its user pays for that.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Returns the schema of a type for input, without references.
pub fn of<T: JsonSchema>() -> Value {
    made::<T>(SchemaSettings::draft2020_12())
}

fn made<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    slim(&mut schema);
    schema
}

/// Returns the schema of a type for output: names and types. The text of the response explains what they mean.
pub fn of_answer<T: JsonSchema>() -> Value {
    let mut schema = made::<T>(SchemaSettings::draft2020_12().for_serialize());
    undescribed(&mut schema);
    schema
}

/// Returns the schema of those fields of an answer that are in `told`, each with its type. An entry is `reviews`, or
/// `results(id text)` for two fields of each element of a list. The schema is open: an answer has more fields than a
/// model needs to know beforehand.
pub fn of_told(answer: &Value, told: &[&str]) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in told {
        let (name, inner) = match field.split_once('(') {
            Some((name, inner)) => (name, inner.trim_end_matches(')')),
            None => (*field, ""),
        };
        let whole =
            answer["properties"].get(name).unwrap_or_else(|| panic!("the answer has no field {name}"));
        let mut shown = only(whole, &["type"]);
        if !inner.is_empty() {
            let fields = &whole["items"]["properties"];
            let fields = inner.split(' ').map(|name| {
                let field = fields.get(name).unwrap_or_else(|| panic!("{field} has no field {name}"));
                (name.to_owned(), only(field, &["type"]))
            });
            let fields: Map<_, _> = fields.collect();
            shown["items"] = json!({"type": "object", "properties": fields});
        }
        properties.insert(name.to_owned(), shown);
        if answer["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name)) {
            required.push(name);
        }
    }
    let mut schema =
        Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), properties.into())]);
    // `required` is included only for an answer of one field. Elsewhere it costs more tokens than it is worth.
    if let ([_], [name]) = (told, required.as_slice()) {
        schema.insert("required".to_owned(), json!([name]));
    }
    schema
}

fn only(schema: &Value, words: &[&str]) -> Value {
    let fields = schema.as_object().into_iter().flatten().filter(|(name, _)| words.contains(&name.as_str()));
    fields.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into()
}

/// Returns the schema of a tool's arguments: those fields of the body that are in `shown`, each with its description.
/// The tool also accepts the other fields and lists them when an argument is wrong, so a model that never needs them
/// does not pay for them. A name that ends with `*` is a list of words that another tool's schema enumerates; the words
/// are left out here.
pub fn of_arguments(body: &Value, shown: &[(&str, &str)], required: &[&str]) -> Map<String, Value> {
    let mut properties = Map::new();
    for (name, about) in shown {
        let (name, is_short) = name.strip_suffix('*').map_or((*name, false), |name| (name, true));
        let field = body["properties"].get(name).unwrap_or_else(|| panic!("the body has no field {name}"));
        let mut field = field.clone();
        undescribed(&mut field);
        if is_short && let Some(items) = field.get_mut("items").and_then(Value::as_object_mut) {
            items.remove("enum");
        }
        if let (Value::Object(fields), false) = (&mut field, about.is_empty()) {
            fields.insert("description".into(), (*about).into());
        }
        properties.insert(name.into(), field);
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema
}

/// Removes what a model does not need: titles, formats, defaults, limits, and null as an alternative to leaving a field
/// out.
fn slim(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(slim),
        Value::Object(fields) => {
            for word in
                ["$schema", "title", "format", "default", "minimum", "maximum", "additionalProperties"]
            {
                // A property may have such a name. Its value is an object, and a keyword's value never is.
                if fields.get(word).is_some_and(|value| !value.is_object()) {
                    fields.remove(word);
                }
            }
            fields.values_mut().for_each(slim);
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|name| name != "null");
                if let [one] = types.as_mut_slice() {
                    let one = one.take();
                    fields.insert("type".into(), one);
                }
            }
            for word in ["anyOf", "oneOf"] {
                let Some(Value::Array(mut options)) = fields.remove(word) else { continue };
                options
                    .retain(|option| option["type"] != "null" && option.get("const") != Some(&Value::Null));
                if let Some(words) = words(&options) {
                    fields.insert("type".into(), "string".into());
                    fields.insert("enum".into(), words);
                } else if let [Value::Object(only)] = options.as_mut_slice() {
                    let only = std::mem::take(only);
                    only.into_iter().for_each(|(key, value)| {
                        fields.entry(key).or_insert(value);
                    });
                } else if !options.is_empty() {
                    fields.insert(word.into(), options.into());
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the words of options that are all single words, which schemars describes one by one; none if any is not.
fn words(options: &[Value]) -> Option<Value> {
    let mut words = Vec::new();
    for option in options {
        match (option.get("const"), option.get("enum")) {
            (Some(word @ Value::String(_)), _) => words.push(word.clone()),
            (None, Some(Value::Array(several))) => words.extend(several.iter().cloned()),
            _ => return None,
        }
    }
    (!words.is_empty()).then(|| words.into())
}

fn undescribed(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(undescribed),
        Value::Object(fields) => {
            if fields.get("description").is_some_and(Value::is_string) {
                fields.remove("description");
            }
            fields.values_mut().for_each(undescribed);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bower_core::item::Verdict;
    use serde::Serialize;

    #[derive(Serialize, JsonSchema)]
    struct Part {
        at: usize,
    }

    /// A sample.
    #[derive(Serialize, JsonSchema)]
    struct Sample {
        /// An enumeration.
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        /// A number.
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        /// Pieces.
        parts: Vec<Part>,
        /// A list of texts.
        names: Vec<String>,
        /// A field with the name of a keyword.
        title: String,
    }

    #[test]
    fn a_schema_says_what_it_must() {
        let whole = of::<Sample>();
        let verdict = &whole["properties"]["verdict"];
        assert_eq!(
            (&verdict["type"], &verdict["enum"]),
            (&json!("string"), &json!(["useful", "wrong", "stale"]))
        );
        assert_eq!(whole["properties"]["count"]["type"], "integer");
        let answer = of_answer::<Sample>();
        assert_eq!(
            answer,
            json!({
                "type": "object",
                "properties": {
                    "verdict": {"type": "string", "enum": ["useful", "wrong", "stale"]},
                    "count": {"type": "integer"},
                    "names": {"type": "array", "items": {"type": "string"}},
                    "title": {"type": "string"},
                    "parts": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}},
                },
                "required": ["parts", "names", "title"],
            })
        );
        let told = |fields: &[&str]| Value::from(of_told(&answer, fields));
        assert_eq!(
            told(&["parts(at)", "verdict"]),
            json!({
                "type": "object",
                "properties": {
                    "parts": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "integer"}}}},
                    "verdict": {"type": "string"},
                },
            })
        );
        assert_eq!(
            told(&["names"]),
            json!({"type": "object", "properties": {"names": {"type": "array"}}, "required": ["names"]})
        );
        let arguments = Value::from(of_arguments(&whole, &[("names", "who"), ("count", "")], &["names"]));
        assert_eq!(
            arguments,
            json!({
                "type": "object",
                "properties": {
                    "names": {"type": "array", "items": {"type": "string"}, "description": "who"},
                    "count": {"type": "integer"},
                },
                "required": ["names"],
            })
        );
    }
}
