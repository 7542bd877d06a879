//! Decides by a site's robots.txt which paths may be fetched, as RFC 9309 says.

use std::fmt::Write as _;
use std::time::Duration;

/// Longest pause between two requests that a site may ask for: with more, a run of a thousand pages would not end in a day.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The rules of a site for one robot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Robots {
    /// Normalised patterns, and whether each allows.
    rules: Vec<(String, bool)>,
    /// The pause that the site asks for (`Crawl-delay`, which is not in the RFC).
    pub pause: Option<Duration>,
    /// Why the file could not be read, if so.
    pub unread: Option<String>,
}

impl Robots {
    /// Returns rules that allow nothing: those of a site whose robots.txt cannot be read (RFC 9309, 2.3.1.4), for this reason.
    pub(super) fn closed(reason: impl Into<String>) -> Self {
        Self { rules: vec![("/".into(), false)], pause: None, unread: Some(reason.into()) }
    }

    /// Reads a robots.txt. The groups for `agent` count, all together, else those for `*`.
    pub(super) fn read(text: &str, agent: &str) -> Self {
        let (mut own, mut common) = (None, Self::default());
        let (mut is_own, mut is_common, mut in_names) = (false, false, false);
        for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !in_names {
                    (is_own, is_common, in_names) = (false, false, true);
                }
                is_common |= value == "*";
                is_own |= value.eq_ignore_ascii_case(agent);
                if is_own && own.is_none() {
                    own = Some(Self::default());
                }
                continue;
            }
            let each = |rules: &mut Self| match key.as_str() {
                "allow" | "disallow" if !value.is_empty() => {
                    rules.rules.push((normal(value), key == "allow"));
                }
                "crawl-delay" => {
                    let pause =
                        value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    rules.pause = pause.map(|pause| pause.min(LONGEST_PAUSE)).or(rules.pause);
                }
                _ => {}
            };
            // Other lines, such as the address of a sitemap, end no group.
            in_names &= !matches!(key.as_str(), "allow" | "disallow" | "crawl-delay");
            if is_own && let Some(own) = &mut own {
                each(own);
            }
            if is_common {
                each(&mut common);
            }
        }
        own.unwrap_or(common)
    }

    /// Whether a path with its query may be fetched: the longest pattern decides, and of two as long the one that allows.
    pub(super) fn allows(&self, path: &str) -> bool {
        let path = normal(path);
        let fitting = self.rules.iter().filter(|(pattern, _)| matches(pattern, &path));
        let best = fitting.max_by_key(|(pattern, allows)| (pattern.len(), *allows));
        path == "/robots.txt" || best.is_none_or(|(_, allows)| *allows)
    }
}

/// Whether a pattern fits the start of a path; `*` stands for any letters, and `$` at the end for the end.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_end) = pattern.strip_suffix('$').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let last = if to_end { parts.pop() } else { None };
    // The first place of each part leaves the most for those after it.
    for part in &parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    match (last, to_end) {
        (Some(last), _) => rest.ends_with(last),
        (None, to_end) => !to_end || rest.is_empty(),
    }
}

/// Writes a path so that two forms of one path are equal: octets outside of ASCII in percent form, letters as they are
/// (RFC 9309, 2.2.2).
fn normal(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes
            .get(at + 1..at + 3)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = match (bytes[at], digits.map(|digits| u8::from_str_radix(digits, 16))) {
            (b'%', Some(Ok(byte))) => {
                at += 3;
                if !(byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)) {
                    let _ = write!(out, "%{byte:02X}");
                    continue;
                }
                byte
            }
            (byte, _) => {
                at += 1;
                byte
            }
        };
        if byte.is_ascii_graphic() {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of RFC 9309, 5.1.
    const SIMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\n\
                          Allow:/example/page.html\nAllow:/example/allowed.gif\n\nUser-Agent: barbot\nUser-Agent: bazbot\n\
                          Disallow: /example/page.html\n\nUser-Agent: quxbot\n";

    #[test]
    fn the_examples_of_the_rfc_are_decided_as_it_says() {
        let check = |text: &str, agent: &str, path: &str, expected: bool| {
            assert_eq!(Robots::read(text, agent).allows(path), expected, "{agent} {path}");
        };
        for (agent, path, expected) in [
            ("other", "/a.gif", false),
            ("other", "/a.gif?b", true),
            ("other", "/example/x", false),
            ("other", "/publications/", true),
            ("FooBot", "/", false),
            ("foobot", "/example/page.html", true),
            ("foobot", "/example/allowed.gif", true),
            ("foobot", "/robots.txt", true),
            ("barbot", "/example/page.html", false),
            ("bazbot", "/example/page.html", false),
            ("bazbot", "/example/other.html", true),
            ("quxbot", "/example/page.html", true),
        ] {
            check(SIMPLE, agent, path, expected);
        }
        // 5.2: the longest match.
        let longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
        check(longest, "foobot", "/example/page/a.html", true);
        check(longest, "foobot", "/example/page/disallowed.gif", false);
        // 2.2.2: octets in percent form, and 2.2.3: special characters.
        for (pattern, path) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%E3%83%84", "/foo/bar/ツ"),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
            ("/this/path/exactly$", "/this/path/exactly"),
            ("/this/*/exactly", "/this/is/not/exactly/it"),
        ] {
            check(&format!("user-agent: *\ndisallow: {pattern}"), "a", path, false);
        }
        check("user-agent: *\ndisallow: /this/path/exactly$", "a", "/this/path/exactly/not", true);
        check("user-agent: *\ndisallow: /a\nallow: /a", "x", "/a", true);
    }

    #[test]
    fn groups_of_one_robot_count_together_and_pauses_have_a_limit() {
        let text = "\u{feff}user-agent: a # first\nuser-agent: b\ncrawl-delay: 2.5\ndisallow: /x\nsitemap: y\nuser-agent: A\ndisallow: /z\n";
        let robots = Robots::read(text, "a");
        assert_eq!((robots.allows("/x"), robots.allows("/z"), robots.allows("/y")), (false, false, true));
        assert_eq!(robots.pause, Some(Duration::from_millis(2_500)));
        assert_eq!(Robots::read("user-agent:*\ncrawl-delay: 1e300", "a").pause, None);
        assert_eq!(Robots::read("user-agent:*\ncrawl-delay: 999", "a").pause, Some(LONGEST_PAUSE));
        assert!(!Robots::closed("lost").allows("/a") && Robots::default().allows("/a"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "((user-agent|allow|disallow|crawl-delay|x)?:?[ a-zé*$%/0-9]{0,8}\n){0,20}", path in "/[a-zé%*$]{0,9}") {
            let _ = Robots::read(&text, "a").allows(&path);
        }
    }
}
