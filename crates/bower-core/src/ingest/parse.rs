//! Parses a file's bytes into chunks, with the parser that its name selects.
//! `parse` never panics and is linear in the input.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::draft::Draft;
use super::formats::{self, Reader};
use super::languages::CodeLanguage;
use super::{asciidoc, code, man, read, tags, text};
use crate::config::Settings;
use crate::item::hex;
use crate::request::Skipped;

/// The first bytes of a file that gzip packed (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// One part of a document, as it is shown, embedded and found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The text. It is complete in itself: the parts of a split Markdown section each begin with its heading.
    pub content: String,
    /// Heading path (`Guide > Install > Linux`) or symbol path (`impl Foo > fn bar`).
    pub section: Option<String>,
    /// First and last line in the file, counted from 1, both included.
    pub lines: (u32, u32),
    /// The front matter's tags and those written inside this chunk; no duplicates, in order of appearance.
    pub tags: Vec<String>,
    /// Identity within the document: a hash of section and content, numbered if the document repeats itself.
    pub key: String,
}

/// A parsed file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Front matter's title, `<title>`, the first heading of level 1, else of any level; `None` if the file has none.
    pub title: Option<String>,
    /// `v2`, `v1.4.0` from a path part, else `current`.
    pub version: String,
    /// Every tag of the document, front matter's first; no duplicates.
    pub tags: Vec<String>,
    /// Front matter's other fields: scalars and lists of scalars.
    pub metadata: Map<String, Value>,
    /// The chunks in the order of the file. Empty if the file has nothing to read (only white space, only front matter).
    pub chunks: Vec<Chunk>,
    /// Problems that did not stop the parser, in words.
    pub problems: Vec<String>,
}

/// Parses a file that was read into `bytes`; `path` selects the parser by its extension and determines the version.
///
/// Files without text (binary, another encoding, empty, minified) are returned as [`Skipped`] with the reason.
pub fn parse(path: &Path, bytes: &[u8], settings: &Settings) -> Result<Parsed, Skipped> {
    let skip = |reason: String| Skipped { path: path.to_path_buf(), reason };
    if bytes.starts_with(GZIP) {
        let inner = path.with_extension("");
        if inner.extension().is_some_and(|kind| kind == "tar")
            || path.extension().is_some_and(|kind| kind == "tgz")
        {
            return Err(skip("an archive; unpack it, and index its folder".into()));
        }
        let unpacked = read::gunzip(bytes, settings.max_file_bytes).map_err(skip)?;
        return parse(&inner, &unpacked, settings).map_err(|skipped| skip(skipped.reason));
    }
    let name = lower_name(path);
    let extension = extension_of(&name);
    let mut problem = None;
    let mut decoded = || {
        let decoded = read::decode(bytes).map_err(|reason| skip(reason.to_owned()))?;
        problem = decoded.problem;
        Ok(decoded.text)
    };
    let mut reading = match formats::reader(extension) {
        Some(Reader::Bytes(read)) => read(bytes, settings).map_err(skip)?,
        Some(Reader::Text(read)) => read(&decoded()?, settings),
        None => {
            let text = decoded()?;
            let languages = CodeLanguage::of(&name, extension, &text);
            let is_code = !languages.is_empty();
            if let Some(reason) = read::minified(&text, is_code || text::is_code(extension)) {
                return Err(skip(reason));
            }
            if is_code {
                code::parse(&text, &languages, settings)
            } else if man::is_page(extension, &text) {
                man::parse(&text, settings)
            } else if extension == "txt" && asciidoc::is_document(&text) {
                asciidoc::parse(&text, settings)
            } else {
                text::parse(&text, extension, settings)
            }
        }
    };
    reading.problems.extend(problem);
    if !formats::tags_chunks(extension) {
        for draft in reading.drafts.iter_mut().filter(|draft| draft.tags.is_empty()) {
            draft.tags.clone_from(&reading.tags);
        }
    }
    let mut repeats = HashMap::new();
    let chunks = reading.drafts.into_iter().map(|draft| finish(draft, &mut repeats)).collect();
    Ok(Parsed {
        title: reading.title,
        version: version_of(path),
        tags: reading.tags,
        metadata: reading.metadata,
        chunks,
        problems: reading.problems,
    })
}

fn finish(draft: Draft, repeats: &mut HashMap<String, u32>) -> Chunk {
    let key = content_key(draft.section.as_deref().unwrap_or_default(), &draft.content, repeats);
    Chunk { content: draft.content, section: draft.section, lines: draft.lines, tags: draft.tags, key }
}

/// Returns the identity of a text below a heading path within its document: a hash of both, numbered from the second time on
/// that the document has it. `repeats` counts the keys so far. So an edit elsewhere in the document changes no key.
pub(crate) fn content_key(section: &str, content: &str, repeats: &mut HashMap<String, u32>) -> String {
    let mut hash = Sha256::new();
    // The length before the section distinguishes ("a", "bc") from ("ab", "c").
    hash.update((section.len() as u64).to_le_bytes());
    hash.update(section);
    hash.update(content);
    // 128 bits: two of 2^40 chunks share a key with a chance of 2^-49.
    let mut key = hex(&hash.finalize()[..16]);
    let times = repeats.entry(key.clone()).or_insert(0);
    if *times > 0 {
        write!(key, "-{times}").expect("writing to a string cannot fail");
    }
    *times += 1;
    key
}

/// Whether the file at a path is read as Markdown.
pub(crate) fn is_markdown(path: &str) -> bool {
    formats::tags_chunks(extension_of(&lower_name(Path::new(path))))
}

/// Returns the name of a file in lower case.
fn lower_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Returns the tag that the folder of a file gives it if it has no tags of its own; `None` for all that is not prose.
pub(crate) fn folder_tag(path: &Path) -> Option<String> {
    let name = lower_name(path);
    let folder = path.parent()?.file_name()?.to_str()?;
    if formats::is_prose(extension_of(&name)) { tags::of_folder(folder) } else { None }
}

/// Returns the last extension. Sphinx publishes its sources as `.rst.txt` and `.md.txt`: those are read as what they are.
fn extension_of(name: &str) -> &str {
    let (inner, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    match inner.rsplit_once('.') {
        Some((_, inner @ ("rst" | "md"))) if extension == "txt" => inner,
        _ => extension,
    }
}

/// Returns the title of a file that has none of its own: the words of its name, or of its folder's if the name only says that it is
/// the first page there. Code has none.
pub fn title_of_name(path: &Path) -> Option<String> {
    const FIRST: [&str; 2] = ["index", "readme"];
    let lower = lower_name(path);
    if !CodeLanguage::of(&lower, extension_of(&lower), "").is_empty() {
        return None;
    }
    let own = path.file_stem()?.to_str()?;
    let folder = path.parent().and_then(|parent| parent.file_name()).and_then(|name| name.to_str());
    let name = folder.filter(|_| FIRST.contains(&own.to_lowercase().as_str())).unwrap_or(own);
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    Some(words.join(" ")).filter(|words| words.chars().any(char::is_alphabetic))
}

/// Returns the path part nearest the file that is `v<digits>[.<digits>...]`; the file's own name counts without its extension.
pub fn version_of(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let parents = path.parent().into_iter().flat_map(|parent| parent.components().rev());
    stem.into_iter()
        .chain(parents.filter_map(|part| part.as_os_str().to_str()))
        .find(|part| is_version(part))
        .unwrap_or("current")
        .to_owned()
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|numbers| {
        numbers.split('.').all(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::split::length;
    use super::*;
    use proptest::prelude::*;

    const EXTENSIONS: &[&str] = &[
        "md", "html", "txt", "csv", "json", "hs", "sh", "c", "cpp", "cs", "dart", "go", "h", "java", "js",
        "kt", "lua", "php", "ps1", "py", "r", "rb", "rs", "scala", "swift", "ts", "tsx", "zig", "", "adoc",
        "rst", "org", "tex", "texi", "rtf", "info",
    ];

    /// Formats whose marks are dropped or whose text is repeated.
    const CONVERTED: &[&str] = &["html", "csv", "adoc", "rst", "org", "tex", "texi", "rtf", "info"];

    fn small() -> Settings {
        Settings {
            markdown_chunk_max: 60,
            markdown_chunk_min: 20,
            code_chunk_max: 60,
            text_chunk_max: 40,
            text_chunk_overlap: 8,
            ..Settings::default()
        }
    }

    fn examine(name: &str, bytes: &[u8], settings: &Settings) {
        let Ok(parsed) = parse(Path::new(name), bytes, settings) else { return };
        let newlines = bytes.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() as u32;
        let mut keys = std::collections::HashSet::new();
        for chunk in &parsed.chunks {
            assert!(!chunk.content.trim().is_empty(), "{name}: {chunk:?}");
            assert!(length(&chunk.content) <= 60, "{name}: {chunk:?}");
            assert!(1 <= chunk.lines.0 && chunk.lines.0 <= chunk.lines.1, "{name}: {chunk:?}");
            assert!(chunk.lines.1 <= newlines + 1, "{name}: {chunk:?}");
            assert!(keys.insert(&chunk.key), "{name}: {chunk:?}");
        }
    }

    /// Parses a text into small chunks and checks that no word is lost and that each chunk is on the lines that it names.
    fn compare(name: &str, text: &str) {
        fn words(text: &str) -> impl Iterator<Item = &str> {
            text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
        }
        let parsed = parse(Path::new(name), text.as_bytes(), &small()).expect("text");
        let mut held: HashMap<&str, usize> = HashMap::new();
        let lines: Vec<&str> = text.lines().collect();
        for chunk in &parsed.chunks {
            for word in words(&chunk.content).chain(chunk.section.iter().flat_map(|path| words(path))) {
                *held.entry(word).or_default() += 1;
            }
            let source = lines[chunk.lines.0 as usize - 1..chunk.lines.1 as usize].join("\n");
            // Parts of a Markdown section repeat its heading, and a fence's or a table's frame.
            let repeated = chunk.content.lines().filter(|line| !source.contains(line.trim())).count();
            let frame = if name == "a.md" { 5 } else { 0 };
            assert!(repeated <= frame, "{name}: {chunk:?}\n{source}");
            if frame == 0 {
                assert!(source.contains(&chunk.content), "{name}: {chunk:?}\n{source}");
            }
        }
        if ["md", "txt", "hs", ""].iter().any(|extension| name == format!("a.{extension}")) {
            // An element without an end tag is markup whatever stands around it.
            for word in words(text).filter(|word| !["br", "hr", "img", "wbr"].contains(word)) {
                let left = held.entry(word).or_default();
                assert!(*left > 0, "{name}: {word} is lost from {text:?}");
                *left -= 1;
            }
        } else {
            // Nothing is repeated; a grammar may split what is one word here.
            let visible = |text: &str| text.split_whitespace().collect::<String>();
            let all: String = parsed.chunks.iter().map(|chunk| visible(&chunk.content)).collect();
            assert_eq!(all, visible(text), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..EXTENSIONS.len()) {
            examine(&format!("a.{}", EXTENSIONS[at]), &bytes, &small());
        }

        #[test]
        fn no_markup_makes_it_panic(
            text in "([-#>`~|*_=+&<>/\\\\\\[\\](){}\"'!:;. \n\t]{1,4}|[a-zé漢😀]{1,9}|<(/?)(p|pre|li|td|table|main|h2|nav|code|script)>|---\n){0,60}",
            at in 0..EXTENSIONS.len(),
        ) {
            examine(&format!("a.{}", EXTENSIONS[at]), text.as_bytes(), &small());
        }
    }

    proptest! {
        #[test]
        fn no_markup_language_makes_it_panic(
            lines in prop::collection::vec(
                "((=|==|-|\\*|\\.|1\\.|a::|:a:|\\+|//|NOTE:|\\.\\.|\\|) ?)?([a-zé漢{}<>\\[\\](*_`'#+:;|\\\\]{0,6} ?){0,4}|=====|-----|\\.\\.\\.\\.|====|----|--|\\|===|\\[(a|\\[b\\]|source,c)\\]| {1,4}[a-z]{1,5}|a::b\\[c\\]|:?a:`b( <c>)?`_?|\\.\\. (a|note|list-table|code|csv-table)::|\\+---\\+-\\+|=== ==|   (\\* )?- a|::|:a: b|#\\+(begin_(src|note|comment)|end_src|end_comment|title: a|b:)|:a:|\\| a \\||\\\\(begin|end)\\{(a|itemize|tabular|verbatim|equation)\\}|\\\\(item|section\\{|title\\{|verb.a|def|footnote\\{|\\[|\\(|\\\\)|a & b|",
                0..40,
            ),
            at in 0..CONVERTED.len(),
        ) {
            examine(&format!("a.{}", CONVERTED[at]), lines.join("\n").as_bytes(), &small());
        }
    }

    proptest! {
        #[test]
        fn no_word_is_lost(
            text in "begin\n\n((# |## |### |- |> |1\\. |```|~~~|\\| |    |\\[|<|\\*|_|//|/\\*|\\{|\\(|\"|fn |def )?[a-zé]{1,7}[0-9]?(\\]\\(x\\)|>|\\*|_|`|:|\\.|\\)|\\}|;|\n===|\n---| \\||\n\\|-\\|)?( |\n|\n\n)){0,80}",
            at in 0..EXTENSIONS.len(),
        ) {
            if !CONVERTED.contains(&EXTENSIONS[at]) {
                compare(&format!("a.{}", EXTENSIONS[at]), &text);
            }
        }
    }

    #[test]
    fn long_runs_of_one_thing_take_linear_time() {
        // A quadratic step over this many repetitions would take minutes.
        for unit in [
            "#",
            "# a\n",
            "`",
            "[",
            "<div>",
            "<b>",
            "<a \"",
            "</",
            "<!--",
            "&",
            "*a",
            "> ",
            "- ",
            "|",
            "x",
            "(",
            "{",
            "\"",
            "'",
            "/*",
            "a\n\n",
            "#a1 ",
            "![",
            "<pre>",
            "<a\n",
            "1. ",
            "\\",
            "|a|\n|-|\n",
            "[a](",
            "_a",
            "~~",
            "**a*",
            "*_a",
            "[a]: b\n",
            "a\n===\n",
            "- a\n  ",
            "``a`",
            "](",
            "<ul><li>",
            "<table>",
        ] {
            let text = unit.repeat(100_000 / unit.len());
            for extension in ["md", "html", "txt", "rs", "py", "js", "c", "adoc", "rst", "org", "tex", "texi"]
            {
                let _ = parse(Path::new(&format!("a.{extension}")), text.as_bytes(), &Settings::default());
            }
        }
    }

    #[test]
    fn long_runs_of_marks_take_linear_time() {
        for unit in [
            "{a}",
            "<<a",
            "a:b[",
            "((a",
            "'a ",
            "|===\n|a\n",
            "====\n",
            "** a\n*** b\n",
            "a::\n+\n",
            "\\a{",
            "$a",
            "\\def",
            "\\begin{a}",
            "\\begin{verbatim}",
            "\\item[",
            "\\[",
        ] {
            let text = unit.repeat(100_000 / unit.len());
            for extension in ["md", "txt", "adoc", "rst", "org", "tex", "texi"] {
                let _ = parse(Path::new(&format!("a.{extension}")), text.as_bytes(), &Settings::default());
            }
        }
    }

    #[test]
    fn a_tag_with_very_many_attributes_takes_linear_time() {
        let attributes = (0..20_000).map(|at| format!(" x{at}='1'")).collect::<Vec<_>>().concat();
        let page = format!("<p{attributes}>shown</p><nav{attributes}>hidden</nav>");
        let parsed = parse(Path::new("a.html"), page.as_bytes(), &Settings::default()).expect("text");
        assert_eq!(parsed.chunks[0].content, "shown");
    }

    #[test]
    fn a_long_table_repeats_its_header_and_loses_no_row() {
        let rows = (0..8_000).map(|at| format!("| row{at} | value |\n")).collect::<Vec<_>>().concat();
        let text = format!("# T\n\n| a | b |\n|---|---|\n{rows}");
        let parsed = parse(Path::new("a.md"), text.as_bytes(), &Settings::default()).expect("text");
        assert!(parsed.chunks.iter().all(|chunk| chunk.content.starts_with("# T\n\n| a | b |\n|---|---|\n")));
        let count: usize = parsed.chunks.iter().map(|chunk| chunk.content.matches("| row").count()).sum();
        assert_eq!(count, 8_000);
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, text).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn a_packed_file_is_read_as_what_it_holds() {
        let page = gzip(b".TH LS 1\n.SH NAME\nls \\- list files\n");
        let parsed = parse(Path::new("man1/ls.1.gz"), &page, &Settings::default()).expect("text");
        assert_eq!(parsed.title.as_deref(), Some("ls(1)"));
        assert_eq!(
            (parsed.chunks[0].content.as_str(), parsed.chunks[0].lines),
            ("# Name\n\nls - list files", (2, 3))
        );
        let refused = |name: &str, bytes: &[u8], most: u64| {
            let settings = Settings { max_file_bytes: most, ..Settings::default() };
            let skipped = parse(Path::new(name), bytes, &settings).unwrap_err();
            assert_eq!(skipped.path, Path::new(name));
            skipped.reason
        };
        let bomb = gzip(&vec![b'a'; 3 << 20]);
        assert!(bomb.len() < 10_000);
        assert_eq!(refused("a.txt.gz", &bomb, 1 << 20), "too large: more than 1.0 MiB when unpacked");
        assert!(refused("a.txt.gz", &bomb[..2_000], 9 << 20).starts_with("damaged gzip file"));
        assert_eq!(refused("a.tar.gz", &page, 9 << 20), "an archive; unpack it, and index its folder");
        assert_eq!(refused("a.gz", &gzip(b"\0\0"), 9 << 20), "binary file");
    }

    #[test]
    fn a_file_without_a_title_takes_the_words_of_its_name() {
        let title = |path: &str| title_of_name(Path::new(path));
        assert_eq!(title("notes/ch16-03_shared state.txt").as_deref(), Some("ch16 03 shared state"));
        assert_eq!(title("threads/index.html").as_deref(), Some("threads"));
        assert_eq!((title("2024-05-01.md"), title("server_config.rs")), (None, None));
    }

    #[test]
    fn the_version_is_the_part_nearest_the_file() {
        for (path, expected) in [
            ("/docs/v1.2/guide/a.md", "v1.2"),
            ("/docs/v1/v2.0.1/a.md", "v2.0.1"),
            ("/docs/v1/v3.md", "v3"),
            ("/docs/vault/v/v1./v1a/1.2/a.md", "current"),
            ("a.md", "current"),
        ] {
            assert_eq!(version_of(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn repeated_chunks_have_keys_of_their_own() {
        let text = "same words here\n".repeat(6);
        let settings = Settings { text_chunk_max: 32, text_chunk_overlap: 0, ..Settings::default() };
        let parsed = parse(Path::new("a.txt"), text.as_bytes(), &settings).expect("text");
        let keys: Vec<_> = parsed.chunks.iter().map(|chunk| chunk.key.as_str()).collect();
        assert_eq!(keys.len(), 3);
        assert_eq!(keys[0].len(), 32);
        assert_eq!(keys[1], format!("{}-1", keys[0]));
        assert_eq!(keys[2], format!("{}-2", keys[0]));
    }
}
