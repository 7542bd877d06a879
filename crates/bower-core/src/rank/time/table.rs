//! A table of time expressions with their meanings, made by hand from a calendar, as test cases.
//! Each line is a text and its expressions. Days are `from/until`, the second excluded; `<` is before, `>` at or after.

use jiff::Zoned;
use jiff::tz::TimeZone;

use super::aims::TimeReader;
use super::{Aim, Asked, Interval, TimeSide, dates_in, parse};

/// A Wednesday afternoon in a leap year; Monday is 11 March, and February had 29 days.
const NOW: &str = "2024-03-13T15:00:00Z[UTC]";

fn day(at: jiff::Timestamp, zone: &TimeZone) -> String {
    let local = at.to_zoned(zone.clone()).datetime().to_string();
    local.strip_suffix("T00:00:00").map_or(local.clone(), str::to_owned)
}

fn show(interval: Interval, zone: &TimeZone) -> String {
    format!("{}/{}", day(interval.from, zone), day(interval.until, zone))
}

fn read(text: &str, now: &str) -> String {
    let now: Zoned = now.parse().unwrap();
    let zone = now.time_zone();
    let all = parse(text, &now).into_iter().map(|found| {
        assert!(
            text.get(found.range.clone()).is_some_and(|words| !words.is_empty()),
            "{text}: {:?}",
            found.range
        );
        match found.aim {
            Aim::During(interval) => show(interval, zone),
            Aim::Before(at) => format!("<{}", day(at, zone)),
            Aim::After(at) => format!(">{}", day(at, zone)),
            Aim::Latest => "latest".into(),
            Aim::Earliest => "earliest".into(),
            Aim::Asked(Asked::Moment) => "when".into(),
            Aim::Asked(Asked::Duration) => "how long".into(),
            Aim::Order { side, offset, event } => {
                let side = match side {
                    TimeSide::Before => "before",
                    TimeSide::After => "after",
                };
                let offset =
                    offset.map_or(String::new(), |offset| format!("{} {:?} ", offset.count, offset.unit));
                format!("{offset}{side} [{event}]")
            }
        }
    });
    all.collect::<Vec<_>>().join("; ")
}

/// Checks lines of `text | found`.
fn check(now: &str, lines: &str) {
    let mut wrong = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (text, expected) = line.rsplit_once('|').expect("a line is text | found");
        let (text, expected) = (text.trim(), expected.trim());
        let got = read(text, now);
        if got != expected {
            wrong = format!("{wrong}{text}\n   expected {expected}\n   got      {got}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn dates_in_numbers() {
    check(
        NOW,
        "
        notes of 2023-05-08 | 2023-05-08/2023-05-09
        at 2023-05-08T13:56:00Z | 2023-05-08/2023-05-09
        journal/2023-05-08.md | 2023-05-08/2023-05-09
        2023/05/08 | 2023-05-08/2023-05-09
        2023.05.08 | 2023-05-08/2023-05-09
        log 20230508 | 2023-05-08/2023-05-09
        2023-05 | 2023-05-01/2023-06-01
        2023-W19 | 2023-05-08/2023-05-15
        2024-02-29 | 2024-02-29/2024-03-01
        2023-02-29 |
        05/08/2023 | 2023-05-08/2023-05-09
        13/08/2023 | 2023-08-13/2023-08-14
        8/13/2023 | 2023-08-13/2023-08-14
        05/08/23 | 2023-05-08/2023-05-09
        08.05.2023 | 2023-05-08/2023-05-09
        8.5.2023 | 2023-05-08/2023-05-09
        08.05.23 | 2023-05-08/2023-05-09
        08-05-2023 | 2023-05-08/2023-05-09
        05/08/99 | 1999-05-08/1999-05-09
        version 1.2.23 |
        host 10.12.20.23 |
        ratio 5/8 |
        call 555-2023-05 |
        sum 12,2023.5 |
    ",
    );
}

#[test]
fn dates_in_words() {
    check(
        NOW,
        "
        What happened on 8 May 2023? | 2023-05-08/2023-05-09
        8th of May, 2023 | 2023-05-08/2023-05-09
        the 8th of May | 2023-05-08/2023-05-09
        May 8th, 2023 | 2023-05-08/2023-05-09
        May 8, 2023 | 2023-05-08/2023-05-09
        May 8 2023 | 2023-05-08/2023-05-09
        on May 8 | 2023-05-08/2023-05-09
        Monday, 8 May 2023 at noon | 2024-03-11/2024-03-12; 2023-05-08/2023-05-09
        1:56 pm on 8 May, 2023 | 2023-05-08/2023-05-09
        Aug 15th | 2023-08-15/2023-08-16
        Sept. 3, 2022 | 2022-09-03/2022-09-04
        December 1,2023 | 2023-12-01/2023-12-02
        the first of May | 2023-05-01/2023-05-02
        on March 13 | 2024-03-13/2024-03-14
        on March 14 | 2023-03-14/2023-03-15
        29 February | 2024-02-29/2024-03-01
        30 February 2024 | 2024-02-01/2024-03-01
        in May 2023 | 2023-05-01/2023-06-01
        May of 2023 | 2023-05-01/2023-06-01
        in may 2023 | 2023-05-01/2023-06-01
        May '23 | 2023-05-01/2023-06-01
        in February | 2024-02-01/2024-03-01
        in April | 2023-04-01/2023-05-01
        last September | 2023-09-01/2023-10-01
        last March | 2023-03-01/2023-04-01
        next March | 2025-03-01/2025-04-01
        next June | 2024-06-01/2024-07-01
        this January | 2024-01-01/2024-02-01
        in 2023 | 2023-01-01/2024-01-01
        events of 2022? | 2022-01-01/2023-01-01
        the roadmap (2024) | 2024-01-01/2025-01-01
        Q3 2024 | 2024-07-01/2024-10-01
        2023 Q4 | 2023-10-01/2024-01-01
        in Q4 | 2023-10-01/2024-01-01
        H1 2023 | 2023-01-01/2023-07-01
        the third quarter of 2023 | 2023-07-01/2023-10-01
        the first half of September 2022 | 2022-09-01/2022-09-16
        the second half of 2023 | 2023-07-01/2024-01-01
        the 90s | 1990-01-01/2000-01-01
        the '80s | 1980-01-01/1990-01-01
        in the 1990s | 1990-01-01/2000-01-01
        the nineties | 1990-01-01/2000-01-01
        the early 90s | 1990-01-01/1993-05-01
        early March | 2024-03-01/2024-03-11
        mid-2022 | 2022-05-01/2022-09-01
        late last year | 2023-09-01/2024-01-01
        mid-August 2023 | 2023-08-11/2023-08-21
        the beginning of November 2022 | 2022-11-01/2022-11-11
        the end of February 2024 | 2024-02-19/2024-03-01
        towards the end of summer 2023 | 2023-08-01/2023-09-01
        summer 2021 | 2021-06-01/2021-09-01
        last summer | 2023-06-01/2023-09-01
        in the summer | 2023-06-01/2023-09-01
        winter 2023 | 2023-12-01/2024-03-01
        last fall | 2023-09-01/2023-12-01
        spring of 2022 | 2022-03-01/2022-06-01
    ",
    );
}

#[test]
fn times_from_now() {
    check(
        NOW,
        "
        today | 2024-03-13/2024-03-14
        yesterday | 2024-03-12/2024-03-13
        the day before yesterday | 2024-03-11/2024-03-12
        tomorrow | 2024-03-14/2024-03-15
        last night | 2024-03-12/2024-03-13
        this morning | 2024-03-13/2024-03-14
        this week | 2024-03-11/2024-03-18
        last week | 2024-03-04/2024-03-11
        next week | 2024-03-18/2024-03-25
        this month | 2024-03-01/2024-04-01
        last month | 2024-02-01/2024-03-01
        previous quarter | 2023-10-01/2024-01-01
        last year | 2023-01-01/2024-01-01
        last decade | 2010-01-01/2020-01-01
        two weeks ago | 2024-02-26/2024-03-04
        a week ago | 2024-03-04/2024-03-11
        a fortnight ago | 2024-02-26/2024-03-04
        3 days ago | 2024-03-10/2024-03-11
        twenty-one days ago | 2024-02-21/2024-02-22
        a month ago | 2024-02-01/2024-03-01
        four years ago | 2020-01-01/2021-01-01
        a couple of days ago | 2024-03-11/2024-03-12
        a few months ago | 2023-12-01/2024-01-01
        half a year ago | 2023-09-01/2023-10-01
        2 hours ago | 2024-03-13T12:30:00/2024-03-13T13:30:00
        in the past 3 days | 2024-03-10T15:00:00/2024-03-13T15:00:00
        over the last month | 2024-02-13T15:00:00/2024-03-13T15:00:00
        in the last two weeks | 2024-02-28T15:00:00/2024-03-13T15:00:00
        during the past year | 2023-03-13T15:00:00/2024-03-13T15:00:00
        in the next 2 days | 2024-03-13T15:00:00/2024-03-15T15:00:00
        last Friday | 2024-03-08/2024-03-09
        this Friday | 2024-03-15/2024-03-16
        next Friday | 2024-03-22/2024-03-23
        last Wednesday | 2024-03-06/2024-03-07
        on Monday | 2024-03-11/2024-03-12
        on Thursday | 2024-03-07/2024-03-08
        on Sat | 2024-03-09/2024-03-10
        last weekend | 2024-03-09/2024-03-11
        this weekend | 2024-03-16/2024-03-18
        over the weekend | 2024-03-09/2024-03-11
        earlier this year | 2024-01-01/2024-03-13T15:00:00
        three weeks from now | 2024-04-01/2024-04-08
    ",
    );
}

#[test]
fn ends_of_months_and_years() {
    check(
        "2023-03-31T10:00:00Z[UTC]",
        "
        a month ago | 2023-02-01/2023-03-01
        last month | 2023-02-01/2023-03-01
        next month | 2023-04-01/2023-05-01
        in the past month | 2023-02-28T10:00:00/2023-03-31T10:00:00
        three months ago | 2022-12-01/2023-01-01
        29 February | 2020-02-29/2020-03-01
        this week | 2023-03-27/2023-04-03
    ",
    );
    check(
        "2024-12-30T10:00:00Z[UTC]",
        "
        this week | 2024-12-30/2025-01-06
        last Sunday | 2024-12-29/2024-12-30
        this quarter | 2024-10-01/2025-01-01
        next quarter | 2025-01-01/2025-04-01
        last winter | 2023-12-01/2024-03-01
    ",
    );
    check(
        "2024-01-01T00:00:00Z[UTC]",
        "
        yesterday | 2023-12-31/2024-01-01
        last weekend | 2023-12-30/2024-01-01
        in December | 2023-12-01/2024-01-01
        this month | 2024-01-01/2024-02-01
    ",
    );
}

#[test]
fn times_beside_times() {
    check(
        NOW,
        "
        the week before August 3, 2023 | 2023-07-27/2023-08-03
        two weeks before August 11, 2023 | 2023-07-24/2023-07-31
        the Sunday before October 25, 2022 | 2022-10-23/2022-10-24
        last weekend before April 10, 2023 | 2023-04-08/2023-04-10
        the weekend before 4th October, 2023 | 2023-09-30/2023-10-02
        the Saturday after October 28, 2023 | 2023-11-04/2023-11-05
        the day after 28 February 2024 | 2024-02-29/2024-03-01
        three days before 2 March 2024 | 2024-02-28/2024-02-29
        the week of 8 May 2023 | 2023-05-08/2023-05-15
        the first weekend of August 2023 | 2023-08-05/2023-08-07
        the last weekend of August 2023 | 2023-08-26/2023-08-28
        the last week of October 2023 | 2023-10-25/2023-11-01
        the last two weeks of August 2023 | 2023-08-18/2023-09-01
        the first 3 days of June 2023 | 2023-06-01/2023-06-04
        the second week of November | 2023-11-08/2023-11-15
        the first Monday of May 2023 | 2023-05-01/2023-05-02
        the last Friday of May 2023 | 2023-05-26/2023-05-27
        the last day of February 2023 | 2023-02-28/2023-03-01
        the 2nd week of last month | 2024-02-08/2024-02-15
    ",
    );
}

#[test]
fn ranges_and_sides() {
    check(
        NOW,
        "
        between May and July 2023 | 2023-05-01/2023-08-01
        between November 2022 and February 2023 | 2022-11-01/2023-03-01
        between November and February | 2023-11-01/2024-03-01
        between August 11 and August 15 2023 | 2023-08-11/2023-08-16
        from 3 to 5 June | 2023-06-03/2023-06-06
        3-5 June 2022 | 2022-06-03/2022-06-06
        May 3–5, 2023 | 2023-05-03/2023-05-06
        from 2009 to 2014 | 2009-01-01/2015-01-01
        between 2009-2014 | 2009-01-01/2015-01-01
        from Monday to Wednesday | 2024-03-04/2024-03-07
        before May 2023 | <2023-05-01
        prior to 2020 | <2020-01-01
        until last Friday | <2024-03-09
        by 10 July 2023 | <2023-07-11
        up to March 2023 | <2023-04-01
        after 2019 | >2020-01-01
        after 8 May 2023 | >2023-05-09
        since Tuesday | >2024-03-12
        since last week | >2024-03-04
        since 1979 | >1979-01-01
        from May 2023 onwards | >2023-05-01
        as of December 2023 | 2023-12-01/2024-01-01
        as of today | latest
        as of now | latest
    ",
    );
}

#[test]
fn states_orders_and_questions() {
    check(
        NOW,
        "
        the latest schema | latest
        our current database | latest
        what is the most recent decision | latest
        do we still use Redis | latest
        who owns it now | latest
        what did we name it originally | earliest
        at first, what was the plan | earliest
        the first time she ran | earliest
        When did Calvin first travel to Tokyo? | when; earliest
        When was the cache last cleared | when; latest
        the last time we met | latest
        what did we decide before the launch? | before [launch]
        what broke after we moved to Postgres? | after [we moved to Postgres]
        three days before the launch | 3 Day before [launch]
        the week after her first race, in Rome | 1 Week after [first race]
        What did she gain after her mini retreat on 9 February, 2023? | after [mini retreat]; 2023-02-09/2023-02-10
        did they win first place? |
        What activity did Evan start one year ago? | 2023-01-01/2024-01-01
        what happened prior to the outage | before [outage]
        how long ago was the race | when
        on what date did it end | when
        which year was that | when
        how many weeks passed | how long
        How long has it run | how long
    ",
    );
}

#[test]
fn other_languages() {
    check(
        NOW,
        "
        am 8. Mai 2023 | 2023-05-08/2023-05-09
        im März 2023 | 2023-03-01/2023-04-01
        seit Dienstag | >2024-03-12
        le 8 mai 2023 | 2023-05-08/2023-05-09
        en août 2023 | 2023-08-01/2023-09-01
        1er juin 2023 | 2023-06-01/2023-06-02
        8 de mayo de 2023 | 2023-05-08/2023-05-09
        el miércoles | 2024-03-06/2024-03-07
        8 maggio 2023 | 2023-05-08/2023-05-09
        15 de março de 2023 | 2023-03-15/2023-03-16
        op 8 mei 2023 | 2023-05-08/2023-05-09
        vrijdag | 2024-03-08/2024-03-09
    ",
    );
}

#[test]
fn ordinary_words_are_not_times() {
    check(
        NOW,
        "
        may I go |
        it may 5 times fail |
        this may be so |
        we march on Rome |
        in march on we go |
        a second opinion |
        the sun sat on the wall |
        ask April about it |
        her flight to Rio de Janeiro |
        an august body |
        spring framework |
        they fall in love |
        sort 2000 rows |
        after 2000 iterations |
        port 2020 is open |
        a $2023 bill |
        the 30s timeout |
        after 12 weeks of treatment |
        day after day |
        look after the cat |
        may_fail(2023) |
        I had this before |
        rfc 2119 says |
        the first 50 rows |
        the last item in a list |
        a.b.c 1.5.2 |
        99999999999 years ago |
        999999999 years ago |
    ",
    );
}

#[test]
fn clocks_change() {
    // Berlin, 31 March 2024: 02:00 becomes 03:00; the day has 23 hours. 27 October 2024 has 25.
    let now: Zoned = "2024-11-01T12:00:00+01:00[Europe/Berlin]".parse().unwrap();
    let hours = |text: &str| {
        let Aim::During(interval) = parse(text, &now)[0].aim else { panic!("{text}") };
        (interval.from.to_string(), interval.seconds() / 3600.0)
    };
    assert_eq!(hours("on 31 March 2024"), ("2024-03-30T23:00:00Z".into(), 23.0));
    assert_eq!(hours("on 27 October 2024"), ("2024-10-26T22:00:00Z".into(), 25.0));
    // Cairo's clocks went from 00:00 to 01:00 on 26 April 2024: the day begins at 01:00.
    let cairo: Zoned = "2024-05-01T12:00:00+03:00[Africa/Cairo]".parse().unwrap();
    let Aim::During(day) = parse("on 26 April 2024", &cairo)[0].aim else { panic!() };
    assert_eq!((day.from.to_string(), day.seconds()), ("2024-04-25T22:00:00Z".into(), 23.0 * 3600.0));
    // At 23:30 UTC it is the next day already in Tokyo.
    let tokyo: Zoned = "2024-03-14T08:30:00+09:00[Asia/Tokyo]".parse().unwrap();
    let Aim::During(day) = parse("yesterday", &tokyo)[0].aim else { panic!() };
    assert_eq!(day.from.to_string(), "2024-03-12T15:00:00Z");
}

#[test]
fn a_text_tells_its_dates() {
    let written: Zoned = "2023-05-08T13:56:00Z[UTC]".parse().unwrap();
    let check = |text: &str, expected: &[&str]| {
        let got: Vec<_> =
            dates_in(text, &written).into_iter().map(|found| show(found, written.time_zone())).collect();
        assert_eq!(got, expected, "{text}");
    };
    check(
        "1:56 pm on 8 May, 2023\nCaroline: I went to a support group yesterday",
        &["2023-05-08/2023-05-09", "2023-05-07/2023-05-08"],
    );
    check("We still meet before the launch, most recently last week.", &["2023-05-01/2023-05-08"]);
    check("Since 2019 we ship; 2020 was hard. Port 2021.", &["2019-01-01/2020-01-01"]);
}

mod wild {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_text_is_fine(text in "\\PC{0,60}", at in -60_000_000_000i64..250_000_000_000) {
            let now = jiff::Timestamp::from_second(at).unwrap().to_zoned(TimeZone::UTC);
            let found = parse(&text, &now);
            let mut end = 0;
            for expression in &found {
                prop_assert!(expression.range.start >= end && !text[expression.range.clone()].is_empty());
                end = expression.range.end;
            }
            dates_in(&text, &now);
        }

        #[test]
        fn any_words_of_time_are_fine(
            words in prop::collection::vec(prop::sample::select(vec![
                "the", "last", "first", "week", "of", "before", "after", "May", "2023", "3", "two", "days", "ago", "to",
                "and", "between", "from", "early", "mid", "-", ",", "'", "90", "s", "th", "Friday", "since", "as", "half",
                "999999999", "9999-12-31", "in", "past", "weekend", "this", "next", "a", "few", "Q3", ".", "launch", "é",
            ]), 0..40),
            glue in prop::sample::select(vec![" ", ""]),
            at in -370_000_000_000i64..253_000_000_000,
        ) {
            let now = jiff::Timestamp::from_second(at).unwrap().to_zoned(TimeZone::UTC);
            let text = words.join(glue);
            for found in parse(&text, &now) {
                if let Aim::During(interval) = found.aim {
                    prop_assert!(interval.from < interval.until);
                }
            }
            dates_in(&text, &now);
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        // Counts steps, not seconds: each token looks at a bounded number of others.
        let now: Zoned = NOW.parse().unwrap();
        for unit in [
            "the week before ",
            "early ",
            "last two weeks of ",
            "from between ",
            "before the launch ",
            "3 - ",
        ] {
            let steps = |times: usize| {
                let text = unit.repeat(times);
                let reader = TimeReader::new(&text, &now);
                reader.expressions();
                reader.steps.get() as f64 / reader.tokens.len() as f64
            };
            let (short, long) = (steps(50), steps(5_000));
            assert!(long <= short * 1.1 && long < 200.0, "{unit}: {short} steps a token, then {long}");
        }
    }
}
