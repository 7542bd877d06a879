//! Implements `bower mcp`: serves the Model Context Protocol on standard input and output.
//! It serves until the input ends. Only messages go to standard output; everything else goes to standard error.

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

/// Stack size of a working thread: that of the main thread, on which commands do the same work.
const STACK: usize = 8 << 20;
/// Most threads that work or wait for a disk. Calls queue before they get one.
const THREADS: usize = 32;

/// Serves until the client disconnects.
pub fn run(arguments: McpArgs, session: &Session) -> Result<()> {
    let opener = session.clone();
    serve_from(arguments, session, move || opener.service())
}

/// Serves from a store that `open` opens when it is first needed.
pub fn serve_from(
    arguments: McpArgs,
    session: &Session,
    open: impl Fn() -> Result<Service> + Send + Sync + 'static,
) -> Result<()> {
    let options = options(arguments)?;
    listen_to_trouble(session);
    let home = session.home()?;
    let (file, background) = (home.path.join("memory.db"), session.background(&home));
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
    let (tell, tell_last, tell_news) = (session.out.clone(), session.out.clone(), session.out.clone());
    runtime.block_on(async {
        let background = Arc::clone(&workers).run_background(background, move |text| tell_news.detail(text));
        tokio::spawn(background);
        tokio::spawn(Arc::clone(&workers).run_maintenance(move |text| tell.detail(text)));
        serve(handler).await;
        workers.close(move |text| tell_last.detail(text)).await;
    });
    // Calls that are still running hold no transaction that could be left half done.
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
            // Hosts start the server in the project's folder.
            folder: std::env::current_dir().ok(),
            ..Bounds::default()
        }),
        tools,
        compat: arguments.compat,
        session: Some(session),
    })
}

/// Serves one client. A failed handshake is followed by another try, until the input ends or a signal ends the process.
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
            // A message that is no handshake is ignored: the next one may be.
            Err(error) => tracing::debug!(%error, "no opening"),
        }
    }
}

/// Returns a token that is cancelled when a signal asks the process to end. Running calls are then answered before it ends.
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

/// Sends logs and panics to standard error. A panic ends only one call; its location is logged.
fn listen_to_trouble(session: &Session) {
    // A refused request is reported to the client, so it is no warning for the reader of standard error.
    let level = if session.out.verbose { LevelFilter::INFO } else { LevelFilter::ERROR };
    // A program that has a logger already keeps it.
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
