//! Tests names, identities and sources of keys. The program's suite tests requests over real connections.

use super::*;

fn nothing(_: &str) -> Option<String> {
    None
}

fn everything(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| format!("key-of-{name}"))
}

fn remote(model: &str, settings: Settings) -> Remote {
    chosen(&Settings { model: model.into(), ..settings }, nothing).unwrap()
}

#[test]
fn a_service_is_named_by_its_provider_and_its_model() {
    let is = |name: &str, expected: Option<(Provider, &str)>| {
        let found = named(name);
        assert_eq!(found.as_ref().map(|named| (named.provider, named.model.as_str())), expected, "{name}");
    };
    is("gemini/gemini-embedding-001", Some((Provider::Gemini, "gemini-embedding-001")));
    is("ollama/nomic-embed-text:latest", Some((Provider::Ollama, "nomic-embed-text:latest")));
    is("compatible/org/model", Some((Provider::Compatible, "org/model")));
    is("all-MiniLM-L6-v2", None);
    is("BAAI/bge-small-en-v1.5", None);
    // It makes no vectors.
    is("anthropic/claude", None);
    is("openai/", None);
}

#[test]
fn an_identity_leads_back_to_its_name_and_changes_with_what_decides_a_vector() {
    let base = remote(
        "ollama/org/nomic-embed-text:latest",
        Settings { model_dimensions: 768, ..Settings::default() },
    );
    assert!(base.model().starts_with("ollama~org+nomic-embed-text=latest~768~"), "{}", base.model());
    assert!(!base.model().contains(['/', ':', '\\']), "it names a folder");
    assert_eq!(name_of(base.model()).as_deref(), Some("ollama/org/nomic-embed-text:latest"));
    assert_eq!(name_of("all-MiniLM-L6-v2.i8-2"), None);
    let known = remote("openai/text-embedding-3-small", Settings::default());
    assert_eq!(known.dimension(), 1_536);
    let cut =
        remote("openai/text-embedding-3-small", Settings { model_dimensions: 512, ..Settings::default() });
    let elsewhere = remote(
        "openai/text-embedding-3-small",
        Settings { model_url: Some("http://127.0.0.1:1/v1".into()), ..Settings::default() },
    );
    assert!(known.model() != cut.model() && known.model() != elsewhere.model());
}

#[test]
fn the_settings_say_where_the_key_is_before_the_providers_variable_does() {
    let gemini = named("gemini/gemini-embedding-001").unwrap();
    let of = |settings: &Settings, is_own: bool| source(&gemini, settings, is_own, everything);
    let mut settings = Settings::default();
    assert_eq!(of(&settings, true), Some(SecretSource::Variable("GOOGLE_API_KEY".into())));
    assert_eq!(of(&settings, false), None, "a vendor's key goes to no other address");
    settings.model_key_variable = Some("MINE".into());
    assert_eq!(of(&settings, false), Some(SecretSource::Variable("MINE".into())));
    settings.model_key_file = Some("/run/key".into());
    assert_eq!(of(&settings, true), Some(SecretSource::File("/run/key".into())));
    settings.model_key_command = Some("pass show gemini".into());
    assert_eq!(of(&settings, true), Some(SecretSource::Command("pass show gemini".into())));
    // Without any, the first name is in the error.
    let error =
        remote("gemini/gemini-embedding-001", Settings::default()).embed("x").unwrap_err().to_string();
    assert!(
        error.starts_with("model gemini/gemini-embedding-001: ") && error.contains("GOOGLE_API_KEY"),
        "{error}"
    );
}

#[test]
fn prices_are_those_of_the_table_and_a_server_of_ones_own_is_free() {
    // By hand: 1.5 million tokens at .02 dollars a million.
    let cost = |name: &str| named(name).unwrap().cost(1_500_000, "127.0.0.1");
    assert!((cost("openai/text-embedding-3-small").unwrap() - 0.03).abs() < 1e-9);
    assert_eq!(cost("ollama/anything"), Some(0.0));
    assert_eq!(cost("openai/unheard-of"), None);
    assert_eq!(named("compatible/m").unwrap().cost(1, "gateway.example"), None, "it may send a bill");
    let keys = keys_in(|name| (name == "VOYAGE_API_KEY").then(|| "x".into()));
    assert_eq!(keys, [(Provider::Voyage, "VOYAGE_API_KEY")]);
}
