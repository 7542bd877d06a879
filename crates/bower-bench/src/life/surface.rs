//! Varies how a text is written down: typing slips, passing remarks, and echoes of the store's answers.
//! Slips, prefixes and other punctuation are those of somebody in a hurry; a passing remark holds only at the moment; an echo is how an
//! agent writes back what the store has just told it. Names and values are never touched: another digit is another fact.

use super::words::{Draw, Fields};

/// A sentence as it is typed.
pub fn roughen(draw: &mut Draw, text: &str, protected: &[&str]) -> String {
    let mut text = if draw.chance(0.12) { slip(draw, text, protected) } else { text.to_owned() };
    if draw.chance(0.15) {
        text = other_case(&text);
    }
    if draw.chance(0.08) {
        // A name as code.
        if let Some(name) = protected.iter().find(|name| name.contains(['-', '_']) && text.contains(**name)) {
            text = text.replacen(*name, &format!("`{name}`"), 1);
        }
    }
    if draw.chance(0.14) {
        text = format!("{}{text}", draw.text("prefixes"));
    }
    if draw.chance(0.06) {
        text += &draw.text("suffixes");
    }
    if !text.ends_with(['.', '!', '?', '。', '✔']) {
        match draw.below(20) {
            0..=9 => text.push('.'),
            10 => text.push('!'),
            _ => {}
        }
    }
    if draw.chance(0.03)
        && let Some(space) = text.find(' ')
    {
        text.insert(space, ' ');
    }
    if draw.chance(0.03) {
        text.push('\n');
    }
    text
}

/// Two letters swapped, one lost or one doubled, in a word that means nothing by itself.
fn slip(draw: &mut Draw, text: &str, protected: &[&str]) -> String {
    let words: Vec<&str> = text
        .split(' ')
        .filter(|word| {
            word.len() >= 5
                && word.bytes().all(|byte| byte.is_ascii_lowercase())
                && !protected.iter().any(|name| name.to_lowercase().contains(*word))
        })
        .collect();
    if words.is_empty() {
        return text.to_owned();
    }
    let word = *draw.pick(&words);
    let at = 1 + draw.below(word.len() - 3);
    let letters = word.as_bytes();
    let mut slipped = letters.to_vec();
    match draw.below(3) {
        0 => slipped.swap(at, at + 1),
        1 => {
            slipped.remove(at);
        }
        _ => slipped.insert(at, letters[at]),
    }
    text.replacen(word, &String::from_utf8_lossy(&slipped), 1)
}

/// The first letter as it was not.
fn other_case(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    if !letters.clone().next().is_some_and(char::is_lowercase) {
        // PAY-12 stays PAY-12.
        return text.to_owned();
    }
    let flipped: String =
        if first.is_uppercase() { first.to_lowercase().collect() } else { first.to_uppercase().collect() };
    flipped + letters.as_str()
}

/// What is so for the moment only. Whether it is kept is a matter of how strict the gate is.
pub fn passing(draw: &mut Draw, service: &str) -> String {
    draw.text_with("passing", &mut Fields::from([("name", vec![service.to_owned()])]))
}

/// How an answer is written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Echo {
    Verbatim,
    Trimmed,
    Framed,
    Joined,
    Block,
    Retyped,
}

pub const ECHOES: &[Echo] =
    &[Echo::Verbatim, Echo::Trimmed, Echo::Framed, Echo::Joined, Echo::Block, Echo::Retyped];

/// The texts of an answer, best first, and its block for a prompt, written back. None where there is nothing to write.
pub fn echo(draw: &mut Draw, how: Echo, texts: &[String], block: &str) -> Option<String> {
    let first = texts.first()?.trim();
    let text = match how {
        Echo::Verbatim => first.to_owned(),
        Echo::Trimmed => trimmed(draw, first).unwrap_or_else(|| framed(draw, first)),
        Echo::Framed => framed(draw, first),
        Echo::Joined => joined(draw, texts),
        Echo::Block if block.is_empty() => joined(draw, texts),
        Echo::Block => block.to_owned(),
        Echo::Retyped => retyped(draw, first),
    };
    Some(text)
}

/// Its beginning or its end, at a word; none of what is short already.
fn trimmed(draw: &mut Draw, text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < 6 {
        return None;
    }
    let keep = (words.len() * (60 + draw.below(35)) / 100).clamp(4, words.len() - 1);
    Some(match draw.below(3) {
        0 => format!("{}...", words[..keep].join(" ")),
        1 => words[words.len() - keep..].join(" "),
        _ => words[..keep].join(" "),
    })
}

fn framed(draw: &mut Draw, text: &str) -> String {
    let mut fields = Fields::default();
    fields.bind("text", text);
    fields.bind("bare", text.trim_end_matches('.'));
    draw.text_with("frames", &mut fields)
}

fn joined(draw: &mut Draw, texts: &[String]) -> String {
    let count = texts.len().min(2 + draw.below(4));
    let texts = texts[..count].iter().map(|text| text.trim());
    match draw.below(6) {
        0 => listed(texts.map(|text| format!("- {text}"))),
        1 => listed(texts.enumerate().map(|(at, text)| format!("{}. {text}", at + 1))),
        2 => texts.collect::<Vec<_>>().join("\n"),
        3 => texts.collect::<Vec<_>>().join("; "),
        4 => format!("What I know so far:\n{}", listed(texts.map(|text| format!("* {text}")))),
        _ => texts.collect::<Vec<_>>().join(" "),
    }
}

fn listed(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

fn retyped(draw: &mut Draw, text: &str) -> String {
    let bare = text.trim_end_matches(['.', '!']);
    match draw.below(4) {
        0 => bare.to_lowercase(),
        1 => format!("**{bare}**"),
        2 => bare.split_whitespace().collect::<Vec<_>>().join("\n"),
        _ => format!("- {}", other_case(bare)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_leaves_names_and_numbers_alone() {
        let mut draw = Draw::new(2);
        for _ in 0..2_000 {
            let text =
                roughen(&mut draw, "harbor relay listens always on port 8080", &["harbor relay", "8080"]);
            let lower = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(lower.contains("harbor relay") && lower.contains("8080"), "{text}");
        }
    }

    #[test]
    fn an_echo_has_words_of_what_was_told() {
        let mut draw = Draw::new(4);
        let texts = [
            "The wren-cache port wren-cache port is 8080.".to_owned(),
            "Ana Brandt owns wren-cache".to_owned(),
        ];
        for how in ECHOES.iter().cycle().take(300) {
            let text = echo(&mut draw, *how, &texts, "").unwrap();
            assert!(text.to_lowercase().contains("port"), "{how:?} {text}");
        }
        assert_eq!(echo(&mut draw, Echo::Verbatim, &[], "block"), None);
    }
}
