//! Defines the prompts that a person picks: `recall` adds what is known, `save` asks the model to keep what it learned.

use bower_core::evidence;
use bower_core::prompt::PromptText;
use jiff::Timestamp;
use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument};
use serde_json::Value;

use super::{content, errors};
use crate::failure::{Exit, Failure};
use crate::service::{Access, Bounds, EVIDENCE_TOKENS, QueryBody, Refused, SelectBody, Served, Service};

/// Name of the prompt that adds what the memory contains about a topic.
pub const RECALL: &str = "recall";
/// Name of the prompt that asks the model to keep what it learned.
pub const SAVE: &str = "save";

/// Returns the prompts for a caller with these bounds. A caller without write access does not get `save`.
pub fn listed(bounds: &Bounds) -> Vec<Prompt> {
    let argument = |name: &str, about: &str, required: bool| {
        PromptArgument::new(name).with_description(about).with_required(required)
    };
    let mut all = vec![
        Prompt::new(
            RECALL,
            Some("Bring what the memory knows about a topic into the conversation, with citations"),
            Some(vec![
                argument("topic", "What it is about: a question or a few words", true),
                argument("collection", "Only this collection", false),
                argument("type", "Only memories of this type", false),
                argument("tag", "Only items with this tag", false),
            ]),
        )
        .with_title("Recall"),
        Prompt::new(
            SAVE,
            Some("Have the model keep what this conversation taught it"),
            Some(vec![
                argument("topic", "Only what is about this", false),
                argument("tag", "A tag for all of it", false),
            ]),
        )
        .with_title("Save what was learned"),
    ];
    all.retain(|prompt| prompt.name != SAVE || bounds.access >= Access::Write);
    all
}

/// Returns an argument of a prompt as text; none if it is missing or blank.
pub fn argument(arguments: Option<&JsonObject>, name: &str) -> Option<String> {
    let text = match arguments?.get(name)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Refuses a prompt that does not exist, or that lacks a required argument, before the store is queried.
pub fn checked(name: &str, arguments: Option<&JsonObject>) -> Result<(), ErrorData> {
    match name {
        RECALL if argument(arguments, "topic").is_none() => {
            Err(ErrorData::invalid_params("recall needs the argument topic: a question or a few words", None))
        }
        RECALL | SAVE => Ok(()),
        _ => Err(ErrorData::invalid_params(
            format!("there is no prompt {name}; there are {RECALL} and {SAVE}"),
            None,
        )),
    }
}

/// Returns the error for a prompt that could not be built.
pub fn failure(name: &str, refused: &Refused) -> ErrorData {
    let text = String::from(errors::text(name, refused.failure()));
    match refused.failure().exit {
        Exit::Usage | Exit::Nothing => ErrorData::invalid_params(text, None),
        Exit::Environment | Exit::Internal => ErrorData::internal_error(text, None),
    }
}

/// Builds the prompt with the evidence about a topic.
pub fn recall(
    arguments: Option<&JsonObject>,
    service: &Service,
    bounds: &Bounds,
    now: Timestamp,
) -> Served<GetPromptResult> {
    let topic = argument(arguments, "topic").unwrap_or_default();
    if topic.len() > super::arguments::LONGEST_QUESTION {
        return Err(Failure::usage("topic is too long", "say it in fewer words").into());
    }
    let listed = |name: &str| argument(arguments, name).into_iter().collect::<Vec<_>>();
    let types =
        listed("type").iter().map(|word| word.trim().parse()).collect::<Result<Vec<_>, bower_core::Error>>();
    let select = SelectBody {
        collections: listed("collection"),
        types: types.map_err(Failure::from)?,
        tags: listed("tag"),
        ..SelectBody::default()
    };
    let body = QueryBody {
        query: topic.clone(),
        budget_tokens: Some(EVIDENCE_TOKENS),
        select,
        ..QueryBody::default()
    };
    let answer = service.query(&body, bounds, now)?;
    let block =
        answer.evidence.as_ref().map(|evidence| evidence::block(&evidence.pieces)).unwrap_or_default();
    let topic = PromptText::lines(&topic);
    let mut text;
    if block.is_empty() {
        text = PromptText::own("The memory has nothing about: ");
        text.push(&topic);
        text.push_own("\n\nSay so rather than guess.");
    } else {
        text = PromptText::own("This is what the memory has about: ");
        text.push(&topic);
        text.push_own(if answer.abstained { ". None of it seems to answer directly." } else { "." });
        text.push_own(
            " Use what bears on it, name the documents that you rely on, and say where it is silent.\n\n",
        );
        text.push(&block);
    }
    Ok(GetPromptResult::new(vec![content::message(text)])
        .with_description(format!("What is known about {topic}")))
}

/// Builds the prompt that asks the model to keep what it learned.
pub fn save(arguments: Option<&JsonObject>) -> GetPromptResult {
    let about = argument(arguments, "topic").map_or_else(String::new, |topic| format!(" about {topic}"));
    let tag = argument(arguments, "tag").map_or_else(String::new, |tag| format!(" Give each the tag {tag}."));
    let text = format!(
        "Look back over this conversation and keep what will still matter in a later one{about}: decisions and their reasons, \
         facts that were found out, preferences, conventions, procedures that worked, traps. Call memory_store once for each, in \
         one or two sentences that can be understood without this conversation: with names, versions and paths, and no \"it\" \
         or \"this\".{tag} Leave out what the code or a document says anyway, what holds for today only, and any secret. Search \
         first where you are not sure that it is new. Then list what you kept, one line each."
    );
    GetPromptResult::new(vec![content::message(PromptText::lines(&text))])
        .with_description("Keep what was learned")
}
