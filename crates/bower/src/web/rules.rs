//! Decides by rules, types and addresses which pages are indexed, how they are read, and which links are followed.

use std::path::Path;
use url::Url;

/// What a page allows a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permission {
    pub index: bool,
    pub follow: bool,
}

/// Reads the rules of `<meta name=robots>` and of the header `X-Robots-Tag`; those that name another robot are left out.
pub(super) fn permission<'a>(values: impl Iterator<Item = &'a str>, agent: &str) -> Permission {
    let mut permission = Permission { index: true, follow: true };
    for value in values {
        let mut is_own = true;
        for rule in value.split(',') {
            let rule = match rule.split_once(':') {
                // `unavailable_after: DATE` and `max-snippet: 5` name no robot.
                Some((name, _)) if matches!(name.trim(), "unavailable_after") || name.contains("max-") => {
                    continue;
                }
                Some((name, rule)) => {
                    is_own = name.trim().eq_ignore_ascii_case(agent);
                    rule
                }
                None => rule,
            };
            let rule = rule.trim().to_ascii_lowercase();
            if is_own {
                permission.index &= !matches!(rule.as_str(), "noindex" | "none");
                permission.follow &= !matches!(rule.as_str(), "nofollow" | "none");
            }
        }
    }
    permission
}

/// Types of content, each with the extension of the reader. A type that is missing here is decided by the name.
const TYPES: &[(&str, &str)] = &[
    ("application/epub+zip", "epub"),
    ("application/json", "json"),
    ("application/msword", ""),
    ("application/pdf", "pdf"),
    ("application/rtf", "rtf"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/x-ipynb+json", "ipynb"),
    ("application/xhtml+xml", "html"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/rtf", "rtf"),
    ("text/tab-separated-values", "tsv"),
    ("text/vtt", "vtt"),
    ("text/x-markdown", "md"),
];

/// Returns the name of a file that would be read like content of a type at an address; `None` for pictures and the like.
pub(super) fn file_name(media_type: &str, address: &Url) -> Option<String> {
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let last = address.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let stem = if stem.is_empty() { "index" } else { stem };
    if let Some((_, extension)) = TYPES.iter().find(|(name, _)| *name == kind) {
        return (!extension.is_empty()).then(|| format!("{stem}.{extension}"));
    }
    let is_plain = kind.starts_with("text/");
    let is_unknown =
        kind.is_empty() || kind == "application/octet-stream" || kind.starts_with("application/x-");
    match last.rsplit_once('.') {
        Some(_) if is_plain || is_unknown => Some(last.to_owned()),
        None if is_plain => Some(format!("{stem}.txt")),
        Some(_) | None => None,
    }
}

/// Whether content is HTML, which has links.
pub(super) fn is_html(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "html")
}

/// Resolves a link, without its fragment; `None` if it leads to no page.
pub(super) fn resolve(base: &Url, link: &str) -> Option<Url> {
    let mut address = base.join(link).ok()?;
    address.set_fragment(None);
    // A name or password in an address would be stored with it.
    let is_web = matches!(address.scheme(), "http" | "https") && address.host().is_some();
    (is_web && address.username().is_empty() && address.password().is_none()).then_some(address)
}

/// Returns the folder of an address: what its site is when links are followed.
pub(super) fn folder(address: &Url) -> Url {
    address.join(".").unwrap_or_else(|_| address.clone())
}

/// Whether an address is at the same host and below a folder.
pub(super) fn is_below(folder: &Url, address: &Url) -> bool {
    folder.origin() == address.origin() && address.path().starts_with(folder.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn rules_of_pages_are_read() {
        let check = |values: &[&str], index: bool, follow: bool| {
            assert_eq!(
                permission(values.iter().copied(), "bowerbird"),
                Permission { index, follow },
                "{values:?}"
            );
        };
        check(&[], true, true);
        check(&["all"], true, true);
        check(&["NoIndex, follow"], false, true);
        check(&["nofollow"], true, false);
        check(&["none"], false, false);
        check(&["otherbot: noindex, nofollow"], true, true);
        check(&["bowerbird: noindex"], false, true);
        check(&["otherbot: noindex", "nofollow"], true, false);
        check(&["max-snippet: 5, noindex", "unavailable_after: 25 Jun 2030 15:00:00 GMT"], false, true);
    }

    #[test]
    fn readers_are_chosen_by_type_and_then_by_name() {
        let check = |kind: &str, at: &str, expected: Option<&str>| {
            assert_eq!(file_name(kind, &address(at)).as_deref(), expected, "{kind} {at}");
        };
        check("text/html; charset=utf-8", "https://a.example/", Some("index.html"));
        check("text/html", "https://a.example/b/page.php?x=1", Some("page.html"));
        check("application/pdf", "https://a.example/get/7", Some("7.pdf"));
        check("text/plain", "https://a.example/README.md", Some("README.md"));
        check("text/plain", "https://a.example/LICENSE", Some("LICENSE.txt"));
        check("application/octet-stream", "https://a.example/book.epub", Some("book.epub"));
        check("", "https://a.example/b.rst", Some("b.rst"));
        check("", "https://a.example/b", None);
        check("image/png", "https://a.example/b.png", None);
    }

    #[test]
    fn links_are_resolved_and_bounded() {
        let base = address("https://a.example/docs/v1/index.html");
        let check = |link: &str, expected: Option<&str>| {
            assert_eq!(resolve(&base, link).as_ref().map(Url::as_str), expected, "{link}");
        };
        check("../b?c#d", Some("https://a.example/docs/b?c"));
        check("//b.example", Some("https://b.example/"));
        check("mailto:a@b.example", None);
        check("javascript:x()", None);
        check("https://user:word@a.example/", None);
        let below = |at: &str| is_below(&folder(&base), &address(at));
        assert!(below("https://a.example/docs/v1/") && below("https://a.example/docs/v1/x/y"));
        assert!(!below("https://a.example/docs/v10") && !below("http://a.example/docs/v1/x"));
        assert!(
            !below("https://a.example:444/docs/v1/x") && !below("https://a.example.evil.example/docs/v1/")
        );
    }
}
