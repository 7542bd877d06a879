//! Runs `bower` in a home of its own, for the other tests.
//! Nothing of the caller's environment reaches it.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes on a machine that has other things to do.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Looks at what another process does until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A home, empty at first, without a model: answers come from words alone.
pub struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status.
    pub status: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub talk: String,
}

impl Home {
    /// A new one.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    /// A new one with the local model, which picks sentences of sessions: `BOWER_TEST_MODEL`, or where `make model` puts it.
    pub fn with_model() -> Self {
        Self::new().and_model()
    }

    /// The folder of its models, where it has a model.
    pub fn models_folder(&self) -> Option<&str> {
        let found = self.variables.iter().find(|(name, _)| name == "BOWER_MODELS_FOLDER");
        found.map(|(_, folder)| folder.as_ref())
    }

    /// With that model from now on.
    pub fn and_model(mut self) -> Self {
        let folder = std::env::var_os("BOWER_TEST_MODEL").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/model/all-MiniLM-L6-v2"),
            PathBuf::from,
        );
        assert!(folder.is_dir(), "no {}: run `make model` first", folder.display());
        self.variables.retain(|(name, _)| name != "BOWER_MODEL");
        self.with("BOWER_MODELS_FOLDER", folder.parent().unwrap().to_str().unwrap())
    }

    /// With a variable in the environment.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// A path inside the temporary folder, beside the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Bowerbird's own folder.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Writes a file and the folders that it needs.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The command, ready to run.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bower"));
        command.env_clear().env("BOWER_HOME", self.home()).env("TZ", "UTC").current_dir(self.folder.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    /// Runs it.
    pub fn run<const N: usize>(&self, arguments: [&str; N]) -> Ended {
        Ended::from(self.command(arguments).output().unwrap())
    }

    /// Runs it with text on standard input.
    pub fn feed<const N: usize>(&self, arguments: [&str; N], input: &[u8]) -> Ended {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // The command may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let ended = Ended::from(child.wait_with_output().unwrap());
        writer.join().unwrap();
        ended
    }

    /// Runs it and takes the envelope's data.
    pub fn data<const N: usize>(&self, arguments: [&str; N]) -> Value {
        let ended = self.run(arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
        let mut envelope = ended.json();
        assert_eq!(envelope["success"], true, "{envelope}");
        envelope["data"].take()
    }
}

impl Ended {
    /// The one envelope on standard output.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().expect("no signal ended it"),
            out: String::from_utf8(output.stdout).unwrap(),
            talk: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
