//! Reads JSON input piece by piece, each within a size limit.
//! A piece that is too large is skipped without being held in memory, and the rest is read.

use serde_json::Value;
use std::io::{self, BufRead};

/// Largest piece in bytes: a line of a transcript, or a conversation. A turn with a picture has some megabytes, and
/// chat programs send no more than 32 MB at once.
pub const LARGEST_PIECE: usize = 32 << 20;

/// Most values in one piece: each takes 32 bytes in memory and a field about 120, however short it is in the file.
pub const MOST_VALUES: usize = 1_000_000;

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The end of the input.
    End,
    /// A line of this many bytes, including its line end if it has one.
    Whole(u64),
    /// A skipped line of this many bytes, which exceed the limit.
    TooLong(u64),
}

/// Reads a line of at most [`LARGEST_PIECE`] bytes into `line`. A longer one is skipped.
pub fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let (mut read, mut is_too_long) = (0_u64, false);
    loop {
        let there = match reader.fill_buf() {
            Ok(there) => there,
            Err(source) if source.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(source),
        };
        let end = there.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let part = &there[..end.unwrap_or(there.len())];
        is_too_long |= line.len() + part.len() > LARGEST_PIECE;
        if is_too_long {
            *line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let (taken, is_end) = (part.len(), end.is_some() || there.is_empty());
        reader.consume(taken);
        read += taken as u64;
        if is_end {
            return Ok(match read {
                0 => Line::End,
                read if is_too_long => Line::TooLong(read),
                read => Line::Whole(read),
            });
        }
    }
}

/// Returns why a line was skipped, and what to do.
pub fn line_too_long(bytes: u64) -> String {
    format!("{}; the line was left out", too_large("a line", bytes))
}

fn too_large(what: &str, bytes: u64) -> String {
    let mb = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!(
        "{what} of {:.1} MB is larger than {:.0} MB, which is the most that is read at once",
        mb(bytes),
        mb(LARGEST_PIECE as u64)
    )
}

/// Returns an error for JSON with so many values that its form in memory would be many times its length.
pub fn check_values(json: &[u8], most: usize) -> Result<(), String> {
    // The shortest value has two bytes with its comma.
    if json.len() / 2 < most {
        return Ok(());
    }
    let mut scan = Scan::default();
    for &byte in json {
        scan.feed(byte);
        if scan.values > most {
            return Err(too_many(most));
        }
    }
    Ok(())
}

fn too_many(most: usize) -> String {
    format!("it has more than {most} values, which is the most that one may have")
}

/// The state of a scan of JSON. It tracks structure alone; invalid JSON with a valid structure is found by the parser.
#[derive(Debug, Default)]
struct Scan {
    is_in_string: bool,
    is_escaped: bool,
    depth: u64,
    /// Number of values that began, each by a bracket or a comma.
    values: usize,
}

impl Scan {
    fn feed(&mut self, byte: u8) {
        if self.is_in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'[' | b'{' => {
                self.depth += 1;
                self.values += 1;
            }
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            b',' => self.values += 1,
            _ => {}
        }
    }

    /// Whether no bracket or string is open.
    fn is_closed(&self) -> bool {
        self.depth == 0 && !self.is_in_string
    }
}

/// Reads a list one element at a time, until `each` returns false. An element that cannot be read is passed on as an
/// error, and those after it are read. The returned error is of the list itself, with its line.
pub fn each_element(
    reader: impl BufRead,
    each: &mut dyn FnMut(Result<Value, String>) -> bool,
) -> Result<(), String> {
    let mut pieces = Pieces { reader, line: 1 };
    let not_whole = |line: u64| format!("the list does not end; its last line is {line}");
    match pieces.skip_space()? {
        Some(b'[') => pieces.take_one()?,
        Some(_) | None => return Err(format!("line {}: no list begins here", pieces.line)),
    }
    let mut is_first = true;
    loop {
        match (pieces.skip_space()?, is_first) {
            (Some(b']'), _) => return Ok(()),
            (Some(b','), false) => {
                pieces.take_one()?;
                pieces.skip_space()?;
            }
            (Some(_), true) => {}
            (Some(_), false) => {
                return Err(format!("line {}: a comma or the list's end is wanted", pieces.line));
            }
            (None, _) => return Err(not_whole(pieces.line)),
        }
        is_first = false;
        match pieces.next()? {
            Some(element) => {
                if !each(element) {
                    return Ok(());
                }
            }
            None => return Err(not_whole(pieces.line)),
        }
    }
}

/// Reads concatenated values until `each` returns false, like [`each_element`].
pub fn each_value(
    reader: impl BufRead,
    each: &mut dyn FnMut(Result<Value, String>) -> bool,
) -> Result<(), String> {
    let mut pieces = Pieces { reader, line: 1 };
    while pieces.skip_space()?.is_some() {
        match pieces.next()? {
            Some(value) => {
                if !each(value) {
                    return Ok(());
                }
            }
            None => return Err(format!("line {}: the last object does not end", pieces.line)),
        }
    }
    Ok(())
}

struct Pieces<R> {
    reader: R,
    line: u64,
}

impl<R: BufRead> Pieces<R> {
    fn fill(&mut self) -> Result<&[u8], String> {
        let line = self.line;
        loop {
            match self.reader.fill_buf() {
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(format!("line {line}: cannot be read on: {source}")),
                Ok(_) => break,
            }
        }
        // Called again because the borrow checker does not see that the loop has ended with it.
        self.reader.fill_buf().map_err(|source| format!("line {line}: cannot be read on: {source}"))
    }

    fn take_one(&mut self) -> Result<(), String> {
        self.fill()?;
        self.reader.consume(1);
        Ok(())
    }

    /// Returns the next byte that is no white space, without consuming it.
    fn skip_space(&mut self) -> Result<Option<u8>, String> {
        loop {
            let there = self.fill()?;
            if there.is_empty() {
                return Ok(None);
            }
            // A byte order mark may be at the beginning.
            let is_space = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
            let end = there.iter().position(|byte| !is_space(byte));
            let next = end.map(|at| there[at]);
            let skipped = end.unwrap_or(there.len());
            let lines = newlines(&there[..skipped]);
            self.reader.consume(skipped);
            self.line += lines;
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Returns the value that begins here; `None` if the file ends within it.
    fn next(&mut self) -> Result<Option<Result<Value, String>>, String> {
        let first_line = self.line;
        let (mut scan, mut held, mut length) = (Scan::default(), Vec::new(), 0_u64);
        let mut refused: Option<String> = None;
        let mut is_whole = false;
        while !is_whole {
            let there = self.fill()?;
            if there.is_empty() {
                // A number or a word ends with the file.
                if length > 0 && scan.is_closed() {
                    break;
                }
                return Ok(None);
            }
            let mut end = there.len();
            for (at, &byte) in there.iter().enumerate() {
                let was_closed = scan.is_closed();
                // A value that is neither a string nor in brackets ends where something else begins.
                if was_closed
                    && (length > 0 || at > 0)
                    && (byte.is_ascii_whitespace() || b",]}[{\"".contains(&byte))
                {
                    (end, is_whole) = (at, true);
                    break;
                }
                scan.feed(byte);
                if scan.is_closed() && (!was_closed || b"]}".contains(&byte)) {
                    (end, is_whole) = (at + 1, true);
                    break;
                }
            }
            let part = &there[..end];
            let lines = newlines(part);
            length += part.len() as u64;
            if refused.is_none() && scan.values > MOST_VALUES {
                refused = Some(too_many(MOST_VALUES));
            }
            if refused.is_some() || length > LARGEST_PIECE as u64 {
                refused.get_or_insert_default();
                held = Vec::new();
            } else {
                held.extend_from_slice(part);
            }
            self.reader.consume(end);
            self.line += lines;
        }
        if let Some(why) = refused {
            let why = if why.is_empty() { too_large("one", length) } else { why };
            return Ok(Some(Err(format!("line {first_line}: {why}"))));
        }
        Ok(Some(serde_json::from_slice(&held).map_err(|error| {
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            format!("line {}: {what}", first_line + (error.line() as u64).saturating_sub(1))
        })))
    }
}

/// Returns the number of line ends in some bytes.
fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::{BufReader, Read};

    fn list(text: &str, buffer: usize) -> (Vec<Result<Value, String>>, Result<(), String>) {
        let mut seen = Vec::new();
        let outcome = each_element(BufReader::with_capacity(buffer, text.as_bytes()), &mut |element| {
            seen.push(element);
            true
        });
        (seen, outcome)
    }

    #[test]
    fn a_list_is_read_element_by_element_however_it_arrives() {
        let text = "\u{feff} [1, {\"a]\\\"\": [2, {}]},\n\"x,]\",-3e2 ,true,null,[],[[ ]] ]\n trailing";
        let expected = [
            json!(1),
            json!({"a]\"": [2, {}]}),
            json!("x,]"),
            json!(-300.0),
            json!(true),
            json!(null),
            json!([]),
            json!([[]]),
        ];
        for buffer in [1, 2, 3, 7, 4_096] {
            let (seen, outcome) = list(text, buffer);
            assert_eq!(seen.into_iter().map(Result::unwrap).collect::<Vec<_>>(), expected, "{buffer}");
            assert_eq!(outcome, Ok(()));
        }
        assert_eq!(list("[]", 9), (vec![], Ok(())));
    }

    #[test]
    fn what_is_wrong_has_its_line_and_the_rest_is_read() {
        let (seen, outcome) = list("[1,\n {\"a\": oops},\n{\"b\": 2}]", 5);
        assert_eq!(seen, [Ok(json!(1)), Err("line 2: expected value".to_owned()), Ok(json!({"b": 2}))]);
        assert_eq!(outcome, Ok(()));
        let wrong = |text: &str, why: &str| assert_eq!(list(text, 9).1, Err(why.to_owned()), "{text}");
        wrong("[1, {\"a\":\n [2", "the list does not end; its last line is 2");
        wrong("[1, \"a", "the list does not end; its last line is 1");
        wrong("[1\n2]", "line 2: a comma or the list's end is wanted");
        wrong("[1,", "the list does not end; its last line is 1");
        wrong("{}", "line 1: no list begins here");
        let deep = format!("[{}{}]", "[".repeat(400), "]".repeat(400));
        assert!(list(&deep, 9).0[0].as_ref().unwrap_err().contains("recursion limit"));
    }

    #[test]
    fn values_stand_one_after_the_other() {
        let mut seen = Vec::new();
        let outcome = each_value(&b"{\"a\":1}\n{\"b\":[2]} 3\n{\"c\""[..], &mut |value| {
            seen.push(value.unwrap());
            true
        });
        assert_eq!(seen, [json!({"a": 1}), json!({"b": [2]}), json!(3)]);
        assert_eq!(outcome.unwrap_err(), "line 3: the last object does not end");
    }

    /// Returns an endless text that is never held in memory.
    fn long(head: &'static str, fill: &'static [u8], count: u64, tail: &'static str) -> impl BufRead {
        struct Fill(&'static [u8], usize);
        impl Read for Fill {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                for byte in buffer.iter_mut() {
                    *byte = self.0[self.1 % self.0.len()];
                    self.1 += 1;
                }
                Ok(buffer.len())
            }
        }
        BufReader::new(head.as_bytes().chain(Fill(fill, 0).take(count)).chain(tail.as_bytes()))
    }

    #[test]
    fn what_is_too_large_is_passed_over_and_the_next_is_read() {
        let more = LARGEST_PIECE as u64 + 10;
        let mut seen = Vec::new();
        let mut each = |element| {
            seen.push(element);
            true
        };
        each_element(long("[\"", b"x", more, "\", 7]"), &mut each).unwrap();
        each_element(long("[[1", b",1", 3_000_000, "], 7]"), &mut each).unwrap();
        let too_long = "line 1: one of 32.0 MB is larger than 32 MB, which is the most that is read at once";
        let too_many = "line 1: it has more than 1000000 values, which is the most that one may have";
        assert_eq!(seen, [Err(too_long.to_owned()), Ok(json!(7)), Err(too_many.to_owned()), Ok(json!(7))]);
        let (mut reader, mut line) = (long("a\n", b"x", more, "\nlast"), Vec::new());
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), Line::Whole(2));
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), Line::TooLong(more + 1));
        assert_eq!((read_line(&mut reader, &mut line).unwrap(), &line[..]), (Line::Whole(4), &b"last"[..]));
        assert_eq!(read_line(&mut reader, &mut line).unwrap(), Line::End);
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        let check = |json: &str, most: usize, good: bool| {
            assert_eq!(check_values(json.as_bytes(), most).is_ok(), good, "{json} {most}");
        };
        check("[1,2,3]", 3, true);
        check("[1,2,3]", 2, false);
        check("[\"a,b,c,[[[{{{\\\",,\"]", 2, true);
        check("{\"a\":{\"b\":1},\"c\":2}", 3, true);
        check("{\"a\":{\"b\":1},\"c\":2}", 2, false);
    }
}
