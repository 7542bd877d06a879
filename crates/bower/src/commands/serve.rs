//! Implements `bower serve`: opens the store once and answers over HTTP until a signal ends it.

use serde::Serialize;
use std::net::SocketAddr;

use super::Session;
use crate::cli::ServeArgs;
use crate::failure::Result;
use crate::http::{self, Options, connections, followers, limits};

/// Data that is printed once the server accepts requests.
#[derive(Serialize)]
struct Serving {
    /// Address on which it listens.
    address: String,
    /// Whether requests need a token.
    needs_token: bool,
    /// Process id.
    process: u32,
}

/// Serves requests.
pub fn run(arguments: &ServeArgs, session: &Session) -> Result<()> {
    let home = session.home()?;
    let settings = session.settings(&home)?.settings;
    let models = settings.models_folder.unwrap_or_else(|| home.models());
    let serve = settings.serve;
    let mut limits = limits::Rules::of(&serve);
    limits.rate = arguments.rate.unwrap_or(limits.rate);
    let mut connections = connections::Rules::of(&serve);
    connections.most = arguments.connections.map_or(connections.most, |most| most as usize);
    connections.head_time = arguments.header_timeout.unwrap_or(connections.head_time);
    connections.idle_time = arguments.idle_timeout.unwrap_or(connections.idle_time);
    let options = Options {
        bind: arguments.bind,
        port: arguments.port,
        hosts: arguments.host.clone(),
        origins: arguments.cors.clone(),
        body_bytes: arguments.max_body as usize * 1_024,
        request_time: arguments.timeout,
        grace: arguments.grace,
        limits,
        connections,
        followers: followers::Rules::of(&serve),
        prune_every: arguments.prune_interval.0,
    };
    let is_named = !options.hosts.is_empty();
    http::log_to_standard_error(session.out.quiet, session.out.verbose);
    let service = session.service()?;
    let background = Some(session.background(&home));
    http::serve(http::handler, service, &home.path, models, options, background, |address, needs_token| {
        let serving = Serving { address: url(address), needs_token, process: std::process::id() };
        session.out.say(&serving, |_| text(&serving, is_named))
    })
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

fn text(serving: &Serving, is_named: bool) -> String {
    let who = if serving.needs_token {
        "requests need a token: bower token create NAME"
    } else if is_named {
        "programs of this machine need no token; other names (--host) count once there is one: bower token create NAME"
    } else {
        "programs of this machine need no token; pages in a browser are refused"
    };
    let Serving { address, .. } = serving;
    format!("serving at {address}\n  {who}\n  {address}/openapi.json describes it; ctrl-c ends it\n")
}
