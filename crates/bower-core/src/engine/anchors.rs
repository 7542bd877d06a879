//! Ties memories to the code that they name, and checks later what became of it.
//! Files are read below the folder of the anchor's project alone, and only for a caller that names a working folder.

mod check;
mod git;
mod project;
mod resolve;
mod symbols;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::engine::Engine;
use crate::engine::timing::milliseconds;
use crate::error::Result;
use crate::item::{Anchor, CheckedAnchor, Kind, RowId, Status, Visibility};
use crate::request::{AnchoredMemory, AnchorsReport, Item};
use git::GitObjects;
use project::{ProjectFiles, root_of};

/// Returns the anchors of a text that is written in a working folder. None if there is no such folder.
pub(crate) fn anchors_of(folder: Option<&Path>, text: &str) -> Vec<Anchor> {
    let Some((folder, root)) = folder.and_then(|folder| Some((folder, root_of(folder)?))) else {
        return Vec::new();
    };
    resolve::anchors(&ProjectFiles::new(root), folder, text)
}

/// Checks the anchors of one answer: each file is read at most once.
pub(crate) struct AnchorCheck {
    /// The caller's project.
    here: Option<PathBuf>,
    /// The projects of anchors, by the folder that an anchor has. `None`: it is not on this machine.
    projects: HashMap<String, Option<ProjectFiles>>,
}

impl AnchorCheck {
    /// Creates it for a caller in a working folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { here: root_of(folder), projects: HashMap::new() }
    }

    /// Checks anchors. Those that cannot be compared with anything here are left out.
    pub(crate) fn check(&mut self, anchors: &[Anchor]) -> Vec<CheckedAnchor> {
        let here = self.here.as_deref();
        let of_one = |anchor: &Anchor| {
            let project = self
                .projects
                .entry(anchor.root.clone())
                .or_insert_with(|| root_for(&anchor.root, here).map(ProjectFiles::new));
            check::check(project.as_ref()?, anchor)
        };
        anchors.iter().filter_map(of_one).collect()
    }

    /// Checks the anchors of memories, in their order.
    pub(crate) fn of_items(&mut self, engine: &Engine, items: &[&Item]) -> Result<Vec<Vec<CheckedAnchor>>> {
        let rows: Vec<RowId> = items.iter().map(|item| item.row).collect();
        Ok(engine.store.anchors(&rows)?.iter().map(|anchors| self.check(anchors)).collect())
    }
}

/// Returns the folder in which an anchor's project is: its own, or the caller's if that is another work tree of it. A project may
/// have been moved, or come from another machine: then it is the caller's if that has the same name.
fn root_for(root: &str, here: Option<&Path>) -> Option<PathBuf> {
    let told = Path::new(root);
    if told.is_dir() {
        let other = here.filter(|here| *here != told && GitObjects::is_shared(here, told));
        return Some(other.unwrap_or(told).to_path_buf());
    }
    here.filter(|here| told.file_name().is_some() && here.file_name() == told.file_name())
        .map(Path::to_path_buf)
}

/// Most anchors that a remark names.
const NAMED: usize = 3;

/// Returns the remark of a prompt about anchors: those that do not hold. `None` if all do.
pub(crate) fn remark(anchors: &[CheckedAnchor]) -> Option<String> {
    let doubtful: Vec<String> =
        anchors.iter().filter(|one| one.is_doubtful()).map(CheckedAnchor::phrase).collect();
    let more = match doubtful.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; {more} more"),
    };
    let named = doubtful.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    (!doubtful.is_empty()).then(|| format!("since then in the code: {named}{more}"))
}

impl Engine {
    /// Checks the anchors of one memory, from a working folder.
    pub fn checked_anchors(&self, item: &Item, folder: &Path) -> Result<Vec<CheckedAnchor>> {
        Ok(AnchorCheck::new(folder).of_items(self, &[item])?.pop().unwrap_or_default())
    }

    /// Checks the anchors of all candidate and active memories, from a working folder.
    pub fn check_anchors(&self, visibility: &Visibility, folder: &Path) -> Result<AnchorsReport> {
        let start = Instant::now();
        let mut report = AnchorsReport::default();
        let mut check = AnchorCheck::new(folder);
        let mut rows = self.store.anchored()?;
        rows.reverse();
        let all = self.store.items(&rows)?.into_iter().zip(self.store.anchors(&rows)?);
        for (item, anchors) in all {
            let is_meant = |item: &Item| {
                item.kind == Kind::Memory
                    && matches!(item.status, Status::Candidate | Status::Active)
                    && !item.damaged
                    && item.is_visible(visibility)
            };
            let Some(item) = item.filter(is_meant) else { continue };
            let checked = check.check(&anchors);
            report.anchored += 1;
            report.checked += checked.len();
            report.unchecked += anchors.len() - checked.len();
            let doubtful: Vec<_> = checked.into_iter().filter(CheckedAnchor::is_doubtful).collect();
            if !doubtful.is_empty() {
                let memory = AnchoredMemory { id: item.id, summary: item.summary, anchors: doubtful };
                report.memories.push(memory);
            }
        }
        report.took_ms = milliseconds(start);
        Ok(report)
    }
}

#[cfg(test)]
mod tests;
