//! The relevance bar for text that is put into a prompt without being asked for.
//! Such text must be about the question. One shared broad word is never enough.
//!
//! A hit passes by its words if it has two specific terms of the question, or one very rare term, and they carry enough
//! of the question's weight. It passes by its meaning if its cosine is high and far above the question's cosines with
//! the store as a whole. Meaning must not contradict words: if cosines are known, a hit by words must be above that
//! background as well.

/// Rows that are added to the store's own for estimating rarity, because a small store shows little about it.
const IMAGINED_ROWS: f32 = 500.0;
/// The share of those rows that contain the word. So two words that only one memory of ten has are specific, and none
/// is very rare.
const IMAGINED_SHARE: f32 = 0.005;

// Measured with MiniLM on five stores (conversations, notes, abstracts of two fields, code; 1,400 to 6,300 rows), 150
// questions each. Foreign questions, taken from another store, must return nothing. Own questions should keep their
// relevant hits among the first ten. 98.2 % of the foreign ones returned nothing (least 85 %: code questions asked of
// notes about code). 78 % of the relevant hits were kept, and 93 % of the own questions kept some. By words alone,
// without a model: 98.0 %, 31 %, 52 %. Stores of 60 rows cut from these: 99.9 % and 63 %. Stores of 5 to 30 rows, by
// meaning: 99.9 % and 60 to 65 %.
/// A term in less than this share of the rows is specific.
const SPECIFIC: f32 = 0.01;
/// A term in less than this share of the rows is very rare; possible only with 700 rows or more.
const VERY_RARE: f32 = 0.003;
/// Least share of the question's weight that the terms of a passing hit carry.
const COVERED: f32 = 0.5;
/// Least cosine of a hit by words, and its least deviations above the background.
const WORDS_COSINE: f32 = 0.2;
const WORDS_ABOVE: f32 = 2.0;
/// Least cosine of a hit by meaning alone…
const CLOSE: f32 = 0.45;
/// …and its least deviations above the background.
const CLOSE_ABOVE: f32 = 2.5;
/// Least calibrated score of any hit; a hit that is wrong four times out of five is left out.
const LIKELY: f32 = 0.2;

/// Statistics of the question and the store that the bar uses.
#[derive(Clone, Copy, Debug)]
pub struct Bar<'a> {
    /// Number of rows in the store.
    pub rows: u64,
    /// For each term of the question, the number of rows that contain it.
    pub having: &'a [u64],
    /// The question's cosines with the rows of the whole store; `None` if no vectors were compared.
    pub background: Option<CosineStats>,
}

/// Mean and standard deviation of cosines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CosineStats {
    /// Mean, -1..1.
    pub mean: f32,
    /// Standard deviation, above 0.
    pub deviation: f32,
}

impl CosineStats {
    /// The prior and its weight in cosines. A few rows, of which one may be the answer, say little about the rest. Own
    /// questions had means of .11 to .22 and deviations of .08 to .11, foreign ones of -.04 to .03 and .04 to .07.
    const EXPECTED: Self = Self { mean: 0.08, deviation: 0.1 };
    const EXPECTED_WEIGHT: f64 = 20.0;

    /// Combines the prior with `rows` cosines of this mean and standard deviation, chosen without regard to the question.
    pub fn of(rows: f64, mean: f64, deviation: f64) -> Self {
        let (rows, mean) = if rows > 0.0 { (rows, mean) } else { (0.0, 0.0) };
        let all = rows + Self::EXPECTED_WEIGHT;
        let mean = (mean * rows + f64::from(Self::EXPECTED.mean) * Self::EXPECTED_WEIGHT) / all;
        let expected = f64::from(Self::EXPECTED.deviation).powi(2) * Self::EXPECTED_WEIGHT;
        let spread = if rows > 0.0 { deviation.powi(2) * rows } else { 0.0 };
        Self { mean: mean as f32, deviation: ((spread + expected) / all).sqrt() as f32 }
    }
}

/// Features of one hit.
#[derive(Clone, Copy, Debug)]
pub struct Signals<'a> {
    /// The question's terms in it, each once, as indexes into [`Bar::having`].
    pub terms: &'a [usize],
    /// Its cosine with the question, if known.
    pub cosine: Option<f32>,
    /// The probability that it is relevant, 0..1, if scores are calibrated.
    pub calibrated: Option<f32>,
}

/// Whether a hit is specific to the question or clearly close to it.
pub fn passes(bar: &Bar<'_>, hit: &Signals<'_>) -> bool {
    if hit.calibrated.is_some_and(|score| score < LIKELY) {
        return false;
    }
    let above = |hit: f32, least: f32| {
        bar.background.is_some_and(|background| hit >= background.mean + least * background.deviation)
    };
    let close = hit.cosine.is_some_and(|cosine| cosine >= CLOSE && above(cosine, CLOSE_ABOVE));
    close || (by_words(bar, hit) && not_contradicted(bar, hit, above))
}

fn by_words(bar: &Bar<'_>, hit: &Signals<'_>) -> bool {
    let share =
        |having: u64| (having as f32 + IMAGINED_ROWS * IMAGINED_SHARE) / (bar.rows as f32 + IMAGINED_ROWS);
    let weight = |having: u64| -share(having).min(1.0).ln();
    let all: f32 = bar.having.iter().copied().map(weight).sum();
    let had = || hit.terms.iter().filter_map(|&term| bar.having.get(term).copied());
    let covered: f32 = had().map(weight).sum();
    let specific = had().filter(|&having| share(having) < SPECIFIC).count();
    let very_rare = had().any(|having| share(having) < VERY_RARE);
    (specific >= 2 || very_rare) && covered >= COVERED * all
}

/// Whether a hit by words is near enough to the question's meaning; true if no vectors were compared.
fn not_contradicted(bar: &Bar<'_>, hit: &Signals<'_>, above: impl Fn(f32, f32) -> bool) -> bool {
    bar.background.is_none()
        || hit.cosine.is_some_and(|cosine| cosine >= WORDS_COSINE && above(cosine, WORDS_ABOVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: CosineStats = CosineStats { mean: 0.1, deviation: 0.08 };

    /// A store of 10,000 rows and a question of four terms: broad, two specific, very rare.
    #[track_caller]
    fn check(terms: &[usize], cosine: Option<f32>, background: Option<CosineStats>, expected: bool) {
        let bar = Bar { rows: 10_000, having: &[900, 80, 90, 20], background };
        assert_eq!(passes(&bar, &Signals { terms, cosine, calibrated: None }), expected);
    }

    #[test]
    fn one_broad_word_is_never_enough() {
        check(&[0], None, None, false);
        check(&[0], Some(0.4), Some(STORE), false);
        check(&[1], None, None, false);
        check(&[], None, None, false);
    }

    #[test]
    fn specific_words_pass_unless_the_meaning_is_far() {
        check(&[1, 2], None, None, true);
        check(&[1, 2], Some(0.35), Some(STORE), true);
        check(&[1, 2], Some(0.15), Some(STORE), false);
        check(&[1, 2], None, Some(STORE), false);
        // -ln of (900 + 2.5) / 10,500 and so on: 2.45, 4.85, 4.73, 6.15 of 18.18 in all: the last alone covers 34 %.
        check(&[3], None, None, false);
    }

    #[test]
    fn one_very_rare_word_passes_where_it_is_half_of_the_question() {
        // 2.45, 3.55, 6.15 of 12.15 in all: 51 %.
        let bar = Bar { rows: 10_000, having: &[900, 300, 20], background: None };
        let pass = |terms: &[usize]| passes(&bar, &Signals { terms, cosine: None, calibrated: None });
        assert!(pass(&[2]) && !pass(&[0, 1]));
    }

    #[test]
    fn a_close_meaning_passes_where_it_stands_out() {
        check(&[], Some(0.5), Some(STORE), true);
        check(&[], Some(0.44), Some(STORE), false);
        check(&[], Some(0.5), Some(CosineStats { mean: 0.35, deviation: 0.08 }), false);
        check(&[], Some(0.9), None, false);
    }

    #[test]
    fn in_a_small_store_one_word_is_not_rare_and_two_are_specific() {
        let bar = Bar { rows: 10, having: &[1, 1], background: None };
        let pass = |terms: &[usize]| passes(&bar, &Signals { terms, cosine: None, calibrated: None });
        assert!(!pass(&[0]) && pass(&[0, 1]));
    }

    #[test]
    fn what_is_probably_wrong_stays_out() {
        let bar = Bar { rows: 10_000, having: &[3], background: None };
        let pass = |calibrated| passes(&bar, &Signals { terms: &[0], cosine: None, calibrated });
        assert!(pass(None) && pass(Some(0.5)) && !pass(Some(0.1)));
    }

    #[test]
    fn a_few_cosines_hardly_move_the_background() {
        let check = |(rows, own, spread): (f64, f64, f64), mean: f32, deviation: f32| {
            let of = CosineStats::of(rows, own, spread);
            assert!((of.mean - mean).abs() < 1e-5 && (of.deviation - deviation).abs() < 1e-5, "{of:?}");
        };
        check((0.0, 0.0, 0.0), 0.08, 0.1);
        // 0 and .2, by hand: (.2 + 1.6) / 22 = .081818; sqrt((.02 + .2) / 22) = .1.
        check((2.0, 0.1, 0.1), 0.081_818, 0.1);
        // 80 of -.1 and .3 in turn: (8 + 1.6) / 100 = .096; sqrt((80 * .04 + .2) / 100) = .184391.
        check((80.0, 0.1, 0.2), 0.096, 0.184_391);
    }
}
