//! Measures Bowerbird: latency, recall, size. Not published.

use std::path::Path;

mod model;

fn main() {
    let mut args = std::env::args().skip(1);
    if let (Some(part), Some(path)) = (args.next(), args.next())
        && part == "model"
        && let Err(error) = model::run(Path::new(&path))
    {
        eprintln!("{error}");
        std::process::exit(3);
    }
}
