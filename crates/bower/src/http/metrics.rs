//! Counts responses, and writes the server's metrics in the Prometheus text format.
//! Labels for routes, methods and statuses come from fixed sets, so that no request can create a new series.

use bower_core::request::StatusReport;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

#[derive(Clone, Debug, Default)]
struct Latency {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum_s: f64,
}

#[derive(Debug, Default)]
struct Counted {
    requests: BTreeMap<(String, &'static str, u16), u64>,
    latencies: BTreeMap<String, Latency>,
}

/// The server's counters.
#[derive(Debug, Default)]
pub struct Metrics {
    counted: Mutex<Counted>,
    /// Requests in progress.
    pub under_way: AtomicI64,
    /// Open streams of changes.
    pub streams: AtomicI64,
}

/// Values that are read at the time of the request for metrics.
#[derive(Debug, Default)]
pub struct Present<'a> {
    /// The program's version.
    pub version: &'a str,
    /// Report of the store; none if the store could not be read.
    pub store: Option<StatusReport>,
    /// Number of requests that wait for each kind of work.
    pub waiting: Vec<(&'static str, usize)>,
    /// Number of open connections, and of those that have shown a token.
    pub connections: (usize, usize),
    /// Number of connections that were closed because others needed their places.
    pub closed_for_room: u64,
}

/// Returns the name of a method. All nonstandard methods share one name.
pub fn method_name(method: &axum::http::Method) -> &'static str {
    ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]
        .into_iter()
        .find(|name| *name == method.as_str())
        .unwrap_or("OTHER")
}

impl Metrics {
    /// Counts a response.
    pub fn count(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.requests.entry((route.to_owned(), method, status)).or_default() += 1;
        if !counted.latencies.contains_key(route) {
            counted.latencies.insert(route.to_owned(), Latency::default());
        }
        let Some(latency) = counted.latencies.get_mut(route) else { return };
        let seconds = took.as_secs_f64();
        latency.count += 1;
        latency.sum_s += seconds;
        if let Some(bucket) = BUCKETS.iter().position(|end| seconds <= *end) {
            latency.buckets[bucket] += 1;
        }
    }

    /// Returns all metrics as text.
    pub fn text(&self, present: &Present<'_>) -> String {
        let Present { version, store, waiting, connections, closed_for_room } = present;
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut out, "bower_build_info", "gauge", "The version that runs.");
        let _ = writeln!(out, "bower_build_info{{version=\"{}\"}} 1", escaped(version));
        let (requests, latencies) = {
            let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
            (counted.requests.clone(), counted.latencies.clone())
        };
        head(&mut out, "bower_http_requests_total", "counter", "Answers by route, method and status.");
        for ((route, method, status), count) in &requests {
            let route = escaped(route);
            let _ = writeln!(
                out,
                "bower_http_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {count}"
            );
        }
        let name = "bower_http_request_duration_seconds";
        head(&mut out, name, "histogram", "Time until an answer's head was ready.");
        for (route, latency) in &latencies {
            let route = escaped(route);
            let mut sum = 0;
            for (end, count) in BUCKETS.iter().zip(latency.buckets) {
                sum += count;
                let _ = writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"{end}\"}} {sum}");
            }
            let _ = writeln!(out, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {}", latency.count);
            let _ = writeln!(out, "{name}_sum{{route=\"{route}\"}} {}", latency.sum_s);
            let _ = writeln!(out, "{name}_count{{route=\"{route}\"}} {}", latency.count);
        }
        let mut gauge = |name: &str, help: &str, value: f64| {
            head(&mut out, name, "gauge", help);
            let _ = writeln!(out, "{name} {value}");
        };
        gauge("bower_http_requests_under_way", "Requests under way.", load(&self.under_way));
        let (open, known) = *connections;
        gauge("bower_http_connections", "Open connections.", open as f64);
        gauge("bower_http_connections_with_token", "Open connections that have shown a token.", known as f64);
        gauge("bower_event_streams", "Streams of changes.", load(&self.streams));
        if let Some(bytes) = resident_bytes() {
            gauge("process_resident_memory_bytes", "Resident memory.", bytes as f64);
        }
        if let Some(store) = store {
            for (name, help, value) in of_store(store) {
                gauge(name, help, value);
            }
        }
        let name = "bower_http_connections_closed_total";
        head(&mut out, name, "counter", "Connections that were closed because others needed their places.");
        let _ = writeln!(out, "{name} {closed_for_room}");
        head(&mut out, "bower_work_waiting", "gauge", "Requests that wait for their turn, by kind of work.");
        for (kind, count) in waiting {
            let _ = writeln!(out, "bower_work_waiting{{kind=\"{kind}\"}} {count}");
        }
        out
    }
}

/// The gauges of the store: name, help and value.
fn of_store(store: &StatusReport) -> [(&'static str, &'static str, f64); 13] {
    let healthy = f64::from(u8::from(store.index_healthy));
    [
        ("bower_store_memories", "Memories that are candidate or active.", store.total_memories as f64),
        ("bower_store_chunks", "Chunks of documents.", store.total_chunks as f64),
        ("bower_store_documents", "Documents.", store.total_documents as f64),
        ("bower_store_bytes", "Bytes of the store and its indexes.", store.total_size_bytes as f64),
        ("bower_store_change", "The store's last change.", store.change as f64),
        ("bower_store_unembedded", "Items without a vector of the present model.", store.unembedded as f64),
        ("bower_index_healthy", "1 where the indexes match the store.", healthy),
        (
            "bower_text_tail",
            "Rows that the text index lacks; they are searched directly.",
            store.text_delta as f64,
        ),
        (
            "bower_vector_tail",
            "Rows that the vector index lacks; they are searched directly.",
            store.vector_delta as f64,
        ),
        ("bower_cache_entries", "Cached vectors in the store's file.", store.cache.entries as f64),
        ("bower_cache_bytes", "Bytes of the cached vectors.", store.cache.bytes as f64),
        (
            "bower_cache_hits",
            "Vectors that this process found in the cache.",
            store.cache.process.hits as f64,
        ),
        (
            "bower_cache_misses",
            "Vectors that this process did not find in the cache.",
            store.cache.process.misses as f64,
        ),
    ]
}

fn load(gauge: &AtomicI64) -> f64 {
    gauge.load(Ordering::Relaxed) as f64
}

/// Escapes the value of a label: names of collections and routes may contain characters that would end it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the resident memory of this process in bytes; none where the system does not report it.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_what_is_at_most_their_end_and_all_below() {
        let metrics = Metrics::default();
        for ms in [1, 2, 30, 100_000] {
            metrics.count("/api/v1/query", "POST", 200, Duration::from_millis(ms));
        }
        metrics.count("/a\"b", "GET", 404, Duration::ZERO);
        let text =
            metrics.text(&Present { version: "1.0", waiting: vec![("read", 3)], ..Present::default() });
        for line in [
            "bower_http_requests_total{route=\"/api/v1/query\",method=\"POST\",status=\"200\"} 4",
            "bower_http_requests_total{route=\"/a\\\"b\",method=\"GET\",status=\"404\"} 1",
            "bower_http_request_duration_seconds_bucket{route=\"/api/v1/query\",le=\"0.001\"} 1",
            "bower_http_request_duration_seconds_bucket{route=\"/api/v1/query\",le=\"0.0025\"} 2",
            "bower_http_request_duration_seconds_bucket{route=\"/api/v1/query\",le=\"60\"} 3",
            "bower_http_request_duration_seconds_bucket{route=\"/api/v1/query\",le=\"+Inf\"} 4",
            "bower_http_request_duration_seconds_sum{route=\"/api/v1/query\"} 100.033",
            "bower_work_waiting{kind=\"read\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
