//! Lists and renames tags for every caller.

use bower_core::request::{RenameTags, RenamedTags, TagList};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds::{Bounds, Served, Via};
use super::{SelectBody, Service};
use crate::failure::{Failure, Result};

/// Default and maximum number of tags on a page over a wire, because a response is held in memory whole.
const MOST_TAGS: u32 = 1_000;

/// A page of tags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TagsBody {
    /// Only this tag and those nested below it, e.g. infra/db.
    pub under: Option<String>,
    /// Number of tags, 1 to 1,000; default 1,000.
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<u32>,
    /// Number of tags to skip.
    pub offset: Option<u32>,
    /// Selection of items.
    #[serde(flatten)]
    pub select: SelectBody,
}

impl TagsBody {
    /// Returns the number of tags on the page.
    fn limit(&self, via: Via) -> Result<usize> {
        match (self.limit, via) {
            (None, Via::CommandLine) => Ok(usize::MAX),
            (None, Via::Wire) => Ok(MOST_TAGS as usize),
            (Some(limit), Via::Wire) if !(1..=MOST_TAGS).contains(&limit) => Err(Failure::usage(
                format!("limit {limit}"),
                format!("use 1 to {MOST_TAGS}, and offset for the next page"),
            )),
            (Some(limit), _) => Ok(limit as usize),
        }
    }
}

/// Tags to rename, in the whole store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameTagsBody {
    /// The tags, with or without #; one of them, unless they are merged.
    pub tags: Vec<String>,
    /// The new name of all of them.
    pub to: String,
    /// Merge the tags: items may have the new name already.
    #[serde(default)]
    pub merge: bool,
    /// Change nothing, only report.
    #[serde(default)]
    pub dry_run: bool,
}

impl Service {
    /// Returns a page of the tags of a selection, by name.
    pub fn tags(&self, body: &TagsBody, bounds: &Bounds, now: Timestamp) -> Served<TagList> {
        let select = body.select.selection(bounds.via, now)?;
        let (limit, offset) = (body.limit(bounds.via)?, body.offset.unwrap_or(0) as usize);
        Ok(self.engine().tags(&bounds.visibility(), &select, body.under.as_deref(), limit, offset)?)
    }

    /// Renames tags, in the whole store.
    pub fn rename_tags(&self, body: &RenameTagsBody, bounds: &Bounds, now: Timestamp) -> Served<RenamedTags> {
        bounds.may_all("renaming tags")?;
        let RenameTagsBody { tags, to, merge, dry_run } = body;
        if tags.len() > 1 && !merge {
            return Err(Failure::usage(
                format!("{} tags are to be renamed to {to}", tags.len()),
                "set merge to true, or name one tag",
            )
            .into());
        }
        let request = RenameTags { from: tags.clone(), to: to.clone(), merges: *merge, dry_run: *dry_run };
        Ok(self.engine().rename_tags(&bounds.visibility(), &request, now)?)
    }
}
