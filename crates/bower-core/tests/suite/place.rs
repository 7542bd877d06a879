//! The fixture of the engine's tests: a home with a folder of files beside it, and helper functions.
//! The present is always the same.

use bower_core::config::Settings;
use bower_core::engine::Engine;
use bower_core::item::{Gate, Visibility};
use bower_core::request::CompactWhen;
use bower_core::request::{Answer, CurateRequest, IndexReport, IndexRequest};
use bower_core::sqlite;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

use crate::model::models_folder;

/// The present.
pub fn now() -> Timestamp {
    Timestamp::from_second(1_790_000_000).unwrap()
}

/// Numbers that are the same in each run of a test.
pub struct Random(pub u64);

impl Random {
    /// One of the numbers below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    /// One of these.
    pub fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// A home and a folder of files.
pub struct Place {
    folder: TempDir,
    /// How the engine is opened.
    pub settings: Settings,
}

impl Place {
    /// With the real model.
    pub fn new() -> Self {
        Self::with(Settings { models_folder: Some(models_folder()), threads: 2, ..Settings::default() })
    }

    /// Words alone.
    pub fn without_model() -> Self {
        Self::with(Settings { model: "none".into(), threads: 2, ..Settings::default() })
    }

    /// With settings of the test's own.
    pub fn with(settings: Settings) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), settings }
    }

    /// The same files and the same store with other settings.
    pub fn reopened(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// Where the store is.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where the files are.
    pub fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    /// Writes a file, and the folders that it needs.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.notes().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The engine, as a new process would have it.
    pub fn open(&self) -> Engine {
        Engine::open(&self.home(), self.settings.clone(), now()).unwrap()
    }

    /// Puts a copy in the store's place, as `bower restore` does.
    pub fn restore(&self, from: &Path) {
        sqlite::restore(&sqlite::file_in(&self.home()), from, &self.settings, now()).unwrap();
        self.open().compact(CompactWhen::Always).unwrap();
    }

    /// Indexes all files.
    pub fn index(&self, engine: &Engine) -> IndexReport {
        engine
            .index(&Visibility::everything(), &IndexRequest::new(vec![self.notes()]), now(), &|_| {}, &|| {
                true
            })
            .unwrap()
    }
}

/// Keeps a memory, whatever it says; its id.
pub fn keep(engine: &Engine, content: &str) -> String {
    let request = CurateRequest { gate: Some(Gate::Off), ..CurateRequest::new(content) };
    engine.curate(&Visibility::everything(), &request, now()).unwrap().id.unwrap()
}

/// The texts of the hits, best first.
pub fn contents(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}
