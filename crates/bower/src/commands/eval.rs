//! `bower eval`: the real engine in a folder of its own, judged on a labelled set. One present for the whole run: what is
//! compared differs in nothing else.

mod bench;

use self::bench::{Bench, Parts};
use super::Session;
use crate::cli::EvalArgs;
use crate::eval::report::Report;
use crate::eval::set::Set;
use crate::eval::{paired, tables};
use crate::failure::{Failure, Result};

/// Indexes the set's documents into a temporary home, puts its questions, prints the figures.
pub fn run(arguments: &EvalArgs, session: &Session) -> Result<()> {
    let set = Set::load(&arguments.dir)?;
    let bench = Bench::new(&set, arguments.limit_k, session)?;
    let (profile, other) = match arguments.compare.as_deref() {
        Some(&[first, second]) if first == second => {
            return Err(Failure::usage(
                format!("--compare {0} {0} compares a profile with itself", first.word()),
                "name two different profiles",
            ));
        }
        Some(&[first, second]) => (first, Some(second)),
        Some(_) | None => (arguments.profile.unwrap_or(bench.settings.profile), None),
    };
    session.out.note(&format!("asking {} questions …", set.queries.len()));
    let outcome = bench.judge(profile, &Parts::default())?;
    let mut report = Report::of(&set, profile.word(), arguments.limit_k, &outcome);
    if let Some(other) = other {
        session.out.note(&format!("asking again, profile {} …", other.word()));
        let second = bench.judge(other, &Parts::default())?;
        let profiles = [profile.word(), other.word()];
        report.comparison = Some(paired::compare(&set, arguments.limit_k, profiles, &outcome, &second));
    }
    if arguments.ablate {
        let mut rows = Vec::new();
        for parts in bench::parts_of(profile) {
            session.out.note(&format!("without {} {} …", parts.kind, parts.removed));
            let without = bench.judge(profile, &parts)?;
            rows.push(paired::ablated(parts.kind, parts.removed, arguments.limit_k, &outcome, &without));
        }
        report.ablation = Some(rows);
    }
    session.out.say(&report, |_| tables::render(&report))
}
