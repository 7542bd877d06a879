//! Reads the source of LaTeX in one direction: braces, brackets and ends of environments, with the number of the line.

/// Searches for an end that may fail; each one reads to the end of the file, so more would take time that grows with its square.
const MOST_FAILURES: usize = 20;

/// Most bytes of an optional argument or of a formula inside a sentence.
pub(super) const LONGEST: usize = 4 << 10;

/// Longest text that a command of the document's own may stand for, in bytes.
pub(super) const LONGEST_DEFINITION: usize = 100;

/// What is left of a source.
pub(super) struct LatexSource<'a> {
    pub(super) rest: &'a str,
    /// The line where the rest begins.
    pub(super) number: u32,
    /// Searches for an end that failed.
    failures: usize,
}

impl<'a> LatexSource<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, number: 1, failures: 0 }
    }

    /// Takes some bytes and counts their lines.
    pub(super) fn skip(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.number += taken.bytes().filter(|&byte| byte == b'\n').count() as u32;
        self.rest = rest;
        taken
    }

    /// Takes what stands before `close`, behind the first `skip` bytes.
    pub(super) fn until(&mut self, skip: usize, close: &str) -> Option<&'a str> {
        if self.failures == MOST_FAILURES {
            return None;
        }
        let Some(end) = self.rest[skip..].find(close) else {
            self.failures += 1;
            return None;
        };
        let taken = self.skip(skip + end + close.len());
        Some(&taken[skip..skip + end])
    }

    /// Takes an argument in braces.
    pub(super) fn group(&mut self) -> Option<&'a str> {
        let blank = self.rest.len() - self.rest.trim_start_matches([' ', '\t', '\n']).len();
        if !self.rest[blank..].starts_with('{') || self.failures == MOST_FAILURES {
            return None;
        }
        let (mut depth, mut is_escaped) = (0_usize, false);
        for (at, byte) in self.rest.bytes().enumerate().skip(blank) {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let taken = self.skip(at + 1);
                return Some(&taken[blank + 1..at]);
            }
        }
        self.failures += 1;
        None
    }

    pub(super) fn drop_groups(&mut self, count: usize) {
        for _ in 0..count {
            self.optional();
            if self.group().is_none() {
                break;
            }
        }
    }

    /// Takes an argument in brackets that directly follows.
    pub(super) fn optional(&mut self) -> Option<&'a str> {
        if !self.rest.starts_with('[') {
            return None;
        }
        let mut depth = 0_i32;
        for (at, byte) in self.rest.bytes().enumerate().take(LONGEST) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b']' if depth == 0 => return Some(&self.skip(at + 1)[1..at]),
                _ => {}
            }
            if depth < 0 {
                break;
            }
        }
        None
    }
}

/// Whether a line begins the document behind its preamble.
pub(super) fn begins_document(line: &str) -> bool {
    line.find("\\begin{document}").is_some_and(|at| !line[..at].contains('%'))
}
