//! Measures Bowerbird.

mod vectors;

fn main() -> bower_core::Result<()> {
    vectors::run()
}
