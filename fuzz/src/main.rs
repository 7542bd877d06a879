//! Drives the fuzz targets of both crates by libFuzzer.
//! `BOWER_FUZZ_TARGET` names the target; with `list` it prints all of them.
#![no_main]

use std::sync::LazyLock;

fn target(name: &str) -> Option<fn(&[u8])> {
    let core = bower_core::engine::fuzzing::TARGETS.iter().map(|target| (target.name, target.run, target.seeds));
    let own = bower::fuzzing::TARGETS.iter().map(|target| (target.name, target.run, target.seeds));
    let mut found = None;
    for (known, run, seeds) in core.chain(own) {
        if name == "list" {
            println!("{known}");
        } else if name == known {
            found = Some(run);
            write_seeds(seeds);
        }
    }
    found
}

/// The inputs to begin with go where `BOWER_FUZZ_SEEDS` says.
fn write_seeds(seeds: &[&[u8]]) {
    let Some(folder) = std::env::var_os("BOWER_FUZZ_SEEDS") else { return };
    for (nth, seed) in seeds.iter().enumerate() {
        let path = std::path::Path::new(&folder).join(format!("seed-{nth}"));
        std::fs::write(&path, seed).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    }
}

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("BOWER_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| {
        if name != "list" {
            eprintln!("no fuzz target {name:?}: BOWER_FUZZ_TARGET=list shows them");
        }
        std::process::exit(i32::from(name != "list") * 2)
    })
});

libfuzzer_sys::fuzz_target!(init: { LazyLock::force(&RUN); }, |data: &[u8]| RUN(data));
