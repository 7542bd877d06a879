//! Clocks, memory figures and histograms for measurements inside a process.
//! Wall time and CPU time are always reported together: on a shared machine only CPU time is comparable.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use bower_core::model::{EmbeddedQuestion, EmbeddedText, Embedder, SentenceEncoder};
use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

/// Returns the CPU seconds of all threads of this process.
#[cfg(unix)]
pub fn process_cpu_s() -> f64 {
    seconds(rustix::time::ClockId::ProcessCPUTime)
}

/// Returns the CPU seconds of the calling thread.
#[cfg(unix)]
pub fn thread_cpu_s() -> f64 {
    seconds(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(unix)]
fn seconds(clock: rustix::time::ClockId) -> f64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns NaN: this system has no such clock, so no CPU time is reported.
#[cfg(not(unix))]
pub fn process_cpu_s() -> f64 {
    0.0
}

/// Returns NaN: this system has no such clock, so no CPU time is reported.
#[cfg(not(unix))]
pub fn thread_cpu_s() -> f64 {
    0.0
}

/// Wall and CPU times of a repeated operation in milliseconds, to three significant digits (an HDR histogram, Tene).
pub struct Times {
    wall: Histogram<u64>,
    cpu: Histogram<u64>,
}

impl Times {
    pub fn new() -> Self {
        // The range is one nanosecond to one hour.
        let empty = || Histogram::new_with_bounds(1, 3_600_000_000_000, 3).expect("bounds are in order");
        Self { wall: empty(), cpu: empty() }
    }

    /// Adds one measurement: milliseconds of wall time and of CPU time.
    pub fn add(&mut self, wall_ms: f64, cpu_ms: f64) {
        for (histogram, ms) in [(&mut self.wall, wall_ms), (&mut self.cpu, cpu_ms)] {
            histogram.saturating_record((ms * 1e6).max(1.0) as u64);
        }
    }

    /// Runs `once` and adds its wall time and the CPU time of the whole process.
    pub fn take<T>(&mut self, once: impl FnOnce() -> T) -> T {
        let (result, wall_ms, cpu_ms) = timed(once);
        self.add(wall_ms, cpu_ms);
        result
    }

    pub fn json(&self) -> Value {
        let of = |histogram: &Histogram<u64>, share| round(histogram.value_at_quantile(share) as f64 / 1e6);
        json!({
            "count": self.wall.len(),
            "min_ms": round(self.wall.min() as f64 / 1e6),
            "p50_ms": of(&self.wall, 0.5),
            "p95_ms": of(&self.wall, 0.95),
            "p99_ms": of(&self.wall, 0.99),
            "max_ms": round(self.wall.max() as f64 / 1e6),
            "mean_ms": round(self.wall.mean() / 1e6),
            "cpu_p50_ms": of(&self.cpu, 0.5),
            "cpu_ms": round(self.cpu.mean() / 1e6),
        })
    }
}

/// The local model with a clock that counts its time.
pub struct Timed {
    pub model: Arc<SentenceEncoder>,
    pub ns: Arc<AtomicU64>,
    /// Outputs that were computed ahead, so that reading them takes no model time.
    pub ahead: Arc<RwLock<HashMap<String, EmbeddedText>>>,
}

impl Timed {
    pub fn new(model: Arc<SentenceEncoder>, ns: Arc<AtomicU64>) -> Self {
        Self { model, ns, ahead: Arc::default() }
    }

    fn take<T>(&self, once: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = once();
        self.ns.fetch_add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(0), Ordering::Relaxed);
        made
    }
}

impl Embedder for Timed {
    fn model(&self) -> &str {
        self.model.model()
    }

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn embed(&self, text: &str) -> bower_core::Result<Vec<f32>> {
        self.take(|| self.model.embed(text))
    }

    fn tokens(&self) -> Option<&str> {
        self.model.tokens()
    }

    fn embed_text(&self, text: &str) -> bower_core::Result<EmbeddedText> {
        let made = self.ahead.read().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        made.map_or_else(|| self.take(|| self.model.embed_text(text)), Ok)
    }

    fn embed_question(&self, text: &str) -> bower_core::Result<EmbeddedQuestion> {
        self.take(|| self.model.embed_question(text))
    }

    fn count_pieces(&self, text: &str) -> bower_core::Result<usize> {
        self.model.count_pieces(text)
    }
}

/// Runs `once`; returns its result, its wall time and the CPU time of the whole process, both in milliseconds.
pub fn timed<T>(once: impl FnOnce() -> T) -> (T, f64, f64) {
    let (start, cpu) = (Instant::now(), process_cpu_s());
    let result = once();
    (result, start.elapsed().as_secs_f64() * 1e3, (process_cpu_s() - cpu) * 1e3)
}

/// Rounds to four decimal places; more digits carry no information.
pub fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Returns the resident memory of this process in bytes: `rss`; `pss`, in which a page that is mapped several times (by two
/// connections to one store, say) counts once; `anonymous` (its own, not a file's); `peak`; and `mapped`, grouped by what the
/// mapped files belong to. Empty if the system does not report it.
pub fn memory() -> Value {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| kilobytes(line, "VmHWM:"));
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let (mut rss, mut shared_out, mut anonymous, mut owner) = (0, 0, 0, String::new());
    let mut mapped: BTreeMap<String, u64> = BTreeMap::new();
    for line in maps.lines() {
        if let Some(bytes) = kilobytes(line, "Rss:") {
            rss += bytes;
            *mapped.entry(owner.clone()).or_default() += bytes;
        } else if let Some(bytes) = kilobytes(line, "Pss:") {
            shared_out += bytes;
        } else if let Some(bytes) = kilobytes(line, "Anonymous:") {
            anonymous += bytes;
        } else if line.split(' ').next().is_some_and(|first| first.contains('-') && !first.ends_with(':')) {
            owner = part(Path::new(line.split_whitespace().nth(5).unwrap_or_default()));
        }
    }
    json!({ "rss_bytes": rss, "pss_bytes": shared_out, "anonymous_bytes": anonymous, "peak_bytes": peak, "mapped_bytes": mapped })
}

/// Parses the bytes of a line of a process's status that begins with `name`.
pub fn kilobytes(line: &str, name: &str) -> Option<u64> {
    let number = line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(number * 1_024)
}

/// Returns which part of a store, a model or the program a file belongs to.
pub fn part(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    let index = names.iter().position(|name| name == "index").and_then(|at| names.get(at + 2));
    let last = names.last().map_or("", |name| name);
    match index {
        Some(kind) if names.iter().any(|name| name == "index") && names.len() > 3 => {
            kind.split(['-', '.']).next().unwrap_or_default().to_owned()
        }
        _ if last.starts_with("memory.db") => "store".into(),
        _ if last.ends_with(".packed") || last.starts_with("vocab") => "model".into(),
        _ if last.is_empty() || last.starts_with('[') => "own".into(),
        _ => "program".into(),
    }
}

/// Returns the bytes on disk below a home, grouped by what they belong to. Links are not followed: the model is shared.
pub fn disk(home: &Path) -> Map<String, Value> {
    let mut parts: BTreeMap<String, u64> = BTreeMap::new();
    let mut folders = vec![home.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                *parts.entry(part(&path)).or_default() += entry.metadata().map_or(0, |file| file.len());
            }
        }
    }
    parts.into_iter().map(|(name, bytes)| (format!("{name}_bytes"), bytes.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_parts() {
        for (path, expected) in [
            ("/h/index/3f2a/text/seg.idx", "text"),
            ("/h/index/3f2a/vectors-mini.i8-2/g1.codes", "vectors"),
            ("/h/memory.db-wal", "store"),
            ("/h/models/mini/mini.packed", "model"),
            ("[heap]", "own"),
            ("", "own"),
            ("/usr/lib/libc.so.6", "program"),
        ] {
            assert_eq!(part(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn times_are_milliseconds_and_percentiles_by_rank() {
        let mut times = Times::new();
        (1..=100).for_each(|ms| times.add(f64::from(ms), 0.5));
        let json = times.json();
        for (name, expected) in [("p50_ms", 50.0), ("p95_ms", 95.0), ("p99_ms", 99.0), ("cpu_ms", 0.5)] {
            let found = json[name].as_f64().unwrap();
            assert!((found / expected - 1.0).abs() < 2e-3, "{name} {found}");
        }
    }
}
