//! Tokenizes a text into words, numbers and marks, with the meanings that each word can have for time.
//! Each byte is read once, and no word is copied: offsets refer to the passed text.

use std::ops::Range;

/// A length of time that people count in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// 60 seconds.
    Minute,
    /// 60 minutes.
    Hour,
    /// A calendar day.
    Day,
    /// Monday to Sunday.
    Week,
    /// Saturday and Sunday.
    Weekend,
    /// A calendar month.
    Month,
    /// Three months, from January, April, July or October.
    Quarter,
    /// A calendar year.
    Year,
    /// Ten years, from a year that ends in 0.
    Decade,
}

/// A word's meaning for time; most readers test for a few of these and skip the rest. `sure` is false if it is also an
/// ordinary word or a name ("may", "sun", "April").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Month {
        number: i8,
        sure: bool,
    },
    /// 0 is Monday.
    Weekday {
        number: i8,
        sure: bool,
    },
    /// 0 is winter, which begins in December; `sure` as for months ("spring", "fall").
    Season {
        number: i8,
        sure: bool,
    },
    TimeUnit(TimeUnit),
    /// `one` to `ninety`.
    Count(i32),
    /// `first` to `twelfth`.
    Ordinal(i32),
    /// "few", "several", "couple": an indefinite number.
    Some(i32),
    A,
    The,
    Half,
    Last,
    Past,
    This,
    Next,
    Early,
    Mid,
    Late,
    Start,
    End,
    Today,
    Yesterday,
    Tomorrow,
    /// Morning, evening, night: a part of a day.
    DayPart,
    Ago,
    Before,
    After,
    Since,
    Until,
    By,
    /// A word that only introduces a time: in, on, during, at, im, le.
    Within,
    Of,
    Between,
    From,
    To,
    And,
    As,
    Up,
    Prior,
    Now,
    Fortnight,
    /// A name of a decade: "nineties".
    Decade(i16),
    /// A quarter or half of a year: `q3`, `h1`.
    PartOfYear {
        number: i8,
        months: i8,
    },
    Latest,
    Earliest,
    Most,
    Recent,
    Time,
    When,
    How,
    Long,
    Which,
    Date,
    Right,
    Moment,
    Initially,
    Still,
    Did,
    Owner,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    Word(Word),
    /// A value of at most nine digits, and the number of digits.
    Number(u32, u8),
    Mark(char),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TimeToken {
    pub kind: WordKind,
    pub start: usize,
    pub end: usize,
    /// Whether it begins with an upper-case letter.
    pub capital: bool,
    /// Whether nothing separates it from the token before.
    pub glued: bool,
}

impl TimeToken {
    pub fn word(&self) -> Word {
        match self.kind {
            WordKind::Word(word) => word,
            WordKind::Number(..) | WordKind::Mark(_) => Word::Other,
        }
    }

    /// Whether it can anchor a span of time; every span has at least one such token.
    pub fn is_anchor(&self) -> bool {
        match self.kind {
            WordKind::Number(..) => true,
            WordKind::Mark(_) => false,
            WordKind::Word(word) => matches!(
                word,
                Word::Month { .. }
                    | Word::Weekday { .. }
                    | Word::Season { .. }
                    | Word::TimeUnit(_)
                    | Word::Today
                    | Word::Yesterday
                    | Word::Tomorrow
                    | Word::DayPart
                    | Word::Fortnight
                    | Word::Decade(_)
                    | Word::PartOfYear { .. }
            ),
        }
    }

    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The words of time, sorted by spelling for binary search.
///
/// English, then month and weekday names of German, French, Spanish, Italian, Portuguese and Dutch, and their small
/// words that precede a date.
#[rustfmt::skip]
const LEXICON: &[(&str, Word)] = {
    use Word::{
        A, After, Ago, And, As, Before, Between, By, Count, Date, DayPart, Decade, Did, Earliest, Early, End, Fortnight, From, Half, How,
        Initially, Last, Late, Latest, Long, Mid, Moment, Most, Next, Now, Of, Ordinal, Owner, PartOfYear, Past, Prior, Recent,
        Right, Since, Some, Start, Still, The, This, Time, To, Today, Tomorrow, Until, Up, When, Which, Within, Yesterday,
    };
    const fn m(number: i8) -> Word { Word::Month { number, sure: true } }
    const fn mm(number: i8) -> Word { Word::Month { number, sure: false } }
    const fn d(number: i8) -> Word { Word::Weekday { number, sure: true } }
    const fn dd(number: i8) -> Word { Word::Weekday { number, sure: false } }
    const fn s(number: i8) -> Word { Word::Season { number, sure: true } }
    const fn ss(number: i8) -> Word { Word::Season { number, sure: false } }
    const fn u(unit: TimeUnit) -> Word { Word::TimeUnit(unit) }
    &[
        ("a", A), ("abril", m(4)), ("after", After), ("ago", Ago), ("agosto", m(8)), ("am", Within), ("an", A),
        ("and", And), ("aout", m(8)), ("août", m(8)), ("apr", mm(4)), ("april", mm(4)), ("aprile", m(4)),
        ("après", After), ("around", Within), ("as", As), ("at", Within), ("aug", mm(8)), ("august", mm(8)),
        ("augustus", m(8)), ("autumn", s(3)), ("avril", m(4)), ("before", Before), ("beginning", Start),
        ("between", Between), ("bis", To), ("by", By), ("couple", Some(2)), ("current", Latest),
        ("currently", Latest), ("date", Date), ("day", u(TimeUnit::Day)), ("days", u(TimeUnit::Day)), ("de", Of),
        ("dec", mm(12)), ("decade", u(TimeUnit::Decade)), ("decades", u(TimeUnit::Decade)), ("december", m(12)),
        ("decembre", m(12)), ("del", Of), ("depuis", Since), ("desde", Since), ("dezember", m(12)),
        ("dezembro", m(12)), ("dicembre", m(12)), ("diciembre", m(12)), ("did", Did), ("dienstag", d(1)),
        ("dimanche", d(6)), ("dinsdag", d(1)), ("domenica", d(6)), ("domingo", d(6)), ("donderdag", d(3)),
        ("donnerstag", d(3)), ("dozen", Some(12)), ("du", Of), ("during", Within), ("décembre", m(12)),
        ("earlier", Early), ("earliest", Earliest), ("early", Early), ("eight", Count(8)), ("eighteen", Count(18)),
        ("eighth", Ordinal(8)), ("eighties", Decade(1980)), ("eighty", Count(80)), ("eleven", Count(11)),
        ("eleventh", Ordinal(11)), ("em", Within), ("end", End), ("enero", m(1)), ("evening", DayPart),
        ("fall", ss(3)), ("feb", mm(2)), ("febbraio", m(2)), ("febrero", m(2)), ("februar", m(2)), ("februari", m(2)),
        ("february", m(2)), ("fevereiro", m(2)), ("fevrier", m(2)), ("few", Some(3)), ("fifteen", Count(15)),
        ("fifth", Ordinal(5)), ("fifties", Decade(1950)), ("fifty", Count(50)), ("first", Ordinal(1)),
        ("five", Count(5)), ("following", After), ("for", Within), ("fortnight", Fortnight), ("forty", Count(40)),
        ("four", Count(4)), ("fourteen", Count(14)), ("fourth", Ordinal(4)), ("freitag", d(4)), ("fri", dd(4)),
        ("friday", d(4)), ("from", From), ("février", m(2)), ("gennaio", m(1)), ("giovedì", d(3)), ("giugno", m(6)),
        ("h1", PartOfYear { number: 1, months: 6 }), ("h2", PartOfYear { number: 2, months: 6 }), ("half", Half),
        ("her", Owner), ("his", Owner), ("hour", u(TimeUnit::Hour)), ("hours", u(TimeUnit::Hour)), ("how", How),
        ("hundred", Count(100)), ("il", Within), ("im", Within), ("in", Within), ("initially", Initially),
        ("its", Owner), ("jan", mm(1)), ("janeiro", m(1)), ("januar", m(1)), ("januari", m(1)), ("january", m(1)),
        ("janvier", m(1)), ("jeudi", d(3)), ("jueves", d(3)), ("juillet", m(7)), ("juin", m(6)), ("jul", mm(7)),
        ("julho", m(7)), ("juli", m(7)), ("julio", m(7)), ("july", m(7)), ("jun", mm(6)), ("june", mm(6)),
        ("junho", m(6)), ("juni", m(6)), ("junio", m(6)), ("jänner", m(1)), ("last", Last), ("late", Late),
        ("lately", Recent), ("latest", Latest), ("le", Within), ("long", Long), ("luglio", m(7)), ("lundi", d(0)),
        ("lunedì", d(0)), ("lunes", d(0)), ("maandag", d(0)), ("maart", m(3)), ("maerz", m(3)), ("maggio", m(5)),
        ("mai", mm(5)), ("maio", m(5)), ("mar", mm(3)), ("march", mm(3)), ("mardi", d(1)), ("mars", mm(3)),
        ("martedì", d(1)), ("martes", d(1)), ("marzo", m(3)), ("março", m(3)), ("may", mm(5)), ("mayo", mm(5)),
        ("mei", mm(5)), ("mercoledì", d(2)), ("mercredi", d(2)), ("mid", Mid), ("middle", Mid),
        ("minute", u(TimeUnit::Minute)), ("minutes", u(TimeUnit::Minute)), ("mittwoch", d(2)), ("miércoles", d(2)),
        ("moment", Moment), ("mon", dd(0)), ("monday", d(0)), ("montag", d(0)), ("month", u(TimeUnit::Month)),
        ("months", u(TimeUnit::Month)), ("morning", DayPart), ("most", Most), ("my", Owner), ("märz", m(3)),
        ("newest", Latest), ("next", Next), ("night", DayPart), ("nine", Count(9)), ("nineteen", Count(19)),
        ("nineties", Decade(1990)), ("ninety", Count(90)), ("ninth", Ordinal(9)), ("nov", mm(11)),
        ("november", m(11)), ("novembre", m(11)), ("novembro", m(11)), ("noviembre", m(11)), ("now", Now),
        ("nowadays", Now), ("oct", mm(10)), ("october", m(10)), ("octobre", m(10)), ("octubre", m(10)), ("of", Of),
        ("oktober", m(10)), ("on", Within), ("one", Count(1)), ("originally", Initially), ("ottobre", m(10)),
        ("our", Owner), ("outubro", m(10)), ("over", Within), ("past", Past), ("presently", Latest),
        ("previous", Last), ("prior", Prior), ("q1", PartOfYear { number: 1, months: 3 }),
        ("q2", PartOfYear { number: 2, months: 3 }), ("q3", PartOfYear { number: 3, months: 3 }),
        ("q4", PartOfYear { number: 4, months: 3 }), ("quarter", u(TimeUnit::Quarter)), ("quarters", u(TimeUnit::Quarter)),
        ("recent", Recent), ("recently", Recent), ("right", Right), ("sabato", d(5)), ("samedi", d(5)),
        ("samstag", d(5)), ("sat", dd(5)), ("saturday", d(5)), ("second", Ordinal(2)), ("seit", Since),
        ("sep", mm(9)), ("sept", mm(9)), ("september", m(9)), ("septembre", m(9)), ("septiembre", m(9)),
        ("setembro", m(9)), ("settembre", m(9)), ("seven", Count(7)), ("seventeen", Count(17)),
        ("seventh", Ordinal(7)), ("seventies", Decade(1970)), ("seventy", Count(70)), ("several", Some(5)),
        ("since", Since), ("sinds", Since), ("six", Count(6)), ("sixteen", Count(16)), ("sixth", Ordinal(6)),
        ("sixties", Decade(1960)), ("sixty", Count(60)), ("sonnabend", d(5)), ("sonntag", d(6)), ("spring", ss(1)),
        ("start", Start), ("still", Still), ("summer", s(2)), ("sun", dd(6)), ("sunday", d(6)), ("sábado", d(5)),
        ("ten", Count(10)), ("tenth", Ordinal(10)), ("the", The), ("their", Owner), ("third", Ordinal(3)),
        ("thirteen", Count(13)), ("thirty", Count(30)), ("this", This), ("three", Count(3)), ("through", To),
        ("throughout", Within), ("thu", dd(3)), ("thurs", dd(3)), ("thursday", d(3)), ("till", Until), ("time", Time),
        ("to", To), ("today", Today), ("tomorrow", Tomorrow), ("tonight", Today), ("tue", dd(1)), ("tues", dd(1)),
        ("tuesday", d(1)), ("twelfth", Ordinal(12)), ("twelve", Count(12)), ("twenties", Decade(2020)),
        ("twenty", Count(20)), ("two", Count(2)), ("until", Until), ("up", Up), ("vendredi", d(4)), ("venerdì", d(4)),
        ("viernes", d(4)), ("vrijdag", d(4)), ("wed", dd(2)), ("wednesday", d(2)), ("week", u(TimeUnit::Week)),
        ("weekend", u(TimeUnit::Weekend)), ("weekends", u(TimeUnit::Weekend)), ("weeks", u(TimeUnit::Week)), ("what", Which),
        ("when", When), ("which", Which), ("winter", s(0)), ("within", Within), ("woensdag", d(2)),
        ("year", u(TimeUnit::Year)), ("years", u(TimeUnit::Year)), ("yesterday", Yesterday), ("your", Owner),
        ("zaterdag", d(5)), ("zondag", d(6)),
    ]
};

/// The longest word of the lexicon, in bytes.
const LONGEST: usize = 10;

/// Returns a word as a number that sorts as its bytes do. Comparing numbers is three times as fast as comparing strings here.
const fn key(word: &[u8]) -> u128 {
    let mut key = 0;
    let mut at = 0;
    while at < LONGEST {
        key = key << 8 | if at < word.len() { word[at].to_ascii_lowercase() as u128 } else { 0 };
        at += 1;
    }
    key
}

/// The lexicon's words as numbers, in its order.
static KEYS: [u128; LEXICON.len()] = {
    let mut keys = [0; LEXICON.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = key(LEXICON[at].0.as_bytes());
        at += 1;
    }
    keys
};

/// For each first letter, the lengths of its words as bits; this rules out most words of a text at once.
static LENGTHS: [u32; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < LEXICON.len() {
        let word = LEXICON[at].0.as_bytes();
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// The start of each first letter's words in the lexicon; the last entry is its end.
static STARTS: [usize; 27] = {
    let mut starts = [LEXICON.len(); 27];
    let mut at = LEXICON.len();
    while at > 0 {
        at -= 1;
        let first = (LEXICON[at].0.as_bytes()[0] - b'a') as usize;
        starts[first] = at;
    }
    // A letter without words begins where the next one does.
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        if starts[letter] > starts[letter + 1] {
            starts[letter] = starts[letter + 1];
        }
    }
    starts
};

/// Returns the meaning of a word, ignoring ASCII case.
fn look_up(word: &[u8]) -> Word {
    let first = (word[0] | 0x20).wrapping_sub(b'a') as usize;
    if word.len() > LONGEST || first >= LENGTHS.len() || LENGTHS[first] & (1 << word.len()) == 0 {
        return Word::Other;
    }
    let start = STARTS[first];
    let same = &KEYS[start..STARTS[first + 1]];
    same.binary_search(&key(word)).map_or(Word::Other, |at| LEXICON[start + at].1)
}

/// Returns the tokens of a text in order. White space only separates them.
///
/// A word starts with a letter and consists of letters and digits ("q3"). A number is a run of ASCII digits. Anything
/// else is a mark of one character.
pub(super) fn tokens(text: &str) -> Vec<TimeToken> {
    let bytes = text.as_bytes();
    let mut found = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    let mut end_before = usize::MAX;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let first = if byte.is_ascii() { char::from(byte) } else { char_at(text, at) };
        at += first.len_utf8();
        let kind = if first.is_alphabetic() {
            at = word_end(text, at);
            WordKind::Word(look_up(&bytes[start..at]))
        } else if first.is_whitespace() {
            continue;
        } else if first.is_ascii_digit() {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            match text[start..at].parse() {
                Ok(value) if at - start <= 9 => WordKind::Number(value, (at - start) as u8),
                _ => WordKind::Word(Word::Other),
            }
        } else {
            WordKind::Mark(first)
        };
        found.push(TimeToken {
            kind,
            start,
            end: at,
            capital: byte.is_ascii_uppercase(),
            glued: end_before == start,
        });
        end_before = at;
    }
    found
}

/// Returns the character that starts at a byte.
fn char_at(text: &str, at: usize) -> char {
    text[at..].chars().next().expect("a byte of the text starts a character where the one before ended")
}

/// Returns the end of the letters and digits at a byte.
fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            at += 1;
        } else if byte.is_ascii() {
            break;
        } else {
            let next = char_at(text, at);
            if !next.is_alphanumeric() {
                break;
            }
            at += next.len_utf8();
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lexicon_is_sorted_and_begins_with_plain_letters() {
        assert!(LEXICON.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(LEXICON.iter().all(|(word, meaning)| look_up(word.as_bytes()) == *meaning));
        assert_eq!(LEXICON.iter().map(|(word, _)| word.len()).max(), Some(LONGEST));
    }

    #[test]
    fn words_numbers_and_marks_keep_their_place() {
        let text = "On May 8th, Zoë's Q3 März!";
        let parts: Vec<_> = tokens(text).iter().map(|token| &text[token.range()]).collect();
        assert_eq!(parts, ["On", "May", "8", "th", ",", "Zoë", "'", "s", "Q3", "März", "!"]);
        let glued: Vec<_> = tokens(text).iter().map(|token| token.glued).collect();
        assert_eq!(glued, [false, false, false, true, true, false, true, true, false, false, true]);
    }
}
