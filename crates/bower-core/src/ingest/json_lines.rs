//! Reads JSON Lines: each object is a row of its fields, nested ones by their dotted path, prose first.
//! A text whose first line is no object is chunked as plain text.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

use super::draft::ParsedFile;
use super::pieces::check_values;
use super::rows::{Cell, Packer};
use super::text;
use crate::config::Settings;

/// Most numbers of a list that are written out. Longer ones are vectors, pixels or samples, which nobody searches.
const NUMBERS_MAX: usize = 32;

/// Shortest ASCII text without a space that is taken for encoded data, such as Base64 or a key. Addresses are shorter.
const DATA_MIN: usize = 512;

/// Longest path of a field, in bytes. Each field has its own, so that one long key would multiply.
const PATH_MAX: usize = 160;

/// Most values of one object; a line with more is kept as it is. Each takes some hundred bytes in memory.
const VALUES_MAX: usize = 100_000;

/// Reads a whole file.
pub(super) fn parse(text: &str, settings: &Settings) -> ParsedFile {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !first.trim_start().starts_with('{') || fields(first).is_none() {
        return text::parse(text, "jsonl", settings);
    }
    let mut packer = Packer::new(settings.text_chunk_max);
    for (line, number) in text.lines().zip(1_u32..) {
        let place = (number, number);
        match fields(line) {
            Some(fields) => {
                let cells: Vec<Cell<'_>> =
                    fields.iter().map(|(name, value)| Cell { name, value: value.trim() }).collect();
                packer.put(&cells, "; ", place);
            }
            // A damaged line is kept as it is.
            None => packer.put(&[Cell { name: "", value: line.trim() }], "; ", place),
        }
    }
    ParsedFile { drafts: packer.drafts(), ..ParsedFile::default() }
}

/// Returns the fields of an object in their order, those of prose before the others; `None` if the line is no JSON.
fn fields(line: &str) -> Option<Vec<(String, String)>> {
    check_values(line.as_bytes(), VALUES_MAX).ok()?;
    let mut fields = Vec::new();
    let mut json = serde_json::Deserializer::from_str(line);
    Fields { path: String::new(), out: &mut fields }.deserialize(&mut json).ok()?;
    json.end().ok()?;
    // The sort is stable. Prose has more than three words, which a name or a label seldom has.
    fields.sort_by_key(|(_, value)| value.split_whitespace().nth(3).is_none());
    Some(fields)
}

/// Collects the values of JSON that are no objects or lists, each with its path.
struct Fields<'a> {
    path: String,
    out: &'a mut Vec<(String, String)>,
}

impl Fields<'_> {
    fn push(self, value: String) {
        let is_data = value.len() >= DATA_MIN
            && value.is_ascii()
            && !value.bytes().any(|byte| byte.is_ascii_whitespace());
        if !value.trim().is_empty() && !is_data {
            self.out.push((self.path, value));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(value.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.push(value.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.push(value.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.push(value.to_string());
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.push(value.to_owned());
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let mut path = if self.path.is_empty() { key } else { format!("{}.{key}", self.path) };
            path.truncate(path.floor_char_boundary(PATH_MAX));
            map.next_value_seed(Fields { path, out: self.out })?;
        }
        Ok(())
    }

    /// Values of a list share its path. Those that are short stand together.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut inner = Vec::new();
        while list.next_element_seed(Fields { path: self.path.clone(), out: &mut inner })?.is_some() {}
        let is_flat = inner.iter().all(|(path, value)| *path == self.path && !value.contains('\n'));
        if !is_flat {
            self.out.append(&mut inner);
            return Ok(());
        }
        let numbers = inner.iter().filter(|(_, value)| value.parse::<f64>().is_ok()).count();
        if numbers > NUMBERS_MAX && numbers == inner.len() {
            self.push(format!("{numbers} numbers"));
            return Ok(());
        }
        let values: Vec<String> = inner.into_iter().map(|(_, value)| value).collect();
        self.push(values.join(", "));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, (u32, u32))]) {
        let read = parse(text, &Settings::default());
        let got: Vec<_> = read.drafts.iter().map(|draft| (draft.content.as_str(), draft.lines)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn each_object_is_a_row_with_prose_first() {
        check(
            "{\"id\": 7, \"place\": {\"name\": \"quay\", \"box\": [1, 2.5]}, \"note\": \"Moor here at low water.\", \"none\": null}\n\n\
             {\"turns\": [{\"who\": \"a\", \"said\": \"Yes.\"}, {\"who\": \"b\", \"said\": \"No.\"}], \"tags\": [\"x\", \"y\"]}\n\
             {damaged\n",
            &[(
                "note: Moor here at low water.; id: 7; place.name: quay; place.box: 1, 2.5\n\
                 turns.who: a; turns.said: Yes.; turns.who: b; turns.said: No.; tags: x, y\n{damaged",
                (1, 4),
            )],
        );
    }

    #[test]
    fn vectors_and_encoded_data_are_left_out() {
        let vector = vec!["0.25"; 40].join(",");
        let data = "aB3/".repeat(200);
        check(
            &format!("{{\"name\": \"a\", \"vector\": [{vector}], \"data\": \"{data}\"}}"),
            &[("name: a; vector: 40 numbers", (1, 1))],
        );
    }

    #[test]
    fn other_lines_are_plain_text() {
        check("1\n2\n", &[("1\n2", (1, 2))]);
        check("{\"a\":\n1}\n", &[("{\"a\":\n1}", (1, 2))]);
    }

    #[test]
    fn long_keys_and_deep_lists_take_little_memory() {
        let long = "k".repeat(100_000);
        let fields = vec!["\"a\":1"; 20_000].join(",");
        let read = parse(&format!("{{\"{long}\":{{{fields}}}}}"), &Settings::default());
        assert!(read.drafts.iter().map(|draft| draft.content.len()).sum::<usize>() < 5_000_000);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(parse(&deep, &Settings::default()).drafts.len(), 101);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(\\{|\\}|\\[|\\]|\"|:|,|\n|[a-zé]{1,5}|[0-9]|\\{\"a\":1\\}| ){0,60}") {
            let read = parse(&text, &Settings { text_chunk_max: 40, ..Settings::default() });
            for draft in read.drafts {
                prop_assert!(crate::ingest::split::length(&draft.content) <= 40, "{draft:?}");
            }
        }
    }
}
