//! Tests of a crawl with a real server on the loopback.

use super::*;
use crate::loopback::{Reply, Request, Server};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use std::time::Duration;

/// A site: for each path the status, the headers and the body.
type Site = BTreeMap<&'static str, (&'static str, String, Vec<u8>)>;

fn page(body: &str) -> (&'static str, String, Vec<u8>) {
    ("200 OK", "Content-Type: text/html\r\n".into(), body.as_bytes().to_vec())
}

fn serve(site: Site) -> Server {
    Server::start(move |request: &Request, _: &[Request]| {
        let Some((status, headers, body)) = site.get(request.path.as_str()) else {
            return Some(Reply::new("404 Not Found", ""));
        };
        let tag = request.header("if-none-match").unwrap_or("none");
        if headers.contains(&format!("ETag: {tag}\r\n")) {
            return Some(Reply { promised: 0, ..Reply::new("304 Not Modified", "") });
        }
        Some(Reply { headers: headers.clone(), ..Reply::new(status, body.clone()) })
    })
}

fn limits() -> Limits {
    Limits { pages: 20, depth: 5, page_bytes: 10_000, bytes: 100_000 }
}

/// Crawls and returns the outcome with the pages, the server's own address left out.
fn run(server: &Server, path: &str, limits: &Limits, known: &[Known]) -> (Crawled, Vec<Fetched>) {
    let start = Url::parse(&format!("http://{}{path}", server.address())).unwrap();
    let mut fetched = Vec::new();
    let mut fetcher = Fetcher::new(Duration::ZERO, true);
    let of_folder = |_: &Url| Ok::<_, Infallible>(known.to_vec());
    let crawled = crawl(&start, limits, &mut fetcher, &of_folder, &mut |page| {
        fetched.push(page);
        Ok(())
    });
    (crawled.unwrap(), fetched)
}

fn paths(pages: &[Fetched]) -> Vec<String> {
    pages.iter().map(|page| Url::parse(&page.id).unwrap().path().to_owned()).collect()
}

fn reasons(crawled: &Crawled) -> Vec<&str> {
    crawled.skipped.iter().map(|skipped| skipped.reason.as_str()).collect()
}

#[test]
fn a_site_is_followed_below_its_folder_and_by_its_rules() {
    let mut site = Site::new();
    site.insert(
        "/robots.txt",
        ("200 OK", String::new(), b"User-agent: bowerbird\nDisallow: /d/no\n".to_vec()),
    );
    let links = "<a href=a.html>a</a><a href='a.html#x'>a</a><a href=/other>o</a><a href=no.html>n</a><a href=b/>b</a>\
                 <a href=old>old</a><a href=dup>dup</a><a href=pic>p</a><a href=hid>h</a><a href=lost>l</a>";
    site.insert("/d/", page(links));
    site.insert("/d/a.html", page("<title>A</title>text"));
    site.insert("/d/b/", page("<meta name=robots content=nofollow><a href=c>c</a>"));
    site.insert("/d/old", ("301 Moved Permanently", "Location: new\r\n".into(), Vec::new()));
    site.insert("/d/new", ("200 OK", "Content-Type: text/markdown\r\n".into(), b"# New".to_vec()));
    site.insert("/d/dup", page("<link rel=canonical href=/d/a.html>text"));
    site.insert("/d/pic", ("200 OK", "Content-Type: image/png\r\n".into(), vec![0; 9]));
    site.insert(
        "/d/hid",
        ("200 OK", "Content-Type: text/html\r\nX-Robots-Tag: noindex\r\n".into(), b"x".to_vec()),
    );
    let server = serve(site);
    let (crawled, pages) = run(&server, "/d/", &limits(), &[]);
    assert_eq!(paths(&pages), ["/d/", "/d/a.html", "/d/b/", "/d/new"]);
    assert_eq!((pages[1].name.as_str(), pages[3].name.as_str()), ("a.html", "new.md"));
    let mut skipped = reasons(&crawled);
    skipped.sort_unstable();
    assert_eq!(
        skipped,
        [
            "its rules say noindex",
            "its type is image/png",
            "the server has no such page",
            "the site's robots.txt does not allow it"
        ]
    );
    assert!(server.seen().iter().all(|request| request.path != "/other" && request.path != "/d/no.html"));
    assert!(server.seen()[0].header("user-agent").unwrap().starts_with("bowerbird/"));
}

#[test]
fn a_page_is_one_page_and_limits_hold() {
    let mut site = Site::new();
    site.insert("/a", page("<a href=/b>b</a>"));
    site.insert("/s/", page("<a href=1>1</a><a href=2>2</a><a href=3>3</a>"));
    site.insert("/s/1", page("<a href=/s/deep>x</a>"));
    site.insert("/s/2", page(&"x".repeat(20_000)));
    site.insert("/s/3", page("3"));
    site.insert("/s/deep", page("deep"));
    let server = serve(site);
    assert_eq!(paths(&run(&server, "/a", &limits(), &[]).1), ["/a"]);
    let (crawled, pages) = run(&server, "/s/", &Limits { depth: 1, ..limits() }, &[]);
    assert_eq!(
        (paths(&pages), reasons(&crawled)),
        (vec!["/s/".into(), "/s/1".into(), "/s/3".into()], vec!["it has more than 10000 bytes"])
    );
    let (crawled, pages) = run(&server, "/s/", &Limits { pages: 2, ..limits() }, &[]);
    assert_eq!(
        (pages.len(), reasons(&crawled)),
        (2, vec!["a limit is reached, 3 more pages wait; see --pages"])
    );
    let (crawled, pages) = run(&server, "/none", &limits(), &[]);
    assert_eq!((pages.len(), reasons(&crawled)), (0, vec!["the server has no such page"]));
}

#[test]
fn a_second_run_fetches_what_changed_and_knows_what_is_gone() {
    let mut site = Site::new();
    site.insert(
        "/d/",
        ("200 OK", "Content-Type: text/html\r\nETag: \"1\"\r\n".into(), b"<a href=a>a</a>".to_vec()),
    );
    site.insert("/d/a", ("200 OK", "Content-Type: text/html\r\nETag: \"2\"\r\n".into(), b"a".to_vec()));
    let server = serve(site);
    let (_, pages) = run(&server, "/d/", &limits(), &[]);
    let known = |page: &Fetched, etag: Option<String>| Known {
        id: page.id.clone(),
        address: page.address.clone(),
        validators: Validators { etag, last_modified: None },
    };
    let at = |path: &str| format!("http://{}{path}", server.address());
    let gone = Known { id: at("/d/gone"), address: at("/d/gone"), validators: Validators::default() };
    let earlier =
        [known(&pages[0], pages[0].validators.etag.clone()), known(&pages[1], Some("\"old\"".into())), gone];
    let (crawled, pages) = run(&server, "/d/", &limits(), &earlier);
    assert_eq!((crawled.unchanged, paths(&pages)), (1, vec!["/d/a".to_owned()]));
    assert_eq!(crawled.gone, [at("/d/gone")]);
}

#[test]
fn sitemaps_name_pages_also_packed_and_by_an_index() {
    let server = Server::start(|request: &Request, _: &[Request]| {
        let host = request.header("host").unwrap().to_owned();
        let locations = |kind: &str, paths: &[&str]| -> String {
            let each = paths.iter().map(|path| format!("<x><loc>http://{host}{path}</loc></x>"));
            format!("<?xml version='1.0'?><{kind}>{}</{kind}>", each.collect::<String>())
        };
        let packed = |text: String| {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text.as_bytes()).unwrap();
            out.finish().unwrap()
        };
        Some(match request.path.as_str() {
            "/sitemap.xml" => Reply::new("200 OK", locations("sitemapindex", &["/one.xml.gz"])),
            "/one.xml.gz" => Reply::new("200 OK", packed(locations("urlset", &["/a.md", "/b.md"]))),
            "/a.md" | "/b.md" => {
                Reply { headers: "Content-Type: text/plain\r\n".into(), ..Reply::new("200 OK", "# text") }
            }
            _ => Reply::new("404 Not Found", ""),
        })
    });
    let (_, pages) = run(&server, "/sitemap.xml", &limits(), &[]);
    assert_eq!(paths(&pages), ["/a.md", "/b.md"]);
}

#[test]
fn private_addresses_are_refused_after_resolution() {
    let server = serve(Site::new());
    for host in ["127.0.0.1", "localhost"] {
        let start = Url::parse(&format!("http://{host}:{}/a", server.address().port())).unwrap();
        let mut fetcher = Fetcher::new(Duration::ZERO, false);
        let known = |_: &Url| Ok::<_, Infallible>(Vec::new());
        let crawled = crawl(&start, &limits(), &mut fetcher, &known, &mut |_| panic!("no page")).unwrap();
        assert!(crawled.skipped[0].reason.contains("not on the public internet"), "{crawled:?}");
    }
    assert!(server.seen().is_empty());
}

#[test]
fn a_site_whose_rules_cannot_be_read_is_left_alone() {
    let mut site = Site::new();
    site.insert("/robots.txt", ("503 Service Unavailable", String::new(), Vec::new()));
    site.insert("/a", page("a"));
    let server = serve(site);
    let (crawled, pages) = run(&server, "/a", &limits(), &[]);
    assert!(pages.is_empty());
    assert_eq!(
        reasons(&crawled),
        ["the site's robots.txt cannot be read: the server answered 503 Service Unavailable"]
    );
    assert_eq!(server.seen().len(), 1);
}
