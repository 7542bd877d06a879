//! Checks that a text claims nothing that is not in its source texts, and keeps the claims that all of them share.
//! It need not make a claim that one of them alone makes.

use std::collections::BTreeSet;

use super::dates::When;
use super::numbers::Number;
use super::words::OPPOSITES;
use super::{Claims, Difference, What, singular};

impl Claims {
    /// The first claim that none of some texts makes (`to`), or that all of them make and this one does not (`from`); none
    /// where it stands for them truly. A text that opens a sentence with a capital that none of them says may name somebody: that
    /// is a claim too.
    pub fn strays(&self, texts: &[&Self]) -> Option<Difference> {
        if self.is_crowded || texts.is_empty() || texts.iter().any(|text| text.is_crowded) {
            return Some(Difference::new(What::Crowded, None, None));
        }
        self.strays_in_values(texts)
            .or_else(|| self.strays_in_names(texts))
            .or_else(|| self.strays_in_limits(texts))
            .or_else(|| {
                let is_turned = texts.iter().all(|text| text.is_reordered(self));
                is_turned.then(|| Difference::new(What::Order, None, None))
            })
    }

    fn strays_in_values(&self, texts: &[&Self]) -> Option<Difference> {
        let lists: Vec<&[Number]> = texts.iter().map(|text| text.numbers.as_slice()).collect();
        // "one man" may be "a man".
        let counts = |number: &&Number| !number.is_one;
        let found = stray(&self.numbers, &lists, Number::same, counts);
        if let Some(difference) = found.map(|side| side.told(What::Number, Number::shown)) {
            return Some(difference);
        }
        let lists: Vec<&[When]> = texts.iter().map(|text| text.times.as_slice()).collect();
        let found = stray(&self.times, &lists, When::fits, |_| true);
        if let Some(difference) = found.map(|side| side.told(What::Date, When::shown)) {
            return Some(difference);
        }
        let lists: Vec<&[String]> = texts.iter().map(|text| text.versions.as_slice()).collect();
        let found = stray(&self.versions, &lists, |one, two| one == two, |_| true);
        found.map(|side| side.told(What::Version, Clone::clone))
    }

    fn strays_in_names(&self, texts: &[&Self]) -> Option<Difference> {
        let says = |text: &Self, name: &str| text.spoken.contains(singular(&name.to_lowercase()));
        let mut named = self.names.iter().chain(&self.openers);
        if let Some(fresh) = named.find(|name| !texts.iter().any(|text| says(text, name))) {
            return Some(Difference::new(What::Name, None, Some(fresh.clone())));
        }
        let is_of_all = |name: &&String| texts.iter().all(|text| says(text, name));
        let lost = texts[0].names.iter().filter(is_of_all).find(|name| !says(self, name));
        lost.map(|lost| Difference::new(What::Name, Some(lost.clone()), None))
    }

    fn strays_in_limits(&self, texts: &[&Self]) -> Option<Difference> {
        let (least, most) = texts
            .iter()
            .fold((usize::MAX, 0), |(least, most), text| (least.min(text.denials), most.max(text.denials)));
        if !(least..=most).contains(&self.denials) {
            return Some(Difference::new(What::Negation, None, None));
        }
        let pole = |&(at, side): &(usize, bool)| {
            let opposites = &OPPOSITES[at];
            if side { opposites.one } else { opposites.two }.to_owned()
        };
        let found = stray_of_sets(&self.poles, texts, |text| &text.poles, true);
        if let Some(difference) = found.map(|side| side.told(What::Opposite, pole)) {
            return Some(difference);
        }
        let word = |word: &&'static str| (*word).to_owned();
        let found = stray_of_sets(&self.limits, texts, |text| &text.limits, true);
        if let Some(difference) = found.map(|side| side.told(What::Limit, word)) {
            return Some(difference);
        }
        // A place may be told by another word for it; a colour is one.
        let found = stray_of_sets(&self.places, texts, |text| &text.places, false)
            .or_else(|| stray_of_sets(&self.colors, texts, |text| &text.colors, true));
        found.map(|side| side.told(What::Contrary, word))
    }
}

/// A claim on one side alone.
enum Side<'a, T> {
    /// All texts make it.
    Lost(&'a T),
    /// No text makes it.
    Fresh(&'a T),
}

impl<T> Side<'_, T> {
    fn told(self, what: What, show: impl Fn(&T) -> String) -> Difference {
        match self {
            Self::Lost(claim) => Difference::new(what, Some(show(claim)), None),
            Self::Fresh(claim) => Difference::new(what, None, Some(show(claim))),
        }
    }
}

/// The first claim that no list has, or that all have and `claims` has not.
fn stray<'a, T>(
    claims: &'a [T],
    lists: &[&'a [T]],
    same: fn(&T, &T) -> bool,
    counts: impl Fn(&&T) -> bool,
) -> Option<Side<'a, T>> {
    let has = |list: &[T], claim: &T| list.iter().any(|other| same(claim, other));
    let fresh = claims.iter().filter(&counts).find(|claim| !lists.iter().any(|list| has(list, claim)));
    let is_of_all = |claim: &&T| lists.iter().all(|list| has(list, claim));
    let lost = || lists[0].iter().filter(&counts).filter(is_of_all).find(|claim| !has(claims, claim));
    fresh.map(Side::Fresh).or_else(|| lost().map(Side::Lost))
}

/// The same of sets; what is lost is a stray only where it must not be.
fn stray_of_sets<'a, T: Ord>(
    claims: &'a BTreeSet<T>,
    texts: &[&'a Claims],
    of: impl Fn(&'a Claims) -> &'a BTreeSet<T>,
    must_stay: bool,
) -> Option<Side<'a, T>> {
    let fresh = claims.iter().find(|claim| !texts.iter().any(|text| of(text).contains(claim)));
    let is_of_all = |claim: &&T| texts.iter().all(|text| of(text).contains(claim));
    let lost = || of(texts[0]).iter().filter(is_of_all).find(|claim| !claims.contains(claim));
    fresh.map(Side::Fresh).or_else(|| lost().filter(|_| must_stay).map(Side::Lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, texts: &[&str], expected: Option<(What, &str)>) {
        let claims: Vec<Claims> = texts.iter().map(|text| Claims::of(text)).collect();
        let found = Claims::of(text).strays(&claims.iter().collect::<Vec<_>>());
        let found = found.map(|difference| (difference.what, difference.to_string()));
        assert_eq!(found, expected.map(|(what, shown)| (what, shown.to_owned())), "{text}");
    }

    const JOBS: [&str; 3] = [
        "The nightly export of Falcon ran out of disk space on 4 May",
        "On 11 May the nightly export of Falcon ran out of disk space",
        "The nightly export of Falcon ran out of disk space on 18 May",
    ];

    #[test]
    fn what_some_texts_say_is_no_stray() {
        check("The nightly export of Falcon ran out of disk space on 4 May, 11 May and 18 May", &JOBS, None);
        check("The nightly export of Falcon ran out of disk space again", &JOBS, None);
        check("On 11 May the nightly export of Falcon ran out of disk space", &JOBS, None);
        check("The API's port is 8080", &["The API port is 8080", "The API listens on port 8080"], None);
    }

    #[test]
    fn what_none_of_them_says_is_one() {
        check(
            "The nightly export of Falcon ran out of disk space on 5 May",
            &JOBS,
            Some((What::Date, "only now: 5 May")),
        );
        check(
            "The nightly export of Falcon ran out of disk space 3 times",
            &JOBS,
            Some((What::Number, "only now: 3 times")),
        );
        check(
            "The nightly export of Falcon to Oslo ran out of disk space",
            &JOBS,
            Some((What::Name, "only now: Oslo")),
        );
        check(
            "Redis made the nightly export of Falcon run out of disk space",
            &JOBS,
            Some((What::Name, "only now: Redis")),
        );
        check(
            "The nightly export of Falcon always ran out of disk space",
            &JOBS,
            Some((What::Opposite, "only now: always")),
        );
        check(
            "The nightly export of Falcon only ran out of disk space",
            &JOBS,
            Some((What::Limit, "only now: only")),
        );
        check(
            "The nightly export of Falcon never ran out of disk space",
            &JOBS,
            Some((What::Negation, "one denies the other")),
        );
    }

    #[test]
    fn what_all_of_them_say_must_stay() {
        let ports = ["The API port is 8080", "The API listens on port 8080"];
        check("The API listens on a port", &ports, Some((What::Number, "only before: 8080")));
        check("The nightly export ran out of disk space", &JOBS, Some((What::Name, "only before: Falcon")));
        let mays = ["The lease might end in June", "It might be that the lease ends in June"];
        check("The lease ends in June", &mays, Some((What::Limit, "only before: may")));
        let nots = ["The cache is not shared", "Nobody may assume that the cache is not shared"];
        let found =
            Claims::of("The cache is shared").strays(&nots.map(Claims::of).iter().collect::<Vec<_>>());
        assert_eq!(found.map(|found| found.what), Some(What::Negation));
    }

    #[test]
    fn any_text_stands_for_itself_alone() {
        for text in
            ["", "The API port is 8080", "Always ask Anna, not Bob, before 5 pm", "v1.2.3 is red, not blue"]
        {
            check(text, &[text], None);
        }
        check("", &[], Some((What::Crowded, "too many claims to compare")));
    }
}
