//! Renders language models for people: the model of each tier, its uses in an answer, and what they cost.

use bower_core::item::Dollars;
use bower_core::request::{LlmTested, LlmUse, LlmUses};
use std::fmt::Write as _;

use super::{Look, count, duration, hanging, line, style, thousands, wrapped};
use crate::commands::llm::{LlmStatus, ServiceModel};

/// Renders `bower llm status`.
pub fn status(status: &LlmStatus, look: &Look) -> String {
    let mut out = String::new();
    if status.tiers.is_empty() {
        out += "no language model is chosen (llm is none): nothing is sent to one\n";
    }
    let mut at = 0;
    while let Some(first) = status.tiers.get(at) {
        // Tiers that share a model share its line.
        let same = status.tiers[at..].iter().take_while(|tier| tier.model == first.model).count();
        let group = &status.tiers[at..at + same];
        let tiers: Vec<&str> = group.iter().map(|tier| tier.tier.word()).collect();
        let mut operations: Vec<&str> = Vec::new();
        for one in group.iter().flat_map(|tier| &tier.operations) {
            if !operations.contains(&one.word()) {
                operations.push(one.word());
            }
        }
        out += &model(&tiers.join(", "), &first.model, &operations.join(", "), look);
        at += same;
    }
    if let Some(reranker) = &status.reranker {
        out += &model("reranker", reranker, "rerank, if the setting rerank is service", look);
    }
    if !status.tiers.is_empty() || status.reranker.is_some() {
        out += &look.paint(style::DIM, &format!("published prices of {}", status.prices_of));
        out.push('\n');
    }
    let report = &status.report;
    let mut spent = format!("today {} of requests", report.spent_today);
    if let Some(budget) = report.budget_day {
        let _ = write!(spent, ", {} left of llm_budget_day {budget}", budget.minus(report.spent_today));
    }
    if report.reserved_today > Dollars::ZERO {
        let _ = write!(
            spent,
            "; {} of it is reserved for requests whose end is not known",
            report.reserved_today
        );
    }
    out += &wrapped("", &spent, look);
    for model in &report.models {
        let failed =
            if model.failed > 0 { format!(", {} without an answer", model.failed) } else { String::new() };
        let note = format!(
            "{}: {}{failed}, {} + {} tokens, {}",
            line(&model.model),
            count(model.requests, "request"),
            thousands(model.input_tokens),
            thousands(model.output_tokens),
            model.cost_dollars
        );
        out += &wrapped("  ", &note, look);
    }
    if let Some(budget) = report.budget_call {
        out += &wrapped("", &format!("a request may cost {budget} (llm_budget_call)"), look);
    }
    let cached = format!(
        "{} in the cache, used {} instead of a request",
        count(report.cached_answers as u64, "answer"),
        count(report.cache_hits, "time")
    );
    out += &wrapped("", &cached, look);
    if let Some(failure) = &report.last_failure {
        let reason = if failure.reason.is_empty() { "its reason was forgotten" } else { &failure.reason };
        let note =
            format!("the last request without an answer, {}: {}", look.age(failure.time), line(reason));
        out += &wrapped("! ", &note, look);
    }
    out
}

/// Renders a model: where it is, its price, its key and its operations.
fn model(lead: &str, model: &ServiceModel, operations: &str, look: &Look) -> String {
    let price = match model.prices {
        None => "price not known".to_owned(),
        Some([0.0, 0.0]) => "free".to_owned(),
        Some([input, 0.0]) => format!("${input} per million tokens"),
        Some([input, output]) => format!("${input} and ${output} per million tokens"),
    };
    let key = match (&model.key_variable, &model.key_missing[..]) {
        (Some(name), _) => format!("key of {name}"),
        (None, []) => "no key".to_owned(),
        (None, missing) => format!("no key: set {}", missing.join(" or ")),
    };
    let place = format!("{}/{} at {}", model.provider, line(&model.model), line(&model.address));
    let used = if operations.is_empty() { String::new() } else { format!("; for {operations}") };
    hanging(&format!("{lead}: "), &format!("{place}, {price}, {key}{used}"), look)
}

/// Renders `bower llm test`.
pub fn tested(tested: &LlmTested, look: &Look) -> String {
    let tokens = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), thousands);
    let note = format!(
        "{} (tier {}) answered in {}: {} + {} tokens, {}",
        line(&tested.model),
        tested.tier,
        duration(tested.took_ms),
        tokens(tested.input_tokens),
        tokens(tested.output_tokens),
        cost(tested.cost_dollars)
    );
    let answer = look.paint(style::DIM, wrapped("  ", &line(tested.answer.trim()), look).trim_end());
    format!("{}{answer}\n", wrapped("", &note, look))
}

/// Renders what language models were used for, one line for each model and operation.
pub fn uses(uses: &LlmUses, look: &Look) -> String {
    let mut out = String::new();
    for one in uses {
        if one.requests + one.cached > 0 {
            let note = look.paint(style::DIM, wrapped("", &used(one), look).trim_end());
            let _ = writeln!(out, "{note}");
        }
        if let Some(failure) = &one.failure {
            let times = if one.failed > 1 { format!(" ({} requests)", one.failed) } else { String::new() };
            out += &wrapped("! ", &format!("{}{times}: {}", one.operation, line(failure)), look);
        }
    }
    out
}

fn used(one: &LlmUse) -> String {
    let mut parts = Vec::new();
    if one.requests > 0 {
        parts.push(count(one.requests as u64, "request"));
        // Some servers report none.
        if one.input_tokens + one.output_tokens > 0 {
            let (input, output) = (thousands(one.input_tokens), thousands(one.output_tokens));
            parts.push(format!("{input} + {output} tokens"));
        }
        parts.push(cost(one.cost_dollars));
    }
    if one.cached > 0 {
        parts.push(format!("{} from the cache", count(one.cached as u64, "answer")));
    }
    if one.repaired > 0 {
        parts.push(format!("{} repaired", one.repaired));
    }
    format!("{} by {}: {}", one.operation, line(&one.model), parts.join(", "))
}

fn cost(dollars: Option<Dollars>) -> String {
    dollars.map_or_else(|| "price not known".to_owned(), |dollars| dollars.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::llm::TierModel;
    use crate::render::sample;
    use bower_core::item::{LlmOperation, LlmTier};
    use bower_core::request::{LlmFailure, LlmModelDay, LlmReport};

    fn model(name: &str, prices: Option<[f64; 2]>, key_missing: &[&str]) -> ServiceModel {
        ServiceModel {
            provider: "anthropic".into(),
            model: name.into(),
            address: "https://api.anthropic.com".into(),
            key_variable: key_missing.is_empty().then(|| "ANTHROPIC_API_KEY".into()),
            key_missing: key_missing.iter().map(|name| (*name).to_owned()).collect(),
            prices,
        }
    }

    #[test]
    fn a_status_names_models_keys_and_money() {
        let report = LlmReport {
            spent_today: Dollars::cost(0.0123),
            reserved_today: Dollars::cost(0.001),
            budget_day: Some(Dollars::cost(0.05)),
            budget_call: Some(Dollars::cost(0.002)),
            models: vec![LlmModelDay {
                model: "claude-haiku-5-5".into(),
                requests: 7,
                failed: 1,
                input_tokens: 12_345,
                output_tokens: 678,
                cost_dollars: Dollars::cost(0.0123),
            }],
            cached_answers: 3,
            cache_hits: 12,
            last_failure: Some(LlmFailure {
                time: sample::look(80).now,
                model: "claude-haiku-5-5".into(),
                reason: "model claude-haiku-5-5: https://api.anthropic.com: no answer in time".into(),
            }),
            ..LlmReport::default()
        };
        let tier = |tier, operations: &[LlmOperation], model| TierModel {
            tier,
            operations: operations.to_vec(),
            model,
        };
        let all = LlmStatus {
            llm: "anthropic".into(),
            tiers: vec![
                tier(
                    LlmTier::Lite,
                    &[LlmOperation::Rerank],
                    model("claude-haiku-5-5", Some([0.1, 0.5]), &[]),
                ),
                tier(LlmTier::Pro, &[], model("claude-x", None, &["ANTHROPIC_API_KEY"])),
            ],
            reranker: Some(model("rerank-3-lite", Some([0.02, 0.0]), &[])),
            prices_of: "2026-11-24".into(),
            report,
        };
        let none = LlmStatus {
            llm: "none".into(),
            tiers: Vec::new(),
            reranker: None,
            prices_of: "2026-11-24".into(),
            report: LlmReport::default(),
        };
        let look = sample::look(120);
        insta::assert_snapshot!("llm_status", status(&all, &look) + "---\n" + &status(&none, &look));
    }

    #[test]
    fn a_use_is_one_line_and_a_failure_another() {
        let mut all = LlmUses::default();
        all.add(LlmUse {
            failed: 1,
            failure: Some("model a: no answer in time".into()),
            ..LlmUse::new(LlmOperation::Rerank, "a")
        });
        all.add(LlmUse {
            requests: 2,
            cached: 1,
            repaired: 1,
            input_tokens: 1_200,
            output_tokens: 90,
            cost_dollars: Some(Dollars::cost(0.00031)),
            ..LlmUse::new(LlmOperation::Rerank, "b")
        });
        all.add(LlmUse { requests: 1, cost_dollars: None, ..LlmUse::new(LlmOperation::Pattern, "c") });
        let tested_one = LlmTested {
            tier: LlmTier::Lite,
            model: "b".into(),
            answer: "{\"answer\":\"ready\"}".into(),
            took_ms: 412.0,
            input_tokens: Some(31),
            output_tokens: None,
            cost_dollars: Some(Dollars::ZERO),
        };
        let look = sample::look(80);
        insta::assert_snapshot!("llm_uses", uses(&all, &look) + "---\n" + &tested(&tested_one, &look));
    }
}
