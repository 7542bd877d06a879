//! Embeds texts of any number and length by a service: windows, batches, tries, and a result for each text.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::batch::{Halve, TextSize, halve, plan, run};
use crate::call::{CallError, CallOptions, Client, Connection};
use crate::embed::check::{Bad, Shape};
use crate::embed::{EmbedSpec, Limits, Role};
use crate::failure::{Failure, FailureKind, Subject};
use crate::prices::{ModelTable, Prompts};
use crate::provider::Provider;
use crate::wait::RetryPolicy;
use crate::window::{estimate_tokens, halves, mean, windows};

/// Requests that are under way at once.
const FLIGHT: usize = 10;
/// Texts a request: more save no time, and an answer would have tens of megabytes.
const BATCH_TEXTS: usize = 256;
/// How often batches of one call are halved for a reason that is not their size.
const HALVINGS: usize = 32;
/// How often a text that is too long for the server is halved.
const MOST_DEPTH: u32 = 6;
/// Bytes of JSON around a text.
const FRAME_BYTES: usize = 160;

/// The choice of an embedding model.
#[derive(Clone, Debug)]
pub struct EmbedderOptions {
    /// The service.
    pub connection: Connection,
    /// The model's name.
    pub model: String,
    /// The model for questions. `None` is the table's choice, or `model`.
    pub question_model: Option<String>,
    /// The dimension. `None` is the model's own.
    pub dimensions: Option<usize>,
    /// The texts in front. `None` are those that the model was trained with.
    pub prompts: Option<Prompts>,
    /// Most requests at once.
    pub flight: usize,
    /// Most texts a request, if the service does not want fewer.
    pub batch_texts: usize,
    /// Estimated tokens above which a text is embedded in windows. `None` follows the model's context.
    pub window_tokens: Option<usize>,
    /// Most time for questions. They are tried once.
    pub question_timeout: Duration,
    /// Most time for a call with documents.
    pub document_timeout: Option<Duration>,
}

/// An embedding model at a service.
pub struct RemoteEmbedder {
    client: Client,
    subject: Subject,
    spec: EmbedSpec,
    limits: Limits,
    dimension: OnceLock<usize>,
    options: EmbedderOptions,
    requests: AtomicU64,
    tokens: AtomicU64,
    uncounted: AtomicU64,
}

/// What makes vectors comparable: two embedders with the same identity have the same vector space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The service.
    pub provider: Provider,
    /// Its host, with the port if one is named.
    pub host: String,
    /// The model of documents.
    pub model: String,
    /// The model of questions.
    pub question_model: String,
    /// The dimension; `None` until the first vector of a model that the table lacks.
    pub dimension: Option<usize>,
    /// The prompts.
    pub prompts: Prompts,
    /// Estimated tokens of a window.
    pub window_tokens: usize,
}

/// The result of a probe that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The dimension of the vectors.
    pub dimension: usize,
    /// The cosine of two paraphrases.
    pub paraphrase: f32,
    /// The greatest cosine of one of them with an unrelated text.
    pub stranger: f32,
}

/// What the requests of an embedder have used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbedUsage {
    /// Requests that succeeded.
    pub requests: u64,
    /// Tokens that the service counted.
    pub tokens: u64,
    /// Requests whose tokens the service did not report.
    pub uncounted: u64,
}

/// A part of a text that fits the model.
struct Piece<'a> {
    text: usize,
    part: &'a str,
}

/// The reason why a piece has no vector.
#[derive(Clone)]
struct Lost {
    failure: Failure,
    /// Whether the server answered with success: then the piece is not sent again.
    answered: bool,
}

type PieceResult = Result<Vec<f32>, Lost>;

/// The vectors of a text's windows with their weights.
type Parts = Vec<(usize, Vec<f32>)>;

impl EmbedderOptions {
    /// Returns the options of a model with its defaults.
    pub fn new(connection: Connection, model: &str) -> Self {
        Self {
            connection,
            model: model.to_owned(),
            question_model: None,
            dimensions: None,
            prompts: None,
            flight: FLIGHT,
            batch_texts: BATCH_TEXTS,
            window_tokens: None,
            question_timeout: Duration::from_secs(1),
            document_timeout: None,
        }
    }
}

impl RemoteEmbedder {
    /// Creates an embedder. It makes no connection, and refuses what cannot work.
    pub fn new(options: EmbedderOptions) -> Result<Self, Failure> {
        let provider = options.connection.provider;
        let subject = Subject { provider, model: options.model.clone() };
        let client = Client::new(options.connection.clone(), &subject)?;
        if provider == Provider::Anthropic {
            return Err(client.failure(&subject, FailureKind::ModelUnknown, "Anthropic has no embeddings"));
        }
        let table = ModelTable::get();
        let known = table.embedding(provider, &options.model);
        let own = known.and_then(|known| known.dimension);
        let matryoshka = table.is_matryoshka(provider, &options.model);
        if let (Some(wanted), Some(own)) = (options.dimensions, own)
            && (wanted == 0 || wanted > own || (wanted < own && !matryoshka))
        {
            let reason = format!("its vectors have {own} numbers, and {wanted} were asked for");
            return Err(client.failure(&subject, FailureKind::BadRequest, &reason));
        }
        // These servers ignore the field, cut any vector, or refuse it.
        let is_own_server = matches!(provider, Provider::Ollama | Provider::Compatible);
        let asked =
            options.dimensions.filter(|wanted| Some(*wanted) != own && (matryoshka || !is_own_server));
        let chosen = options.question_model.clone();
        let question_model = chosen.or_else(|| known.and_then(|known| known.question_model.clone()));
        let prompts = options.prompts.clone().unwrap_or_else(|| table.prompts(&options.model));
        let spec =
            EmbedSpec { provider, model: options.model.clone(), question_model, asked, prompts, matryoshka };
        let vendor = spec.limits();
        let limits = Limits {
            texts: vendor.texts.min(options.batch_texts.max(1)),
            text_tokens: options.window_tokens.unwrap_or(vendor.text_tokens).max(16),
            ..vendor
        };
        let dimension = OnceLock::new();
        if let Some(known) = options.dimensions.or(own) {
            dimension.get_or_init(|| known);
        }
        let [requests, tokens, uncounted] = [0; 3].map(AtomicU64::new);
        Ok(Self { client, subject, spec, limits, dimension, options, requests, tokens, uncounted })
    }

    /// Returns the identity of the vectors. It never contains the key.
    pub fn identity(&self) -> Identity {
        Identity {
            provider: self.spec.provider,
            host: self.client.authority(),
            model: self.spec.model.clone(),
            question_model: self.spec.model_for(Role::Question).to_owned(),
            dimension: self.dimension.get().copied(),
            prompts: self.spec.prompts.clone(),
            window_tokens: self.limits.text_tokens,
        }
    }

    /// Returns what one request may have.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns what the requests have used so far.
    pub fn usage(&self) -> EmbedUsage {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        EmbedUsage {
            requests: get(&self.requests),
            tokens: get(&self.tokens),
            uncounted: get(&self.uncounted),
        }
    }

    /// Returns the vector of each text at unit length, or why it has none, in order. No text is cut: a long one is embedded in
    /// windows. No text is sent again after the server answered with success.
    pub fn embed(&self, texts: &[&str], role: Role) -> Vec<Result<Vec<f32>, Failure>> {
        let prompt = self.spec.prompt(role);
        let most = self.limits.text_tokens.saturating_sub(estimate_tokens(prompt)).max(8);
        let mut pieces = Vec::new();
        for (text, content) in texts.iter().enumerate() {
            if !(content.trim().is_empty() && prompt.is_empty()) {
                let parts = windows(content, most).into_iter();
                pieces.extend(parts.map(|window| Piece { text, part: &content[window] }));
            }
        }
        let vectors = self.embed_pieces(&pieces, role);
        self.combine(texts.len(), &pieces, vectors)
    }

    /// Embeds two paraphrases and a stranger, and checks that the paraphrases are nearer. A server that serves a chat model as an
    /// embedding model fails here.
    pub fn probe(&self) -> Result<Probe, Failure> {
        let [first, second] = [
            "The car broke down on the road to the city.",
            "On the road to the city the car stopped working.",
        ];
        let stranger = "Boil three eggs for ten minutes, then peel them.";
        let documents = self.embed(&[first, stranger, second], Role::Document);
        let mut documents = documents.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter();
        let mut next = || documents.next().unwrap_or_default();
        let (first_vector, stranger_vector, second_vector) = (next(), next(), next());
        let question = self.embed(&[first], Role::Question).into_iter().collect::<Result<Vec<_>, _>>()?;
        let question = question.into_iter().next().unwrap_or_default();
        let paraphrase = dot(&first_vector, &second_vector).min(dot(&question, &second_vector));
        let stranger = [&first_vector, &second_vector, &question].map(|vector| dot(vector, &stranger_vector));
        let stranger = stranger.into_iter().fold(f32::MIN, f32::max);
        if paraphrase > stranger {
            return Ok(Probe { dimension: first_vector.len(), paraphrase, stranger });
        }
        let reason = format!("two paraphrases have cosine {paraphrase:.3}, strangers {stranger:.3}");
        Err(self.client.failure(&self.subject, FailureKind::BadVectors, &reason))
    }

    fn embed_pieces(&self, pieces: &[Piece<'_>], role: Role) -> Vec<PieceResult> {
        let prompt = self.spec.prompt(role);
        let sizes = pieces.iter().map(|piece| TextSize {
            tokens: estimate_tokens(prompt) + estimate_tokens(piece.part),
            bytes: prompt.len() + piece.part.len() + FRAME_BYTES,
        });
        let batches = plan(&sizes.collect::<Vec<_>>(), &self.limits);
        let (timeout, retry) = match role {
            Role::Question => (Some(self.options.question_timeout), RetryPolicy::ONCE),
            Role::Document => (self.options.document_timeout, self.client.retry()),
        };
        let deadline = timeout.map(|timeout| self.client.clock().now() + timeout);
        let options = CallOptions { retry, deadline, tokens: 0 };
        let budget = AtomicUsize::new(HALVINGS);
        let call_batch = |batch: Range<usize>| {
            let call = |range: Range<usize>| {
                let parts: Vec<&str> = pieces[range].iter().map(|piece| piece.part).collect();
                self.call(&parts, role, options)
            };
            let results = halve(batch.clone(), &budget, &call);
            let parts = pieces[batch].iter().map(|piece| piece.part);
            let again = results.into_iter().zip(parts);
            again.map(|(result, part)| self.halve_text(result, part, role, options, 0)).collect::<Vec<_>>()
        };
        let results = run(&batches, self.options.flight, call_batch);
        let mut results: Vec<PieceResult> = results.into_iter().flatten().collect();
        // Where other batches succeed, four faults in a row were chance. A question has no time for this.
        if role == Role::Document && results.iter().any(Result::is_ok) {
            let lost = lost_by_chance(&batches, &results);
            let again = run(&lost, self.options.flight, call_batch);
            for (place, result) in lost.into_iter().flatten().zip(again.into_iter().flatten()) {
                results[place] = result;
            }
        }
        results
    }

    /// Embeds the halves of a text that the server found too long, and averages them.
    fn halve_text(
        &self,
        result: PieceResult,
        part: &str,
        role: Role,
        options: CallOptions,
        depth: u32,
    ) -> PieceResult {
        let lost = match result {
            Err(lost)
                if lost.failure.kind == FailureKind::TooLong && !lost.answered && depth < MOST_DEPTH =>
            {
                lost
            }
            other => return other,
        };
        let Some((first, second)) = halves(part) else { return Err(lost) };
        let mut vectors = Vec::new();
        for half in [first, second] {
            let result = match self.call(&[half], role, options) {
                Ok(mut items) => items.pop().unwrap_or(Err(lost.clone())),
                Err(failed) => (failed.items)(0..1).pop().unwrap_or(Err(lost.clone())),
            };
            vectors.push((half.len(), self.halve_text(result, half, role, options, depth + 1)?));
        }
        mean(&vectors).map_err(|bad| self.lost(&bad))
    }

    /// Sends one request. `Err` says that a smaller one may succeed.
    fn call(
        &self,
        parts: &[&str],
        role: Role,
        options: CallOptions,
    ) -> Result<Vec<PieceResult>, Halve<PieceResult>> {
        let request = self.spec.request(role, parts);
        let tokens = parts.iter().map(|part| estimate_tokens(part) as u64).sum();
        let subject = Subject { model: self.spec.model_for(role).to_owned(), ..self.subject.clone() };
        match self.client.send(&subject, &request, CallOptions { tokens, ..options }) {
            Ok(answer) => {
                let shape =
                    Shape { dimension: self.dimension.get().copied(), matryoshka: self.spec.matryoshka };
                let (items, tokens) = self.spec.vectors(parts, shape, &answer);
                self.count(tokens);
                Ok(items.into_iter().map(|item| self.learn(item.map_err(|bad| self.lost(&bad)))).collect())
            }
            Err(error) => Self::refused(&error, parts.len()),
        }
    }

    fn refused(error: &CallError, count: usize) -> Result<Vec<PieceResult>, Halve<PieceResult>> {
        let status = error.answer.as_ref().map(|answer| answer.status);
        let lost: PieceResult = Err(Lost { failure: error.failure.clone(), answered: false });
        let by_size = error.failure.kind == FailureKind::TooLong;
        let is_unclear = matches!(
            (error.failure.kind, status),
            (FailureKind::BadRequest, Some(400 | 422)) | (FailureKind::Server, Some(500))
        );
        if by_size || is_unclear {
            return Err(Halve { by_size, items: Box::new(move |range| vec![lost; range.len()]) });
        }
        Ok(vec![lost; count])
    }

    /// Returns a vector if it has the length of the first one.
    fn learn(&self, item: PieceResult) -> PieceResult {
        let vector = item?;
        let dimension = *self.dimension.get_or_init(|| vector.len());
        if vector.len() == dimension {
            return Ok(vector);
        }
        let detail =
            format!("a vector of {dimension} numbers was expected, one of {} came back", vector.len());
        Err(self.lost(&Bad::vectors(detail)))
    }

    fn lost(&self, bad: &Bad) -> Lost {
        Lost { failure: self.client.failure(&self.subject, bad.kind, &bad.detail), answered: true }
    }

    fn count(&self, tokens: Option<u64>) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        match tokens {
            Some(tokens) => self.tokens.fetch_add(tokens, Ordering::Relaxed),
            None => self.uncounted.fetch_add(1, Ordering::Relaxed),
        };
    }

    fn combine(
        &self,
        count: usize,
        pieces: &[Piece<'_>],
        vectors: Vec<PieceResult>,
    ) -> Vec<Result<Vec<f32>, Failure>> {
        let mut of_texts: Vec<Result<Parts, Failure>> = vec![Ok(Vec::new()); count];
        for (piece, vector) in pieces.iter().zip(vectors) {
            let slot = &mut of_texts[piece.text];
            match (slot.as_mut(), vector) {
                (Ok(parts), Ok(vector)) => parts.push((piece.part.len(), vector)),
                (Ok(_), Err(lost)) => *slot = Err(lost.failure),
                (Err(_), _) => (),
            }
        }
        let finish = |parts: Parts| match parts.len() {
            0 => Err(self.client.failure(&self.subject, FailureKind::EmptyText, "")),
            1 => Ok(parts.into_iter().next().map(|(_, vector)| vector).unwrap_or_default()),
            _ => mean(&parts).map_err(|bad| self.lost(&bad).failure),
        };
        of_texts.into_iter().map(|parts| parts.and_then(finish)).collect()
    }
}

/// Returns the parts of batches that were lost by failures of the service or the network.
fn lost_by_chance(batches: &[Range<usize>], results: &[PieceResult]) -> Vec<Range<usize>> {
    let is_lost = |at: usize| {
        results[at].as_ref().is_err_and(|lost| {
            let kind = lost.failure.kind;
            let by_chance = matches!(
                kind,
                FailureKind::Server | FailureKind::Transport | FailureKind::Timeout | FailureKind::Rate
            );
            !lost.answered && by_chance
        })
    };
    let mut parts = Vec::new();
    for batch in batches {
        let mut start = batch.start;
        for at in batch.clone() {
            if !is_lost(at) {
                parts.push(start..at);
                start = at + 1;
            }
        }
        parts.push(start..batch.end);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl fmt::Debug for RemoteEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteEmbedder").field("identity", &self.identity()).finish_non_exhaustive()
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.provider, self.host, self.model)?;
        if self.question_model != self.model {
            write!(f, ":questions={}", self.question_model)?;
        }
        match self.dimension {
            Some(dimension) => write!(f, ":{dimension}")?,
            None => write!(f, ":?")?,
        }
        write!(f, ":w{}:{:?}:{:?}", self.window_tokens, self.prompts.question, self.prompts.document)
    }
}
