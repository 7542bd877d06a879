//! Tests imports of files made to fill memory: what is refused is named, and the process stays small.

use super::command::Home;
use serde_json::Value;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use wait4::Wait4;

/// The most that an import may take, in KB: a third of it is what any command takes in a build for tests.
const MOST_KB: u64 = 256 << 10;

/// Imports a file; its status, its report and the most memory that it had, in KB.
fn import(home: &Home, arguments: &[&str]) -> (i32, Value, u64) {
    let mut command = home.command([&["--format", "json", "import"], arguments].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let ended = child.wait4().unwrap();
    let report = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{arguments:?}: {why}: {out}"));
    (ended.status.code().expect("no signal ended it"), report, ended.rusage.maxrss / 1_024)
}

/// A file refused for a reason, in little memory; what stands beside it comes in.
#[track_caller]
fn refused(home: &Home, path: &Path, words: &[&str], added: u64) {
    let (_, report, peak_kb) = import(home, &[path.to_str().unwrap()]);
    let errors = report["data"]["errors"].to_string();
    for words in words {
        assert!(errors.contains(words), "{}: {words} is not in {errors}", path.display());
    }
    assert_eq!(report["data"]["added"], added, "{}: {report}", path.display());
    assert!(peak_kb < MOST_KB, "{}: {peak_kb} KB", path.display());
    eprintln!("{}: {} MB at most", path.file_name().unwrap().to_string_lossy(), peak_kb >> 10);
}

/// A turn that is good.
const GOOD: &str = r#"{"speaker":"Ada","text":"The lighthouse stands on the northern cape.","id":"g1"}"#;

/// A file of a head, something so often, and a tail.
fn filled(home: &Home, name: &str, head: &str, fill: &str, times: usize, delta: &str) -> PathBuf {
    let path = home.path(name);
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write_filled(&mut file, head, fill, times, delta);
    file.into_inner().unwrap();
    path
}

fn write_filled(file: &mut impl Write, head: &str, fill: &str, times: usize, delta: &str) {
    file.write_all(head.as_bytes()).unwrap();
    let block = fill.repeat(1_024);
    for _ in 0..times / 1_024 {
        file.write_all(block.as_bytes()).unwrap();
    }
    file.write_all(fill.repeat(times % 1_024).as_bytes()).unwrap();
    file.write_all(delta.as_bytes()).unwrap();
}

#[test]
fn json_that_grows_in_memory_is_refused_piece_by_piece() {
    let home = Home::new();
    let list = |name: &str, head: &str, fill: &str, times: usize, delta: &str| {
        filled(&home, name, &format!("[{head}"), fill, times, &format!("{delta},{GOOD}]"))
    };
    let long = list("long.json", r#"{"speaker":"Bob","text":""#, "x", 100 << 20, r#""}"#);
    refused(&home, &long, &["long.json: element 1", "larger than 32 MB", "left out"], 1);
    let many = list("many.json", r#"{"speaker":"Bob","text":"x","more":["#, "1,", 12 << 20, "1]}");
    refused(&home, &many, &["element 1", "more than 1000000 values"], 1);
    let fields = filled(
        &home,
        "fields.jsonl",
        r#"{"speaker":"Bob","text":"x","#,
        r#""k":{},"#,
        4 << 20,
        &format!("\"z\":1}}\n{GOOD}\n"),
    );
    refused(&home, &fields, &["fields.jsonl:1", "more than 1000000 values", "the line was left out"], 1);
    let deep = list("deep.json", "", "[", 1 << 20, &"]".repeat(1 << 20));
    refused(&home, &deep, &["element 1", "more than 1000000 values"], 1);
    let line = filled(
        &home,
        "line.jsonl",
        "{\"speaker\":\"Bob\",\"text\":\"",
        "y",
        60 << 20,
        &format!("\"}}\n{GOOD}\n"),
    );
    refused(&home, &line, &["line.jsonl:1", "a line of 60.0 MB", "larger than 32 MB"], 1);
    let open = filled(&home, "open.json", "[{\"mapping\":{", "\"a\":[{\"b\":", 4 << 20, "");
    refused(&home, &open, &["open.json", "does not end", "is the file complete?"], 0);
    let text = filled(&home, "text.jsonl", r#"{"speaker":"Bob","text":""#, "word ", 4 << 20, "\"}\n");
    refused(&home, &text, &["turn 1", "max_file_bytes"], 0);
    // An export of a store, whose lines anybody may have written.
    let header = home.run(["export", "-"]).out.lines().next().unwrap().to_owned();
    let odd = format!("{header}\n{{\"line\":\"item\",\"metadata\":[");
    let odd = filled(&home, "odd.jsonl", &odd, "[],", 8 << 20, "1]}\n");
    refused(&home, &odd, &["odd.jsonl:2", "more than 1000000 values"], 0);
}

/// A zip file; each entry is a head, something so often, and a tail.
fn zip(home: &Home, name: &str, entries: &[(&str, &str, &str, usize, &str)]) -> PathBuf {
    let path = home.path(name);
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    for (entry, head, fill, times, delta) in entries {
        archive.start_file(*entry, zip::write::SimpleFileOptions::default()).unwrap();
        write_filled(&mut archive, head, fill, *times, delta);
    }
    archive.finish().unwrap();
    path
}

#[test]
fn archives_that_unpack_to_much_more_than_they_are_end_early() {
    let home = Home::new();
    let speaker = r#"[{"speaker":"Bob","text":""#;
    let string = zip(&home, "string.zip", &[("conversations.json", speaker, "x", 300 << 20, "\"}]")]);
    assert!(std::fs::metadata(&string).unwrap().len() < 1 << 20);
    refused(
        &home,
        &string,
        &["string.zip/conversations.json", "more than 100 times its size", "unpack it"],
        0,
    );
    let turn = format!("{{\"speaker\":\"Bob\",\"text\":\"{}\",\"id\":\"1\"}}\n", "x".repeat(4_000));
    let lines =
        zip(&home, "lines.zip", &[("a.jsonl", "", &turn, 32 << 10, ""), ("b.jsonl", GOOD, "", 0, "")]);
    refused(&home, &lines, &["lines.zip/a.jsonl", "more than 100 times its size"], 1);
    // Many entries that are small.
    let path = home.path("entries.zip");
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    for n in 0..20_000 {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{n}.jsonl"), options).unwrap();
    }
    archive.finish().unwrap();
    let (_, report, peak_kb) = import(&home, &[path.to_str().unwrap()]);
    assert!(report["data"]["failed"] == 20_000 && peak_kb < MOST_KB, "{peak_kb} KB");
    // One whose directory names far more than there is: each name points at the same bytes.
    let overlapping = overlap(&std::fs::read(&string).unwrap(), 2_000);
    let path = home.write("overlapping.zip", overlapping);
    refused(&home, &path, &["more than 100 times its size"], 0);
    let long = overlap(&std::fs::read(&string).unwrap(), 400_000);
    let path = home.write("directory.zip", long);
    refused(&home, &path, &["directory.zip", "its list of files is longer than 16 MB"], 0);
    // An archive of itself: what is in an archive is no archive.
    let inner = std::fs::read(&string).unwrap();
    let path = home.path("nested.zip");
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    archive.start_file("conversations.json", zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(&inner).unwrap();
    archive.finish().unwrap();
    refused(&home, &path, &["neither an export of bower"], 0);
}

/// A zip file of one entry, its entry listed so often.
fn overlap(archive: &[u8], times: usize) -> Vec<u8> {
    let end = archive.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let number = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap()) as usize;
    let (size, start) = (number(end + 12), number(end + 16));
    let mut bytes = archive[..start].to_vec();
    let mut name = archive[start..start + size].to_vec();
    for n in 0..times {
        // Names differ, so that no later one stands for an earlier one.
        let digits = format!("{n:06}");
        let at = 46 + "conversations".len() - digits.len();
        name[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        bytes.extend_from_slice(&name);
    }
    let (length, at) = ((size * times) as u64, start as u64);
    // The form for many entries.
    let place = bytes.len() as u64;
    bytes.extend_from_slice(b"PK\x06\x06");
    bytes.extend_from_slice(&44_u64.to_le_bytes());
    bytes.extend_from_slice(&[45, 0, 45, 0]);
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&(times as u64).to_le_bytes());
    bytes.extend_from_slice(&(times as u64).to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&at.to_le_bytes());
    bytes.extend_from_slice(b"PK\x06\x07");
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&place.to_le_bytes());
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(b"PK\x05\x06");
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&[0xff; 12]);
    bytes.extend_from_slice(&[0; 2]);
    bytes
}

#[test]
fn folders_of_pages_and_of_another_program_are_read_file_by_file() {
    let home = Home::new();
    let head = "---\ntype: fact\nmetadata:\n";
    let alias =
        |n: u32| format!("  a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1);
    let aliases = (1..30).map(alias).collect::<Vec<_>>().concat();
    home.write(
        "pages/aliases.md",
        format!("{head}  a0: &a0 [x, x, x, x, x, x, x, x]\n{aliases}---\nThe lamp is red.\n"),
    );
    home.write(
        "pages/deep.md",
        format!("{head}  a: {}1{}\n---\nThe lid is blue.\n", "[".repeat(100_000), "]".repeat(100_000)),
    );
    home.write(
        "pages/keys.md",
        format!(
            "{head}{}---\nThe door is green.\n",
            (0..150_000).map(|n| format!("  k{n}: 1\n")).collect::<Vec<_>>().concat()
        ),
    );
    home.write("pages/long.md", format!("{head}  a: 1\n---\n{}\n", "x".repeat(8 << 20)));
    home.write("pages/good.md", "---\ntype: fact\n---\nThe mast is tall.\n");
    let (_, report, peak_kb) = import(&home, &["pages"]);
    let errors = report["data"]["errors"].to_string();
    for name in ["aliases.md", "deep.md", "long.md"] {
        assert!(errors.contains(name), "{name}: {errors}");
    }
    assert!(errors.contains("bower index takes documents"), "{errors}");
    assert!(peak_kb < MOST_KB, "{peak_kb} KB: {errors}");
    home.write("pages/.bower-export.json", "x".repeat(80 << 20));
    let (status, _, peak_kb) = import(&home, &["pages"]);
    assert!(status == 2 && peak_kb < MOST_KB, "{status} {peak_kb} KB");
    home.write("p/.brv/context-tree/a/b/long.md", "y".repeat(80 << 20));
    home.write(
        "p/.brv/context-tree/a/b/good.md",
        "## Facts\n- **ttl**: Tokens live for 15 minutes [project]\n",
    );
    let came = home.data(["migrate", "from-brv", "--path", "p"]);
    assert_eq!(came["migrated"], 1, "{came}");
    assert!(came["errors"].to_string().contains("too large: 80.0 MiB"), "{came}");
}
