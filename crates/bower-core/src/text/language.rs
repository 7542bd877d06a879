//! The languages whose words can be stemmed.
//! A text index holds terms of exactly one language setting.

use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The Snowball stemmer of a text's words; the default is English.
///
/// The setting applies to Latin letters. Cyrillic, Greek and Arabic words use the stemmer of their script with any
/// setting. Latin words in a Russian, Greek, Arabic or Tamil text are stemmed as English (product names, code).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each variant is the language it names
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

impl Language {
    /// Every language, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    /// Returns its word in settings and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Arabic => "arabic",
            Self::Danish => "danish",
            Self::Dutch => "dutch",
            Self::English => "english",
            Self::Finnish => "finnish",
            Self::French => "french",
            Self::German => "german",
            Self::Greek => "greek",
            Self::Hungarian => "hungarian",
            Self::Italian => "italian",
            Self::Norwegian => "norwegian",
            Self::Portuguese => "portuguese",
            Self::Romanian => "romanian",
            Self::Russian => "russian",
            Self::Spanish => "spanish",
            Self::Swedish => "swedish",
            Self::Tamil => "tamil",
            Self::Turkish => "turkish",
        }
    }

    /// Returns the stemmer of words in Latin letters.
    pub(super) const fn latin(self) -> Algorithm {
        match self {
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Turkish => Algorithm::Turkish,
            Self::English | Self::Arabic | Self::Greek | Self::Russian | Self::Tamil => Algorithm::English,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Language {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        Self::ALL.iter().copied().find(|language| language.word() == word).ok_or_else(|| {
            let words: Vec<_> = Self::ALL.iter().map(|language| language.word()).collect();
            Error::invalid(format!("language {word:?}"), format!("use one of {}", words.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_one_spelling() {
        for &language in Language::ALL {
            assert_eq!(language.word().parse::<Language>().unwrap(), language);
            assert_eq!(serde_json::to_string(&language).unwrap(), format!("\"{language}\""));
        }
        assert!("klingon".parse::<Language>().unwrap_err().to_string().contains("english"));
    }
}
