//! Implements `bower mcp`: serves the Model Context Protocol on standard input and output.
//! It serves until the input ends. Nothing but messages goes to standard output; whatever else there is to say goes to standard error.

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use super::{Session, now};
use crate::cli::McpArgs;
use crate::failure::{Failure, Result, one_line};
use crate::mcp::{self, Choice, Handler, Options, Stdio, Within, Workers};
use crate::service::{Access, Bounds, Service};

/// The stack of a thread that works: as much as the main thread has, on which commands do the same work.
const STACK: usize = 8 << 20;
/// Threads that work or wait for a disk. Calls take turns before they get one.
const THREADS: usize = 32;

/// Serves until the client has gone.
pub fn run(arguments: McpArgs, session: &Session) -> Result<()> {
    let opener = session.clone();
    serve_from(arguments, session, move || opener.service())
}

/// The same from a store that `open` opens when it is needed.
pub fn serve_from(
    arguments: McpArgs,
    session: &Session,
    open: impl Fn() -> Result<Service> + Send + Sync + 'static,
) -> Result<()> {
    let options = options(arguments)?;
    listen_to_trouble(session);
    let file = session.home()?.path.join("memory.db");
    let workers = Arc::new(Workers::lazy(file, open));
    let handler = mcp::handler(Arc::clone(&workers), options)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_stack_size(STACK)
        .max_blocking_threads(THREADS)
        .build()
        .map_err(|source| {
            Failure::environment(format!("cannot start a thread: {source}"), "close other programs")
        })?;
    let (tell, tell_last) = (session.out.clone(), session.out.clone());
    runtime.block_on(async {
        tokio::spawn(Arc::clone(&workers).run_maintenance(move |text| tell.detail(text)));
        serve(handler).await;
        workers.close(move |text| tell_last.detail(text)).await;
    });
    // Whoever still works is in no transaction that would be half done.
    runtime.shutdown_background();
    Ok(())
}

fn options(arguments: McpArgs) -> Result<Options> {
    let tools = arguments.tools.as_deref().map(str::parse).transpose()?.unwrap_or(Choice::Usual);
    let access = if arguments.read_only { Access::Read } else { Access::Admin };
    let session = arguments
        .session
        .unwrap_or_else(|| format!("mcp-{}-{}", now().strftime("%Y%m%d-%H%M%S"), std::process::id()));
    Ok(Options {
        within: Within::These(Bounds {
            scope: arguments.scope,
            owner: arguments.owner,
            collections: arguments.collection,
            access,
            is_agent: true,
            ..Bounds::default()
        }),
        tools,
        compat: arguments.compat,
        session: Some(session),
    })
}

/// Serves one client after the other's handshake failed, until the input ends or somebody ends the process.
async fn serve(handler: Handler) {
    let ended = ended();
    let (read, write) = rmcp::transport::stdio_pipes();
    let stdio = Stdio::new(read, write);
    loop {
        match handler.clone().serve_with_ct(stdio.clone(), ended.clone()).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the server's task failed");
                }
                return;
            }
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::Cancelled
                | ServerInitializeError::TransportError { .. },
            ) => return,
            // What was no opening is passed over: the next message may be one.
            Err(error) => tracing::debug!(%error, "no opening"),
        }
    }
}

/// A token that is cancelled when somebody asks this process to end: it then answers what it was asked, and ends.
fn ended() -> CancellationToken {
    let token = CancellationToken::new();
    let asked = token.clone();
    tokio::spawn(async move {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        asked.cancel();
    });
    token
}

/// Logs and panics go to standard error. A panic ends one call; its place is worth a line.
fn listen_to_trouble(session: &Session) {
    // What a client was refused is told to the client: it is no warning to whoever reads standard error.
    let level = if session.out.verbose { LevelFilter::INFO } else { LevelFilter::ERROR };
    // A program that logs already goes on with what it has.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(level)
        .with_target(false)
        .try_init();
    let out = session.out.clone();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("no message");
        out.note(&format!("bower: internal error: {}", one_line(&format!("{message} ({place})"))));
    }));
}
