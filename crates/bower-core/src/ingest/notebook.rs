//! Reads Jupyter notebooks (nbformat 3 and 4): Markdown cells as they are, code as fences, and what the code printed.
//! They are converted to Markdown and chunked like it. The lines of a chunk are the numbers of its cells.
//!
//! Source: the nbformat documentation, "The notebook file format", and its JSON schemas.

use serde_json::Value;

use super::converted::Converted;
use super::draft::ParsedFile;
use super::pieces::{MOST_VALUES, check_values};
use super::read;
use crate::config::Settings;

/// Most characters of one output. The first rows of a table or a log tell what it is; the rest is data.
const OUTPUT_MAX: usize = 600;

/// Shortest run of Base64 that is left out: no word is as long.
const BASE64_MIN: usize = 64;

/// Reads a whole notebook; the error is the reason why it is skipped.
pub(super) fn parse(bytes: &[u8], settings: &Settings) -> Result<ParsedFile, String> {
    let text = read::decode(bytes)?.text;
    check_values(text.as_bytes(), MOST_VALUES).map_err(|why| format!("no notebook: {why}"))?;
    let notebook: Value = serde_json::from_str(&text)
        .map_err(|source| format!("damaged: its JSON cannot be read ({source})"))?;
    // Format 3 has worksheets, of which no program ever wrote more than one.
    let sheets = notebook["worksheets"].as_array();
    let cells: Vec<&Value> = match (notebook["cells"].as_array(), sheets) {
        (Some(cells), _) => cells.iter().collect(),
        (None, Some(sheets)) => {
            sheets.iter().filter_map(|sheet| sheet["cells"].as_array()).flatten().collect()
        }
        (None, None) => return Err("no notebook: it has no cells".into()),
    };
    let about = &notebook["metadata"];
    let language = [&about["language_info"]["name"], &about["kernelspec"]["language"]];
    let language = language.into_iter().find_map(Value::as_str).unwrap_or_default();
    let mut out = Converted::default();
    for (cell, number) in cells.into_iter().zip(1_u32..) {
        out.number = number;
        write_cell(cell, language, &mut out);
    }
    let (heading, drafts) = out.chunks(settings);
    let title = about["title"].as_str().filter(|title| !title.trim().is_empty()).map(str::to_owned);
    Ok(ParsedFile { title: heading.or(title), drafts, ..ParsedFile::default() })
}

fn write_cell(cell: &Value, language: &str, out: &mut Converted) {
    let source = joined(if cell["source"].is_null() { &cell["input"] } else { &cell["source"] });
    let source = source.trim_end();
    match cell["cell_type"].as_str() {
        Some("markdown") => markdown(source, out),
        // Only format 3 has cells for headings.
        Some("heading") => {
            let level = cell["level"].as_u64().unwrap_or(1).clamp(1, 6) as usize;
            markdown(&format!("{} {}", "#".repeat(level), super::split::one_line(source)), out);
        }
        Some("code") => {
            fence(source, cell["language"].as_str().unwrap_or(language), out);
            write_outputs(cell["outputs"].as_array().map_or(&[][..], Vec::as_slice), out);
        }
        // Raw cells are text for another program, such as LaTeX or the settings of a publisher.
        Some(_) | None => fence(source, "", out),
    }
}

/// Writes the text of the outputs, those after one another as one block.
fn write_outputs(outputs: &[Value], out: &mut Converted) {
    let mut printed = String::new();
    for output in outputs {
        let text = match output["output_type"].as_str() {
            Some("stream") => joined(&output["text"]),
            Some("error" | "pyerr") => failure(output),
            Some(_) | None => {
                let plain = joined(&output["data"]["text/plain"]);
                let plain = if plain.is_empty() { joined(&output["text"]) } else { plain };
                if is_address(&plain) { String::new() } else { plain }
            }
        };
        if text.trim().is_empty() {
            continue;
        }
        if !printed.is_empty() && !printed.ends_with('\n') {
            printed.push('\n');
        }
        printed.push_str(&shown(&text));
    }
    fence(shortened(printed.trim_end()), "output", out);
}

/// Returns the last line of an error's traceback: its kind and message.
fn failure(output: &Value) -> String {
    let part = |name: &str| output[name].as_str().and_then(|text| text.lines().next()).unwrap_or_default();
    match (part("ename"), part("evalue")) {
        ("", _) => joined(&output["traceback"]).lines().last().unwrap_or_default().to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, message) => format!("{kind}: {message}"),
    }
}

/// Whether an output only says where an object is in memory, such as `<Axes at 0x7f3a>` for a picture.
fn is_address(text: &str) -> bool {
    let text = text.trim().trim_start_matches('[').trim_end_matches(']');
    text.starts_with('<') && text.ends_with('>') && text.contains(" at 0x") && !text.contains('\n')
}

/// Returns a string, or a list of strings, as one text.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Returns a text as a terminal shows it: without colours (ECMA-48, 5.4), and with the last state of a progress bar.
fn shown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.strip_prefix('[').map_or(after, |codes| {
            let end = codes.find(|letter: char| !matches!(letter, '\u{20}'..='\u{3f}'));
            end.map_or("", |end| {
                codes[end..].strip_prefix(|letter: char| letter.is_ascii()).unwrap_or(&codes[end..])
            })
        });
    }
    plain.push_str(rest);
    let last = |line: &str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default().to_owned();
    plain.split('\n').map(last).collect::<Vec<_>>().join("\n")
}

/// Returns the first lines of a text.
fn shortened(text: &str) -> &str {
    match text.char_indices().nth(OUTPUT_MAX) {
        Some((end, _)) => text[..end].rfind('\n').map_or(&text[..end], |line| &text[..line]),
        None => text,
    }
}

/// Writes a cell of Markdown. A fence that it leaves open ends with it.
fn markdown(source: &str, out: &mut Converted) {
    let source = without_base64(source);
    if source.trim().is_empty() {
        return;
    }
    let mut open: Option<&str> = None;
    for line in source.lines() {
        out.put(line);
        let mark = line.trim_start();
        let run = mark.len() - mark.trim_start_matches(['`', '~']).len();
        let mark = &mark[..run];
        open = match open {
            Some(open) if mark.starts_with(open) && line.trim() == mark => None,
            None if run >= 3 && mark.bytes().all(|byte| byte == mark.as_bytes()[0]) => Some(mark),
            open => open,
        };
    }
    if let Some(open) = open {
        let open = open.to_owned();
        out.put(&open);
    }
    out.put("");
}

/// Writes a fence that nothing in it ends.
fn fence(source: &str, language: &str, out: &mut Converted) {
    let source = without_base64(source);
    if source.trim().is_empty() {
        return;
    }
    let longest = source.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let mark = "`".repeat((longest + 1).max(3));
    out.put(&format!("{mark}{}", super::split::one_line(language)));
    source.lines().for_each(|line| out.put(line));
    out.put(&mark);
    out.put("");
}

/// Returns a text without the data of embedded files (RFC 2397) and other long runs of Base64.
fn without_base64(text: &str) -> String {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '=');
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter| !is_inside(letter)).unwrap_or(rest.len());
        let run = &rest[..end];
        // A path has as many letters but no digits, and a rule of `====` no letters at all.
        let is_data = end >= BASE64_MIN
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_uppercase())
            && run.bytes().any(|byte| byte.is_ascii_lowercase());
        if !is_data {
            kept.push_str(run);
        }
        let next = rest[end..].find(is_inside).map_or(rest.len(), |at| end + at);
        kept.push_str(&rest[end..next]);
        rest = &rest[next..];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[track_caller]
    fn check(notebook: &Value, title: Option<&str>, expected: &[(&str, (u32, u32))]) {
        let settings = Settings { markdown_chunk_min: 0, ..Settings::default() };
        let read = parse(notebook.to_string().as_bytes(), &settings).unwrap();
        let got: Vec<_> = read.drafts.iter().map(|draft| (draft.content.as_str(), draft.lines)).collect();
        assert_eq!((read.title.as_deref(), got.as_slice()), (title, expected));
    }

    #[test]
    fn cells_of_format_4_are_read() {
        let printed = json!({"output_type": "stream", "name": "stdout", "text": ["\u{1b}[31mlow\u{1b}[0m\n", "10%\r99%\n"]});
        let picture = json!({"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "<Figure at 0x7f>"}});
        let value = json!({"output_type": "execute_result", "data": {"text/html": "<b>42</b>", "text/plain": ["42"]}});
        let failed =
            json!({"output_type": "error", "ename": "KeyError", "evalue": "'tide'", "traceback": ["long"]});
        let notebook = json!({
            "nbformat": 4, "metadata": {"kernelspec": {"language": "julia"}},
            "cells": [
                {"cell_type": "markdown", "source": ["# Tides\n", "\n", "Read ![x](data:image/png;base64,", "aB3/".repeat(20), ") first.\n", "```\n", "open"]},
                {"cell_type": "code", "source": "a = \"```\"", "outputs": [printed, picture, value, failed]},
                {"cell_type": "code", "source": "", "outputs": []},
                {"cell_type": "markdown", "source": "## Ebb\n\nLow water."},
                {"cell_type": "raw", "source": "raw text"},
            ],
        });
        check(
            &notebook,
            Some("Tides"),
            &[
                (
                    "# Tides\n\nRead ![x](data:image/png;base64,) first.\n```\nopen\n```\n\n````julia\na = \"```\"\n````\n\n\
                     ```output\nlow\n99%\n42\nKeyError: 'tide'\n```",
                    (1, 2),
                ),
                ("## Ebb\n\nLow water.\n\n```\nraw text\n```", (4, 5)),
            ],
        );
    }

    #[test]
    fn cells_of_format_3_are_read() {
        let value = json!({"output_type": "pyout", "text": ["7"], "html": "<b>7</b>"});
        let failed = json!({"output_type": "pyerr", "traceback": ["Traceback", "\nNameError: x"]});
        let cells = json!([
            {"cell_type": "heading", "level": 2, "source": ["Tides"]},
            {"cell_type": "code", "language": "python", "input": ["3 + 4"], "outputs": [value, failed]},
        ]);
        check(
            &json!({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}),
            Some("Tides"),
            &[("## Tides\n\n```python\n3 + 4\n```\n\n```output\n7\nNameError: x\n```", (1, 2))],
        );
    }

    #[test]
    fn long_outputs_are_cut_and_what_is_no_notebook_is_named() {
        let long = "a line of the log\n".repeat(100);
        let cell = json!({"cell_type": "code", "source": "run()", "outputs": [{"output_type": "stream", "text": long}]});
        let read = parse(json!({"cells": [cell]}).to_string().as_bytes(), &Settings::default()).unwrap();
        assert_eq!(read.drafts[0].content.matches("a line of the log").count(), 33);
        let why = |text: &str| parse(text.as_bytes(), &Settings::default()).unwrap_err();
        assert_eq!(why("{}"), "no notebook: it has no cells");
        assert!(why("{\"cells\": [").starts_with("damaged: its JSON cannot be read"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(source in "([`~=<>#A-Za-z0-9/+é\u{1b}\r\n\\[]|aB3/{1,80}){0,60}", kind in "markdown|code|raw|heading") {
            let outputs = json!([{"output_type": "stream", "text": source}, {"data": {"text/plain": source}}]);
            let cell = json!({"cell_type": kind, "source": source, "outputs": outputs});
            let _ = parse(json!({"cells": [cell, cell]}).to_string().as_bytes(), &Settings::default());
        }
    }
}
