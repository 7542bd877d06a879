//! Finds documents that are near copies of another, such as translations of a format or older editions.

use crate::engine::Engine;
use crate::error::Result;
use crate::item::Visibility;
use crate::rank::sketch::{Sketch, near_copies};
use crate::request::{NearCopies, NearCopy, NearCopyGroup};

impl Engine {
    /// Returns the groups of documents that share most of their text. It reads all chunks, so it takes seconds in a large store.
    pub fn copies(&self, visibility: &Visibility) -> Result<NearCopies> {
        visibility.check_everything("a comparison of all documents")?;
        let mut documents = Vec::new();
        self.store.paths(&mut |document, path| documents.push((document, path.to_owned())))?;
        let sketch = |(document, _): &(_, String)| {
            let passages = self.store.passages(*document)?;
            Ok(Sketch::of(passages.iter().map(|passage| passage.content.as_str())))
        };
        let sketches: Vec<Sketch> = documents.iter().map(sketch).collect::<Result<_>>()?;
        let path = |at: usize| documents[at].1.clone();
        let groups = near_copies(&sketches)
            .into_iter()
            .map(|(first, rest)| {
                let copies = rest.into_iter().map(|(at, likeness)| NearCopy { path: path(at), likeness });
                NearCopyGroup { path: path(first), copies: copies.collect() }
            })
            .collect();
        Ok(NearCopies { compared: documents.len() as u64, groups })
    }
}
