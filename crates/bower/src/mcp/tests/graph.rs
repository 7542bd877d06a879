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

#[test]
fn names_are_joined_by_a_caller_that_sees_the_whole_store() {
    with(Options { tools: Choice::All, ..Options::default() }, async |handler, _| {
        let mut client = Client::initialized(&handler).await;
        client.fields("memory_store", json!({"content": "Veit Sander looks after the pump"})).await;
        let pair = json!({"name": "V. Sander", "other": "Veit Sander"});
        let stated = client.fields("memory_alias", pair.clone()).await;
        assert_eq!((&stated["outcome"], &stated["unknown"]), (&json!("stated"), &json!(["V. Sander"])));
        assert_eq!(client.fields("memory_alias", pair).await["outcome"], "unchanged");
        let near = client.fields("memory_graph", json!({"name": "v sander"})).await;
        assert_eq!(near["entity"]["name"], "Veit Sander", "{near}");
        let listed = client.fields("memory_aliases", json!({"name": "veit sander"})).await;
        assert_eq!(listed["entities"][0]["names"], json!(["V. Sander", "Veit Sander"]), "{listed}");
        let undo = json!({"name": "Veit Sander", "other": "V. Sander", "undo": true});
        assert_eq!(client.fields("memory_alias", undo.clone()).await["outcome"], "ended");
        assert!(client.trouble("memory_alias", undo).await.contains("no alias"));
    });
}
