//! Renders the checks of `bower doctor` for people, each with its first findings and its remedy.

use bower_core::request::{Check, CheckFinding, CheckProblem, ConflictKind, Outcome};
use std::fmt::Write as _;

use super::{Look, columns, count, hanging, line, style};

/// Findings that are shown of one check; JSON has them all.
const SHOWN: usize = 5;
/// Digits of a memory's id.
const SHORT_ID: usize = 8;

/// Renders `bower doctor`.
pub fn doctor(checks: &[Check], look: &Look) -> String {
    let widest = checks.iter().map(|check| columns(&line(&check.name))).max().unwrap_or_default();
    let mut out = String::new();
    for check in checks {
        let (sign, style) = match check.outcome {
            Outcome::Good => ("ok  ", style::GOOD),
            Outcome::Weak => ("weak", style::WEAK),
            Outcome::Bad => ("bad ", style::BAD),
        };
        let name = line(&check.name);
        let padding = " ".repeat(widest - columns(&name));
        let _ = writeln!(out, "{}  {name}{padding}  {}", look.paint(style, sign), line(&check.detail));
        let lead = " ".repeat(8 + widest);
        for finding in check.findings.iter().take(SHOWN) {
            out += &one(finding, &lead, look);
        }
        let more = check.findings.len().saturating_sub(SHOWN);
        if more > 0 {
            let note = format!("{lead}and {more} more: bower doctor --format json lists them");
            let _ = writeln!(out, "{}", look.paint(style::DIM, &note));
        }
        if let Some(hint) = &check.hint {
            let _ = writeln!(out, "{lead}{}", look.paint(style::DIM, &format!("→ {}", line(hint))));
        }
    }
    let bad = checks.iter().filter(|check| check.outcome == Outcome::Bad).count();
    let weak = checks.iter().filter(|check| check.outcome == Outcome::Weak).count();
    let summary = match (bad, weak) {
        (0, 0) => "all is well".to_string(),
        (0, weak) => format!("nothing is broken; {weak} could be better"),
        (bad, _) => format!("{} broken", count(bad as u64, "thing")),
    };
    out + &look.paint(style::TITLE, &summary) + "\n"
}

/// Renders one finding: its place, and what is wrong there.
fn one(finding: &CheckFinding, lead: &str, look: &Look) -> String {
    let place = format!("{}:{}", line(&finding.path), finding.line);
    let text = line(&finding.text);
    let candidates =
        |joint: &str| finding.candidates.iter().map(|path| line(path)).collect::<Vec<_>>().join(joint);
    let told = match finding.problem {
        CheckProblem::Nowhere if finding.candidates.is_empty() => format!("{text} leads nowhere"),
        CheckProblem::Nowhere => format!("{text} leads nowhere; there is {}", candidates(", ")),
        CheckProblem::Ambiguous => format!("{text} may mean {}", candidates(" or ")),
        CheckProblem::Conflict => text,
    };
    let mut out = hanging(lead, &format!("{place}  {told}"), look);
    if let Some(memory) = &finding.memory {
        let id = memory.id.get(..SHORT_ID).unwrap_or(&memory.id);
        let why = match (memory.why, &memory.difference) {
            (ConflictKind::Value, Some(difference)) => format!("differs ({})", line(difference)),
            (ConflictKind::Value, None) => "tells another value".to_owned(),
            (ConflictKind::Contradiction, _) => "contradicts it".to_owned(),
        };
        out += &hanging(&format!("{lead}  "), &format!("memory {id} {why}: {}", line(&memory.text)), look);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use bower_core::request::ConflictingMemory;

    fn found(problem: CheckProblem, at: u32, text: &str, candidates: &[&str]) -> CheckFinding {
        CheckFinding {
            problem,
            path: "/notes/daily/monday.md".into(),
            line: at,
            text: text.into(),
            candidates: candidates.iter().map(|&path| path.to_owned()).collect(),
            memory: None,
        }
    }

    #[test]
    fn examinations() {
        let check = |name: &str, outcome, hint: Option<&str>| Check {
            outcome,
            hint: hint.map(String::from),
            ..Check::good(name, format!("{name} was looked at"))
        };
        let checks = [
            check("settings", Outcome::Good, None),
            check("model", Outcome::Weak, Some("run bower model pull")),
            check("text index", Outcome::Bad, Some("delete index/; it is built again")),
        ];
        insta::assert_snapshot!("doctor", doctor(&checks, &sample::look(80)));
        assert!(doctor(&checks[..1], &sample::look(80)).ends_with("all is well\n"));
    }

    #[test]
    fn findings_have_their_place() {
        let mut links = Check::weak("links", "9 links in 3 documents: 6 lead nowhere", "correct them");
        links.findings = vec![
            found(CheckProblem::Nowhere, 3, "[[Epsilon]]", &[]),
            found(CheckProblem::Nowhere, 4, "../gamma.md", &["/notes/letters/gamma.md"]),
            found(CheckProblem::Ambiguous, 12, "[[It]]", &["/notes/a/it.md", "/notes/b/it.md"]),
        ];
        links.findings.extend((20..24).map(|at| found(CheckProblem::Nowhere, at, "[[Zeta\u{1b}[31m]]", &[])));
        let mut canonical = Check::weak("canonical", "2 canonical facts of 1 document", "look at both");
        let conflict = |text: &str, memory: &str, why, difference: Option<&str>| CheckFinding {
            memory: Some(ConflictingMemory {
                id: "3f2a9c81d0e4b756".into(),
                text: memory.into(),
                why,
                difference: difference.map(str::to_owned),
            }),
            ..found(CheckProblem::Conflict, 7, text, &[])
        };
        canonical.findings = vec![
            conflict(
                "The gateway listens on port 8080.",
                "The gateway listens on port 9090.",
                ConflictKind::Value,
                Some("9090 -> 8080"),
            ),
            conflict("Deploys are on Friday.", "We never deploy.", ConflictKind::Contradiction, None),
            conflict("Ada leads payments.", "Payments belongs to Grace.", ConflictKind::Value, None),
        ];
        insta::assert_snapshot!("findings", doctor(&[links, canonical], &sample::look(80)));
    }
}
