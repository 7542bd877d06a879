//! Measures Bowerbird: latency, recall, size. Not published.

use std::path::Path;

mod model;
mod vectors;

fn main() {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (Some("model"), Some(path)) => {
            if let Err(error) = model::run(Path::new(&path)) {
                eprintln!("{error}");
                std::process::exit(3);
            }
        }
        _ => vectors::run().unwrap(),
    }
}
