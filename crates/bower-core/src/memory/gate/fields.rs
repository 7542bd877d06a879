//! Cuts secrets out of the fields beside a text: its metadata at any depth, its tags, its names.
//! What can be cut is cut as in a text; what names a place or a person cannot, for without it the name would be another's, and
//! the whole is refused.

use serde_json::{Map, Value};

use super::constants::Constants;
use super::secrets::{SecretKind, find, find_announced, is_holder, is_namer, redact};

/// A field of a record that wants to be kept.
#[derive(Debug)]
pub enum Field<'a> {
    /// Words: secrets are cut out.
    Words(&'static str, &'a mut String),
    /// A list of words: one that holds a secret is dropped.
    List(&'static str, &'a mut Vec<String>),
    /// Free fields, whose names say what their values are.
    Values(&'static str, &'a mut Map<String, Value>),
    /// A name that is compared with others: it stays, or nothing does. Random characters that nothing announces are no secret
    /// here: that is how programs name people and conversations.
    Name(&'static str, Option<&'a str>),
}

/// What was cut out of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// What they were, in the order of the fields.
    pub found: Vec<SecretKind>,
    /// The fields that they stood in, each once.
    pub fields: Vec<&'static str>,
}

impl Cut {
    fn note(&mut self, field: &'static str, found: Vec<SecretKind>) {
        if !found.is_empty() && !self.fields.contains(&field) {
            self.fields.push(field);
        }
        self.found.extend(found);
    }
}

/// A name that holds a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The field.
    pub field: &'static str,
    /// What it holds.
    pub kind: SecretKind,
}

impl Named {
    /// Why nothing is kept, and what to do instead.
    pub fn reason(self) -> String {
        let Self { field, kind } = self;
        format!(
            "the {field} holds a secret ({kind}); give it a name that holds none: cut out, it would name another"
        )
    }
}

/// Cuts the secrets out of all fields of a record; the error names the first that cannot be cut. Then nothing is changed.
pub fn clean(fields: Vec<Field<'_>>, constants: &Constants) -> Result<Cut, Named> {
    for field in &fields {
        if let Field::Name(field, Some(name)) = field
            && let Some(secret) = find_announced(name).first()
        {
            return Err(Named { field, kind: secret.kind });
        }
    }
    let mut cut = Cut::default();
    for field in fields {
        match field {
            Field::Words(name, text) => cut.note(name, words(text, constants)),
            Field::List(name, list) => {
                let mut found = Vec::new();
                list.retain(|word| {
                    let secrets = find(word, constants);
                    found.extend(secrets.iter().map(|secret| secret.kind));
                    secrets.is_empty()
                });
                cut.note(name, found);
            }
            Field::Values(name, values) => {
                let mut found = Vec::new();
                object(values, "", constants, &mut found);
                cut.note(name, found);
            }
            Field::Name(..) => {}
        }
    }
    Ok(cut)
}

fn words(text: &mut String, constants: &Constants) -> Vec<SecretKind> {
    let Some(redacted) = redact(text, constants) else { return Vec::new() };
    *text = redacted.text;
    redacted.found
}

fn object(fields: &mut Map<String, Value>, above: &str, constants: &Constants, found: &mut Vec<SecretKind>) {
    // What names its neighbour, as in `{"name": "API_KEY", "value": …}`.
    let named = fields.iter().find(|(name, value)| is_namer(name) && value.is_string());
    let named = named.and_then(|(_, value)| value.as_str().map(str::to_owned));
    for (name, value) in fields.iter_mut() {
        // A name that says nothing of its value: what holds the object says it.
        let is_plain = is_holder(name);
        let announced = match &named {
            Some(named) if is_plain => named,
            Some(_) | None if is_plain => above,
            Some(_) | None => name,
        };
        self::value(value, announced, constants, found);
    }
    // A secret may stand on the wrong side of the colon.
    let odd: Vec<String> = fields.keys().filter(|name| !find(name, constants).is_empty()).cloned().collect();
    for name in odd {
        let (Some(redacted), Some(value)) = (redact(&name, constants), fields.remove(&name)) else {
            continue;
        };
        found.extend(redacted.found);
        let mut free = redacted.text.clone();
        for nth in 2.. {
            if !fields.contains_key(&free) {
                break;
            }
            free = format!("{} {nth}", redacted.text);
        }
        fields.insert(free, value);
    }
}

/// A value that a name announces.
fn value(value: &mut Value, name: &str, constants: &Constants, found: &mut Vec<SecretKind>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            let mut text = number.to_string();
            let kinds = announced(&mut text, name, constants);
            if !kinds.is_empty() {
                *value = Value::String(text);
                found.extend(kinds);
            }
        }
        Value::String(text) => found.extend(announced(text, name, constants)),
        Value::Array(values) => {
            for one in values {
                self::value(one, name, constants, found);
            }
        }
        Value::Object(fields) => object(fields, name, constants, found),
    }
}

/// Cuts a text as it reads behind its name: `password: …`.
fn announced(text: &mut String, name: &str, constants: &Constants) -> Vec<SecretKind> {
    if name.is_empty() {
        return words(text, constants);
    }
    let head = format!("{name}: ");
    let whole = format!("{head}{text}");
    let (mut out, mut from, mut kinds) = (String::new(), head.len(), Vec::new());
    for secret in find(&whole, constants) {
        if secret.at.end <= from {
            // It stands in the name alone.
            continue;
        }
        out.push_str(&whole[from..secret.at.start.max(from)]);
        out.push_str("[redacted: ");
        out.push_str(secret.kind.label());
        out.push(']');
        from = secret.at.end;
        kinds.push(secret.kind);
    }
    if !kinds.is_empty() {
        out.push_str(&whole[from..]);
        *text = out;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// A made token of GitHub's published form: `ghp_` and 36 letters and digits.
    const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

    fn github() -> SecretKind {
        find_announced(TOKEN)[0].kind
    }

    fn cut(values: Value) -> (Value, Vec<SecretKind>) {
        let Value::Object(mut map) = values else { panic!("an object") };
        let cut = clean(vec![Field::Values("metadata", &mut map)], &Constants::default()).unwrap();
        (Value::Object(map), cut.found)
    }

    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "a literal is given")]
    fn check(values: Value, expected: Value) {
        assert_eq!(cut(values).0, expected);
    }

    #[test]
    fn metadata_is_looked_at_at_any_depth() {
        check(json!({ "token": TOKEN }), json!({ "token": "[redacted: GitHub token]" }));
        check(
            json!({ "db": { "password": "hunter2-Hq7vX2kP9s", "port": 5432 } }),
            json!({ "db": { "password": "[redacted: password]", "port": 5432 } }),
        );
        check(
            json!({ "a": [{ "b": [["see", TOKEN]] }] }),
            json!({ "a": [{ "b": [["see", "[redacted: GitHub token]"]] }] }),
        );
        check(
            json!({ "env": [{ "name": "DB_PASSWORD", "value": "hunter2-Hq7vX2kP9s" }] }),
            json!({ "env": [{ "name": "DB_PASSWORD", "value": "[redacted: password]" }] }),
        );
        check(
            json!({ "password": { "value": "hunter2-Hq7vX2kP9s" } }),
            json!({ "password": { "value": "[redacted: password]" } }),
        );
        check(json!({ "pin": 4821 }), json!({ "pin": "[redacted: password]" }));
        check(
            json!({ "url": "postgres://app:s3cr3tPW@db/app" }),
            json!({ "url": "postgres://app:[redacted: password in a URL]@db/app" }),
        );
        check(
            json!({ TOKEN: 1, "[redacted: GitHub token]": 2 }),
            json!({ "[redacted: GitHub token]": 2, "[redacted: GitHub token] 2": 1 }),
        );
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        for plain in [
            json!({ "port": 8080, "on": true, "note": null, "list": [] }),
            json!({ "commit": "9fceb02d0ae598e95dc970b74767f19372d61af8", "folder": "/w/shop", "speaker": "Ada" }),
            json!({ "password_policy": "twelve characters and more", "date": "2026-01-01T00:00:01Z" }),
            json!({ "id": "018f4e2a-9c1b-7d3e-8f00-2b1c9d3e4f5a", "pages": 4821 }),
        ] {
            assert_eq!(cut(plain.clone()), (plain, Vec::new()));
        }
    }

    #[test]
    fn tags_are_dropped_and_names_refuse_the_whole() {
        let constants = Constants::default();
        let mut tags = vec!["net".to_owned(), TOKEN.to_owned(), "password=hunter2-Hq7vX2kP9s".to_owned()];
        let cut = clean(vec![Field::List("tags", &mut tags)], &constants).unwrap();
        assert_eq!((tags, cut.fields), (vec!["net".to_owned()], vec!["tags"]));
        assert_eq!(cut.found, [github(), SecretKind::PASSWORD]);

        let mut text = format!("see {TOKEN}");
        let fields = vec![Field::Words("summary", &mut text), Field::Name("owner", Some(TOKEN))];
        let named = clean(fields, &constants).unwrap_err();
        assert_eq!((named.field, named.kind), ("owner", github()));
        assert_eq!(text, format!("see {TOKEN}"), "nothing was changed");
        assert!(!named.reason().contains(TOKEN));
        // Ids that programs make of random characters are no secrets.
        for name in [
            "ada@example.org",
            "018f4e2a-9c1b-7d3e-8f00-2b1c9d3e4f5a",
            "thread_3vXk9QeR7tYp2LmN8sWbZc4HdFgJ6aUo",
        ] {
            assert_eq!(clean(vec![Field::Name("conversation", Some(name))], &constants), Ok(Cut::default()));
        }
    }

    proptest! {
        #[test]
        fn no_token_outlives_cleaning(path in prop::collection::vec("[a-z]{1,8}|[0-9]{1,3}", 0..6), before in "[a-z ]{0,12}") {
            let mut value = json!(format!("{before} {TOKEN}"));
            for name in path.iter().rev() {
                value = if name.starts_with(|c: char| c.is_ascii_digit()) { json!([value]) } else { json!({ name: value }) };
            }
            let (cleaned, found) = cut(json!({ "x": value }));
            prop_assert!(!cleaned.to_string().contains(TOKEN), "{}", cleaned);
            prop_assert_eq!(found, [github()]);
            // What is clean is not cut again.
            prop_assert_eq!(cut(cleaned.clone()), (cleaned, Vec::new()));
        }
    }
}
