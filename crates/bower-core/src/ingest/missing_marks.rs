//! Finds the second of two marks in a paragraph, for converters of markup languages.

/// Marks that do not come again in a text. Each is searched for in vain once, so that many open marks take linear time.
#[derive(Default)]
pub(super) struct MissingMarks(Vec<&'static str>);

impl MissingMarks {
    /// Takes what stands before `close` in `rest`, behind its first `skip` bytes.
    pub(super) fn until<'a>(
        &mut self,
        rest: &mut &'a str,
        skip: usize,
        close: &'static str,
    ) -> Option<&'a str> {
        if self.0.contains(&close) {
            return None;
        }
        let inside = &rest[skip..];
        let Some(end) = inside.find(close) else {
            self.0.push(close);
            return None;
        };
        *rest = &inside[end + close.len()..];
        Some(&inside[..end])
    }
}
