//! Implements `bower eval`: evaluates the real engine on a labelled set in a temporary home.
//! The whole run has one present time, so that compared rankings differ in nothing else.

mod asking;
mod bench;

use std::path::Path;

use bower_core::error::{Error, Missing};
use bower_core::files;
use bower_core::item::Profile;

use self::bench::{Bench, Parts};
use super::Session;
use crate::cli::EvalArgs;
use crate::eval::metrics::Grades;
use crate::eval::report::Report;
use crate::eval::set::{Query, Set};
use crate::eval::{calibration, explain, features, paired, tables};
use crate::failure::{Failure, Result};

/// Indexes the set's documents into a temporary home, asks its questions and prints the figures.
pub fn run(arguments: &EvalArgs, session: &Session) -> Result<()> {
    // Invalid requests are reported before anything is indexed.
    let pair = pair(arguments)?;
    let settings = session.settings(&session.home()?)?.settings;
    let profile = pair.map_or(arguments.profile.unwrap_or(settings.profile), |(first, _)| first);
    let needs_probabilities = arguments.calibration || arguments.features.is_some();
    if arguments.factors.is_some() && profile != Profile::Bower {
        return Err(Failure::usage(
            format!("profile {} has other factors", profile.word()),
            "leave out --factors, or judge profile bower (the first of two)",
        ));
    }
    if needs_probabilities && profile != Profile::Bower {
        return Err(Failure::usage(
            format!("profile {} gives no probabilities", profile.word()),
            "leave out --calibration and --features, or judge profile bower (the first of two)",
        ));
    }
    let set = Set::load(&arguments.dir)?;
    if let Some(id) = &arguments.explain {
        let query = judged_query(&set, id)?;
        let bench = Bench::new(&set, arguments.limit_k, settings, session)?;
        let explanation = asking::explain(&bench, profile, query)?;
        return session.out.say(&explanation, |_| explain::render(&explanation));
    }
    let bench = Bench::new(&set, arguments.limit_k, settings, session)?;
    session.out.note(&format!("asking {} questions …", set.queries.len()));
    let outcome = bench.judge(profile, &Parts::default())?;
    let mut report = Report::of(&set, profile.word(), arguments.limit_k, &outcome);
    if let Some((_, other)) = pair {
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
    if needs_probabilities {
        session.out.note("asking twice, with the judged documents and without …");
        let asked = asking::both_ways(&bench, profile)?;
        if arguments.calibration {
            let threshold = bench.settings.calibration.abstain;
            report.calibration = Some(calibration::calibrate(&asked, threshold, is_graded(&set)));
        }
        if let Some(path) = &arguments.features {
            write(path, &features::lines(&name_of(&arguments.dir), &set, &asked))?;
        }
    }
    if let Some(path) = &arguments.factors {
        session.out.note("asking for the factors of all candidates …");
        write(path, &asking::factors(&bench)?)?;
    }
    if arguments.evidence {
        session.out.note("packing evidence …");
        report.evidence = Some(asking::budgets(&bench, profile)?);
    }
    session.out.say(&report, |_| tables::render(&report))
}

/// Returns the two profiles of `--compare`.
fn pair(arguments: &EvalArgs) -> Result<Option<(Profile, Profile)>> {
    match arguments.compare.as_deref() {
        Some(&[first, second]) if first == second => Err(Failure::usage(
            format!("--compare {0} {0} compares a profile with itself", first.word()),
            "name two different profiles",
        )),
        Some(&[first, second]) => Ok(Some((first, second))),
        Some(_) | None => Ok(None),
    }
}

/// Returns the query of an id, if it has a judged document.
fn judged_query<'a>(set: &'a Set, id: &str) -> Result<&'a Query> {
    let missing = |what| Failure::from(Error::NotFound { what: Missing::Named(what), id: id.to_owned() });
    let query = set.queries.iter().find(|query| query.id == id);
    let query = query.ok_or_else(|| missing("query of the set with the id"))?;
    if query.text.trim().is_empty() {
        return Err(Failure::usage(format!("query {id} is blank"), "explain one that asks something"));
    }
    if set.grades.contains_key(id) { Ok(query) } else { Err(missing("judged document of the query")) }
}

/// Whether a set has several grades above zero.
fn is_graded(set: &Set) -> bool {
    let mut grades = set.grades.values().flat_map(Grades::values).filter(|grade| **grade > 0);
    grades.next().is_some_and(|first| grades.any(|other| other != first))
}

/// Returns the name of a set, which is that of its folder.
fn name_of(dir: &Path) -> String {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    whole.file_name().unwrap_or(whole.as_os_str()).to_string_lossy().into_owned()
}

fn write(path: &Path, text: &str) -> Result<()> {
    Ok(files::write(path, text.as_bytes()).map_err(|error| Error::io("write", path, error))?)
}
