//! Tests pulls of a small cross-encoder from a real HTTP server on the loopback, and from folders.
//! Whatever a source does, installed files match the record.

use std::collections::BTreeMap;

use bower_core::item::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::*;
use crate::loopback::{Reply, Server, nobody};

const REPOSITORY: &str = "someone/small";

/// Returns the files of a cross-encoder with one layer of 64 numbers, as published.
fn published() -> BTreeMap<&'static str, Vec<u8>> {
    let config = json!({
        "model_type": "bert", "architectures": ["BertForSequenceClassification"], "hidden_size": 64,
        "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "max_position_embeddings": 16,
    });
    let vocabulary = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nriver\nbridge\n".to_vec();
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        ("bert.pooler.dense.weight".into(), vec![64, 64]),
        ("bert.pooler.dense.bias".into(), vec![64]),
        ("classifier.weight".into(), vec![1, 64]),
        ("classifier.bias".into(), vec![1]),
    ];
    for (name, rows) in [("word", 6), ("position", 16), ("token_type", 2)] {
        tensors.push((format!("bert.embeddings.{name}_embeddings.weight"), vec![rows, 64]));
    }
    let layer = "bert.encoder.layer.0.";
    let products =
        ["self.query", "self.key", "self.value", "output.dense"].map(|p| format!("{layer}attention.{p}"));
    for name in
        products.into_iter().chain(["intermediate.dense", "output.dense"].map(|p| format!("{layer}{p}")))
    {
        tensors.push((format!("{name}.weight"), vec![64, 64]));
        tensors.push((format!("{name}.bias"), vec![64]));
    }
    for name in ["bert.embeddings.", &format!("{layer}attention.output."), &format!("{layer}output.")] {
        tensors.push((format!("{name}LayerNorm.weight"), vec![64]));
        tensors.push((format!("{name}LayerNorm.bias"), vec![64]));
    }
    // The format: length of the header, the header as JSON, the numbers.
    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    for (name, shape) in tensors {
        let start = numbers.len();
        for index in 0..shape.iter().product::<usize>() {
            let number = ((index * 37 + start) % 101) as f32 / 100.0 - 0.5;
            numbers.extend(number.to_le_bytes());
        }
        let offsets = [start, numbers.len()];
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}));
    }
    let header = Value::Object(header).to_string();
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.into_bytes());
    weights.extend(numbers);
    BTreeMap::from([
        ("config.json", config.to_string().into_bytes()),
        ("vocab.txt", vocabulary),
        ("model.safetensors", weights),
    ])
}

/// Behaviour of a test hub.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hub {
    /// Large files are at another address; the redirect contains their length and checksum.
    Redirects,
    /// All files are at the requested address.
    Plain,
    /// The weights differ from their checksum in one byte.
    Changed,
    /// The repository does not exist.
    Empty,
}

/// A server for the repository.
struct Repository(Server);

impl Repository {
    fn start(hub: Hub) -> Self {
        Self(Server::start(move |request, _| Some(answer(&request.path, hub))))
    }

    fn source(&self) -> Source {
        Source::Hub { base_url: format!("http://{}", self.0.address()) }
    }

    fn gets(&self) -> usize {
        self.0.seen().iter().filter(|request| request.method == "GET").count()
    }
}

fn answer(path: &str, hub: Hub) -> Reply {
    let name = path.rsplit('/').next().unwrap();
    let mut body = match published().remove(name) {
        Some(body) if hub != Hub::Empty => body,
        Some(_) | None => return Reply::new("404 Not Found", ""),
    };
    if name == "model.safetensors" && hub != Hub::Plain && !path.starts_with("/elsewhere/") {
        let (sum, size) = (hex(&Sha256::digest(&body)), body.len());
        let headers =
            format!("Location: /elsewhere/{name}\r\nX-Linked-Size: {size}\r\nX-Linked-ETag: \"{sum}\"\r\n");
        return Reply { headers, ..Reply::new("302 Found", "") };
    }
    if hub == Hub::Changed && name == "model.safetensors" {
        *body.last_mut().unwrap() ^= 1;
    }
    Reply::new("200 OK", body)
}

fn quietly(folder: &TempDir, source: &Source) -> Result<Pulled> {
    super::super::pull(folder.path(), REPOSITORY, source, &mut |_| {})
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join("small")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != ".lock");
    names.sort();
    names
}

fn is_installed(folder: &TempDir) {
    let expected = [
        "config.json",
        "cross.i8-1.packed",
        "cross.i8-1.sums",
        "model.safetensors",
        "origin.json",
        "vocab.txt",
    ];
    assert_eq!(names(folder), expected);
    for name in [REPOSITORY, "small"] {
        let status = super::super::status(folder.path(), name).unwrap();
        assert_eq!((&*status.model, status.state), (REPOSITORY, InstallState::Installed));
        let files = published();
        for file in &status.files {
            let bytes = &files[&*file.file];
            assert_eq!(file.state, FileState::Whole { bytes: bytes.len() as u64 });
            assert_eq!(file.sha256.as_deref(), Some(&*hex(&Sha256::digest(bytes))));
        }
    }
    let listed = super::super::list(folder.path());
    let listed: Vec<_> = listed.iter().map(|listed| (&*listed.model, listed.installed)).collect();
    assert_eq!(listed, [("all-MiniLM-L6-v2", false), (REPOSITORY, true)]);
}

#[test]
fn a_repository_is_fetched_recorded_packed_and_then_left_alone() {
    for hub in [Hub::Redirects, Hub::Plain] {
        let (folder, server) = (tempfile::tempdir().unwrap(), Repository::start(hub));
        let pulled = quietly(&folder, &server.source()).unwrap();
        assert_eq!((pulled.model.as_str(), pulled.source, pulled.packed_now), ("small", Some("hub"), true));
        assert_eq!(pulled.fetched_bytes, published().values().map(|body| body.len() as u64).sum::<u64>());
        is_installed(&folder);
        let model = CrossEncoder::open("small", &pulled.packed).unwrap();
        assert!(model.relevance("river", "bridge").unwrap().logit.is_finite());
        let before = server.gets();
        let again = quietly(&folder, &server.source()).unwrap();
        assert_eq!((again.source, again.packed_now, server.gets()), (None, false, before));
    }
}

#[test]
fn what_is_damaged_is_fetched_or_packed_again() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Repository::start(Hub::Redirects));
    let packed = quietly(&folder, &server.source()).unwrap().packed;
    fs::write(&packed, "x").unwrap();
    let before = server.gets();
    assert!(quietly(&folder, &server.source()).unwrap().packed_now);
    assert_eq!(server.gets(), before, "the files were whole");
    fs::write(folder.path().join("small/vocab.txt"), "other").unwrap();
    let status = super::super::status(folder.path(), "small").unwrap();
    assert!(matches!(status.files[1].state, FileState::Damaged { .. }), "{:?}", status.files[1]);
    assert_eq!(quietly(&folder, &server.source()).unwrap().fetched_bytes, 37);
    is_installed(&folder);
    fs::remove_file(folder.path().join("small/origin.json")).unwrap();
    quietly(&folder, &server.source()).unwrap();
    is_installed(&folder);
}

#[test]
fn what_cannot_be_had_is_named_and_leaves_no_model() {
    let fails = |source: &Source, expected: &str| {
        let folder = tempfile::tempdir().unwrap();
        let error = quietly(&folder, source).unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(error, Error::Model { .. }) && text.contains(expected) && !text.contains('\n'),
            "{text}"
        );
        assert!(text.starts_with("model someone/small: ") || text.starts_with("model small: "), "{text}");
        assert!(!names(&folder).iter().any(|name| name.ends_with(".packed") || name == ORIGIN));
    };
    fails(&Repository::start(Hub::Empty).source(), "config.json: the server answered 404 Not Found");
    fails(&Repository::start(Hub::Changed).source(), "SHA-256");
    fails(&Source::Hub { base_url: format!("http://{}", nobody()) }, "cannot fetch http://127.0.0.1:");
    fails(&Source::Pip { python: "python3".into() }, "no Python package");
    let empty = tempfile::tempdir().unwrap();
    fails(&Source::Folder(empty.path().into()), "has no config.json");
    for (name, body) in published() {
        fs::write(empty.path().join(name), body).unwrap();
    }
    fs::write(empty.path().join("config.json"), "{}").unwrap();
    fails(&Source::Folder(empty.path().into()), "config.json does not describe a BERT");
}

#[test]
fn a_folder_will_do_and_another_owner_s_model_is_not_replaced() {
    let (folder, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (name, body) in published() {
        fs::write(from.path().join(name), body).unwrap();
    }
    let source = Source::Folder(from.path().into());
    assert_eq!(quietly(&folder, &source).unwrap().source, Some("folder"));
    is_installed(&folder);
    let error = super::super::pull(folder.path(), "other/small", &source, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("holds someone/small: move it away first"), "{error}");
}

#[test]
fn names_of_repositories_are_two_plain_parts() {
    for good in ["cross-encoder/ms-marco-MiniLM-L6-v2", "a/b", "A.b_c/d-1"] {
        assert!(is_repository(good), "{good}");
    }
    for bad in
        ["tiny", "", "/", "a/", "/b", "a/b/c", "../b", "a/..", "a/.b", "a b/c", "a/b?x", "a\\b/c", "ä/b"]
    {
        assert!(!is_repository(bad), "{bad}");
    }
    let folder = tempfile::tempdir().unwrap();
    let status = super::super::status(folder.path(), "cross-encoder/absent").unwrap();
    assert_eq!(status.state, InstallState::Missing);
    assert!(matches!(super::super::status(folder.path(), "absent"), Err(Error::NotFound { .. })));
    assert!(super::super::pull(folder.path(), "absent", &Source::Folder("/".into()), &mut |_| {}).is_err());
}
