//! The languages that texts are told to be in ([`super::detect`]), and the stemmers of their words.

use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The language of a text. It decides how the words in Latin letters are stemmed, and which words of a question are stop words.
///
/// Cyrillic, Greek, Arabic and Tamil words use the stemmer of their script in a text of any language. Latin words in a text
/// of such a script, or of one without spaces, are stemmed as English (product names, code).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // each variant is the language it names
pub enum Language {
    Arabic,
    Bulgarian,
    Catalan,
    Chinese,
    Croatian,
    Czech,
    Danish,
    Dutch,
    #[default]
    English,
    Estonian,
    Finnish,
    French,
    German,
    Greek,
    Hebrew,
    Hindi,
    Hungarian,
    Indonesian,
    Italian,
    Japanese,
    Korean,
    Latvian,
    Lithuanian,
    Norwegian,
    Persian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Serbian,
    Slovak,
    Slovenian,
    Spanish,
    Swedish,
    Tamil,
    Thai,
    Turkish,
    Ukrainian,
    Vietnamese,
}

impl Language {
    /// Every language, in alphabetical order.
    pub const ALL: &'static [Self] = &[
        Self::Arabic,
        Self::Bulgarian,
        Self::Catalan,
        Self::Chinese,
        Self::Croatian,
        Self::Czech,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Estonian,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hebrew,
        Self::Hindi,
        Self::Hungarian,
        Self::Indonesian,
        Self::Italian,
        Self::Japanese,
        Self::Korean,
        Self::Latvian,
        Self::Lithuanian,
        Self::Norwegian,
        Self::Persian,
        Self::Polish,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Serbian,
        Self::Slovak,
        Self::Slovenian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Thai,
        Self::Turkish,
        Self::Ukrainian,
        Self::Vietnamese,
    ];

    /// Returns its word in settings and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Arabic => "arabic",
            Self::Bulgarian => "bulgarian",
            Self::Catalan => "catalan",
            Self::Chinese => "chinese",
            Self::Croatian => "croatian",
            Self::Czech => "czech",
            Self::Danish => "danish",
            Self::Dutch => "dutch",
            Self::English => "english",
            Self::Estonian => "estonian",
            Self::Finnish => "finnish",
            Self::French => "french",
            Self::German => "german",
            Self::Greek => "greek",
            Self::Hebrew => "hebrew",
            Self::Hindi => "hindi",
            Self::Hungarian => "hungarian",
            Self::Indonesian => "indonesian",
            Self::Italian => "italian",
            Self::Japanese => "japanese",
            Self::Korean => "korean",
            Self::Latvian => "latvian",
            Self::Lithuanian => "lithuanian",
            Self::Norwegian => "norwegian",
            Self::Persian => "persian",
            Self::Polish => "polish",
            Self::Portuguese => "portuguese",
            Self::Romanian => "romanian",
            Self::Russian => "russian",
            Self::Serbian => "serbian",
            Self::Slovak => "slovak",
            Self::Slovenian => "slovenian",
            Self::Spanish => "spanish",
            Self::Swedish => "swedish",
            Self::Tamil => "tamil",
            Self::Thai => "thai",
            Self::Turkish => "turkish",
            Self::Ukrainian => "ukrainian",
            Self::Vietnamese => "vietnamese",
        }
    }

    /// Returns its two letters of ISO 639-1, as the text index keeps them.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Arabic => "ar",
            Self::Bulgarian => "bg",
            Self::Catalan => "ca",
            Self::Chinese => "zh",
            Self::Croatian => "hr",
            Self::Czech => "cs",
            Self::Danish => "da",
            Self::Dutch => "nl",
            Self::English => "en",
            Self::Estonian => "et",
            Self::Finnish => "fi",
            Self::French => "fr",
            Self::German => "de",
            Self::Greek => "el",
            Self::Hebrew => "he",
            Self::Hindi => "hi",
            Self::Hungarian => "hu",
            Self::Indonesian => "id",
            Self::Italian => "it",
            Self::Japanese => "ja",
            Self::Korean => "ko",
            Self::Latvian => "lv",
            Self::Lithuanian => "lt",
            Self::Norwegian => "nb",
            Self::Persian => "fa",
            Self::Polish => "pl",
            Self::Portuguese => "pt",
            Self::Romanian => "ro",
            Self::Russian => "ru",
            Self::Serbian => "sr",
            Self::Slovak => "sk",
            Self::Slovenian => "sl",
            Self::Spanish => "es",
            Self::Swedish => "sv",
            Self::Tamil => "ta",
            Self::Thai => "th",
            Self::Turkish => "tr",
            Self::Ukrainian => "uk",
            Self::Vietnamese => "vi",
        }
    }

    /// Returns the language with these two letters of ISO 639-1.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }

    /// Returns the stemmer of words in Latin letters; `None` if the library has none for this language.
    pub(super) const fn latin(self) -> Option<Algorithm> {
        Some(match self {
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
            Self::Arabic
            | Self::Bulgarian
            | Self::Chinese
            | Self::English
            | Self::Greek
            | Self::Hebrew
            | Self::Hindi
            | Self::Japanese
            | Self::Korean
            | Self::Persian
            | Self::Russian
            | Self::Serbian
            | Self::Tamil
            | Self::Thai
            | Self::Ukrainian => Algorithm::English,
            Self::Catalan
            | Self::Croatian
            | Self::Czech
            | Self::Estonian
            | Self::Indonesian
            | Self::Latvian
            | Self::Lithuanian
            | Self::Polish
            | Self::Slovak
            | Self::Slovenian
            | Self::Vietnamese => return None,
        })
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
            assert_eq!(Language::of_code(language.code()), Some(language));
        }
        assert!("klingon".parse::<Language>().unwrap_err().to_string().contains("english"));
    }
}
