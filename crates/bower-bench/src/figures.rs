//! Writes the output of a part between its markers in a document, with the commit and the machine.

use bower_kernels::Isa;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::options::{Failed, Options, Verdict};

/// Runs parts one after the other, each in its own process: memory that one part leaves would count in the peak of the next
/// one's children. If a document is named, each part's figures are written into it.
pub fn run(parts: &[&str], options: &Options) -> Result<Verdict, Failed> {
    let program = std::env::current_exe()?;
    let commit = commit();
    let mut verdict = Verdict::Kept;
    for part in parts {
        println!("\n== {part} ==\n");
        let mut command = Command::new(&program);
        command.arg(part).args(arguments(std::env::args().skip(2)));
        let Some(into) = &options.into else {
            verdict = verdict.and(Verdict::of(command.status()?.success()));
            continue;
        };
        let out = command.args(["--tables", "markdown"]).stderr(Stdio::inherit()).output()?;
        let figures = String::from_utf8(out.stdout)?;
        print!("{figures}");
        verdict = verdict.and(Verdict::of(out.status.success()));
        // A missed limit is still a figure; a measurement that failed has none.
        if matches!(out.status.code(), Some(0 | 1)) {
            write(into, part, &figures, &commit)?;
        }
    }
    Ok(verdict)
}

/// Returns the arguments for a part's process: all but the document.
fn arguments(all: impl Iterator<Item = String>) -> Vec<String> {
    let all: Vec<String> = all.collect();
    let pairs = all.chunks(2).filter(|pair| pair[0] != "--into");
    pairs.flatten().cloned().collect()
}

/// Returns the measured commit; `+` is appended if the program's source has uncommitted changes.
fn commit() -> String {
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).stderr(Stdio::null()).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=7", "HEAD"]) else { return "unknown".to_owned() };
    let is_changed =
        git(&["status", "--porcelain", "--", "crates", "Cargo.lock"]).is_none_or(|files| !files.is_empty());
    if is_changed { commit + "+" } else { commit }
}

/// Describes this machine by its processors and instruction set, without a name.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let instructions = match Isa::best() {
        Isa::Avx512 => "AVX-512",
        Isa::Avx2 => "AVX2",
        Isa::Neon => "NEON",
        Isa::Plain => "no SIMD",
    };
    format!("{cores} cores, {instructions}")
}

/// Writes a part's figures into a document. A document without markers for them stays unchanged, and a line reports that.
fn write(into: &Path, part: &str, figures: &str, commit: &str) -> Result<(), Failed> {
    let document = std::fs::read_to_string(into)?;
    match replaced(&document, part, figures, commit, &machine()) {
        Some(document) => std::fs::write(into, document)?,
        None => eprintln!("{} has no markers figures:{part}:start and figures:{part}:end", into.display()),
    }
    Ok(())
}

/// Returns the document with new figures between the markers of a part; `None` if a marker is missing.
fn replaced(document: &str, part: &str, figures: &str, commit: &str, machine: &str) -> Option<String> {
    let start = document.find(&format!("<!-- figures:{part}:start "))?;
    let end = start + document[start..].find(&format!("<!-- figures:{part}:end -->"))?;
    let origin = format!("`bower-bench {part}` printed this at commit `{commit}`, on {machine}.");
    let begin = format!("<!-- figures:{part}:start commit={commit} machine=\"{machine}\" -->");
    let figures = figures.trim();
    Some(format!("{}{begin}\n\n{origin}\n\n{figures}\n\n{}", &document[..start], &document[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_between_their_markers_and_nowhere_else() {
        let page = "# Page\n\n<!-- figures:eval:start commit=1 machine=\"old\" -->\n\nold\n\n<!-- figures:eval:end -->\n\nend\n";
        let expected = "# Page\n\n<!-- figures:eval:start commit=abc machine=\"2 cores, AVX2\" -->\n\n\
            `bower-bench eval` printed this at commit `abc`, on 2 cores, AVX2.\n\nnew\n\n<!-- figures:eval:end -->\n\nend\n";
        let once = replaced(page, "eval", "\nnew\n", "abc", "2 cores, AVX2").unwrap();
        assert_eq!(once, expected);
        assert_eq!(replaced(&once, "eval", "new", "abc", "2 cores, AVX2").unwrap(), once, "again");
        assert_eq!(replaced(page, "scale", "new", "abc", "2 cores"), None, "it has no place for them");
        assert_eq!(replaced(&page.replace(":end", ""), "eval", "new", "abc", "2 cores"), None, "no end");
    }

    #[test]
    fn a_part_is_not_told_of_the_document() {
        let all = ["--data", "sets", "--into", "page.md", "--runs", "3"].map(str::to_owned);
        assert_eq!(arguments(all.into_iter()), ["--data", "sets", "--runs", "3"]);
    }
}
