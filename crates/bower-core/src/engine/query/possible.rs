//! Names the earlier memories that a memory may replace or repeat, as far as the caller may see them.

use crate::engine::Engine;
use crate::error::Result;
use crate::item::{Relation, RowId, Visibility};
use crate::memory::merge::PossibleWhy;
use crate::request::{EARLIER_TEXT, EarlierMemory, Item};
use crate::store::PossibleRow;

/// Returns the memories that some memories may replace or repeat, each with its row, as far as the caller may see them.
pub(crate) fn possible_of(
    engine: &Engine,
    visibility: &Visibility,
    rows: &[RowId],
) -> Result<Vec<Vec<EarlierMemory>>> {
    let possible = engine.store.possible(rows)?;
    let others: Vec<RowId> = possible.iter().flatten().map(|one| one.row).collect();
    let mut items = engine.store.items(&others)?.into_iter();
    let name = |one: &PossibleRow, item: Option<Item>| {
        let item = item.filter(|item| !item.damaged && item.is_visible(visibility))?;
        let why = if one.relation == Relation::MayRepeat { PossibleWhy::Same } else { PossibleWhy::Update };
        Some(named(&item, why, one.likelihood))
    };
    Ok(possible
        .iter()
        .map(|list| list.iter().filter_map(|one| name(one, items.next().flatten())).collect())
        .collect())
}

/// Returns an earlier memory with what another one may be to it.
pub(crate) fn named(item: &Item, why: PossibleWhy, likelihood: f32) -> EarlierMemory {
    let why = match why {
        PossibleWhy::Update => "perhaps an earlier value of the same thing",
        PossibleWhy::Same => "perhaps the same in other words",
        PossibleWhy::Contradiction => "perhaps a contradiction",
    };
    EarlierMemory {
        id: item.id.clone(),
        text: shortened(&item.content),
        told: item.create_time,
        why: why.to_owned(),
        likelihood: f64::from(likelihood),
    }
}

/// Returns a text of at most [`EARLIER_TEXT`] characters, cut after a word, with an ellipsis where it was cut.
fn shortened(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= EARLIER_TEXT {
        return text.to_owned();
    }
    let end = text.char_indices().nth(EARLIER_TEXT - 1).map_or(text.len(), |(at, _)| at);
    let cut = text[..end].rfind(char::is_whitespace).filter(|cut| *cut > 0).unwrap_or(end);
    format!("{}…", text[..cut].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_after_a_word_and_a_short_one_is_whole() {
        assert_eq!(shortened(" the port is 8080 "), "the port is 8080");
        let exact = "é".repeat(EARLIER_TEXT);
        assert_eq!(shortened(&exact), exact);
        // 60 words of 5 letters, each with a space, are 360 characters; 49 words with their spaces and the ellipsis are 294.
        let cut = shortened(&"würde ".repeat(60));
        assert_eq!((cut.chars().count(), cut.ends_with("würde…")), (294, true), "{cut}");
        assert_eq!(shortened(&"x".repeat(900)).chars().count(), EARLIER_TEXT);
    }
}
