//! Holds an API key that no output shows, and reads it from a variable, a command or a file.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Most bytes of a key's line: keys of all vendors have fewer than 300.
const MOST_BYTES: u64 = 4_096;
/// Consecutive characters of the key that make a word of a message part of the key.
const TELLING_CHARS: usize = 8;
/// How often the end of a key's command is looked for.
const POLL: Duration = Duration::from_millis(5);

/// An API key. Debug and Display print `***`, and it cannot be serialised.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    host: Option<String>,
}

/// The place where a key is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Variable(String),
    /// A command, e.g. `pass show openai`. It runs without a shell, and its first line of output is the key.
    Command(String),
    /// A file that only its owner may read. Its first line is the key.
    File(PathBuf),
}

/// The reason why a source gave no key. It names the source, never its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretError {
    /// The source, e.g. `variable OPENAI_API_KEY`.
    pub source: String,
    /// The problem, and what to do.
    pub reason: String,
}

impl Secret {
    /// Creates a key of a text. Space around it is removed; `None` if it is empty or cannot be part of a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let valid = !text.is_empty() && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
        valid.then(|| Self { text: text.to_owned(), host: None })
    }

    /// Limits the key to one host: a client for any other host refuses it.
    #[must_use]
    pub fn for_host(mut self, host: &str) -> Self {
        self.host = Some(host.to_ascii_lowercase());
        self
    }

    /// Returns the only host that may get the key, if it is limited.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Returns the key itself, for the one header that carries it.
    pub(crate) fn expose(&self) -> &str {
        &self.text
    }

    pub(crate) fn starts_with(&self, prefix: &str) -> bool {
        self.text.starts_with(prefix)
    }

    /// Replaces the key, and every word that contains a telling part of it, by `***`.
    pub(crate) fn redact(&self, text: &str) -> String {
        let text = text.replace(&self.text, "***");
        let key = self.text.as_bytes();
        let part_of_key = |word: &str| key.windows(TELLING_CHARS).any(|part| contains(word.as_bytes(), part));
        let words = text.split(' ').map(|word| if part_of_key(word) { "***" } else { word });
        words.collect::<Vec<_>>().join(" ")
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl SecretSource {
    /// Reads the key. A command has `timeout`; `variable` reads an environment variable.
    pub fn load(
        &self,
        timeout: Duration,
        variable: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Secret, SecretError> {
        let text = match self {
            Self::Variable(name) => variable(name).ok_or_else(|| "it is not set".to_owned()),
            Self::Command(line) => run(line, timeout),
            Self::File(path) => read(path),
        };
        let error = |reason: String| SecretError { source: self.name(), reason };
        let text = text.map_err(error)?;
        let first = text.lines().next().unwrap_or_default();
        let invalid = "it holds no key: a key is one line of visible ASCII characters without spaces";
        Secret::new(first).ok_or_else(|| error(invalid.to_owned()))
    }

    /// Returns the source's name for messages. Of a command it is the program: arguments may be secrets.
    fn name(&self) -> String {
        match self {
            Self::Variable(name) => format!("variable {name}"),
            Self::Command(line) => format!("command {}", line.split_whitespace().next().unwrap_or("(empty)")),
            Self::File(path) => format!("file {}", path.display()),
        }
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read the key from {}: {}", self.source, self.reason)
    }
}

impl std::error::Error for SecretError {}

fn run(line: &str, timeout: Duration) -> Result<String, String> {
    let start = Instant::now();
    let mut words = line.split_whitespace();
    let program = words.next().ok_or("it is empty")?;
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|cause| format!("it cannot be run: {cause}"))?;
    let output = child.stdout.take().expect("the output is a pipe");
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut first = Vec::new();
        let read = reader.by_ref().take(MOST_BYTES).read_until(b'\n', &mut first).map(|_| first);
        // The command may have left meanwhile.
        drop(sender.send(read));
        // A closed pipe would end a command that still writes.
        drop(std::io::copy(&mut reader, &mut std::io::sink()));
    });
    let left = |start: Instant| timeout.saturating_sub(start.elapsed());
    let first = match receiver.recv_timeout(left(start)) {
        Ok(read) => read.map_err(|cause| format!("its output cannot be read: {cause}")),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(late(timeout)),
    };
    let status = if first.is_ok() { wait(&mut child, timeout, start) } else { Err(late(timeout)) };
    if status.is_err() {
        // The command may have ended by itself.
        drop(child.kill());
        drop(child.wait());
    }
    let (first, status) = (first?, status?);
    if !status.success() {
        return Err(format!("it ended with {status}; run it by hand to see why"));
    }
    String::from_utf8(first).map_err(|_| "its output is not UTF-8".to_owned())
}

fn late(timeout: Duration) -> String {
    format!("it did not end within {} ms; unlock it first", timeout.as_millis())
}

fn wait(child: &mut Child, timeout: Duration, start: Instant) -> Result<ExitStatus, String> {
    loop {
        if let Some(status) = child.try_wait().map_err(|cause| format!("it cannot be awaited: {cause}"))? {
            return Ok(status);
        }
        if start.elapsed() >= timeout {
            return Err(late(timeout));
        }
        std::thread::sleep(POLL);
    }
}

fn read(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|cause| format!("it cannot be opened: {cause}"))?;
    let metadata = file.metadata().map_err(|cause| format!("it cannot be read: {cause}"))?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    check_mode(&metadata)?;
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(|cause| format!("it cannot be read: {cause}"))?;
    Ok(text)
}

/// Refuses a file that others may read or write.
#[cfg(unix)]
fn check_mode(metadata: &std::fs::Metadata) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    let of_others = 0o077;
    if mode & of_others == 0 {
        return Ok(());
    }
    Err(format!("others may use it (mode {mode:03o}); run chmod 600 on it"))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // as on unix
fn check_mode(_metadata: &std::fs::Metadata) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const KEY: &str = "sk-4f9a1c77e0b2";
    const LONG: Duration = Duration::from_secs(20);

    fn command(line: &str, timeout: Duration) -> Result<Secret, SecretError> {
        SecretSource::Command(line.into()).load(timeout, |_| None)
    }

    #[test]
    fn a_key_is_never_printed() {
        let secret = Secret::new(KEY).unwrap().for_host("api.example");
        assert_eq!(format!("{secret} {secret:?} {secret:#?} {:?}", Some(&secret)), "*** *** *** Some(***)");
    }

    #[test]
    fn a_key_is_one_word_of_visible_ascii() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(Secret::new(text).map(|secret| secret.text), expected.map(str::to_owned), "{text:?}");
        };
        check(" sk-1 \r\n", Some("sk-1"));
        check("", None);
        check("a b", None);
        check("a\r\nX-Evil: 1", None);
        check("schlüssel", None);
    }

    #[test]
    fn a_message_loses_the_key_and_its_parts() {
        let secret = Secret::new(KEY).unwrap();
        let check = |text: &str, expected: &str| assert_eq!(secret.redact(text), expected);
        check("bad key sk-4f9a1c77e0b2!", "bad key ***!");
        check("bad key sk-4f9a1c****: see", "bad key *** see");
        check("sk-4f9 is a prefix", "sk-4f9 is a prefix");
        assert_eq!(Secret::new("short").unwrap().redact("a short key"), "a *** key");
    }

    #[test]
    fn a_variable_gives_its_first_line() {
        let source = SecretSource::Variable("MY_KEY".into());
        let load = |value: Option<&str>| {
            source.load(LONG, |name| value.filter(|_| name == "MY_KEY").map(str::to_owned))
        };
        assert_eq!(load(Some("sk-1\nsecond")).unwrap().text, "sk-1");
        assert_eq!(
            load(None).unwrap_err().to_string(),
            "cannot read the key from variable MY_KEY: it is not set"
        );
        let error = load(Some("two words")).unwrap_err().to_string();
        assert!(error.contains("holds no key") && !error.contains("two words"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_command_runs_without_a_shell() {
        assert_eq!(command("printf sk-1\\nnext", LONG).unwrap().text, "sk-1");
        // A shell would have run the second command.
        assert!(command("echo sk-1;rm x", LONG).is_err());
        let check = |line: &str, timeout: Duration, expected: &str| {
            let error = command(line, timeout).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("sk-1"), "{error}");
        };
        check("false sk-1", LONG, "command false: it ended with exit status: 1");
        check("/no/such/program sk-1", LONG, "command /no/such/program: it cannot be run");
        check("sleep 600", Duration::from_millis(30), "it did not end within 30 ms");
        check("  ", LONG, "it is empty");
        check("true", LONG, "it holds no key");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_read_only_if_it_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        File::create(&path).unwrap().write_all(b"sk-1\nmore\n").unwrap();
        let load = |mode: u32| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            SecretSource::File(path.clone()).load(LONG, |_| None)
        };
        assert_eq!(load(0o600).unwrap().text, "sk-1");
        assert_eq!(load(0o400).unwrap().text, "sk-1");
        for mode in [0o640, 0o604, 0o620, 0o666] {
            let error = load(mode).unwrap_err().to_string();
            assert!(error.contains("chmod 600") && !error.contains("sk-1"), "{error}");
        }
        let folder = SecretSource::File(folder.path().into()).load(LONG, |_| None).unwrap_err();
        assert_eq!(folder.reason, "it is not a regular file");
    }
}
