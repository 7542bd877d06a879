//! Fetches the pages that addresses name and gives them to the engine, a few at a time.
//! A killed run keeps what was written, and the next one asks only for the rest.

use bower_core::engine::{DocumentInput, DocumentSeries, FileContent};
use bower_core::item::{Author, Provenance, Visibility};
use bower_core::request::{IndexReport, Selection};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use url::Url;

use crate::cli::IndexArgs;
use crate::commands::now;
use crate::failure::{Failure, Result};
use crate::service::{Bounds, Service};
use crate::web::{Fetched, Fetcher, Known, Limits, Validators, crawl};

/// Pages that are written together: one transaction for some seconds of a polite crawl.
const BATCH: usize = 16;
/// Most bytes of all pages of a run: a thousand pages of half a megabyte.
const MOST_BYTES: u64 = 500 << 20;
/// Documents that one listing returns.
const LISTED: usize = 1_000;

/// Fields of a page's document: where it was fetched, and what the server said of it.
const ADDRESS: &str = "fetched_from";
const ETAG: &str = "etag";
const LAST_MODIFIED: &str = "last_modified";
/// Field with the version of this program: another one may cut a page in another way, and reads it again.
const READ_BY: &str = "read_by";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Brings the pages of some addresses up to date.
pub fn run(addresses: &[String], arguments: &IndexArgs, service: &Service) -> Result<IndexReport> {
    let mut fetcher = Fetcher::new(Duration::from_millis(arguments.pause_ms), arguments.private_addresses);
    let start = Instant::now();
    let mut report = IndexReport::default();
    for text in addresses {
        let address = Url::parse(text)
            .ok()
            .filter(|address| address.username().is_empty() && address.password().is_none());
        let Some(mut address) = address else {
            return Err(Failure::usage(
                format!("{text} is no address of a page"),
                "write it as https://host/path, without a password",
            ));
        };
        address.set_fragment(None);
        site(&address, &mut fetcher, arguments, service, &mut report)?;
    }
    report.took_ms = start.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

fn site(
    address: &Url,
    fetcher: &mut Fetcher,
    arguments: &IndexArgs,
    service: &Service,
    report: &mut IndexReport,
) -> Result<()> {
    let limits = Limits {
        pages: arguments.pages,
        depth: arguments.depth,
        page_bytes: service.engine().settings().max_file_bytes,
        bytes: MOST_BYTES,
    };
    let mut pages = Vec::new();
    let known = |folder: &Url| known(folder, arguments, service);
    let crawled = crawl(address, &limits, fetcher, &known, &mut |page| {
        pages.push(page);
        if pages.len() < BATCH {
            Ok(())
        } else {
            write(std::mem::take(&mut pages), &[], arguments, service, report)
        }
    })?;
    let is_reached = crawled.fetched + crawled.unchanged + crawled.gone.len() > 0;
    if let (false, Some(skipped)) = (is_reached, crawled.skipped.first()) {
        let message = format!("cannot index {}: {}", skipped.path.display(), skipped.reason);
        return Err(Failure::environment(
            message,
            "open the address in a browser, and check how it is written",
        ));
    }
    write(pages, &crawled.gone, arguments, service, report)?;
    report.files += crawled.unchanged;
    report.unchanged += crawled.unchanged;
    report.skipped.extend(crawled.skipped);
    Ok(())
}

/// Returns the pages of earlier runs below a folder.
fn known(folder: &Url, arguments: &IndexArgs, service: &Service) -> Result<Vec<Known>> {
    let collection = arguments.collection.clone();
    let select = Selection {
        collections: vec![
            collection.unwrap_or_else(|| service.engine().settings().document_collection.clone()),
        ],
        scope: Some(arguments.scope),
        owner: arguments.owner.clone(),
        sources: vec![folder.to_string()],
        ..Selection::default()
    };
    let mut known = Vec::new();
    let mut offset = 0;
    loop {
        let page = service.engine().documents(&Visibility::everything(), &select, LISTED, offset)?;
        offset += page.documents.len();
        let is_last = page.documents.is_empty() || offset >= page.total;
        for document in page.documents {
            let text = |field: &str| document.metadata.get(field).and_then(Value::as_str).map(str::to_owned);
            if let Some(address) = text(ADDRESS) {
                let of_version = |field| text(field).filter(|_| text(READ_BY).as_deref() == Some(VERSION));
                known.push(Known {
                    address,
                    validators: Validators {
                        etag: of_version(ETAG),
                        last_modified: of_version(LAST_MODIFIED),
                    },
                    id: document.id,
                });
            }
        }
        if is_last {
            return Ok(known);
        }
    }
}

/// Writes pages, and removes those that are gone. Each site is a series of documents.
fn write(
    pages: Vec<Fetched>,
    gone: &[String],
    arguments: &IndexArgs,
    service: &Service,
    report: &mut IndexReport,
) -> Result<()> {
    let mut sites: BTreeMap<String, (Vec<DocumentInput>, Vec<String>)> = BTreeMap::new();
    for page in pages {
        sites.entry(origin(&page.id)).or_default().0.push(document(page));
    }
    for id in gone {
        sites.entry(origin(id)).or_default().1.push(id.clone());
    }
    for (prefix, (documents, gone)) in sites {
        let series = DocumentSeries {
            collection: arguments.collection.clone(),
            scope: arguments.scope,
            owner: arguments.owner.clone(),
            prefix,
        };
        let written = service.engine().renew_series(
            &Bounds::local().visibility(),
            &series,
            documents,
            &gone,
            now(),
            &|| true,
        )?;
        report.files += written.files;
        report.indexed += written.indexed;
        report.unchanged += written.unchanged;
        report.removed += written.removed;
        report.chunks_added += written.chunks_added;
        report.chunks_kept += written.chunks_kept;
        report.chunks_removed += written.chunks_removed;
        report.embedded += written.embedded;
        report.skipped.extend(written.skipped);
        report.problems.extend(written.problems);
        report.degraded = written.degraded;
    }
    Ok(())
}

/// Returns the address of a page's site, with which the ids of all its pages begin.
fn origin(id: &str) -> String {
    Url::parse(id)
        .map_or_else(|_| format!("{id}/"), |address| format!("{}/", address.origin().ascii_serialization()))
}

fn document(page: Fetched) -> DocumentInput {
    let mut metadata = Map::from_iter([
        (ADDRESS.to_owned(), Value::from(page.address)),
        (READ_BY.to_owned(), Value::from(VERSION)),
    ]);
    let Validators { etag, last_modified } = page.validators;
    for (field, value) in [(ETAG, etag), (LAST_MODIFIED, last_modified)] {
        metadata.extend(value.map(|value| (field.to_owned(), Value::from(value))));
    }
    DocumentInput {
        id: page.id,
        file: Some(FileContent { name: page.name, bytes: page.bytes }),
        metadata,
        provenance: Some(Provenance::told(Author::Web)),
        ..DocumentInput::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_text_from_outside() {
        let page = Fetched {
            id: "https://a.example/b".into(),
            address: "https://a.example/b?c".into(),
            name: "b.html".into(),
            bytes: b"x".to_vec(),
            validators: Validators { etag: Some("\"1\"".into()), last_modified: None },
        };
        assert_eq!(origin(&page.id), "https://a.example/");
        let document = document(page);
        assert!(
            document.provenance.is_some_and(|provenance| provenance.is_outside() && !provenance.reviewed)
        );
        assert_eq!(document.metadata[ADDRESS], "https://a.example/b?c");
        assert_eq!(document.metadata.get(LAST_MODIFIED), None);
    }
}
