//! Tests the tools of the graph.

use serde_json::json;

use super::{Choice, Client, Options, with};

#[test]
fn names_are_related_and_their_connection_is_shown() {
    with(Options { tools: Choice::All, ..Options::default() }, async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        let stated = client
            .fields("memory_relate", json!({"from": "Veit Sander", "type": "looks_after", "to": "the pump"}))
            .await;
        let memory = client.fields("memory_get", json!({"id": stated["memory"]})).await;
        assert_eq!(memory["memory"]["provenance"]["said_by"], "agent", "{memory}");
        let near = client.fields("memory_graph", json!({"name": "veit sander"})).await;
        assert_eq!(near["entity"]["name"], "Veit Sander", "{near}");
        let path = client.fields("memory_graph", json!({"name": "the pump", "to": "Veit Sander"})).await;
        assert_eq!(path["path"][0]["relation"], "looks_after", "{path}");
        assert!(client.trouble("memory_graph", json!({"name": "Nobody At All"})).await.contains("no item"));
    });
}
