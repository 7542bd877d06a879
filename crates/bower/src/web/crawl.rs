//! Walks a page, a sitemap or a site below a folder, within limits, and returns each page that is new or changed.
//!
//! An address that ends with `/` is a site: links below it are followed. Another one is a page, or a sitemap whose pages are
//! fetched. Pages of an earlier run below the same folder are asked for again, with what the server said of them.

use bower_core::request::Skipped;
use bower_core::shared::{sitemap, web_page};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Read;
use std::path::PathBuf;
use url::Url;

use super::AGENT;
use super::fetch::{Answer, Content, Fetcher, Validators};
use super::robots::Robots;
use super::rules::{file_name, folder, is_below, is_html, permission, resolve};

/// Most redirects of one address (RFC 9309 wants five of robots.txt; browsers follow twenty).
const MOST_REDIRECTS: usize = 10;
/// Most bytes of a robots.txt that are read (RFC 9309, 2.5: at least 500 KiB).
const ROBOTS_BYTES: u64 = 500 << 10;
/// Most bytes of a sitemap, unpacked (sitemaps.org: 50 MB).
const SITEMAP_BYTES: u64 = 50 << 20;

/// Limits of a run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Most pages that are asked for.
    pub pages: usize,
    /// How many links away from the address a page may be; 0 follows none. It holds for sites alone.
    pub depth: usize,
    /// Most bytes of a page.
    pub page_bytes: u64,
    /// Most bytes of all pages.
    pub bytes: u64,
}

/// A page that an earlier run fetched.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its document.
    pub id: String,
    /// The address that was fetched.
    pub address: String,
    /// What the server said of it.
    pub validators: Validators,
}

/// A page that was fetched.
#[derive(Debug)]
pub struct Fetched {
    /// Its address: the one that it calls its own, if that is at the same host.
    pub id: String,
    /// The address that was fetched.
    pub address: String,
    /// Name of a file that is read like it.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// What the server says of it.
    pub validators: Validators,
}

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Crawled {
    /// Number of pages that the server said are unchanged.
    pub unchanged: usize,
    /// Number of pages that were fetched.
    pub fetched: usize,
    /// Documents whose pages are gone, or are not to be indexed any more.
    pub gone: Vec<String>,
    /// Addresses that are left out, with the reasons.
    pub skipped: Vec<Skipped>,
}

/// Fetches what an address names. `known` returns the pages of earlier runs below a folder; each new or changed page is given to
/// `each`, whose error ends the run.
pub fn crawl<E>(
    start: &Url,
    limits: &Limits,
    fetcher: &mut Fetcher,
    known: &dyn Fn(&Url) -> Result<Vec<Known>, E>,
    each: &mut dyn FnMut(Fetched) -> Result<(), E>,
) -> Result<Crawled, E> {
    let mut crawl = Crawl {
        limits,
        fetcher,
        robots: HashMap::new(),
        known: HashMap::new(),
        folder: folder(start),
        follows: start.path().ends_with('/') && limits.depth > 0,
        waiting: VecDeque::from([(start.clone(), 0)]),
        met: HashSet::from([start.to_string()]),
        ids: HashSet::new(),
        bytes: 0,
        outcome: Crawled::default(),
    };
    for known in known(&crawl.folder)? {
        crawl.known.insert(known.address.clone(), known);
    }
    let mut is_first = true;
    let mut asked = 0;
    while let Some((address, depth)) = crawl.waiting.pop_front() {
        if asked == limits.pages || crawl.bytes > limits.bytes {
            let reason =
                format!("a limit is reached, {} more pages wait; see --pages", crawl.waiting.len() + 1);
            crawl.skip(&address, &reason);
            break;
        }
        asked += 1;
        if let Some(page) = crawl.page(&address, depth, is_first) {
            crawl.outcome.fetched += 1;
            each(page)?;
        }
        if is_first {
            is_first = false;
            if crawl.follows {
                crawl.wait_for_known();
            }
        }
    }
    // A page may have moved within the site.
    let ids = crawl.ids;
    crawl.outcome.gone.retain(|id| !ids.contains(id));
    Ok(crawl.outcome)
}

/// A run.
struct Crawl<'a> {
    limits: &'a Limits,
    fetcher: &'a mut Fetcher,
    /// The rules of each origin.
    robots: HashMap<String, Robots>,
    /// Pages of earlier runs, by address.
    known: HashMap<String, Known>,
    folder: Url,
    follows: bool,
    /// Addresses that are still to be fetched, with their distance from the first.
    waiting: VecDeque<(Url, usize)>,
    met: HashSet<String>,
    /// Documents of this run.
    ids: HashSet<String>,
    bytes: u64,
    outcome: Crawled,
}

impl Crawl<'_> {
    /// Fetches an address and returns its page, if that is to be indexed.
    fn page(&mut self, address: &Url, depth: usize, is_first: bool) -> Option<Fetched> {
        let asked = address.to_string();
        let (address, content) = self.content(address, is_first)?;
        if self.folder.origin() != address.origin() || (is_first && self.follows) {
            self.folder = folder(&address);
        }
        if let Some(found) = sitemap_text(&content.bytes).and_then(|text| sitemap(&text)) {
            // A site is what the sitemap lists.
            self.follows = is_first || self.follows;
            for link in found.addresses {
                self.wait_for(&address, &link, self.limits.depth);
            }
            return None;
        }
        let Some(name) = file_name(&content.media_type, &address) else {
            self.skip(&address, &format!("its type is {}", content.media_type));
            return None;
        };
        let mut allowed = permission(content.robots.iter().map(String::as_str), AGENT);
        let mut id = address.clone();
        if is_html(&name) {
            let page = web_page(&String::from_utf8_lossy(&content.bytes), AGENT);
            let of_page = permission(page.robots.iter().map(String::as_str), AGENT);
            allowed.index &= of_page.index;
            allowed.follow &= of_page.follow;
            let base = page.base.and_then(|base| resolve(&address, &base)).unwrap_or_else(|| address.clone());
            if allowed.follow && self.follows && depth < self.limits.depth {
                for link in &page.links {
                    self.wait_for(&base, link, depth + 1);
                }
            }
            let canonical = page.canonical.and_then(|own| resolve(&base, &own));
            id = canonical.filter(|own| own.origin() == address.origin()).unwrap_or(id);
        }
        let earlier = self.known.get(&asked).map(|known| known.id.clone());
        if let Some(earlier) = earlier.filter(|earlier| !allowed.index || *earlier != id.as_str()) {
            self.outcome.gone.push(earlier);
        }
        if !allowed.index {
            self.skip(&address, "its rules say noindex");
            return None;
        }
        self.bytes += content.bytes.len() as u64;
        // Two addresses of one page are one document.
        self.ids.insert(id.to_string()).then(|| Fetched {
            id: id.into(),
            address: address.into(),
            name,
            bytes: content.bytes,
            validators: content.validators,
        })
    }

    /// Follows an address to its content; what has none is recorded.
    fn content(&mut self, start: &Url, is_first: bool) -> Option<(Url, Content)> {
        let mut address = start.clone();
        for _ in 0..=MOST_REDIRECTS {
            let path = address
                .query()
                .map_or_else(|| address.path().to_owned(), |query| format!("{}?{query}", address.path()));
            let robots = self.robots_of(&address);
            if !robots.allows(&path) {
                let reason = match &robots.unread {
                    Some(reason) => format!("the site's robots.txt cannot be read: {reason}"),
                    None => "the site's robots.txt does not allow it".to_owned(),
                };
                self.skip(&address, &reason);
                return None;
            }
            let known = self.known.get(address.as_str());
            let validators = known.map(|known| known.validators.clone()).unwrap_or_default();
            let most =
                if is_first { self.limits.page_bytes.max(SITEMAP_BYTES) } else { self.limits.page_bytes };
            match self.fetcher.get(&address, &validators, most, robots.pause) {
                Answer::Content(content) => return Some((address, content)),
                Answer::Unchanged => {
                    let known = self.known.get(address.as_str())?;
                    if self.ids.insert(known.id.clone()) {
                        self.outcome.unchanged += 1;
                    }
                    return None;
                }
                Answer::Gone => {
                    match self.known.get(start.as_str()) {
                        Some(known) => self.outcome.gone.push(known.id.clone()),
                        None => self.skip(&address, "the server has no such page"),
                    }
                    return None;
                }
                Answer::Refused(reason) | Answer::Failed(reason) => {
                    self.skip(&address, &reason);
                    return None;
                }
                Answer::Moved(to) => {
                    let Some(next) = resolve(&address, &to) else {
                        self.skip(&address, "it leads to an address that is not of the web");
                        return None;
                    };
                    if !is_first && !is_below(&self.folder, &next) {
                        self.skip(&address, &format!("it leads to {next}, which is elsewhere"));
                        return None;
                    }
                    if !self.met.insert(next.to_string()) {
                        if let Some(known) = self.known.get(start.as_str()) {
                            self.outcome.gone.push(known.id.clone());
                        }
                        return None;
                    }
                    address = next;
                }
            }
        }
        self.skip(start, "it is redirected too often");
        None
    }

    /// Returns the rules of an address's site, which are fetched once.
    fn robots_of(&mut self, address: &Url) -> Robots {
        let origin = address.origin().ascii_serialization();
        if let Some(known) = self.robots.get(&origin) {
            return known.clone();
        }
        let robots = self.read_robots(address);
        self.robots.insert(origin, robots.clone());
        robots
    }

    fn read_robots(&mut self, address: &Url) -> Robots {
        let Some(mut at) = resolve(address, "/robots.txt") else {
            return Robots::closed("the address has no host");
        };
        for _ in 0..=MOST_REDIRECTS {
            match self.fetcher.get(&at, &Validators::default(), ROBOTS_BYTES, None) {
                Answer::Content(content) => {
                    return Robots::read(&String::from_utf8_lossy(&content.bytes), AGENT);
                }
                Answer::Gone | Answer::Refused(_) => return Robots::default(),
                Answer::Unchanged => return Robots::closed("the server answered 304 to a first request"),
                Answer::Failed(reason) => return Robots::closed(reason),
                Answer::Moved(to) => match resolve(&at, &to) {
                    Some(next) => at = next,
                    None => return Robots::default(),
                },
            }
        }
        Robots::default()
    }

    fn wait_for(&mut self, base: &Url, link: &str, depth: usize) {
        let Some(address) = resolve(base, link).filter(|address| is_below(&self.folder, address)) else {
            return;
        };
        // Addresses with the same text wait once. A page can have very many links: those that cannot be fetched are not kept.
        if self.waiting.len() <= self.limits.pages && self.met.insert(address.to_string()) {
            self.waiting.push_back((address, depth));
        }
    }

    /// Asks again for the pages of earlier runs that nothing has led to.
    fn wait_for_known(&mut self) {
        let mut addresses: Vec<String> = self.known.keys().cloned().collect();
        addresses.sort_unstable();
        let folder = self.folder.clone();
        for address in addresses {
            self.wait_for(&folder, &address, self.limits.depth);
        }
    }

    fn skip(&mut self, address: &Url, reason: &str) {
        let skipped = Skipped { path: PathBuf::from(address.as_str()), reason: reason.to_owned() };
        self.outcome.skipped.push(skipped);
    }
}

/// Returns the text of what may be a sitemap, which may be packed.
fn sitemap_text(bytes: &[u8]) -> Option<String> {
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&[0x1F, 0x8B]) {
        let packed = flate2::read::MultiGzDecoder::new(bytes);
        packed.take(SITEMAP_BYTES).read_to_end(&mut unpacked).ok()?;
        &unpacked
    } else {
        bytes
    };
    let text = std::str::from_utf8(bytes).ok()?;
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let is_xml = ["<?xml", "<urlset", "<sitemapindex"].iter().any(|mark| start.starts_with(mark));
    is_xml.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
