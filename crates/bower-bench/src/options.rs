//! Parses the options of a measurement, and defines its verdict.

use std::path::{Path, PathBuf};

use crate::table;

/// A measurement that could not be made; the message is one line.
pub type Failed = Box<dyn std::error::Error>;

/// Options of a measurement.
pub struct Options {
    pub bower: PathBuf,
    pub models: PathBuf,
    pub passages: Vec<PathBuf>,
    pub cache: PathBuf,
    pub sizes: Vec<usize>,
    pub count: usize,
    pub runs: usize,
    pub data: PathBuf,
    pub home: PathBuf,
    pub out: PathBuf,
    pub seed: u64,
    pub resolution: f64,
    pub days: u32,
    pub writes: usize,
    pub show: usize,
    pub clients: usize,
    pub rate: usize,
    pub seconds: u64,
    /// The document that the figures are written into, if any.
    pub into: Option<PathBuf>,
}

impl Options {
    /// Parses the name of the part and the options after it.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<(String, Self), Failed> {
        let part = words.next().ok_or("no part named")?;
        let mut options = Self {
            bower: "target/release/bower".into(),
            models: "target/model".into(),
            passages: Vec::new(),
            cache: cache_folder(),
            sizes: Vec::new(),
            count: 10_000,
            runs: 50,
            data: "../shared/data".into(),
            home: "target/bench".into(),
            out: "target/states".into(),
            seed: 1,
            resolution: 0.5,
            days: 30,
            writes: 20_000,
            show: 0,
            clients: 64,
            rate: 100,
            seconds: 600,
            into: None,
        };
        while let Some(flag) = words.next() {
            let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
            let number = || value.parse::<usize>().ok().filter(|number| *number > 0);
            let count = || number().ok_or_else(|| format!("{flag} {value}: not a number above 0"));
            match flag.as_str() {
                "--bower" => options.bower = value.into(),
                "--models" => options.models = value.into(),
                "--passages" => options.passages.push(value.into()),
                "--cache" => options.cache = value.into(),
                "--sizes" => options.sizes = sizes(&value)?,
                "--count" => options.count = count()?,
                "--runs" => options.runs = count()?,
                "--data" => options.data = value.into(),
                "--out" => options.out = value.into(),
                "--seed" => options.seed = count()? as u64,
                "--resolution" => options.resolution = value.parse()?,
                "--days" => options.days = u32::try_from(count()?)?,
                "--writes" => options.writes = count()?,
                "--show" => options.show = count()?,
                "--clients" => options.clients = count()?,
                "--rate" => options.rate = count()?,
                "--seconds" => options.seconds = count()? as u64,
                "--home" => options.home = value.into(),
                "--into" => options.into = Some(value.into()),
                "--tables" => table::set_markdown(value == "markdown"),
                _ => return Err(format!("unknown option {flag}").into()),
            }
        }
        // Children run in other folders, so relative paths are made absolute here.
        for path in [&mut options.bower, &mut options.models, &mut options.home, &mut options.cache] {
            *path = std::path::absolute(&*path)?;
        }
        Ok((part, options))
    }

    /// Returns a command that runs the program with its own store and the shared models, without the caller's settings.
    pub fn command(&self, home: &Path) -> std::process::Command {
        // If the link cannot be made, `bower` finds no model and reports that in each answer.
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink(&self.models, home.join("models"));
        let mut command = std::process::Command::new(&self.bower);
        for (key, _) in std::env::vars_os() {
            if key.to_string_lossy().starts_with("BOWER_") {
                command.env_remove(key);
            }
        }
        command.env("BOWER_HOME", home);
        command
    }
}

/// Returns the folder for data that can be computed again.
fn cache_folder() -> PathBuf {
    let home = || std::env::home_dir().map(|home| home.join(".cache"));
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    caches.or_else(home).unwrap_or_else(|| "target".into()).join("bowerbird/bench")
}

fn sizes(words: &str) -> Result<Vec<usize>, Failed> {
    let one = |word: &str| word.parse().ok().filter(|size| *size >= 1_000);
    let sizes: Option<Vec<usize>> = words.split(',').map(|word| one(word.trim())).collect();
    let mut sizes =
        sizes.ok_or_else(|| format!("--sizes {words}: numbers from 1000, separated by commas"))?;
    sizes.sort_unstable();
    Ok(sizes)
}

/// Whether every figure kept its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Kept,
    Missed,
}

impl Verdict {
    pub fn of(kept: bool) -> Self {
        if kept { Self::Kept } else { Self::Missed }
    }

    pub fn and(self, other: Self) -> Self {
        Self::of(self == Self::Kept && other == Self::Kept)
    }

    pub fn mark(self) -> &'static str {
        match self {
            Self::Kept => "ok",
            Self::Missed => "MISSED",
        }
    }
}

/// Returns the packed file of the local model. `--models` may name a packed file itself.
pub fn packed(options: &Options) -> Result<PathBuf, Failed> {
    if options.models.is_file() {
        return Ok(options.models.clone());
    }
    let folder = options.models.join("all-MiniLM-L6-v2");
    let entries = std::fs::read_dir(&folder)
        .map_err(|error| format!("cannot read {}: {error}; run make model", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "packed"));
    files.sort();
    files.pop().ok_or_else(|| format!("no packed model in {}; run make model", folder.display()).into())
}
