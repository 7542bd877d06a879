//! Tests of documents that move to other paths.

use serde_json::json;

use super::{at, chunk_rows, document, stamp, with_store};
use crate::filter::Filter;
use crate::item::{Scope, derive_id};
use crate::request::Selection;
use crate::store::{MovedDocument, Namespace, RepositoryFile, Store, chunk_id};

fn file(branch: Option<&str>) -> RepositoryFile {
    RepositoryFile {
        repository: "example.com/ada/garden".to_owned(),
        branch: branch.map(str::to_owned),
        relative_path: "b/guide.md".to_owned(),
    }
}

fn moved(from_id: &str, id: &str, path: &str, repository_file: Option<RepositoryFile>) -> MovedDocument {
    MovedDocument {
        from_id: from_id.to_owned(),
        from_path: String::new(),
        id: id.to_owned(),
        path: path.to_owned(),
        file_name: path.rsplit('/').next().unwrap().to_owned(),
        version: "current".to_owned(),
        repository_file,
    }
}

fn rows_with(store: &dyn Store, filter: &str) -> usize {
    let filter = Some(Filter::parse(filter).unwrap());
    let selected = store.select(&Selection { filter, ..Selection::default() }).unwrap();
    selected.map_or(0, |rows| rows.iter().count())
}

#[test]
fn a_moved_document_keeps_its_rows_and_is_found_at_its_new_place() {
    with_store(|store, _| {
        let path = "/a/v2.1/guide.md";
        store.put_documents(&[document(path, &["one", "two"])], stamp(1)).unwrap();
        let (id, rows) = (derive_id(&["documents", path]), chunk_rows(store, path));
        let before = store.coverage().unwrap().change;
        let to = moved(&id, &id, "/new/b/guide.md", Some(file(Some("main"))));
        let gone = moved("0000000000000000", "x", "/x", None);
        store.move_documents(&[to, gone], stamp(2)).unwrap();

        let known = store.documents("documents").unwrap();
        assert_eq!((known.len(), known[0].path.as_str()), (1, "/new/b/guide.md"));
        assert_eq!(known[0].repository_file, Some(file(Some("main"))));
        assert_eq!(store.documents_below("documents", "/new/").unwrap(), known);
        assert_eq!(store.documents_below("documents", "/ne/").unwrap(), []);
        assert_eq!(rows_with(store, r#"{"branch":"main","version":"current","author":"Ann"}"#), 2);
        assert_eq!(rows_with(store, r#"{"path":"/a/v2.1/guide.md"}"#), 0);
        assert_eq!(store.paths_since(before).unwrap(), None, "all paths are read again");
        assert!(store.coverage().unwrap().change > before);
        let item = store.items(&[rows[0]]).unwrap()[0].clone().unwrap();
        assert_eq!(
            (&item.metadata["path"], &item.metadata["branch"]),
            (&json!("/new/b/guide.md"), &json!("main"))
        );
        assert_eq!(item.create_time, at(1));

        // No branch any more, and another id: the chunks follow.
        store.move_documents(&[moved(&id, "fedc", "/new/b/guide.md", Some(file(None)))], stamp(3)).unwrap();
        assert_eq!(rows_with(store, r#"{"branch":"main"}"#), 0);
        assert_eq!(rows_with(store, r#"{"relative_path":"b/guide.md"}"#), 2);
        let now = store.chunks("fedc").unwrap();
        assert_eq!(now.iter().map(|(_, row)| *row).collect::<Vec<_>>(), rows);
        let item = store.items(&[rows[0]]).unwrap()[0].clone().unwrap();
        assert_eq!(item.id, chunk_id("fedc", "one"));

        // Out of the repository.
        store.move_documents(&[moved("fedc", "fedc", "/guide.md", None)], stamp(4)).unwrap();
        assert_eq!(store.documents("documents").unwrap()[0].repository_file, None);
        assert_eq!(rows_with(store, r#"{"relative_path":{"$ne":"b/guide.md"}}"#), 2);
        assert_eq!(store.verify().unwrap(), Vec::<String>::new(), "the checksums fit");
    });
}

#[test]
fn a_document_does_not_move_to_where_another_one_is() {
    with_store(|store, _| {
        store.put_documents(&[document("/a.md", &["one"]), document("/b.md", &["two"])], stamp(1)).unwrap();
        let [a, b] = ["/a.md", "/b.md"].map(|path| derive_id(&["documents", path]));
        store.move_documents(&[moved(&a, &b, "/b.md", None)], stamp(2)).unwrap();
        let here = Namespace { collection: "documents".into(), scope: Scope::Project, owner: None };
        let known = store.documents_at(&here, &["/a.md", "/b.md"]).unwrap();
        let ids: Vec<_> = known.into_iter().map(|one| one.unwrap().id).collect();
        assert_eq!(ids, [a, b]);
    });
}
