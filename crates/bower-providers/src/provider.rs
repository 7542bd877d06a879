//! Names the services: their addresses, key variables and the header that takes the key.

use std::fmt;

use crate::secret::Secret;

/// A service, or a kind of server, that makes vectors, answers or scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// Google's Gemini API.
    Gemini,
    /// `OpenAI`'s API.
    OpenAi,
    /// Voyage AI, also the keys of `MongoDB`.
    Voyage,
    /// A local Ollama server.
    Ollama,
    /// Cohere's API.
    Cohere,
    /// Mistral's API.
    Mistral,
    /// Jina's API.
    Jina,
    /// Anthropic's API. It has no embeddings.
    Anthropic,
    /// Any other server with `OpenAI`'s routes: LM Studio, vLLM, llama.cpp, TEI, gateways.
    Compatible,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of this name with the key alone.
    Plain(&'static str),
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 9] = [
        Self::Gemini,
        Self::OpenAi,
        Self::Voyage,
        Self::Ollama,
        Self::Cohere,
        Self::Mistral,
        Self::Jina,
        Self::Anthropic,
        Self::Compatible,
    ];

    /// Returns the name in settings and identities.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::OpenAi => "openai",
            Self::Voyage => "voyage",
            Self::Ollama => "ollama",
            Self::Cohere => "cohere",
            Self::Mistral => "mistral",
            Self::Jina => "jina",
            Self::Anthropic => "anthropic",
            Self::Compatible => "compatible",
        }
    }

    /// Returns the provider of a name, or nothing.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// Returns the vendor's address. `Compatible` has none.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Voyage => Some("https://api.voyageai.com/v1"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::Cohere => Some("https://api.cohere.com"),
            Self::Mistral => Some("https://api.mistral.ai/v1"),
            Self::Jina => Some("https://api.jina.ai/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Compatible => None,
        }
    }

    /// Returns the vendor's address for a key. Voyage keys of `MongoDB` begin with `al-` and have their own address.
    pub fn base_url_for(self, key: Option<&Secret>) -> Option<&'static str> {
        match (self, key) {
            (Self::Voyage, Some(key)) if key.starts_with("al-") => Some("https://ai.mongodb.com/v1"),
            _ => self.base_url(),
        }
    }

    /// Returns the environment variables in which the vendor's tools look for a key, the first that is set wins.
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Gemini => &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Voyage => &["VOYAGE_API_KEY"],
            Self::Cohere => &["CO_API_KEY"],
            Self::Mistral => &["MISTRAL_API_KEY"],
            Self::Jina => &["JINA_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Ollama | Self::Compatible => &[],
        }
    }

    /// Returns whether the vendor's service refuses requests without a key.
    pub fn needs_key(self) -> bool {
        !matches!(self, Self::Ollama | Self::Compatible)
    }

    /// Returns the header for the key. Gemini's `?key=` is never used: addresses end up in logs.
    pub(crate) fn key_header(self) -> KeyHeader {
        match self {
            Self::Gemini => KeyHeader::Plain("x-goog-api-key"),
            Self::Anthropic => KeyHeader::Plain("x-api-key"),
            Self::OpenAi
            | Self::Voyage
            | Self::Ollama
            | Self::Cohere
            | Self::Mistral
            | Self::Jina
            | Self::Compatible => KeyHeader::Bearer,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_provider() {
        for provider in Provider::ALL {
            assert_eq!(Provider::from_name(provider.name()), Some(provider));
            assert_eq!(provider.needs_key(), !provider.key_variables().is_empty());
        }
        assert_eq!(Provider::from_name("OpenAI"), None);
    }

    #[test]
    fn keys_of_mongodb_go_to_the_address_of_mongodb() {
        let base = |key: &str| Provider::Voyage.base_url_for(Some(&Secret::new(key).unwrap()));
        assert_eq!(base("al-abc"), Some("https://ai.mongodb.com/v1"));
        assert_eq!(base("pa-abc"), Some("https://api.voyageai.com/v1"));
        assert_eq!(Provider::Voyage.base_url_for(None), Some("https://api.voyageai.com/v1"));
    }
}
