//! Counts the typing errors between two names, and says how many a name of some length may have.
//! An error is a letter too many, one too few, another letter, or two neighbours in the wrong order.

/// Most characters that are compared behind the equal beginnings and before the equal ends.
const LONGEST: usize = 64;

/// Returns the typing errors that a name of so many characters may have: none up to 2, one up to 5, else two.
///
/// These are the lengths of Elasticsearch's fuzziness `AUTO` (Elasticsearch Reference, "Common options: fuzziness").
pub fn allowed_edits(characters: usize) -> usize {
    match characters {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}

/// Returns the number of typing errors between two names if it is at most `most`.
///
/// It is the optimal string alignment distance, that of Lucene's `FuzzyQuery` with transpositions: a letter that was moved is
/// not changed once more.
pub fn edits_within(one: &str, two: &str, most: usize) -> Option<usize> {
    if one.is_ascii() && two.is_ascii() {
        return edits_between(one.as_bytes(), two.as_bytes(), most);
    }
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    edits_between(&one, &two, most)
}

/// Counts the errors between two sequences of characters.
fn edits_between<C: Copy + PartialEq>(one: &[C], two: &[C], most: usize) -> Option<usize> {
    // Equal beginnings and ends have no errors.
    let head = one.iter().zip(two).take_while(|(a, b)| a == b).count();
    let (one, two) = (&one[head..], &two[head..]);
    let tail = one.iter().rev().zip(two.iter().rev()).take_while(|(a, b)| a == b).count();
    let (one, two) = (&one[..one.len() - tail], &two[..two.len() - tail]);
    if one.len().abs_diff(two.len()) > most || one.len().max(two.len()) > LONGEST {
        return None;
    }
    // Rows of the distance table: of the letter before the last, of the last, and of this one.
    let (mut older, mut last) = ([0_usize; LONGEST + 1], [0_usize; LONGEST + 1]);
    for (at, cell) in last.iter_mut().enumerate().take(two.len() + 1) {
        *cell = at;
    }
    for (row, letter) in (1..).zip(one) {
        let mut now = [usize::MAX / 2; LONGEST + 1];
        now[0] = row;
        let mut least = now[0];
        // Cells farther from the diagonal than `most` are above it.
        for column in row.saturating_sub(most).max(1)..=(row + most).min(two.len()) {
            let other = two[column - 1];
            let changed = last[column - 1] + usize::from(*letter != other);
            let mut cell = changed.min(last[column] + 1).min(now[column - 1] + 1);
            if row > 1 && column > 1 && *letter == two[column - 2] && one[row - 2] == other {
                cell = cell.min(older[column - 2] + 1);
            }
            now[column] = cell;
            least = least.min(cell);
        }
        if least > most {
            return None;
        }
        (older, last) = (last, now);
    }
    Some(last[two.len()]).filter(|edits| *edits <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The distance from its definition, without a limit.
    fn distance(one: &[char], two: &[char]) -> usize {
        let ([before @ .., last], [other @ .., end]) = (one, two) else { return one.len().max(two.len()) };
        let mut least = (distance(before, other) + usize::from(last != end))
            .min(distance(before, two) + 1)
            .min(distance(one, other) + 1);
        if let ([rest @ .., swapped], [left @ .., first]) = (before, other)
            && (swapped, last) == (end, first)
        {
            least = least.min(distance(rest, left) + 1);
        }
        least
    }

    #[test]
    fn errors_are_counted() {
        let check = |one: &str, two: &str, expected: Option<usize>| {
            assert_eq!(edits_within(one, two, 2), expected, "{one} {two}");
        };
        check("gamma", "gamma", Some(0));
        check("gamma", "gama", Some(1));
        check("gamma", "gmama", Some(1));
        check("gamma", "delta", None);
        check("", "ab", Some(2));
        // The unrestricted Damerau distance is 2.
        check("ca", "abc", None);
        check("größe", "grösse", Some(2));
        check(&"a".repeat(66), &"a".repeat(64), Some(2));
        check(&"ab".repeat(30), &"ba".repeat(30), Some(2));
        check(&"ab".repeat(40), &"ba".repeat(40), None);
        check(&format!("x{}y", "ab".repeat(40)), &format!("y{}x", "ab".repeat(40)), None);
        assert_eq!([2, 3, 5, 6].map(allowed_edits), [0, 1, 1, 2]);
    }

    proptest! {
        #[test]
        fn the_count_is_that_of_the_definition(one in "[abc]{0,7}", two in "[abc]{0,7}", most in 0_usize..4) {
            let exact = distance(&one.chars().collect::<Vec<_>>(), &two.chars().collect::<Vec<_>>());
            prop_assert_eq!(edits_within(&one, &two, most), (exact <= most).then_some(exact));
        }
    }
}
