//! Reads the links, the own address and the rules for robots of an HTML page, and the addresses of a sitemap.
//! Each byte is read a bounded number of times.

use super::markup::{MarkupKind, RAW, References, attribute, raw_end, token};

/// The addresses and rules of a page, as they are written in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebPage {
    /// Address to which the others are relative (`<base href>`).
    pub base: Option<String>,
    /// The page's own address (`<link rel=canonical>`).
    pub canonical: Option<String>,
    /// Addresses of links, in order. Links with `rel=nofollow` are left out.
    pub links: Vec<String>,
    /// Rules for robots (`<meta name=robots>`), such as `noindex, nofollow`.
    pub robots: Vec<String>,
}

/// Most links of a page. A sitemap may have as many addresses (sitemaps.org, "Sitemap index files": 50,000).
const MOST_LINKS: usize = 50_000;

/// Reads the addresses and rules of a page; rules for `agent` alone count like those for all robots.
pub fn web_page(html: &str, agent: &str) -> WebPage {
    let mut page = WebPage::default();
    let mut references = References::default();
    let mut at = 0;
    while let Some(found) = html[at..].find('<') {
        let token = token(html, at + found);
        at = token.end;
        let MarkupKind::Open(name) = &token.kind else { continue };
        let attributes = &html[token.attributes.clone()];
        if RAW.contains(&name.as_str()) {
            at = raw_end(html, token.end, name);
            continue;
        }
        let has = |of: &str, wanted: &str| {
            let words = attribute(attributes, of).unwrap_or_default();
            words.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
        };
        let mut address = || attribute(attributes, "href").map(|href| references.decode(href.trim()));
        match name.as_str() {
            "base" if page.base.is_none() => page.base = address(),
            "link" if page.canonical.is_none() && has("rel", "canonical") => page.canonical = address(),
            "a" | "area" if page.links.len() < MOST_LINKS && !has("rel", "nofollow") => {
                page.links.extend(address());
            }
            "meta" if has("name", "robots") || has("name", agent) => {
                page.robots.extend(attribute(attributes, "content").map(str::to_owned));
            }
            _ => {}
        }
    }
    page
}

/// The addresses of a sitemap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Whether they are sitemaps themselves.
    pub is_index: bool,
    /// Addresses, in order.
    pub addresses: Vec<String>,
}

/// Reads a sitemap (sitemaps.org protocol 0.9), or a sitemap index; `None` if a text is neither.
pub fn sitemap(xml: &str) -> Option<Sitemap> {
    let mut kind = None;
    let mut addresses = Vec::new();
    let mut references = References::default();
    let mut at = 0;
    while let Some(found) = xml[at..].find('<') {
        let token = token(xml, at + found);
        at = token.end;
        match &token.kind {
            MarkupKind::Open(name) if kind.is_none() => match name.as_str() {
                "urlset" => kind = Some(false),
                "sitemapindex" => kind = Some(true),
                _ => return None,
            },
            MarkupKind::Open(name) if name == "loc" && addresses.len() < MOST_LINKS => {
                let end = xml[at..].find('<').map_or(xml.len(), |end| at + end);
                addresses.push(references.decode(xml[at..end].trim()));
            }
            MarkupKind::Open(_) | MarkupKind::Close(_) | MarkupKind::Text | MarkupKind::Nothing => {}
        }
    }
    kind.map(|is_index| Sitemap { is_index, addresses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_and_rules_are_read() {
        let page = web_page(
            "<base href='/b/'><link rel='alternate' href=x><link rel=canonical href='/c?a=1&amp;b=2'>\
             <META NAME=robots content='noindex'><meta name=other content=nofollow><script>'<a href=no>'</script>\
             <a href=' one '>1</a><a rel='x nofollow' href=two>2</a><area href=three><a name=x>",
            "bower",
        );
        assert_eq!(page.base.as_deref(), Some("/b/"));
        assert_eq!(page.canonical.as_deref(), Some("/c?a=1&b=2"));
        assert_eq!(page.links, ["one", "three"]);
        assert_eq!(page.robots, ["noindex"]);
        assert_eq!(web_page("<meta name=Bower content=none>", "bower").robots, ["none"]);
    }

    #[test]
    fn sitemaps_and_their_indexes_are_read() {
        let text = "<?xml version='1.0'?><!-- x --><urlset><url><loc>\n https://a/b?c&amp;d </loc><lastmod>x</lastmod></url></urlset>";
        assert_eq!(
            sitemap(text),
            Some(Sitemap { is_index: false, addresses: vec!["https://a/b?c&d".into()] })
        );
        let index =
            sitemap("<sitemapindex><sitemap><loc>https://a/1.xml</loc></sitemap></sitemapindex>").unwrap();
        assert!(index.is_index && index.addresses == ["https://a/1.xml"]);
        assert_eq!(sitemap("<html><loc>x</loc></html>"), None);
    }

    proptest! {
        #[test]
        fn no_markup_makes_it_panic(html in "(<(a|link|meta|base|loc|urlset|/a)( href=| rel=| name=|'|\"|>| [a-zé&;]{1,4}){0,5}|[a-zé<>]{1,4}){0,30}") {
            web_page(&html, "bower");
            sitemap(&html);
        }
    }
}
