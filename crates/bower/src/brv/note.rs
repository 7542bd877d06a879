//! Classifies a text passed to `brv` for keeping: a note, or turns of a conversation.
//! Hosts pass more than facts: a turn of a conversation with both sides, the last messages before a context is compressed, or
//! an entry of their own memory. Labels mark the last two.

use crate::service::TurnBody;

/// Labels that hosts put before entries of their own memory, each with the tag that replaces it.
const LABELS: [(&str, &str); 2] = [("[User profile]", "user-profile"), ("[Agent memory]", "agent-memory")];
/// Label that hosts put before messages that are about to be compressed.
const COMPRESSION: &str = "[Pre-compression context]";

/// A classified text.
#[derive(Debug, PartialEq)]
pub(super) enum Told {
    /// A text to remember.
    Note {
        /// The text without its label.
        text: String,
        /// Tags that replace the label.
        tags: Vec<String>,
    },
    /// Turns of a conversation.
    Turns(Vec<TurnBody>),
}

/// Classifies a text.
pub(super) fn read(text: &str) -> Told {
    let text = text.trim();
    for (label, tag) in LABELS {
        if let Some(rest) = text.strip_prefix(label) {
            return Told::Note { text: rest.trim().to_owned(), tags: vec![tag.to_owned()] };
        }
    }
    let talk = text.strip_prefix(COMPRESSION).map_or(text, str::trim_start);
    let turns = turns(talk);
    let sides = |speaker| turns.iter().any(|turn| turn.speaker == speaker);
    // A line that begins with "User:" may be a note about a user. Only both sides make a conversation.
    if (sides("user") && sides("assistant")) || (talk.len() < text.len() && !turns.is_empty()) {
        return Told::Turns(turns);
    }
    Told::Note { text: text.to_owned(), tags: Vec::new() }
}

/// Parses the turns of a text that begins with a side's name; empty if it does not.
fn turns(text: &str) -> Vec<TurnBody> {
    let mut turns: Vec<TurnBody> = Vec::new();
    for line in text.lines() {
        let said =
            [("User:", "user"), ("Assistant:", "assistant"), ("user:", "user"), ("assistant:", "assistant")]
                .into_iter()
                .find_map(|(name, speaker)| Some((speaker, line.strip_prefix(name)?)));
        match (said, turns.last_mut()) {
            (Some((speaker, said)), _) => {
                let (speaker, text) = (speaker.to_owned(), said.trim().to_owned());
                turns.push(TurnBody { speaker, text, ..TurnBody::default() });
            }
            (None, Some(turn)) => {
                turn.text.push('\n');
                turn.text.push_str(line);
            }
            (None, None) => return Vec::new(),
        }
    }
    for turn in &mut turns {
        turn.text.truncate(turn.text.trim_end().len());
    }
    turns.retain(|turn| !turn.text.is_empty());
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(speaker: &str, text: &str) -> TurnBody {
        TurnBody { speaker: speaker.into(), text: text.into(), ..TurnBody::default() }
    }

    #[test]
    fn a_turn_with_both_sides_is_a_conversation() {
        let told = read("User: our API port is 8080\nand it is TLS\nAssistant: Noted:\n\n8080");
        let expected =
            [turn("user", "our API port is 8080\nand it is TLS"), turn("assistant", "Noted:\n\n8080")];
        assert_eq!(told, Told::Turns(expected.into()));
    }

    #[test]
    fn messages_before_a_compression_are_the_same_turns() {
        let Told::Turns(before) = read("[Pre-compression context]\nuser: our API port is 8080") else {
            panic!()
        };
        let Told::Turns(now) = read("User: our API port is 8080\nAssistant: Noted") else { panic!() };
        assert_eq!(before[0], now[0]);
    }

    #[test]
    fn a_label_becomes_a_tag() {
        let expected = Told::Note { text: "likes tea".into(), tags: vec!["user-profile".into()] };
        assert_eq!(read("[User profile] likes tea"), expected);
    }

    #[test]
    fn a_note_about_a_user_stays_a_note() {
        for text in ["User: root may log in", "The port is 8080", "Assistant: x", ""] {
            assert_eq!(read(text), Told::Note { text: text.into(), tags: vec![] }, "{text}");
        }
    }
}
